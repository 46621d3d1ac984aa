"""Environments and agents made of hostile arguments: refused in words, or played to the end with a finite regret."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

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


def drawn(rng: np.random.Generator, pool: list[Any]) -> Any:
    return pool[rng.integers(len(pool))]


def mutated(rng: np.random.Generator, names: tuple[str, ...]) -> dict[str, Any]:
    """Some of these parameters, with values at random."""
    values = [*REASONABLE, *REASONABLE, *STRANGERS]
    return {name: drawn(rng, values) for name in names if rng.random() < 0.3}


def make_env(rng: np.random.Generator) -> NSBanditEnv:
    world, law = drawn(rng, WORLDS), drawn(rng, rewards.names())
    kind = worlds.kind(world)
    given = {"horizon": HORIZON} | mutated(rng, kind.parameters())
    if world == "stationary" and rng.random() < 0.5:
        given["mu"] = [drawn(rng, REASONABLE) for _ in range(3)]
    return NSBanditEnv(world, reward=law, **given, **mutated(rng, rewards.kind(law).parameters()))


def play(env: NSBanditEnv, name: str, rng: np.random.Generator, given: dict[str, Any]) -> None:
    env.reset(seed=1)
    agent = agents.make(name, knowledge=knowledge(env.means), **given)
    if agent.accepts != "real" and env.law.support[1] > 1:
        agent = agents.make(name, knowledge=knowledge(env.means), **(given | {"binarize": True}))
    played = nsb.run_episode(env, agent, int(rng.integers(100)))
    assert len(played.arms) == env.world.horizon
    assert 0 <= played.arms.min() <= played.arms.max() < env.world.n_arms
    assert played.regret is not None
    assert np.isfinite(played.regret).all()
    assert np.isfinite(played.rewards).all()


def test_guests_with_any_arguments(guests, watched):
    for rng in guests:
        with guest(watched=watched):
            name = drawn(rng, list(agents.HOUSE))
            mutable = tuple(each for each in agents.kind(name).tunable() if each != "binarize")
            play(make_env(rng), name, rng, mutated(rng, mutable))


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
        play(env, name, np.random.default_rng(1), {})


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
