"""The generic loop: act, step, observe, with any agent on any environment that has a discrete action space."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import positive_int, seed_number, shown
from ..agents.core.arms import UnplayableArmError, playable
from ..agents.core.protocol import Agent, AgentProtocol
from ..agents.parts.alarms import alarms_of, log_in

__all__ = ["Trajectory", "check_match", "check_plays", "first_action", "run_episode", "seed_pair"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
PAIR = "or give a pair, the environment's seed and the agent's"


@dataclass(frozen=True)
class Trajectory:
    """One episode.

    Attributes:
        arms: (T,) the arm of each round.
        rewards: (T,) the reward of each round.
        regret: (T,) the cumulative dynamic pseudo-regret Σ_s (μ*_s − μ_{I_s,s}); None if the environment's ``info``
            does not contain the means.
        pulls: (K,) how often each arm was played.
        suboptimal_pulls: (K,) N_{i,T}, how often each arm was played while its mean was below the best; None as above.
        alarms: (n,) the alarms of an agent with a detector, an array with the fields ``round``, ``arm`` and
            ``everything`` (see :class:`ns_mab_gym.Runs`); None for other agents.
    """

    arms: IntArray
    rewards: FloatArray
    regret: FloatArray | None
    pulls: IntArray
    suboptimal_pulls: IntArray | None
    alarms: npt.NDArray[np.void] | None = None


@lru_cache(maxsize=2**14, typed=True)  # all agents on all worlds play the same seeds
def seed_pair(seed: int, run: int = 0) -> tuple[int, int]:
    """The environment's and the agent's seed of a run: independent of each other and of all other runs."""
    words = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(2, np.uint64)
    return int(words[0] >> 1), int(words[1] >> 1)  # 63 bits, so that any table can hold them


def run_episode(
    env: gym.Env[Any, Any],
    agent: AgentProtocol,
    seed: int | tuple[int, int] | None = None,
    *,
    progress: bool = False,
) -> Trajectory:
    """Play one episode.

    Rewards that arrive late (``info["feedback"]``, see :class:`ns_mab_gym.wrappers.DelayedRewards`) are observed when
    they arrive; the agent is told which arms can be played (``info["mask"]``, see
    :class:`ns_mab_gym.wrappers.ArmAvailability`).

    Args:
        env: an environment with a discrete action space.
        agent: an object with ``reset``, ``act`` and ``observe``.
        seed: the environment's and the agent's seed, or one number from which both are derived (the first run of
            ``simulate`` with that seed); fresh ones if not given.
        progress: show a progress bar.
    """
    start = first_action(env)
    n_arms = int(env.action_space.n)  # type: ignore[attr-defined]
    check_match(env, agent)
    env_seed, agent_seed = _seeds(seed)
    observation, info = env.reset(seed=env_seed)
    agent.reset(seed=agent_seed)
    arms, rewards, gaps = array("q"), array("d"), array("d")  # lists would take four times the memory
    log = log_in(agent.state) if isinstance(agent, Agent) else None
    sounded: list[int] = []
    bar = _bar(getattr(getattr(env.unwrapped, "world", None), "horizon", None)) if progress else None
    over = False
    while not over:
        arm = _act(agent, observation, info, n_arms, len(arms) + 1)
        observation, reward, terminated, truncated, info = env.step(arm + start)
        _observe(agent, arm, float(reward), info)
        arms.append(int(arm))
        rewards.append(float(reward))
        if log is not None and int(log.rows[0, 0]) > len(sounded):
            sounded += [len(arms)] * (int(log.rows[0, 0]) - len(sounded))
        if "regret" in info:
            gaps.append(float(info["regret"]))
        elif "mu" in info:
            gaps.append(float(np.max(info["mu"]) - info["mu"][arm]))
        over = bool(terminated or truncated)
        if bar is not None:
            bar.update()
    if bar is not None:
        bar.close()
    played = _trajectory(arms, rewards, gaps, n_arms)
    if log is None:
        return played
    alarms = alarms_of(log)
    alarms["round"] = sounded[: len(alarms)]  # the agent counts rewards, of which some may arrive late
    return replace(played, alarms=alarms)


def _seeds(given: Any) -> tuple[int | None, int | None]:
    """The environment's and the agent's seed, given as a pair of them, as one number, or as None for fresh ones."""
    if isinstance(given, tuple | list) and len(given) == 2:
        return seed_number(given[0], "the environment's seed"), seed_number(given[1], "the agent's seed")
    number = positive_int("seed", given, least=0, most=None, hint=PAIR) if given is not None else None
    return (None, None) if number is None else seed_pair(number)


def check_plays(agent: Any) -> None:
    """Raise an error if this is neither an agent nor a class of agents."""
    if not all(callable(getattr(agent, method, None)) for method in ("reset", "act", "observe")):
        raise TypeError(
            f"an agent is a name, or has the methods reset, act and observe (or is a class of such), got "
            f"{shown(agent)}; ns_mab_gym.agents.names() lists the names"
        )


def check_match(env: gym.Env[Any, Any], agent: AgentProtocol) -> None:
    """Raise an error before the run if the agent cannot play this environment."""
    check_plays(agent)
    n_actions, n_arms = int(env.action_space.n), getattr(agent, "n_arms", None)  # type: ignore[attr-defined]
    if n_arms is not None and n_arms != n_actions:
        raise ValueError(f"the agent was made for {n_arms} arms, the environment has {n_actions}")
    law = getattr(env.unwrapped, "law", None)
    if law is not None and isinstance(agent, Agent):
        agent.check_rewards(law.support, law.binary)
    _check_feedback(env, agent)


def _check_feedback(env: gym.Env[Any, Any], agent: AgentProtocol) -> None:
    """Refuse agents without a rule for late rewards or closed arms, if the environment has them."""
    for trait, what in (("handles_delay", "rewards that arrive late"), ("handles_mask", "arms that cannot be played")):
        needs = {"handles_delay": "delays_rewards", "handles_mask": "masks_arms"}[trait]
        if _has(env, needs) and not getattr(agent, trait, False):
            raise ValueError(f"{getattr(agent, 'name', agent)} has no rule for {what}; use beta-swts or sw-ucb")


def _has(env: gym.Env[Any, Any], attribute: str) -> bool:
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if getattr(type(layer), attribute, False):
            return True
        layer = layer.env
    return False


def first_action(env: gym.Env[Any, Any]) -> int:
    """The first action of a discrete action space; raises an error for any other space."""
    if not isinstance(env, gym.Env):
        raise TypeError(f"an environment is what gym.make returns, got {shown(env)}")
    if not isinstance(env.action_space, gym.spaces.Discrete):
        raise TypeError(f"a bandit agent needs a Discrete action space, {env} has {env.action_space}")
    return int(env.action_space.start)


def _act(agent: AgentProtocol, observation: Any, info: dict[str, Any], n_arms: int, round_: int) -> int:
    try:
        masked = {"mask": info["mask"]} if "mask" in info else {}
        chosen = agent.act(observation, **masked)
    except UnplayableArmError as error:
        raise error.in_round(round_) from None
    return playable(getattr(agent, "name", type(agent).__name__), chosen, n_arms, round_)


def _observe(agent: AgentProtocol, arm: int, reward: float, info: dict[str, Any]) -> None:
    if "feedback" not in info:
        agent.observe(arm, reward)
        return
    for _, earlier_arm, late_reward in info["feedback"]:
        agent.observe(earlier_arm, late_reward)


def _trajectory(arms: array[int], rewards: array[float], gaps: array[float], n_arms: int) -> Trajectory:
    played = np.array(arms, dtype=np.int64)
    regret = suboptimal = None
    if len(gaps) == len(arms):
        regret = np.cumsum(gaps)
        suboptimal = np.bincount(played[np.array(gaps) > 0], minlength=n_arms)
    return Trajectory(played, np.array(rewards), regret, np.bincount(played, minlength=n_arms), suboptimal)


def _bar(total: int | None) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install 'ns-mab-gym[experiments]'") from None
    return tqdm(total=total, unit=" rounds")
