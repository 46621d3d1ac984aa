"""The best parameters of an agent for a world, and the best agent: raced, and named by held-out runs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..agents.core.arguments import choice, positive_int, shown
from ..agents.core.knowledge import Knowledge
from ..agents.core.protocol import UnsuitableRewardsError
from ..agents.core.registry import AGENTS, check_parameters, kind, make, unpacked
from ..logs.world import LogWorld
from ..specs import as_env
from ..statistics import Estimated
from ..theory.text_tables import number, signed
from ..theory.theorems import BERNOULLI, LEARNERS
from ..theory.windows import recommend_window
from .gains import BELIEVED, Gain, gains_of, late, remarks
from .race import Budget, Candidate, HeldOut, Race, WorldEvaluator
from .search import (
    ADVISED,
    REAL_VALUED,
    START,
    Space,
    advised_space,
    coarse_grid,
    default_space,
    read_space,
    refine,
    search,
)

JUDGING = 0.25  # the share of the budget of `tune` that the held-out runs may take
FEWEST_RUNS, MOST_RUNS = 5, 1_000  # held-out runs
LOOK, SHORT_LIST = 2, 3  # the fewest runs of a candidate in the race; how many of the race are judged
CAREFUL = 0.5  # the share of the rest of the budget that the next block of held-out runs may take
NEAR_RANDOM = 0.95
FORMULA_INSTANCES = 5  # of a random world, to see whether a formula depends on the instance
MOST_SHOWN = 3  # candidates that are named where more cannot be told apart

# The budget of `recommend`: what is left of it is for the windows of the paper's samplers.
RACING, ADVISING = 0.5, 0.4  # the shares for the race of all, and for the held-out runs
TRIAL = 0.05  # the share that whole runs of one agent may take, to see how long they are; at least two are played
FIRST_LOOK = 0.6  # the share of the race that the first look may take
COARSE = 0.7  # the share of the race that the first grid may take
FINE = math.log(1.6)  # a grid is refined until neighbours are closer than this on their scale
LARGE = 500_000  # numbers in a matrix of means from which on theory would take seconds
# The first look: runs of each candidate, and the share of each grid; the next if the budget is too small. In the last
# one every agent has one form.
LOOKS = ((4, 1.0), (4, 0.5), (LOOK, 0.5), (LOOK, 0.3), (LOOK, 0.0))


class Alternative(NamedTuple):
    """Another candidate on the same held-out runs."""

    agent: str
    parameters: dict[str, Any]
    regret: Estimated
    difference: Estimated  # its regret minus that of the choice, run by run
    unbeaten: bool  # whether it cannot be told apart from the best: none that was judged has less regret beyond doubt

    @property
    def loss(self) -> float:
        """The share of the choice's regret by which it is worse; negative if it is better."""
        chosen = self.regret.mean - self.difference.mean
        return self.difference.mean / chosen if chosen > 0 else (math.inf if self.difference.mean > 0 else 0.0)

    def __str__(self) -> str:
        doubt = ", not told apart" if self.difference.low <= 0 <= self.difference.high else ""
        beaten = ", but worse than another one beyond doubt" if doubt and not self.unbeaten else ""
        candidate = Candidate.of(self.agent, self.parameters)
        return f"{candidate}, {number(self.regret.mean)} ({signed(self.loss, 1)}{doubt}{beaten})"


class Spent(NamedTuple):
    """The costs of a search, without compilation."""

    seconds: float
    runs: int
    candidates: int


