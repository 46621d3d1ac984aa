"""The best parameters of an agent for a world, found by racing and judged on runs that chose nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import positive_int, shown
from ..agents.core.zoo import AGENTS, check_parameters, kind, make
from ..student_t import Estimated, estimated
from ..theory.text_tables import number, signed
from .arena import Arena
from .purse import Purse
from .racing import Candidate, Race
from .searching import search
from .spaces import Space, default_space, read_space

__all__ = ["Compared", "Spent", "Tuned", "tune"]

Floats = npt.NDArray[np.float64]

JUDGING = 0.25  # the share of the budget that the held-out runs may take
LEAST_RUNS, FEWEST_RUNS, MOST_RUNS = 2, 8, 200  # held-out runs: of the choice in any case, of others too, and at most
CAREFUL = 0.7  # the share of the rest of the purse that the held-out runs are planned to take
LEAST_BUDGET = 20  # runs
NEAR_RANDOM = 0.95
FORMULA_INSTANCES = 5  # of a random world, to see whether a formula depends on the instance
DOUBTFUL = 0.25  # from here on, a share by which a candidate might be better says too little to be told


class Compared(NamedTuple):
    """Another candidate on the same held-out runs."""

    agent: str
    parameters: dict[str, Any]
    regret: Estimated
    difference: Estimated  # its regret minus that of the choice, run by run

    @property
    def loss(self) -> float:
        """The share of the choice's regret by which it is worse; negative if it is better."""
        chosen = self.regret.mean - self.difference.mean
        return self.difference.mean / chosen if chosen > 0 else (math.inf if self.difference.mean > 0 else 0.0)


class Spent(NamedTuple):
    """What a search cost, without compilation."""

    seconds: float
    runs: int
    candidates: int


@dataclass(frozen=True, eq=False)
class Tuned(Mapping[str, Any]):
    """The parameters that won a race: a mapping, to be passed wherever ``agent_kwargs`` go, or as ``**tuned``.

    Attributes:
        agent: the agent, as it was given.
        parameters: the parameters; empty if its source's formula, applied to each instance, was best.
        regret: mean final regret in held-out runs, with its 95 % interval.
        formula: the parameters by the source's formula on the same runs; None if there is no formula.
        survivors: the parameters of other candidates that could not be told apart from the choice in the race.
        confidence: the probability with which the statement of ``within`` holds, if mean differences are normal.
        within: no candidate is better than the choice by more than this share of its regret; infinite if the budget did
            not allow to say.
        sureness: the same in words.
        random_play: the expected regret of random play; None if the means are not known.
        spent: the seconds and runs that the search took, and how many candidates it tried.
        warnings: what the user should know.
    """

    agent: Any
    parameters: dict[str, Any]
    regret: Estimated
    formula: Compared | None
    survivors: list[dict[str, Any]]
    confidence: float
    within: float
    sureness: str
    random_play: float | None
    spent: Spent
    warnings: list[str]

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        return f"Tuned({_candidate(self.agent, self.parameters).name}: {self._settings})"

    @property
    def _settings(self) -> str:
        return _candidate(self.agent, self.parameters).settings

    def __str__(self) -> str:
        lines = [
            f"{_candidate(self.agent, self.parameters).name}: {self._settings}",
            f"regret {in_words(self.regret)}{_random(self.random_play)}",
            self.sureness,
        ]
        if self.formula is not None and self.formula.parameters != self.parameters:
            formula = _candidate(self.agent, self.formula.parameters).settings
            label = "" if formula.startswith("its source") else "its source's formula, "
            lines.append(f"{label}{formula}: {number(self.formula.regret.mean)}, {_more(self.formula, self.regret)}")
        if self.survivors:
            shown = "; ".join(_candidate(self.agent, each).settings for each in self.survivors[:4])
            others = f" and {len(self.survivors) - 4} others" if len(self.survivors) > 4 else ""
            lines.append(f"not told apart from it: {shown}{others}")
        lines.append(f"{self.spent.seconds:.1f} s, {self.spent.runs:,} runs, {self.spent.candidates} candidates")
        return "\n".join([*lines, *(f"warning: {each}" for each in self.warnings)])


