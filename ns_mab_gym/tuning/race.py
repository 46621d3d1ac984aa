"""A race: candidates play the same runs in growing blocks, and leave when they are clearly behind the leader.

Run r has the same luck for every candidate, so that differences are taken run by run. A candidate leaves when the lower
bound of its mean difference to the leader is above zero. The bounds are Student's, one-sided, and hold together at the
stated level: look l over M candidates so far takes the tail level/(l (l + 1) M) for each, and these tails sum to the
level at most (Bonferroni, over the leaders that could throw the best one out). They assume that mean differences are
nearly normal. Where the budget does not allow everybody another block, the worse half leaves without proof (successive
halving: Karnin, Koren, Somekh 2013).

A race names no winner: its best play other runs, which :class:`HeldOut` judges.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding

from ..agents.core.arguments import job_count, positive, positive_int
from ..agents.core.knowledge import Knowledge
from ..envs.bandit import NSBanditEnv, drawn_means, streams
from ..means import Floats
from ..play.simulate import Pairing, known_of, simulate
from ..runs import seed_pair
from ..specs import as_env
from ..statistics import Estimated, estimated, lower_bound, t_quantile
from ..worlds.synthetic import Stationary

LEAST_BUDGET = 20  # runs
FEWEST, MOST = 4, 2_000  # runs of a candidate: from which a bound is trusted, and in all
HELD_OUT = 2_718_281_828  # a spawn key that no number of a run reaches
WARM_UP_ROUNDS, TIMINGS = 5_000, 3  # the length and the number of the runs whose median is the first price
RECENT = 15  # blocks of which the median is taken
COMPILING = 3.0  # seconds to compile an agent on an idle machine
LOADING = 0.3  # the share of the seconds that warming up may take after the first agent
INSTANCES = 20  # of a random world, from which random play's regret is computed


class Budget:
    """A budget in seconds or in runs; what it buys is priced in the same unit.

    Args:
        seconds: the seconds that may be spent; ignored if ``runs`` is given.
        runs: the runs that may be played; at least 20, which a race of a few candidates takes.
        clock: returns the time in seconds.
    """

    def __init__(
        self, seconds: float = 20.0, runs: int | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.seconds = positive("seconds", seconds, hint="compilation does not count")
        hint = "all runs of the race together"
        self.runs = None if runs is None else positive_int("runs", runs, least=LEAST_BUDGET, hint=hint)
        self._clock = clock
        self.played = 0
        self._began = clock()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Seconds that pass inside do not count."""
        before = self._clock()
        yield
        self._began += self._clock() - before

    @property
    def total(self) -> float:
        """The whole budget."""
        return self.seconds if self.runs is None else float(self.runs)

    @property
    def elapsed(self) -> float:
        """The seconds that count, whatever the unit."""
        return self._clock() - self._began

    @property
    def left(self) -> float:
        """The part that is left, in the budget's unit."""
        return self.total - (self.elapsed if self.runs is None else self.played)

    def price(self, seconds: float) -> float:
        """Return the price of one run that takes this long."""
        return seconds if self.runs is None else 1.0


@dataclass(frozen=True)
class Candidate:
    """An agent, by name or class, with the parameters that are searched."""

    agent: Any
    parameters: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, agent: Any, parameters: Mapping[str, Any]) -> Candidate:
        """Return a candidate from a mapping of parameters."""
        return cls(agent, tuple(parameters.items()))

    @property
    def kwargs(self) -> dict[str, Any]:
        """The parameters as keyword arguments."""
        return dict(self.parameters)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent if isinstance(self.agent, str) else str(self.agent.__name__)

    @property
    def settings(self) -> str:
        """The parameters as text."""
        if self.blind:
            return "told T, K and the law of rewards alone"
        return ", ".join(f"{key}={_shown(value)}" for key, value in self.parameters) or "its source's formula"

    @property
    def blind(self) -> bool:
        """True if it is told T, K and the law of rewards alone, and nothing of it was searched."""
        return self.parameters == (("blind", True),)

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}, {self.settings}" if self.blind else f"{self.name} with {self.settings}"


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.7g}" if 0.99 < value < 1 else f"{value:.4g}"
    return str(value)


