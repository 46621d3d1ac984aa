"""The generic loop: act, step, observe, with any agent on any environment that has a discrete action space."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import UnplayableArmError, playable, positive_int, seed_number, shown
from ..agents.core.protocol import Agent, AgentProtocol
from ..agents.parts.alarms import alarms_of, log_in
from ..runs import seed_pair
from ..specs import check_plays

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# The mark of a wrapper, the trait of an agent that can play it, and the feedback in words.
FEEDBACK = (
    ("delays_rewards", "handles_delay", "rewards that arrive late"),
    ("masks_arms", "handles_mask", "arms that cannot be played"),
)
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
    if isinstance(seed, tuple | list) and len(seed) == 2:
        env_seed, agent_seed = seed_number(seed[0], "the environment's seed"), seed_number(seed[1], "the agent's seed")
    elif seed is None:
        env_seed = agent_seed = None
    else:
        env_seed, agent_seed = seed_pair(positive_int("seed", seed, least=0, most=None, hint=PAIR))
    observation, info = env.reset(seed=env_seed)
    agent.reset(seed=agent_seed)
    arms, rewards, gaps = array("q"), array("d"), array("d")  # lists would take four times the memory
    log = log_in(agent.state) if isinstance(agent, Agent) else None
    sounded: list[int] = []
    bar = None
    if progress:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("a progress bar needs tqdm: pip install 'ns-mab-gym[experiments]'") from None
        bar = tqdm(total=getattr(getattr(env.unwrapped, "world", None), "horizon", None), unit=" rounds")
    name = getattr(agent, "name", type(agent).__name__)
    over = False
    while not over:
        try:
            chosen = agent.act(observation, **({"mask": info["mask"]} if "mask" in info else {}))
        except UnplayableArmError as error:
            raise error.in_round(len(arms) + 1) from None
        arm = playable(name, chosen, n_arms, len(arms) + 1)
        observation, reward, terminated, truncated, info = env.step(arm + start)
        for _, earlier_arm, late_reward in info.get("feedback", ((0, arm, float(reward)),)):
            agent.observe(earlier_arm, late_reward)
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
    taken = np.array(arms, dtype=np.int64)
    regret = suboptimal = None
    if len(gaps) == len(arms):
        regret = np.cumsum(gaps)
        suboptimal = np.bincount(taken[np.array(gaps) > 0], minlength=n_arms)
    played = Trajectory(taken, np.array(rewards), regret, np.bincount(taken, minlength=n_arms), suboptimal)
    if log is None:
        return played
    alarms = alarms_of(log)
    alarms["round"] = sounded[: len(alarms)]  # the agent counts rewards, of which some may arrive late
    return replace(played, alarms=alarms)


def check_match(env: gym.Env[Any, Any], agent: AgentProtocol) -> None:
    """Raise an error before the run if the agent cannot play this environment."""
    check_plays(agent)
    n_actions, n_arms = int(env.action_space.n), getattr(agent, "n_arms", None)  # type: ignore[attr-defined]
    if n_arms is not None and n_arms != n_actions:
        raise ValueError(f"the agent was made for {n_arms} arms, the environment has {n_actions}")
    law = getattr(env.unwrapped, "law", None)
    if law is not None and isinstance(agent, Agent):
        agent.check_rewards(law.support, law.binary)
    layer: Any = env
    while isinstance(layer, gym.Wrapper):  # late rewards and closed arms need a rule
        for needs, trait, what in FEEDBACK:
            if getattr(type(layer), needs, False) and not getattr(agent, trait, False):
                raise ValueError(f"{getattr(agent, 'name', agent)} has no rule for {what}; use beta-swts or sw-ucb")
        layer = layer.env


def first_action(env: gym.Env[Any, Any]) -> int:
    """Return the first action of a discrete action space; raises an error for any other space."""
    if not isinstance(env, gym.Env):
        raise TypeError(f"an environment is what gym.make returns, got {shown(env)}")
    if not isinstance(env.action_space, gym.spaces.Discrete):
        raise TypeError(f"a bandit agent needs a Discrete action space, {env} has {env.action_space}")
    return int(env.action_space.start)