def tune(
    world: Any,
    agent: Any,
    *,
    budget: float = 20.0,
    runs: int | None = None,
    space: Mapping[str, Any] | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    agent_kwargs: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    tolerance: float = 0.01,
    level: float = 0.05,
) -> Tuned:
    """The best parameters of an agent for a world.

    Candidates race on common luck (:mod:`ns_mab_gym.choosing.racing`), first on a coarse grid, then around the best;
    where there are too many parameters for a grid, Optuna proposes candidates (extra ``tune``). Of a random world every
    run is another instance. The regret that is told comes from other runs, and other instances, than those that chose.

    Args:
        world: anything that ``simulate`` plays: an id, a world, an array of means, a file of them, an environment.
        agent: a name or a class.
        budget: seconds, compilation not counted; the result then depends on the speed of the machine.
        runs: how many runs may be played instead; the result is then the same on every machine.
        space: what to search instead of the default: of each parameter a list of values, or ``(low, high)``, or
            ``(low, high, scale)`` with scale "log", "linear" or "memory" (for discounts close to 1).
        env_kwargs: arguments of the environment.
        agent_kwargs: parameters that are not searched.
        seed: from which all seeds are derived.
        n_jobs: how many threads; as many as there are cores if not given.
        tolerance: the race stops when no candidate can be better by more than this share.
        level: the probability with which the bounds of the race may fail.
    """
    seed = positive_int("seed", seed, least=0, most=None)
    purse = Purse(budget, least_runs(runs))
    kind_of_agent(agent)
    arena = Arena(world, env_kwargs, seed=seed, n_jobs=n_jobs)
    fixed = dict(agent_kwargs or {})
    searched = default_space(agent, arena.horizon, arena.n_arms) if space is None else read_space(agent, space)
    searched = {name: dimension for name, dimension in searched.items() if name not in fixed}
    if not searched:
        raise ValueError(f"all parameters to search are fixed by agent_kwargs: {', '.join(fixed)}; leave one out")
    check_parameters(f"agent {agent!r}", kind_of_agent(agent), fixed)
    formula = formula_of(arena, agent, searched, fixed)
    start = [formula] if formula is not None and (space is None or arena.random) else []
    warm = formula if formula is not None else _any_of(agent, searched, fixed)
    with purse.closed():
        arena.warm_up([warm])
    race = Race(arena, purse, level=level, tolerance=tolerance)
    if arena.is_generic(agent):
        arena.try_out(warm)
    search(race, agent, searched, fixed, start, JUDGING * purse.total, seed)
    return _judged(race, arena, purse, formula)


def least_runs(runs: int | None) -> int | None:
    """The budget in runs, if it is given and suffices for a race of a few candidates."""
    return (
        None if runs is None else positive_int("runs", runs, least=LEAST_BUDGET, hint="all runs of the race together")
    )


def kind_of_agent(agent: Any) -> type[Any]:
    """The class of an agent that is given by name or as a class; raises a TypeError for anything else."""
    if not isinstance(agent, str | type):
        raise TypeError(f"agent must be a name or a class, got {shown(agent)}; an object's parameters are set already")
    return kind(agent) if isinstance(agent, str) else AGENTS.checked(agent)


def formula_of(arena: Arena, agent: Any, space: Space, fixed: Mapping[str, Any]) -> Candidate | None:
    """The candidate that the source's formula gives; without values if a random world's instances differ in them."""
    if not hasattr(kind_of_agent(agent), "tune"):
        return None
    if arena.bandit is None:
        return None
    known = [arena.knowledge(run) for run in range(FORMULA_INSTANCES if arena.random else 1)]
    made = [make(agent, knowledge=each, **fixed).parameters for each in known]
    values = [{name: each[name] for name in space} for each in made]
    return Candidate.of(agent, {**(values[0] if all(each == values[0] for each in values) else {}), **fixed})


def _any_of(agent: Any, space: Space, fixed: Mapping[str, Any]) -> Candidate:
    return Candidate.of(agent, {**{name: dimension.coarse(1)[0] for name, dimension in space.items()}, **fixed})


