"""Standardised rewards, regret as a reward and records of regret, in every autoreset mode."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from alike import assert_alike
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ns_mab_gym import wrappers


def test_rewards_are_standardised_and_info_is_left_alone() -> None:
    plain, env = (gym.make("NSBandit-Abrupt-v0", horizon=500, reward="gaussian", scale=2.0) for _ in range(2))
    env = wrappers.StandardizeReward(env)
    plain.reset(seed=0)
    env.reset(seed=0)
    raw: list[Any] = []
    for t in range(500):
        observation, reward, *_, info = plain.step(t % 10)
        same_observation, standard, *_, same_info = env.step(t % 10)
        assert_alike((observation, info), (same_observation, same_info))
        raw.append(reward)
        assert t < 100 or standard == pytest.approx((reward - np.mean(raw)) / np.std(raw), abs=1e-3)


def test_the_vector_wrapper_pools_all_sub_environments() -> None:
    plain, envs = (gym.make_vec("NSBandit-Piecewise-v0", 50, horizon=200) for _ in range(2))
    envs = wrappers.VectorStandardizeReward(envs)
    plain.reset(seed=0)
    envs.reset(seed=0)
    raw = np.array([plain.step(np.zeros(50, int))[1] for _ in range(100)])
    standard = np.array([envs.step(np.zeros(50, int))[1] for _ in range(100)])
    np.testing.assert_allclose(standard[-1], (raw[-1] - raw.mean()) / raw.std(), atol=1e-3)


def test_frozen_moments_stay_as_they_were_set() -> None:
    env = wrappers.StandardizeReward(gym.make("NSBandit-Abrupt-v0"), frozen=True)
    env.standard.moments.mean, env.standard.moments.var = 0.5, 0.25
    env.reset(seed=0)
    assert {round(float(env.step(0)[1]), 3) for _ in range(50)} == {-1.0, 1.0}


def test_a_seed_gives_the_same_rewards_whatever_came_before() -> None:
    env = wrappers.StandardizeReward(gym.make("NSBandit-Abrupt-v0"))
    first, second = ([env.reset(seed=1), [env.step(0)[1] for _ in range(20)]][1] for _ in range(2))
    assert first == second


def test_steps_that_only_reset_count_for_nothing() -> None:
    kwargs = {"horizon": 6, "changes": 1, "reward": "gaussian"}
    plain = gym.make_vec("NSBandit-Piecewise-v0", 2, **kwargs)
    envs = wrappers.VectorStandardizeReward(
        gym.make_vec("NSBandit-Piecewise-v0", 2, autoreset_mode=AutoresetMode.NEXT_STEP, **kwargs)
    )
    plain.reset(seed=0)
    envs.reset(seed=0)
    raw = [plain.step(np.zeros(2, int))[1] for _ in range(12)]
    standard = [envs.step(np.zeros(2, int))[1] for _ in range(13)]
    assert standard.pop(6).tolist() == [0.0, 0.0]  # after the first episode
    for t, now in enumerate(standard[1:], start=2):
        so_far = np.array(raw[:t])
        np.testing.assert_allclose(now, (raw[t - 1] - so_far.mean()) / so_far.std(), rtol=0.02, atol=2e-3)


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


def _single_rewards(seed: int, episodes: int) -> list[list[float]]:
    env: Any = wrappers.RegretAsReward(gym.make("NSBandit-Piecewise-v0", **WORLD))
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


K, HORIZON = 3, 25
MU = [0.25, 0.75, 0.75]  # two optimal arms; differences are exact in binary


class Foreign(gym.Env[Any, Any]):
    """An environment of others: it reports regret after steps alone, and its episodes have different lengths."""

    observation_space = Box(0.0, 1.0, (1,))
    action_space = Discrete(2)

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.t += 1
        return np.zeros(1, np.float32), 0.0, self.t == self.rounds, False, {"regret": 0.5 * int(action)}


def make() -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Stationary-v0", mu=MU, horizon=HORIZON)


def test_totals_and_rounds_without_regret_are_those_counted_by_hand() -> None:
    env = wrappers.RecordRegret(make(), buffer_length=2)
    arms = np.random.default_rng(0).integers(K, size=(3, HORIZON))
    expected = 0.5 * (arms == 0).sum(axis=1)
    for episode, played in enumerate(arms):
        assert env.reset(seed=episode)[1]["optimal_rounds"] == 0
        *_, info = [env.step(arm) for arm in played][-1]
        assert info["total_regret"] == expected[episode]
        assert info["optimal_rounds"] == (played > 0).sum()
    assert list(env.regret_queue) == expected[1:].tolist()
    assert list(env.optimal_queue) == (arms[1:] > 0).mean(axis=1).tolist()


def test_an_episode_that_is_broken_off_is_not_remembered() -> None:
    env = wrappers.RecordRegret(make())
    env.reset(seed=0)
    env.step(0)
    assert env.reset()[1]["total_regret"] == 0.0
    assert env.step(0)[-1]["total_regret"] == 0.5
    assert not env.regret_queue


@pytest.mark.parametrize("wrapper", [wrappers.RecordRegret, wrappers.RegretAsReward])
def test_an_env_without_regret_is_refused_with_what_it_reports(wrapper: Any) -> None:
    env = wrapper(gym.make("CartPole-v1"))
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r'does not report info\["regret"\], only \[\]; this wrapper needs the regret'):
        env.step(0)


MODES = [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lengths", [None, (1, 1, 1), (2, 3, 7)])  # of episodes of others; None for ours
def test_the_vector_wrapper_reports_what_wrapped_envs_report(lengths: Any, mode: AutoresetMode) -> None:
    kinds: list[Any] = [make] * 3 if lengths is None else [lambda n=n: Foreign(n) for n in lengths]
    ours = wrappers.VectorRecordRegret(SyncVectorEnv(kinds, autoreset_mode=mode), 1_000)
    wrapped: list[Any] = [lambda kind=kind: wrappers.RecordRegret(kind()) for kind in kinds]
    theirs: Any = SyncVectorEnv(wrapped, autoreset_mode=mode)
    assert_alike(ours.reset(seed=1)[1], theirs.reset(seed=1)[1])
    for actions in np.random.default_rng(0).integers(2, size=(2 * HORIZON + 9, 3)):
        assert_alike(ours.step(actions)[-1], theirs.step(actions)[-1])
    assert sorted(ours.regret_queue) == sorted(total for env in theirs.envs for total in env.regret_queue) != []


def test_with_resets_by_hand_only_those_that_are_reset_begin_again() -> None:
    envs = wrappers.VectorRecordRegret(
        SyncVectorEnv([lambda: Foreign(2), lambda: Foreign(9)], autoreset_mode=AutoresetMode.DISABLED)
    )
    envs.reset()
    for _ in range(2):
        infos = envs.step(np.ones(2, int))[-1]
    assert infos["total_regret"].tolist() == [1.0, 1.0]
    assert list(envs.regret_queue) == [1.0]
    envs.reset(options={"reset_mask": np.array([True, False])})
    assert envs.step(np.ones(2, int))[-1]["total_regret"].tolist() == [0.5, 1.5]
