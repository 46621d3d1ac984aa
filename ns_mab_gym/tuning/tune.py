"""The best parameters of an agent for a world, and the best agent: raced, and judged on runs that chose nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..agents.core.arguments import choice, positive_int, shown
from ..agents.core.knowledge import Knowledge
from ..agents.core.protocol import UnsuitableRewardsError
from ..agents.core.registry import AGENTS, check_parameters, kind, make, unpacked
from ..means import Floats
from ..statistics import Estimated, estimated
from ..theory.text_tables import number, signed
from ..theory.theorems import BERNOULLI, LEARNERS
from ..theory.windows import recommend_window
from .race import Budget, Candidate, Race, WorldEvaluator
from .search import ADVISED, Space, advised_space, coarse_grid, default_space, read_space, refine, search

JUDGING = 0.25  # the share of the budget that the held-out runs may take
LEAST_RUNS, FEWEST_RUNS, MOST_RUNS = 2, 8, 200  # held-out runs: of the choice in any case, of others too, and at most
CAREFUL = 0.7  # the share of the rest of the budget that the held-out runs are planned to take
NEAR_RANDOM = 0.95
FORMULA_INSTANCES = 5  # of a random world, to see whether a formula depends on the instance
DOUBTFUL = 0.25  # from here on, a share by which a candidate might be better says too little to be told

# The budget of `recommend`: most of the rest is for the windows of the paper's samplers.
RACING = 0.6  # the share for the race of all
FIRST_LOOK = 0.6  # the share of the race that the first look may take
COARSE = 0.7  # the share of the race that the first grid may take
FINE = math.log(1.6)  # a grid is refined until neighbours are closer than this on their scale
LARGE = 500_000  # numbers in a matrix of means from which on theory would take seconds
# The first look: runs of each candidate, and the share of each grid; the next if the budget is too small.
LOOKS = ((4, 1.0), (4, 0.5), (2, 0.5), (2, 0.3))


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
class Chosen:
    """An agent and its parameters that won a race, with their regret.

    Attributes:
        agent: the agent, as it was given.
        parameters: the parameters that were searched; none if its source's formula, applied to each instance, was best.
        regret: mean final regret in held-out runs, with its 95 % interval.
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
    confidence: float
    within: float
    sureness: str
    random_play: float | None
    spent: Spent
    warnings: list[str]


@dataclass(frozen=True, eq=False)
class Tuned(Chosen, Mapping[str, Any]):
    """The parameters that won a race: a mapping, to be passed wherever ``agent_kwargs`` go, or as ``**tuned``.

    Attributes, beside those of :class:`Chosen`:
        formula: the parameters by the source's formula on the same runs; None if there is no formula.
        survivors: the parameters of other candidates that could not be distinguished from the choice in the race.
    """

    formula: Alternative | None
    survivors: list[dict[str, Any]]

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
        lines = [f"{chosen.name}: {chosen.settings}", f"regret {_as_text(self.regret)}{random_play}", self.sureness]
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


@dataclass(frozen=True, eq=False)
class Advice(Chosen):
    """An agent, by its name, and its parameters for a world, with their regret there.

    Attributes, beside those of :class:`Chosen`:
        runner_up: the best candidate of another agent, on the same runs; None if there was one agent, or no time.
        windows: of `beta-swts` and `gamma-swgts`, the best window that was found, on the same runs; on those of the
            race if the budget did not suffice for more.
        theory: `beta-swts`, or else `gamma-swgts`, with the window of ``theory.recommend_window``; None if the world is
            random.
        left_out: agents and parts of grids that were not tried, with the reason.
    """

    runner_up: Alternative | None
    windows: dict[str, Alternative]
    theory: Alternative | None
    left_out: list[str]
    knowledge: Knowledge = field(repr=False)

    def make(self, n_arms: int | None = None, horizon: int | None = None) -> Any:
        """Return the agent, ready to play; for another number of arms or rounds if they are given."""
        return make(self.agent, n_arms, horizon, knowledge=self.knowledge, **self.parameters)

    def __str__(self) -> str:
        lines = [f"play {_named(self.agent, self.parameters)}: regret {_as_text(self.regret)}"]
        if self.runner_up is not None:
            lines.append(f"runner-up: {self._beside(self.runner_up)}")
        lines.append(self.sureness)
        lines += [f"best window of {name}: {self._beside(each)}" for name, each in self.windows.items()]
        if self.theory is not None:
            lines.append(f"theory's window: {self._beside(self.theory)}")
        random_play = "" if self.random_play is None else f"random play: {number(self.random_play)}; "
        unplayed = f"; not tried: {'; '.join(self.left_out)}" if self.left_out else ""
        lines.append(f"{random_play}{self.spent.seconds:.1f} s, {self.spent.runs:,} runs{unplayed}")
        return "\n".join([*lines, *(f"warning: {each}" for each in self.warnings)])

    def _beside(self, other: Alternative) -> str:
        if other.agent == self.agent and other.parameters == self.parameters:
            return "the same"
        named, regret = _named(other.agent, other.parameters), number(other.regret.mean)
        unclear = ", not distinguished" if other.difference.low <= 0 <= other.difference.high else ""
        return f"{named}, {regret} ({signed(other.loss, 1)}{unclear})"


