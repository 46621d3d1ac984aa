"""The regret of episodes is summed and remembered, alone and in vectors, whatever the autoreset mode."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from alike import assert_alike
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ns_mab_gym import wrappers

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


def test_an_env_of_others_gets_totals() -> None:
    env = wrappers.RecordRegret(Foreign(3))
    assert env.reset()[1] == {"total_regret": 0.0, "optimal_rounds": 0}
    assert [env.step(arm)[-1]["total_regret"] for arm in (1, 0, 1)] == [0.5, 0.5, 1.0]
    assert env.regret_queue.pop() == 1.0


def test_an_env_without_regret_is_refused_with_what_it_reports() -> None:
    env = wrappers.RecordRegret(gym.make("CartPole-v1"))
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r'does not report info\["regret"\], only \[\]; this wrapper needs'):
        env.step(0)


MODES = [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [make, *(lambda n=n: Foreign(n) for n in (1, 4))])
def test_the_vector_wrapper_reports_what_wrapped_envs_report(kind: Any, mode: AutoresetMode) -> None:
    ours = wrappers.VectorRecordRegret(SyncVectorEnv([kind] * 3, autoreset_mode=mode))
    theirs = SyncVectorEnv([lambda: wrappers.RecordRegret(kind())] * 3, autoreset_mode=mode)
    assert_same(ours, theirs)


@pytest.mark.parametrize("mode", MODES)
def test_episodes_of_different_lengths_are_kept_apart(mode: AutoresetMode) -> None:
    lengths = (2, 3, 7)
    ours = wrappers.VectorRecordRegret(
        SyncVectorEnv([lambda n=n: Foreign(n) for n in lengths], autoreset_mode=mode)  # type: ignore[misc]
    )
    theirs = SyncVectorEnv([lambda n=n: wrappers.RecordRegret(Foreign(n)) for n in lengths], autoreset_mode=mode)  # type: ignore[misc]
    assert_same(ours, theirs)
    kept = [total for env in theirs.envs for total in env.regret_queue]  # type: ignore[attr-defined]
    assert sorted(ours.regret_queue) == sorted(kept) != []


def assert_same(ours: Any, theirs: Any, rounds: int = 2 * HORIZON + 9) -> None:
    assert_alike(ours.reset(seed=1)[1], theirs.reset(seed=1)[1])
    for actions in np.random.default_rng(0).integers(2, size=(rounds, 3)):
        assert_alike(ours.step(actions)[-1], theirs.step(actions)[-1])


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


def test_the_native_vector_env_is_recorded_over_episodes() -> None:
    envs = wrappers.VectorRecordRegret(gym.make_vec("NSBandit-Stationary-v0", num_envs=2, mu=MU, horizon=HORIZON))
    envs.reset(seed=0)
    for _ in range(HORIZON):
        infos = envs.step(np.array([0, 1]))[-1]
    assert infos["final_info"]["total_regret"].tolist() == [0.5 * HORIZON, 0.0]
    assert infos["final_info"]["optimal_rounds"].tolist() == [0, HORIZON]
    assert list(envs.regret_queue) == [0.5 * HORIZON, 0.0]
