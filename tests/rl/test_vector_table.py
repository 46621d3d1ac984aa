"""The rows in ``docs/deep-rl.md`` of Gymnasium's wrappers around the native vector environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as gym_vector

from .conftest import WORLD

ID, K, HORIZON = "NSBandit-Piecewise-v0", 3, 40


def make_vec(num_envs: int = 3, **kwargs: Any) -> gym.vector.VectorEnv[Any, Any, Any]:
    return gym.make_vec(ID, num_envs=num_envs, **WORLD, **kwargs)


def vector_steps(envs: gym.vector.VectorEnv[Any, Any, Any], rounds: int = HORIZON) -> list[tuple[Any, ...]]:
    envs.reset(seed=0)
    return [envs.step(np.full(envs.num_envs, t % K)) for t in range(rounds)]


def test_vector_record_episode_statistics() -> None:
    steps = vector_steps(gym_vector.RecordEpisodeStatistics(make_vec()))
    np.testing.assert_allclose(steps[-1][-1]["episode"]["r"], np.sum([step[1] for step in steps], axis=0))
    assert steps[-1][-1]["episode"]["l"].tolist() == [HORIZON] * 3


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


def test_clipped_rewards() -> None:
    clipped, plain = (vector_steps(envs) for envs in (gym_vector.ClipReward(make_vec(), 0.0, 0.5), make_vec()))
    np.testing.assert_array_equal([step[1] for step in clipped], np.minimum([step[1] for step in plain], 0.5))


def test_vector_dict_info_to_list() -> None:
    steps, plain = vector_steps(gym_vector.DictInfoToList(make_vec())), vector_steps(make_vec())
    for (*_, infos), (*_, arrays) in zip(steps[:-1], plain[:-1], strict=True):
        for i, info in enumerate(infos):
            assert {key: info[key] for key in ("round", "regret")} == {
                key: arrays[key][i] for key in ("round", "regret")
            }
            np.testing.assert_array_equal(info["mu"], arrays["mu"][i])
    assert [info["final_info"]["round"] for info in steps[-1][-1]] == [HORIZON] * 3


class CountingFrames(gym_vector.RecordVideo):
    """Notes how many frames each film has."""

    films: list[int]

    def stop_recording(self) -> None:
        self.films = [*getattr(self, "films", []), len(self.recorded_frames)]
        super().stop_recording()


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


VECTOR_OBSERVERS = [
    gym_vector.NormalizeObservation,
    lambda envs: gym_vector.TransformObservation(envs, lambda x: x / 2),
    lambda envs: gym_vector.RescaleObservation(envs, -1, 1),
]


@pytest.mark.parametrize("wrap", VECTOR_OBSERVERS)
def test_vector_observation_wrappers_show_with_next_step_what_they_show_of_sync_vector_env(wrap: Any) -> None:
    ours = wrap(make_vec(autoreset_mode=AutoresetMode.NEXT_STEP))
    theirs = wrap(make_vec(vectorization_mode="sync", vector_kwargs={"autoreset_mode": AutoresetMode.NEXT_STEP}))
    for one, other in zip(vector_steps(ours, 2 * HORIZON + 5), vector_steps(theirs, 2 * HORIZON + 5), strict=True):
        np.testing.assert_array_equal(one[0], other[0])


@pytest.mark.parametrize("wrap", VECTOR_OBSERVERS)
def test_vector_observation_wrappers_refuse_same_step_autoreset(wrap: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="autoreset_mode"):
        wrap(make_vec())
    each = make_vec(vectorization_mode="sync", wrappers=[lambda env: gym.wrappers.RescaleObservation(env, -1, 1)])
    assert vector_steps(each)[0][0].min() == -1  # the way out: wrap each