@dataclass(frozen=True, eq=False)
class Chosen:
    """An agent and its parameters, named by held-out runs, with their regret.

    Intervals hold for everything that was judged together (:class:`ns_mab_gym.tuning.race.HeldOut`), and hence for the
    choice, although the same runs made it.

    Attributes:
        agent: the agent, as it was given.
        parameters: the parameters that were searched; none if its source's formula, applied to each instance, was best;
            ``{"blind": True}`` if it is to be told T, K and the law of rewards alone.
        regret: mean final regret in held-out runs, with its interval.
        judged: the others that played the same held-out runs, the least mean regret first.
        confidence: the probability with which the intervals hold together, if mean differences are normal.
        sureness: what the held-out runs tell apart, as text.
        random_play: the expected regret of random play; None if the means are not known.
        spent: the seconds and runs that the search took, and how many candidates it tried.
        warnings: what the user should know.
    """

    agent: Any
    parameters: dict[str, Any]
    regret: Estimated
    judged: list[Alternative]
    confidence: float
    sureness: str
    random_play: float | None
    spent: Spent
    warnings: list[str]

    @property
    def alike(self) -> list[Alternative]:
        """The others that cannot be told apart from the best, as the choice cannot."""
        return [each for each in self.judged if each.unbeaten]

    @property
    def within(self) -> float:
        """None that was judged is better than the choice by more than this share of its regret."""
        most = max((-each.difference.low for each in self.judged), default=0.0)
        return max(most, 0.0) / self.regret.mean if self.regret.mean > 0 else (math.inf if most > 0 else 0.0)

    @property
    def _regret(self) -> str:
        interval = f"{100 * self.confidence:g} % interval {number(self.regret.low)} to {number(self.regret.high)}"
        return f"regret {number(self.regret.mean)} ({interval}, {self.regret.runs:,} held-out runs)"

    @property
    def _cost(self) -> str:
        return f"{self.spent.seconds:.1f} s, {self.spent.runs:,} runs, {self.spent.candidates} candidates"

    @property
    def _warned(self) -> list[str]:
        return [f"warning: {each}" for each in self.warnings]


@dataclass(frozen=True, eq=False)
class Tuned(Chosen, Mapping[str, Any]):
    """The best parameters of an agent: a mapping, to be passed wherever ``agent_kwargs`` go, or as ``**tuned``.

    Attributes, beside those of :class:`Chosen`:
        formula: the parameters by the source's formula on the same runs; None if there is no formula.
    """

    formula: Alternative | None

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        return f"Tuned({str(self).splitlines()[0]})"

    def __str__(self) -> str:
        random_play = "" if self.random_play is None else f"; random play {number(self.random_play)}"
        chosen = Candidate.of(self.agent, self.parameters)
        lines = [f"{chosen.name}: {chosen.settings}", f"{self._regret}{random_play}", self.sureness]
        if self.formula is not None and self.formula.parameters != self.parameters:
            formula = Candidate.of(self.agent, self.formula.parameters).settings
            label = "" if formula.startswith("its source") else "its source's formula, "
            ends = self.formula.difference[1:3]
            low, high = (signed(end / self.regret.mean if self.regret.mean > 0 else math.inf, 1) for end in ends)
            more = f"{signed(self.formula.loss, 1)} ({100 * self.confidence:g} % interval {low} to {high})"
            outside = "; it is better, but not in the space" if self.formula.difference.high < 0 else ""
            lines.append(f"{label}{formula}: {number(self.formula.regret.mean)}, {more}{outside}")
        return "\n".join([*lines, self._cost, *self._warned])


@dataclass(frozen=True, eq=False)
class Advice(Chosen):
    """An agent, by its name, and its parameters for a world, with their regret there.

    Attributes, beside those of :class:`Chosen`; all of them on the same held-out runs:
        start: the agent to start with, told T, K and the law of rewards alone; None if it is the choice, or was
            not allowed.
        runner_up: the best candidate of another agent; None if there was one agent.
        windows: of `beta-swts` and `gamma-swgts`, the best window that was found, if there was time to judge it.
        theory: `beta-swts`, or else `gamma-swgts`, with the window of ``theory.recommend_window``; None if the world is
            random, or there was no time to judge it.
        left_out: agents and parts of grids that were not tried, with the reason.
        gains: for a log, what the agent earns more than the best fixed arm, and than what the log did.
        remarks: for a log, what a duration is in decisions.
    """

    start: Alternative | None
    runner_up: Alternative | None
    windows: dict[str, Alternative]
    theory: Alternative | None
    left_out: list[str]
    gains: list[Gain]
    remarks: list[str]
    knowledge: Knowledge = field(repr=False)

    def make(self, n_arms: int | None = None, horizon: int | None = None) -> Any:
        """Return the agent, ready to play; for another number of arms or rounds if they are given."""
        return make(self.agent, n_arms, horizon, knowledge=self.knowledge, **self.parameters)

    def __str__(self) -> str:
        lines = [f"play {Candidate.of(self.agent, self.parameters)}: {self._regret}"]
        lines += [*map(str, self.gains), self.sureness]
        shown = {"runner-up": self.runner_up, "the agent to start with": self.start}
        shown |= {f"best window of {name}": each for name, each in self.windows.items()} | {
            "theory's window": self.theory
        }
        told: dict[str, str] = {}  # each once, by all its titles
        for title, each in shown.items():
            if each is not None:
                text = "the same" if (each.agent, each.parameters) == (self.agent, self.parameters) else str(each)
                told[text] = f"{told[text]}, {title}" if text in told else title
        lines += [f"{title}: {text}" for text, title in told.items()]
        random_play = "" if self.random_play is None else f"random play: {number(self.random_play)}; "
        unplayed = f"; not tried: {'; '.join(self.left_out)}" if self.left_out else ""
        endless = self.knowledge.centre is None
        law = f"rewards without bounds, λ = {self.knowledge.scale:g}; " if endless else ""
        lines.append(f"{law}{random_play}{self._cost}{unplayed}")
        return "\n".join([*lines, *self.remarks, *self._warned])


