"""Infos have one structure, at a reset as after a step, and account for the regret of the episode so far."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from wrapping import SINGLE, VECTOR_KINDS

SHORT = {"horizon": 30, "n_arms": 3}
KEYS = ["mu", "optimal_arm", "regret", "total_regret", "round"]


def structure(info: dict[str, Any]) -> dict[str, Any]:
    """What a recorder that wants the same of every info looks at."""
    return {
        key: (value.shape, value.dtype) if isinstance(value, np.ndarray) else type(value) for key, value in info.items()
    }


def infos_of(env: Any, actions: Any, episodes: int = 2) -> list[list[dict[str, Any]]]:
    """The infos of some episodes, each beginning with that of its reset."""
    kept = []
    for episode in range(episodes):
        kept.append([env.reset(seed=episode)[1]])
        kept[-1] += [env.step(action)[-1] for action in actions]
    return kept


@pytest.mark.parametrize(("wrapper", "arguments"), SINGLE)
def test_every_wrapper_keeps_the_structure_and_sums_the_regret_that_it_reports(wrapper: Any, arguments: Any) -> None:
    env = wrapper(gym.make("NSBandit-Piecewise-v0", **SHORT), **arguments)
    for reset, *steps in infos_of(env, [t % 3 for t in range(30)]):
        assert all(structure(step) == structure(reset) for step in steps)
        assert [step["total_regret"] for step in steps] == list(accumulate(step["regret"] for step in steps))
        assert steps[-1]["total_regret"] > 0.0


@pytest.mark.parametrize("wrap", [lambda envs: envs, *VECTOR_KINDS.values()])
def test_vector_envs_report_the_same_structure_at_reset_as_at_step(wrap: Any) -> None:
    envs = wrap(gym.make_vec("NSBandit-Piecewise-v0", num_envs=4, **SHORT))
    for reset, *steps in infos_of(envs, np.ones((29, 4), np.int64)):
        assert set(KEYS) | {f"_{key}" for key in KEYS} <= set(reset)
        assert all(structure(step) == structure(reset) for step in steps)
        assert all(reset[f"_{key}"].all() for key in KEYS)
        np.testing.assert_array_equal(
            [step["total_regret"] for step in steps], np.cumsum([step["regret"] for step in steps], axis=0)
        )
