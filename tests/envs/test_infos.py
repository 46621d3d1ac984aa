"""Infos have one structure, at a reset as after a step, and account for the regret of the episode so far."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.monitor import Monitor
from wrapping import SINGLE, VECTOR_KINDS

from ns_mab_gym import rl

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


def test_the_step_that_ends_an_episode_has_its_total_in_final_info() -> None:
    envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=4, **SHORT)
    (_, *steps), _ = infos_of(envs, np.ones((30, 4), np.int64))
    regrets = [*(step["regret"] for step in steps[:-1]), steps[-1]["final_info"]["regret"]]
    np.testing.assert_array_equal(steps[-1]["final_info"]["total_regret"], np.cumsum(regrets, axis=0)[-1])
    for key, value in {"regret": 0.0, "total_regret": 0.0, "round": 0, "optimal_arm": -1}.items():
        assert (steps[-1][key] == value).all()


def test_stable_baselines_gets_the_same_keys_at_reset_and_the_total() -> None:
    envs = rl.SB3VecEnv(gym.make_vec("NSBandit-Piecewise-v0", num_envs=4, **SHORT))
    envs.reset()
    first, total = envs.reset_infos, np.zeros(4)
    for _ in range(30):
        infos = envs.step(np.zeros(4, int))[-1]
        total += [info["regret"] for info in infos]
    assert all(structure(info) == structure(first[0]) for info in (*first, *envs.reset_infos))
    added = {"TimeLimit.truncated", "terminal_observation"}
    assert set(infos[0]) - added == set(first[0])
    assert [info["total_regret"] for info in infos] == total.tolist()


def test_monitor_logs_the_total_of_an_episode() -> None:
    env = Monitor(gym.make("NSBandit-Piecewise-v0", **SHORT), info_keywords=("total_regret",))
    env.reset(seed=0)
    infos = [env.step(1)[-1] for _ in range(30)]
    assert infos[-1]["episode"]["total_regret"] == sum(info["regret"] for info in infos) > 0