def tune(
    world: Any,
    agent: Any,
    *,
    seconds: float = 20.0,
    runs: int | None = None,
    space: Mapping[str, Any] | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    agent_kwargs: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    tolerance: float = 0.01,
    level: float = 0.05,
) -> Tuned:
    """Find the best parameters of an agent for a world.

    Candidates race on common luck (:mod:`ns_mab_gym.tuning.race`), first on a coarse grid, then around the best;
    where there are too many parameters for a grid, Optuna proposes candidates (extra ``tune``). Of a random world every
    run is another instance. The best of the race play held-out runs, of other instances, and the one with the least
    mean regret there is the answer.

    Args:
        world: anything that ``simulate`` plays: an id, a world, an array of means, a file of them, an environment.
        agent: a name or a class; parameters in its text (``"sw-ucb:xi=0.6"``) or pair are not searched.
        seconds: how long to search, compilation not counted; the result depends on the speed of the machine.
        runs: how many runs may be played instead; the result is then the same on every machine.
        space: what to search instead of the default: of each parameter a list of values, or ``(low, high)``, or
            ``(low, high, scale)`` with scale "log", "linear" or "memory" (for discounts close to 1).
        env_kwargs: arguments of the environment.
        agent_kwargs: parameters that are not searched.
        seed: from which all seeds are derived.
        n_jobs: how many threads; as many as there are cores if not given.
        tolerance: the race stops when no candidate can be better by more than this share.
        level: the probability with which the bounds of the race, or of the held-out runs, may fail.
    """
    seed = positive_int("seed", seed, least=0, most=None)
    budget = Budget(seconds, runs)
    agent, settings = unpacked(agent)
    if not isinstance(agent, str | type):
        raise TypeError(f"agent must be a name or a class, got {shown(agent)}; an object's parameters are set already")
    fixed = {**settings, **(agent_kwargs or {})}
    check_parameters(f"agent {agent!r}", kind(agent), fixed)
    evaluator = WorldEvaluator(world, env_kwargs, seed=seed, n_jobs=n_jobs)
    scale = 0.5 if evaluator.bandit is None else evaluator.bandit.law.subgaussian
    size = evaluator.horizon, evaluator.n_arms
    searched = default_space(agent, *size, scale) if space is None else read_space(agent, space)
    searched = {name: dimension for name, dimension in searched.items() if name not in fixed}
    if not searched:
        raise ValueError(f"all parameters to search are fixed by agent_kwargs: {', '.join(fixed)}; leave one out")
    formula = _formula_of(evaluator, agent, searched, fixed)
    start = [formula] if formula is not None and (space is None or evaluator.random) else []
    middle = {name: dimension.coarse(1)[0] for name, dimension in searched.items()}
    warm = formula if formula is not None else Candidate.of(agent, {**middle, **fixed})
    evaluator.warm_up([warm], budget)
    race = Race(evaluator, budget, level=level, tolerance=tolerance)
    floor, told = _reserved(evaluator, budget, warm, JUDGING)
    search(race, agent, searched, fixed, start, floor, seed)
    best, *others = race.in_order()[:SHORT_LIST]
    held = _judged(evaluator, budget, [best, *([] if formula is None else [formula]), *others], level)
    chosen = min((each for each in held.finals if each in race.finals), key=lambda each: held.regret(each).mean)
    found = _outcome(race, held, chosen, _told_apart(held, chosen, f"{chosen} has the least mean regret"), told)
    return Tuned(**vars(found), formula=_beside(held, formula, chosen))


