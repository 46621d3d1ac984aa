"""The words of findings: means with their standard errors, comparisons, who leads from when on."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from claims_made import HORIZON, ROUNDS, evidence

from ns_mab_gym.claims.judging import Claim, Evidence, Test
from ns_mab_gym.paper import decisions
from ns_mab_gym.statistics import mean_se


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([100.0, 300.0], "200 ± 100"),  # sd √2 · 100, divided by √2
        ([100.0, 104.0], "102 ± 2.0"),
        ([1_000.0, 1_019.94], "1,010 ± 10"),
        ([1.0, 3.0], "2 ± 1"),
        ([0.1234, 0.1236], "0.123 ± 0.0001"),
        ([50.0], "50 ± 0.0"),
    ],
)
def test_a_mean_with_its_standard_error(values, said):
    assert mean_se(np.array(values)) == said


def test_a_comparison_in_words():
    test = Test("a", "b", "at round 9", 100.0, 130.0, 20.0, 40.0, True, (10.0, 50.0))
    assert str(test) == (
        "a 100 against b 130 at round 9 (difference +30, interval +20 to +40, with all others +10 to +50)"
    )
    alone = Test("a", "b", "", 2_000.0, 1_000.0, -1_100.0, -900.0, False, (-1_100.0, -900.0))
    assert str(alone) == "a 2,000 against b 1,000 (difference -1,000, interval -1,100 to -900)"
    rates = Test("a", "b", "", 0.1, 0.25, 0.1, 0.2, True, (0.1, 0.2))
    assert str(rates) == "a 0.1 against b 0.25 (difference +0.15, interval +0.1 to +0.2)"


def test_only_what_is_false_is_said_instead():
    found = decisions.least(evidence(a=0.2, b=0.1, c=0.3, d=0.2), "a", "abcd")
    assert found.instead == "b has less than a"


def test_a_ranking_begins_with_the_least():
    found = decisions.least(evidence(noise=0, a=0.2, b=0.1, c=0.3), "a", "abc")
    assert found.figures == "b 500 ± 0.0, a 1,000 ± 0.0, c 1,500 ± 0.0"


def test_best_from_shows_the_last_round_and_the_first_three_of_some():
    late = np.where(ROUNDS <= 1_000, 0.4, 0.05)
    found = decisions.best_from(
        evidence(noise=0, a=late, b=0.2, c=0.3, d=0.5), "a", "abcd", (5_000, 10_000, 15_000, 20_000)
    )
    assert found.figures == "At round 2,000: b 400 ± 0.0, a 450 ± 0.0, c 600 ± 0.0, d 1,000 ± 0.0"
    assert found.instead == (
        "the least regret have at round 500 b 100, c 150, a 200; at round 1,500 b 300, a 425, c 450; "
        "at round 2,000 b 400, a 450, c 600"
    )


@pytest.mark.parametrize(
    ("a", "said"),
    [
        (0.1, "a has the least mean regret in rounds 50 to 5,000"),
        (0.3, "a never has the least mean regret"),
        (0.2, "a never has the least mean regret"),  # a tie is no lead
        (np.where(ROUNDS <= 1_000, 0.2, 0.1), "a has the least mean regret in rounds 1,050 to 5,000; else b"),
        (
            np.select([ROUNDS <= 1_000, ROUNDS <= 2_000], [0.1, 0.4], 0.1),
            "a has the least mean regret in rounds 50 to 1,450, 3,050 to 5,000; else b",
        ),
    ],
)
def test_who_leads_from_when_on(a, said):
    found = decisions.best_from(evidence(noise=0, a=a, b=0.2, c=0.4), "a", "abc", (50_000,))
    assert found.figures.startswith(f"{said}. At round {HORIZON:,}: ")


def test_pairs_that_do_not_speed_up_are_named():
    jump, drop = np.where(ROUNDS <= 2_000, 0.1, 0.3), np.where(ROUNDS <= 2_000, 0.3, 0.1)
    found = decisions.faster_after(evidence(a=jump, b=drop, c=0.2, noise=0.0), "abc", (20_000,), 5_000)
    assert found.figures == "1 of 3 (algorithm, change) pairs; slower: b at round 2,000; open: c at round 2,000"
    assert found.instead == "less regret after the change than before: b at round 2,000"


def test_the_worse_half_is_named():
    found = decisions.among_worst(evidence(a=0.1, b=0.2, c=0.3, d=0.4, e=0.5), ("a",), "abcde")
    assert found.instead == "the worse half is c, d, e"
    assert {test.right for test in found.exceptions} == {"a"}


def test_rates_are_listed_by_phase():
    steps = np.where(ROUNDS <= 2_500, 0.1, 0.3)
    found = decisions.degrades(evidence(noise=0, a=steps), "a", ((0, 25_000), (25_000, 50_000)), [((1, 1), (2, 2))])
    assert found.figures == "regret per round of a: 0.1 ± 0 in phase 1, 0.3 ± 0 in phase 2"
    assert decisions.in_words([((1, 1), (2, 4)), ((1, 1), (2, 2))]) == "phase 1, phases 2 to 4; phase 1, phase 2"


def test_the_end_of_a_phase_is_named_by_its_rounds():
    means = np.tile([1.0, 0.0], (HORIZON, 1))
    found = decisions.never_settles(
        evidence(noise=0, means=means, a=0.4), "a", "", ((0, 25_000), (25_000, 50_000)), share=0.5
    )
    assert [test.where for test in found.tests] == ["in rounds 1,668 to 2,500", "in rounds 4,168 to 5,000"]
    assert found.figures == "regret in rounds 1,668 to 2,500, 4,168 to 5,000, as a share of random play's: a 80%, 80%"


def test_sentences_with_opposite_and_open_verdicts_are_named():
    claims = [Claim(f"a < {other}", "", "", partial(decisions.ordered, pairs=[("a", other)])) for other in "bcd"]
    here, there = evidence(a=0.1, b=0.2, c=0.3, d=0.4), evidence(a=0.25, b=0.2, c=0.3, d=0.25)
    found = decisions.same_verdicts(replace(here, elsewhere={"here": here, "there": there}), "here", "there", claims, 2)
    assert found.figures == (
        "1 of 3 sentences have the same verdict on both worlds; opposite: a < b; undecided on one or both: a < d"
    )


def test_the_last_round_belongs_to_its_phase():
    means = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])  # arm 2 is best one round too early
    found = decisions.best_arm_by_phase(Evidence({}, means), ((0, 25_000), (25_000, 50_000)), (1, 2))
    assert (found.verdict.value, found.figures) == ("does not hold", "best arm in phase 1: 1, 2; phase 2: 2")
