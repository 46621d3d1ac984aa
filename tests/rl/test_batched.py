"""Many runs at once are the runs that a model plays alone, and what cannot be played at once is played one by one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import islice, repeat
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers import FlattenObservation, FrameStackObservation, RecordEpisodeStatistics, TimeLimit
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import PPO

import ns_mab_gym as nsb
from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl import batched
from ns_mab_gym.rl.batched import batch_size, chosen, draws_are_known, exponentials

from .conftest import ID, WORLD, Models, make, vector_env


def decided(model: Any) -> Any:
    """The model with larger weights: what it sees decides what it plays, which untrained networks hardly look at."""
    with torch.no_grad():
        model.policy.action_net.weight.mul_(300)
    return model


def untrained(env: gym.Env[Any, Any]) -> Any:
    kind = MaskablePPO if env.has_wrapper_attr("action_masks") else PPO
    return decided(kind("MlpPolicy", env, device="cpu", seed=1))


def check(agent: rl.SB3Agent, env: gym.Env[Any, Any], runs: int = 4, **kwargs: Any) -> nsb.Runs:
    """Play runs at once, and compare every number with those of episodes that are played alone."""
    played = nsb.simulate(env, agent, runs=runs, seed=3, record="all", **kwargs)
    assert played.arms is not None
    assert played.rewards is not None
    assert len(played) == runs
    for run, seeds in enumerate(played.seeds):
        alone = nsb.run_episode(agent.wrap(env), copy.deepcopy(agent), seed=seeds)
        assert alone.regret is not None
        np.testing.assert_array_equal(played.arms[run], alone.arms)
        np.testing.assert_array_equal(played.rewards[run], alone.rewards)
        np.testing.assert_array_equal(played.regret[run], alone.regret[played.rounds - 1])
        np.testing.assert_array_equal(played.pulls[run], alone.pulls)
        np.testing.assert_array_equal(played.suboptimal_pulls[run], alone.suboptimal_pulls)
    return played


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the batches that are played."""
    sizes: list[int] = []
    play = rl.SB3Agent.play_at_once

    def noted(agent: rl.SB3Agent, env: Any, seeds: Any) -> Any:
        sizes.append(len(seeds))
        return play(agent, env, seeds)

    monkeypatch.setattr(rl.SB3Agent, "play_at_once", noted)
    return sizes


@pytest.mark.parametrize("algo", rl.algorithms())
def test_each_run_is_the_one_that_the_model_plays_alone(model: Models, at_once: list[int], algo: str) -> None:
    for deterministic in (None, True):
        agent = rl.SB3Agent(model(algo), deterministic=deterministic)
        played = check(agent, make(), runs=5)
        assert played.parameters == [agent.parameters] * 5
        assert played.alarms is None
        assert len(np.unique(played.arms)) > 1 or agent.deterministic  # so that equal arms mean something
    assert at_once == [5, 5]


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_policy_that_decides_by_its_memory_remembers_in_a_batch(at_once: list[int], deterministic: bool) -> None:
    small = {"lstm_hidden_size": 8, "n_lstm_layers": 2}
    lstm = decided(RecurrentPPO("MlpLstmPolicy", vector_env(), device="cpu", seed=0, policy_kwargs=small))
    played = check(rl.SB3Agent(lstm, deterministic=deterministic), make())
    assert (played.pulls > 0).sum() > 4  # they change arms, so that there is something to agree on
    assert at_once == [4]