def recommend(
    world: Any,
    *,
    seconds: float = 20.0,
    runs: int | None = None,
    agents: Sequence[str] | None = None,
    reward: Any = None,
    batch: int | str = 1,
    delay: int | str | Sequence[int] = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    tolerance: float = 0.01,
    level: float = 0.05,
) -> Advice:
    """Find the agent and the parameters to play in a world: agents and their parameters race on common luck.

    The best of the race, and the agent to start with (``ns_mab_gym.tuning.search.START``, told T, K and the law of
    rewards alone), play the same held-out runs, and these alone name the answer. Of those that they cannot tell apart
    it is the simplest: the one with fewer tuned parameters, and then the one that comes first in ``agents``.

    The window that theory recommends is part of the first grid. If the time does not suffice for everything, grids are
    thinned and then the slowest agents left out, and the answer says so. `ns_mab_gym.theory.recommend_window` is the
    answer of theory alone.

    A log stands for the histories that it leaves plausible (:meth:`ns_mab_gym.Log.world`). The answer then also says by
    how much it is better than the best fixed arm, and than what the log did, and whether that is clear. Histories made
    from a log are trusted no further than 5 % of a regret: the agent to start with is named if no other one has less
    by more than that, and else the simplest, among those so near to the least regret, of those not told apart.

    Args:
        world: a (T, K) array of means, a file of them, a log, or anything else of this suite that ``simulate`` plays.
        seconds: how long to search, compilation not counted; the result depends on the speed of the machine.
        runs: how many runs may be played instead; the result is then the same on every machine.
        agents: names of agents, simpler ones first; those of ``ns_mab_gym.tuning.search.ADVISED`` if not given.
        reward: the reward law; Bernoulli if neither this nor the world says otherwise.
        batch: after how many decisions the agent is shown their rewards; for a log also a duration, such as "1h".
        delay: by how many decisions every reward is late, or a pair, see :class:`ns_mab_gym.wrappers.DelayedRewards`;
            for a log also a duration.
        env_kwargs: other arguments of the environment.
        seed: from which all seeds are derived.
        n_jobs: how many threads; as many as there are cores if not given.
        tolerance: the race stops when no candidate can be better by more than this share.
        level: the probability with which the bounds of the race, or of the held-out runs, may fail.
    """
    seed = positive_int("seed", seed, least=0, most=None)
    budget = Budget(seconds, runs)
    law = {} if reward is None else {"reward": reward}
    env = late(as_env(world, {**(env_kwargs or {}), **law}), batch, delay)
    evaluator = WorldEvaluator(env, seed=seed, n_jobs=n_jobs)
    if evaluator.bandit is None or evaluator.horizon is None:
        raise ValueError(
            f"{evaluator.env} does not tell its means; recommend takes means, a file of them, or a world's name"
        )
    names, left_out = _entrants(evaluator, agents)
    size = evaluator.horizon, evaluator.n_arms, evaluator.bandit.law.subgaussian
    spaces = {name: advised_space(name, *size) for name in names}
    to_load = sorted(names, key=lambda name: name != START)
    no_time = evaluator.warm_up((Candidate.of(name, coarse_grid(spaces[name], 0.0)[0][0]) for name in to_load), budget)
    names = [name for name in names if name not in no_time]
    spaces = {name: spaces[name] for name in names}
    left_out += [f"{', '.join(no_time)} (no time to load in {seconds:g} s)"] if no_time else []
    start = Candidate.of(START, {"blind": True}) if START in names else None
    theory = _theory(evaluator, [name for name in LEARNERS if name in names])
    trial = start or Candidate.of(names[0], coarse_grid(spaces[names[0]], 0.0)[0][0])
    cheap = LOOKS[0][0] * budget.price(evaluator.seconds(trial)) <= TRIAL * budget.total
    tried = evaluator.play([trial], 0, LOOKS[0][0] if cheap else LOOK)[0]  # to see how long whole runs really take
    budget.played += len(tried)
    floor, told = _reserved(evaluator, budget, trial, ADVISING)
    entered, first, share, too_slow = _first_look(evaluator, budget, spaces)
    race = Race(evaluator, budget, level=level, tolerance=tolerance, first=first)
    race.enter([trial], {trial: tried})
    steps = {}
    for name in entered:
        points, steps[name] = coarse_grid(spaces[name], share)
        race.enter([Candidate.of(name, point) for point in points if name != START or (point and share > 0)])
    race.enter([] if theory is None or theory.agent not in entered else [theory])
    end = max(floor, (1 - RACING) * budget.total)
    race.narrow(budget.left - COARSE * (budget.left - end), keep=SHORT_LIST)
    refine(race, spaces, steps, end, _halvings(steps))
    windows = _windows(race, spaces, steps, floor)
    order = race.in_order()
    forms = {each.agent: each for each in reversed(order)}  # the best of each agent
    best = [each for each in order if forms[each.agent] == each][:SHORT_LIST]
    short = [best[0], start, *best[1:], *race.ranked()[:SHORT_LIST], *windows.values(), theory]
    held = _judged(evaluator, budget, [each for each in short if each is not None], level)

    def simplicity(each: Candidate) -> tuple[int, int, float]:
        tuned = 0 if each.blind else len(each.parameters)
        return tuned, names.index(each.agent), held.regret(each).mean

    played, alike = evaluator.bandit.world, held.unbeaten()
    logged = isinstance(played, LogWorld)
    if logged:  # few runs tell little apart, and what histories from a log tell apart by little may not be so
        most = (1 + BELIEVED) * min(held.regret(each).mean for each in held.finals)
        near = [each for each in held.finals if held.regret(each).mean <= most]
        alike = [start] if start is not None and start in near else [each for each in near if each in alike]
    chosen = min(alike, key=simplicity)
    why = f", of those with at most {BELIEVED:.0%} more than the least regret," if logged else " of them"
    apart = _told_apart(held, chosen, f"the simplest{why} is {chosen}")
    if chosen == start and chosen not in held.unbeaten():
        apart = (
            f"others have less regret, but less than {BELIEVED:.0%} less, and histories made from a log are trusted "
        )
        apart += f"no further: {chosen.name} needs no tuning"
    elif chosen == start and len(held.finals) > 1:
        apart = f"nothing beats {start.name} beyond doubt: {apart}"
    found = _outcome(race, held, chosen, apart, told)
    beside = {name: _beside(held, each, chosen) for name, each in windows.items()}
    drawn = evaluator.bandit.law
    known = Knowledge(
        n_arms=evaluator.n_arms, horizon=evaluator.horizon, subgaussian=drawn.subgaussian, support=drawn.support
    )
    return Advice(
        **vars(found),
        start=_beside(held, None if start == chosen else start, chosen),
        runner_up=next((each for each in found.judged if each.agent != chosen.agent), None),
        windows={name: each for name, each in beside.items() if each is not None},
        theory=_beside(held, theory, chosen),
        left_out=left_out + too_slow,
        gains=gains_of(evaluator, held.finals[chosen]) if logged else [],
        remarks=remarks(evaluator.env, [found.parameters, *(each.parameters for each in found.judged)]),
        knowledge=known if evaluator.random else evaluator.knowledge(),
    )


