"""Pulls whose rewards are under way: what they mean to each agent, against formulas by hand and in whole games."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from examples import HOUSE, example_agent

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.core.kernel import RULES, copied
from ns_mab_gym.agents.core.protocol import arrays_of
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.wrappers import DelayedRewards

K = 4
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("raw-ucb", {"grid": "geometric"}),
    ("fewa", {"grid": "geometric"}),
    ("cusum-ucb", {"forced_warmup": True, "warmup": 5}),
    ("epsilon-greedy", {"initial": 1.0}),
    ("softmax", {"cooling": True}),
    ("floor", {"base": "kl-ucb"}),
    ("restarting", {"base": "gamma-swgts(window=100)", "exploration": "diminishing", "rate": 1.0}),
]
EVERY = [*((name, {}) for name in HOUSE if agents.kind(name).handles_delay), *FORMS]
every_form = pytest.mark.parametrize(("name", "parameters"), EVERY, ids=lambda given: str(given)[:50])
# Those that play by an index alone, and those that force arms: with nothing known, all arms alike.
IN_TURN = [
    *("sw-ucb", "kl-ucb", "sw-kl-ucb", "ucb1", "d-ucb", "faded-index", "aff-ucb", "r-less-ucb", "raw-ucb", "fewa"),
    *("kalman-ucb", "changepoint-ucb", "sw-lb-sda", "explore-then-commit", "oracle-restart", "bandit-over-windows"),
    *("gamma-swgts", "ds-ts", "br-mab"),
]


def after(name: str, rounds: int, **parameters: Any) -> agents.Agent:
    """An agent after so many rounds of 0 or 1."""
    agent = example_agent(name, K, **parameters)
    agent.reset(seed=rounds)
    luck = np.random.default_rng(rounds)
    for _ in range(rounds):
        arm = agent.act()
        agent.observe(arm, float(luck.random() < 0.3 + 0.1 * arm))
    return agent


@pytest.mark.parametrize("name", IN_TURN)
def test_a_first_batch_is_spread_over_all_arms(name):
    """Without a reward no arm is better than another: of 81 pulls each arm has 20 or 21."""
    agent = after(name, 0)
    if name == "br-mab":
        agent = example_agent(name, K, alpha=0.0)
        agent.reset(seed=1)
    pulls = np.bincount([agent.act() for _ in range(81)], minlength=K)
    assert sorted(pulls) == [20, 20, 20, 21]
    assert agent.pending.tolist() == pulls.tolist()


@pytest.mark.parametrize("name", ["gamma-swgts", "ds-ts", "epsilon-greedy", "softmax"])
def test_an_arm_is_not_forced_again_before_its_first_reward(name):
    """Arm 0 was pulled and shows nothing for 200 rounds: it is forced once, and then the others are played."""
    agent = example_agent(name, K, **({"epsilon": 0.0} if name == "epsilon-greedy" else {}))
    agent.reset(seed=1)
    agent.observe(1, 0.5)
    agent.observe(2, 0.5)
    agent.observe(3, 0.5)
    arms = []
    for _ in range(200):
        arms.append(agent.act())
        if arms[-1] != 0:
            agent.observe(arms[-1], 0.5)
    assert arms.count(0) == 1
    assert agent.pending.tolist() == [1, 0, 0, 0]
    agent.lost(0)
    assert agent.act() == 0  # its reward never comes: it is tried again


@pytest.mark.parametrize("bound", ["ucb1", "sw-ucb"])
def test_pulls_under_way_narrow_a_bound(bound):
    """The index of the sources, with N and t that count them and means that do not: by hand, at every step."""
    agent = after(bound, 30, **({"window": 1_000} if bound == "sw-ucb" else {}))
    xi = agent.xi
    means, waiting = agent.state.window.sums / agent.state.window.pulls, np.zeros(K)
    for t in range(31, 91):
        n = agent.state.window.pulls + waiting
        index = means + np.sqrt(xi * math.log(t) / n)
        assert index[agent.act()] == pytest.approx(index.max(), abs=1e-12)
        waiting = agent.pending.copy()
    assert waiting.sum() == 60
    assert (waiting > 0).all()


def test_pulls_under_way_narrow_a_posterior():
    """Kalman-UCB: 1/P grows by n/σ_z² (the laws of Gaussian posteriors), and P is what its bound is made of."""
    agent = after("kalman-ucb", 20, width=3.0)
    means, variances, noise = agent.state.filter.means, agent.state.filter.variances, agent.noise**2
    for _ in range(40):
        index = means + 3.0 * np.sqrt(1 / (1 / variances + agent.pending / noise))
        assert index[agent.act()] == pytest.approx(index.max(), rel=1e-12)


def test_a_belief_about_changes_is_narrowed_by_pulls_under_way():
    """Mean and variance of every arm as before, but for v/(1 + n v/λ²) of the arm with n pulls under way."""
    agent = after("changepoint-ucb", 60)
    means, deviations = agent.estimates()
    agent.pulled(1)
    agent.pulled(1)
    agent.pulled(3)
    supposed = agent.clone()
    supposed.state = agent._supposed()
    narrowed, spreads = supposed.estimates()
    variances, noise = deviations**2, means * (1 - means)
    np.testing.assert_allclose(narrowed, means, rtol=1e-9)
    np.testing.assert_allclose(spreads**2, variances / (1 + np.array([0, 2, 0, 1]) * variances / noise), rtol=1e-6)


@every_form
def test_pulls_under_way_leave_the_state_as_it_is(name, parameters):
    """What is known changes with rewards alone; after them, all is as if none had been late."""
    agent, twin = after(name, 37, **parameters), after(name, 37, **parameters)
    for arm in (0, 3, 3):
        agent.pulled(arm)
    before = {key: value.tobytes() for key, value in arrays_of(agent.state).items()}
    if "expect" in RULES[type(agent.state)] and name != "bandit-over-windows":  # whose act may draw the next window
        played = [agent.act() for _ in range(20)]
        assert {key: value.tobytes() for key, value in arrays_of(agent.state).items()} == before
        assert agent.pending.tolist() == np.add(np.bincount(played, minlength=K), [1, 0, 0, 2]).tolist()
    agent.pending[:] = 0
    agent.rng = np.random.default_rng(1)
    twin.rng = np.random.default_rng(1)
    assert [agent.act()] == [twin.act()]


def test_pulls_are_counted_until_their_rewards_come_and_never_below_none():
    agent = agents.SWUCB(3, window=10)
    arms = [agent.act() for _ in range(4)]
    assert arms == [0, 1, 2, 0]
    agent.observe(0, 1.0)
    agent.observe(2, 1.0)
    agent.observe(2, 1.0)  # of a pull that it was not asked for
    agent.observe(2, 1.0)
    assert agent.pending.tolist() == [1, 1, 0]
    agent.lost(2)
    agent.pulled(1)
    assert agent.pending.tolist() == [1, 2, 0]
    assert agent.act() == 0
    other = agents.SWUCB(3, window=10)
    other.load_state_dict(agent.state_dict())
    for each in (agent, other):
        assert each.pending.tolist() == [2, 2, 0]
        each.observe(2, 1.0)  # arm 2 was played instead
        assert each.pending.tolist() == [1, 2, 0]
    agent.reset(seed=1)
    assert agent.pending.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="an arm must be an integer from 0 to 2, got 3"):
        agent.pulled(3)


def test_large_memories_are_shared_and_small_ones_copied():
    agent = example_agent("fewa", 3, horizon=50_000)
    view = copied(agent.state, 3)
    assert view.totals.values is agent.state.totals.values
    assert view.window.pulls is not agent.state.window.pulls


MEANS = np.repeat([[0.2, 0.4, 0.6, 0.8], [0.8, 0.3, 0.5, 0.1]], 150, axis=0)


def assert_compiled_equals_interpreted(name: str, parameters: dict[str, Any], **late: Any) -> None:
    env = DelayedRewards(NSBanditEnv(worlds.Table(rows=MEANS)), **late)
    runs = nsb.simulate(env, name, runs=2, seed=3, agent_kwargs=parameters, record="all")
    for r in range(2):
        agent = agents.make(name, knowledge=nsb.theory.knowledge(MEANS), **parameters)
        played = nsb.run_episode(env, agent, seed=runs.seeds[r])
        np.testing.assert_array_equal(played.arms, runs.arms[r])


@pytest.mark.parametrize("late", [{"delay": (0, 30)}, {"delay": 0, "batch": 50}, {"delay": 70, "batch": 20}], ids=str)
def test_the_compiled_loop_counts_them_too(late):
    assert_compiled_equals_interpreted("sw-ucb", {}, **late)


@pytest.mark.slow
@every_form
def test_the_compiled_loop_counts_them_too_for_every_agent(name, parameters):
    for late in ({"delay": (0, 30)}, {"delay": 0, "batch": 50}):
        assert_compiled_equals_interpreted(name, parameters, **late)


def test_with_a_long_delay_an_index_still_learns():
    """500 rounds of delay in 5 000: uniform play for 500 rounds costs a tenth of random play's regret; then it learns.

    Without a count it plays arms 1 to K for 501 rounds each, to the end, which is random play's regret on average.
    """
    env = DelayedRewards(NSBanditEnv(worlds.Piecewise(horizon=5_000, n_arms=10, changes=0, min_gap=0.1)), 500)
    regret, chance = (nsb.simulate(env, name, runs=10, seed=1).final.mean() for name in ("sw-ucb", "random"))
    assert regret < 0.75 * chance


@pytest.mark.parametrize("name", [name for name in HOUSE if not agents.kind(name).handles_delay])
def test_agents_that_learn_from_their_own_choice_refuse_late_rewards(name):
    env = DelayedRewards(NSBanditEnv(worlds.Table(rows=MEANS)), 3)
    with pytest.raises(ValueError, match=f"{name} has no rule for rewards that arrive late; use beta-swts or sw-ucb"):
        nsb.run_episode(env, example_agent(name, K), seed=1)
    assert agents.card(name).late.startswith("refused")
