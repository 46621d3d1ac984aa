"""RLlib: environments by id in another process, a training iteration of PPO, and what it learnt, played."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from trainers_installed import needed

ray, ppo = needed("ray", "rllib"), needed("ray.rllib.algorithms.ppo", "rllib")
trainable = needed("ray.tune.trainable.trainable", "rllib")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]  # RLlib's own

ID, ENVS, STEPS = "ns_mab_gym:NSBandit-Stationary-v0", 2, 400
HORIZON = 20
LEARNING = {"minibatch_size": 100, "num_epochs": 10, "lr": 0.01, "gamma": 0.0}
WORLD = {"mu": [0.0, 0.0, 1.0], "horizon": HORIZON}


@pytest.fixture(scope="module")
def algorithm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """PPO as the page makes it, with environments in one process beside this; it leaves the user's home alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else ray writes one into the home
        patch.setattr(trainable, "DEFAULT_STORAGE_PATH", str(tmp_path_factory.mktemp("ray_results")))
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        config = ppo.PPOConfig().environment(ID, env_config=WORLD).debugging(seed=7)
        config = config.env_runners(num_env_runners=1, num_envs_per_env_runner=ENVS)
        config = config.training(train_batch_size_per_learner=STEPS, **LEARNING)
        made = config.build_algo()
        yield made
        made.stop()
        ray.shutdown()


def test_episodes_of_another_process_are_those_that_the_environment_plays(algorithm: Any) -> None:
    def sampled(runner: Any) -> tuple[Any, Any]:  # sent there by value, as the other process has no tests
        runner.make_env()  # new ones, with the seeds of the first
        return runner.sample(num_episodes=2 * ENVS, random_actions=True), runner.env.unwrapped.np_random_seed

    ((episodes, seeds),) = algorithm.env_runner_group.foreach_env_runner(sampled, local_env_runner=False)
    assert len(episodes) == 2 * ENVS
    for i, seed in enumerate(seeds):
        own = gym.make(ID, **WORLD)
        for episode, given in zip(episodes[i::ENVS], ({"seed": seed}, {}), strict=True):
            first, _ = own.reset(**given)
            steps = [own.step(int(arm)) for arm in episode.actions]
            np.testing.assert_array_equal(episode.observations, [first, *(step[0] for step in steps)])
            np.testing.assert_array_equal(episode.rewards, [step[1] for step in steps])
            assert [info["regret"] for info in episode.infos[1:]] == [step[-1]["regret"] for step in steps]
            assert (len(steps), episode.is_truncated, episode.is_terminated) == (HORIZON, True, False)


def test_one_iteration_learns_the_best_arm(algorithm: Any) -> None:
    """Arm 2 always gives 1 and the others 0; what was learnt from whole episodes plays without a mistake."""
    result = algorithm.train()["env_runners"]
    assert result["num_env_steps_sampled"] >= STEPS
    assert result["episode_len_mean"] == HORIZON
    env, module = gym.make(ID, **WORLD), algorithm.get_module()
    observation, info = env.reset(seed=0)
    for _ in range(HORIZON):
        with torch.no_grad():
            scores = module.forward_inference({"obs": torch.as_tensor(observation)[None]})["action_dist_inputs"]
        observation, *_, info = env.step(int(scores.argmax()))
    assert (info["round"], info["total_regret"]) == (HORIZON, 0.0)