def _formula_of(evaluator: WorldEvaluator, agent: Any, space: Space, fixed: Mapping[str, Any]) -> Candidate | None:
    """Return the candidate of the source's formula; without values if a random world's instances differ in them."""
    if not hasattr(kind(agent), "tune") or evaluator.bandit is None:
        return None
    known = [evaluator.knowledge(run) for run in range(FORMULA_INSTANCES if evaluator.random else 1)]
    made = [make(agent, knowledge=each, **fixed).parameters for each in known]
    values = [{name: each[name] for name in space} for each in made]
    return Candidate.of(agent, {**(values[0] if all(each == values[0] for each in values) else {}), **fixed})


def _reserved(evaluator: WorldEvaluator, budget: Budget, candidate: Candidate, share: float) -> tuple[float, list[str]]:
    """Return what the held-out runs must find left of the budget, and a warning if it is too small for an answer."""
    price = budget.price(evaluator.seconds(candidate))
    held_out = 2 * FEWEST_RUNS * price
    least = budget.total - budget.left + held_out + 2 * LOOK * price
    if least <= budget.total:
        return max(share * budget.total, held_out), []
    told = (
        f"runs of {candidate.name} take about {price:.2g} s each here: the fewest that an answer is given from take "
        f"about {least:.0f} s in all, more than seconds={budget.total:g}"
    )
    warnings.warn(told, stacklevel=3)
    return held_out, [told]


