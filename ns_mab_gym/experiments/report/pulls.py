"""How often each arm was played: a row for each agent, the share of its rounds for each arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...means import best_arms
from ...runs import Runs

__all__ = ["PullsTable", "Share", "pulls_table"]

Floats = npt.NDArray[np.float64]

MANY = 12  # arms; of more, the most played ones have columns
MOST = 10


@dataclass(frozen=True)
class Share:
    """A share of the rounds."""

    value: float

    def __str__(self) -> str:
        if 0 < self.value < 0.005:
            return "<1 %"
        return f"{self.value:.0%}".replace("%", " %")


@dataclass(frozen=True)
class PullsTable:
    """The shares of all agents' rounds.

    Attributes:
        arms: the names of the columns; the last are all other arms, where arms are many.
        rows: the agents' labels with a share for each column.
        best: the share of rounds in which each arm is the best, where all runs have the same means.
    """

    arms: list[str]
    rows: list[tuple[str, list[Share]]]
    best: list[Share] | None


def pulls_table(curves: Mapping[str, Runs], names: Sequence[str], means: Floats | None) -> PullsTable:
    """The shares of pulls of some agents on a world.

    Args:
        curves: the runs by label.
        names: of the arms.
        means: those of all runs; None if they are not known or differ from run to run.
    """
    shares = {label: runs.pulls.sum(axis=0) / runs.pulls.sum() for label, runs in curves.items()}
    best = None if means is None else np.bincount(best_arms(means), minlength=len(names)) / len(means)
    most = np.max([*shares.values(), *([] if best is None else [best])], axis=0)
    shown = sorted(np.argsort(-most, kind="stable")[:MOST].tolist()) if len(names) > MANY else list(range(len(names)))
    rest = len(names) - len(shown)

    def cells(every: Floats) -> list[Share]:
        kept = [Share(float(every[arm])) for arm in shown]
        return [*kept, Share(max(0.0, 1 - sum(each.value for each in kept)))] if rest else kept

    return PullsTable(
        [*(names[arm] for arm in shown), *([f"{rest} others"] if rest else [])],
        [(label, cells(every)) for label, every in shares.items()],
        None if best is None else cells(best),
    )
