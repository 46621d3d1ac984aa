"""However a world is named, its own parameters go to it and the others to the environment; tables of means too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ns_mab_gym import rewards, worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.specs import as_agent, as_env, names_a_world

OTHERS = {"reward": "gaussian", "scale": 2.0}
OWN = {"horizon": 30, "sigma": 1e-3}
WORLD = worlds.Smooth(**OWN)


@pytest.mark.parametrize(
    ("env", "given"),
    [
        (worlds.Smooth, OWN | OTHERS),
        ("smooth", OWN | OTHERS),
        ("ns_mab_gym.worlds:Smooth", OWN | OTHERS),
        ("NSBandit-Smooth-v0", OWN | OTHERS),
        (WORLD, OTHERS),
    ],
    ids=["class", "name", "path", "id", "object"],
)
def test_every_way_to_name_a_world_gives_the_same_environment(env: Any, given: dict[str, Any]) -> None:
    made = as_env(env, given).unwrapped
    assert isinstance(made, NSBanditEnv)
    assert made.world == WORLD
    assert made.law == rewards.Gaussian(scale=2.0)


@pytest.mark.parametrize("env", [worlds.Smooth, "smooth", WORLD])
def test_a_parameter_that_neither_takes_is_named(env: Any) -> None:
    with pytest.raises(TypeError, match="has no parameter 'sigmma'"):
        as_env(env, {"sigmma": 0.1})


def test_an_environment_is_returned_as_it_is_and_takes_no_arguments() -> None:
    env = gym.make("NSBandit-Abrupt-v0", horizon=5)
    assert as_env(env, {}) is env
    with pytest.raises(TypeError, match="this environment is already made"):
        as_env(env, {"horizon": 6})


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ("smooth", True),
        ("own_module:Tide", True),
        ("NSBandit-Smooth-v0", False),
        ("ns_mab_gym:NSBandit-Smooth-v0", False),
        ("tide", False),
        (worlds.Smooth, False),
    ],
)
def test_what_names_a_world(env: Any, expected: bool) -> None:
    assert names_a_world(env) is expected


def test_an_id_that_looks_like_a_world_is_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(gym.registry, "smooth", gym.spec("NSBandit-Abrupt-v0"))
    assert not names_a_world("smooth")


def test_agents_keep_their_parameters_and_saved_models_need_a_path() -> None:
    parameters = {"window": 5}
    agent, kept = as_agent("sw-ucb", parameters)
    assert (agent, kept) == ("sw-ucb", {"window": 5})
    assert kept is not parameters
    with pytest.raises(ValueError, match=r"agent 'sb3' needs path=, the file of a saved model"):
        as_agent("sb3", {"algo": "ppo"})
    with pytest.raises(TypeError, match=r"agent 'sb3' has no parameter 'pth'; did you mean 'path'"):
        as_agent("sb3", {"pth": "ppo.zip"})


MEANS = np.array([[0.1, 0.9], [0.8, 0.2], [0.8, 0.3]])


@pytest.mark.parametrize(
    ("env", "kwargs", "error", "words"),
    [
        ([], {}, TypeError, r"env must be .*; got \[\]"),
        ([[0.1, np.nan]], {}, ValueError, "env is NaN or infinite at round 1, arm 2"),
        ([["a", "b"]], {}, TypeError, "env must be .* array of means"),
        (["smooth", "rising"], {"horizon": 5}, TypeError, r"env must be .*; got \['smooth', 'rising'\]"),
        (MEANS * 2, {}, ValueError, r"bernoulli rewards need means in \[0, 1\], got means from"),
        (MEANS, {"horizon": 9}, ValueError, "horizon is 9 but the table has 3; leave horizon out"),
        (MEANS, {"sigma": 9}, TypeError, "has no parameter 'sigma'"),
        ("nowhere.csv", {}, FileNotFoundError, "no file of means at 'nowhere.csv'"),
        (Path("nowhere"), {}, ValueError, "unknown kind of table ''; choose one of '.csv'"),
        (Path(__file__), {}, ValueError, "unknown kind of table '.py'"),
        (3, {}, TypeError, r"env must be an id .* \(.csv, .parquet, .npz\), .*; got 3"),
    ],
)
def test_what_is_no_table_is_refused(env: Any, kwargs: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        as_env(env, kwargs)


def test_an_id_that_looks_like_a_file_is_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(gym.registry, "means.csv", gym.spec("NSBandit-Abrupt-v0"))
    made = as_env("means.csv", {"horizon": 40}).unwrapped
    assert isinstance(made, NSBanditEnv)
    assert made.world == worlds.Abrupt(horizon=40)
