"""Agents of the zoo with late rewards and closed arms: they never play a closed arm, others refuse."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, wrappers

HORIZON, RUNS = 500, 2


def make() -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Abrupt-v0", horizon=HORIZON)


def final_regrets(env: gym.Env[Any, Any], name: str) -> Any:
    """The regret of each run; run r has the same luck in every environment."""
    agent = agents.make(name, n_arms=10, horizon=HORIZON, window=300)
    played = [nsb.run_episode(env, agent, seed=(r, r)).regret for r in range(RUNS)]
    return np.array([regret[-1] for regret in played if regret is not None])


@pytest.mark.parametrize("name", ["beta-swts", "sw-ucb"])
def test_no_delay_is_the_undelayed_run(name: str) -> None:
    prompt, wrapped = final_regrets(make(), name), final_regrets(wrappers.DelayedRewards(make(), delay=0), name)
    np.testing.assert_array_equal(prompt, wrapped)


@pytest.mark.parametrize("name", ["beta-swts", "sw-ucb", "ts", "gamma-swgts", "random"])
def test_no_arm_is_played_while_closed(name: str) -> None:
    env = wrappers.ArmAvailability(make(), probability=0.5)  # raises if a closed arm is played
    agent = agents.make(name, n_arms=10, horizon=HORIZON)
    played = nsb.run_episode(env, agent, seed=(3, 4))
    _, info = env.reset(seed=3)
    for arm in played.arms:
        assert info["mask"][arm]
        *_, info = env.step(int(arm))
    assert played.regret is not None
    assert (np.diff(played.regret) >= 0).all()


@pytest.mark.parametrize("name", ["beta-swts", "sw-ucb"])
def test_all_arms_open_is_the_unmasked_run(name: str) -> None:
    prompt = final_regrets(make(), name)
    np.testing.assert_array_equal(prompt, final_regrets(wrappers.ArmAvailability(make(), probability=1.0), name))


def test_late_rewards_and_closed_arms_together_in_either_order() -> None:
    agent = agents.make("beta-swts", n_arms=10, window=300)
    inside = wrappers.ArmAvailability(wrappers.DelayedRewards(make(), (0, 40)), probability=0.5)
    outside = wrappers.DelayedRewards(wrappers.ArmAvailability(make(), probability=0.5), (0, 40))
    one, other = (nsb.run_episode(env, agent, seed=(1, 2)) for env in (inside, outside))
    np.testing.assert_array_equal(one.arms, other.arms)
    np.testing.assert_array_equal(one.regret, other.regret)


def test_an_agent_without_a_rule_refuses_before_the_run() -> None:
    class Stubborn:
        def reset(self, seed: int | None = None) -> None: ...

        def act(self, observation: Any = None) -> int:
            return 0

        def observe(self, arm: int, reward: float) -> None: ...

    for env, words in (
        (wrappers.DelayedRewards(make()), "no rule for rewards that arrive late"),
        (wrappers.WindowedStatistics(wrappers.ArmAvailability(make())), "no rule for arms that cannot be played"),
    ):
        with pytest.raises(ValueError, match=words):
            nsb.run_episode(env, Stubborn(), seed=0)