class Race:
    """Candidates that play until one is left, or the rest cannot be distinguished, or the budget is spent.

    Args:
        evaluator: plays candidates (``play``) and estimates the time that they take (``seconds``).
        budget: the budget of the race.
        level: the probability with which any of the bounds that throw out may fail.
        tolerance: the race is over when no candidate can be better than the leader by more than this share.
        first: the runs of the first block.
    """

    def __init__(
        self, evaluator: WorldEvaluator, budget: Budget, *, level: float = 0.05, tolerance: float = 0.01, first: int = 8
    ) -> None:
        self.evaluator, self.budget = evaluator, budget
        self.level, self.tolerance, self.first = level, tolerance, first
        self.finals: dict[Candidate, Floats] = {}  # of everybody who entered
        self.alive: list[Candidate] = []
        self.looks = 0

    def enter(self, candidates: Sequence[Candidate], known: Mapping[Candidate, Floats] | None = None) -> None:
        """Let candidates join, each once; those of ``known`` bring the regrets of their first runs along."""
        for candidate in candidates:
            if candidate not in self.finals:
                self.finals[candidate] = (known or {}).get(candidate, np.zeros(0))
                self.alive.append(candidate)

    def narrow(self, floor: float = 0.0, keep: int = 1) -> None:
        """Race until ``keep`` candidates are left, or all are settled, or the budget holds ``floor``."""
        while len(self.alive) > keep and not self.settled() and not (self._level() and self.runs >= MOST):
            movers, target, limited = self._next_block(floor, keep)
            if target > 0:
                self._advance(movers, target)
            if limited:
                ranked = self.ranked()
                left = max(keep, math.ceil(len(ranked) / 2))
                self.alive = ranked[:left]
                for gone in ranked[left:]:
                    if not len(self.finals[gone]):  # it was never tried
                        del self.finals[gone]

    @property
    def runs(self) -> int:
        """The runs that the leader has played."""
        return max((len(self.finals[each]) for each in self.alive), default=0)

    @property
    def leader(self) -> Candidate:
        """The candidate with the least mean regret among those who are left and have played most."""
        fullest = [each for each in self.alive if len(self.finals[each]) == self.runs]
        return min(fullest, key=lambda each: float(self.finals[each].mean()) if self.runs else 0.0)

    def behind(self, candidate: Candidate) -> Floats:
        """Return its regret minus the leader's, in the runs that both have played."""
        mine, best = self.finals[candidate], self.finals[self.leader]
        common = min(len(mine), len(best))
        return np.asarray(mine[:common] - best[:common])

    def ranked(self) -> list[Candidate]:
        """Return those who are left, in ascending order of their mean difference to the leader."""
        mean = {each: float(self.behind(each).mean()) if len(self.finals[each]) else math.inf for each in self.alive}
        return sorted(self.alive, key=mean.__getitem__)

    def in_order(self) -> list[Candidate]:
        """Return everybody who played: those who are left first, then whoever stayed longer, then by the difference."""
        entered = [each for each in self.finals if len(self.finals[each])]
        behind = {each: float(self.behind(each).mean()) for each in entered}
        left = set(self.alive)
        return sorted(entered, key=lambda each: (each not in left, -len(self.finals[each]), behind[each]))

    def settled(self) -> bool:
        """Return True if nobody who is left can be better than the leader by more than the tolerance."""
        if not self._level() or self.runs < self.first:
            return False
        least = min(lower_bound(self.behind(each), self._tail) for each in self.alive)
        return -least <= self.tolerance * float(self.finals[self.leader].mean())

    @property
    def _tail(self) -> float:
        looks = max(self.looks, 1)
        return self.level / (looks * (looks + 1) * max(len(self.finals), 1))

    def _level(self) -> bool:
        """Return True if all who are left have played equally often."""
        return len({len(self.finals[each]) for each in self.alive}) == 1

    def _next_block(self, floor: float, keep: int) -> tuple[list[Candidate], int, bool]:
        """Return those who play next, the runs they have then (0 if nobody can), and True if the budget limits it.

        Those with the fewest runs double them first: who joins late catches up, or leaves before that.
        """
        fewest = min(len(self.finals[each]) for each in self.alive)
        movers = [each for each in self.alive if len(self.finals[each]) == fewest]
        wanted = max(self.first, 2 * fewest)
        target = min(wanted, MOST if self._level() else self.runs) if fewest else min(wanted, self.runs or wanted)
        halvings = max(1, math.ceil(math.log2(len(self.alive) / keep)))
        first_look = fewest == 0 and self.looks == 0
        blocks = min(halvings, 2) if first_look else halvings  # the first look at everybody is worth more
        price = sum(self.budget.price(self.evaluator.seconds(each)) for each in movers)
        affordable = fewest + math.floor(max(0.0, self.budget.left - floor) / blocks / price) if price else target
        if affordable >= target:
            return movers, target, False
        if first_look:
            affordable = max(affordable, 2)  # a race needs a first look; the caller enters no more than it can pay
        return movers, affordable if affordable > fewest else 0, True

    def _advance(self, movers: list[Candidate], target: int) -> None:
        """Let some play until they have ``target`` runs, and those leave who are then clearly behind the leader."""
        done = len(self.finals[movers[0]])
        played = self.evaluator.play(movers, done, target - done)
        self.budget.played += len(movers) * (target - done)
        for candidate, finals in zip(movers, played, strict=True):
            self.finals[candidate] = np.concatenate([self.finals[candidate], finals])
        self.looks += 1
        leader, tail = self.leader, self._tail
        behind = {each: self.behind(each) for each in self.alive if each != leader}
        worse = {each for each, by in behind.items() if len(by) >= FEWEST and lower_bound(by, tail) > 0}
        self.alive = [each for each in self.alive if each not in worse]


