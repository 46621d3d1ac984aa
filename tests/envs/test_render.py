"""The line, the picture and the film of an episode."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import RecordVideo

from ns_mab_gym.envs import NSBanditEnv


def test_ansi_is_one_line_a_round_with_the_papers_numbers():
    env = NSBanditEnv("stationary", mu=[1.0, 0.25, 0.0], horizon=1_000, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "round 0 of 1,000: world 'stationary', 3 arms, Bernoulli()"
    env.step(0)
    assert env.render() == (
        "round 1: arm 1 (action 0), mean 1.000, gave 1; best was arm 1 (action 0), mean 1.000; regret 0.000, 0.0 so far"
    )
    env.step(2)
    assert env.render() == (
        "round 2: arm 3 (action 2), mean 0.000, gave 0; best was arm 1 (action 0), mean 1.000; regret 1.000, 1.0 so far"
    )


@pytest.mark.parametrize("rounds", [0, 1, 2, 900])
@pytest.mark.parametrize("world", ["abrupt", "random-walk"])
def test_rgb_array_is_a_picture_that_moves(world, rounds):
    env = NSBanditEnv(world, horizon=1_000, render_mode="rgb_array")
    env.reset(seed=0)
    empty = env.render()
    for t in range(rounds):
        env.step(t % 10)
    frame = env.render()
    assert frame.shape == (640, 960, 3)
    assert frame.dtype == np.uint8
    assert np.array_equal(frame, empty) == (rounds == 0)
    assert frame.flags.writeable


def test_means_beyond_the_unit_interval_stay_inside_the_picture():
    env = NSBanditEnv("stationary", mu=[-3.0, 40.0], reward="gaussian", horizon=10, render_mode="rgb_array")
    env.reset(seed=0)
    env.step(1)
    env.step(1)
    assert (env.render()[:, :40] < 100).any()  # the axis labels


def test_record_video_writes_a_film(tmp_path):
    env = gym.make("NSBandit-Abrupt-v0", horizon=8, render_mode="rgb_array")
    env = RecordVideo(env, str(tmp_path / "films"), disable_logger=True)
    env.reset(seed=0)
    for _ in range(8):
        env.step(0)
    env.close()
    (film,) = tmp_path.glob("films/*.mp4")
    assert film.stat().st_size > 1_000


def test_render_without_a_mode_says_what_to_do():
    env = NSBanditEnv(horizon=5)
    env.reset()
    with pytest.warns(UserWarning, match='render_mode="ansi"'):
        assert env.render() is None


def test_render_before_reset():
    with pytest.raises(ResetNeeded, match=r"nothing to render: call reset\(\) first"):
        NSBanditEnv(horizon=5, render_mode="ansi").render()
