"""What the runs of a unit must be, whoever computed or wrote them: checked before they are stored, and when loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.parts.alarms import ALARM, CAPACITY
from ..play.episode import seed_pair
from ..play.recording import POINTS
from ..runs import Runs
from .units import Unit

__all__ = ["InvalidRunsError", "check_runs", "is_flat", "most_rows", "seeds_of", "unlike"]

ROUNDING = 1e-9  # by which a regret may fall, relative to the largest: environments of users round in their own ways


class InvalidRunsError(ValueError):
    """Runs are not what a unit can have as its result; the message says in what."""


def check_runs(unit: Unit, block: Runs) -> None:
    """Raise an :class:`InvalidRunsError` unless these can be the runs of a unit, all of it finite and in its range."""
    _check_rounds(unit, block.rounds)
    _check_regret(unit, block)
    _check_pulls(unit, block)
    _ensure(block.seeds == seeds_of(unit), "seeds are not those of these runs")
    _ensure(len(block.parameters) == unit.runs and all(map(is_flat, block.parameters)), "parameters are not plain")
    _ensure(math.isfinite(block.seconds) and block.seconds >= 0, "seconds are not a time")
    if block.alarms is not None:
        _check_alarms(unit, block)


def _ensure(true: bool | np.bool_, otherwise: str) -> None:
    if not true:
        raise InvalidRunsError(otherwise)


def _check_rounds(unit: Unit, rounds: npt.NDArray[Any]) -> None:
    _ensure(rounds.dtype == np.int64 and rounds.ndim == 1 and rounds.size > 0, "rounds are not a list of integers")
    _ensure(rounds[0] >= 1 and bool((rounds[1:] > rounds[:-1]).all()), "rounds do not rise from 1 on")
    asked = sorted({*unit.rounds, int(rounds[-1])})
    _ensure(rounds.tolist() == asked if unit.rounds else len(rounds) <= POINTS, "rounds are not those asked for")


def _check_regret(unit: Unit, block: Runs) -> None:
    regret = block.regret
    _ensure(regret.dtype == np.float64 and regret.shape == (unit.runs, len(block.rounds)), "regret has another shape")
    _ensure(np.isfinite(regret).all(), "regret is not finite")
    lowest = -ROUNDING * max(1.0, float(np.abs(regret).max()))
    rises = (regret[:, 0] >= lowest).all() and (regret[:, 1:] - regret[:, :-1] >= lowest).all()
    _ensure(rises, "regret falls, or is negative")


def _check_pulls(unit: Unit, block: Runs) -> None:
    pulls, suboptimal = block.pulls, block.suboptimal_pulls
    integers = pulls.dtype == suboptimal.dtype == np.int64 and pulls.ndim == 2 and pulls.shape[1] > 0
    _ensure(integers and len(pulls) == unit.runs and pulls.shape == suboptimal.shape, "pulls have another shape")
    _ensure(((suboptimal >= 0) & (suboptimal <= pulls) & (pulls <= block.horizon)).all(), "pulls are out of range")
    _ensure((pulls.sum(axis=1) == block.horizon).all(), "pulls do not sum to the number of rounds")


def _check_alarms(unit: Unit, block: Runs) -> None:
    alarms = block.alarms or []
    _ensure(len(alarms) == unit.runs, "alarms are not those of so many runs")
    _ensure(all(log.dtype == ALARM and log.ndim == 1 and len(log) <= CAPACITY for log in alarms), "alarms are no logs")
    every = np.concatenate(alarms)
    rounds, arms = every["round"], every["arm"]
    within = (rounds >= 1) & (rounds <= block.horizon) & (arms >= -1) & (arms < block.pulls.shape[1])
    _ensure(within.all(), "alarms are out of range")


def is_flat(parameters: Any) -> bool:
    """Whether these are parameters as texts, numbers and truth values, which can be written wherever they are shown."""
    return isinstance(parameters, dict) and all(_is_text(key) and _is_scalar(each) for key, each in parameters.items())


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float) or _is_text(value)


def _is_text(value: Any) -> bool:
    """Whether it is text, and not half of a character that no file can hold."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def seeds_of(unit: Unit) -> list[tuple[int, int]]:
    """The pairs of seeds of a unit's runs."""
    return [seed_pair(unit.seed, run) for run in range(unit.first_run, unit.first_run + unit.runs)]


def most_rows(unit: Unit) -> int:
    """How many rows the table of a unit has at most: one for each run and recorded round."""
    return unit.runs * (len(unit.rounds) + 1 if unit.rounds else POINTS)


def unlike(blocks: Mapping[Unit, Runs]) -> list[Unit]:
    """The units whose runs cannot be joined: those of one agent on one world that differ in rounds or arms."""
    groups: dict[tuple[Any, ...], dict[Unit, tuple[Any, ...]]] = {}
    for unit, block in blocks.items():
        shape = (block.rounds.tobytes(), block.pulls.shape[1], block.alarms is None)
        groups.setdefault((unit.world, unit.agent, unit.seed, unit.rounds), {})[unit] = shape
    return [unit for group in groups.values() if len(set(group.values())) > 1 for unit in group]
