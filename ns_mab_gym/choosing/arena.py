"""Plays candidates on one world: the same luck for all, in threads, with the time that a run takes noted."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ..agents.core.knowledge import Knowledge
from ..envs.bandit import NSBanditEnv, drawn_means
from ..play.cores import job_count
from ..play.engine import simulate
from ..play.episode import seed_pair
from ..play.match import Match
from ..play.resolving import as_env
from ..worlds.synthetic import Stationary
from .racing import Candidate

__all__ = ["Arena", "held_out_seed"]

Floats = npt.NDArray[np.float64]

HELD_OUT = 2_718_281_828  # a spawn key that no number of a run reaches
WARM_UP_ROUNDS = 5_000
INSTANCES = 20  # of a random world, from which random play's regret is computed


def held_out_seed(seed: int) -> int:
    """The seed of the runs that judge, independent of the runs that chose."""
    words = np.random.SeedSequence(seed, spawn_key=(HELD_OUT,)).generate_state(1, np.uint64)
    return int(words[0] >> 1)


class Arena:
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
        self.env: gym.Env[Any, Any] = as_env(world, env_kwargs or {})
        self.seed, self.threads = seed, job_count(n_jobs)
        bandit = self.env.unwrapped
        self.bandit = bandit if isinstance(bandit, NSBanditEnv) else None
        self.n_arms = int(self.env.action_space.n)  # type: ignore[attr-defined]
        self.horizon = self.bandit.world.horizon if self.bandit else None
        self.random = self.bandit is None or self.bandit.world.random
        self._spent: dict[Any, tuple[float, int]] = {}  # candidate or agent: seconds and runs
        self._expected: dict[Any, float] = {}  # agent: seconds of a run, before it has played one
        self._generic: dict[Any, bool] = {}

    def held_out(self) -> Arena:
        """The same world with other luck and, if it is random, other instances."""
        other = object.__new__(Arena)
        vars(other).update(vars(self))
        other.seed = held_out_seed(self.seed)
        return other

    def knowledge(self, run: int = 0) -> Knowledge:
        """What is true of the instance of a run."""
        return self._match.instance(seed_pair(self.seed, run)[0])[1]

    def means(self, run: int = 0) -> Floats:
        """The means of a run."""
        return self._match.instance(seed_pair(self.seed, run)[0])[0]

    @cached_property
    def _match(self) -> Match:
        return Match(self.env, "random", {})

    def random_play(self) -> float | None:
        """The expected regret if every arm is taken with the same probability; None if the means are unknown."""
        if self.bandit is None:
            return None
        instances = (self.means(run) for run in range(INSTANCES if self.random else 1))
        return float(np.mean([(means.max(axis=1) - means.mean(axis=1)).sum() for means in instances]))

    def warm_up(self, candidates: Iterable[Candidate]) -> None:
        """Compile every agent, so that no compilation falls into the race, and see how long a step takes."""
        began = time.perf_counter()
        always = self.bandit is None or self._match.why_generic() is not None
        overhead = time.perf_counter() - began
        for candidate in {each.agent: each for each in candidates}.values():
            self._generic[candidate.agent] = always or self._compile(candidate, overhead) is not None

    def _compile(self, candidate: Candidate, overhead: float) -> str | None:
        """Play a few rounds, twice, and note how long a run will take; returns why it cannot be compiled, if so."""
        assert self.bandit is not None
        world, law = self.bandit.world, self.bandit.law
        first = drawn_means(world, law, np.random.default_rng(0))[0]
        rounds = min(world.horizon, WARM_UP_ROUNDS)
        short = as_env(Stationary(mu=tuple(first.tolist()), horizon=rounds), {"reward": law})
        seconds = 0.0
        with contextlib.suppress(ValueError):  # parameters that only so few rounds make impossible
            if reason := Match(short, candidate.agent, candidate.kwargs).why_generic():
                return reason
            for _ in range(2):  # the first run compiles
                seconds = simulate(short, candidate.agent, runs=1, n_jobs=1, agent_kwargs=candidate.kwargs).seconds
        self._expected[candidate.agent] = overhead + seconds * world.horizon / rounds
        return None

    def is_generic(self, agent: Any) -> bool:
        """Whether an agent that was warmed up is played in plain Python."""
        return self._generic[agent]

    def try_out(self, candidate: Candidate) -> None:
        """Play one run, to see how long it takes."""
        self.play([candidate], 0, 1)

    def play(self, candidates: Sequence[Candidate], first: int, runs: int) -> list[Floats]:
        """The final regrets of each candidate in the runs from number ``first`` on."""
        if any(self._generic.get(each.agent) for each in candidates):
            return [self._generic_block(each, first, runs) for each in candidates]
        pieces = self._pieces(len(candidates), first, runs)
        with ThreadPoolExecutor(self.threads) as pool:
            played = [[pool.submit(self._block, each, *piece) for piece in pieces] for each in candidates]
            return [np.concatenate([piece.result() for piece in pieces]) for pieces in played]

    def _pieces(self, candidates: int, first: int, runs: int) -> list[tuple[int, int]]:
        """Blocks of runs, small enough for all threads to have work until the end."""
        count = min(runs, max(1, -(-3 * self.threads // candidates)))
        edges = [first + runs * i // count for i in range(count + 1)]
        return [(low, high - low) for low, high in pairwise(edges)]

    def _block(self, candidate: Candidate, first: int, runs: int, n_jobs: int | None = 1) -> Floats:
        began = time.perf_counter()
        played = simulate(
            self.env, candidate.agent, runs=runs, first_run=first, seed=self.seed, agent_kwargs=candidate.kwargs,
            n_jobs=n_jobs, rounds=(),
        )  # fmt: skip
        self._note(candidate, time.perf_counter() - began, runs)
        return played.final

    def _generic_block(self, candidate: Candidate, first: int, runs: int) -> Floats:
        """Plain Python holds the interpreter's lock: threads do not help, and ``simulate`` knows what does."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*generic Python loop.*")
            return self._block(candidate, first, runs, self.threads)

    def _note(self, candidate: Candidate, seconds: float, runs: int) -> None:
        for key in (candidate, candidate.agent):
            spent, played = self._spent.get(key, (0.0, 0))
            self._spent[key] = spent + seconds, played + runs

    def seconds(self, candidate: Candidate) -> float:
        """How long a run of this candidate, or else of its agent, keeps the machine busy; 0 if it never played."""
        expected = self._expected.get(candidate.agent, 0.0), 1
        spent, played = self._spent.get(candidate) or self._spent.get(candidate.agent) or expected
        at_once = 1 if self._generic.get(candidate.agent) else self.threads
        return spent / played / at_once
