"""A trained model of every algorithm plays as an agent, is saved, loaded and trained further, or refused in words."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import sb3_contrib
import stable_baselines3
import torch
from gymnasium.wrappers import FrameStackObservation
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import ns_mab_gym as nsb
from ns_mab_gym import agents, rl, wrappers

from .conftest import ID, WORLD, Models, OwnPPO, assert_same_arms, make, vector_env


def test_the_table_has_every_algorithm_that_takes_discrete_actions() -> None:
    found = [vars(module)[name] for module in (stable_baselines3, sb3_contrib) for name in module.__all__]
    discrete = set()
    for kind in found:
        if not (isinstance(kind, type) and issubclass(kind, BaseAlgorithm)):
            continue
        try:
            policy = "MlpLstmPolicy" if "MlpLstmPolicy" in kind.policy_aliases else "MlpPolicy"
            kind(policy, vector_env(), device="cpu")  # type: ignore[arg-type, call-arg]
        except (AssertionError, AttributeError, ValueError):  # only continuous actions
            continue
        discrete.add(kind)
    assert discrete == {rl.algorithm(name) for name in rl.algorithms()}


@pytest.mark.parametrize("algo", rl.algorithms())
def test_every_algorithm_plays_is_saved_and_goes_on(model: Models, algo: str, tmp_path: Path) -> None:
    agent = rl.SB3Agent(model(algo))
    assert isinstance(agent, agents.AgentProtocol)
    torch.manual_seed(0)
    drawn = torch.rand(1)
    torch.manual_seed(0)
    assert_same_arms(agent, copy.deepcopy(agent))
    assert torch.equal(torch.rand(1), drawn)  # the global stream is left alone
    agent.save(tmp_path / "model.zip")
    after = rl.SB3Agent.load(tmp_path / "model.zip", trust=True)
    assert (after.name, after.parameters, after.recipe) == (f"sb3-{algo}", agent.parameters, agent.recipe)
    assert_same_arms(agent, after)
    further = rl.SB3Agent.load(tmp_path / "model", env=vector_env(), trust=True)
    further.model.learn(64, **({"use_masking": False} if algo == "maskable-ppo" else {}))
    assert further.recipe == [("WindowedStatistics", {"window": 10})]


def test_another_agent_seed_draws_other_arms_unless_deterministic(model: Models) -> None:
    env = wrappers.WindowedStatistics(make(), window=10)
    for deterministic in (False, True):
        agent = rl.SB3Agent(model("ppo"), deterministic=deterministic)
        one, other = (nsb.run_episode(env, agent, seed=(1, s)).arms for s in (2, 3))
        assert np.array_equal(one, other) is deterministic


@pytest.mark.parametrize("algo", ["ppo", "recurrent-ppo"])
def test_actions_and_memories_are_those_of_the_models_own_loop(model: Models, algo: str) -> None:
    own = model(algo)
    agent = rl.SB3Agent(own, deterministic=True)
    env = agent.wrap(make())
    for episode in range(2):  # the second begins without memories of the first
        agent.reset(seed=episode)
        state, start = None, np.array([True])
        observation, _ = env.reset(seed=3)
        for _ in range(30):
            expected, following = own.predict(observation, state=state, episode_start=start, deterministic=True)
            arm = agent.act(observation)
            assert arm == expected
            if algo == "recurrent-ppo":
                np.testing.assert_array_equal(agent._hidden, following)
                assert state is None or not np.allclose(following[0], state[0])
            state, start = following, np.array([False])
            observation, *_ = env.step(arm)


def test_simulate_plays_models_on_the_seeds_of_all_others(model: Models, tmp_path: Path) -> None:
    agent, path = rl.SB3Agent(model("ppo")), tmp_path / "model.zip"
    agent.save(path)
    settings: dict[str, Any] = {"runs": 3, "seed": 5, "env_kwargs": WORLD}
    saved = rl.simulate(ID, "sb3", agent_kwargs={"path": path, "trust": True}, **settings)
    live, zoo = rl.simulate(ID, agent, **settings), rl.simulate(ID, "ts", **settings)
    assert saved.seeds == live.seeds == zoo.seeds
    np.testing.assert_array_equal(saved.regret, live.regret)
    wrapped = agent.wrap(make())
    np.testing.assert_array_equal(nsb.simulate(wrapped, agent, runs=3, seed=5).regret, live.regret)
    assert rl.simulate is nsb.simulate
    with pytest.warns(UserWarning, match=r"wrapped in WindowedStatistics: playing through the generic Python loop"):
        nsb.simulate(wrapped, "ts", runs=1)  # of a network, nobody expects a compiled loop: no warning above


def test_a_model_saved_by_its_own_method_needs_the_name_of_its_algorithm(tmp_path: Path) -> None:
    PPO("MlpPolicy", vector_env(window=None), n_steps=8, batch_size=8, device="cpu").save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="does not say of which algorithm it is; pass algo="):
        rl.SB3Agent.load(tmp_path / "model.zip", trust=True)
    assert rl.SB3Agent.load(tmp_path / "model.zip", algo="ppo", trust=True).recipe == []


class OwnDQN(DQN):
    """One that explores while it is trained."""


def test_what_load_could_not_read_is_not_saved(tmp_path: Path) -> None:
    agent = rl.SB3Agent(OwnPPO("MlpPolicy", vector_env(), device="cpu"))
    with pytest.raises(ValueError, match=r"OwnPPO is none of the algorithms .*SB3Agent\(OwnPPO.load\(path\)\)"):
        agent.save(tmp_path / "model.zip")
    assert list(tmp_path.iterdir()) == []
    agent.model.save(tmp_path / "own.zip")
    again = rl.SB3Agent(OwnPPO.load(tmp_path / "own.zip"))
    again.recipe = agent.recipe  # which its own file does not say
    assert_same_arms(agent, again)
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


@pytest.mark.parametrize(("algo", "why"), [("ars", "only its search"), ("dqn", "its exploration")])
def test_greedy_models_and_their_exports_cannot_draw(model: Models, tmp_path: Path, algo: str, why: str) -> None:
    rl.SB3Agent(model(algo)).export(tmp_path / "model.pt")
    for agent in (rl.SB3Agent(model(algo)), rl.SB3Agent.load(tmp_path / "model.pt")):
        assert agent.deterministic
        with pytest.raises(ValueError, match=f"{algo.upper()} is played greedily, deterministic=True: {why}"):
            rl.SB3Agent(agent.model, deterministic=False)


def test_a_maskable_model_plays_open_arms_only(model: Models) -> None:
    env = wrappers.WindowedStatistics(wrappers.ArmAvailability(make(), probability=0.4), window=10)
    masked = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, device="cpu", seed=0).learn(32)
    assert len(nsb.run_episode(env, rl.SB3Agent(masked), seed=0).arms) == 40  # a closed arm would raise
    with pytest.raises(ValueError, match="has no rule for arms that cannot be played"):
        nsb.run_episode(env, rl.SB3Agent(model("ppo")), seed=0)
    with pytest.raises(ValueError, match="cannot use masks"):
        rl.SB3Agent(model("ppo")).act(np.zeros(14, np.float32), mask=np.ones(3, bool))


def test_what_does_not_fit_is_named(model: Models) -> None:
    agent = rl.SB3Agent(model("ppo"))
    with pytest.raises(ValueError, match=r"shape \(14,\) and got one of shape \(5,\); wrap the environment"):
        nsb.run_episode(make(), agent, seed=0)
    with pytest.raises(ValueError, match="made for 3 arms, the environment has 4"):
        nsb.run_episode(agent.wrap(make(n_arms=4)), agent, seed=0)
    with pytest.raises(ValueError, match="and got none"):
        agent.act()
    with pytest.raises(TypeError, match="needs a model with Discrete actions"):
        rl.SB3Agent(PPO("MlpPolicy", "Pendulum-v1", device="cpu"))
    with pytest.raises(ValueError, match="VecNormalize"):
        rl.SB3Agent(PPO("MlpPolicy", VecNormalize(vector_env()), device="cpu"))
    with pytest.raises(TypeError, match=r"takes a model of Stable-Baselines3, got 'ppo.zip'; SB3Agent.load\(path\)"):
        rl.SB3Agent("ppo.zip")
    with pytest.raises(TypeError, match="deterministic must be True, False or None, got 'yes'"):
        rl.SB3Agent(model("ppo"), deterministic="yes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"unknown algorithm 'popo'; did you mean 'ppo'\?"):
        rl.algorithm("popo")
    with pytest.raises(ValueError, match="needs path="):
        rl.simulate("NSBandit-Abrupt-v0", "sb3")
    with pytest.raises(TypeError, match="did you mean 'path'"):
        rl.simulate("NSBandit-Abrupt-v0", "sb3", agent_kwargs={"pat": 1})


# Training that goes on.

ENVS: dict[str, Callable[[], Any]] = {
    "a single environment": make,
    "a wrapped one": lambda: wrappers.WindowedStatistics(make(), window=10),
    "a vector environment": lambda: gym.make_vec(ID, num_envs=3, **WORLD),
    "a wrapped vector environment": lambda: vector_env(3).envs,
    "a VecEnv": lambda: VecMonitor(vector_env(3)),
}


@pytest.mark.parametrize("kind", ENVS)
def test_a_loaded_model_goes_on_learning(kind: str, model: Models, tmp_path: Path) -> None:
    trained = model("ppo")
    before, steps = rl.SB3Agent(trained), trained.num_timesteps
    before.save(tmp_path / "model.zip")
    agent = rl.SB3Agent.load(tmp_path / "model.zip", env=ENVS[kind](), name="more", trust=True)
    assert (agent.recipe, agent.name) == (before.recipe, "more")
    weights = [each.detach().clone() for each in agent.model.policy.parameters()]
    for one, other in zip(weights, trained.policy.parameters(), strict=True):
        assert torch.equal(one, other)
    agent.model.learn(64, reset_num_timesteps=False)
    assert agent.model.num_timesteps >= steps + 64
    assert not all(torch.equal(one, other) for one, other in zip(weights, agent.model.policy.parameters(), strict=True))
    agent.save(tmp_path / "more.zip")
    later = rl.SB3Agent.load(tmp_path / "more.zip", trust=True)
    assert later.recipe == before.recipe
    assert_same_arms(agent, later)


@pytest.mark.parametrize(
    ("env", "error", "words"),
    [
        (lambda: make(n_arms=4), ValueError, "trained with the observation space Box"),
        (lambda: wrappers.LastRounds(make()), ValueError, "and the environment has LastRounds"),
        (lambda: vector_env(window=11), ValueError, r"this VecEnv has WindowedStatistics\(window=11\)"),
        (lambda: vector_env(window=None), ValueError, "this VecEnv has no wrappers"),
        (lambda: ID, TypeError, "gym.make makes one"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused(
    model: Models, tmp_path: Path, env: Callable[[], Any], error: type[Exception], words: str
) -> None:
    rl.SB3Agent(model("ppo")).save(tmp_path / "model.zip")
    with pytest.raises(error, match=words):
        rl.SB3Agent.load(tmp_path / "model.zip", env=env(), trust=True)


def test_frames_of_a_vector_environment_are_not_added(tmp_path: Path) -> None:
    rl.SB3Agent(PPO("MlpPolicy", FrameStackObservation(make(), 2), device="cpu")).save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="this VecEnv has no wrappers; wrap it as in training, or pass a single"):
        rl.SB3Agent.load(tmp_path / "model.zip", env=gym.make_vec(ID, num_envs=2, **WORLD), trust=True)
    agent = rl.SB3Agent.load(tmp_path / "model.zip", env=make(), trust=True)
    assert agent.model.get_env() is not None
