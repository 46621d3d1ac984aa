"""References: random play, the oracle, and KL-UCB that is told of every change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ns_mab_gym as nsb
from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.agents.parts.alarms import alarms_in


def test_random_is_uniform_over_the_open_arms(example, count_acts):
    agent = example("random", 6)
    mask = np.array([True, False, True, True, False, True])
    counts = count_acts(agent.state, mask, np.random.default_rng(0), 100_000)
    assert counts[~mask].sum() == 0
    assert stats.chisquare(counts[mask]).pvalue > 1e-4
    assert stats.chisquare(count_acts(agent.state, np.ones(6, bool), np.random.default_rng(1), 100_000)).pvalue > 1e-4


def test_the_oracle_plays_the_first_arm_with_the_largest_mean_of_each_round():
    means = np.array([[0.1, 0.9, 0.9], [0.5, 0.5, 0.5], [0.0, 0.1, 0.2], [0.3, 0.2, 0.1]])
    agent = agents.Oracle(3, means=means)
    for _ in range(2):
        agent.reset(seed=0)
        assert [agent.act() for _ in range(4)] == [1, 0, 2, 0]
    assert agent.act() == 0  # beyond the last round: that of the last


def test_the_oracle_skips_closed_arms():
    agent = agents.Oracle(3, means=np.array([[0.1, 0.9, 0.5]] * 2))
    assert agent.act(mask=np.array([True, False, True])) == 2
    assert agent.act(mask=np.array([True, False, False])) == 0


def test_the_oracle_does_not_write_to_the_means():
    means = np.array([[0.1, 0.9], [0.8, 0.2]])
    agent = agents.Oracle(2, means=means)
    with pytest.raises(ValueError, match="read-only"):
        agent.means[0, 0] = 1.0
    means[0] = 5.0  # the caller's array stays the caller's


PHASES = np.array([[0.1, 0.5, 0.9], [0.1, 0.6, 0.9], [0.8, 0.6, 0.2]])
MEANS_ORACLE_RESTART = PHASES.repeat(200, axis=0)


@pytest.mark.parametrize(("at", "restarts"), [("breakpoints", [200, 400]), ("switches", [400])])
def test_it_is_kl_ucb_made_to_forget(at, restarts):
    """The same arms as KL-UCB with c = 0 that somebody tells to forget after these rounds, and its log says so."""
    agent, plain = agents.make("oracle-restart", 3, means=MEANS_ORACLE_RESTART, at=at), agents.make("kl-ucb", 3, c=0.0)
    luck = np.random.default_rng(1)
    for each in (agent, plain):
        each.reset(seed=1)
    for t in range(1, 601):
        arm = agent.act()
        assert arm == plain.act()
        reward = float(luck.random() < MEANS_ORACLE_RESTART[t - 1, arm])
        agent.observe(arm, reward)
        plain.observe(arm, reward)
        if t in restarts:
            plain.forget()
    assert alarms_in(agent.state).tolist() == [(t, agents.ALL, True) for t in restarts]


def test_where_nothing_changes_it_is_kl_ucb():
    world = worlds.Stationary(mu=(0.2, 0.4, 0.6), horizon=2_000)
    mine = nsb.simulate(world, "oracle-restart", runs=2, seed=1, record="all")
    other = nsb.simulate(world, "kl-ucb", runs=2, seed=1, record="all", agent_kwargs={"c": 0.0})
    np.testing.assert_array_equal(mine.arms, other.arms)
    assert [len(alarms) for alarms in mine.alarms] == [0, 0]


def test_breakpoints_in_piecewise_worlds_and_switches_in_smooth_ones():
    """From the description of a world; both lists by the theory module, whose rounds begin the new phase."""
    abrupt = worlds.Abrupt(horizon=5_000).means()
    smooth = 0.5 + 0.4 * np.sin(np.arange(5_000)[:, None] / 300 + np.arange(3))
    agent = agents.make("oracle-restart", knowledge=theory.describe(abrupt))
    assert agent.at == "breakpoints"
    np.testing.assert_array_equal(agent.state.restarts + 1, theory.breakpoints(abrupt))
    agent = agents.make("oracle-restart", knowledge=theory.describe(smooth))
    assert agent.at == "switches"
    best = smooth.argmax(axis=1)
    np.testing.assert_array_equal(agent.state.restarts, np.flatnonzero(best[1:] != best[:-1]) + 1)
    assert len(agent.state.restarts) == theory.describe(smooth).switches > 0


@pytest.mark.parametrize(("phase", "at"), [(3, "breakpoints"), (2, "switches")])
def test_phases_of_k_rounds_are_long_enough(phase, at):
    means = np.random.default_rng(1).random((20, 3)).repeat(phase, axis=0)
    assert agents.make("oracle-restart", 3, means=means).at == at
