"""Runs of the engine beside the episodes of the interpreted loop, on laws that fit the agent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, theory, worlds
from ns_mab_gym.envs import NSBanditEnv

ON_BETA = ("ts", "beta-swts", "gamma-swgts", "sw-ucb", "kl-ucb", "ucb1", "rexp3", "d-ucb", "glr-klucb", "sw-lb-sda")


def is_tried(name: str, law: str) -> bool:
    """Whether an agent is tried on a law.

    Beta laws have a loop of their own, which takes seconds to compile. It differs from the other in how a reward is
    drawn, and knows nothing of the agent: some of every kind stand for all. Rewards without bounds are for agents that
    take any.
    """
    if law == "gaussian":
        return agents.kind(name).accepts == "real"
    return law != "beta" or name in ON_BETA


def fitting(name: str, law: str) -> dict[str, Any]:
    """What the agent needs to be told to play this law: nothing, or to binarize, where rewards lie in [0, 1]."""
    made = rewards.make(law)
    in_unit = made.support[0] >= 0 and made.support[1] <= 1
    fits = {"binary": made.binary, "unit": in_unit, "real": True}[agents.kind(name).accepts]
    return {} if fits else {"binarize": True}


def interpreted(
    world: worlds.World, law: str, name: str, seeds: tuple[int, int], **parameters: Any
) -> tuple[nsb.Trajectory, agents.Agent]:
    """The episode in pure Python, and the agent as it stands at its end."""
    env = NSBanditEnv(world, reward=law)
    env.reset(seed=seeds[0])
    known = replace(theory.knowledge(env.means), subgaussian=env.law.subgaussian, support=env.law.support)
    agent = agents.make(name, knowledge=known, **parameters)
    return nsb.run_episode(env, agent, seeds), agent


def assert_equal_runs(runs: nsb.Runs, r: int, played: nsb.Trajectory) -> None:
    """Arms, rewards, regret and pulls of the r-th run are those of the episode, to the last bit."""
    np.testing.assert_array_equal(runs.arms[r], played.arms)
    np.testing.assert_array_equal(runs.rewards[r], played.rewards)
    np.testing.assert_array_equal(runs.regret[r], played.regret[runs.rounds - 1])
    np.testing.assert_array_equal(runs.pulls[r], played.pulls)
    np.testing.assert_array_equal(runs.suboptimal_pulls[r], played.suboptimal_pulls)


def assert_same_runs(one: nsb.Runs, other: nsb.Runs) -> None:
    """Whatever two simulations record is equal to the last bit; how long they took and in which process may differ."""
    for field in ("rounds", "regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)
    assert one.seeds == other.seeds
    assert (one.alarms is None) == (other.alarms is None)
    for mine, theirs in zip(one.alarms or [], other.alarms or [], strict=True):
        np.testing.assert_array_equal(mine, theirs)
