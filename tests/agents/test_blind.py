"""Told T and K alone, every agent has parameters and plays, from the smallest sizes to large ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from examples import HOUSE, known

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents import Knowledge, MissingKnowledgeError

KNOW_THE_WORLD = {"oracle", "oracle-restart"}
BLIND = [name for name in HOUSE if name not in KNOW_THE_WORLD]
SIZES = [(2, 1), (2, 2), (10, 1), (200, 3), (10, 50), (200, 50_000), (2, 1_000_000)]


def play(agent: agents.Agent, rounds: int) -> None:
    agent.reset(seed=1)
    for t in range(rounds):
        arm = agent.act()
        assert 0 <= arm < agent.n_arms
        agent.observe(arm, float((t + arm) % 3 == 0))


def assert_finite(agent: agents.Agent) -> None:
    for key, value in agent.parameters.items():
        if isinstance(value, float):
            assert np.isfinite(value), f"{agent.name}: {key} = {value}"


@pytest.mark.parametrize("name", BLIND)
def test_every_size(name):
    for n_arms, horizon in SIZES:
        agent = agents.make(name, n_arms, horizon, blind=True)
        assert_finite(agent)
        play(agent, min(horizon, n_arms + 10))


@pytest.mark.parametrize("name", BLIND)
def test_informed_of_no_change_of_few_and_of_one_in_every_round(name):
    """The formulas are made for few changes, but must not break where a world drifts."""
    for n_arms, horizon in [(2, 1), (4, 400), (10, 1_000_000)]:
        for changes in sorted({0, min(1, horizon - 1), horizon // 16, horizon - 1}):
            told = Knowledge(
                n_arms=n_arms, horizon=horizon, breakpoints=changes, variation=0.01 * changes,
                lipschitz=0.01 * (changes > 0), switches=min(changes, 3), subgaussian=0.5,
            )  # fmt: skip
            agent = agents.make(name, knowledge=told)
            assert_finite(agent)
            play(agent, min(horizon, 30))


@pytest.mark.parametrize("name", BLIND)
def test_blind_means_told_nothing_but_t_and_k(name):
    """What the world is like makes no difference; without the word, it is what the agent is told by arguments alone."""
    told, other = known(4, 400), dataclasses.replace(known(4, 400), breakpoints=77, variation=9.0, switches=5)
    blind = agents.make(name, knowledge=told, blind=True).parameters
    assert blind == agents.make(name, knowledge=other, blind=True).parameters
    if not agents.kind(name).assumes:
        assert blind == agents.make(name, 4, 400).parameters


def test_who_must_assume_something():
    """Their sources have no formula without it; without the word `blind` they say what is missing."""
    assert {name: dict(agents.kind(name).assumes) for name in HOUSE if agents.kind(name).assumes} == {
        "rexp3": {"variation": 1.0},
        "ser4": {"switches": 0},
    }
    assert agents.make("rexp3", 10, 50_000, blind=True).batch == 3862  # ⌈(10 ln 10)^(1/3) 50 000^(2/3)⌉
    for name in ("rexp3", "ser4"):
        with pytest.raises(MissingKnowledgeError):
            agents.make(name, 10, 50_000)
        assert "Blind:" in agents.card(name).tuning


@pytest.mark.parametrize("name", sorted(KNOW_THE_WORLD))
def test_who_knows_the_world_cannot_be_blind(name):
    with pytest.raises(ValueError, match=rf"{name} plays by the means and cannot be blind; leave out blind, or"):
        agents.make(name, knowledge=known(4, 400), blind=True)


def test_both_ways_to_play_blind():
    world = worlds.Abrupt(horizon=300)
    runs = nsb.simulate(world, "rexp3", runs=1, seed=2, agent_kwargs={"blind": True}, record="all")
    agent = agents.make("rexp3", 10, 300, blind=True)
    played = nsb.run_episode(nsb.envs.NSBanditEnv(world), agent, runs.seeds[0])
    np.testing.assert_array_equal(runs.arms[0], played.arms)
    assert runs.parameters[0]["batch"] == agent.batch
    assert runs.parameters[0] != nsb.simulate(world, "rexp3", runs=1, seed=2).parameters[0]


def test_blind_is_yes_or_no():
    with pytest.raises(
        TypeError, match="blind must be True or False, got 'yes'; on the command line, write blind=true"
    ):
        agents.make("ts", 3, 100, blind="yes")
