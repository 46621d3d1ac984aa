"""The parameters with which the paper's agents play under every reading of their tuning but the first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..agents.core.knowledge import Knowledge
from ..agents.core.tuning import drift_window
from ..agents.core.zoo import kind
from .paper_names import ABRUPT, ALGORITHMS, GENERAL, REXP3, SMOOTH, WORLDS
from .paper_readings import GAMMA, SER4_TUNING, SIGMA, VARIATION
from .readings import Choice
from .study import AgentEntry

__all__ = ["SETTINGS", "Facts", "other_readings"]


@dataclass(frozen=True)
class Facts:
    """What the parameters of another reading are made from."""

    horizon: int
    n_arms: int
    switches: int


def _phi(facts: Facts, count: float) -> float:
    """Ser4's φ = √(N/(T K ln(KT))) for a count N."""
    return math.sqrt(count / (facts.horizon * facts.n_arms * math.log(facts.n_arms * facts.horizon)))


def _batch(facts: Facts) -> int:
    """Rexp3's Δ for V_T = 0.001 T."""
    known = Knowledge(n_arms=facts.n_arms, horizon=facts.horizon, variation=0.001 * facts.horizon)
    return int(kind(ALGORITHMS[REXP3]).tune(known, {})["batch"])


Parameters = Callable[[Facts], dict[str, Any]]
EVERYWHERE = tuple(WORLDS)
# For each reading that is not the first: the worlds on which it changes something, and the agent's parameters there.
SETTINGS: dict[tuple[Choice, str], tuple[tuple[str, ...], Parameters]] = {
    (GAMMA, "γ = ¼"): (EVERYWHERE, lambda facts: {"gamma": 0.25}),
    (VARIATION, "0.001 T"): (EVERYWHERE, lambda facts: {"batch": _batch(facts)}),
    (SIGMA, "0.001"): ((SMOOTH,), lambda facts: {"window": drift_window(1e-3)}),
    (SIGMA, "as stated, else 0.0001"): ((ABRUPT, GENERAL), lambda facts: {"window": drift_window(1e-4)}),
    (SER4_TUNING, "N = switches"): (EVERYWHERE, lambda facts: {"phi": _phi(facts, facts.switches)}),
    (SER4_TUNING, "factor 1"): (EVERYWHERE, lambda facts: {"factor": 1.0}),
}


def other_readings(world: str, facts: Facts, entry: AgentEntry) -> list[AgentEntry]:
    """An agent of the paper with the parameters of every reading but the first, where it changes them.

    Args:
        world: the label of the world.
        facts: what the parameters are made from.
        entry: the agent as it plays under the first readings.
    """
    entries = []
    for (choice, name), (worlds, parameters) in SETTINGS.items():
        if choice.concerns(entry.label) and world in worlds:
            reading = next(each for each in choice.readings if each.name == name)
            changed = entry.kwargs | parameters(facts)
            label = choice.label(reading, entry.label)
            made = AgentEntry.of(entry.name, label=label, group=entry.group, **changed)
            entries.append(made.standing_for(entry.label))
    return entries
