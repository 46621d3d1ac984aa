"""Bad input to the environment: a clear error, before anything runs."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, NameNotFound, ResetNeeded

from ns_mab_gym.envs import NSBanditEnv


def begun(**kwargs):
    env = NSBanditEnv(**({"horizon": 5} | kwargs))
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(
    ("kwargs", "error", "words"),
    [
        ({"n_arms": 5}, TypeError, "world 'abrupt' has no parameter 'n_arms'; it takes horizon"),
        (
            {"reward": "gaussian", "sd": 0.3},
            TypeError,
            "world 'abrupt' has no parameter 'sd'; .*; and reward law 'gaussian' has no parameter 'sd'; it takes scale",
        ),
        (
            {"reward": "gaussian", "scal": 0.3},
            TypeError,
            r"^reward law 'gaussian' has no parameter 'scal'; did you mean 'scale'\? it takes scale",
        ),
        (  # nearer to scale than to the world's changes
            {"world": "piecewise", "reward": "gaussian", "scael": 0.3},
            TypeError,
            r"^reward law 'gaussian' has no parameter 'scael'; did you mean 'scale'\? it takes scale",
        ),
        (
            {"world": "piecewise", "reward": "gaussian", "n_amrs": 3},
            TypeError,
            r"^world 'piecewise' has no parameter 'n_amrs'; did you mean 'n_arms'\? it takes [\w, ]+ \([^)]*\)(?!;)",
        ),
        ({"world": "smoth"}, ValueError, r"unknown world 'smoth'; did you mean 'smooth'\?"),
        ({"reward": "gausian"}, ValueError, r"unknown reward law 'gausian'; did you mean 'gaussian'\?"),
        ({"reward": 3}, ValueError, "unknown reward law 3; choose one of 'bernoulli', 'gaussian', 'beta'"),
        ({"reward": "gaussian", "scale": 0}, ValueError, "scale must be a finite number above 0, got 0"),
        ({"scale": 0.5}, TypeError, "reward law 'bernoulli' has no parameter 'scale'; it takes none"),
        (
            {"world": "stationary", "mu": [0.5, 1.5]},
            ValueError,
            r"bernoulli rewards need means in \[0, 1\], got means from 0.5 to 1.5; rescale them, or use reward='gau",
        ),
        ({"world": "stationary", "mu": [-0.1, 0.5], "reward": "beta"}, ValueError, r"beta rewards need means in"),
    ],
)
def test_bad_arguments(kwargs, error, words):
    with pytest.raises(error, match=words):
        NSBanditEnv(**kwargs)
    with pytest.raises(error, match=words):
        gym.make("NSBandit-v0", **kwargs)


def test_an_unknown_id_names_the_nearest_and_a_render_mode_all():
    with pytest.raises(ValueError, match="unknown render mode 'film'; choose one of 'ansi', 'rgb_array'"):
        NSBanditEnv(render_mode="film")
    with pytest.raises(ValueError, match=r"shown by gym.make\(…, render_mode=\"human\"\)"):
        NSBanditEnv(render_mode="human")
    with pytest.raises(NameNotFound, match=r"`NSBandit-Abrubt` doesn't exist\. Did you mean: `NSBandit-Abrupt`"):
        gym.make("NSBandit-Abrubt-v0")


def test_an_action_out_of_range_or_no_integer():
    env = begun()
    for action in (10, -1, 10**20, np.int64(99)):
        with pytest.raises(InvalidAction, match=f"an action must be an integer from 0 to 9, got {int(action)}"):
            env.step(action)
    for action in (1.0, np.float64(2), "3", None, [1], np.array([1]), np.array([0.5]), np.bool_(True)):
        with pytest.raises(InvalidAction, match="an action must be an integer from 0 to 9, got "):
            env.step(action)
    assert env.step(0)[4]["round"] == 1  # nothing was played


def test_a_reset_is_needed_before_the_first_step_and_after_the_last():
    with pytest.raises(ResetNeeded, match=r"no episode has begun: call reset\(\) before step\(\)"):
        NSBanditEnv(horizon=5).step(0)
    with pytest.raises(ResetNeeded, match=r"world 'piecewise' draws its means at reset: call reset\(\) first"):
        _ = NSBanditEnv("piecewise").means
    env = begun()
    assert [env.step(0)[3] for _ in range(5)] == [False] * 4 + [True]
    with pytest.raises(ResetNeeded, match=r"the episode ended with round 5: call reset\(\) before step\(\)"):
        env.step(0)
    env.reset()
    env.step(0)


@pytest.mark.parametrize(
    ("means", "words"),
    [
        (
            np.full((4, 10), 0.5),
            r"shape \(horizon, n_arms\) = \(5, 10\), got \(4, 10\); to play another shape, use gym.make",
        ),
        (np.full((5, 9), 0.5), r"got \(5, 9\)"),
        (np.full((5, 10), 1.01), r"bernoulli rewards need means in \[0, 1\], got means from 1.01 to 1.01"),
        (np.full((5, 10), np.nan), "means is NaN or infinite at round 1, arm 1"),
    ],
)
def test_bad_given_means(means, words):
    env = begun()
    with pytest.raises(ValueError, match=words):
        env.reset(options={"means": means})


def test_unknown_reset_options():
    with pytest.raises(TypeError, match=r"reset's options has no parameter 'mean'; did you mean 'means'\?"):
        begun().reset(options={"mean": 1})