class HeldOut:
    """The regrets of a short list in the same held-out runs, from which the winner is named.

    The k candidates are compared pair by pair. A difference has the interval of a level that is divided by k − 1, so
    that with the stated confidence the best of them is not among those that another one beats. The choice is made on
    these runs, and the best of several looks better than it is; so the interval of a regret has the level divided by k:
    it holds for all of them together, and hence for the one that is named, whatever the rule.

    Args:
        finals: of each candidate the (R,) final regrets, with the same luck.
        level: the probability with which the intervals of all differences, or of all regrets, may fail together.
    """

    def __init__(self, finals: Mapping[Candidate, Floats], level: float = 0.05) -> None:
        self.finals, self.level = dict(finals), level
        self.runs = len(next(iter(self.finals.values())))

    def regret(self, candidate: Candidate) -> Estimated:
        """Return its mean regret, with an interval that holds for all together."""
        return estimated(self.finals[candidate], 1 - self.level / len(self.finals))

    def difference(self, candidate: Candidate, other: Candidate) -> Estimated:
        """Return its regret minus that of another one, with an interval that holds for all others together."""
        behind = self.finals[candidate] - self.finals[other]
        return estimated(behind, 1 - self.level / max(len(self.finals) - 1, 1))

    def unbeaten(self) -> list[Candidate]:
        """Return those that cannot be told apart from the best: no other one has less regret beyond doubt."""
        return [
            each
            for each in self.finals
            if all(self.difference(each, other).low <= 0 for other in self.finals if other != each)
        ]


def held_out_seed(seed: int) -> int:
    """Return the seed of the runs that judge, independent of the runs that chose."""
    words = np.random.SeedSequence(seed, spawn_key=(HELD_OUT,)).generate_state(1, np.uint64)
    return int(words[0] >> 1)