def _named(agent: str, parameters: Mapping[str, Any]) -> str:
    return f"{agent} with {Candidate.of(agent, parameters).settings}" if parameters else agent


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
    limit = Budget(budget, runs)
    agent, settings = unpacked(agent)
    if not isinstance(agent, str | type):
        raise TypeError(f"agent must be a name or a class, got {shown(agent)}; an object's parameters are set already")
    fixed = {**settings, **(agent_kwargs or {})}
    check_parameters(f"agent {agent!r}", kind(agent), fixed)
    evaluator = WorldEvaluator(world, env_kwargs, seed=seed, n_jobs=n_jobs)
    searched = default_space(agent, evaluator.horizon, evaluator.n_arms) if space is None else read_space(agent, space)
    searched = {name: dimension for name, dimension in searched.items() if name not in fixed}
    if not searched:
        raise ValueError(f"all parameters to search are fixed by agent_kwargs: {', '.join(fixed)}; leave one out")
    formula = _formula_of(evaluator, agent, searched, fixed)
    start = [formula] if formula is not None and (space is None or evaluator.random) else []
    middle = {name: dimension.coarse(1)[0] for name, dimension in searched.items()}
    warm = formula if formula is not None else Candidate.of(agent, {**middle, **fixed})
    with limit.paused():
        evaluator.warm_up([warm])
    race = Race(evaluator, limit, level=level, tolerance=tolerance)
    if evaluator.generic[agent]:
        evaluator.play([warm], 0, 1)  # to see how long a run takes
    search(race, agent, searched, fixed, start, JUDGING * limit.total, seed)
    chosen = race.leader
    finals = _judge(evaluator, limit, [chosen, *([] if formula is None else [formula])])
    return Tuned(
        **vars(_outcome(race, finals[chosen], evaluator)),
        formula=None if formula not in finals else _beside(formula, finals[formula], finals[chosen]),
        survivors=[each.kwargs for each in race.ranked() if each != chosen],
    )


