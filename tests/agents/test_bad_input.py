"""Bad input to the agents: an error that names what was given, what is allowed and what to do."""

from __future__ import annotations

import numpy as np
import pytest
from examples import HOUSE, WINDOWED

from ns_mab_gym import agents
from ns_mab_gym.agents.core.arguments import LARGEST_REWARD
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError

HINTS = dict.fromkeys(WINDOWED, r"; the paper suggests 4\*sqrt\(T\*ln T\), 2942 at T = 50 000") | {
    "sw-kl-ucb": r"; the paper takes sigma\^\(-4/5\), 252 for sigma = 0.001"
}


@pytest.mark.parametrize("name", WINDOWED)
def test_every_window(name):
    with pytest.raises(ValueError, match="window must be a positive integer, got 0" + HINTS[name]):
        agents.make(name, 3, 1_000, window=0)


@pytest.mark.parametrize(
    ("window", "error"), [(-3, ValueError), (2.5, TypeError), (True, TypeError), ("long", TypeError), (None, TypeError)]
)
def test_windows(window, error):
    with pytest.raises(error, match=f"window must be a positive integer, got {window!r}; the paper suggests"):
        agents.make("sw-ucb", 3, 1_000, window=window)


@pytest.mark.parametrize(
    ("name", "parameters", "error", "words"),
    [
        (
            "gamma-swgts",
            {"gamma": 0},
            ValueError,
            r"gamma must be a finite number above 0, got 0; the paper takes min\(",
        ),
        ("rexp3", {"batch": 5, "gamma": 0.0}, ValueError, "gamma must be a finite number above 0, got 0.0"),
        ("rexp3", {"batch": 5, "gamma": 1.5}, ValueError, r"gamma must lie in \[0, 1\], got 1.5"),
        ("rexp3", {"batch": 0, "gamma": 0.5}, ValueError, "batch must be a positive integer, got 0"),
        ("sw-ucb", {"xi": 0}, ValueError, "xi must be a finite number above 0, got 0"),
        ("kl-ucb", {"c": -1}, ValueError, "c must be a finite number of at least 0, got -1"),
        ("ser4", {"delta": 0, "epsilon": 0, "phi": 0}, ValueError, "delta must be a finite number above 0, got 0"),
        ("ser4", {"delta": 2, "epsilon": 0, "phi": 0}, ValueError, r"delta must lie in \[0, 1\], got 2"),
        ("ser4", {"delta": 0.1, "epsilon": -1, "phi": 0}, ValueError, "epsilon must be a finite number of at least 0"),
        ("ser4", {"delta": 0.1, "epsilon": 0, "phi": 1.1}, ValueError, r"phi must lie in \[0, 1\], got 1.1"),
        (
            "ser4",
            {"delta": 0.1, "epsilon": 0, "phi": 0, "factor": 0},
            ValueError,
            "factor must be a finite number above 0",
        ),
    ],
)
def test_parameters(name, parameters, error, words):
    with pytest.raises(error, match=words):
        agents.make(name, 3, 1_000, **parameters)


@pytest.mark.parametrize("n_arms", [0, 1, -4, 2.0, "ten"])
def test_numbers_of_arms(n_arms):
    for make in (lambda: agents.make("ts", n_arms, 1_000), lambda: agents.TS(n_arms)):
        with pytest.raises((ValueError, TypeError), match="n_arms must be an integer of at least 2, got "):
            make()


@pytest.mark.parametrize("name", HOUSE)
def test_every_agent_refuses_what_is_no_arm_or_no_reward_and_keeps_nothing_of_it(name, example):
    agent, other = example(name, 3), example(name, 3)
    with pytest.raises(ValueError, match="n_arms must be an integer of at least 2, got 1"):
        agents.kind(name)(**agent.parameters | {"n_arms": 1})
    for each in (agent, other):
        each.reset(seed=1)
    with pytest.raises(ValueError, match="an arm must be an integer from 0 to 2, got 3"):
        agent.observe(3, 1.0)
    with pytest.raises(UnsuitableRewardsError, match="a reward must be a finite number, got nan"):
        agent.observe(1, float("nan"))
    if agent.accepts != "real":
        with pytest.raises(UnsuitableRewardsError, match=f"{name} takes rewards .*, got a reward of 1.5; use gamma"):
            agent.observe(1, 1.5)
    for key, value in other.state_dict().items():
        np.testing.assert_array_equal(agent.state_dict()[key], value)


