"""Many runs at once: compiled, on all cores, each equal to the episode that the generic loop plays with its seeds."""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from . import agents
from .agents import AgentProtocol, Knowledge
from .agents.base import Agent
from .agents.checks import choice, known_parameters, positive_int
from .agents.kernel import RULES
from .envs.bandit import NSBanditEnv, drawn_means, streams
from .episode import _first_action, check_match, run_episode, seed_pair
from .rewards import Law
from .theory import knowledge as facts
from .worlds import World

__all__ = ["Runs", "simulate"]

POINTS = 500  # of a regret curve


@dataclass(frozen=True)
class Runs:
    """R runs of one agent on one environment.

    Attributes:
        rounds: (C,) the rounds, counted from 1, after which the regret was noted; the last is T.
        regret: (R, C) the cumulative dynamic pseudo-regret there.
        pulls: (R, K) how often each arm was played.
        suboptimal_pulls: (R, K) N_{i,T}, how often each arm was played while its mean was below the best.
        seeds: R pairs of the environment's and the agent's seed; ``run_episode`` with such a pair plays that run again.
        parameters: R times what the agent's parameters were, but for arrays (the oracle's means).
        seconds: the time spent in the loop, summed over the threads.
        arms: (R, T) every arm, if ``record="all"``.
        rewards: (R, T) every reward, if ``record="all"``.
    """

    rounds: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]
    pulls: npt.NDArray[np.int64]
    suboptimal_pulls: npt.NDArray[np.int64]
    seeds: list[tuple[int, int]]
    parameters: list[dict[str, Any]]
    seconds: float
    arms: npt.NDArray[np.int64] | None = None
    rewards: npt.NDArray[np.float64] | None = None


@dataclass
class _Run:
    """What one run leaves."""

    regret: npt.NDArray[np.float64]
    pulls: npt.NDArray[np.int64]
    suboptimal: npt.NDArray[np.int64]
    arms: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    parameters: dict[str, Any]
    seconds: float


def simulate(
    env: str | World | gym.Env[Any, Any],
    agent: str | AgentProtocol,
    *,
    runs: int = 50,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    agent_kwargs: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    record: Literal["curve", "all"] = "curve",
    first_run: int = 0,
) -> Runs:
    """Play an agent on an environment many times.

    Run r has its own pair of seeds, which depends on ``seed`` and r alone: agents that share a seed meet the same
    instances and the same luck, and 50 runs are the first half of 100. An agent given by name is tuned by its own
    paper's formula from what is true of the world (of each instance, if the world is random).

    Args:
        env: an id, a world, or an environment.
        agent: a name, an agent of the zoo, or any object with ``reset``, ``act`` and ``observe``. One without a
            compiled form, or an environment that is wrapped, goes through the generic loop, with a warning.
        runs: how many runs.
        seed: from which all seeds are derived.
        env_kwargs: arguments of the environment.
        agent_kwargs: parameters of the agent, if it is given by name.
        n_jobs: how many threads; as many as there are cores if not given.
        record: "curve" keeps the regret at about 500 rounds; "all" keeps every arm and reward too.
        first_run: the number of the first run, to compute runs in blocks.
    """
    positive_int("runs", runs)
    positive_int("seed", seed, least=0)
    positive_int("first_run", first_run, least=0)
    choice("record", record, ("curve", "all"))
    threads = positive_int("n_jobs", n_jobs) if n_jobs is not None else os.cpu_count() or 1
    seeds = [seed_pair(seed, r) for r in range(first_run, first_run + runs)]
    made = _make_env(env, dict(env_kwargs or {}))
    _first_action(made)
    job = _Job(made, agent, dict(agent_kwargs or {}), record == "all")
    if reason := job.why_generic():
        warnings.warn(f"{reason}: playing through the generic Python loop, which is slower", stacklevel=2)
        results = list(map(job.play_generic, seeds))
    else:
        first = job.play_compiled(seeds[0])  # compiles, or loads what was compiled
        results = [first, *_threaded(job.play_compiled, seeds[1:], threads)]
    return _collect(job.rounds, seeds, results, record == "all")


