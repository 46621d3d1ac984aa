"""A pairing of an agent and an environment, which plays single runs, and the record that its runs are written into."""

from __future__ import annotations

import copy
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from ..agents.core.arguments import UnplayableArmError, check_memory, choice, positive_int, shown, spelled_arm
from ..agents.core.knowledge import Knowledge
from ..agents.core.protocol import Agent
from ..agents.core.registry import check_parameters, kind, make
from ..envs.bandit import NSBanditEnv, drawn_means, streams
from ..means import Floats, knowledge
from ..rewards import Law
from ..runs import POINTS, Runs, evenly_spaced
from ..worlds.world import World
from .episode import Trajectory, check_match, run_episode

RUN_BYTES = 400  # of the seeds and parameters of a run
NO_LOG = np.zeros(0, np.void)  # stands for the alarms of an agent that has no log of them


@dataclass(frozen=True)
class Recording:
    """The part of each run that is kept.

    Attributes:
        what: "curve", "regret" or "all", see :func:`ns_mab_gym.simulate`.
        rounds: the rounds, counted from 1, after which the regret is kept, besides the last; ``what`` chooses if None.
    """

    what: str
    rounds: Sequence[int] | None

    def __post_init__(self) -> None:
        """Check the arguments."""
        choice("record", self.what, ("curve", "regret", "all"))
        if self.rounds is None:
            return
        if not isinstance(self.rounds, Collection) or getattr(self.rounds, "ndim", 1) != 1:
            raise TypeError(
                f"rounds must be a list of numbers of rounds, such as [100, 1000], got {shown(self.rounds)}"
            )
        if self.what == "regret":
            raise ValueError(
                'record="regret" keeps the regret after every round, and rounds= chooses some of them; '
                'leave out one of the two (record="curve" goes with rounds=)'
            )

    def blank(self, horizon: int, n_arms: int, seeds: list[tuple[int, int]]) -> Runs:
        """Return a record of zeros for runs with these seeds."""
        self.ensure_room(len(seeds), horizon, n_arms)
        if self.what == "regret":
            rounds = np.arange(1, horizon + 1)
        elif self.rounds is None:
            rounds = evenly_spaced(horizon)
        else:
            rounds = np.array(sorted({positive_int("each of rounds", each) for each in self.rounds} | {horizon}))
            if rounds[-1] > horizon:
                raise ValueError(f"rounds must be between 1 and the horizon, {horizon:,}; got {rounds[-1]:,}")
        runs, singles = len(seeds), self.what == "all"
        return Runs(
            rounds=rounds,
            regret=np.zeros((runs, len(rounds))),
            pulls=np.zeros((runs, n_arms), np.int64),
            suboptimal_pulls=np.zeros((runs, n_arms), np.int64),
            seeds=seeds,
            parameters=[{} for _ in seeds],
            seconds=0.0,
            arms=np.zeros((runs, horizon), np.int64) if singles else None,
            rewards=np.zeros((runs, horizon)) if singles else None,
            alarms=[NO_LOG] * runs,
        )

    def ensure_room(self, runs: int, horizon: int | None = None, n_arms: int = 2) -> None:
        """Raise a ``ValueError`` if there is not enough memory for the record.

        Args:
            runs: the number of runs.
            horizon: their rounds; None if that is not known yet.
            n_arms: their arms; at least two.
        """
        rounds = horizon or 1
        asked = POINTS if self.rounds is None else len(self.rounds)
        noted = rounds if self.what == "regret" else min(rounds, asked)
        each = RUN_BYTES + 16 * n_arms + 8 * noted + (16 * rounds if self.what == "all" else 0)
        length = "" if horizon is None else f" of {horizon:,} rounds"
        instead = "play" if self.what == "curve" else 'use record="curve", or play'
        check_memory(
            runs * each,
            f'record="{self.what}" of {runs:,} runs{length}',
            f"{instead} fewer runs at once, which blocks with first_run= join to many",
        )


def note_alarms(runs: Runs, run: int, alarms: npt.NDArray[np.void] | None) -> None:
    """Keep the alarms of a run, if its agent logs any."""
    if runs.alarms is not None and alarms is not None:
        runs.alarms[run] = alarms


def finished(runs: Runs, seconds: float) -> Runs:
    """Return the record of all runs with the time they took; without alarms if the agent logs none."""
    logged = runs.alarms is not None and runs.alarms[0] is not NO_LOG
    return replace(runs, seconds=seconds, alarms=runs.alarms if logged else None)