def judge(arena: Arena, purse: Purse, candidates: Sequence[Candidate]) -> dict[Candidate, Floats]:
    """The final regrets in held-out runs, as many as the rest of the purse pays for; of the last candidates maybe none.

    Args:
        arena: where they played.
        purse: what is left.
        candidates: the more important ones first; the first one is judged in any case.
    """
    wanted = list(dict.fromkeys(candidates))
    prices = [purse.price(arena.seconds(each)) for each in wanted]
    left = CAREFUL * purse.left
    while len(wanted) > 1 and FEWEST_RUNS * sum(prices[: len(wanted)]) > left:
        wanted.pop()
    price = sum(prices[: len(wanted)])
    affordable = math.floor(left / price) if price > 0 else MOST_RUNS
    runs = min(max(affordable, LEAST_RUNS), MOST_RUNS)
    purse.played += runs * len(wanted)
    return dict(zip(wanted, arena.held_out().play(wanted, 0, runs), strict=True))


def _judged(race: Race, arena: Arena, purse: Purse, formula: Candidate | None) -> Tuned:
    chosen = race.leader
    finals = judge(arena, purse, [chosen, *([] if formula is None else [formula])])
    regret, random_play = estimated(finals[chosen]), arena.random_play()
    return Tuned(
        agent=chosen.agent,
        parameters=chosen.kwargs,
        regret=regret,
        formula=None if formula not in finals else compare_with(formula, finals[formula], finals[chosen]),
        survivors=[each.kwargs for each in race.ranked() if each != chosen],
        confidence=1 - race.level,
        within=race.doubt(),
        sureness=sureness(race),
        random_play=random_play,
        spent=Spent(purse.elapsed, purse.played, len(race.finals)),
        warnings=near_random(chosen, regret, random_play),
    )


def compare_with(candidate: Candidate, finals: Floats, chosen: Floats) -> Compared:
    """A candidate's held-out regrets beside those of the choice."""
    return Compared(candidate.name, candidate.kwargs, estimated(finals), estimated(finals - chosen))


def near_random(chosen: Candidate, regret: Estimated, random_play: float | None) -> list[str]:
    """Warn if the choice is hardly better than random play, and return the warnings."""
    if not random_play or regret.mean < NEAR_RANDOM * random_play:  # without regret there is nothing to learn
        return []
    said = (
        f"{chosen.name} with {chosen.settings} has {regret.mean / random_play:.0%} of the regret of random play: none "
        f"of the candidates learns this world; try other agents or parameters"
    )
    warnings.warn(said, stacklevel=4)
    return [said]


def in_words(estimate: Estimated) -> str:
    """A mean with its interval in words."""
    interval = f"95 % interval {number(estimate.low)} to {number(estimate.high)}"
    return f"{number(estimate.mean)} ({interval}, {estimate.runs} held-out runs)"


def sureness(race: Race) -> str:
    """How sure a race is of its leader, in words."""
    entered, doubt = len(race.finals), race.doubt()
    if entered == 1:
        return "there was one candidate"
    sure = f"with {1 - race.level:.0%} confidence none of {entered} candidates is better"
    if doubt == 0:
        return sure
    if doubt <= DOUBTFUL:
        return f"{sure} by more than {doubt:.1%}"
    unproved = len(race.unproved())
    return (
        f"{entered - 1 - unproved} of {entered} candidates proved worse ({1 - race.level:.0%} confidence), {unproved} "
        f"not: a larger budget tells more"
    )


def _more(compared: Compared, chosen: Estimated) -> str:
    low, high = (end / chosen.mean if chosen.mean > 0 else math.inf for end in compared.difference[1:3])
    return f"{signed(compared.loss, 1)} (95 % interval {signed(low, 1)} to {signed(high, 1)})"


def _random(random_play: float | None) -> str:
    return "" if random_play is None else f"; random play {number(random_play)}"


def _candidate(agent: Any, parameters: Mapping[str, Any]) -> Candidate:
    return Candidate.of(agent, parameters)
