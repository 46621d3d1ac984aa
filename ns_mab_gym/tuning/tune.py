"""The best parameters of an agent for a world, found by racing and judged on runs that chose nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..agents.core.arguments import positive_int, shown
from ..agents.core.registry import AGENTS, check_parameters, kind, make
from ..agents.core.text import unpacked
from ..means import Floats
from ..statistics import Estimated, estimated
from ..theory.text_tables import number, signed
from .race import Budget, Candidate, Race, WorldEvaluator
from .search import Space, default_space, read_space, search

JUDGING = 0.25  # the share of the budget that the held-out runs may take
LEAST_RUNS, FEWEST_RUNS, MOST_RUNS = 2, 8, 200  # held-out runs: of the choice in any case, of others too, and at most
CAREFUL = 0.7  # the share of the rest of the budget that the held-out runs are planned to take
LEAST_BUDGET = 20  # runs
NEAR_RANDOM = 0.95
FORMULA_INSTANCES = 5  # of a random world, to see whether a formula depends on the instance
DOUBTFUL = 0.25  # from here on, a share by which a candidate might be better says too little to be told


class Alternative(NamedTuple):
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
    """The costs of a search, without compilation."""

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
        survivors: the parameters of other candidates that could not be distinguished from the choice in the race.
        confidence: the probability with which the statement of ``within`` holds, if mean differences are normal.
        within: no candidate is better than the choice by more than this share of its regret; infinite if the budget did
            not allow to say.
        sureness: the same as text.
        random_play: the expected regret of random play; None if the means are not known.
        spent: the seconds and runs that the search took, and how many candidates it tried.
        warnings: what the user should know.
    """

    agent: Any
    parameters: dict[str, Any]
    regret: Estimated
    formula: Alternative | None
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
        return f"Tuned({self._titled})"

    @property
    def _titled(self) -> str:
        chosen = Candidate.of(self.agent, self.parameters)
        return f"{chosen.name}: {chosen.settings}"

    def __str__(self) -> str:
        random_play = "" if self.random_play is None else f"; random play {number(self.random_play)}"
        lines = [self._titled, f"regret {as_text(self.regret)}{random_play}", self.sureness]
        if self.formula is not None and self.formula.parameters != self.parameters:
            formula = Candidate.of(self.agent, self.formula.parameters).settings
            label = "" if formula.startswith("its source") else "its source's formula, "
            ends = self.formula.difference[1:3]
            low, high = (signed(end / self.regret.mean if self.regret.mean > 0 else math.inf, 1) for end in ends)
            more = f"{signed(self.formula.loss, 1)} (95 % interval {low} to {high})"
            lines.append(f"{label}{formula}: {number(self.formula.regret.mean)}, {more}")
        if self.survivors:
            shown = "; ".join(Candidate.of(self.agent, each).settings for each in self.survivors[:4])
            others = f" and {len(self.survivors) - 4} others" if len(self.survivors) > 4 else ""
            lines.append(f"not distinguished from it: {shown}{others}")
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
    """Find the best parameters of an agent for a world.

    Candidates race on common luck (:mod:`ns_mab_gym.tuning.race`), first on a coarse grid, then around the best;
    where there are too many parameters for a grid, Optuna proposes candidates (extra ``tune``). Of a random world every
    run is another instance. The reported regret comes from other runs, and other instances, than those that chose.

    Args:
        world: anything that ``simulate`` plays: an id, a world, an array of means, a file of them, an environment.
        agent: a name or a class; parameters in its text (``"sw-ucb:xi=0.6"``) or pair are not searched.
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
    limit = Budget(budget, least_runs(runs))
    agent, settings = unpacked(agent)
    kind_of_agent(agent)
    evaluator = WorldEvaluator(world, env_kwargs, seed=seed, n_jobs=n_jobs)
    fixed = {**settings, **(agent_kwargs or {})}
    searched = default_space(agent, evaluator.horizon, evaluator.n_arms) if space is None else read_space(agent, space)
    searched = {name: dimension for name, dimension in searched.items() if name not in fixed}
    if not searched:
        raise ValueError(f"all parameters to search are fixed by agent_kwargs: {', '.join(fixed)}; leave one out")
    check_parameters(f"agent {agent!r}", kind_of_agent(agent), fixed)
    formula = formula_of(evaluator, agent, searched, fixed)
    start = [formula] if formula is not None and (space is None or evaluator.random) else []
    middle = {name: dimension.coarse(1)[0] for name, dimension in searched.items()}
    warm = formula if formula is not None else Candidate.of(agent, {**middle, **fixed})
    with limit.paused():
        evaluator.warm_up([warm])
    race = Race(evaluator, limit, level=level, tolerance=tolerance)
    if evaluator.is_generic(agent):
        evaluator.play([warm], 0, 1)  # to see how long a run takes
    search(race, agent, searched, fixed, start, JUDGING * limit.total, seed)
    chosen = race.leader
    finals = judge(evaluator, limit, [chosen, *([] if formula is None else [formula])])
    regret, random_play = estimated(finals[chosen]), evaluator.random_play()
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
        spent=Spent(limit.elapsed, limit.played, len(race.finals)),
        warnings=near_random(chosen, regret, random_play),
    )


def least_runs(runs: int | None) -> int | None:
    """Return the budget in runs; raises an error if it does not suffice for a race of a few candidates."""
    hint = "all runs of the race together"
    return None if runs is None else positive_int("runs", runs, least=LEAST_BUDGET, hint=hint)


def kind_of_agent(agent: Any) -> type[Any]:
    """Return the class of an agent that is given by name or as a class; raises a TypeError for anything else."""
    if not isinstance(agent, str | type):
        raise TypeError(f"agent must be a name or a class, got {shown(agent)}; an object's parameters are set already")
    return kind(agent) if isinstance(agent, str) else AGENTS.checked(agent)


def formula_of(evaluator: WorldEvaluator, agent: Any, space: Space, fixed: Mapping[str, Any]) -> Candidate | None:
    """Return the candidate of the source's formula; without values if a random world's instances differ in them."""
    if not hasattr(kind_of_agent(agent), "tune") or evaluator.bandit is None:
        return None
    known = [evaluator.knowledge(run) for run in range(FORMULA_INSTANCES if evaluator.random else 1)]
    made = [make(agent, knowledge=each, **fixed).parameters for each in known]
    values = [{name: each[name] for name in space} for each in made]
    return Candidate.of(agent, {**(values[0] if all(each == values[0] for each in values) else {}), **fixed})


def judge(evaluator: WorldEvaluator, budget: Budget, candidates: Sequence[Candidate]) -> dict[Candidate, Floats]:
    """Return final regrets in held-out runs, as many as the rest of the budget pays for; maybe none of the last ones.

    Args:
        evaluator: the evaluator of the race.
        budget: the budget, of which some is left.
        candidates: the more important ones first; the first one is judged in any case.
    """
    wanted = list(dict.fromkeys(candidates))
    prices = [budget.price(evaluator.seconds(each)) for each in wanted]
    left = CAREFUL * budget.left
    while len(wanted) > 1 and FEWEST_RUNS * sum(prices[: len(wanted)]) > left:
        wanted.pop()
    price = sum(prices[: len(wanted)])
    affordable = math.floor(left / price) if price > 0 else MOST_RUNS
    runs = min(max(affordable, LEAST_RUNS), MOST_RUNS)
    budget.played += runs * len(wanted)
    return dict(zip(wanted, evaluator.held_out().play(wanted, 0, runs), strict=True))


def compare_with(candidate: Candidate, finals: Floats, chosen: Floats) -> Alternative:
    """Return a candidate's held-out regrets beside those of the choice."""
    return Alternative(candidate.name, candidate.kwargs, estimated(finals), estimated(finals - chosen))


def near_random(chosen: Candidate, regret: Estimated, random_play: float | None) -> list[str]:
    """Warn if the choice is hardly better than random play, and return the warnings."""
    if not random_play or regret.mean < NEAR_RANDOM * random_play:  # without regret there is nothing to learn
        return []
    said = (
        f"{chosen.name} with {chosen.settings} has {regret.mean / random_play:.0%} of the regret of random play: none "
        f"of the candidates learns this world; try other agents or parameters"
    )
    warnings.warn(said, stacklevel=3)
    return [said]


def as_text(estimate: Estimated) -> str:
    """Return a mean with its interval as text."""
    interval = f"95 % interval {number(estimate.low)} to {number(estimate.high)}"
    return f"{number(estimate.mean)} ({interval}, {estimate.runs} held-out runs)"


def sureness(race: Race) -> str:
    """Return the confidence of a race in its leader as text."""
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