class Pairing:
    """An agent and an environment, and what all of their runs share.

    Args:
        env: the environment, wrapped as the agent needs it.
        agent: an agent, its class, or a name.
        agent_kwargs: parameters for an agent that is still to be made.
    """

    def __init__(self, env: gym.Env[Any, Any], agent: Any, agent_kwargs: dict[str, Any]) -> None:
        self.env, self.agent, self.agent_kwargs = env, agent, agent_kwargs
        self.to_be_made = isinstance(agent, str | type)
        self.fixed: tuple[Floats, Knowledge] | None = None
        self.best: Floats | None = None  # the largest mean of each round, if the world is fixed
        self.spare: list[Any] = []  # an agent that was made for a check, and has not played yet
        bandit = env.unwrapped
        self.bandit = bandit if isinstance(bandit, NSBanditEnv) else None
        if self.to_be_made:
            check_parameters(f"agent {agent!r}", self.kind, agent_kwargs)
        elif agent_kwargs:
            raise TypeError("agent_kwargs go with an agent given by name; set the parameters of the object instead")
        if self.bandit is not None and not self.bandit.world.random:
            world, law = self.bandit.world, self.bandit.law
            means = self.bandit.means
            if self.bandit._given:  # the means came with a reset's options; the next reset drops them
                means = drawn_means(world, law)
            self.fixed = means, known_of(means, world, law)
            made = self.agent_for(self.fixed[1])
            check_match(env, made)
            self.spare += [made] if self._plays_a_rule else []
        elif not self.to_be_made:
            check_match(env, agent)

    @property
    def kind(self) -> type:
        """The agent's class."""
        if isinstance(self.agent, str):
            return kind(self.agent)
        return self.agent if isinstance(self.agent, type) else type(self.agent)

    @property
    def _plays_a_rule(self) -> bool:
        """True if the agent does exactly what the rule of its state says; a subclass may override that."""
        found = self.kind
        return issubclass(found, Agent) and found.act is Agent.act and found.observe is Agent.observe

    def why_generic(self) -> str | None:
        """Return the reason why the compiled loop cannot play this pairing; None if it can."""
        from .loop import law_code

        if self.bandit is None or type(self.bandit) is not NSBanditEnv:
            return f"{self.env} is not one of the suite's own environments"
        layer = self.env
        while isinstance(layer, OrderEnforcing | PassiveEnvChecker):  # which ``gym.make`` adds by itself
            layer = layer.env
        if isinstance(layer, gym.Wrapper):
            return f"the environment is wrapped in {type(layer).__name__}"
        if law_code(self.bandit.law) is None:
            return f"the reward law {self.bandit.law!r} has no compiled form"
        return None if self._plays_a_rule else f"{shown(self.agent)} has no compiled form"

    def portable(self) -> Pairing:
        """Return the same pairing with the agent's class instead of its name, which another process may not know."""
        sent = copy.copy(self)
        sent.spare = []
        if self.to_be_made:
            sent.agent = self.kind
        return sent

    def instance(self, seed: int) -> tuple[Floats, Knowledge, np.random.Generator]:
        """Return the means after ``reset(seed=seed)``, their facts, and the luck's generator."""
        assert self.bandit is not None
        means_rng, luck = streams(seeding.np_random(seed)[0])
        if self.fixed is not None:
            return *self.fixed, luck
        world, law = self.bandit.world, self.bandit.law
        means = drawn_means(world, law, means_rng)
        return means, known_of(means, world, law), luck

    def agent_for(self, known: Knowledge) -> Any:
        """Return a new agent, tuned from the knowledge if it was given by name."""
        if self.to_be_made:
            return make(self.agent, knowledge=known, **self.agent_kwargs)
        return self.agent.clone() if hasattr(self.agent, "clone") else copy.deepcopy(self.agent)

    def play_compiled(self, runs: Runs, run: int) -> float:
        """Play one run in the compiled loop, into its rows of the record; returns the seconds spent in the loop."""
        from numba.core.errors import NumbaError

        from ..agents.core.kernel import states_in
        from ..agents.parts.alarms import alarms_in
        from .loop import best_means, law_code, loop_for

        assert self.bandit is not None
        env_seed, agent_seed = runs.seeds[run]
        means, known, luck = self.instance(env_seed)
        best = self.best
        if best is None:
            best = np.empty(len(means))
            best_means(means, best)
            if self.fixed is not None:
                self.best = best
        try:
            agent = self.spare.pop()  # which one thread gets
        except IndexError:
            agent = self.agent_for(known)
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
        means = None if self.bandit is None else self.bandit._means  # shared, since nobody writes to them
        env: Any = copy.deepcopy(self.env, {} if means is None else {id(means): means})
        known = Knowledge(n_arms=int(env.action_space.n))
        if self.bandit is not None:
            env.reset(seed=seeds[0])
            known = known_of(env.unwrapped.means, self.bandit.world, self.bandit.law)
        agent = self.agent_for(known)
        played = run_episode(env, agent, seeds)
        if played.regret is None or played.suboptimal_pulls is None:
            raise ValueError(f"{env} does not tell its means: its info needs 'mu' for simulate to account regret")
        return played, without_arrays(getattr(agent, "parameters", {}))


def _not_compiled(agent: Any, error: Exception) -> Exception:
    """Return the error of a rule that cannot be compiled: the choice is no number, or the reason that numba gives."""
    try:
        agent.act()
    except UnplayableArmError as unplayable:
        return unplayable.in_round(1)
    reason = next((line for line in str(error).splitlines() if line and "pipeline" not in line), type(error).__name__)
    return TypeError(
        f"numba cannot compile the rule of {agent.name}: {reason}; write it with what numba knows, or override act() "
        f"and observe(), which are then played as they are"
    )


def known_of(means: Floats, world: World, law: Law) -> Knowledge:
    """Return the facts about an instance; σ as stated by the world's author, if it is stated."""
    known = knowledge(means)
    stated = world.lipschitz
    return replace(known, lipschitz=known.lipschitz if stated is None else stated, subgaussian=law.subgaussian)


def without_arrays(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without arrays, because one array per run would fill the memory."""
    return {name: value for name, value in parameters.items() if not isinstance(value, np.ndarray)}
