"""The negative regret as the reward: exact, in every autoreset mode, with everything else as it was."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from ns_mab_gym import wrappers

WORLD: dict[str, Any] = {"n_arms": 3, "horizon": 7, "changes": 1}


def test_the_reward_is_the_mean_of_the_arm_minus_that_of_the_best() -> None:
    plain, env = (gym.make("NSBandit-Piecewise-v0", **WORLD) for _ in range(2))
    env = wrappers.RegretAsReward(env)
    plain.reset(seed=3)
    env.reset(seed=3)
    means = plain.unwrapped.means  # type: ignore[attr-defined]
    for t in range(7):
        observation, _, _, over, info = plain.step(t % 3)
        shown, reward, _, also_over, same = env.step(t % 3)
        assert reward == means[t, t % 3] - means[t].max()
        assert type(reward) is float
        np.testing.assert_array_equal(observation, shown)  # which holds the reward that was drawn
        assert over == also_over
        assert info.keys() == same.keys()
        assert info["regret"] == same["regret"]


def _single_rewards(seed: int, episodes: int, wrap: Any = wrappers.RegretAsReward) -> list[list[float]]:
    env = wrap(gym.make("NSBandit-Piecewise-v0", **WORLD))
    env.reset(seed=seed)
    rewards: list[list[float]] = []
    for _ in range(episodes):
        rewards.append([env.step(t % 3)[1] for t in range(7)])
        env.reset()
    return rewards


@pytest.mark.parametrize("wrap_single", [False, True])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_every_autoreset_mode_gives_what_single_environments_give(mode: AutoresetMode, wrap_single: bool) -> None:
    if wrap_single:  # Gymnasium's own vector environments, whose infos are put together from single ones
        envs: Any = gym.make_vec("NSBandit-Piecewise-v0", 2, "sync", vector_kwargs={"autoreset_mode": mode}, **WORLD)
    else:
        envs = gym.make_vec("NSBandit-Piecewise-v0", 2, autoreset_mode=mode, **WORLD)
    envs = wrappers.VectorRegretAsReward(envs)
    envs.reset(seed=11)
    expected = [_single_rewards(11 + i, 3) for i in range(2)]
    for episode in range(3):
        for t in range(7):
            rewards, _, over, _ = envs.step(np.full(2, t % 3))[1:]
            assert rewards.tolist() == [expected[i][episode][t] for i in range(2)]
            assert over.tolist() == [t == 6] * 2
        if mode is AutoresetMode.NEXT_STEP:
            assert envs.step(np.zeros(2, int))[1].tolist() == [0.0, 0.0]
        elif mode is AutoresetMode.DISABLED:
            envs.reset(options={"reset_mask": np.ones(2, np.bool_)})


def test_staggered_environments_end_one_by_one() -> None:
    """Where one ends and the others go on, each gets the regret of its own round."""
    kwargs = {**WORLD, "stagger": True}
    plain, envs = (gym.make_vec("NSBandit-Piecewise-v0", 7, **kwargs) for _ in range(2))
    envs = wrappers.VectorRegretAsReward(envs)
    plain.reset(seed=5)
    envs.reset(seed=5)
    for t in range(20):
        arms = np.full(7, t % 3)
        *_, infos = plain.step(arms)
        rewards = envs.step(arms)[1]
        ended = infos["_final_info"] if "final_info" in infos else np.zeros(7, np.bool_)
        assert ended.sum() <= 1
        for i in range(7):
            source = infos["final_info"] if ended[i] else infos
            assert rewards[i] == -source["regret"][i]


def test_a_learner_sees_the_same_statistics_whichever_side_they_are_on() -> None:
    inside = wrappers.RegretAsReward(wrappers.WindowedStatistics(gym.make("NSBandit-Piecewise-v0", **WORLD), window=4))
    around = wrappers.WindowedStatistics(wrappers.RegretAsReward(gym.make("NSBandit-Piecewise-v0", **WORLD)), window=4)
    inside.reset(seed=0)
    around.reset(seed=0)
    for t in range(7):
        one, other = inside.step(t % 3), around.step(t % 3)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1] == other[1]


def test_an_environment_without_regret_is_refused_in_its_own_words() -> None:
    env = wrappers.RegretAsReward(gym.make("CartPole-v1"))
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"does not report info\[\"regret\"\].*needs the regret of each round"):
        env.step(0)
