"""The paper's regret orders, written anew from its text, and what is said where they say nothing."""

import math
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ns_mab_gym import theory
from ns_mab_gym.agents.core.knowledge import Knowledge, MissingKnowledgeError

from .brute_force import changes, matrices, pseudophase_gap

# Every order that the paper states: where, for which algorithms, and the formula.
PAPER = [
    ("related works", "Discounted-TS", lambda f: (f["U"] * f["T"]) ** 0.5 * math.log(f["T"])),
    ("related works", "DUCB", lambda f: (f["U"] * f["T"]) ** 0.5 * math.log(f["T"])),
    ("related works", "SW-UCB", lambda f: (f["U"] * f["T"] * math.log(f["T"])) ** 0.5),
    ("related works", "CUSUM-UCB", lambda f: (f["U"] * f["T"] * math.log(f["T"] / f["U"])) ** 0.5),
    ("related works", "BR-MAB", lambda f: (f["U"] * f["T"] * math.log(f["T"] / f["U"])) ** 0.5),
    ("related works", "GLR-klUCB", lambda f: (f["U"] * f["T"] * math.log(f["T"])) ** 0.5),
    ("related works", "RExp3", lambda f: (f["V"] * f["T"] ** 2) ** (1 / 3)),
    ("related works", "SW-KL-UCB", lambda f: f["T"] * math.log(f["tau"]) / (f["D"] ** 2 * f["tau"])),  # without H
    ("abrupt section", "Beta-SWTS", lambda f: (f["U"] * f["T"] * math.log(f["T"])) ** 0.5 / f["gap"] ** 2),
    ("abrupt section", "γ-SWGTS", lambda f: (f["U"] * f["T"] * math.log(f["T"])) ** 0.5 / f["gap"] ** 2),
    ("abrupt section", "SW-UCB", lambda f: (f["U"] * f["T"] * math.log(f["T"])) ** 0.5 / f["gap"] ** 2),
    ("abrupt section", "GLR-klUCB", lambda f: (f["U"] * f["T"] * math.log(f["T"])) ** 0.5 / f["gap"] ** 2),
    ("abrupt section", "CUSUM-UCB", lambda f: (f["U"] * f["T"] * math.log(f["T"] / f["U"])) ** 0.5 / f["gap"] ** 2),
    ("abrupt section", "BR-MAB", lambda f: (f["U"] * f["T"] * math.log(f["T"] / f["U"])) ** 0.5 / f["gap"] ** 2),
    ("smooth section", "Beta-SWTS", lambda f: drifting(**f)),
    ("smooth section", "γ-SWGTS", lambda f: drifting(**f)),
    ("smooth section", "SW-KL-UCB", lambda f: drifting(**f)),
]


def drifting(T, tau, delta, sigma, F, beta, **others):
    return delta * F * T**beta + T * math.log(tau) / ((delta - 2 * sigma * tau) ** 2 * tau)


FACTS = {"T": 2_000, "U": 7, "V": 2, "gap": 0.2, "tau": 30, "delta": 0.4, "sigma": 1e-3, "F": 3, "beta": 0.6, "D": 0.1}
NAMES = {
    "T": "horizon", "U": "breakpoints", "V": "variation", "gap": "gap", "tau": "window", "delta": "delta",
    "sigma": "lipschitz", "F": "tie_factor", "beta": "tie_power", "D": "smallest_distance",
}  # fmt: skip


def facts(**changed):
    return theory.OrderFacts(**{NAMES[letter]: value for letter, value in (FACTS | changed).items()})


def rows(algorithm=None, where=None):
    listed = theory.REGRET_ORDERS
    return [row for row in listed if algorithm in (None, *row.algorithms) and where in (None, row.where)]


def test_the_table_holds_the_statements_of_the_paper_and_no_others():
    stated = sorted((row.where, name) for row in theory.REGRET_ORDERS for name in row.algorithms)
    assert stated == sorted((where, name) for where, name, _ in PAPER)