def test_wide_networks_of_many_weights_agree_too(at_once: list[int]) -> None:
    env = wrappers.LastRounds(wrappers.WindowedStatistics(make(n_arms=7, horizon=60), window=5), n=3)
    ppo = decided(PPO("MlpPolicy", env, device="cpu", seed=0, policy_kwargs={"net_arch": [200, 130, 33]}))
    check(rl.SB3Agent(ppo), make(n_arms=7, horizon=60), runs=9)
    assert at_once == [9]


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("NSBandit-Abrupt-v0", {"horizon": 30}),
        ("NSBandit-Piecewise-v0", {"horizon": 30, "n_arms": 10, "reward": "gaussian", "scale": 0.3}),
    ],
)
def test_fixed_worlds_and_other_reward_laws(at_once: list[int], name: str, kwargs: dict[str, Any]) -> None:
    env = gym.make(name, **kwargs)
    env.reset(seed=0)  # what was played before does not matter
    check(rl.SB3Agent(untrained(wrappers.WindowedStatistics(gym.make(name, **kwargs), window=4))), env)
    assert at_once == [4]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: env,
        lambda env: FrameStackObservation(wrappers.WindowedStatistics(env, window=10), 3),  # whose first is not zero
        lambda env: FrameStackObservation(env, 1),
        lambda env: FlattenObservation(FrameStackObservation(env, 4, padding_type="zero")),
        lambda env: FlattenObservation(FrameStackObservation(wrappers.LastRounds(env, n=2), 2)),
    ],
)
def test_stacked_frames_are_played_at_once(at_once: list[int], wrap: Callable[[Any], Any]) -> None:
    for deterministic in (False, True):
        check(rl.SB3Agent(untrained(wrap(make())), deterministic=deterministic), make())
    assert at_once == [4, 4]


@pytest.mark.parametrize("record", ["curve", "regret"])
def test_records_are_those_of_simulate(model: Models, record: Any) -> None:
    agent = rl.SB3Agent(model("ppo"))
    everything = nsb.simulate(make(), agent, runs=3, record="all", rounds=range(1, 41))
    kept = nsb.simulate(make(), agent, runs=3, record=record)
    np.testing.assert_array_equal(kept.regret, everything.regret)
    assert kept.arms is kept.rewards is None
    some = nsb.simulate(make(), agent, runs=3, rounds=[7, 20])
    assert some.rounds.tolist() == [7, 20, 40]
    np.testing.assert_array_equal(some.regret, everything.regret[:, [6, 19, 39]])


def test_batches_blocks_and_numbers_of_runs_change_nothing(
    model: Models, at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = rl.SB3Agent(model("recurrent-ppo"))
    whole = nsb.simulate(make(), agent, runs=7)
    monkeypatch.setattr(batched, "MOST", 3)
    told: list[tuple[int, int]] = []
    cut = nsb.simulate(make(), agent, runs=7, progress=lambda done, total: told.append((done, total)))
    assert at_once == [7, 3, 3, 1]
    assert told == [(done, 7) for done in range(1, 8)]
    np.testing.assert_array_equal(cut.regret, whole.regret)
    np.testing.assert_array_equal(cut.pulls, whole.pulls)
    later = nsb.simulate(make(), agent, runs=2, first_run=5)
    np.testing.assert_array_equal(later.regret, whole.regret[5:])


def test_a_batch_takes_a_part_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    env, instance = make(horizon=100_000), 8 * 3 * 100_000  # bytes
    for free in (0.0, 1e7, 1e8, 1e9):
        monkeypatch.setattr(batched, "available_memory", lambda free=free: free)
        assert max(1, free / 20 // instance) <= batch_size(env) <= max(free / 4 / instance, 1)
    assert batch_size(env) < batched.MOST


def test_playing_at_once_leaves_the_agent_and_torch_alone(model: Models) -> None:
    agent = rl.SB3Agent(model("recurrent-ppo"))
    agent.reset(seed=4)
    agent.act(np.zeros(14, np.float32))
    hidden, stream = agent._hidden[0].copy(), agent._stream
    torch.manual_seed(0)
    nsb.simulate(make(), agent, runs=2)
    drawn = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(1), drawn)
    np.testing.assert_array_equal(agent._hidden[0], hidden)
    assert torch.equal(agent._stream, stream)


# What is drawn.


@pytest.mark.parametrize("n_arms", [2, 7, 100])
def test_the_streams_are_those_of_a_categorical_distribution(n_arms: int) -> None:
    seeds = [0, 1, 2**62]
    logits = torch.randn(len(seeds), n_arms, generator=torch.Generator().manual_seed(0))
    drawn = [(torch.softmax(logits, 1) / noise).argmax(1).tolist() for noise in islice(exponentials(seeds, n_arms), 20)]
    with torch.random.fork_rng(devices=[]):
        for run, seed in enumerate(seeds):
            torch.manual_seed(seed)
            alone = [int(torch.distributions.Categorical(logits=logits[run : run + 1]).sample()) for _ in range(20)]
            assert [row[run] for row in drawn] == alone
    assert draws_are_known()


def test_a_torch_that_draws_otherwise_plays_one_by_one(
    model: Models, at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batched, "exponentials", lambda seeds, n_arms: repeat(torch.rand(1, 7)))
    draws_are_known.cache_clear()
    try:
        assert not draws_are_known()
        check(rl.SB3Agent(model("ppo")), make(), runs=2)
        assert at_once == []
        assert rl.SB3Agent(model("ppo"), deterministic=True).runs_at_once(rl.SB3Agent(model("ppo")).wrap(make()))
    finally:
        draws_are_known.cache_clear()


def test_close_calls_are_decided_as_the_run_is_played_alone() -> None:
    """In a batch the first of two arms has the higher score by a rounding error, or clearly; alone the second has."""
    alone = torch.tensor([[0.2, 0.5, 0.5 + 1e-7]])

    def scores(shown: torch.Tensor, states: Any, begins: bool) -> Any:
        found = torch.tensor([[0.2, 0.5 + 1e-7, 0.5], [0.2, 0.6, 0.5], [0.2, 0.5, 0.5]])
        return (alone if len(shown) == 1 else found), (states[0] + 1, states[1])

    states = torch.arange(3.0).expand(1, 1, 3).transpose(1, 2), torch.zeros(1, 3, 1)
    arms, following = chosen(scores, torch.zeros(3, 4), states, False, torch.ones(3, 1))
    assert arms.tolist() == [2, 1, 2]
    assert following is not None
    assert following[0].ravel().tolist() == [1, 2, 3]  # memories go on from the batch
    noise = torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.2, 1.0], [1.0, 2.0, 1.0]])
    assert chosen(scores, torch.zeros(3, 4), states, False, noise)[0].tolist() == [2, 2, 2]


