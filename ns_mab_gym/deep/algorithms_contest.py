"""Compares several learning algorithms on one world, beside rivals that are the same for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..rl.training import Trained
from .held_out import Case, contest, rows_of
from .rivals import Rival

__all__ = ["compare_algorithms"]

Row = dict[str, Any]
OF_RIVAL = ("agent", "runs", "regret", "se", "parameters", "steps", "seconds")
AGAINST = ("more", "low", "high", "learning")


def compare_algorithms(
    case: Case, trained: Mapping[str, Mapping[int, Trained]], rivals: Sequence[Rival], runs: int
) -> dict[str, list[Row]]:
    """The numbers of all models and rivals on the same instances with the same luck, as plain values.

    Returns:
        Under ``"models"`` a row for each algorithm, over its training seeds, and under ``"rivals"`` one for each rival,
        the least regret first: ``"learning"`` says by how much it exceeds the models of each algorithm.

    Args:
        case: where they play.
        trained: the models of each algorithm by their training seeds.
        rivals: the others.
        runs: how many.
    """
    labelled = {
        name: {f"{name}, seed {seed}": each for seed, each in by_seed.items()} for name, by_seed in trained.items()
    }
    agents = {label: each.agent for models in labelled.values() for label, each in models.items()}
    played = contest(case, agents, rivals, runs)
    rows = {name: rows_of(name, models, rivals, played) for name, models in labelled.items()}
    return {"models": [first for first, *_ in rows.values()], "rivals": _of_rivals(rows)}


def _of_rivals(rows: Mapping[str, Sequence[Row]]) -> list[Row]:
    """The rows of the rivals, who played the same beside each algorithm, with the verdicts on all algorithms."""
    verdicts = {name: {row["agent"]: row for row in beside} for name, (_, *beside) in rows.items()}
    _, *first = next(iter(rows.values()))
    return [
        {
            **{key: row[key] for key in OF_RIVAL},
            "learning": {name: {key: by[row["agent"]][key] for key in AGAINST} for name, by in verdicts.items()},
        }
        for row in first
    ]
