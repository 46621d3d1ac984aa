"""Bad input to the agents: an error that names what was given, what is allowed and what to do."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from examples import HOUSE, WINDOWED, example_agent, known
from extremes import NUMBERS, REWARDS, STRANGERS, from_the_front
from fuzzing import guest

from ns_mab_gym import agents
from ns_mab_gym.agents.core.arguments import LARGEST, LARGEST_REWARD, MOST, SMALLEST, number, positive_int
from ns_mab_gym.agents.core.knowledge import COUNTS
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError

ABOVE, LEAST = "must be a finite number above 0, got", "must be a finite number of at least 0, got"
KNOWN = agents.Knowledge(n_arms=3, horizon=1_000, variation=1.0, switches=1)
UNIT, QUOTIENT = r"must lie in \[0, 1\], got", "factor/delta must be finite and above 1, got"
PAPERS = [name for name in WINDOWED if name != "sw-kl-ucb"]
SUGGESTED = r"; the paper suggests 4\*sqrt\(T\*ln T\), 2942 at T = 50 000"
ROTTING: list[tuple[Any, ...]] = [
    ({"alpha": 0.0}, f"alpha {ABOVE} 0.0"),
    ({"subgaussian": -1.0}, rf"subgaussian {ABOVE} -1.0; it is the scale of the rewards, \(b - a\)/2 for"),
    ({"grid": "geometrical"}, "unknown grid 'geometrical'; did you mean 'geometric'?"),
    ({"ratio": 1.0}, "ratio must be at least 1.01, got 1.0; the sources take 2; for every window, choose grid="),
    ({"horizon": 0}, "horizon must be a positive integer, got 0; grid='geometric' needs none"),
    ({"horizon": None}, "horizon must be a positive integer, got None; grid='geometric' needs none", TypeError),
    ({"grid": "geometric", "horizon": -1}, "horizon must be a positive integer, got -1"),
]
BY_GLR: list[tuple[Any, ...]] = [
    *(({"delta": d}, r"delta must .*got .*; the source takes 1/sqrt\(T\)") for d in (0, 1, 1.0, -0.5, 2, math.nan)),
    ({"factor": 0}, f"factor {ABOVE} 0; 1 in the authors' code"),
    ({"every": 0}, "every must be a positive integer, got 0"),
    ({"memory": 7}, "memory must be an integer of at least 8, got 7"),
    ({"factor": 0.1, "delta": 0.1}, f"{QUOTIENT} factor=0.1 and delta=0.1; factor is 1 in the auth"),
    ({"factor": 1e-100, "delta": 0.5}, f"{QUOTIENT} factor=1e-100 and delta=0.5; factor is 1 in the auth"),
    ({"restart": "locl"}, r"unknown restart 'locl'; did you mean 'local'\?"),
    ({"rate": 1.5}, f"rate {UNIT} 1.5"),
    ({"rate": -0.1}, f"rate {LEAST} -0.1"),
]
BY_SUMS: list[tuple[Any, ...]] = [
    ({"threshold": -1.0}, f"threshold {LEAST} -1.0"),
    ({"epsilon": -0.1}, f"epsilon {LEAST} -0.1; half of"),
    ({"epsilon": math.nan}, f"epsilon {LEAST} nan"),
    ({"alpha": 1.5}, f"alpha {UNIT} 1.5"),
    ({"alpha": -1}, f"alpha {LEAST} -1"),
    ({"xi": 0}, f"xi {ABOVE} 0"),
]
# The parameters of each agent that are refused, and in which words; a ValueError if nothing else is said.
BY_GRADIENT = [
    ({"step": -1}, f"step {LEAST} -1; 0.001 is usual"),
    ({"least": 1.5}, f"least {UNIT} 1.5; 0.6 is that of the authors' package"),
]
WALKING = [
    ({"phi": 0.0}, f"phi {ABOVE} 0.0; 1 is a random walk"),
    ({"phi": 1.5}, f"phi {UNIT} 1.5; 1 is a random walk"),
    ({"mean": math.nan}, "mean must be a finite number, got nan"),
    ({"drift": 0.0}, f"drift {ABOVE} 0.0; it is the standard"),
    ({"drift": 1e-80}, "drift must be at least 1e-70, got 1e-80; it is the standard"),
    ({"noise": -1}, f"noise {LEAST} -1; it is the stan"),
    ({"prior": 0}, f"prior {ABOVE} 0; it is the standard deviation of what is believed"),
]
REFUSED: dict[str, list[tuple[Any, ...]]] = {
    "gamma-swgts": [({"gamma": 0}, rf"gamma {ABOVE} 0; the paper takes min\(")],
    "sw-ucb": [
        ({"window": -3}, "window must be a positive integer, got -3; the paper suggests"),
        *(({"window": w}, f"window must .* integer, got {w!r}; the", TypeError) for w in (2.5, True, "long", None)),
        ({"xi": 0}, f"xi {ABOVE} 0"),
    ],
    "sw-kl-ucb": [({"window": 0}, r"window must be .* got 0; the paper takes sigma\^\(-4/5\), 252 for sigma = 0.001")],
    "kl-ucb": [({"c": -1}, f"c {LEAST} -1")],
    "rexp3": [({"batch": 0}, "batch must be a positive integer, got 0"), ({"gamma": 0.0}, f"gamma {ABOVE} 0.0")],
    "exp3": [({"gamma": 0}, f"gamma {ABOVE} 0"), ({"gamma": 1.5}, f"gamma {UNIT} 1.5")],
    "exp3s": [
        ({"gamma": 2}, f"gamma {UNIT} 2"),
        ({"alpha": 0}, f"alpha {ABOVE} 0; the source takes 1/T; .* use exp3"),
        ({"alpha": 1.5}, f"alpha {UNIT} 1.5; the source takes 1/T"),
    ],
    "exp3-ix": [
        ({"eta": -1}, f"eta {LEAST} -1; 0 stands for the source's formula without T"),
        ({"gamma": -1}, f"gamma {ABOVE} -1; None stands for η/2"),
    ],
    "tsallis-inf": [
        ({"estimator": "irw"}, r"unknown estimator 'irw'; did you mean 'iw'"),
        ({"rate": 0.0}, f"rate {ABOVE} 0.0; the source takes 4"),
        ({"rate": -1, "estimator": "iw"}, f"rate {ABOVE} -1; the source takes 2"),
    ],
    "epsilon-greedy": [
        ({"epsilon": 1.5}, f"epsilon {UNIT} 1.5"),
        ({"decay": -1}, f"decay {LEAST} -1"),
        ({"step": -0.1}, f"step {LEAST} -0.1; 0 stands for sample averages"),
        ({"step": 1.5}, f"step {UNIT} 1.5; 0 stands"),
        ({"initial": math.inf}, "initial must be a finite number, got inf"),
    ],
    "softmax": [
        ({"temperature": 0}, f"temperature {ABOVE} 0; it is in the units of rewards; 0.1"),
        ({"cooling": "no"}, "cooling must be true or false, got 'no'; write cooling=true", TypeError),
        ({"step": "0.1"}, "step must be a finite number of at least 0, got '0.1'", TypeError),
    ],
    "gradient-bandit": [
        ({"step": 0}, f"step {ABOVE} 0; it is in units of one over the reward"),
        ({"baseline": 1}, "baseline must be true or false, got 1; write baseline=true", TypeError),
    ],
    "explore-then-commit": [
        ({"m": 0}, "m must be a positive integer, got 0"),
        ({"m": 2.0}, "m must be a positive integer, got 2.0; write 2", TypeError),
    ],
    "ser4": [
        ({"delta": 0}, f"delta {ABOVE} 0"),
        ({"delta": 2}, f"delta {UNIT} 2"),
        ({"epsilon": -1}, f"epsilon {LEAST} -1"),
        ({"phi": 1.1}, f"phi {UNIT} 1.1"),
        ({"factor": 0}, f"factor {ABOVE} 0; 2 by Hoeffding"),
    ],
    "d-ucb": [
        ({"gamma": 1.01}, rf"gamma {UNIT} 1.01; 1 forgets nothing, and 1 - 1/\(4\*sqrt\(T\)\)"),
        ({"gamma": math.nan}, f"gamma {ABOVE} nan"),
        ({"xi": 0}, f"xi {ABOVE} 0"),
    ],
    "ds-ts": [
        ({"subgaussian": -1}, rf"subgaussian {ABOVE} -1; it is the scale of the rewards"),
        ({"subgaussian": 1e-320}, r"subgaussian must lie between 1e-100 and 1e\+30 in size, got 1e-320; it is"),
    ],
    "dsw-ts": [
        ({"window": 0}, "window must be a positive integer, got 0; it counts the pulls of each arm; None"),
        ({"f": "median"}, "unknown f 'median'; did you mean 'mean'"),
        ({"f": 3}, "unknown f 3; choose one of 'mean', 'min', 'max'"),
    ],
    "active-ptw": [
        ({"depth": -1}, "depth must be an integer of at least 0, got -1; log2 of the number of rounds"),
        ({"depth": 63}, "depth must be at most 62, got 63; log2 of the number of rounds"),
        ({"split": 0}, f"split {ABOVE} 0"),
        ({"split": 1.0}, "split must be below 1, got 1.0"),
    ],
    "adr-ts": [
        ({"delta": 1}, r"delta must be below 1, got 1; the source takes 1/T\^3"),
        ({"delta": 0}, rf"delta {ABOVE} 0; the source takes 1/T\^3"),
        ({"cut": "hoefding"}, r"unknown cut 'hoefding'; did you mean 'hoeffding'\?"),
        ({"every": -1}, "every must be a positive integer, got -1"),
        ({"per_row": 1}, "per_row must be an integer of at least 2, got 1"),
    ],
    "bandit-over-windows": [
        ({"block": 0}, r"block must be a positive integer, got 0; .*707"),
        ({"gamma": 1.5}, f"gamma {UNIT} 1.5"),
        ({"base": "ts"}, "unknown base 'ts'; choose one of 'sw-ucb', 'beta-swts'"),
        ({"base": "sw-ucp"}, "unknown base 'sw-ucp'; did you mean 'sw-ucb'?"),
        ({"base": "sw-ucb(xi=-1)"}, f"xi {ABOVE} -1"),
        ({"base": "sw-ucb(xi=1"}, "base must be a name, with options in brackets"),
    ],
    "br-mab": [
        *BY_SUMS,
        ({"history": -1}, "history must be an integer of at least 0, got -1"),
        ({"history": 10**15}, "history must be at most 1,000,000, got 1000000000000000; the"),
        ({"threshold": 1e30}, r"threshold must be at most 1000000 unless history is given, got 1e\+30"),
        ({"level": 0.5}, "level must be at least 1e-15 and below 0.5, got 0.5; a common choice is 0.05"),
        ({"level": 0.0}, f"level {ABOVE} 0.0"),
        ({"margin": -0.1}, f"margin {LEAST} -0.1"),
        ({"capacity": 0}, "capacity must be a positive integer, got 0"),
        ({"warmup": 0}, "warmup must be a positive integer, got 0"),
    ],
    "cusum-ucb": [
        *BY_SUMS,
        ({"warmup": 0}, "warmup must be a positive integer, got 0"),
        ({"threshold": -1.0}, rf"threshold {LEAST} -1.0; the source takes ln\(T/Υ\)"),
    ],
    "pht-ucb": BY_SUMS,
    "m-ucb": [
        ({"samples": 7}, "samples must be even, as it is cut into halves, got 7; take 8"),
        ({"samples": 0}, "samples must be an integer of at least 2, got 0; it is cut into halves"),
        ({"samples": 7, "threshold": 3.0, "gamma": 0.5}, "samples must be even"),
        ({"threshold": -1}, f"threshold {LEAST} -1"),
        ({"gamma": 1.5}, f"gamma {UNIT} 1.5"),
        ({"xi": 0}, f"xi {ABOVE} 0"),
    ],
    "glr-klucb": BY_GLR,
    "glr-ts": BY_GLR,
    "master": [
        ({"horizon": 0}, "horizon must be a positive integer, got 0"),
        ({"delta": 0.0}, f"delta {ABOVE} 0.0"),
        ({"delta": 1.5}, f"delta {UNIT} 1.5"),
        ({"horizon": 1, "delta": 1.0}, "delta must lie below 1 where the horizon is 1, got 1"),
        ({"c": -1.0}, f"c {ABOVE} -1.0"),
        ({"tolerance": 0.0}, f"tolerance {ABOVE} 0.0; 1 is the source's"),
    ],
    "oracle": [
        *(({"means": np.zeros(s)}, r"means must have shape \(T, 3\), got \(4") for s in ((4,), (4, 2), (4, 3, 1))),
    ],
    "oracle-restart": [
        ({"means": np.zeros((4, 2))}, r"means must have shape \(T, 3\), got \(4, 2\)"),
        ({"means": np.zeros((4, 3)), "at": "switch"}, r"unknown at 'switch'; did you mean 'switches'\?"),
        ({"means": np.zeros((4, 3)), "c": -1}, f"c {LEAST} -1"),
    ],
    "predictive-sampling": [
        ({"phi": 1.0}, "phi must be at least 1e-06 and below 1, got 1.0; for means that stay use ts"),
        ({"phi": 0.0}, f"phi {ABOVE} 0.0"),
        ({"phi": (0.5, 0.5)}, "phi must be one number or 3 of them, one per arm, got 2"),
        ({"phi": (0.5, 0.5, 2)}, "phi must be at least 1e-06 and below 1, got 2"),
        ({"mean": math.nan}, "mean must be a finite number, got nan"),
        ({"drift": 0.0}, f"drift {ABOVE} 0.0; it is the standard"),
        ({"drift": 1e-80}, "drift must be at least 1e-70, got 1e-80; it is the standard"),
        ({"drift": (1, 1, 1e-80)}, "drift must be at least 1e-70, got 1e-80"),
        ({"noise": -1}, f"noise {LEAST} -1; it is the stan"),
        ({"variance": "prior"}, "unknown variance 'prior'; did you mean 'p"),
    ],
    "faded-index": [({"width": -1}, f"width {LEAST} -1; with 0.5 an arm never seen has the index 1")],
    "aff-ucb": [*BY_GRADIENT, ({"delta": 0}, f"delta {ABOVE} 0"), ({"delta": 2}, f"delta {UNIT} 2")],
    "aff-ts": [*BY_GRADIENT, ({"prior": 0}, f"prior {ABOVE} 0; 1 is the uniform prior")],
    "kalman-ts": WALKING,
    "kalman-ucb": [*WALKING, ({"width": -1}, f"width {LEAST} -1")],
    "r-less-ucb": [
        ({"epsilon": 0.5}, "epsilon must be below 0.5, got 0.5; two blocks of that share must fit; the source takes"),
        ({"epsilon": 0.0}, f"epsilon {ABOVE} 0.0; two blocks"),
        ({"alpha": 0.0}, f"alpha {ABOVE} 0"),
        ({"subgaussian": -1.0}, f"subgaussian {ABOVE} -1.0; it is the scale"),
        ({"horizon": 0}, "horizon must be a positive integer, got 0"),
    ],
    "raw-ucb": ROTTING,
    "fewa": ROTTING,
    "restarting": [
        ({"base": 3}, "base must be a name, with options in brackets .*, got 3", TypeError),
        ({"base": "tss"}, r"unknown agent 'tss'; did you mean 'ts'\?"),
        ({"base": "random"}, "base 'random' cannot forget; take an agent that learns, such as 'ts'"),
        ({"base": "oracle"}, "base 'oracle' is told the means; take an agent that learns"),
        ({"base": "master"}, "base 'master' restarts by itself; take an agent that does not"),
        ({"base": "br-mab"}, "base 'br-mab' restarts by itself; take an agent"),
        ({"base": "oracle-restart"}, "base 'oracle-restart' is told the means; take an agent that learns"),
        ({"base": "glr-ts"}, "base 'glr-ts' has a detector already; take an agent without one"),
        ({"base": "restarting"}, "base 'restarting' has a detector already"),
        ({"base": "kl-ucb(d=0)"}, "base 'kl-ucb' has no parameter 'd'; .*it takes c", TypeError),
        ({"base": "kl-ucb(c=-1)"}, f"c {LEAST} -1"),
        ({"detector": "glrr"}, r"unknown detector 'glrr'; did you mean 'glr'\?"),
        ({"detector": "glr(delta=2)"}, "delta must be below 1, got 2"),
        ({"detector": "glr(window=2)"}, "detector 'glr' has no parameter 'window'; it takes delta, factor", TypeError),
        ({"restart": "everything"}, "unknown restart 'everything'; choose one of 'local', 'global'"),
        ({"exploration": "in turns"}, r"unknown exploration 'in turns'; did you mean 'in turn'\?"),
        ({"rate": -1}, f"rate {LEAST} -1"),
        ({"rate": 2}, f"rate {UNIT} 2"),
        ({"rate": math.nan, "exploration": "diminishing"}, f"rate {LEAST} nan"),
        ({"counting": "arms"}, r"unknown counting 'arms'; did you mean 'arm'\?"),
        ({"counting": "arm"}, r"base 'ts' has no index that counts 'arm'; leave counting at 'rounds'"),
    ],
    "sw-lb-sda": [
        ({"exponent": 0.0}, f"exponent {ABOVE} 0.0; the authors take 1/3"),
        ({"exponent": 1e30}, r"sw-lb-sda cannot compute with numbers this .*exponent = 1e"),
    ],
    "changepoint-ucb": [
        ({"rate": 1.5}, f"rate {UNIT} 1.5; the number of changes per round; leave it out to learn it"),
        ({"prior": 1.0}, "prior must be at least 1e-06 and below 0.999999, got 1.0; it is the mean of an arm after"),
        ({"width": -1.0}, f"width {LEAST} -1.0"),
        ({"hypotheses": 1}, "hypotheses must be an integer of at least 8, got 1"),
    ],
    "switching-ts": [
        ({"hazard": -0.1}, f"hazard {LEAST} -0.1; the number of changes"),
        ({"hazard": 1.5}, f"hazard {UNIT} 1.5; the number of changes per round, 0.001"),
        ({"hypotheses": 0}, "hypotheses must be a positive integer, got 0"),
        ({"restart": "globally"}, r"unknown restart 'globally'; did you mean 'global'\?"),
        ({"hazard": "learned"}, r"unknown hazard 'learned'; did you mean 'learnt'\?"),
        ({"hazard": "learnt", "restart": "arm"}, "hazard='learnt' goes with restart='global', got restart='arm'; give"),
    ],
}
EVERY = [(name, *each, ValueError)[:4] for name, several in REFUSED.items() for each in several] + [
    *((name, {"window": 0}, f"window must be a positive integer, got 0{SUGGESTED}", ValueError) for name in PAPERS),
    *(
        (name, {"gamma": 0}, f"gamma {ABOVE} 0; 1 forgets nothing", ValueError)
        for name in ("d-ucb", "d-ts", "ds-ts", "dsw-ts", "faded-index")
    ),
]


@pytest.mark.parametrize(("name", "parameters", "words", "error"), EVERY)
def test_parameters(name, parameters, words, error):
    make = partial(agents.make, name, knowledge=KNOWN)
    if "horizon" in parameters:  # which make() takes for itself
        make = partial(agents.kind(name), **{key: each for key, each in make().parameters.items() if key != "horizon"})
    with pytest.raises(error, match=words):
        make(**parameters)


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
    for ask in (lambda agent: agent.observe(arm, 1.0), lambda agent: agent.forget(arm)):
        with pytest.raises(error, match=f"an arm must be an integer from 0 to 2, got {arm!r}"):
            ask(example("ts", 3))


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
    words = f"{name} takes {wanted[1]}, got a reward of {reward:g}; use gamma-swgts, which takes any subgaussian reward"
    if 0 <= reward <= 1:
        words += ", or binarize=True, which draws a Bernoulli with the reward as its mean"
    with pytest.raises(UnsuitableRewardsError, match=words + "$"):
        agent.observe(0, reward)


@pytest.mark.parametrize("name", ["ts", "kl-ucb", "sw-ucb", "bandit-over-windows"])
@pytest.mark.parametrize("reward", [-0.1, 1.0000001, 1.5, 70, 500])
def test_coin_flips_refuse_what_is_no_probability(name, reward, example):
    words = rf"{name} with binarize=True draws .* must lie in \[0, 1\], got a reward of {reward}; rescale the rewards"
    agent = example(name, 3, binarize=True)
    with pytest.raises(UnsuitableRewardsError, match=words):
        agent.observe(0, reward)
    with pytest.raises(UnsuitableRewardsError, match=r"got rewards in \[-inf, inf\]"):
        agent.check_rewards((-math.inf, math.inf), binary=False)
    agent.observe(0, 0.5)


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


# Every agent at the edges of its parameters and rewards: refused in words, or it plays, ends and stays finite.

K, ROUNDS = 3, 30


def play(agent: agents.Agent, seed: int, rewards: list[float]) -> None:
    """Play some rounds with rewards at the edges; every arm exists, and no place of an array counts from its end."""
    agent.reset(seed=seed)
    agent.state = from_the_front(agent.state)
    rng = np.random.default_rng(seed)
    for t in range(ROUNDS):
        arm = agent.act()
        assert 0 <= arm < agent.n_arms
        agent.observe(arm if t % 5 else t // 5 % agent.n_arms, float(rng.choice(rewards)))


def numeric(name: str) -> list[str]:
    """The parameters of an agent that are numbers when its own formulas have tuned it."""
    given = example_agent(name, K).parameters
    return [key for key, value in given.items() if key not in ("n_arms", "binarize") and is_number(value)]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@pytest.mark.parametrize("name", HOUSE)
def test_extreme_parameters_are_refused_or_played(name):
    """One at a time, and all at once, with rewards at the edges of what the agent takes."""
    names = numeric(name)
    for value in NUMBERS:
        for changed in [{key: value} for key in names] + [dict.fromkeys(names, value)]:
            with guest():
                agent = agents.make(name, knowledge=known(K, 400), **changed)
                play(agent, 1, REWARDS[agent.accepts])


@pytest.mark.parametrize("name", HOUSE)
def test_the_limits_themselves_are_played(name):
    """The stated range is one that can be played: each number at the ends of it that the agent's formulas allow."""
    for key in numeric(name):
        for value in (SMALLEST, 1e-70, LARGEST):
            if (agent := accepted(name, key, value)) is not None:
                for seed in range(3):
                    play(agent, seed, REWARDS[agent.accepts])
                    assert not any(np.isnan(each).any() for each in numbers_of(agent)), f"{key}={value}"