# What cannot be played at once.


class Shifted(gym.RewardWrapper[Any, Any]):
    """A wrapper of the user's own."""

    def reward(self, reward: Any) -> float:
        return float(reward) + 1


@pytest.mark.parametrize(
    "wrap",
    [
        lambda: wrappers.WindowedStatistics(wrappers.DelayedRewards(make(), delay=3), window=10),
        lambda: wrappers.StandardizeReward(wrappers.WindowedStatistics(make(), window=10)),
        lambda: TimeLimit(wrappers.WindowedStatistics(make(), window=10), 7),
        lambda: RecordEpisodeStatistics(wrappers.WindowedStatistics(make(), window=10)),
        lambda: Shifted(wrappers.WindowedStatistics(make(), window=10)),
        lambda: wrappers.WindowedStatistics(FlattenObservation(make()), window=10),
        lambda: make(render_mode="ansi"),
        lambda: wrappers.WindowedStatistics(wrappers.ArmAvailability(make(), probability=0.4), window=10),
    ],
)
def test_what_has_no_twin_is_played_one_by_one(at_once: list[int], wrap: Callable[[], Any]) -> None:
    env = wrap()
    check(rl.SB3Agent(untrained(wrap())), env, runs=2)
    assert at_once == []


class Stubborn(PPO):
    """Plays the same arm, whatever its network says."""

    def predict(self, observation: Any, *given: Any, **more: Any) -> tuple[Any, Any]:
        return np.array(2), None


class StubbornPolicy(PPO.policy_aliases["MlpPolicy"]):  # type: ignore[name-defined,misc]
    """The same for a policy."""

    def _predict(self, observation: torch.Tensor, deterministic: bool = False) -> torch.Tensor:
        return torch.full((len(observation),), 1)


def test_a_model_that_chooses_in_a_way_of_its_own_is_played_one_by_one(at_once: list[int]) -> None:
    stubborn = rl.SB3Agent(Stubborn("MlpPolicy", vector_env(), device="cpu"))
    assert check(stubborn, make(), runs=2).pulls.tolist() == [[0, 0, 40]] * 2
    policy = rl.SB3Agent(PPO(StubbornPolicy, vector_env(), device="cpu"))
    assert check(policy, make(), runs=2).pulls.tolist() == [[0, 40, 0]] * 2
    assert at_once == []


def test_comparisons_play_at_once_too(model: Models, at_once: list[int], tmp_path: Any) -> None:
    rl.SB3Agent(model("dqn")).export(tmp_path / "model.pt")
    nsb.compare((ID, WORLD), f"sb3:path={tmp_path / 'model.pt'}", runs=4, progress=False)
    assert sum(at_once) == 4
