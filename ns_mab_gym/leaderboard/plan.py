"""The plan of the leaderboard: its worlds, its agents and their forms on each world, and the study that computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

import numpy as np

from ..agents import HOUSE
from ..agents.core.arguments import fraction, nearest
from ..agents.core.knowledge import LAW, Knowledge
from ..agents.core.protocol import UnsuitableRewardsError
from ..agents.core.registry import make
from ..envs.bandit import NSBanditEnv
from ..means import Floats
from ..play.loop import check_match
from ..specs import MODELS, AgentSpec, WorldSpec
from ..studies.runner import first_known
from ..studies.study import LEFT_OUT, REFERENCES, Experiment, Study
from ..worlds.drawn import Piecewise


@dataclass(frozen=True, kw_only=True)
class ClickRates(Piecewise):
    """Random phases with rare successes: the piecewise world, with its means moved from [0, 1] to [least, most].

    >>> bool(ClickRates(horizon=100).means(0).max() <= 0.08)
    True

    Attributes:
        least: the smallest possible mean.
        most: the largest possible mean.
    """

    least: float = 0.01
    most: float = 0.08
    name: str = field(init=False, repr=False, default="ns_mab_gym.leaderboard.plan:ClickRates")

    def __post_init__(self) -> None:
        """Check the two ends."""
        super().__post_init__()
        if fraction("least", self.least) >= fraction("most", self.most):
            raise ValueError(f"least must be below most, got {self.least} and {self.most}")

    def _means(self, rng: np.random.Generator) -> Floats:
        return self.least + (self.most - self.least) * super()._means(rng)


CLICKS = f"{__name__}:ClickRates"
PAPER, PHASES, WALKS, GAUSSIAN = "the paper's worlds", "random phases", "random walks", "Gaussian rewards"
RISING, ROTTING, PERIODIC, MIXED = "rising", "rotting", "periodic", "mixed"
CLICK_RATES, TWO, FIFTY, BETA = "low click rates", "two arms", "fifty arms", "Beta rewards"
CHANGES, SPEEDS = "changes", "step of the walk"  # what varies along the axis of a picture
SHRUNK, FEW_RUNS = 10, 4  # a quick look: the divisor of horizons, and the number of runs


@dataclass(frozen=True)
class BoardWorld:
    """A world of the leaderboard.

    Attributes:
        entry: the world; its group is its family, and families have the same weight.
        topic: the kind of world that it stands for in the guide.
        runs: the number of runs of each agent.
        axis: what varies along the axis of a picture, and its value; None if the world is in no such picture.
    """

    entry: WorldSpec
    topic: str
    runs: int = 50
    axis: tuple[str, float] | None = None

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        return self.entry.label

    @property
    def family(self) -> str:
        """The family to which it belongs."""
        return self.entry.group

    @property
    def counts(self) -> bool:
        """True for a world that counts for the ranks, since every agent of the zoo can play its rewards."""
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


def _shrunk(entry: WorldSpec) -> WorldSpec:
    """The same world with a tenth of its rounds, of its period and of the least length of its phases."""
    sizes = {key: entry.kwargs[key] for key in ("horizon", "period", "min_spacing") if key in entry.kwargs}
    shrunk = {key: max(1, size // SHRUNK) for key, size in sizes.items()}
    return replace(entry, parameters=tuple((entry.kwargs | shrunk).items()))


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
    return BoardWorld(WorldSpec.of(name, label=label, group=family, **({"horizon": 10_000} | given)), topic, runs, axis)


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


INFORMED, UNINFORMED = "informed", "blind"
DIVISIONS = (INFORMED, UNINFORMED)
ALWAYS_TOLD = {"n_arms", "horizon", *LAW}

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
        guest: whether it was asked for beside those of the registry.
    """

    entry: AgentSpec
    reference: bool = False
    variant: bool = False
    guest: bool = False

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        return self.entry.label

    @property
    def competes(self) -> bool:
        """True for an agent that can have a place."""
        return not (self.reference or self.variant)


def zoo_and(guests: Sequence[AgentSpec] = ()) -> list[Contestant]:
    """The registered agents, each in one form that can have a place, their further forms, references, and guests."""
    found: list[Contestant] = []
    for name in HOUSE:
        if name not in LEFT_OUT:
            given, label = NAMED.get(name, ({}, name))
            found.append(Contestant(AgentSpec.of(name, label=label, **given), reference=name in REFERENCES))
        if name in FURTHER:
            given, label = FURTHER[name]
            found.append(Contestant(AgentSpec.of(name, label=label, **given), variant=True))
    labels = {each.label for each in found}
    for guest in guests:
        if guest.label in labels:
            raise ValueError(f"{guest.label!r} is on the leaderboard already; leave it out, or give other parameters")
        if guest.name in MODELS:
            raise ValueError(f"{guest.text!r} is a model of one number of arms; compare it with ns-mab-gym evaluate")
        if guest.blind:
            raise ValueError(f"{guest.text!r}: leave out blind; every agent plays both divisions, see --division")
        found.append(Contestant(guest, guest=True))
    return found


