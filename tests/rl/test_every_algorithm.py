"""Every algorithm with discrete actions plays, is saved, loaded, exported and trained further; others are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import sb3_contrib
import stable_baselines3
import torch
from sb3_contrib import ARS, QRDQN
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecMonitor

import ns_mab_gym as nsb
from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl.policy_export import export, read_export

from .conftest import WORLD, vector_env

Models = Callable[[str], Any]


def make(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Piecewise-v0", **(WORLD | kwargs))


def all_algorithms() -> list[type[BaseAlgorithm]]:
    found = [vars(module)[name] for module in (stable_baselines3, sb3_contrib) for name in module.__all__]
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseAlgorithm)]


def test_the_table_has_every_algorithm_that_takes_discrete_actions() -> None:
    discrete = set()
    for kind in all_algorithms():
        try:
            policy = "MlpLstmPolicy" if "MlpLstmPolicy" in kind.policy_aliases else "MlpPolicy"
            kind(policy, vector_env(), device="cpu")  # type: ignore[arg-type, call-arg]
        except (AssertionError, AttributeError, ValueError):  # only continuous actions
            continue
        discrete.add(kind)
    assert discrete == {rl.algorithm(name) for name in rl.algorithms()}


@pytest.mark.parametrize("algo", rl.algorithms())
def test_a_saved_model_plays_the_same_arms(model: Models, algo: str, tmp_path: Path) -> None:
    before = rl.SB3Agent(model(algo))
    before.save(tmp_path / "model.zip")
    after = rl.SB3Agent.load(tmp_path / "model.zip")
    assert (after.name, after.parameters, after.recipe) == (before.name, before.parameters, before.recipe)
    assert before.name == f"sb3-{algo}"
    one, other = (nsb.simulate(make(), agent, runs=2, record="all").arms for agent in (before, after))
    np.testing.assert_array_equal(one, other)


class OwnPPO(PPO):
    """An algorithm of the user's own."""


class OwnDQN(DQN):
    """One that explores while it is trained."""


def test_what_load_could_not_read_is_not_saved(tmp_path: Path) -> None:
    agent = rl.SB3Agent(OwnPPO("MlpPolicy", vector_env(), device="cpu"))
    with pytest.raises(ValueError, match=r"OwnPPO is none of the algorithms .*SB3Agent\(OwnPPO.load\(path\)\)"):
        agent.save(tmp_path / "model.zip")
    assert list(tmp_path.iterdir()) == []
    agent.model.save(tmp_path / "own.zip")
    again = rl.SB3Agent(OwnPPO.load(tmp_path / "own.zip"))
    assert again.model.observation_space == agent.model.observation_space
    one, other = (nsb.run_episode(agent.wrap(make()), each, seed=(1, 2)).arms for each in (agent, again))
    np.testing.assert_array_equal(one, other)
    named_alike = type("PPO", (PPO,), {})("MlpPolicy", vector_env(), device="cpu")
    with pytest.raises(ValueError, match="PPO is none of the algorithms"):
        rl.SB3Agent(named_alike).save(tmp_path / "model.zip")


@pytest.mark.parametrize("kind", [DQN, QRDQN, OwnDQN])
def test_models_that_value_arms_play_greedily_however_they_were_trained(kind: Any) -> None:
    trained = kind("MlpPolicy", vector_env(), device="cpu", seed=0, buffer_size=100)
    trained.exploration_rate = 1.0  # while it is trained, all arms would be drawn at random
    agent = rl.SB3Agent(trained)
    assert agent.deterministic
    seen = np.random.default_rng(0).random((30, 14), np.float32)
    net = trained.q_net if isinstance(trained, DQN) else lambda x: trained.quantile_net(x).mean(dim=1)
    with torch.no_grad():
        best = net(torch.as_tensor(seen)).argmax(dim=1).tolist()
    assert [agent.act(each) for each in seen] == best
    with pytest.raises(ValueError, match="is played greedily, deterministic=True: its exploration is part"):
        rl.SB3Agent(trained, deterministic=False)


def test_a_searched_policy_is_deterministic_too(model: Models) -> None:
    assert rl.SB3Agent(model("ars")).deterministic
    with pytest.raises(ValueError, match="ARS is played greedily, deterministic=True: only its search"):
        rl.SB3Agent(model("ars"), deterministic=False)