def _judged(evaluator: WorldEvaluator, budget: Budget, candidates: Sequence[Candidate], level: float) -> HeldOut:
    """Return held-out runs of a short list, as many as the rest of the budget pays for; maybe without the last ones.

    What they show does not decide how many there are.

    Args:
        evaluator: the evaluator of the race.
        budget: the budget, of which some is left.
        candidates: the more important ones first; the first two are judged in any case.
        level: the probability with which intervals may fail together.
    """
    wanted, held_out, runs = list(dict.fromkeys(candidates)), evaluator.held_out(), 0

    def price() -> float:
        return sum(budget.price(evaluator.seconds(each)) for each in wanted)

    while len(wanted) > 2 and FEWEST_RUNS * price() > budget.left:
        wanted.pop()
    finals = {each: np.zeros(0) for each in wanted}
    while runs < MOST_RUNS:
        affordable = math.floor(CAREFUL * budget.left / price()) if price() > 0 else MOST_RUNS
        more = min(max(affordable, FEWEST_RUNS - runs), MOST_RUNS - runs)
        if more < 1:
            break
        for each, played in zip(wanted, held_out.play(wanted, runs, more), strict=True):
            finals[each] = np.concatenate([finals[each], played])
        runs += more
        budget.played += more * len(wanted)
    return HeldOut(finals, level)


def _beside(held: HeldOut, candidate: Candidate | None, chosen: Candidate) -> Alternative | None:
    """Return a candidate's held-out regrets beside those of the choice; None if it was not judged."""
    if candidate is None or candidate not in held.finals:
        return None
    difference, unbeaten = held.difference(candidate, chosen), candidate in held.unbeaten()
    return Alternative(candidate.name, candidate.kwargs, held.regret(candidate), difference, unbeaten)


def _told_apart(held: HeldOut, chosen: Candidate, why: str) -> str:
    """Return what the held-out runs tell apart as text, and ``why`` the choice is that one of several."""
    others = len(held.finals) - 1
    alike = sorted((each for each in held.unbeaten() if each != chosen), key=lambda each: held.regret(each).mean)
    if not others:
        return "no other candidate was judged"
    if not alike:
        return (
            f"{'the other one' if others == 1 else f'each of the other {others}'} judged has more regret beyond doubt"
        )
    shown = "; ".join(map(str, alike[:MOST_SHOWN])) + ("; …" if len(alike) > MOST_SHOWN else "")
    told = f"these {1 + len(alike)} cannot be told apart on {held.runs:,} runs; {why}"
    return f"{told}; the other{'s are' if len(alike) > 1 else ' is'} {shown}"


def _outcome(race: Race, held: HeldOut, chosen: Candidate, apart: str, told: Sequence[str]) -> Chosen:
    """Return the choice with its held-out regrets; warns if it is hardly better than random play."""
    regret, random_play, budget = held.regret(chosen), race.evaluator.random_play(), race.budget
    told = list(told)
    if random_play and regret.mean >= NEAR_RANDOM * random_play:  # without regret there is nothing to learn
        told.append(
            f"{chosen.name} with {chosen.settings} has {regret.mean / random_play:.0%} of the regret of random play: "
            f"none of the candidates learns this world; try other agents or parameters"
        )
        warnings.warn(told[-1], stacklevel=3)
    others = sorted((each for each in held.finals if each != chosen), key=lambda each: held.regret(each).mean)
    return Chosen(
        chosen.agent,
        chosen.kwargs,
        regret,
        [beside for each in others if (beside := _beside(held, each, chosen))],
        1 - race.level,
        apart,
        random_play,
        Spent(budget.elapsed, budget.played, len(race.finals)),
        told,
    )


