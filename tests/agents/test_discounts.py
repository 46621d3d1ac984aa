"""Which discount an agent has: by its formula, by what is known of the world, or as it is told, if that can be."""

from __future__ import annotations

import math

import pytest
from discounted_history import DISCOUNTING

from ns_mab_gym import agents, simulate, theory, worlds
from ns_mab_gym.agents import Knowledge
from ns_mab_gym.agents.parts.discounted import blind_discount

T, K = 50_000, 10


def test_trap_a_discount_of_three_quarters_forgets_what_a_long_phase_teaches():
    """0.75, seen in public code, remembers 4 rounds: worse than the default by far on the paper's abrupt world.

    20 runs; the difference of the mean regrets is at least ten standard errors, and the default has less than a third.
    """
    regrets = [
        simulate(worlds.Abrupt(horizon=20_000), "d-ts", runs=20, seed=1, agent_kwargs=given).regret[:, -1]
        for given in ({}, {"gamma": 0.75})
    ]
    error = math.hypot(*(each.std(ddof=1) / math.sqrt(20) for each in regrets))
    assert regrets[1].mean() - regrets[0].mean() > 10 * error
    assert regrets[0].mean() < regrets[1].mean() / 3


@pytest.mark.parametrize("name", ["d-ucb", "d-ts", "ds-ts"])
def test_blind_discounts(name):
    """1 − 1/(4√T): 0.75 at T = 1, 0.998882 at 50 000, 0.99975 at 10^6."""
    for horizon, gamma in [(1, 0.75), (2, 1 - 1 / (4 * math.sqrt(2))), (T, 0.998882), (10**6, 0.99975)]:
        for n_arms in (2, 10, 200):
            assert agents.make(name, n_arms, horizon).gamma == pytest.approx(gamma, abs=1e-6)


def test_discounts_from_breakpoints():
    """D-UCB: 1 − ¼√(Υ/T); DS-TS: 1 − √(Υ/(T ln T)). At T = 50 000, Υ = 3: 1 − 0.0019365 and 1 − 0.0023548."""
    abrupt = theory.knowledge(worlds.Abrupt().means())
    assert (abrupt.breakpoints, abrupt.horizon) == (3, T)
    assert agents.make("d-ucb", knowledge=abrupt).gamma == pytest.approx(1 - 0.0019365, abs=1e-7)
    assert agents.make("ds-ts", knowledge=abrupt).gamma == pytest.approx(1 - 0.0023548, abs=1e-7)
    assert agents.make("d-ts", knowledge=abrupt).gamma == blind_discount(T)
    assert agents.make("d-ucb", knowledge=abrupt, gamma=0.5).gamma == 0.5
    assert agents.make("d-ucb", knowledge=abrupt).xi == 0.6


@pytest.mark.parametrize("name", ["d-ucb", "ds-ts"])
def test_discounts_at_the_ends(name):
    """No breakpoints: nothing is forgotten. Phases of under 16 rounds: means that drift, and the blind discount."""
    for horizon in (1, 2, 50, T, 10**6):
        still = agents.make(name, 3, horizon, knowledge=Knowledge(breakpoints=0))
        moving = agents.make(name, 3, horizon, knowledge=Knowledge(breakpoints=horizon))
        assert (still.gamma, moving.gamma) == (1.0, blind_discount(horizon))
    for changes, blind in [(100, False), (101, True)]:
        gamma = agents.make(name, 3, 1_600, knowledge=Knowledge(breakpoints=changes)).gamma
        assert (gamma == blind_discount(1_600)) is blind


def test_ds_ts_takes_the_scale_that_it_is_told():
    assert agents.make("ds-ts", K, T).scale == 0.5
    assert agents.make("ds-ts", K, T, knowledge=Knowledge(subgaussian=2.0)).scale == 2.0
    assert agents.make("ds-ts", K, T, knowledge=Knowledge(subgaussian=2.0), scale=0.1).scale == 0.1


@pytest.mark.parametrize("name", DISCOUNTING)
@pytest.mark.parametrize(
    ("gamma", "error", "words"),
    [
        (0, ValueError, "gamma must be a finite number above 0, got 0; 1 forgets nothing"),
        (-0.1, ValueError, "gamma must be a finite number above 0, got -0.1; 1 forgets"),
        (1.01, ValueError, r"gamma must lie in \[0, 1\], got 1.01; 1 forgets nothing, and 1 - 1/\(4\*sqrt\(T\)\)"),
        (math.nan, ValueError, "gamma must be a finite number above 0, got nan"),
        ("0.9", TypeError, "gamma must be a finite number above 0, got '0.9'"),
    ],
)
def test_bad_discounts(name, gamma, error, words):
    with pytest.raises(error, match=words):
        agents.make(name, 3, 1_000, gamma=gamma)


def test_other_bad_input():
    with pytest.raises(ValueError, match="xi must be a finite number above 0, got 0"):
        agents.make("d-ucb", 3, 1_000, xi=0)
    with pytest.raises(ValueError, match=r"scale must be a finite number above 0, got -1; rewards in \[0, 1\]"):
        agents.make("ds-ts", 3, 1_000, scale=-1)
    with pytest.raises(ValueError, match=r"scale must lie between 1e-100 and 1e\+30 in size, got 1e-320; rewards in"):
        agents.make("ds-ts", 3, 1_000, scale=1e-320)
    agent = agents.make("ds-ts", 3, 1_000, scale=1e-100)
    for _ in range(50):
        agent.observe(agent.act(), 0.5)
    for name in ("d-ucb", "d-ts", "ds-ts"):
        with pytest.raises(agents.MissingKnowledgeError, match=rf"{name} is tuned .* needs `horizon` \(T\)"):
            agents.make(name, 3)