class _Job:
    """What all runs share."""

    def __init__(self, env: gym.Env[Any, Any], agent: Any, agent_kwargs: dict[str, Any], record: bool) -> None:
        self.env = env
        self.agent = agent
        self.agent_kwargs = agent_kwargs
        self.record = record
        self.fixed: tuple[npt.NDArray[np.float64], Knowledge] | None = None
        self.best: npt.NDArray[np.float64] | None = None
        bandit = env.unwrapped
        if isinstance(agent, str):
            known_parameters(f"agent {agent!r}", agent_kwargs, agents.kind(agent).tunable())
        elif agent_kwargs:
            raise TypeError("agent_kwargs go with an agent given by name; set the parameters of the object instead")
        self.bandit = bandit if isinstance(bandit, NSBanditEnv) else None
        if self.bandit is not None and not self.bandit.world.random:
            world, law = self.bandit.world, self.bandit.law
            means = self.bandit.means
            if self.bandit._given:  # by options of a reset; the next reset, which begins a run, forgets them
                means = drawn_means(world, law)
            self.fixed = means, _known(means, world, law)
            check_match(env, self.agent_for(self.fixed[1]))
        elif not isinstance(agent, str):
            check_match(env, agent)
        horizon = self.bandit.world.horizon if self.bandit is not None else 1
        self.rounds = np.unique(
            np.linspace(horizon / min(POINTS, horizon), horizon, min(POINTS, horizon)).astype(np.int64)
        )

    def why_generic(self) -> str | None:
        """Why the compiled loop cannot play this; None if it can."""
        from .compiled import law_code

        if self.bandit is None or type(self.bandit) is not NSBanditEnv:
            return f"{self.env} is not one of the suite's own environments"
        if (wrapper := _wrapper(self.env)) is not None:
            return f"the environment is wrapped in {wrapper}"
        if law_code(self.bandit.law) is None:
            return f"the reward law {self.bandit.law!r} has no compiled form"
        if not isinstance(self.agent, str | Agent):
            return f"{self.agent!r} has no compiled form"
        if isinstance(self.agent, Agent) and type(self.agent.state) not in RULES:
            return f"{self.agent!r} has no compiled form"
        return None

    def instance(self, seed: int) -> tuple[npt.NDArray[np.float64], Knowledge, np.random.Generator]:
        """The means that the environment plays after ``reset(seed=seed)``, what is true of them, and the luck."""
        assert self.bandit is not None
        means_rng, luck = streams(seeding.np_random(seed)[0])
        if self.fixed is not None:
            return *self.fixed, luck
        world, law = self.bandit.world, self.bandit.law
        means = drawn_means(world, law, means_rng)
        return means, _known(means, world, law), luck

    def best_of(self, means: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The largest mean of each round; of a fixed world, computed once."""
        from .compiled import best_means

        if self.fixed is None:
            return best_means(means)
        if self.best is None:
            self.best = best_means(means)
        return self.best

    def agent_for(self, known: Knowledge) -> Any:
        """A new agent, tuned from the knowledge if it was given by name."""
        if isinstance(self.agent, str):
            return agents.make(self.agent, knowledge=known, **self.agent_kwargs)
        return self.agent.clone() if isinstance(self.agent, Agent) else copy.deepcopy(self.agent)

    def play_compiled(self, seeds: tuple[int, int]) -> _Run:
        """One run in the compiled loop."""
        from .compiled import law_code, loop_for

        assert self.bandit is not None
        means, known, luck = self.instance(seeds[0])
        best = self.best_of(means)
        agent = self.agent_for(known)
        agent.check_rewards(self.bandit.law.support, self.bandit.law.binary)
        agent.reset(seed=seeds[1])
        run = self.empty(means.shape, _plain(agent.parameters))
        began = time.perf_counter()
        code = law_code(self.bandit.law)
        assert code is not None
        loop_for(agent.state)(
            agent.state, *code, agent.binarize, means, best, luck, agent.rng,
            self.rounds, run.regret, run.pulls, run.suboptimal, run.arms, run.rewards,
        )  # fmt: skip
        run.seconds = time.perf_counter() - began
        return run

    def play_generic(self, seeds: tuple[int, int]) -> _Run:
        """One run in the generic loop."""
        began = time.perf_counter()
        env = copy.deepcopy(self.env)
        if self.bandit is not None:
            env.reset(seed=seeds[0])
            known = _known(env.unwrapped.means, self.bandit.world, self.bandit.law)  # type: ignore[attr-defined]
        else:
            known = Knowledge(n_arms=int(env.action_space.n))  # type: ignore[attr-defined]
        agent = self.agent_for(known)
        played = run_episode(env, agent, seeds)
        if played.regret is None or played.suboptimal_pulls is None:
            raise ValueError(f"{env} does not tell its means: its info needs 'mu' for simulate to account regret")
        if self.rounds[-1] != len(played.arms):
            n = len(played.arms)
            self.rounds = np.unique(np.linspace(n / min(POINTS, n), n, min(POINTS, n)).astype(np.int64))
        return _Run(
            regret=played.regret[self.rounds - 1],
            pulls=played.pulls,
            suboptimal=played.suboptimal_pulls,
            arms=played.arms,
            rewards=played.rewards,
            parameters=_plain(getattr(agent, "parameters", {})),
            seconds=time.perf_counter() - began,
        )

    def empty(self, shape: tuple[int, ...], parameters: dict[str, Any]) -> _Run:
        """Arrays for the compiled loop to fill."""
        horizon, k = shape
        kept = horizon if self.record else 0
        return _Run(
            regret=np.zeros(len(self.rounds)),
            pulls=np.zeros(k, np.int64),
            suboptimal=np.zeros(k, np.int64),
            arms=np.zeros(kept, np.int64),
            rewards=np.zeros(kept),
            parameters=parameters,
            seconds=0.0,
        )


def _make_env(env: Any, kwargs: dict[str, Any]) -> gym.Env[Any, Any]:
    if isinstance(env, str):
        return gym.make(env, **kwargs)
    if isinstance(env, World):
        return gym.make("NSBandit-v0", world=env, **kwargs)
    if kwargs:
        raise TypeError("env_kwargs go with an id or a world; this environment is already made")
    if not isinstance(env, gym.Env):
        raise TypeError(f"env must be an id, a world or an environment, got {env!r}")
    return env


def _wrapper(env: gym.Env[Any, Any]) -> str | None:
    """The name of the first wrapper that ``gym.make`` does not add by itself."""
    layer = env
    while isinstance(layer, gym.Wrapper):
        if not isinstance(layer, OrderEnforcing | PassiveEnvChecker):
            return type(layer).__name__
        layer = layer.env
    return None


def _known(means: npt.NDArray[np.float64], world: World, law: Law) -> Knowledge:
    """What is true of an instance; σ as the world's author states it, where that is stated."""
    known = facts(means)
    if world.lipschitz is not None:
        known = replace(known, lipschitz=world.lipschitz)
    return replace(known, subgaussian=law.subgaussian)


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Without arrays, of which one a run would fill the memory."""
    return {name: value for name, value in parameters.items() if not isinstance(value, np.ndarray)}


def _threaded(play: Any, seeds: list[tuple[int, int]], threads: int) -> Iterator[_Run]:
    if threads == 1:
        yield from map(play, seeds)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(play, seeds)


def _collect(
    rounds: npt.NDArray[np.int64], seeds: list[tuple[int, int]], results: list[_Run], everything: bool
) -> Runs:
    return Runs(
        rounds=rounds,
        regret=np.stack([run.regret for run in results]),
        pulls=np.stack([run.pulls for run in results]),
        suboptimal_pulls=np.stack([run.suboptimal for run in results]),
        seeds=seeds,
        parameters=[run.parameters for run in results],
        seconds=sum(run.seconds for run in results),
        arms=np.stack([run.arms for run in results]) if everything else None,
        rewards=np.stack([run.rewards for run in results]) if everything else None,
    )