def forms_on(world: WorldSpec, contestant: Contestant) -> dict[str, AgentSpec]:
    """An agent's entry in each division on a world; empty if its rule is not defined for the world's rewards.

    An agent for binary rewards plays other rewards in [0, 1] by a coin flip with the reward as its chance. Where the
    agent's parameters are the same in both divisions in every run, one entry serves for both.
    """
    if (entry := _suited(world, contestant.entry)) is None:
        return {}
    if contestant.reference:
        return {INFORMED: entry}
    blind = entry.as_blind(entry.kwargs)
    try:
        _made(world, blind)
    except (TypeError, ValueError):  # it cannot do without what the informed form is told
        return {INFORMED: entry}
    return {INFORMED: entry, UNINFORMED: entry if _same(world, entry, blind) else blind}


def _suited(world: WorldSpec, entry: AgentSpec) -> AgentSpec | None:
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


def _same(world: WorldSpec, entry: AgentSpec, blind: AgentSpec) -> bool:
    """True if both have the same parameters in every run, which one instance shows if nothing asked for varies."""
    known, read = _knowledge(world), set[str]()
    told = Listening(**{piece.name: getattr(known, piece.name) for piece in fields(Knowledge)})
    object.__setattr__(told, "_read", read)
    agent = make(entry.name, knowledge=told, **entry.kwargs)
    if read <= ALWAYS_TOLD:
        return True
    if "means" in read or not hasattr(agent, "parameters"):
        return False
    return bool(not _env(world).world.random and agent.parameters == _made(world, blind).parameters)


class Listening(Knowledge):
    """Knowledge that notes which of its pieces are read."""

    def __getattribute__(self, name: str) -> Any:
        if name in Knowledge.__dataclass_fields__:
            vars(self).get("_read", set()).add(name)
        return super().__getattribute__(name)


def _made(world: WorldSpec, entry: AgentSpec, **given: Any) -> Any:
    return make(entry.name, knowledge=_knowledge(world), **entry.kwargs, **given)


@cache
def _env(world: WorldSpec) -> NSBanditEnv:
    env = world.env().unwrapped
    assert isinstance(env, NSBanditEnv)
    return env


@cache
def _knowledge(world: WorldSpec) -> Knowledge:
    return first_known(_env(world))


ROUNDS = (1,)  # after which the regret is kept, beside the last: nothing is said about the rounds between


@dataclass(frozen=True)
class BoardPlan:
    """The worlds, the agents and their forms on each world.

    Attributes:
        worlds: the worlds.
        contestants: the agents.
        forms: the entries by the labels of world and agent, then by division; empty if it cannot play the world.
        seed: the number from which the seeds of all runs are derived.
    """

    worlds: Sequence[BoardWorld]
    contestants: Sequence[Contestant]
    forms: dict[tuple[str, str], dict[str, AgentSpec]]
    seed: int = 0

    def study(self) -> Study:
        """The experiments: an agent's first before the others of the agent before it, beside which it is compiled."""
        rows = []
        for each in self.contestants:
            forms = {world: tuple(dict.fromkeys(self.forms[world.label, each.label].values())) for world in self.worlds}
            rows.append(
                [
                    Experiment(worlds=(world.entry,), agents=agents, runs=world.runs, seed=self.seed, rounds=ROUNDS)
                    for world, agents in forms.items()
                    if agents
                ]
            )
        placed = {
            (number if place else number - 1, place): experiment
            for number, row in enumerate(filter(None, rows))
            for place, experiment in enumerate(row)
        }
        return Study("Leaderboard", tuple(placed[key] for key in sorted(placed)))


def plan_of(
    worlds: Sequence[BoardWorld], contestants: Sequence[Contestant], divisions: Sequence[str] = DIVISIONS, seed: int = 0
) -> BoardPlan:
    """The plan for these worlds and agents; references play in any case."""
    forms = {}
    for world in worlds:
        for each in contestants:
            found = forms_on(world.entry, each)
            kept = found if each.reference else {name: form for name, form in found.items() if name in divisions}
            forms[world.label, each.label] = kept
    return BoardPlan(worlds, contestants, forms, seed)
