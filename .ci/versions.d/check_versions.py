"""Run by the Python of an environment that holds the wheel: do environments and agents work with its versions?

Steps an environment and its vector twin, and plays agents compiled and interpreted, which must agree to the bit: every
agent with ``check_versions.py all``, the paper's own and one with a detector with ``check_versions.py some``.
"""

from __future__ import annotations

import sys
import warnings

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env

import ns_mab_gym as nsb
from ns_mab_gym import agents, theory
from ns_mab_gym.envs import ENV_IDS, NSBanditEnv

WORLD, HORIZON = "NSBandit-Abrupt-v0", 1_000
SOME = [*agents.names()[:8], "glr-ts"]


def check_envs() -> None:
    """Every id passes Gymnasium's own checks, and a vector of environments steps."""
    with warnings.catch_warnings():  # Gaussian rewards have no bounds, of which Gymnasium warns
        warnings.filterwarnings("ignore", ".*Box observation space (minimum|maximum) value is")
        for env_id in ENV_IDS:
            check_env(gym.make(env_id, horizon=100).unwrapped, skip_render_check=True)
    vector = gym.make_vec(WORLD, num_envs=3, horizon=HORIZON)
    vector.reset(seed=0)
    _, rewards, _, _, infos = vector.step(np.array([0, 1, 2]))
    assert rewards.shape == (3,)
    assert infos["mu"].shape == (3, 10)


def check_integers() -> None:
    """NumPy's truth values are no arms: until 2.3 NumPy itself takes them for integers, so only old versions tell."""
    env = NSBanditEnv(horizon=10)
    env.reset(seed=0)
    try:
        env.step(np.True_)
    except gym.error.InvalidAction:
        return
    raise AssertionError("np.True_ was played as an arm")


def check_agent(name: str) -> None:
    """One run, compiled, equals the episode that the interpreted loop plays with the same seeds."""
    runs = nsb.simulate(WORLD, name, runs=1, seed=3, env_kwargs={"horizon": HORIZON}, record="all")
    assert runs.arms is not None
    assert runs.rewards is not None
    env = gym.make(WORLD, horizon=HORIZON)
    assert isinstance(env.unwrapped, NSBanditEnv)
    agent = agents.make(name, knowledge=theory.knowledge(env.unwrapped.means))
    played = nsb.run_episode(env, agent, seed=runs.seeds[0])
    assert played.regret is not None
    np.testing.assert_array_equal(runs.arms[0], played.arms, err_msg=name)
    np.testing.assert_array_equal(runs.rewards[0], played.rewards, err_msg=name)
    np.testing.assert_array_equal(runs.regret[0], played.regret[runs.rounds - 1], err_msg=name)


if __name__ == "__main__":
    assert "site-packages" in nsb.__file__, f"not the installed package: {nsb.__file__}"
    check_envs()
    check_integers()
    for each in agents.names() if sys.argv[1] == "all" else SOME:
        check_agent(each)
