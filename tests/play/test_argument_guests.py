"""Environments made of hostile arguments: refused in words, or played to the end with a finite regret."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from extremes import NUMBERS, STRANGERS
from fuzzing import guest

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.agents.core.arguments import LARGEST, MOST, SMALLEST
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.theory import knowledge

HORIZON = 30
WORLDS = [name for name in worlds.names() if name != "table"]
# How many rounds and arms there is memory for is another matter.
REASONABLE = [value for value in NUMBERS if not isinstance(value, int) or not 1_000 < value <= MOST]


def play(env: NSBanditEnv, name: str = "random") -> None:
    env.reset(seed=1)
    played = nsb.run_episode(env, agents.make(name, knowledge=knowledge(env.means)), 1)
    assert len(played.arms) == env.world.horizon
    assert 0 <= played.arms.min() <= played.arms.max() < env.world.n_arms
    assert played.regret is not None
    assert np.isfinite(played.regret).all()
    assert np.isfinite(played.rewards).all()


@pytest.mark.parametrize("name", WORLDS)
def test_every_parameter_of_every_world_with_every_strange_value(name):
    for key in worlds.kind(name).parameters():
        lists = [[value, 0.5, 0.5] for value in REASONABLE] if key == "mu" else []
        for value in [*REASONABLE, *STRANGERS, *lists]:
            with guest():
                play(NSBanditEnv(name, reward="gaussian", **({"horizon": HORIZON} | {key: value})))


@pytest.mark.parametrize("law", rewards.names())
def test_every_parameter_of_every_law_with_every_strange_value(law):
    for key in rewards.kind(law).parameters():
        for value in [*REASONABLE, *STRANGERS]:
            with guest():
                play(NSBanditEnv("smooth", horizon=HORIZON, reward=law, **{key: value}))


@pytest.mark.parametrize("name", [name for name in agents.HOUSE if agents.kind(name).accepts == "real"])
@pytest.mark.parametrize(
    ("mu", "scale"),
    [
        ((-LARGEST, LARGEST), LARGEST),
        ((LARGEST, LARGEST), SMALLEST),
        ((0.0, SMALLEST), SMALLEST),
        ((0.0, 5e-324), 1e-70),
        ((0.0, LARGEST), 1.0),
        ((-SMALLEST, 0.0), LARGEST),
    ],
)
def test_every_agent_for_real_rewards_plays_the_edges_of_gaussian_worlds(name, mu, scale):
    env = NSBanditEnv("stationary", mu=mu, horizon=HORIZON, reward="gaussian", scale=scale)
    with guest(), warnings.catch_warnings(action="error"):
        play(env, name)


@pytest.mark.parametrize("scale", [LARGEST, SMALLEST])
def test_compiled_rules_play_the_edges_too(scale):
    """Where indices came from NaN: the bonus of sw-ucb, and the race of gamma-swgts."""
    env = NSBanditEnv("abrupt", horizon=5_000, reward="gaussian", scale=scale)
    for name, given in [("sw-ucb", {}), ("gamma-swgts", {"gamma": LARGEST}), ("gamma-swgts", {"gamma": SMALLEST})]:
        runs = nsb.simulate(env, name, runs=1, agent_kwargs=given, record="all")
        assert runs.arms is not None
        assert 0 <= runs.arms.min() <= runs.arms.max() < 10
        assert runs.pulls.sum() == 5_000
        assert np.isfinite(runs.regret).all()
        generic = nsb.run_episode(env, agents.make(name, knowledge=_known(env), **given), runs.seeds[0])
        np.testing.assert_array_equal(generic.arms, runs.arms[0])


def _known(env: NSBanditEnv) -> agents.Knowledge:
    return replace(knowledge(env.means), subgaussian=env.law.subgaussian)