def _entrants(evaluator: WorldEvaluator, agents: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the agents that can play these rewards, and those left out; agents that the user names must be able to."""
    if agents is not None:
        if isinstance(agents, str) or not agents:
            raise ValueError(f"agents must be a list of names, such as ['beta-swts', 'glr-ts']; got {shown(agents)}")
        return list(dict.fromkeys(choice("agent", each, list(AGENTS)) for each in agents)), []
    assert evaluator.bandit is not None
    law, able, unable = evaluator.bandit.law, [], []
    for name in ADVISED if law.binary else (*ADVISED, *REAL_VALUED):
        agent = make(name, knowledge=Knowledge(n_arms=evaluator.n_arms, horizon=evaluator.horizon))
        try:
            agent.check_rewards(law.support, law.binary)
            able.append(name)
        except UnsuitableRewardsError:
            unable.append(name)
    return able, [f"{', '.join(unable)} (not for these rewards)"] if unable else []


def _theory(evaluator: WorldEvaluator, names: Sequence[str]) -> Candidate | None:
    """Return the first of the paper's samplers with theory's window; from few facts if all means would take long."""
    if evaluator.random or not names:
        return None
    known = evaluator.knowledge()
    assert known.means is not None
    known = replace(known, means=None) if known.means.size > LARGE else known
    recommended = recommend_window(known, names[0], subgaussian=known.subgaussian or BERNOULLI)
    return Candidate.of(names[0], {"window": recommended.window})


def _first_look(
    evaluator: WorldEvaluator, budget: Budget, spaces: Mapping[str, Space]
) -> tuple[list[str], int, float, list[str]]:
    """Return the agents of the first look, the runs of each candidate, the share of each grid, and what is left out.

    It is the first that is affordable: with fewer runs and thinner grids, then without the slowest agents.
    """
    price = {name: budget.price(evaluator.seconds(Candidate(name))) for name in spaces}
    agents = list(spaces)
    slow: list[str] = []

    def cost(name: str, runs: int, share: float) -> float:
        if name == START and share == 0:  # its one form is that which has played already
            return 0.0
        return runs * price[name] * len(coarse_grid(spaces[name], share)[0])

    while True:
        for runs, share in LOOKS:
            total = sum(cost(name, runs, share) for name in agents)
            if total <= FIRST_LOOK * RACING * budget.total or (len(agents) == 1 and share == 0):
                left_out = [f"{', '.join(slow)} (too slow for {budget.total:g} s)"] if slow else []
                rest = f"{1 - share:.0%} of each grid" if share else "all but one form of each agent"
                return agents, runs, share, left_out + ([rest] if share < 1 else [])
        slowest = max((name for name in agents if name != START), key=lambda name: cost(name, *LOOKS[-1]))
        agents.remove(slowest)
        slow.append(slowest)


def _halvings(steps: Mapping[str, Mapping[str, float]]) -> int:
    """Return the number of halvings of the steps until neighbours are close, from 1 to 4."""
    widest = max((step for its in steps.values() for step in its.values()), default=FINE)
    return min(max(math.ceil(math.log2(max(widest, FINE) / FINE)), 1), 4)


def _windows(
    race: Race, spaces: Mapping[str, Space], steps: Mapping[str, Mapping[str, float]], floor: float
) -> dict[str, Candidate]:
    """Return the best window of each of the paper's samplers, which race on, from what the race of all knows."""
    found = {}
    names = [name for name in LEARNERS if name in steps]
    for done, name in enumerate(names):
        own = Race(race.evaluator, race.budget, level=race.level, tolerance=race.tolerance, first=race.first)
        own.enter([each for each in race.finals if each.agent == name], race.finals)
        end = race.budget.left - (race.budget.left - floor) / (len(names) - done)
        own.narrow(race.budget.left - (race.budget.left - end) / 2, keep=3)
        refine(own, spaces, steps, end, _halvings({name: steps[name]}))
        race.finals |= own.finals
        found[name] = own.leader
    return found
