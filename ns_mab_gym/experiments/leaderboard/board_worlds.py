"""The worlds of the leaderboard: a row for each, with its family and what the guide says it is an example of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...agents.core.arguments import nearest
from ..study import WorldEntry

__all__ = ["CHANGES", "GAUSSIAN", "SPEEDS", "BoardWorld", "chosen_worlds"]

CLICKS = f"{__package__}.click_rates:ClickRates"
PAPER, PHASES, WALKS, GAUSSIAN = "the paper's worlds", "random phases", "random walks", "Gaussian rewards"
RISING, ROTTING, PERIODIC, MIXED = "rising", "rotting", "periodic", "mixed"
CLICK_RATES, TWO, FIFTY, BETA = "low click rates", "two arms", "fifty arms", "Beta rewards"
CHANGES, SPEEDS = "changes", "step of the walk"  # what varies along the axis of a picture
SHRUNK, FEW_RUNS = 10, 4  # a quick look: horizons divided by this, and so many runs


@dataclass(frozen=True)
class BoardWorld:
    """A world of the leaderboard.

    Attributes:
        entry: the world; its group is its family, and families have the same weight.
        topic: what the guide calls worlds like it.
        runs: the number of runs of each agent.
        axis: what varies along the axis of a picture, and its value; None if the world is in no such picture.
    """

    entry: WorldEntry
    topic: str
    runs: int = 50
    axis: tuple[str, float] | None = None

    @property
    def label(self) -> str:
        """What tables and figures call it."""
        return self.entry.label

    @property
    def family(self) -> str:
        """The family to which it belongs."""
        return self.entry.group

    @property
    def counts(self) -> bool:
        """Whether it counts for the ranks: whether every agent of the zoo can play its rewards."""
        return self.family != GAUSSIAN


def chosen_worlds(
    wanted: Sequence[str] | None = None, runs: int | None = None, quick: bool = False
) -> list[BoardWorld]:
    """The worlds of the leaderboard.

    Args:
        wanted: labels or families of those that are wanted; all if not given.
        runs: the number of runs of each agent on every world, instead of the world's own.
        quick: whether horizons are a tenth, with few runs.
    """
    found = WORLDS if wanted is None else [each for each in WORLDS if {each.label, each.family} & set(wanted)]
    known = [name for each in WORLDS for name in (each.label, each.family)]
    if unknown := sorted(set(wanted or ()) - set(known)):
        raise ValueError(f"the leaderboard has no world or family {unknown[0]!r}; {nearest(unknown[0], known)}")
    if quick:
        found = [replace(each, entry=_shrunk(each.entry), runs=FEW_RUNS) for each in found]
    return found if runs is None else [replace(each, runs=runs) for each in found]


def _shrunk(entry: WorldEntry) -> WorldEntry:
    """The same world with a tenth of its rounds, of its period and of the least length of its phases."""
    given = entry.kwargs
    for part in ("horizon", "period", "min_spacing"):
        if part in given:
            given[part] = max(1, given[part] // SHRUNK)
    return WorldEntry.of(entry.name, label=entry.label, group=entry.group, **given)


def _world(
    family: str,
    label: str,
    topic: str,
    name: str,
    *,
    runs: int = 50,
    axis: tuple[str, float] | None = None,
    **given: Any,
) -> BoardWorld:
    return BoardWorld(
        WorldEntry.of(name, label=label, group=family, **({"horizon": 10_000} | given)), topic, runs, axis
    )


def _phases(family: str, label: str, topic: str, changes: int, gap: float = 0.1, **given: Any) -> BoardWorld:
    spaced: dict[str, Any] = {"changes": changes, "min_gap": gap, "min_spacing": 50}
    return _world(family, label, topic, "piecewise", **spaced, **given)


def _walk(family: str, label: str, topic: str, step: float, **given: Any) -> BoardWorld:
    return _world(family, label, topic, "random-walk", step=step, **given)


WORLDS = [
    *(
        _world(PAPER, label, topic, f"NSBandit-{name}-v0", horizon=50_000, runs=25)
        for label, topic, name in (
            ("Abrupt", "the paper's abrupt worlds", "Abrupt"),
            ("General abrupt", "the paper's abrupt worlds", "GeneralAbrupt"),
            ("Smooth, σ = 0.0001", "the paper's smooth worlds", "Smooth"),
            ("Smooth, σ = 0.001", "the paper's smooth worlds", "SmoothFast"),
        )
    ),
    _phases(PHASES, "no change", "no change at all", 0),
    *(
        _phases(PHASES, f"{count} changes" if count > 1 else "1 change", topic, count, axis=(CHANGES, count))
        for count, topic in (
            (1, "few changes"), (4, "few changes"), (16, "many changes"), (64, "many changes"),
        )
    ),
    _phases(PHASES, "4 changes, any gap", "small gaps", 4, 0.0),
    _phases(PHASES, "4 changes, gap 0.3", "large gaps", 4, 0.3),
    *(
        _walk(WALKS, f"walk, step {step:g}", topic, step, axis=(SPEEDS, step))
        for step, topic in (
            (0.0005, "slow drift"), (0.002, "slow drift"), (0.008, "fast drift"), (0.032, "fast drift"),
        )
    ),
    _world(RISING, "rising, rates to 10", "rising means", "rising", fastest=10.0),
    _world(RISING, "rising, rates to 100", "rising means", "rising", fastest=100.0),
    _world(ROTTING, "rotting, rates to 10", "rotting means", "rotting", fastest=10.0),
    _world(ROTTING, "rotting, rates to 100", "rotting means", "rotting", fastest=100.0),
    _world(PERIODIC, "period 1,000", "periodic means", "periodic", period=1_000),
    _world(PERIODIC, "period 5,000", "periodic means", "periodic", period=5_000),
    _world(MIXED, "4 jumps, slow drift", "jumps and drift together", "mixed", changes=4, step=0.001),
    _world(MIXED, "16 jumps, fast drift", "jumps and drift together", "mixed", changes=16, step=0.008),
    _world(CLICK_RATES, "clicks, 1 change", "low click rates", CLICKS, horizon=50_000, changes=1, min_gap=0.1),
    _world(CLICK_RATES, "clicks, 4 changes", "low click rates", CLICKS, horizon=50_000, changes=4, min_gap=0.1),
    _phases(TWO, "2 arms, 4 changes", "two arms", 4, n_arms=2),
    _walk(TWO, "2 arms, walk 0.008", "two arms", 0.008, n_arms=2),
    _phases(FIFTY, "50 arms, 4 changes", "fifty arms", 4, n_arms=50),
    _walk(FIFTY, "50 arms, walk 0.002", "fifty arms", 0.002, n_arms=50),
    _phases(BETA, "Beta, 4 changes", "Beta rewards", 4, reward="beta"),
    _walk(BETA, "Beta, walk 0.002", "Beta rewards", 0.002, reward="beta"),
    _phases(GAUSSIAN, "Gaussian, 4 changes", "Gaussian rewards", 4, reward="gaussian"),
    _walk(GAUSSIAN, "Gaussian, walk 0.002", "Gaussian rewards", 0.002, reward="gaussian"),
]  # fmt: skip