@pytest.mark.parametrize("horizon", [0, -5, 2.5])
def test_horizons(horizon):
    with pytest.raises((ValueError, TypeError), match=f"horizon must be a positive integer, got {horizon}"):
        agents.make("beta-swts", 3, horizon)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("beta-swt", r"unknown agent 'beta-swt'; did you mean 'beta-swts'\?"),
        ("kl_ucb", r"unknown agent 'kl_ucb'; did you mean 'kl-ucb'\?"),
        ("BetaSWTS", r"unknown agent 'BetaSWTS'; "),
        ("zzz", r"unknown agent 'zzz'; choose one of 'beta-swts', 'gamma-swgts', .*'oracle'"),
        (None, "unknown agent None; choose one of"),
        (3, "unknown agent 3; choose one of"),
    ],
)
def test_unknown_agents(given, words):
    for ask in (agents.make, agents.card, agents.kind):
        with pytest.raises(ValueError, match=words):
            ask(given)


@pytest.mark.parametrize(
    ("name", "parameter", "words"),
    [
        ("beta-swts", "windw", r"agent 'beta-swts' has no parameter 'windw'; did you mean 'window'\? it takes"),
        ("ts", "window", r"agent 'ts' has no parameter 'window'; it takes binarize"),
        ("ser4", "window", r"agent 'ser4' has no parameter 'window'; it takes binarize, delta, epsilon, phi, factor"),
    ],
)
def test_unknown_parameters(name, parameter, words):
    with pytest.raises(TypeError, match=words):
        agents.make(name, 3, 1_000, **{parameter: 1})


def test_an_unknown_attribute_of_the_package():
    with pytest.raises(AttributeError, match=r"module 'ns_mab_gym.agents' has no attribute 'UCB1000'"):
        _ = agents.UCB1000


@pytest.mark.parametrize(
    ("arm", "error"), [(3, ValueError), (-1, ValueError), (10**20, ValueError), (1.0, TypeError), ("1", TypeError)]
)
def test_arms_out_of_range(arm, error, example):
    with pytest.raises(error, match=f"an arm must be an integer from 0 to 2, got {arm!r}"):
        example("ts", 3).observe(arm, 1.0)


@pytest.mark.parametrize("binarize", [False, True])
@pytest.mark.parametrize(
    "reward", [float("nan"), np.float32("nan"), -float("inf"), 1.1 * LARGEST_REWARD, -1e308, 10**400, "1", None, [1.0]]
)
def test_rewards_that_are_no_numbers(reward, binarize, example):
    with pytest.raises(UnsuitableRewardsError, match=r"a reward must (be a finite number|lie between .*), got"):
        example("gamma-swgts", 3, binarize=binarize).observe(1, reward)


@pytest.mark.parametrize("name", ["ts", "kl-ucb", "sw-ucb"])
@pytest.mark.parametrize("reward", [0.5, -0.1, 1.5, 2.0])
def test_rewards_that_an_agent_cannot_take(name, reward, example):
    agent = example(name, 3)
    wanted = {
        "binary": (reward not in (0, 1), "rewards that are 0 or 1"),
        "unit": (not 0 <= reward <= 1, r"rewards in \[0, 1\]"),
        "real": (False, ""),
    }[agent.accepts]
    if not wanted[0]:
        agent.observe(0, reward)
        return
    words = (
        f"{name} takes {wanted[1]}, got a reward of {reward:g}; use gamma-swgts, which takes any subgaussian reward, "
        r"or binarize=True, which draws a Bernoulli with the reward \(clipped to \[0, 1\]\) as its mean"
    )
    with pytest.raises(UnsuitableRewardsError, match=words):
        agent.observe(0, reward)
    example(name, 3, binarize=True).observe(0, reward)


def test_what_each_agent_takes():
    """By their papers: Beta posteriors count successes, KL and Exp3 are for [0, 1], the rest for any reward."""
    takes = {name: agents.kind(name).accepts for name in HOUSE}
    assert {takes["beta-swts"], takes["ts"]} == {"binary"}
    assert {takes["kl-ucb"], takes["sw-kl-ucb"], takes["rexp3"]} == {"unit"}
    assert takes["gamma-swgts"] == "real"


@pytest.mark.parametrize("mask", [[True], [True, False, True, True], [False, False, False], np.ones((3, 1), bool)])
def test_masks(mask, example):
    with pytest.raises(ValueError, match="a mask needs 3 truth values, at least one of them true, got "):
        example("beta-swts", 3).act(mask=mask)
