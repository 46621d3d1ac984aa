"""Who plays on the leaderboard, and in which form on each world: informed, blind, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from ...agents import HOUSE
from ...agents.core.knowledge import Knowledge
from ...agents.core.protocol import UnsuitableRewardsError
from ...agents.core.zoo import make
from ...envs.bandit import NSBanditEnv
from ...play.episode import check_match, seed_pair
from ...play.match import known_of
from ...play.resolving import MODELS
from ..preflight import env_of
from ..study import AgentEntry, WorldEntry
from ..zoo_study import BLIND, LEFT_OUT, REFERENCES

__all__ = ["DIVISIONS", "INFORMED", "UNINFORMED", "Contestant", "forms_on", "zoo_and"]

INFORMED, UNINFORMED = "informed", "blind"
DIVISIONS = (INFORMED, UNINFORMED)
ALWAYS_TOLD = {"n_arms", "horizon"}
SAME_IN_EVERY_RUN = ALWAYS_TOLD | {"subgaussian"}

# The form of an agent that has a place, where it is not the default, and further forms that have none.
NAMED: dict[str, tuple[dict[str, Any], str]] = {
    "raw-ucb": ({"grid": "geometric"}, "raw-ucb (geometric)"),
    "fewa": ({"grid": "geometric"}, "fewa (geometric)"),
}
FURTHER: dict[str, tuple[dict[str, Any], str]] = {
    "glr-klucb": ({"restart": "global"}, "glr-klucb (global)"),
}


@dataclass(frozen=True)
class Contestant:
    """An agent of the leaderboard.

    Attributes:
        entry: the agent as it is when it is told what it asks for.
        reference: whether it is shown for comparison only, and belongs to no division.
        variant: whether it is a further form of an agent that has a place already.
        guest: whether it was named by the user.
    """

    entry: AgentEntry
    reference: bool = False
    variant: bool = False
    guest: bool = False

    @property
    def label(self) -> str:
        """What tables and figures call it."""
        return self.entry.label

    @property
    def competes(self) -> bool:
        """Whether it can have a place."""
        return not (self.reference or self.variant)


def zoo_and(guests: Sequence[AgentEntry] = ()) -> list[Contestant]:
    """The zoo, each agent in one named form that can have a place, its further forms, the references, and guests."""
    found: list[Contestant] = []
    for name in HOUSE:
        if name not in LEFT_OUT:
            given, label = NAMED.get(name, ({}, name))
            found.append(Contestant(AgentEntry.of(name, label=label, **given), reference=name in REFERENCES))
        if name in FURTHER:
            given, label = FURTHER[name]
            found.append(Contestant(AgentEntry.of(name, label=label, **given), variant=True))
    labels = {each.label for each in found}
    for guest in guests:
        if guest.label in labels:
            raise ValueError(f"{guest.label!r} is on the leaderboard already; leave it out, or give other parameters")
        if guest.name in MODELS:
            raise ValueError(f"{guest.words!r} is a model of one number of arms; compare it with ns-mab-gym evaluate")
        if guest.blind:
            raise ValueError(f"{guest.words!r}: leave out blind; every agent plays both divisions, see --division")
        found.append(Contestant(guest, guest=True))
    return found


def forms_on(world: WorldEntry, contestant: Contestant) -> dict[str, AgentEntry]:
    """An agent's entry in each division on a world; empty if its rule is not defined for the world's rewards.

    An agent for binary rewards plays other rewards in [0, 1] by a coin flip with the reward as its chance. Where the
    agent's parameters are the same in both divisions in every run, one entry serves for both.
    """
    entry = _suited(world, contestant.entry)
    if entry is None:
        return {}
    if contestant.reference:
        return {INFORMED: entry}
    blind = AgentEntry.of(entry.name, label=entry.label + BLIND, **entry.kwargs, blind=True)
    try:
        _made(world, blind)
    except (TypeError, ValueError):  # it cannot do without what the informed form is told
        return {INFORMED: entry}
    return {INFORMED: entry, UNINFORMED: entry if _same(world, entry, blind) else blind}


def _suited(world: WorldEntry, entry: AgentEntry) -> AgentEntry | None:
    """The entry, with coin flips if it needs them; None if it cannot play these rewards."""
    env = _env(world)
    low, high = env.law.support
    for given in ({}, {"binarize": True}) if 0 <= low <= high <= 1 else ({},):
        try:
            check_match(env, _made(world, entry, **given))
        except UnsuitableRewardsError:
            continue
        return replace(entry, parameters=tuple({**entry.kwargs, **given}.items()))
    return None


def _same(world: WorldEntry, entry: AgentEntry, blind: AgentEntry) -> bool:
    """Whether both have the same parameters in every run, which one instance shows if nothing asked for varies."""
    read, agent = _pieces_read(world, entry)
    if read <= ALWAYS_TOLD:
        return True
    if "means" in read or not hasattr(agent, "parameters"):
        return False
    lasting = read <= SAME_IN_EVERY_RUN or not _env(world).world.random
    return bool(lasting and agent.parameters == _made(world, blind).parameters)


def _pieces_read(world: WorldEntry, entry: AgentEntry) -> tuple[set[str], Any]:
    """Which pieces of knowledge the agent's formula reads on the first instance, and the agent that results."""
    known = _knowledge(world)
    told = Listening(**{piece.name: getattr(known, piece.name) for piece in fields(Knowledge)})
    read: set[str] = set()
    object.__setattr__(told, "_read", read)
    return read, make(entry.name, knowledge=told, **entry.kwargs)


class Listening(Knowledge):
    """Knowledge that notes which of its pieces are read."""

    def __getattribute__(self, name: str) -> Any:
        if name in Knowledge.__dataclass_fields__:
            vars(self).get("_read", set()).add(name)
        return super().__getattribute__(name)


def _made(world: WorldEntry, entry: AgentEntry, **given: Any) -> Any:
    return make(entry.name, knowledge=_knowledge(world), **entry.kwargs, **given)


@cache
def _env(world: WorldEntry) -> NSBanditEnv:
    env = env_of(world).unwrapped
    assert isinstance(env, NSBanditEnv)
    if env.world.random:
        env.reset(seed=seed_pair(0)[0])
    return env


@cache
def _knowledge(world: WorldEntry) -> Knowledge:
    env = _env(world)
    return known_of(env.means, env.world, env.law)