@pytest.mark.parametrize(
    ("kind", "policy", "settings"),
    [
        (ARS, "LinearPolicy", {}),
        (ARS, "LinearPolicy", {"with_bias": True}),
        (ARS, "MlpPolicy", {"with_bias": False, "net_arch": [4, 3]}),
        (QRDQN, "MlpPolicy", {"n_quantiles": 1, "net_arch": [4]}),
        (QRDQN, "MlpPolicy", {"n_quantiles": 30, "net_arch": []}),
    ],
)
def test_policies_of_every_shape_are_exported(kind: Any, policy: str, settings: dict[str, Any]) -> None:
    made = {"zero_policy": False} if kind is ARS else {"buffer_size": 100}
    one = rl.SB3Agent(kind(policy, vector_env(), device="cpu", seed=0, policy_kwargs=settings, **made))
    other = rl.SB3Agent(read_export(export(one.model, one.recipe), "it"))
    for name, weight in one.model.policy.state_dict().items():
        assert torch.equal(weight, other.model.policy.state_dict()[name]), name
    for seen in np.random.default_rng(0).random((30, 14), np.float32):
        assert one.act(seen) == other.act(seen)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match=r"takes a model of Stable-Baselines3, got 'ppo.zip'; SB3Agent.load\(path\)"):
        rl.SB3Agent("ppo.zip")
    with pytest.raises(TypeError, match="deterministic must be True, False or None, got 'yes'"):
        rl.SB3Agent(PPO("MlpPolicy", vector_env(), device="cpu"), deterministic="yes")  # type: ignore[arg-type]


# Training that goes on.

ENVS: dict[str, Callable[[], Any]] = {
    "a single environment": make,
    "a wrapped one": lambda: wrappers.WindowedStatistics(make(), window=10),
    "a vector environment": lambda: gym.make_vec("NSBandit-Piecewise-v0", num_envs=3, **WORLD),
    "a wrapped vector environment": lambda: vector_env(3).envs,
    "a VecEnv": lambda: VecMonitor(vector_env(3)),
}


@pytest.mark.parametrize("kind", ENVS)
def test_a_loaded_model_goes_on_learning(kind: str, tmp_path: Path) -> None:
    trained = PPO("MlpPolicy", vector_env(2), n_steps=16, batch_size=16, n_epochs=1, device="cpu", seed=0).learn(64)
    before = rl.SB3Agent(trained)
    before.save(tmp_path / "model.zip")
    agent = rl.SB3Agent.load(tmp_path / "model.zip", env=ENVS[kind](), name="more")
    assert (agent.recipe, agent.name) == (before.recipe, "more")
    weights = [each.detach().clone() for each in agent.model.policy.parameters()]
    for one, other in zip(weights, trained.policy.parameters(), strict=True):
        assert torch.equal(one, other)
    agent.model.learn(96, reset_num_timesteps=False)
    assert agent.model.num_timesteps >= 64 + 96
    assert not all(torch.equal(one, other) for one, other in zip(weights, agent.model.policy.parameters(), strict=True))
    agent.save(tmp_path / "more.zip")
    later = rl.SB3Agent.load(tmp_path / "more.zip")
    assert later.recipe == before.recipe
    one, other = (nsb.simulate(make(), each, runs=2, record="all").arms for each in (agent, later))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("algo", rl.algorithms())
def test_every_algorithm_goes_on(model: Models, algo: str, tmp_path: Path) -> None:
    rl.SB3Agent(model(algo)).save(tmp_path / "model.zip")
    agent = rl.SB3Agent.load(tmp_path / "model.zip", env=vector_env())
    agent.model.learn(64, **({"use_masking": False} if algo == "maskable-ppo" else {}))
    assert agent.recipe == [("WindowedStatistics", {"window": 10})]


@pytest.mark.parametrize(
    ("env", "error", "words"),
    [
        (lambda: make(n_arms=4), ValueError, "trained with the observation space Box"),
        (lambda: wrappers.LastRounds(make()), ValueError, "and the environment has LastRounds"),
        (lambda: vector_env(window=11), ValueError, r"this VecEnv has WindowedStatistics\(window=11\)"),
        (lambda: vector_env(window=None), ValueError, "this VecEnv has no wrappers"),
        (lambda: "NSBandit-Piecewise-v0", TypeError, "gym.make makes one"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused(
    model: Models, tmp_path: Path, env: Callable[[], Any], error: type[Exception], words: str
) -> None:
    rl.SB3Agent(model("ppo")).save(tmp_path / "model.zip")
    with pytest.raises(error, match=words):
        rl.SB3Agent.load(tmp_path / "model.zip", env=env())


def test_frames_of_a_vector_environment_are_not_added_without_a_word(tmp_path: Path) -> None:
    from gymnasium.wrappers import FrameStackObservation

    rl.SB3Agent(PPO("MlpPolicy", FrameStackObservation(make(), 2), device="cpu")).save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="this VecEnv has no wrappers; wrap it as in training, or pass a single"):
        rl.SB3Agent.load(tmp_path / "model.zip", env=gym.make_vec("NSBandit-Piecewise-v0", num_envs=2, **WORLD))
    agent = rl.SB3Agent.load(tmp_path / "model.zip", env=make())
    assert agent.model.get_env() is not None


def test_an_export_is_not_trained_further(model: Models, tmp_path: Path) -> None:
    rl.SB3Agent(model("ppo")).export(tmp_path / "model.npz")
    with pytest.raises(
        ValueError, match=r"is an export, which cannot be trained further; load the saved model \(.zip\)"
    ):
        rl.SB3Agent.load(tmp_path / "model.npz", env=make())
