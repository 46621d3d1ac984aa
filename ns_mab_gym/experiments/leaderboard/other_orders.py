"""What the order would be by other rules: how much of it is the agents', and how much is ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..statistics import ranks_of
from .board_table import Division, Floats
from .board_worlds import PAPER
from .standings import standings_of, weighted

__all__ = ["AS_STATED", "orders_of"]

AS_STATED = "as stated: mean rank, every family with the same weight"


def orders_of(division: Division) -> list[tuple[str, list[str]]]:
    """The agents in the order of each rule, the best first."""
    elsewhere = division.on([world for world in division.worlds if world.family != PAPER])
    every_form = replace(division, competes=[True] * len(division.labels))
    rules: list[tuple[str, Callable[[], list[str]]]] = [
        (AS_STATED, lambda: standings_of(division).labels),
        ("mean rank, every world with the same weight", lambda: _by(division, lambda each: _ranks(each).mean(axis=1))),
        ("geometric mean of regret / best", lambda: _by(division, _log_ratio)),
        ("largest regret / best on any world", lambda: _by(division, lambda each: _ratios(each).max(axis=1))),
        ("only the first half of the runs", lambda: _by(division.with_runs(True), _mean_rank)),
        ("only the second half of the runs", lambda: _by(division.with_runs(False), _mean_rank)),
        ("without the paper's worlds", lambda: _by(elsewhere, _mean_rank) if elsewhere.worlds else []),
        ("further forms of an agent have places too", lambda: _by(every_form, _mean_rank)),
    ]
    return [(rule, order()) for rule, order in rules]


def _by(division: Division, score: Callable[[Division], Floats]) -> list[str]:
    return [division.ranked[number] for number in np.argsort(score(division), kind="stable")]


def _counting(division: Division) -> Floats:
    return division.means(division.ranked, [division.worlds[number] for number in division.counting])


def _ranks(division: Division) -> Floats:
    return ranks_of(_counting(division))


def _ratios(division: Division) -> Floats:
    means = _counting(division)
    return np.asarray(means / means.min(axis=0))


def _mean_rank(division: Division) -> Floats:
    return weighted(_ranks(division), division.families)


def _log_ratio(division: Division) -> Floats:
    return weighted(np.log(_ratios(division)), division.families)
