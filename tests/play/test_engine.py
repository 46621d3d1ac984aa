"""The engine: every run equals, bit for bit, the episode that the interpreted loop plays with its seeds."""

from __future__ import annotations

import numpy as np
import pytest
from examples import HOUSE, WINDOWED
from interpreted_runs import assert_equal_runs, fitting, interpreted, is_tried

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.play.match import Match

every_agent = pytest.mark.parametrize("name", HOUSE)
PAIRS = [(name, law) for law in rewards.names() for name in HOUSE if is_tried(name, law)]


@pytest.fixture
def players(monkeypatch) -> list[agents.Agent]:
    """The agents that a simulation makes, in order: after it, as they stand at the end of their runs."""
    made: list[agents.Agent] = []
    agent_for = Match.agent_for

    def remember(match: Match, known: agents.Knowledge) -> agents.Agent:
        made.append(agent_for(match, known))
        return made[-1]

    monkeypatch.setattr(Match, "agent_for", remember)
    return made


@pytest.mark.parametrize(("name", "law"), PAIRS)
def test_compiled_equals_interpreted(name, law, players):
    """Arms, rewards, regret, pulls and N_{i,T}, over 5 seeds and 3 000 rounds; and what the agent knows at the end."""
    world, told = worlds.Abrupt(horizon=3_000), fitting(name, law)
    kwargs = {"runs": 5, "seed": 11, "env_kwargs": {"reward": law}, "agent_kwargs": told, "n_jobs": 1}
    runs = nsb.simulate(world, name, record="all", **kwargs)
    assert runs.arms.shape == runs.rewards.shape == (5, 3_000)
    for r, player in enumerate(players[-5:]):
        played, agent = interpreted(world, law, name, runs.seeds[r], **told)
        assert_equal_runs(runs, r, played)
        saved, other = agent.state_dict(), player.state_dict()
        assert saved.keys() == other.keys()
        for key in saved:  # parameters, memory, and where the generator stands
            np.testing.assert_array_equal(saved[key], other[key], err_msg=key)


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("window", [1, 3, 10, 60, 999, 1_000, 5_000])
def test_compiled_equals_interpreted_for_several_windows(name, window):
    """Shorter than K, equal to K, around the horizon, beyond it."""
    world, law = worlds.Abrupt(horizon=1_000), "gaussian" if agents.kind(name).accepts == "real" else "bernoulli"
    kwargs = {"window": window}
    runs = nsb.simulate(world, name, runs=2, seed=3, env_kwargs={"reward": law}, agent_kwargs=kwargs, record="all")
    for r in range(2):
        assert_equal_runs(runs, r, interpreted(world, law, name, runs.seeds[r], window=window)[0])


@every_agent
def test_a_random_world_and_tuning_for_each_instance(name):
    """Each run has its own instance, and an agent given by name is tuned from what is true of that instance."""
    world = worlds.Piecewise(horizon=600, n_arms=4, changes=3)
    runs = nsb.simulate(world, name, runs=3, seed=5, record="all")
    for r in range(3):
        played, agent = interpreted(world, "bernoulli", name, runs.seeds[r])
        assert_equal_runs(runs, r, played)
        assert runs.parameters[r] == {k: v for k, v in agent.parameters.items() if k != "means"}


def test_tuning_differs_from_instance_to_instance():
    runs = nsb.simulate(worlds.Piecewise(horizon=600, n_arms=4), "rexp3", runs=4, seed=5)
    batches = []
    for env_seed, _ in runs.seeds:
        env = NSBanditEnv(worlds.Piecewise(horizon=600, n_arms=4))
        env.reset(seed=env_seed)
        variation = np.abs(np.diff(env.means, axis=0)).max(axis=1).sum()
        batches.append(int(np.ceil((4 * np.log(4)) ** (1 / 3) * (600 / variation) ** (2 / 3))))
    assert [p["batch"] for p in runs.parameters] == batches
    assert len(set(batches)) > 1


def test_the_authors_sigma_tunes_on_smooth_worlds():
    """1585 for σ = 1e-4, although no mean moves by more than 0.45 σ per round; and 252 for σ = 1e-3."""
    runs = nsb.simulate("NSBandit-Smooth-v0", "sw-kl-ucb", runs=1, env_kwargs={"horizon": 2_000})
    assert runs.parameters[0]["window"] == 1585
    runs = nsb.simulate("NSBandit-SmoothFast-v0", "sw-kl-ucb", runs=1, env_kwargs={"horizon": 2_000})
    assert runs.parameters[0]["window"] == 252


@pytest.mark.parametrize(("scale", "gamma"), [(0.5, 1.0), (1.0, 0.25)])
def test_the_laws_scale_tunes_gamma_swgts(scale, gamma):
    kwargs = {"horizon": 50, "reward": "gaussian", "scale": scale}
    assert nsb.simulate("NSBandit-Abrupt-v0", "gamma-swgts", runs=1, env_kwargs=kwargs).parameters[0]["gamma"] == gamma
