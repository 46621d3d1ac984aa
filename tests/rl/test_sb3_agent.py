"""A trained model plays as an agent, reproducibly, with its hidden state, and refuses what does not fit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

import ns_mab_gym as nsb
from ns_mab_gym import agents, rl, wrappers

from .conftest import WORLD, vector_env

Models = Callable[[str], Any]


def make(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Piecewise-v0", **(WORLD | kwargs))


@pytest.mark.parametrize("algo", rl.algorithms())
def test_every_algorithm_plays_an_episode_that_its_seed_repeats(model: Models, algo: str) -> None:
    agent = rl.SB3Agent(model(algo))
    assert isinstance(agent, agents.AgentProtocol)
    env = agent.wrap(make())
    torch.manual_seed(0)
    first = nsb.run_episode(env, agent, seed=(1, 2))
    drawn = torch.rand(1)
    again = nsb.run_episode(env, copy.deepcopy(agent), seed=(1, 2))
    assert first.regret is not None
    assert len(first.regret) == 40
    np.testing.assert_array_equal(first.arms, again.arms)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(1), drawn)  # the global stream is left alone


def test_another_agent_seed_draws_other_arms_unless_deterministic(model: Models) -> None:
    env = wrappers.WindowedStatistics(make(), window=10)
    for deterministic in (False, True):
        agent = rl.SB3Agent(model("ppo"), deterministic=deterministic)
        one, other = (nsb.run_episode(env, agent, seed=(1, s)).arms for s in (2, 3))
        assert np.array_equal(one, other) is deterministic


def test_actions_are_those_that_the_model_predicts(model: Models) -> None:
    ppo, env = model("ppo"), wrappers.WindowedStatistics(make(), window=10)
    agent = rl.SB3Agent(ppo, deterministic=True)
    observation, _ = env.reset(seed=0)
    for _ in range(20):
        arm = agent.act(observation)
        assert arm == ppo.predict(observation, deterministic=True)[0]
        observation, *_ = env.step(arm)


def test_a_recurrent_policy_remembers_within_an_episode_and_forgets_at_reset(model: Models) -> None:
    agent = rl.SB3Agent(model("recurrent-ppo"), deterministic=True)
    shown = np.full(agent.model.observation_space.shape, 0.5, np.float32)
    hidden = []
    for _ in range(2):
        agent.reset(seed=0)
        for _ in range(3):
            agent.act(shown)
            hidden.append(agent._hidden[0].ravel().copy())
    assert not np.allclose(hidden[0], hidden[1])
    np.testing.assert_array_equal(hidden[:3], hidden[3:])


def test_the_hidden_state_is_that_of_the_models_own_loop(model: Models) -> None:
    lstm = model("recurrent-ppo")
    agent, state, start = rl.SB3Agent(lstm, deterministic=True), None, np.array([True])
    env = agent.wrap(make())
    observation, _ = env.reset(seed=3)
    for _ in range(30):
        expected, state = lstm.predict(observation, state=state, episode_start=start, deterministic=True)
        start = np.array([False])
        arm = agent.act(observation)
        assert arm == expected
        observation, *_ = env.step(arm)


@pytest.mark.parametrize("algo", ["ppo", "recurrent-ppo"])
def test_a_saved_agent_knows_its_algorithm_and_its_wrappers(model: Models, algo: str, tmp_path: Path) -> None:
    before = rl.SB3Agent(model(algo))
    before.save(tmp_path / "model.zip")
    after = rl.SB3Agent.load(tmp_path / "model.zip")
    assert after.recipe == before.recipe == [("WindowedStatistics", {"window": 10})]
    one, other = (nsb.run_episode(a.wrap(make()), a, seed=(1, 2)).arms for a in (before, after))
    np.testing.assert_array_equal(one, other)


def test_a_model_saved_by_its_own_method_needs_the_name_of_its_algorithm(tmp_path: Path) -> None:
    PPO("MlpPolicy", vector_env(window=None), n_steps=8, batch_size=8, device="cpu").save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="pass algo="):
        rl.SB3Agent.load(tmp_path / "model.zip", trust=True)
    assert rl.SB3Agent.load(tmp_path / "model.zip", algo="ppo", trust=True).recipe == []


def test_simulate_plays_models_on_the_seeds_of_all_others(model: Models, tmp_path: Path) -> None:
    rl.SB3Agent(model("ppo")).save(tmp_path / "model.zip")
    settings: dict[str, Any] = {"runs": 3, "seed": 5, "env_kwargs": WORLD}
    saved = rl.simulate("NSBandit-Piecewise-v0", "sb3", agent_kwargs={"path": tmp_path / "model.zip"}, **settings)
    live = rl.simulate("NSBandit-Piecewise-v0", rl.SB3Agent(model("ppo")), **settings)
    zoo = rl.simulate("NSBandit-Piecewise-v0", "ts", **settings)
    assert saved.seeds == live.seeds == zoo.seeds
    np.testing.assert_array_equal(saved.regret, live.regret)
    for run, seeds in enumerate(saved.seeds):
        agent = rl.SB3Agent(model("ppo"))
        played = nsb.run_episode(agent.wrap(make()), agent, seed=seeds)
        assert played.regret is not None
        np.testing.assert_array_equal(saved.regret[run], played.regret[saved.rounds - 1])


def test_the_slow_loop_is_announced_to_those_who_could_expect_the_fast_one(model: Models) -> None:
    agent = rl.SB3Agent(model("ppo"))
    wrapped = agent.wrap(make())
    nsb.simulate(wrapped, agent, runs=1)  # nobody expects a compiled network; a warning would be an error here
    with pytest.warns(UserWarning, match=r"wrapped in WindowedStatistics: playing through the generic Python loop"):
        nsb.simulate(wrapped, "ts", runs=1)


def test_simulate_wraps_the_environment_as_in_training_unless_it_is(model: Models) -> None:
    agent = rl.SB3Agent(model("ppo"))
    bare, wrapped = (nsb.simulate(env, agent, runs=2, seed=3) for env in (make(), agent.wrap(make())))
    np.testing.assert_array_equal(bare.regret, wrapped.regret)
    assert rl.simulate is nsb.simulate


def test_spaces_that_do_not_fit_are_named(model: Models) -> None:
    agent = rl.SB3Agent(model("ppo"))
    with pytest.raises(ValueError, match=r"shape \(14,\) and got one of shape \(5,\); wrap the environment"):
        nsb.run_episode(make(), agent, seed=0)
    with pytest.raises(ValueError, match="made for 3 arms, the environment has 4"):
        nsb.run_episode(agent.wrap(make(n_arms=4)), agent, seed=0)
    with pytest.raises(ValueError, match="and got none"):
        agent.act()
    continuous = PPO("MlpPolicy", "Pendulum-v1", device="cpu")
    with pytest.raises(TypeError, match="needs a model with Discrete actions"):
        rl.SB3Agent(continuous)


def test_other_bad_input_is_named(model: Models) -> None:
    with pytest.raises(ValueError, match=r"unknown algorithm 'popo'; did you mean 'ppo'\?"):
        rl.algorithm("popo")
    with pytest.raises(ValueError, match="DQN is played greedily"):
        rl.SB3Agent(model("dqn"), deterministic=False)
    with pytest.raises(ValueError, match="VecNormalize"):
        rl.SB3Agent(PPO("MlpPolicy", VecNormalize(vector_env()), device="cpu"))
    with pytest.raises(ValueError, match="needs path="):
        rl.simulate("NSBandit-Abrupt-v0", "sb3")
    with pytest.raises(TypeError, match="did you mean 'path'"):
        rl.simulate("NSBandit-Abrupt-v0", "sb3", agent_kwargs={"pat": 1})


def test_closed_arms_need_a_model_that_knows_masks(model: Models) -> None:
    env = wrappers.WindowedStatistics(wrappers.ArmAvailability(make(), probability=0.4), window=10)
    with pytest.raises(ValueError, match="has no rule for arms that cannot be played"):
        nsb.run_episode(env, rl.SB3Agent(model("ppo")), seed=0)
    with pytest.raises(ValueError, match="cannot use masks"):
        rl.SB3Agent(model("ppo")).act(np.zeros(14, np.float32), mask=np.ones(3, bool))


def test_a_maskable_model_plays_open_arms_only() -> None:
    from sb3_contrib import MaskablePPO

    env = wrappers.WindowedStatistics(wrappers.ArmAvailability(make(), probability=0.4), window=10)
    masked = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, device="cpu", seed=0).learn(64)
    played = nsb.run_episode(env, rl.SB3Agent(masked), seed=0)  # a closed arm would raise
    assert played.regret is not None
    assert len(played.arms) == 40


def test_late_rewards_can_be_played() -> None:
    env = wrappers.WindowedStatistics(wrappers.DelayedRewards(make(), delay=3), window=10)
    late = PPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, device="cpu", seed=0).learn(64)
    assert rl.SB3Agent(late).recipe == [("WindowedStatistics", {"window": 10})]
    assert len(nsb.run_episode(env, rl.SB3Agent(late), seed=0).arms) == 40