def accepted(name: str, key: str, value: float) -> agents.Agent | None:
    try:
        return agents.make(name, knowledge=known(K, 400), **{key: value})
    except (ValueError, TypeError):
        return None


# What is NaN on purpose until it is needed: see the states.
UNKNOWN = ("log_norms", "information", "bounds")


def numbers_of(agent: agents.Agent) -> list[Any]:
    saved = agent.state_dict()
    return [value for key, value in saved.items() if key.startswith("state.") and not key.endswith(UNKNOWN)]


@pytest.mark.parametrize("name", ["ts", "sw-ucb", "raw-ucb", "switching-ts", "glr-ts", "bandit-over-windows", "br-mab"])
def test_what_does_not_fit_is_refused_in_words(name):
    """Where the system does not hand out memory for it; where it does, empty rows cost nothing."""
    whole = [each for each in numeric(name) if isinstance(example_agent(name).parameters[each], int)]
    for size in (2**53, 10**12):
        for key in ["n_arms", *whole]:
            with guest():
                agents.kind(name)(**example_agent(name, K).parameters | {key: size})


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (1.01 * LARGEST, ValueError, "x must lie between 1e-100 and 1e\\+30 in size, got 1.01e\\+30; try 1"),
        (-1.01 * LARGEST, ValueError, "x must lie between 1e-100 and 1e\\+30 in size"),
        (0.99 * SMALLEST, ValueError, "x must lie between 1e-100 and 1e\\+30 in size, got 9.9e-101"),
        (5e-324, ValueError, "in size, got 5e-324"),
        (10**400, ValueError, "x must be a finite number, got 1000"),
        (-(10**5_000), ValueError, "x must be a finite number, got an integer of 16610 bits; try 1"),
        (math.nan, ValueError, "x must be a finite number, got nan"),
        (-math.inf, ValueError, "x must be a finite number, got -inf"),
        ("0.5", TypeError, "x must be a finite number, got '0.5'"),
        (np.zeros(1), TypeError, r"x must be a finite number, got array\(\[0.\]\)"),
        (True, TypeError, "x must be a finite number, got True"),
        (1j, TypeError, "x must be a finite number, got 1j"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_numbers_have_a_stated_range(given, error, words):
    with pytest.raises(error, match=words):
        number("x", given, hint="try 1")


@pytest.mark.parametrize("given", [0, 0.0, SMALLEST, LARGEST, -SMALLEST, -LARGEST, np.float32(0.5), np.array(2), 7])
def test_the_range_of_numbers_holds_its_ends_and_zero(given):
    assert number("x", given) == float(given)


def test_counts_have_a_stated_range():
    assert positive_int("n", MOST) == MOST
    with pytest.raises(ValueError, match="n must be at most 9,007,199,254,740,992, got 9007199254740993"):
        positive_int("n", MOST + 1)
    with pytest.raises(ValueError, match=r"n must be at most .*, got an integer of 16610 bits"):
        positive_int("n", 10**5_000)
    assert positive_int("seed", 2**127, least=0, most=None) == 2**127


PIECES = [piece.name for piece in dataclasses.fields(agents.Knowledge) if piece.name not in ("means", "support")]
ENDS = [(0, 0), (0, 1), (-1, 3), (-5e-324, 5e-324), (LARGEST, LARGEST), (1e308, 1e308), (-1e308, 1e308), (0, math.inf)]


@pytest.mark.parametrize("piece", PIECES)
def test_knowledge_is_finite(piece):
    for value in [*NUMBERS, *STRANGERS]:
        with guest():
            told = getattr(agents.Knowledge(**{piece: value}), piece)
            assert told is None or 0 <= told < math.inf


@pytest.mark.parametrize("support", [1, (0,), (0, 1, 2), (1, 0), (0, math.nan), (0, None), ("a", "b")])
def test_the_interval_of_rewards_has_two_ends(support):
    with pytest.raises(ValueError, match="support must be the lowest and the highest reward, got "):
        agents.Knowledge(support=support)


@pytest.mark.parametrize("name", HOUSE)
def test_tuning_at_the_edges_of_knowledge_is_refused_or_played(name):
    for support in ENDS:
        with guest():
            agent = agents.make(name, knowledge=dataclasses.replace(known(K, 400), support=support))
            play(agent, 1, REWARDS[agent.accepts])
    for piece in PIECES:
        for value in (0, 1, 2, 17) if piece in COUNTS else (0, 5e-324, SMALLEST, 0.5, LARGEST, 1e308):
            with guest():
                told = dataclasses.replace(known(K, 400), **{piece: value})
                agent = agents.make(name, knowledge=told)
                play(agent, 1, REWARDS[agent.accepts])


def test_agents_made_by_guests(guests):
    """Any agent with any of its parameters at random: extreme, of the wrong kind, or as its formulas have them."""
    for rng in guests:
        with guest():
            name = HOUSE[rng.integers(len(HOUSE))]
            keys = [key for key in agents.kind(name).tunable() if key != "binarize" and rng.random() < 0.4]
            pool = [*NUMBERS, *NUMBERS, *STRANGERS]
            given = {key: pool[rng.integers(len(pool))] for key in keys}
            agent = agents.make(name, knowledge=known(int(rng.integers(2, 6)), 400), **given)
            play(agent, int(rng.integers(100)), REWARDS[agent.accepts])
