"""The bandit under its wrappers, for people and for type checkers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import wrappers
from ns_mab_gym.envs.bandit import NSBanditEnv
from ns_mab_gym.envs.vector import NSBanditVectorEnv

USER = """
import gymnasium as gym
import numpy as np
import numpy.typing as npt

import ns_mab_gym as nsb
from ns_mab_gym import wrappers

env = wrappers.WindowedStatistics(gym.make("NSBandit-Abrupt-v0", horizon=100), window=5)
means: npt.NDArray[np.float64] = nsb.bandit_of(env).means
horizon: int = nsb.bandit_of(env).world.horizon
reveal_type(nsb.bandit_of(env))
envs = gym.make_vec("NSBandit-Abrupt-v0", num_envs=2)
reveal_type(nsb.bandit_of(envs))
seeds: tuple[int, ...] = nsb.bandit_of(envs).np_random_seed
nsb.bandit_of(env).meens
"""


def test_the_bandit_is_found_under_wrappers() -> None:
    env = gym.make("NSBandit-Piecewise-v0", horizon=20)
    stacked = wrappers.ArmAvailability(wrappers.LastRounds(env))
    assert nsb.bandit_of(stacked) is env.unwrapped
    assert type(nsb.bandit_of(env)) is NSBanditEnv
    envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=2, horizon=20)
    assert nsb.bandit_of(wrappers.VectorLastRounds(envs)) is envs
    assert type(nsb.bandit_of(envs)) is NSBanditVectorEnv


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gym.make("CartPole-v1"), r'CartPole.*; make one with gym\.make\("NSBandit'),
        (lambda: 3, "no bandit of this package in 3"),
        (lambda: gym.make_vec("NSBandit-Abrupt-v0", 2, vectorization_mode="sync"), r"SyncVectorEnv.*get_attr"),
    ],
)
def test_other_things_are_refused_with_the_way_out(make: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        nsb.bandit_of(make())


def test_a_users_file_type_checks_strictly(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is part of the lint extra")
    file = tmp_path / "user.py"
    file.write_text(USER)
    said, _, _ = api.run(
        ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(file)]
    )
    lines = [line for line in said.splitlines() if not line.startswith("Found")]
    assert [line.split(": ", 1)[1] for line in lines] == [
        'note: Revealed type is "ns_mab_gym.envs.bandit.NSBanditEnv"',
        'note: Revealed type is "ns_mab_gym.envs.vector.NSBanditVectorEnv"',
        'error: "NSBanditEnv" has no attribute "meens"; maybe "means"?  [attr-defined]',
    ]
