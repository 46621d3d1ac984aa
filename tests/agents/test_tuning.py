"""Parameters derived from knowledge: the numbers of the paper's experiments, or a message that says what is missing."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.agents import Knowledge, MissingKnowledgeError

T, K = 50_000, 10
KNOW_THE_WORLD = ("oracle", "oracle-restart")
NEED_THE_HORIZON = (
    "beta-swts", "gamma-swgts", "sw-ucb", "sw-lb-sda", "exp3", "exp3s", "d-ucb", "d-ts", "ds-ts", "r-less-ucb",
    "raw-ucb", "fewa", "cusum-ucb", "pht-ucb", "m-ucb", "br-mab", "glr-klucb", "adr-ts", "active-ptw",
    "predictive-sampling", "master", "bandit-over-windows", "explore-then-commit", "faded-index", "kalman-ucb",
    "kalman-ts",
)  # fmt: skip
TESTS = {"m-ucb": "a test of two halves", "br-mab": "a CUSUM test", "glr-klucb": "glr", "adr-ts": "adwin"}


PIECES = {piece.name for piece in dataclasses.fields(Knowledge)}
ROUNDED_DOWN = [({}, {"window": 2942}), ({"horizon": 10_000}, {"window": 1213}), ({"horizon": 1}, {"window": 1})]
SCALE = {"subgaussian": 2.0}
# T/Υ = 16 666.7: h = ln of it, α = √(h/16 666.7). Blind Υ = 1, as where nothing changes and where everything drifts.
SUMS_BLIND = {"threshold": math.log(T), "alpha": math.sqrt(math.log(T) / T), "epsilon": 0.1, "xi": 0.5}
SUMS = [
    *(({"breakpoints": changes}, SUMS_BLIND) for changes in (None, 0, 1, T - 1, T)),
    ({"breakpoints": 3}, {"threshold": 9.721165996, "alpha": 0.0241509826, "epsilon": 0.1}),
    ({"horizon": 2}, {"alpha": math.sqrt(math.log(2) / 2)}),
    ({"horizon": None, "threshold": 1.0, "alpha": 0.5, "history": 1}, {"alpha": 0.5}),
]
WITHOUT_HISTORY = [*SUMS[:-1], ({"horizon": None, "threshold": 1.0, "alpha": 0.5}, {"alpha": 0.5})]
# 1 − 1/(4√T) where Υ is unknown, or where phases last fewer than 16 rounds; 1 where nothing changes.
FADING: list[tuple[dict[str, Any], dict[str, Any]]] = [
    *(({"horizon": t}, {"gamma": 1 - 1 / (4 * math.sqrt(t))}) for t in (1, 2, T, 10**6)),
    *(({"horizon": t, "breakpoints": 0}, {"gamma": 1.0}) for t in (1, 2, 50, T, 10**6)),
    *(({"horizon": t, "breakpoints": t}, {"gamma": 1 - 1 / (4 * math.sqrt(t))}) for t in (1, 2, 50, T, 10**6)),
    ({"horizon": 1_600, "breakpoints": 101}, {"gamma": 1 - 1 / 160}),
]
TWO_ARMS = np.array([[0.3, 0.8], [0.7, 0.4]])  # 0.5 and 0.6 on average
# Pieces of knowledge and parameters that are given, for T = 50 000 and K = 10 if nothing else is said, and what follows
TUNED: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    # 4√(50 000 ln 50 000) = 2942.08 and 4√(10 000 ln 10 000) = 1213.9, rounded down
    "beta-swts": [*ROUNDED_DOWN, ({"horizon": None, "window": 7}, {"window": 7})],
    "sw-ucb": [*ROUNDED_DOWN, ({}, {"xi": 0.6})],
    # min{1/(4λ²), 1}; Bernoulli rewards are ¼-subgaussian, λ = ½
    "gamma-swgts": [
        *ROUNDED_DOWN,
        *(({"subgaussian": scale}, {"gamma": 1.0}) for scale in (None, 0.5, 0.25)),
        ({"subgaussian": 1.0}, {"gamma": 0.25}),
        (SCALE, {"gamma": 1 / 16}),
        ({"gamma": 0.1}, {"gamma": 0.1, "window": 2942}),
    ],
    "kl-ucb": [({"horizon": None}, {"c": 3.0})],
    "ucb1": [({"horizon": None}, {"xi": 2.0})],
    # σ^(−4/5), rounded up: 1584.9, 251.2, 10^4 to the digit; where σ is unknown or the means jump, σ = 0.001 stands in
    "sw-kl-ucb": [
        *(({"lipschitz": sigma}, {"window": 252, "c": 3.0}) for sigma in (1e-3, None, 0.05, 0.89)),
        *(({"lipschitz": sigma}, {"window": w}) for sigma, w in ((1e-4, 1585), (1e-5, 10_000), (0.04, 14))),
        *(({"lipschitz": sigma, "horizon": 500}, {"window": 500}) for sigma in (1e-4, 0.0)),
        ({"lipschitz": 1e-4, "horizon": None}, {"window": 1585}),
        ({"horizon": None, "window": 9}, {"window": 9}),
    ],
    # 2√(50 000 ln 50 000/3) = 849.3; (ln 2942)^⅓, (ln 2942)² and 9 (ln 2942)² are constants of its duels
    "sw-lb-sda": [
        *(({"breakpoints": changes}, {"window": 2942}) for changes in (None, 0, 224, T)),
        *(({"breakpoints": changes}, {"window": w}) for changes, w in ((3, 849), (1, 1471), (223, 98))),
        ({"window": 7}, {"window": 7}),
    ],
    # K ln K = 23.0259: Δ = ⌈23.0259^(1/3) (50 000/2.67)^(2/3)⌉ = ⌈2006.2⌉, γ = √(23.0259/(1.718282 Δ)), at most 1
    "rexp3": [
        ({"variation": 2.67}, {"batch": 2007, "gamma": 0.0817122105}),
        ({"variation": 2.67, "gamma": 0.5}, {"batch": 2007, "gamma": 0.5}),
        ({"variation": 0.0, "horizon": 1_000}, {"batch": 1_000, "gamma": 0.1157605671}),
        ({"variation": 500.0, "horizon": 1_000}, {"gamma": 1.0}),
        ({"batch": 100, "horizon": None}, {"gamma": 0.3660670553}),
        ({"batch": 5, "gamma": 0.1, "horizon": None}, {"batch": 5, "gamma": 0.1}),
    ],
    # √(23.0259/85 914.1)
    "exp3": [({}, {"gamma": 0.0163710164}), ({"horizon": 1}, {"gamma": 1.0}), ({"gamma": 0.3}, {"gamma": 0.3})],
    # ln(KT) = 13.1224: with S = 4 phases √(10 (4 · 13.1224 + e)/(1.718282 · 50 000)), blind √(10 · 13.1224/50 000), and
    # blind too where only Υ is known and more than T/16, where γ = 1 would be uniform play
    "exp3s": [
        *(({"breakpoints": changes}, {"gamma": 0.0512296074, "alpha": 2e-5}) for changes in (None, 3_126, T - 1, T)),
        *(({"breakpoints": b, "switches": s}, {"gamma": 0.0801618563}) for b, s in ((3, None), (9, 3), (T, 3))),
        ({"breakpoints": 3_125}, {"gamma": 1.0}),
        ({"gamma": 0.5}, {"alpha": 2e-5}),
    ],
    # N = 4 phases: φ = √(4/(500 000 ln 500 000))
    "ser4": [
        ({"switches": 3}, {"phi": 7.80798488e-4, "delta": 2e-5, "epsilon": 2e-6, "factor": 2.0}),
        ({"switches": 0}, {"phi": 3.90399244e-4}),  # one phase: it explores all the same
        ({"phi": 0.0}, {"delta": 2e-5}),
        ({"horizon": None, "delta": 0.1, "epsilon": 0.0, "phi": 0.01}, {"delta": 0.1, "epsilon": 0.0, "phi": 0.01}),
    ],
    "d-ucb": [
        *FADING,
        ({"breakpoints": 3}, {"gamma": 0.99806350833, "xi": 0.6}),
        ({"horizon": 1_600, "breakpoints": 100}, {"gamma": 1 - 1 / 16}),
        ({"gamma": 0.5}, {"gamma": 0.5}),
    ],
    "faded-index": [
        *(row for row in FADING if row[1]["gamma"] < 1),
        *(({"horizon": t, "breakpoints": 0}, {"gamma": 1 - 1 / (4 * math.sqrt(t))}) for t in (1, 50, T)),
        ({"breakpoints": 3}, {"gamma": 0.99806350833, "width": 0.5}),
        ({"gamma": 0.5}, {"gamma": 0.5}),
    ],
    "ds-ts": [
        *FADING,
        ({"breakpoints": 3}, {"gamma": 0.99764513267, "subgaussian": 0.5}),
        (SCALE, {"subgaussian": 2.0}),
        (SCALE | {"subgaussian": 0.1}, {"subgaussian": 0.1}),
    ],
    "d-ts": [*FADING[:4], ({"breakpoints": 3}, FADING[2][1])],
    "dsw-ts": [({"horizon": t}, {"gamma": 0.999, "window": 500, "f": "mean"}) for t in (1, 50, T)],
    "active-ptw": [
        ({"horizon": t}, {"depth": depth, "split": 0.5})
        for t, depth in ((1, 0), (2, 1), (3, 2), (50, 6), (T, 16), (65_536, 16), (65_537, 17), (10**6, 20))
    ],
    # ⌊√(10 · 50 000)⌋ = 707, 71 blocks, 8 windows: γ = √(8 ln 8/((e − 1) 71)); with blocks of 100, 500 and 6 windows
    "bandit-over-windows": [
        ({"breakpoints": 9, "variation": 2.0, "lipschitz": 1e-3}, {"block": 707, "gamma": 0.3692682586}),
        ({"block": 100}, {"gamma": 0.1118621800}),
        ({"block": 100, "gamma": 0.5, "horizon": None}, {"block": 100, "gamma": 0.5}),  # nothing is left to ask for
        ({"subgaussian": 3.0}, {"subgaussian": 3.0, "mean": None}),
        ({"subgaussian": 3.0, "support": (-1.0, 5.0)}, {"subgaussian": 3.0, "mean": 2.0}),
    ],
    "cusum-ucb": [*WITHOUT_HISTORY, ({}, {"warmup": 200, "forced_warmup": False})],
    "pht-ucb": WITHOUT_HISTORY,
    "br-mab": [(told, {key: 2.0 if key == "xi" else value for key, value in tuned.items()}) for told, tuned in SUMS],
    # b = √(100 ln(20 T²)) = √(100 · 24.63530); γ² = Υ K (2b + 3√200)/(2T) = Υ · 10 · 141.6943/100 000
    "m-ucb": [
        ({"breakpoints": 3}, {"samples": 200, "xi": 2.0, "threshold": 49.633948908, "gamma": 0.2061753899}),
        *(({"breakpoints": b}, {"threshold": 49.633948908, "gamma": 0.1190354169}) for b in (None, 0, 1, T - 1, T)),
        ({"samples": 800}, {"threshold": 99.267897817}),
        ({"samples": 800, "threshold": 0.0}, {"gamma": math.sqrt(10 * 3 * math.sqrt(800) / 100_000)}),
        ({"horizon": 100}, {"gamma": 1.0}),
        # the other γ: √(Υ · 10 ln T/T)
        ({"formula": "comparison", "breakpoints": 3}, {"gamma": math.sqrt(30 * math.log(T) / T), "xi": 2.0}),
        ({"formula": "comparison", "horizon": 10}, {"gamma": 1.0}),
        ({"horizon": None, "threshold": 1.0, "gamma": 0.5}, {"gamma": 0.5}),
    ],
    # δ = 1/√50 000, T = 1 counts as 2, and α₁ = √(10 · 10.819778/50 000); for GLR-TS 0.05 times that
    "glr-klucb": [
        ({}, {"delta": 0.004472135955, "rate": 0.0465183368, "splits": 10, "every": 10, "c": 0.0, "growing": True}),
        ({"restart": "global"}, {"delta": 0.004472135955, "rate": 0.0465183368, "splits": 5, "factor": 1.0}),
        ({"horizon": 1}, {"delta": 1 / math.sqrt(2)}),
        ({"horizon": None, "rate": 0.5, "delta": 0.25, "splits": 3}, {"rate": 0.5, "delta": 0.25, "splits": 3}),
    ],
    "glr-ts": [({}, {"restart": "global", "splits": 5, "rate": 0.00232591684})],
    "adr-ts": [({}, {"delta": 8e-15}), ({"horizon": 1}, {"delta": 1 / 8}), ({"delta": 0.25}, {"delta": 0.25})],
    "master": [
        ({"breakpoints": 7, "variation": 3.0}, {"horizon": T, "delta": 1 / T}),
        ({"delta": 0.2}, {"delta": 0.2}),
    ],
    # τ = 2942: φ = e^(−1/2942), and a mean unseen for long is as uncertain as a uniform one, √((1 − φ²)/12)
    "predictive-sampling": [
        ({}, {"phi": 0.99966015293, "drift": 0.00752539387, "mean": 0.5, "noise": 0.5, "variance": "predictive"}),
        ({"horizon": 1}, {"phi": math.exp(-1)}),
        (SCALE, {"noise": 2.0}),
        (SCALE | {"noise": 1.5}, {"noise": 1.5}),
        ({"horizon": None, "phi": 0.5}, {"drift": 0.25}),
    ],
    # λ/√T = 0.5/223.6068; the walk of means by least squares is tested in test_kalman.py
    **{
        name: [
            ({}, {"drift": 0.00223606798, "noise": 0.5, "prior": 4.0, "phi": 1.0, "mean": 0.5} | bonus),
            (SCALE, {"drift": 0.00894427191, "noise": 2.0, "prior": 16.0}),
            (SCALE | {"noise": 1.5, "drift": 0.1, "prior": 3.0}, {"noise": 1.5, "drift": 0.1, "prior": 3.0}),
            ({"horizon": None, "drift": 0.1}, {"drift": 0.1}),
        ]
        for name, bonus in (("kalman-ts", {}), ("kalman-ucb", {"width": 2.0}))
    },
    "aff-ucb": [({"horizon": None}, {"step": 0.001, "least": 0.6, "delta": 0.05})],
    "aff-ts": [({"horizon": None}, {"step": 0.001, "least": 0.6, "prior": 2.0})],
    "r-less-ucb": [
        ({}, {"epsilon": 0.25, "alpha": 4.0, "subgaussian": 0.5, "horizon": T}),
        (SCALE, {"subgaussian": 2.0}),
    ],
    **{
        name: [
            ({}, {"alpha": alpha, "subgaussian": 0.5, "grid": "exact", "ratio": 2.0, "horizon": T}),
            (SCALE | {"breakpoints": 7}, {"alpha": alpha, "subgaussian": 2.0}),
            ({"horizon": None, "grid": "geometric"}, {"horizon": None}),
        ]
        for name, alpha in (("raw-ucb", 1.0), ("fewa", 0.06))
    },
    # Exercise 2.5 of Sutton and Barto; λ/5 and 0.1/λ, with ½ for λ where it is unknown or 0
    "epsilon-greedy": [({"horizon": None}, {"epsilon": 0.1, "decay": 0.0, "step": 0.1, "initial": None})],
    "softmax": [
        *(({"subgaussian": scale, "horizon": None}, {"temperature": 0.1, "step": 0.1}) for scale in (None, 0.0, 0.5)),
        (SCALE, {"temperature": 0.4}),
        (SCALE | {"temperature": 3.0}, {"temperature": 3.0}),
    ],
    "gradient-bandit": [
        *(({"subgaussian": scale, "horizon": None}, {"step": 0.2, "baseline": True}) for scale in (None, 0.0, 0.5)),
        (SCALE, {"step": 0.05}),
    ],
    # 5 000^(2/3) = 292.40 times (ln 50 000)^(1/3) = 2.2118; of two arms with Δ = 0.1, (1/Δ²) ln(TΔ²) = 100 ln 500 =
    # 621.46 for λ = ½, and (16/Δ²) ln(TΔ²/16) = 1 600 ln 31.25 = 5 507.2 for λ = 2; without a gap 1; T/K at most
    "explore-then-commit": [
        ({}, {"m": 647}),
        *(({"horizon": t}, {"m": m}) for t, m in ((1, 1), (9, 1), (20, 2), (25, 2))),
        ({"n_arms": 2, "means": TWO_ARMS}, {"m": 622}),
        (SCALE | {"n_arms": 2, "means": TWO_ARMS}, {"m": 5_508}),
        (SCALE | {"n_arms": 2, "means": TWO_ARMS, "horizon": 100}, {"m": 1}),
        ({"n_arms": 2, "means": TWO_ARMS, "horizon": 1_000}, {"m": 231}),
        ({"n_arms": 2, "means": np.zeros((4, 2))}, {"m": 1}),
        ({"horizon": None, "m": 7}, {"m": 7}),
    ],
    # √(2 ln 10/500 000)
    "exp3-ix": [
        ({}, {"eta": 3.0348542587e-3, "gamma": None}),
        ({"horizon": None}, {"eta": 0.0}),
        ({"eta": 0}, {"eta": 0.0}),
    ],
    "tsallis-inf": [
        ({"horizon": None}, {"estimator": "rv", "rate": 4.0}),
        ({"estimator": "iw"}, {"rate": 2.0}),
        ({"estimator": "iw", "rate": 1.5}, {"rate": 1.5}),
    ],
    # Υ/T, and 0.001 where it is unknown or where phases are shorter than K = 10 rounds: the means drift
    "switching-ts": [
        *(
            ({"breakpoints": changes, "horizon": t}, {"hazard": 1e-3, "hypotheses": 100, "restart": "global"})
            for changes, t in ((None, None), (None, T), (3, None), (5_001, T), (49_999, T), (1, 1))
        ),
        *(({"breakpoints": b, "horizon": t}, {"hazard": b / t}) for b, t in ((3, T), (0, T), (0, 1), (5_000, T))),
        ({"breakpoints": 3, "hazard": 0.25}, {"hazard": 0.25}),
        ({"breakpoints": 3, "hazard": "learnt"}, {"hazard": "learnt", "hypotheses": 100}),
    ],
}


@pytest.fixture(scope="module")
def abrupt() -> Knowledge:
    return theory.knowledge(worlds.Abrupt().means())


@pytest.mark.parametrize(("name", "told", "expected"), [(name, *row) for name, rows in TUNED.items() for row in rows])
def test_the_parameters_of_the_papers(name, told, expected):
    """By hand to nine digits or in closed form."""
    told = {"n_arms": K, "horizon": T} | told
    known = Knowledge(**{key: value for key, value in told.items() if key in PIECES})
    agent = agents.make(name, knowledge=known, **{key: value for key, value in told.items() if key not in PIECES})
    for key, value in expected.items():
        assert getattr(agent, key) == (pytest.approx(value, rel=2e-9, abs=0) if isinstance(value, float) else value), (
            key
        )


def test_arguments_win_over_the_knowledge(abrupt):
    agent = agents.make("beta-swts", 4, 10_000, knowledge=abrupt)
    assert (agent.n_arms, agent.window) == (4, 1213)


def test_what_is_known_of_the_abrupt_world(abrupt):
    """At each breakpoint arm 1 moves from 0.1 to 0.99 or back, further than any other, and the best arm changes."""
    assert (abrupt.breakpoints, abrupt.switches, abrupt.horizon) == (3, 3, T)
    assert (abrupt.variation, abrupt.lipschitz) == (pytest.approx(2.67), pytest.approx(0.89))


@pytest.mark.parametrize(
    ("name", "known", "missing"),
    [
        ("beta-swts", {}, r"`n_arms` \(K\)"),
        ("rexp3", {"n_arms": K}, r"`horizon` \(T\) and `variation` \(V_T, the total variation of the means\)"),
        ("rexp3", {"n_arms": K, "horizon": T}, r"`variation` \(V_T, the total variation of the means\)"),
        ("ser4", {"n_arms": K, "horizon": T}, r"`switches` \(the number of changes of the best arm\)"),
        *((name, {"n_arms": K, "horizon": T}, r"`means` \(the \(T, K\) matrix of means\)") for name in KNOW_THE_WORLD),
        *((name, {"n_arms": K}, r"`horizon` \(T\)") for name in NEED_THE_HORIZON),
    ],
)
def test_missing_knowledge_is_named(name, known, missing):
    words = (
        rf"^{TESTS.get(name, name)} is tuned by its paper's formula, which needs {missing}; give that, or pass "
        r"knowledge=ns_mab_gym.theory.describe\(means\), or set the agent's own parameters$"
    )
    with pytest.raises(MissingKnowledgeError, match=words):
        agents.make(name, knowledge=Knowledge(**known))


def test_knowledge_is_shown_and_compared_without_the_matrix_of_means():
    """Which would fill the screen, and whose comparison is an array."""
    means = np.full((4, 2), 0.123)
    known = Knowledge(horizon=4, means=means)
    assert "0.123" not in repr(known)
    assert known == Knowledge(horizon=4, means=means + 1)
    assert known != Knowledge(horizon=5, means=means)
    with pytest.raises(AttributeError):
        known.horizon = 5  # type: ignore[misc]
