"""Agents in the middle of a run, for tests of saving: every agent of the house, and every form of their states."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples import HOUSE, example_agent

from ns_mab_gym.agents import Agent

ARMS = 4
FORMS: dict[str, list[dict[str, Any]]] = {
    "gamma-swgts": [{"gamma": 0.5}, {"binarize": True}],
    "dsw-ts": [{"window": None}, {"gamma": 1.0, "window": 3}],
    "d-ts": [{"gamma": 0.6}],
    "ds-ts": [{"gamma": 0.2}],
    "fewa": [{"grid": "geometric"}],
    "raw-ucb": [{"grid": "geometric"}],
    "switching-ts": [{"restart": "arm"}, {"hypotheses": 3}, {"restart": "arm", "hypotheses": 2, "hazard": 0.3}],
    "cusum-ucb": [{"threshold": 1.0, "warmup": 5}],
    "br-mab": [{"threshold": 1.0, "warmup": 5}],
    "bandit-over-windows": [{"base": base} for base in ("beta-swts", "gamma-swgts", "sw-kl-ucb")] + [{"block": 1}],
    "master": [{"tolerance": 0.001}],
    "predictive-sampling": [{"variance": "posterior"}],
    "restarting": [
        {"base": "ts", "detector": "cusum(threshold=1, warmup=5)", "exploration": "uniform", "rate": 0.1},
        {"base": "sw-ucb(window=20)", "detector": "adwin(delta=0.2, every=3, per_row=2)", "restart": "local"},
        {"base": "kl-ucb", "detector": "halves(samples=6, threshold=1)", "exploration": "diminishing", "rate": 1.0},
        {"base": "ucb1", "detector": "page-hinkley(threshold=1)", "counting": "arm"},
        {"base": "ucb1", "detector": "glr(delta=0.3, every=1, splits=1, memory=8)", "restart": "local"},
    ],
}
EVERY_FORM = [(name, parameters) for name in HOUSE for parameters in ({}, *FORMS.get(name, []))]


def in_the_middle(name: str, parameters: dict[str, Any], rounds: int, seed: int) -> Agent:
    """An agent that has played so many rounds on a bandit whose arms change places after every 50."""
    agent = example_agent(name, ARMS, **parameters)
    agent.reset(seed=seed)
    play_on(agent, rounds, seed)
    return agent


def play_on(agent: Agent, rounds: int, seed: int) -> list[int]:
    """The arms that an agent plays in the next rounds; fails on one that there is not."""
    luck, arms = np.random.default_rng(seed), []
    fractional = takes_fractions(agent)
    for t in range(rounds):
        arm = agent.act()
        assert 0 <= arm < agent.n_arms, f"it played arm {arm}"
        mean = 0.1 + 0.8 * ((arm + t // 50) % agent.n_arms) / agent.n_arms
        agent.observe(arm, min(1.0, mean + 0.1 * luck.random()) if fractional else float(luck.random() < mean))
        arms.append(arm)
    return arms


def takes_fractions(agent: Agent) -> bool:
    """Whether an agent takes rewards between 0 and 1."""
    try:
        agent.check_rewards((0.0, 1.0), False)
    except ValueError:
        return False
    return True
