"""The agent and the parameters that suit a world: measured, not derived."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..agents.core.arguments import choice, positive_int, shown
from ..agents.core.knowledge import Knowledge
from ..agents.core.protocol import UnsuitableRewardsError
from ..agents.core.registry import AGENTS, make
from ..statistics import Estimated, estimated
from ..theory.text_tables import number, signed
from ..theory.theorems import BERNOULLI, LEARNERS
from ..theory.windows import recommend_window
from .race import Budget, Candidate, Race, WorldEvaluator
from .search import SPACES, UNTUNED, Choices, Range, Space, default_space, refine
from .tune import JUDGING, Alternative, Spent, as_text, compare_with, judge, least_runs, near_random, sureness

RACING = 0.6  # the share of the budget for the race of all; most of the rest is for the windows of the paper's samplers
FIRST_LOOK = 0.6  # the share of the race that the first look may take
COARSE = 0.7  # the share of the race that the first grid may take
FINE = math.log(1.6)  # a grid is refined until neighbours are closer than this on their scale
LARGE = 500_000  # numbers in a matrix of means from which on theory would take seconds
# The first look: runs of each candidate, and the share of each grid; the next if the budget is too small.
LOOKS = ((4, 1.0), (4, 0.5), (2, 0.5), (2, 0.3))
POINTS = {"window": 10, "gamma": 8, "phi": 6, "hazard": 6, "delta": 4, "rate": 4, "xi": 4}

# agent: its space instead of the default one, from T and K; None for the default.
ADVISED: dict[str, Any] = {
    "beta-swts": None,
    "gamma-swgts": None,
    "sw-ucb": lambda t, k: SPACES["sw-ucb"](t, k) | {"xi": Choices((0.1, 0.6))},
    "d-ts": None,
    "switching-ts": None,
    "glr-ts": lambda t, k: {"rate": Range(1e-4, 0.1)},
    "adr-ts": None,
    "active-ptw": lambda t, k: {"split": Choices((0.1, 0.5))},
    "ts": lambda t, k: {},
    "kl-ucb": lambda t, k: {"c": Choices((0.0,))},
    "ucb1": None,
    "predictive-sampling": None,
}


@dataclass(frozen=True, eq=False)
class Advice:
    """An agent and its parameters for a world, with their regret there.

    Attributes:
        agent: its name.
        parameters: the parameters that were searched; the others are by its source's formula.
        regret: mean final regret in held-out runs, with its 95 % interval.
        runner_up: the best candidate of another agent, on the same runs; None if there was one agent, or no time.
        windows: of `beta-swts` and `gamma-swgts`, the best window that was found, on the same runs; on those of the
            race if the budget did not suffice for more.
        theory: `beta-swts`, or else `gamma-swgts`, with the window of ``theory.recommend_window``; None if the world is
            random.
        confidence: the probability with which the statement of ``within`` holds, if mean differences are normal.
        within: no candidate is better by more than this share of the regret.
        sureness: the same as text.
        random_play: the expected regret of random play.
        spent: the seconds and runs of the search, and how many candidates it tried.
        left_out: agents and parts of grids that were not tried, with the reason.
        warnings: what the user should know.
    """

    agent: str
    parameters: dict[str, Any]
    regret: Estimated
    runner_up: Alternative | None
    windows: dict[str, Alternative]
    theory: Alternative | None
    confidence: float
    within: float
    sureness: str
    random_play: float | None
    spent: Spent
    left_out: list[str]
    warnings: list[str]
    knowledge: Knowledge = field(repr=False)

    def make(self, n_arms: int | None = None, horizon: int | None = None) -> Any:
        """Return the agent, ready to play; for another number of arms or rounds if they are given."""
        return make(self.agent, n_arms, horizon, knowledge=self.knowledge, **self.parameters)

    def __str__(self) -> str:
        lines = [f"play {_named(self.agent, self.parameters)}: regret {as_text(self.regret)}"]
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
        agents: names of agents; those of ``ns_mab_gym.tuning.recommend.ADVISED`` if not given.
        reward: the reward law; Bernoulli if neither this nor the world says otherwise.
        env_kwargs: other arguments of the environment.
        seed: from which all seeds are derived.
        n_jobs: how many threads; as many as there are cores if not given.
        tolerance: the race stops when no candidate can be better by more than this share.
        level: the probability with which the bounds of the race may fail.
    """
    seed = positive_int("seed", seed, least=0, most=None)
    budget = Budget(seconds, least_runs(runs))
    law = {} if reward is None else {"reward": reward}
    evaluator = WorldEvaluator(world, {**(env_kwargs or {}), **law}, seed=seed, n_jobs=n_jobs)
    if evaluator.bandit is None or evaluator.horizon is None:
        raise ValueError(
            f"{evaluator.env} does not tell its means; recommend takes means, a file of them, or a world's name"
        )
    names, left_out = _entrants(evaluator, agents)
    spaces = {name: _space(name, evaluator.horizon, evaluator.n_arms) for name in names}
    with budget.paused():
        evaluator.warm_up(Candidate.of(name, _grid(space, 0.0)[0][0]) for name, space in spaces.items())
    theory = _theory(evaluator, [name for name in LEARNERS if name in names])
    look = _first_look(evaluator, budget, spaces)
    race = Race(evaluator, budget, level=level, tolerance=tolerance, first=look.runs)
    steps = {}
    for name in look.agents:
        points, steps[name] = _grid(spaces[name], look.share)
        race.enter([Candidate.of(name, point) for point in points])
    if theory is not None and theory.agent in look.agents:
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
    finals = judge(evaluator, budget, [chosen, *others])
    compared = {each: compare_with(each, finals[each], finals[chosen]) for each in others if each in finals}
    for each, own in windows.values():  # those that the rest of the budget could not judge
        common = min(len(own.finals[each]), len(race.finals[chosen]))
        compared.setdefault(each, compare_with(each, own.finals[each][:common], race.finals[chosen][:common]))
    regret, random_play = estimated(finals[chosen]), evaluator.random_play()
    known = Knowledge(n_arms=evaluator.n_arms, horizon=evaluator.horizon)
    return Advice(
        agent=chosen.name,
        parameters=chosen.kwargs,
        regret=regret,
        runner_up=None if second is None else compared.get(second),
        windows={name: compared[each] for name, (each, _) in windows.items()},
        theory=None if theory is None else compared.get(theory),
        confidence=1 - race.level,
        within=race.doubt(),
        sureness=sureness(race),
        random_play=random_play,
        spent=Spent(budget.elapsed, budget.played, len(race.finals)),
        left_out=left_out + look.left_out,
        warnings=near_random(chosen, regret, random_play),
        knowledge=known if evaluator.random else evaluator.knowledge(),
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


def _space(name: str, horizon: int, n_arms: int) -> Space:
    described = ADVISED.get(name)
    if described is not None:
        space: Space = described(horizon, n_arms)
        return space
    return {} if name in UNTUNED else default_space(name, horizon, n_arms)


def _theory(evaluator: WorldEvaluator, names: Sequence[str]) -> Candidate | None:
    """Return the first of the paper's samplers with theory's window; from few facts if all means would take long."""
    if evaluator.random or not names:
        return None
    known = evaluator.knowledge()
    assert known.means is not None
    if known.means.size > LARGE:
        window = recommend_window(replace(known, means=None)).window
    else:
        window = recommend_window(known, names[0], subgaussian=known.subgaussian or BERNOULLI).window
    return Candidate.of(names[0], {"window": window})


class Look(NamedTuple):
    """The agents of the first look, the runs of each candidate, the share of each grid, and what is left out."""

    agents: list[str]
    runs: int
    share: float
    left_out: list[str]


def _first_look(evaluator: WorldEvaluator, budget: Budget, spaces: Mapping[str, Space]) -> Look:
    """Return the first affordable look: with fewer runs and thinner grids, then without the slowest agents."""
    price = {name: budget.price(evaluator.seconds(Candidate(name))) for name in spaces}
    agents = list(spaces)
    slow: list[str] = []

    def cost(name: str, runs: int, share: float) -> float:
        return runs * price[name] * len(_grid(spaces[name], share)[0])

    while True:
        for runs, share in LOOKS:
            total = sum(cost(name, runs, share) for name in agents)
            if total <= FIRST_LOOK * RACING * budget.total or len(agents) == 1:
                left_out = [f"{', '.join(slow)} (too slow)"] if slow else []
                return Look(agents, runs, share, left_out + ([f"{1 - share:.0%} of each grid"] if share < 1 else []))
        slowest = max(agents, key=lambda name: cost(name, *LOOKS[-1]))
        agents.remove(slowest)
        slow.append(slowest)


def _grid(space: Space, share: float) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Return the product of coarse axes, and the steps of the ranges among them."""
    points, steps = [{}], {}  # type: tuple[list[dict[str, Any]], dict[str, float]]
    for name, dimension in space.items():
        full = len(dimension.values) if isinstance(dimension, Choices) else POINTS.get(name, 4)
        count = max(1, math.ceil(share * full))
        if isinstance(dimension, Range):
            steps[name] = dimension.length / max(count - 1, 1)
        points = [{**point, name: value} for point in points for value in dimension.coarse(count)]
    return points, steps


def full_grid(agents: Collection[str], horizon: int, n_arms: int) -> list[Candidate]:
    """Return every agent with a grid twice as fine as the first one of `recommend`, to measure it by."""
    return [Candidate.of(name, point) for name in agents for point in _grid(_space(name, horizon, n_arms), 2.0)[0]]


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
