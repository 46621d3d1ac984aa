"""tianshou: its vector environments, collector, buffer and trainer."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from spawned import refusal_of_a_bare_id
from trainers_installed import needed

algorithm, data, venvs = needed("tianshou.algorithm"), needed("tianshou.data"), needed("tianshou.env")
dqn, optim, common = (
    needed(f"tianshou.{module}") for module in ("algorithm.modelfree.dqn", "algorithm.optim", "utils.net.common")
)
trainer = needed("tianshou.trainer")

pytestmark = pytest.mark.slow
K, HORIZON, ENVS = 3, 20, 2
make = partial(gym.make, "ns_mab_gym:NSBandit-Stationary-v0", mu=[0.0, 0.0, 1.0], horizon=HORIZON)
torch.set_num_threads(1)


def learner() -> Any:
    """DQN without a future, whose values are the arms' means."""
    torch.manual_seed(0)
    spaces = make().action_space, make().observation_space
    network = common.Net(state_shape=K + 2, action_shape=K, hidden_sizes=[16])
    policy = dqn.DiscreteQLearningPolicy(
        model=network, action_space=spaces[0], observation_space=spaces[1], eps_training=0.5
    )
    return algorithm.DQN(policy=policy, optim=optim.AdamOptimizerFactory(lr=0.02), gamma=0.0, target_update_freq=10)


def collector(learning: Any, kind: Any = venvs.DummyVectorEnv, **options: Any) -> Any:
    return data.Collector(learning, kind([make] * ENVS), data.VectorReplayBuffer(1000, ENVS), **options)


@pytest.mark.parametrize(
    "kind", [venvs.DummyVectorEnv, partial(venvs.SubprocVectorEnv, context="spawn")], ids=["one process", "spawned"]
)
def test_what_a_collector_keeps_is_what_was_played(kind: Any) -> None:
    collecting = collector(learner(), kind, exploration_noise=True)
    stats = collecting.collect(n_episode=4, reset_before_collect=True, random=True)
    collecting.env.close()
    kept, _ = collecting.buffer.sample(0)  # all that is there
    assert stats.lens.tolist() == [HORIZON] * 4
    assert stats.returns.sum() == kept.rew.sum() == (kept.act == 2).sum()
    np.testing.assert_array_equal(kept.info.mu, np.tile([0.0, 0.0, 1.0], (4 * HORIZON, 1)))
    np.testing.assert_array_equal(kept.info.regret, 1 - kept.rew)
    np.testing.assert_array_equal(kept.info.round, np.tile(range(1, HORIZON + 1), 4))
    np.testing.assert_array_equal(kept.truncated, kept.info.round == HORIZON)
    assert not kept.terminated.any()


def test_spawned_processes_need_the_prefix() -> None:
    lines = "from tianshou.env import SubprocVectorEnv; SubprocVectorEnv([make], context='spawn').reset()"
    assert "Environment `NSBandit-Piecewise` doesn't exist" in refusal_of_a_bare_id(lines)


def test_dqn_learns_the_best_arm() -> None:
    learning = learner()
    testing = data.Collector(learning, venvs.DummyVectorEnv([make]))
    learning.run_training(
        trainer.OffPolicyTrainerParams(
            training_collector=collector(learning, exploration_noise=True),
            test_collector=testing,
            max_epochs=1,
            epoch_num_steps=10 * HORIZON,
            collection_step_num_env_steps=HORIZON,
            test_step_num_episodes=1,
            batch_size=32,
            show_progress=False,
            verbose=False,
        )
    )
    assert testing.collect(n_episode=1, reset_before_collect=True).returns.tolist() == [HORIZON]
