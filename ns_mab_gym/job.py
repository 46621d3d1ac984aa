"""What all runs of one agent on one environment share, and how one of them is played."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from . import agents
from .agents import Knowledge
from .agents.base import Agent
from .agents.checks import known_parameters
from .agents.kernel import RULES
from .envs.bandit import NSBanditEnv, drawn_means, streams
from .episode import check_match, run_episode
from .rewards import Law
from .theory import knowledge as facts
from .worlds import World

__all__ = ["Job", "Run"]

POINTS = 500  # of a regret curve


@dataclass
class Run:
    """What one run leaves."""

    regret: npt.NDArray[np.float64]
    pulls: npt.NDArray[np.int64]
    suboptimal: npt.NDArray[np.int64]
    arms: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    parameters: dict[str, Any]
    seconds: float


class Job:
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
        self.rounds = np.zeros(0, np.int64)  # until the first run tells how long an episode is

    def why_generic(self) -> str | None:
        """Why the compiled loop cannot play this; None if it can."""
        from .compiled import law_code

        if self.bandit is None or type(self.bandit) is not NSBanditEnv:
            return f"{self.env} is not one of the suite's own environments"
        if (wrapper := _wrapper(self.env)) is not None:
            return f"the environment is wrapped in {wrapper}"
        if law_code(self.bandit.law) is None:
            return f"the reward law {self.bandit.law!r} has no compiled form"
        return None if isinstance(self.agent, str) or _has_rule(self.agent) else f"{self.agent!r} has no compiled form"

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

    def play_compiled(self, seeds: tuple[int, int]) -> Run:
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

    def play_generic(self, seeds: tuple[int, int]) -> Run:
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
        self._note_rounds(len(played.arms))
        return Run(
            regret=played.regret[self.rounds - 1],
            pulls=played.pulls,
            suboptimal=played.suboptimal_pulls,
            arms=played.arms if self.record else played.arms[:0].copy(),
            rewards=played.rewards if self.record else played.rewards[:0].copy(),
            parameters=_plain(getattr(agent, "parameters", {})),
            seconds=time.perf_counter() - began,
        )

    def _note_rounds(self, length: int) -> None:
        """Choose the rounds at which to note the regret, once."""
        if not self.rounds.size:
            self.rounds = _checkpoints(length)
        if self.rounds[-1] != length:
            raise ValueError(
                f"one episode took {self.rounds[-1]} rounds, another {length}; simulate compares episodes of one length"
            )

    def empty(self, shape: tuple[int, ...], parameters: dict[str, Any]) -> Run:
        """Arrays for the compiled loop to fill."""
        horizon, k = shape
        self._note_rounds(horizon)
        kept = horizon if self.record else 0
        return Run(
            regret=np.zeros(len(self.rounds)),
            pulls=np.zeros(k, np.int64),
            suboptimal=np.zeros(k, np.int64),
            arms=np.zeros(kept, np.int64),
            rewards=np.zeros(kept),
            parameters=parameters,
            seconds=0.0,
        )


def _has_rule(agent: Any) -> bool:
    """Whether what the agent does is the rule of its state, and no more: a subclass may do otherwise."""
    return (
        isinstance(agent, Agent)
        and type(agent.state) in RULES
        and type(agent).act is Agent.act
        and type(agent).observe is Agent.observe
    )


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


def _checkpoints(horizon: int) -> npt.NDArray[np.int64]:
    """At most 500 rounds, evenly spaced, the last of them T."""
    points = min(POINTS, horizon)
    return np.arange(1, points + 1) * horizon // points
