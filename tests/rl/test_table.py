"""The table in ``docs/deep-rl.md`` of what was tried with Gymnasium's wrappers and with Stable-Baselines3.

The lines of Python there are tried too. The rows of models are in ``test_observations.py`` and ``test_agent.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as gym_wrappers
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import FrameStackObservation, RecordEpisodeStatistics, TimeLimit
from gymnasium.wrappers import vector as gym_vector
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecFrameStack, VecMonitor, VecNormalize

import ns_mab_gym as nsb
from ns_mab_gym import agents, wrappers

from .conftest import ID, WORLD, Models, make, vector_env

K, HORIZON = 3, 40


def play(env: gym.Env[Any, Any]) -> list[tuple[Any, ...]]:
    env.reset(seed=0)
    steps: list[tuple[Any, ...]] = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(len(steps) % K))
    return steps


# Gymnasium's wrappers around a single environment.


def test_episodes_are_counted_and_cut_off() -> None:
    for record in (RecordEpisodeStatistics, Monitor):
        steps = play(record(make()))
        assert steps[-1][-1]["episode"]["r"] == sum(step[1] for step in steps)
        assert steps[-1][-1]["episode"]["l"] == HORIZON
    assert len(play(make(max_episode_steps=9))) == 9
    for env, rounds in ((TimeLimit(make(), 7), 7), (FrameStackObservation(make(), 4), HORIZON)):
        assert len(nsb.run_episode(env, agents.make("ts", n_arms=K), seed=0).arms) == len(play(env)) == rounds


OBSERVERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {  # what is shown after (t + 1, K + 2) seen
    "rescale": (lambda env: gym_wrappers.RescaleObservation(env, -1, 1), lambda seen: 2 * seen[-1] - 1),
    "transform": (
        lambda env: gym_wrappers.TransformObservation(env, lambda x: x / 2, env.observation_space),
        lambda seen: seen[-1] / 2,
    ),
    "flatten": (gym_wrappers.FlattenObservation, lambda seen: seen[-1]),
    "reshape": (lambda env: gym_wrappers.ReshapeObservation(env, (1, K + 2)), lambda seen: seen[-1:]),
    "frames": (lambda env: FrameStackObservation(env, 4), lambda seen: seen[-4:]),
    "time": (gym_wrappers.TimeAwareObservation, lambda seen: [*seen[-1], len(seen) - 1]),
    "normalize": (gym_wrappers.NormalizeObservation, lambda seen: (seen[-1] - seen.mean(axis=0)) / seen.std(axis=0)),
}


@pytest.mark.parametrize("kind", OBSERVERS)
def test_observation_wrappers(kind: str) -> None:
    """From round 10 on: the first rounds of frames are filled up, and the first mean begins with a guess."""
    (wrap, expected), limited = OBSERVERS[kind], make(max_episode_steps=HORIZON)
    seen = np.array([make().reset(seed=0)[0], *(step[0] for step in play(make()))])
    for t, step in enumerate(play(wrap(limited)), start=1):
        if t >= 10:
            np.testing.assert_allclose(step[0], expected(seen[: t + 1]), atol=0.01 if kind == "normalize" else 1e-6)
        assert step[3] is (t == HORIZON)


def test_what_observation_wrappers_need() -> None:
    with pytest.raises(ValueError, match="unbounded components"):
        gym_wrappers.RescaleObservation(make(reward="gaussian"), -1, 1)
    with pytest.raises(ValueError, match="TimeLimit wrapper or the spec specify a `max_episode_steps`"):
        gym_wrappers.TimeAwareObservation(make())


# Stable-Baselines3.


@pytest.mark.filterwarnings("ignore:.*not.*normalize.*")
def test_sb3_check_env_on_bare_and_wrapped_envs() -> None:
    for wrap in (lambda env: env, wrappers.WindowedStatistics, wrappers.LastRounds, wrappers.StandardizeReward):
        check_env(wrap(make()))


def test_make_vec_env_and_monitor() -> None:
    envs = make_vec_env(ID, n_envs=2, seed=0, env_kwargs=WORLD, wrapper_class=wrappers.WindowedStatistics)
    assert envs.env_is_wrapped(Monitor) == [True, True]
    model = PPO("MlpPolicy", envs, n_steps=HORIZON, batch_size=40, n_epochs=1, device="cpu").learn(2 * HORIZON)
    assert len(model.ep_info_buffer or []) == 2


def test_vec_normalize_vec_monitor_and_vec_frame_stack_around_the_adapter() -> None:
    envs = VecNormalize(VecMonitor(vector_env(3)))
    model = PPO("MlpPolicy", envs, n_steps=HORIZON, batch_size=60, n_epochs=1, device="cpu").learn(3 * HORIZON)
    assert [episode["l"] for episode in model.ep_info_buffer or []] == [HORIZON] * 3
    assert abs(float(np.mean(envs.reset()))) < 10
    for _ in range(HORIZON):
        *_, infos = envs.step(np.zeros(3, int))
    raw = np.concatenate([envs.unnormalize_obs(info["terminal_observation"])[None] for info in infos])
    np.testing.assert_allclose(raw[:, K + 1], 1.0, atol=1e-3)  # t/T at the end, which is normalised too
    frames = VecFrameStack(vector_env(2, window=None), 4)
    assert frames.reset().shape == (2, 4 * (K + 2))
    for _ in range(HORIZON):
        *_, infos = frames.step(np.zeros(2, int))
    assert infos[0]["terminal_observation"].shape == (4 * (K + 2),)


def test_evaluate_policy_on_the_adapter_and_on_a_single_env(model: Models) -> None:
    ppo = model("ppo")
    rewards, lengths = evaluate_policy(ppo, VecMonitor(vector_env(2)), n_eval_episodes=4, return_episode_rewards=True)
    assert lengths == [HORIZON] * 4
    assert all(0 <= reward <= HORIZON for reward in rewards)  # type: ignore[union-attr]
    mean, _ = evaluate_policy(ppo, Monitor(wrappers.WindowedStatistics(make(), window=10)), n_eval_episodes=2)
    assert 0 <= mean <= HORIZON  # type: ignore[operator]


def test_off_policy_learning_through_the_adapter_knows_time_limits() -> None:
    model = DQN("MlpPolicy", vector_env(2), learning_starts=10, buffer_size=1000, device="cpu", seed=0)
    model.learn(2 * HORIZON + 20)
    buffer = model.replay_buffer
    assert buffer is not None
    assert buffer.timeouts[: HORIZON + 5].sum() == 2  # both environments ran into the horizon once
    np.testing.assert_array_equal(buffer.timeouts, buffer.dones)


# Gymnasium's wrappers around the native vector environment.


def make_vec(num_envs: int = 3, **kwargs: Any) -> gym.vector.VectorEnv[Any, Any, Any]:
    return gym.make_vec(ID, num_envs=num_envs, **WORLD, **kwargs)


def vector_steps(envs: gym.vector.VectorEnv[Any, Any, Any], rounds: int = HORIZON) -> list[tuple[Any, ...]]:
    envs.reset(seed=0)
    return [envs.step(np.full(envs.num_envs, t % K)) for t in range(rounds)]


SYNC_SAME_STEP: dict[str, Any] = {
    "vectorization_mode": "sync",
    "vector_kwargs": {"autoreset_mode": AutoresetMode.SAME_STEP},
}


@pytest.mark.parametrize(
    "wrap", [gym_vector.NormalizeReward, lambda envs: gym_vector.ClipReward(envs, 0.0, 0.5)], ids=["normalize", "clip"]
)
def test_vector_reward_wrappers_change_rewards_and_leave_regret_alone(wrap: Callable[[Any], Any]) -> None:
    ours, theirs, plain = (
        vector_steps(envs) for envs in (wrap(make_vec()), wrap(make_vec(**SYNC_SAME_STEP)), make_vec())
    )
    np.testing.assert_array_equal([step[1] for step in ours], [step[1] for step in theirs])
    assert not np.array_equal([step[1] for step in ours], [step[1] for step in plain])
    for one, other in zip(ours[:-1], plain[:-1], strict=True):
        np.testing.assert_array_equal(one[-1]["regret"], other[-1]["regret"])


def test_vector_wrappers_of_infos() -> None:
    steps = vector_steps(gym_vector.RecordEpisodeStatistics(make_vec()))
    np.testing.assert_allclose(steps[-1][-1]["episode"]["r"], np.sum([step[1] for step in steps], axis=0))
    assert steps[-1][-1]["episode"]["l"].tolist() == [HORIZON] * 3
    steps, plain = vector_steps(gym_vector.DictInfoToList(make_vec())), vector_steps(make_vec())
    for (*_, infos), (*_, arrays) in zip(steps[:-1], plain[:-1], strict=True):
        for i, info in enumerate(infos):
            for key in ("round", "regret", "mu"):
                np.testing.assert_array_equal(info[key], arrays[key][i])
    assert [info["final_info"]["round"] for info in steps[-1][-1]] == [HORIZON] * 3


class CountingFrames(gym_vector.RecordVideo):
    """Notes how many frames each film has."""

    films: list[int]

    def stop_recording(self) -> None:
        self.films = [*getattr(self, "films", []), len(self.recorded_frames)]
        super().stop_recording()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*same-step")
@pytest.mark.parametrize(
    ("kind", "last"),
    [({}, False), (SYNC_SAME_STEP, False), ({"autoreset_mode": AutoresetMode.NEXT_STEP}, True)],
    ids=["native", "sync", "next step"],
)
def test_vector_record_video_has_the_last_frame_unless_same_step(
    kind: dict[str, Any], last: bool, tmp_path: Path
) -> None:
    envs = gym.make_vec(ID, num_envs=2, n_arms=K, horizon=4, render_mode="rgb_array", **kind)
    first: Any = {"episode_trigger": lambda episode: episode == 0}
    recording = CountingFrames(envs, str(tmp_path / "films"), **first, disable_logger=True)
    vector_steps(recording, 5)
    recording.close()
    assert recording.films == [1 + 4 if last else 4]  # that of the reset, and those of the rounds
    assert [file.stat().st_size > 1000 for file in tmp_path.glob("films/*.mp4")] == [True]


@pytest.mark.parametrize(
    "wrap",
    [
        gym_vector.NormalizeObservation,
        lambda envs: gym_vector.TransformObservation(envs, lambda x: x / 2),
        lambda envs: gym_vector.RescaleObservation(envs, -1, 1),
    ],
)
def test_vector_observation_wrappers_show_with_next_step_what_they_show_of_sync_vector_env(wrap: Any) -> None:
    ours = wrap(make_vec(autoreset_mode=AutoresetMode.NEXT_STEP))
    theirs = wrap(make_vec(vectorization_mode="sync", vector_kwargs={"autoreset_mode": AutoresetMode.NEXT_STEP}))
    for one, other in zip(vector_steps(ours, 2 * HORIZON + 5), vector_steps(theirs, 2 * HORIZON + 5), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
    with pytest.raises(ValueError, match="autoreset_mode"):
        wrap(make_vec())  # of SAME_STEP


def test_each_sub_environment_can_be_wrapped_by_itself() -> None:
    each = make_vec(vectorization_mode="sync", wrappers=[lambda env: gym.wrappers.RescaleObservation(env, -1, 1)])
    assert vector_steps(each)[0][0].min() == -1
