"""A race: candidates play the same runs in growing blocks, and leave when they are clearly behind the leader.

Run r has the same luck for every candidate, so that differences are taken run by run. A candidate leaves when the lower
bound of its mean difference to the leader is above zero. The bounds are Student's, one-sided, and hold together at the
stated level: look l over M candidates so far takes the tail (level/2)/(l (l + 1) M) for each, and these tails sum to
half of the level at most (Bonferroni, over the leaders that could throw the best one out). The other half is for what
is said at the end (`Race.doubt`). The bounds assume that mean differences are nearly normal.

Where the budget does not allow everybody another block, the worse half leaves without proof (successive halving:
Karnin, Koren, Somekh 2013); what such a candidate might still be worth is part of `Race.doubt`.
"""

from __future__ import annotations

import contextlib
import copy
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
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
from ..statistics import lower_bound, t_quantile
from ..worlds.synthetic import Stationary

LEAST_BUDGET = 20  # runs
FEWEST, MOST = 4, 2_000  # runs of a candidate: from which a bound is trusted, and in all
HELD_OUT = 2_718_281_828  # a spawn key that no number of a run reaches
WARM_UP_ROUNDS = 5_000
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
        self.seconds = positive("budget", seconds, hint="it is in seconds; compilation does not count")
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
        return ", ".join(f"{key}={_shown(value)}" for key, value in self.parameters) or "its source's formula"


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) and not 0.99 < value < 1 else str(value)


class Race:
    """Candidates that play until one is left, or the rest cannot be distinguished, or the budget is spent.

    Args:
        evaluator: plays candidates (``play``) and estimates the time that they take (``seconds``).
        budget: the budget of the race.
        level: the probability with which a bound may fail, of those that throw out and of the last ones together.
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
        self.halved: set[Candidate] = set()
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
                    if len(self.finals[gone]):
                        self.halved.add(gone)
                    else:  # it was never tried
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

    def settled(self) -> bool:
        """Return True if nobody who is left can be better than the leader by more than the tolerance."""
        return self._level() and self.runs >= self.first and self._most_better(self.alive, self._tail) <= self.tolerance

    def doubt(self) -> float:
        """Return the share of the leader's regret by which anybody who entered might be better, at the race's level.

        Whoever left by a bound is not the best; the others are compared with the leader once more.
        """
        return max(self._most_better(self.alive, self._tail), self._most_better(list(self.halved), self._last_tail))

    def unproved(self) -> list[Candidate]:
        """Return those who entered and are not proved worse than the leader."""
        others = [each for each in self.alive if each != self.leader]
        return others + [each for each in self.halved if lower_bound(self.behind(each), self._last_tail) <= 0]

    @property
    def _last_tail(self) -> float:
        return self.level / 2 / len(self.finals)

    def _most_better(self, candidates: Sequence[Candidate], tail: float) -> float:
        mean = float(self.finals[self.leader].mean()) if self.runs else math.nan
        others = [each for each in candidates if each != self.leader]
        most = max((-lower_bound(self.behind(each), tail) for each in others), default=0.0)
        if most <= 0:
            return 0.0
        return most / mean if mean > 0 else math.inf

    @property
    def _tail(self) -> float:
        looks = max(self.looks, 1)
        return self.level / 2 / (looks * (looks + 1) * max(len(self.finals), 1))

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
        blocks = halvings if self.runs else min(halvings, 2)  # the first look at everybody is worth more
        price = sum(self.budget.price(self.evaluator.seconds(each)) for each in movers)
        affordable = fewest + math.floor(max(0.0, self.budget.left - floor) / blocks / price) if price else target
        if affordable >= target:
            return movers, target, False
        if fewest == 0 and self.runs == 0:
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
        self._spent: dict[Any, tuple[float, int]] = {}  # candidate or agent: seconds and runs
        self._expected: dict[Any, float] = {}  # agent: seconds of a run, before it has played one
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

    def warm_up(self, candidates: Iterable[Candidate]) -> None:
        """Compile every agent, so that no compilation falls into the race, and note how long a run will take."""
        for agent, candidate in {each.agent: each for each in candidates}.items():
            began = time.perf_counter()
            self.generic[agent] = Pairing(self.env, agent, candidate.kwargs).why_generic() is not None
            if self.generic[agent]:
                continue
            overhead, seconds = time.perf_counter() - began, 0.0
            assert self.bandit is not None
            world, law = self.bandit.world, self.bandit.law
            first = drawn_means(world, law, np.random.default_rng(0))[0]
            rounds = min(world.horizon, WARM_UP_ROUNDS)
            short = as_env(Stationary(mu=tuple(first.tolist()), horizon=rounds), {"reward": law})
            with contextlib.suppress(ValueError):  # parameters that only so few rounds make impossible
                for _ in range(2):  # the first run compiles
                    seconds = simulate(short, agent, runs=1, n_jobs=1, agent_kwargs=candidate.kwargs).seconds
            self._expected[agent] = overhead + seconds * world.horizon / rounds

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
        for key in (candidate, candidate.agent):
            spent, before = self._spent.get(key, (0.0, 0))
            self._spent[key] = spent + seconds, before + runs
        return played.regret[:, -1]

    def seconds(self, candidate: Candidate) -> float:
        """Return the seconds that a run of this candidate, or of its agent, keeps the machine busy; 0 if unknown."""
        expected = self._expected.get(candidate.agent, 0.0), 1
        spent, played = self._spent.get(candidate) or self._spent.get(candidate.agent) or expected
        at_once = 1 if self.generic.get(candidate.agent) else self.threads
        return spent / played / at_once
