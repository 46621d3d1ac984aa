"""What is kept of a run: pulls, the regret after some or after all rounds, and every arm and reward if asked for."""

from __future__ import annotations

import tracemalloc
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.core.memory_limits import DoesNotFitError
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.play.recording import Recording

WORLD = worlds.Abrupt(horizon=1_300)
ENVS = [NSBanditEnv(WORLD), gym.wrappers.RecordEpisodeStatistics(NSBanditEnv(WORLD))]


@pytest.mark.filterwarnings("ignore:.*generic Python loop")
@pytest.mark.parametrize("env", ENVS, ids=["compiled", "generic"])
def test_the_regret_after_every_round_is_that_of_the_episode(env: gym.Env[Any, Any]) -> None:
    runs = nsb.simulate(env, "ts", runs=3, seed=4, record="regret")
    assert runs.rounds.tolist() == list(range(1, 1_301))
    assert runs.arms is None
    assert runs.rewards is None
    for row, seeds in zip(runs.regret, runs.seeds, strict=True):
        episode = nsb.run_episode(NSBanditEnv(WORLD), agents.TS(10), seeds)
        np.testing.assert_array_equal(row, episode.regret)


@pytest.mark.parametrize("env", ENVS, ids=["compiled", "generic"])
def test_every_round_and_some_rounds_cannot_both_be_had(env: gym.Env[Any, Any]) -> None:
    with pytest.raises(
        ValueError, match=r'record="regret" keeps .* after every round, and rounds= chooses some .*leave'
    ):
        nsb.simulate(env, "ts", runs=1, record="regret", rounds=[3])
    assert nsb.simulate(WORLD, "ts", runs=1, record="all", rounds=[3]).rounds.tolist() == [3, 1_300]


def test_the_words_that_exist_are_named() -> None:
    with pytest.raises(ValueError, match="unknown record 'everything'"):
        Recording("everything", None)
    with pytest.raises(ValueError, match=r"unknown record 'regrets'; did you mean 'regret'"):
        nsb.simulate(WORLD, "ts", record="regrets")  # type: ignore[arg-type]


@pytest.mark.parametrize("record", ["regret", "all"])
def test_what_does_not_fit_into_the_memory_says_what_to_do(record: str) -> None:
    words = rf'^record="{record}" of 1 runs of 1,000,000,000,000,000 rounds would take .* use record="curve", or'
    with pytest.raises(DoesNotFitError, match=words):
        Recording(record, None).blank(10**15, 2, [(0, 0)])


def test_ties_for_the_best_arm_are_not_suboptimal() -> None:
    runs = nsb.simulate(worlds.Stationary(mu=(0.5, 0.2, 0.5), horizon=300), "random", runs=1)
    assert runs.suboptimal_pulls[0].tolist() == [0, runs.pulls[0, 1], 0]


@pytest.mark.parametrize("name", ["random", "oracle"])
def test_a_curve_keeps_nothing_of_the_size_of_runs_times_rounds(name: str) -> None:
    """40 runs of 20 000 rounds, each on its own instance: the arms of all runs would take 6.4 MB, the means 64 MB."""
    world = worlds.Piecewise(horizon=20_000, n_arms=10)
    nsb.simulate(world, name, runs=1)
    tracemalloc.start()
    runs = nsb.simulate(world, name, runs=40, n_jobs=1)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert runs.arms is None
    assert runs.rewards is None
    assert kept < 1e6
    assert peak < 10e6
