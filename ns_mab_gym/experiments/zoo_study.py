"""The paper's worlds, the whole zoo: every agent on every one of them, told what its source asks for, and told nothing.

Informed, an agent is tuned by its own source's formula from the true facts about the world. Blind, it is told T and K
alone. Where both give the same parameters, one run serves for both.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..agents import HOUSE
from ..agents.core.knowledge import Knowledge
from ..agents.core.zoo import make
from ..play.match import known_of
from ..play.resolving import as_env
from .paper_names import ALGORITHMS
from .study import AgentEntry, Experiment, WorldEntry

__all__ = ["BLIND", "REFERENCES", "survey"]

BLIND = ", blind"  # the end of the label of an agent that is told T and K alone

# Agents that are no entries of their own: the oracle has no regret, and the grid of detectors has its named points.
LEFT_OUT = ("oracle", "restarting")
# The two ends of every comparison, which are shown without a place: neither has anything to be told or not told.
REFERENCES = ("oracle-restart", "random")
# Variants that are shown instead of the default: parameters and label.
VARIANTS: dict[str, tuple[tuple[dict[str, Any], str], ...]] = {
    "glr-klucb": (({"restart": "local"}, "glr-klucb, local"), ({"restart": "global"}, "glr-klucb, global")),
    "raw-ucb": (  # the exact form takes minutes here; with a ratio of 1.02 the grid is nearly that
        ({"grid": "geometric", "ratio": 1.02}, "raw-ucb, ratio 1.02"),
        ({"grid": "geometric"}, "raw-ucb, ratio 2"),
    ),
    "fewa": (({}, "fewa"), ({"grid": "geometric"}, "fewa, geometric")),
}


def survey(base: Experiment) -> Experiment:
    """Every agent of the zoo, informed and blind, beside an experiment with the paper's own on one world."""
    (world,) = base.worlds
    own = {entry.name: entry for entry in base.ranked}
    entries: list[AgentEntry] = []
    for name in HOUSE:
        if name not in LEFT_OUT:
            entries += _entries(world, name, own.get(name))
    return Experiment(
        worlds=base.worlds,
        agents=tuple(entries),
        runs=base.runs,
        seed=base.seed,
        reference=base.reference,
        rounds=base.rounds,
        survey=True,
    )


def _entries(world: WorldEntry, name: str, own: AgentEntry | None) -> list[AgentEntry]:
    """An agent informed, and blind if that makes a difference; each of its variants, if it has any."""
    informed = [own] if own else [AgentEntry.of(name, label=label, **given) for given, label in _variants(name)]
    blind = [_blind(entry) for entry in informed if name not in REFERENCES]
    known = _knowledge(world)
    pairs = zip(informed, blind, strict=False)
    return [*informed, *(other for entry, other in pairs if _tuned(entry, known) != _tuned(other, known))]


def _variants(name: str) -> tuple[tuple[dict[str, Any], str], ...]:
    return VARIANTS.get(name, (({}, name),))


def _blind(entry: AgentEntry) -> AgentEntry:
    """The same agent, told T and K alone; what was given because of the world is not given."""
    given = {} if entry.name in ALGORITHMS.values() else entry.kwargs
    return AgentEntry.of(entry.name, label=entry.label + BLIND, **given, blind=True)


def _tuned(entry: AgentEntry, known: Knowledge) -> dict[str, Any]:
    return dict(make(entry.name, knowledge=known, **entry.kwargs).parameters)


@cache
def _knowledge(world: WorldEntry) -> Knowledge:
    bandit = as_env(world.name, world.kwargs).unwrapped
    return known_of(bandit.means, bandit.world, bandit.law)  # type: ignore[attr-defined]
