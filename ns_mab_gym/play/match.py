"""A pairing of an agent and an environment: what all of its runs share, and how one run is played."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from ..agents.core.arguments import shown
from ..agents.core.arms import UnplayableArmError, spelled_arm
from ..agents.core.knowledge import Knowledge
from ..agents.core.zoo import check_parameters, kind, make
from ..envs.bandit import NSBanditEnv, drawn_means, streams
from ..means import knowledge
from ..rewards import Law
from ..runs import Runs
from ..worlds.world import World
from .episode import Trajectory, check_match, run_episode
from .recording import note_alarms

__all__ = ["Match", "known_of", "without_arrays"]


class Match:
    """An agent and an environment, and what all of their runs share.

    Args:
        env: the environment, wrapped as the agent needs it.
        agent: an agent, its class, or a name.
        agent_kwargs: parameters for an agent that is still to be made.
    """

    def __init__(self, env: gym.Env[Any, Any], agent: Any, agent_kwargs: dict[str, Any]) -> None:
        self.env, self.agent, self.agent_kwargs = env, agent, agent_kwargs
        self.to_be_made = isinstance(agent, str | type)
        self.fixed: tuple[npt.NDArray[np.float64], Knowledge] | None = None
        self.best: npt.NDArray[np.float64] | None = None
        self.spare: list[Any] = []  # an agent that was made for a check, and has not played yet
        bandit = env.unwrapped
        self.bandit = bandit if isinstance(bandit, NSBanditEnv) else None
        self._check_parameters()
        if self.bandit is not None and not self.bandit.world.random:
            world, law = self.bandit.world, self.bandit.law
            means = self.bandit.means
            if self.bandit._given:  # the means came with a reset's options; the next reset drops them
                means = drawn_means(world, law)
            self.fixed = means, known_of(means, world, law)
            made = self.agent_for(self.fixed[1])
            check_match(env, made)
            self.spare += [made] if _plays_a_rule(self.kind) else []
        elif not self.to_be_made:
            check_match(env, agent)

    def _check_parameters(self) -> None:
        if not self.to_be_made:
            if self.agent_kwargs:
                raise TypeError("agent_kwargs go with an agent given by name; set the parameters of the object instead")
            return
        check_parameters(f"agent {self.agent!r}", self.kind, self.agent_kwargs)

    def why_generic(self) -> str | None:
        """The reason why the compiled loop cannot play this pairing; None if it can."""
        from .loop import law_code

        if self.bandit is None or type(self.bandit) is not NSBanditEnv:
            return f"{self.env} is not one of the suite's own environments"
        if (wrapper := _wrapper(self.env)) is not None:
            return f"the environment is wrapped in {wrapper}"
        if law_code(self.bandit.law) is None:
            return f"the reward law {self.bandit.law!r} has no compiled form"
        return None if _plays_a_rule(self.kind) else f"{shown(self.agent)} has no compiled form"

    @property
    def kind(self) -> type:
        """The agent's class."""
        if isinstance(self.agent, str):
            return kind(self.agent)
        return self.agent if isinstance(self.agent, type) else type(self.agent)

    def portable(self) -> Match:
        """The same pairing with the agent's class instead of its name, which another process may not know."""
        sent = copy.copy(self)
        sent.spare = []
        if self.to_be_made:
            sent.agent = self.kind
        return sent

    def instance(self, seed: int) -> tuple[npt.NDArray[np.float64], Knowledge, np.random.Generator]:
        """The means that the environment plays after ``reset(seed=seed)``, their facts, and the luck's generator."""
        assert self.bandit is not None
        means_rng, luck = streams(seeding.np_random(seed)[0])
        if self.fixed is not None:
            return *self.fixed, luck
        world, law = self.bandit.world, self.bandit.law
        means = drawn_means(world, law, means_rng)
        return means, known_of(means, world, law), luck

    def best_of(self, means: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The largest mean of each round; computed only once if the world is fixed."""
        from .loop import best_means

        if self.fixed is not None and self.best is not None:
            return self.best
        best = np.empty(len(means))
        best_means(means, best)
        if self.fixed is not None:
            self.best = best
        return best

    def agent_for(self, known: Knowledge) -> Any:
        """A new agent, tuned from the knowledge if it was given by name."""
        if self.to_be_made:
            return make(self.agent, knowledge=known, **self.agent_kwargs)
        return self.agent.clone() if hasattr(self.agent, "clone") else copy.deepcopy(self.agent)

    def _unused_agent(self, known: Knowledge) -> Any:
        try:
            return self.spare.pop()  # which one thread gets
        except IndexError:
            return self.agent_for(known)

    def play_compiled(self, runs: Runs, run: int) -> float:
        """Play one run in the compiled loop, into its rows of the record; returns the seconds spent in the loop."""
        from numba.core.errors import NumbaError

        from ..agents.core.kernel import states_in
        from ..agents.parts.alarms import alarms_in
        from .loop import law_code, loop_for

        assert self.bandit is not None
        env_seed, agent_seed = runs.seeds[run]
        means, known, luck = self.instance(env_seed)
        best = self.best_of(means)
        agent = self._unused_agent(known)
        agent.check_rewards(self.bandit.law.support, self.bandit.law.binary)
        agent.reset(seed=agent_seed)
        runs.parameters[run] = without_arrays(agent.parameters)
        code = law_code(self.bandit.law)
        assert code is not None
        mask, nothing = np.ones(means.shape[1], np.bool_), slice(0, 0)
        arms = runs.pulls[0, nothing] if runs.arms is None else runs.arms[run]
        rewards = runs.regret[0, nothing] if runs.rewards is None else runs.rewards[run]
        loop = loop_for(tuple(type(state) for state in states_in(agent.state)), agent.name, code[0])
        began = time.perf_counter()
        try:
            rounds, chosen = loop(
                agent.state, *code, agent.binarize, means, best, mask, luck, agent.rng, runs.rounds, runs.regret[run],
                runs.pulls[run], runs.suboptimal_pulls[run], arms, rewards,
            )  # fmt: skip
        except NumbaError as error:
            raise _not_compiled(agent, error) from error
        seconds = time.perf_counter() - began
        if rounds < len(means):
            played, chosen = (-1 - rounds, None) if rounds < 0 else (rounds, chosen)
            raise UnplayableArmError(agent.name, spelled_arm(chosen), means.shape[1], played + 1)
        note_alarms(runs, run, alarms_in(agent.state))
        return seconds

    def play_generic(self, seeds: tuple[int, int]) -> tuple[Trajectory, dict[str, Any]]:
        """Play one run in the generic loop; returns the episode and the agent's parameters."""
        env = self._copied_env()
        agent = self.agent_for(self._known_after_reset(env, seeds[0]))
        played = run_episode(env, agent, seeds)
        if played.regret is None or played.suboptimal_pulls is None:
            raise ValueError(f"{env} does not tell its means: its info needs 'mu' for simulate to account regret")
        return played, without_arrays(getattr(agent, "parameters", {}))

    def _copied_env(self) -> gym.Env[Any, Any]:
        """A copy of the environment, which shares the means, since nobody writes to them."""
        means = None if self.bandit is None else self.bandit._means
        return copy.deepcopy(self.env, {} if means is None else {id(means): means})

    def _known_after_reset(self, env: gym.Env[Any, Any], seed: int) -> Knowledge:
        if self.bandit is None:
            return Knowledge(n_arms=int(env.action_space.n))  # type: ignore[attr-defined]
        env.reset(seed=seed)
        return known_of(env.unwrapped.means, self.bandit.world, self.bandit.law)  # type: ignore[attr-defined]


def _plays_a_rule(kind: type) -> bool:
    """Whether agents of this class do exactly what the rule of their state says; a subclass may override that."""
    from ..agents.core.protocol import Agent

    return issubclass(kind, Agent) and kind.act is Agent.act and kind.observe is Agent.observe


def _not_compiled(agent: Any, error: Exception) -> Exception:
    """Why the rule of an agent cannot be compiled, in words: what it chooses is no number, or what numba says."""
    try:
        agent.act()
    except UnplayableArmError as unplayable:
        return unplayable.in_round(1)
    reason = next((line for line in str(error).splitlines() if line and "pipeline" not in line), type(error).__name__)
    return TypeError(
        f"numba cannot compile the rule of {agent.name}: {reason}; write it with what numba knows, or override act() "
        f"and observe(), which are then played as they are"
    )


def _wrapper(env: gym.Env[Any, Any]) -> str | None:
    """The name of the first wrapper that ``gym.make`` does not add by itself."""
    layer = env
    while isinstance(layer, gym.Wrapper):
        if not isinstance(layer, OrderEnforcing | PassiveEnvChecker):
            return type(layer).__name__
        layer = layer.env
    return None


def known_of(means: npt.NDArray[np.float64], world: World, law: Law) -> Knowledge:
    """The facts about an instance; σ as stated by the world's author, if it is stated."""
    known = knowledge(means)
    stated = world.lipschitz
    return replace(known, lipschitz=known.lipschitz if stated is None else stated, subgaussian=law.subgaussian)


def without_arrays(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters without arrays, because one array per run would fill the memory."""
    return {name: value for name, value in parameters.items() if not isinstance(value, np.ndarray)}