@pytest.mark.parametrize(("where", "algorithm", "formula"), PAPER, ids=[f"{each[1]}, {each[0]}" for each in PAPER])
def test_an_order_is_the_paper_formula(where, algorithm, formula):
    [row] = rows(algorithm, where)
    assert row.value(facts()) == pytest.approx(formula(FACTS))
    for changed in ({"T": 9_000}, {"U": 2}, {"V": 0.4}, {"gap": 0.05}, {"tau": 3}, {"delta": 0.9}, {"F": 1, "D": 0.9}):
        assert row.value(facts(**changed)) == pytest.approx(formula(FACTS | changed))


@pytest.mark.parametrize("row", theory.REGRET_ORDERS, ids=lambda row: f"{row.algorithms[0]}, {row.where}")
def test_an_order_needs_what_it_names_and_nothing_else(row):
    for letter, name in NAMES.items():
        if name == "horizon":
            continue
        if name in row.needs:
            with pytest.raises(MissingKnowledgeError, match=name):
                row.value(facts(**{letter: None}))
        else:
            assert row.value(facts(**{letter: None})) == row.value(facts())


def test_orders_that_the_paper_states_twice_say_how_they_differ():
    for algorithm in ("SW-UCB", "GLR-klUCB", "CUSUM-UCB", "BR-MAB", "SW-KL-UCB"):
        twice = rows(algorithm)
        assert len(twice) == 2
        assert all(any(note.startswith("Stated twice") for note in row.notes) for row in twice)
        assert twice[0].value(facts()) != pytest.approx(twice[1].value(facts()))


@pytest.mark.parametrize(
    ("algorithm", "where", "changed", "words"),
    [
        ("SW-UCB", "related works", {"U": 0}, r"1 ≤ Υ_T < T; got Υ_T = 0 and T = 2,000; at Υ_T = 0 they would be 0"),
        ("DUCB", "related works", {"U": 2_000}, r"1 ≤ Υ_T < T; got Υ_T = 2,000"),
        ("Beta-SWTS", "abrupt section", {"U": 0}, "1 ≤ Υ_T < T"),
        ("Beta-SWTS", "abrupt section", {"gap": 0.0}, "Δ_τ positive and finite; got 0"),
        ("BR-MAB", "abrupt section", {"gap": math.inf}, "Δ_τ positive and finite; got inf"),
        ("SW-UCB", "abrupt section", {"gap": math.nan}, "Δ_τ positive and finite; got nan"),
        ("RExp3", "related works", {"V": 0.0}, "V_T > 0"),
        ("SW-KL-UCB", "related works", {"D": math.inf}, "two arms that differ"),
        ("SW-KL-UCB", "smooth section", {"delta": 0.06}, r"Δ′ > 2στ; got Δ′ = 0.06 and 2στ = 0.06"),
        ("γ-SWGTS", "smooth section", {"tau": 500}, r"a window below 200"),
    ],
)
def test_an_assumption_that_fails_is_named(algorithm, where, changed, words):
    [row] = rows(algorithm, where)
    with pytest.raises(theory.AssumptionError, match=words):
        row.value(facts(**changed))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"T": 0}, "horizon"), ({"U": -1}, "breakpoints"), ({"tau": 0}, "window"), ({"delta": 0}, "delta"),
        ({"beta": 1.5}, "tie_power"), ({"V": -1.0}, "variation"), ({"F": math.nan}, "tie_factor"),
    ],
)  # fmt: skip
def test_facts_that_cannot_be_are_refused(changed, words):
    with pytest.raises(ValueError, match=words):
        facts(**changed)