def recommend(
    world: Any,
    *,
    seconds: float = 20.0,
    runs: int | None = None,
    agents: Sequence[str] | None = None,
    reward: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    tolerance: float = 0.01,
    level: float = 0.05,
) -> Advice:
    """Find the agent and the parameters to play in a world: agents and their parameters race on common luck.

    The window that theory recommends is part of the first grid. If the time does not suffice for everything, grids are
    thinned and then the slowest agents left out, and the answer says so. `ns_mab_gym.theory.recommend_window` is the
    answer of theory alone.

    Args:
        world: a (T, K) array of means, a file of them, or anything else of this suite that ``simulate`` plays.
        seconds: how long to search, compilation not counted; the result depends on the speed of the machine.
        runs: how many runs may be played instead; the result is then the same on every machine.
        agents: names of agents; those of ``ns_mab_gym.tuning.search.ADVISED`` if not given.
        reward: the reward law; Bernoulli if neither this nor the world says otherwise.
        env_kwargs: other arguments of the environment.
        seed: from which all seeds are derived.
        n_jobs: how many threads; as many as there are cores if not given.
        tolerance: the race stops when no candidate can be better by more than this share.
        level: the probability with which the bounds of the race may fail.
    """
    seed = positive_int("seed", seed, least=0, most=None)
    budget = Budget(seconds, runs)
    law = {} if reward is None else {"reward": reward}
    evaluator = WorldEvaluator(world, {**(env_kwargs or {}), **law}, seed=seed, n_jobs=n_jobs)
    if evaluator.bandit is None or evaluator.horizon is None:
        raise ValueError(
            f"{evaluator.env} does not tell its means; recommend takes means, a file of them, or a world's name"
        )
    names, left_out = _entrants(evaluator, agents)
    spaces = {name: advised_space(name, evaluator.horizon, evaluator.n_arms) for name in names}
    with budget.paused():
        evaluator.warm_up(Candidate.of(name, coarse_grid(space, 0.0)[0][0]) for name, space in spaces.items())
    theory = _theory(evaluator, [name for name in LEARNERS if name in names])
    names, first, share, too_slow = _first_look(evaluator, budget, spaces)
    race = Race(evaluator, budget, level=level, tolerance=tolerance, first=first)
    steps = {}
    for name in names:
        points, steps[name] = coarse_grid(spaces[name], share)
        race.enter([Candidate.of(name, point) for point in points])
    if theory is not None and theory.agent in names:
        race.enter([theory])
    floor = (1 - RACING) * budget.total
    race.narrow(budget.left - COARSE * (budget.left - floor), keep=3)
    refine(race, spaces, steps, floor, _halvings(steps))
    windows = _windows(race, spaces, steps, JUDGING * budget.total)
    chosen = race.leader
    rest = [each for each in race.finals if each.agent != chosen.agent and len(race.finals[each])]
    second = min(rest, key=lambda each: float(race.behind(each).mean()), default=None)
    if second is not None and second.agent in windows:
        second = windows[second.agent][0]
    others = [each for each in (second, *(each for each, _ in windows.values()), theory) if each is not None]
    finals = _judge(evaluator, budget, [chosen, *others])
    compared = {each: _beside(each, finals[each], finals[chosen]) for each in others if each in finals}
    for each, own in windows.values():  # those that the rest of the budget could not judge
        common = min(len(own.finals[each]), len(race.finals[chosen]))
        compared.setdefault(each, _beside(each, own.finals[each][:common], race.finals[chosen][:common]))
    known = Knowledge(n_arms=evaluator.n_arms, horizon=evaluator.horizon)
    return Advice(
        **vars(_outcome(race, finals[chosen], evaluator)),
        runner_up=None if second is None else compared.get(second),
        windows={name: compared[each] for name, (each, _) in windows.items()},
        theory=None if theory is None else compared.get(theory),
        left_out=left_out + too_slow,
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


def _judge(evaluator: WorldEvaluator, budget: Budget, candidates: Sequence[Candidate]) -> dict[Candidate, Floats]:
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


def _beside(candidate: Candidate, finals: Floats, chosen: Floats) -> Alternative:
    """Return a candidate's held-out regrets beside those of the choice."""
    return Alternative(candidate.name, candidate.kwargs, estimated(finals), estimated(finals - chosen))


def _outcome(race: Race, finals: Floats, evaluator: WorldEvaluator) -> Chosen:
    """Return the leader of a race with its held-out regrets; warns if it is hardly better than random play."""
    best, regret, random_play, budget = race.leader, estimated(finals), evaluator.random_play(), race.budget
    told = []
    if random_play and regret.mean >= NEAR_RANDOM * random_play:  # without regret there is nothing to learn
        told = [
            f"{best.name} with {best.settings} has {regret.mean / random_play:.0%} of the regret of random play: none "
            f"of the candidates learns this world; try other agents or parameters"
        ]
        warnings.warn(told[0], stacklevel=3)
    spent = Spent(budget.elapsed, budget.played, len(race.finals))
    return Chosen(
        best.agent, best.kwargs, regret, 1 - race.level, race.doubt(), _sureness(race), random_play, spent, told
    )


def _as_text(estimate: Estimated) -> str:
    """Return a mean with its interval as text."""
    interval = f"95 % interval {number(estimate.low)} to {number(estimate.high)}"
    return f"{number(estimate.mean)} ({interval}, {estimate.runs} held-out runs)"


def _sureness(race: Race) -> str:
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


def _entrants(evaluator: WorldEvaluator, agents: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the agents that can play these rewards, and those left out; agents that the user names must be able to."""
    if agents is not None:
        if isinstance(agents, str) or not agents:
            raise ValueError(f"agents must be a list of names, such as ['beta-swts', 'glr-ts']; got {shown(agents)}")
        return list(dict.fromkeys(choice("agent", each, list(AGENTS)) for each in agents)), []
    assert evaluator.bandit is not None
    law, able, unable = evaluator.bandit.law, [], []
    for name in ADVISED:
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
        return runs * price[name] * len(coarse_grid(spaces[name], share)[0])

    while True:
        for runs, share in LOOKS:
            total = sum(cost(name, runs, share) for name in agents)
            if total <= FIRST_LOOK * RACING * budget.total or len(agents) == 1:
                left_out = [f"{', '.join(slow)} (too slow)"] if slow else []
                return agents, runs, share, left_out + ([f"{1 - share:.0%} of each grid"] if share < 1 else [])
        slowest = max(agents, key=lambda name: cost(name, *LOOKS[-1]))
        agents.remove(slowest)
        slow.append(slowest)


def _halvings(steps: Mapping[str, Mapping[str, float]]) -> int:
    """Return the number of halvings of the steps until neighbours are close, from 1 to 4."""
    widest = max((step for its in steps.values() for step in its.values()), default=FINE)
    return min(max(math.ceil(math.log2(max(widest, FINE) / FINE)), 1), 4)


def _windows(
    race: Race, spaces: Mapping[str, Space], steps: Mapping[str, Mapping[str, float]], floor: float
) -> dict[str, tuple[Candidate, Race]]:
    """Return the best window of each of the paper's samplers, which race on, from what the race of all knows."""
    winner = race.leader
    found = {name: (winner, race) for name in LEARNERS if name == winner.agent}
    names = [name for name in LEARNERS if name in steps and name not in found]
    for done, name in enumerate(names):
        own = Race(race.evaluator, race.budget, level=race.level, tolerance=race.tolerance, first=race.first)
        own.enter([each for each in race.finals if each.agent == name], race.finals)
        end = race.budget.left - (race.budget.left - floor) / (len(names) - done)
        own.narrow(race.budget.left - (race.budget.left - end) / 2, keep=3)
        refine(own, spaces, steps, end, _halvings({name: steps[name]}))
        found[name] = own.leader, own
    return found