class WorldEvaluator:
    """A world and the seed of its runs.

    Args:
        world: anything that ``simulate`` plays.
        env_kwargs: arguments of its environment.
        seed: from which the seeds of all runs are derived.
        n_jobs: how many threads.
    """

    def __init__(
        self, world: Any, env_kwargs: Mapping[str, Any] | None = None, *, seed: int = 0, n_jobs: int | None = None
    ) -> None:
        t_quantile(0.5, 1)  # a missing SciPy is told before anything is compiled
        self.env: gym.Env[Any, Any] = as_env(world, env_kwargs or {})
        self.seed, self.threads = seed, job_count(n_jobs)
        bandit = self.env.unwrapped
        self.bandit = bandit if isinstance(bandit, NSBanditEnv) else None
        self.n_arms = int(self.env.action_space.n)  # type: ignore[attr-defined]
        self.horizon = self.bandit.world.horizon if self.bandit else None
        self.random = self.bandit is None or self.bandit.world.random
        self._expected: dict[Any, float] = {}  # agent: seconds of a run, by short ones
        self._took: dict[Any, list[float]] = {}  # agent: seconds of a run, by each block that was played
        self._slower: list[float] = []  # what blocks of all agents took, as shares of what was expected
        self.generic: dict[Any, bool] = {}  # agent: whether it is played in plain Python, once it is warmed up

    def held_out(self) -> WorldEvaluator:
        """Return the same world with other luck and, if it is random, other instances."""
        other = copy.copy(self)
        other.seed = held_out_seed(self.seed)
        return other

    def means(self, run: int = 0) -> Floats:
        """Return the means of a run."""
        assert self.bandit is not None
        rng, _ = streams(seeding.np_random(seed_pair(self.seed, run)[0])[0])
        return drawn_means(self.bandit.world, self.bandit.law, rng)

    def knowledge(self, run: int = 0) -> Knowledge:
        """Return the facts about the instance of a run."""
        assert self.bandit is not None
        return known_of(self.means(run), self.bandit.world, self.bandit.law)

    def random_play(self) -> float | None:
        """Return the expected regret if every arm is taken with the same probability; None if the means are unknown."""
        if self.bandit is None:
            return None
        instances = (self.means(run) for run in range(INSTANCES if self.random else 1))
        return float(np.mean([(means.max(axis=1) - means.mean(axis=1)).sum() for means in instances]))

    def warm_up(self, candidates: Iterable[Candidate], budget: Budget) -> list[Any]:
        """Compile every agent, which does not count and is told before, and time short runs of it, which does.

        Returns:
            The agents for which there was no time, never among the first two.
        """
        env, longer, given, new, overhead, left_out = self.env, 1.0, {}, [], [], []
        for candidate in candidates:
            began, agent = time.perf_counter(), candidate.agent
            pairing, given[agent] = Pairing(self.env, agent, candidate.kwargs), candidate.kwargs
            self.generic[agent] = pairing.why_generic() is not None
            new += [] if self.generic[agent] or pairing.is_compiled() else [agent]
            overhead.append(time.perf_counter() - began)
        log = logging.getLogger("ns_mab_gym")
        if len(new) > 1:
            log.warning(
                "compiling %d agents takes about %.0f s on an idle machine, once; not counted in seconds",
                len(new), COMPILING * len(new),
            )  # fmt: skip
        if self.bandit is not None:
            world, law = self.bandit.world, self.bandit.law
            first = drawn_means(world, law, np.random.default_rng(0))[0]
            rounds = min(world.horizon, WARM_UP_ROUNDS)
            env = as_env(Stationary(mu=tuple(first.tolist()), horizon=rounds), {"reward": law})
            longer = world.horizon / rounds
        end = math.inf
        for place, (agent, kwargs) in enumerate(given.items()):
            if place == 1 and budget.runs is None:  # the first also loads what all agents share
                end = budget.elapsed + LOADING * budget.total
            if budget.elapsed > end:
                left_out.append(agent)
                continue
            play = partial(simulate, env, agent, runs=1, n_jobs=1, agent_kwargs=kwargs)
            with warnings.catch_warnings(), contextlib.suppress(ValueError):  # parameters that few rounds forbid
                warnings.filterwarnings("ignore", message=".*generic Python loop.*")
                began = time.perf_counter()
                if not self.generic[agent]:
                    with budget.paused() if agent in new else contextlib.nullcontext():
                        play()  # compiles, or loads what was compiled
                if agent in new[1:2] and len(new) > 2:  # the first also compiles what all agents share
                    seconds = (len(new) - 2) * (time.perf_counter() - began)
                    log.warning("compiling the other %d takes about %.0f s here, by the last", len(new) - 2, seconds)
                times = [play().seconds for _ in range(TIMINGS if self.bandit is not None else 1)]
                self._expected[agent] = longer * statistics.median(times) + statistics.median(overhead)
        return left_out

    def play(self, candidates: Sequence[Candidate], first: int, runs: int) -> list[Floats]:
        """Return the final regrets of each candidate in the runs from number ``first`` on."""
        if any(self.generic.get(each.agent) for each in candidates):
            # Plain Python holds the interpreter's lock: threads do not help, and ``simulate`` knows what does.
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*generic Python loop.*")
                return [self._block(each, first, runs, self.threads) for each in candidates]
        # Blocks of runs, small enough for all threads to have work until the end.
        count = min(runs, max(1, -(-3 * self.threads // len(candidates))))
        edges = [first + runs * i // count for i in range(count + 1)]
        with ThreadPoolExecutor(self.threads) as pool:
            played = [
                [pool.submit(self._block, each, low, high - low) for low, high in pairwise(edges)]
                for each in candidates
            ]
            return [np.concatenate([block.result() for block in blocks]) for blocks in played]

    def _block(self, candidate: Candidate, first: int, runs: int, n_jobs: int = 1) -> Floats:
        began = time.perf_counter()
        played = simulate(
            self.env, candidate.agent, runs=runs, first_run=first, seed=self.seed, agent_kwargs=candidate.kwargs,
            n_jobs=n_jobs, rounds=(),
        )  # fmt: skip
        seconds = time.perf_counter() - began
        self._took.setdefault(candidate.agent, []).append(seconds / runs)
        if expected := self._expected.get(candidate.agent):
            self._slower.append(seconds / runs / expected)
        return played.regret[:, -1]

    def seconds(self, candidate: Candidate) -> float:
        """Return the seconds that a run of its agent keeps the machine busy; 0 if unknown.

        Short runs give a first price, which is corrected by what the blocks of all agents took, and replaced when some
        blocks of this agent were played. All of these are medians, so that one slow block makes nobody slow.
        """
        took = self._took.get(candidate.agent, [])
        if len(took) >= TIMINGS:
            price = statistics.median(took[-RECENT:])
        else:
            price = self._expected.get(candidate.agent, 0.0) * statistics.median(self._slower[-RECENT:] or [1.0])
        return price / (1 if self.generic.get(candidate.agent) else self.threads)