def test_the_abrupt_order_follows_from_theorem_3():
    """At τ = √(T ln T/Υ) terms (A) and (B) stay within constants of the order, for worlds ever longer."""
    for half in (500, 5_000, 50_000):
        means = np.repeat([[0.9, 0.4], [0.4, 0.9]], half, axis=0)
        [row] = rows("Beta-SWTS", "abrupt section")
        known = theory.order_facts(means)
        total = theory.bound(means, known.gap_window, setting="abrupt", breakpoints="every").total
        assert 1 / 4 < total / row.value(known) < 1  # (A) is Δ² of it; (B) is ln τ/ln T of it, which tends to ½


def distance(means):
    return min((max(row) - mean for row in means.tolist() for mean in row if mean < max(row)), default=math.inf)


@given(matrices, st.none() | st.integers(1, 14), st.none() | st.sampled_from([0.1, 0.4]))
def test_facts_equal_brute_force(means, tau, delta):
    known = theory.order_facts(means, window=tau, delta=delta)
    T, U = len(means), len(changes(means))
    chosen = tau or (max(1, math.floor(math.sqrt(T * math.log(T) / U))) if U else T)
    assert (known.horizon, known.breakpoints, known.window, known.gap_window) == (T, U, tau, chosen)
    assert known.gap == pytest.approx(pseudophase_gap(means, changes(means), chosen))
    assert known.smallest_distance == pytest.approx(distance(means))
    steps = [np.abs(means[t] - means[t - 1]).max() for t in range(1, T)]
    assert known.variation == pytest.approx(sum(steps))
    assert known.lipschitz == pytest.approx(max(steps, default=0.0))
    if delta is not None:
        fit = theory.tie_growth(means, delta)
        assert (known.tie_factor, known.tie_power) == (fit.F, fit.beta)


@given(matrices, st.none() | st.integers(1, 14), st.none() | st.sampled_from([0.1, 0.4, 2.0]))
def test_every_row_has_a_positive_value_or_a_reason(means, tau, delta):
    compared = theory.compare_orders(means, window=tau, delta=delta)
    assert [row.order for row in compared.rows] == list(theory.REGRET_ORDERS)
    for row in compared.rows:
        if row.value is None:
            assert row.reason.startswith("No value: ")
        else:
            assert row.value >= 0
            assert bool(row.reason) == (row.value >= len(means) or crowded(row, means))
    assert "nan" not in str(compared)


def crowded(row, means):
    return row.order.setting == "abrupt" and len(changes(means)) > len(means) / math.e


@given(matrices)
def test_what_is_known_without_means_gives_the_same_values(means):
    assume(len(changes(means)) > 0)
    known = theory.knowledge(means)
    bare = Knowledge(horizon=known.horizon, breakpoints=known.breakpoints, variation=known.variation)
    for partly, fully in zip(theory.compare_orders(bare).rows, theory.compare_orders(known).rows, strict=True):
        if partly.value is not None:
            assert partly.value == fully.value
        else:
            assert "unknown here" in partly.reason


def test_the_text_says_what_the_values_are_not():
    means = np.repeat([[0.9, 0.1], [0.1, 0.9]], 5_000, axis=0)
    text = str(theory.compare_orders(means))
    assert "shapes, not guarantees" in text
    # √(T ln T) = 303.5 and √T ln T = 921.0 at T = 10,000; 1/Δ_τ² = 1/0.64
    assert re.findall(r"^SW-UCB .*\)\) +(\d+)", text, flags=re.MULTILINE) == ["303", "474"]
    assert re.findall(r"^Discounted-TS.*\) +(\d+)", text, flags=re.MULTILINE) == ["921"]
    assert "(1) Stated without a gap" in text


@pytest.mark.parametrize(
    ("world", "error", "words"),
    [
        ([[1.2, 0.1], [0.1, 1.2]], theory.AssumptionError, r"\[0, 1\]; got 0.1 to 1.2"),
        (Knowledge(breakpoints=3), MissingKnowledgeError, "horizon"),
    ],
)
def test_worlds_without_orders_are_refused(world, error, words):
    with pytest.raises(error, match=words):
        theory.compare_orders(world)
