"""torchrl: environments by id and as objects, infos, the native vector environment, and a learner."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from trainers_installed import needed

from ns_mab_gym import wrappers

envs, modules, objectives = needed("torchrl.envs"), needed("torchrl.modules"), needed("torchrl.objectives")

pytestmark = pytest.mark.slow
ID, K, HORIZON = "ns_mab_gym:NSBandit-Piecewise-v0", 3, 20
WORLD = {"n_arms": K, "horizon": HORIZON}
torch.set_num_threads(1)


class NumbersAsArrays(envs.default_info_dict_reader):  # type: ignore[misc]
    """Reads infos that are plain numbers too: torchrl's own reader asks them for their ``dtype``."""

    def __call__(self, info_dict: dict[str, Any], tensordict: Any) -> Any:
        return super().__call__({key: np.asarray(value) for key, value in info_dict.items()}, tensordict)


def played(env: gym.Env[Any, Any], arms: Any) -> list[Any]:
    """Return the steps of the environment itself for these arms."""
    return [env.step(int(arm)) for arm in arms]


def test_an_id_with_its_prefix_plays_what_the_environment_plays() -> None:
    env = envs.GymEnv(ID, categorical_action_encoding=True, **WORLD)
    env.set_seed(7)  # which resets, and so does the rollout
    rollout = env.rollout(HORIZON + 5)
    own = gym.make(ID, **WORLD)
    own.reset(seed=7)
    first, _ = own.reset()
    steps = played(own, rollout["action"])
    np.testing.assert_array_equal(rollout["next", "reward"].ravel(), [step[1] for step in steps])
    np.testing.assert_array_equal(rollout["next", "observation"], [step[0] for step in steps])
    np.testing.assert_array_equal(rollout["observation"], [first, *(step[0] for step in steps[:-1])])
    assert rollout["next", "truncated"].ravel().tolist() == [False] * (HORIZON - 1) + [True]
    assert not rollout["next", "terminated"].any()


def test_an_environment_fulfils_the_specs_that_are_read_off_it() -> None:
    env = wrappers.WindowedStatistics(gym.make(ID, **WORLD), window=5)
    envs.check_env_specs(envs.GymWrapper(env))


def test_infos_of_a_single_environment() -> None:
    env = envs.GymEnv(ID, categorical_action_encoding=True, **WORLD)
    rollout = env.auto_register_info_dict(info_dict_reader=NumbersAsArrays()).rollout(HORIZON)
    means = env._env.unwrapped.means
    np.testing.assert_array_equal(rollout["next", "mu"], means)
    np.testing.assert_array_equal(rollout["next", "regret"], means.max(1) - means[range(HORIZON), rollout["action"]])
    np.testing.assert_array_equal(rollout["round"], range(HORIZON))
    np.testing.assert_array_equal(rollout["next", "round"], range(1, HORIZON + 1))


def test_the_reader_of_torchrl_itself_takes_arrays_only() -> None:
    with pytest.raises(AttributeError, match="object has no attribute 'dtype'"):
        envs.GymEnv(ID, **WORLD).auto_register_info_dict()


@pytest.mark.parametrize(("mode", "resets"), [(AutoresetMode.DISABLED, 1), (AutoresetMode.SAME_STEP, 2)])
def test_the_native_vector_environment_over_the_end_of_episodes(mode: AutoresetMode, resets: int) -> None:
    """Sub-environment i plays what the single one plays; the last observation of an episode is its own.

    Under SAME_STEP, torchrl resets once more than the step itself when all end together, and registers infos itself.
    """
    rounds = 2 * HORIZON + 3
    made = gym.make_vec(ID, num_envs=2, autoreset_mode=mode, **WORLD)
    vector = envs.GymWrapper(made, categorical_action_encoding=True)
    if mode is AutoresetMode.DISABLED:
        vector = vector.auto_register_info_dict()
    vector.set_seed(7)
    rollout = vector.rollout(rounds, break_when_any_done=False)
    assert rollout.batch_size == (2, rounds)
    for i in range(2):
        own = gym.make(ID, **WORLD)
        own.reset(seed=7 + i)
        steps = []
        for start in range(0, rounds, HORIZON):
            for _ in range(resets if start else 1):
                own.reset()
            steps += played(own, rollout["action"][i, start : start + HORIZON])
        np.testing.assert_array_equal(rollout["next", "reward"][i].ravel(), [step[1] for step in steps])
        np.testing.assert_array_equal(rollout["next", "observation"][i], [step[0] for step in steps])
        np.testing.assert_array_equal(rollout["next", "regret"][i], [step[-1]["regret"] for step in steps])


def test_dqn_learns_the_best_arm() -> None:
    """Arm 2 always gives 1 and the others 0: without a future, the value of an arm is its mean."""
    torch.manual_seed(0)
    env = envs.GymEnv("ns_mab_gym:NSBandit-Stationary-v0", mu=[0.0, 0.0, 1.0], horizon=HORIZON)
    network = modules.MLP(in_features=K + 2, out_features=K, num_cells=[16])
    actor = modules.QValueActor(network, spec=env.action_spec)
    loss = objectives.DQNLoss(actor, action_space=env.action_spec, delay_value=False)
    loss.make_value_estimator(gamma=0.0)
    optimizer = torch.optim.Adam(loss.parameters(), lr=0.02)
    random_play = env.rollout(10 * HORIZON, break_when_any_done=False)
    for _ in range(150):
        optimizer.zero_grad()
        loss(random_play)["loss"].backward()
        optimizer.step()
    with torch.no_grad():
        greedy = env.rollout(HORIZON, actor)
    assert greedy["next", "reward"].sum() == HORIZON
    np.testing.assert_allclose(greedy["action_value"], np.tile([0, 0, 1], (HORIZON, 1)), atol=0.2)
