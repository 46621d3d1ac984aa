"""minari: episodes of an agent, recorded with their infos, stored and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from trainers_installed import needed

import ns_mab_gym as nsb
from ns_mab_gym import agents

minari = needed("minari")
needed("jax")  # of minari's extra `create`
needed("h5py")  # of its extra `hdf5`

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning"),
]  # minari's own folders

ID, K, HORIZON, EPISODES = "NSBandit-Piecewise-v0", 3, 50, 3
NAME = "ns-mab-gym/piecewise/beta-swts-v0"
ABOUT = {"author": "us", "author_email": "none", "code_permalink": "none", "description": "Beta-SWTS"}


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Any], list[Any]]:
    """A stored data set, the trajectories that were played for it, and the means of their instances."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = minari.DataCollector(gym.make(ID, n_arms=K, horizon=HORIZON), record_infos=True)
    agent = agents.make("beta-swts", n_arms=K, horizon=HORIZON)
    played, means = [], []
    for seed in range(EPISODES):
        played.append(nsb.run_episode(env, agent, seed=(seed, seed)))
        means.append(env.unwrapped.means)
    env.create_dataset(NAME, eval_env=ID, algorithm_name="beta-swts", **ABOUT)
    env.close()
    return minari.load_dataset(NAME), played, means


def test_what_is_read_back_is_what_an_agent_played(recorded: tuple[Any, list[Any], list[Any]]) -> None:
    dataset, played, _ = recorded
    assert (dataset.total_episodes, dataset.total_steps) == (EPISODES, EPISODES * HORIZON)
    for episode, trajectory in zip(dataset.iterate_episodes(), played, strict=True):
        np.testing.assert_array_equal(episode.actions, trajectory.arms)
        np.testing.assert_array_equal(episode.rewards, trajectory.rewards)
        np.testing.assert_array_equal(episode.observations[1:, :K].argmax(axis=1), trajectory.arms)
        np.testing.assert_array_equal(episode.observations[1:, K], trajectory.rewards)
        assert episode.truncations.tolist() == [False] * (HORIZON - 1) + [True]
        assert not episode.terminations.any()


def test_infos_are_kept_from_the_reset_on(recorded: tuple[Any, list[Any], list[Any]]) -> None:
    dataset, played, means = recorded
    for episode, trajectory, mu in zip(dataset.iterate_episodes(), played, means, strict=True):
        np.testing.assert_array_equal(episode.infos["mu"], [np.zeros(K), *mu])
        np.testing.assert_array_equal(episode.infos["optimal_arm"], [-1, *mu.argmax(axis=1)])
        np.testing.assert_array_equal(np.cumsum(episode.infos["regret"][1:]), trajectory.regret)
        np.testing.assert_array_equal(episode.infos["total_regret"], [0, *trajectory.regret])
        np.testing.assert_array_equal(episode.infos["round"], range(HORIZON + 1))


def test_the_environment_of_a_data_set_plays_its_episodes_again(recorded: tuple[Any, list[Any], list[Any]]) -> None:
    dataset, *_ = recorded
    again = dataset.recover_environment()
    seeds = [int(noted["seed"]) for noted in dataset.storage.get_episode_metadata(range(EPISODES))]
    assert seeds == [0, 1, 2]
    for seed, episode in zip(seeds, dataset.iterate_episodes(), strict=True):
        again.reset(seed=seed)
        np.testing.assert_array_equal([again.step(int(arm))[1] for arm in episode.actions], episode.rewards)
