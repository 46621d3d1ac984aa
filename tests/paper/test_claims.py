"""The deciders of claims: clear runs decide either way, unclear or few runs do not; and the words of findings."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from claims_made import HORIZON, ROUNDS, evidence

from ns_mab_gym.claims.judging import Claim, Evidence, Test, Verdict
from ns_mab_gym.paper import decisions
from ns_mab_gym.statistics import mean_se
from ns_mab_gym.worlds import Abrupt, Smooth

HOLDS, FAILS, OPEN = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
HALVES = ((0, 25_000), (25_000, 50_000))
ABCD = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
MARGIN = {"a": 0.1, "d": 0.5}  # 0.15 is a + 40 % of the mean of the two, and a tenth of the axis above a


@pytest.mark.parametrize(
    ("decide", "asked", "slopes", "who", "verdicts"),
    [
        (decisions.least, ("a", "abc"), {"b": 0.2, "c": 0.3}, "a", {0.1: HOLDS, 0.25: FAILS, 0.2: OPEN}),
        # Of four, the worse half has at least two with less: exactly two (0.25), three (0.4), one (0.15), none (0.05).
        (decisions.among_worst, ("d", "abcd"), ABCD, "d", {0.4: HOLDS, 0.25: HOLDS, 0.2: OPEN}),
        (decisions.among_worst, ("d", "abcd"), ABCD, "d", {0.15: FAILS, 0.05: FAILS}),
        (decisions.among_worst, ("x", "bcx"), ABCD, "x", {0.25: HOLDS, 0.15: FAILS}),  # of two, one is half
        (decisions.last_places, ("dc", "abcd"), ABCD, "c", {0.3: HOLDS, 0.15: FAILS, 0.2: OPEN}),
        # A majority of four is three: two are not most.
        (decisions.most_beat, ("abc", "d"), ABCD | {"d": 0.2}, "b", {0.1: HOLDS, 0.3: FAILS, 0.2: OPEN}),
        (decisions.most_beat, ("abxc", "d"), ABCD | {"d": 0.25}, "x", {0.1: HOLDS, 0.3: FAILS, 0.25: OPEN}),
        (decisions.most_beat, ("axcd", "b"), ABCD, "x", {0.1: FAILS, 0.2: FAILS}),
        (decisions.not_best, ("b", "ab"), {"a": 0.1}, "b", {0.2: HOLDS, 0.05: FAILS, 0.1: OPEN}),
        (decisions.moderate, ("b", "abc", 1), ABCD, "b", {0.2: HOLDS, 0.05: FAILS, 0.4: FAILS, 0.1: OPEN}),
        (decisions.moderate, ("x", "abcdx", 2), ABCD, "x", {0.25: HOLDS, 0.2: OPEN}),
        (decisions.moderate, ("x", "abcdx", 2), ABCD, "x", {0.15: FAILS, 0.35: FAILS, 0.05: FAILS}),
        (decisions.collapse, (["ab"], (25_000, 50_000), 0.1), MARGIN, "b", {0.102: HOLDS, 0.13: FAILS, 0.11: OPEN}),
        (decisions.collapse, (["ab"], (50_000,), 0.15, "ad"), MARGIN, "b", {0.102: HOLDS, 0.15: HOLDS, 0.2: FAILS}),
        (decisions.clearly_above, ("c", "a", 0.4), MARGIN, "c", {0.2: HOLDS, 0.12: FAILS, 0.15: OPEN}),
        (decisions.clearly_above, ("c", "a", 0.1, "ad"), MARGIN, "c", {0.2: HOLDS, 0.12: FAILS, 0.15: OPEN}),
    ],
)
def test_clear_runs_decide_either_way_and_unclear_ones_do_not(decide, asked, slopes, who, verdicts):
    found = {slope: decide(evidence(**{**slopes, who: slope}), *asked).verdict for slope in verdicts}
    assert found == verdicts
    assert decide(evidence(9, **{**slopes, who: 0.1}), *asked).verdict is OPEN  # as with few runs


def test_a_finding_names_what_stands_against_it_and_only_what_is_false():
    finding = decisions.least(evidence(noise=0, a=0.2, b=0.1, c=0.3, d=0.2), "a", "abcd")
    assert [test.right for test in finding.exceptions] == ["b"]
    assert finding.instead == "b has less than a"
    assert finding.figures == "b 500 ± 0.0, a 1,000 ± 0.0, d 1,000 ± 0.0, c 1,500 ± 0.0"  # the least first


def test_each_of_the_worst_is_judged_by_its_own_comparisons():
    found = decisions.among_worst(evidence(**ABCD, e=0.5), "ca", "abcde")
    assert (found.verdict, found.instead) == (FAILS, "the worse half is c, d, e")
    assert {test.right for test in found.exceptions} == {"a"}
    assert decisions.most_beat(evidence(**ABCD), "abd", "c").figures.startswith("2 of 3: ")


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


def test_best_from_shows_the_last_round_and_the_first_three_of_some():
    late = np.where(ROUNDS <= 1_000, 0.4, 0.05)  # it leads from round 2,350 on
    made = evidence(noise=0, a=late, b=0.2, c=0.3, d=0.5)
    assert decisions.best_from(made, "a", "abcd", (40_000, 50_000)).verdict is HOLDS
    found = decisions.best_from(made, "a", "abcd", (5_000, 10_000, 15_000, 20_000))
    assert found.verdict is FAILS
    assert found.figures == "At round 2,000: b 400 ± 0.0, a 450 ± 0.0, c 600 ± 0.0, d 1,000 ± 0.0"
    assert found.instead == (
        "the least regret have at round 500 b 100, c 150, a 200; at round 1,500 b 300, a 425, c 450; "
        "at round 2,000 b 400, a 450, c 600"
    )


PHASES = ((0, 20_000), (20_000, 40_000), (40_000, 50_000))
ONE, TWO, THREE = (1, 1), (2, 2), (3, 3)


def test_degrades_compares_the_regret_per_round_of_phases():
    rates = np.select([ROUNDS <= 2_000, ROUNDS <= 4_000], [0.1, 0.3], 0.2)  # phase 3 is half as long as the others
    found = evidence(a=rates, noise=0.5)
    assert decisions.degrades(found, "a", PHASES, [(ONE, TWO)]).verdict is HOLDS
    assert decisions.degrades(found, "a", PHASES, [(ONE, THREE)]).verdict is HOLDS
    assert decisions.degrades(found, "a", PHASES, [(ONE, (2, 3)), ((1, 2), THREE)]).verdict is OPEN
    dropped = decisions.degrades(evidence(a=rates, noise=0), "a", PHASES, [(ONE, TWO), (TWO, THREE)])
    assert (dropped.verdict, dropped.instead) == (FAILS, "the rate in phase 3 is below that in phase 2")
    assert dropped.figures == "regret per round of a: 0.1 ± 0 in phase 1, 0.3 ± 0 in phase 2, 0.2 ± 0 in phase 3"
    steady = with_noisy_steps(evidence(a=0.1))
    assert decisions.degrades(steady, "a", HALVES, [(ONE, TWO)]).verdict is OPEN
    assert decisions.in_words([((1, 1), (2, 4)), ((1, 1), (2, 2))]) == "phase 1, phases 2 to 4; phase 1, phase 2"


@pytest.mark.parametrize(("slope", "verdict"), [(0.3, HOLDS), (0.05, FAILS), (0.1, OPEN)])
def test_more_after_a_change(slope, verdict):
    late = np.where(ROUNDS <= 2_000, 9.0, slope)  # what happened before the change does not count
    assert decisions.more_after(evidence(a=late, b=0.1), "a", "b", 20_000, 50_000).verdict is verdict


def test_faster_after_a_change_names_those_that_are_not():
    jump, drop = np.where(ROUNDS <= 2_000, 0.1, 0.3), np.where(ROUNDS <= 2_000, 0.3, 0.1)
    assert decisions.faster_after(evidence(a=jump), "a", (20_000,), 5_000).verdict is HOLDS
    found = decisions.faster_after(evidence(a=jump, b=drop, c=0.2, noise=0.0), "abc", (20_000,), 5_000)
    assert found.verdict is FAILS
    assert found.figures == "1 of 3 (algorithm, change) pairs; slower: b at round 2,000; undecided: c at round 2,000"
    assert found.instead == "less regret after the change than before: b at round 2,000"


def both_worlds(**there):
    here, elsewhere = evidence(a=0.1, b=0.2, c=0.3, d=0.4), evidence(**there)
    return replace(here, elsewhere={"here": here, "there": elsewhere})


@pytest.mark.parametrize(
    ("there", "groups", "exceptions", "verdict", "figures"),
    [
        ((0.1, 0.2, 0.3), ["abc"], 0, HOLDS, "0 of 3 pairs change their order, 0 are undecided"),
        ((0.3, 0.2, 0.1), ["abc"], 2, FAILS, "3 of 3 pairs change their order, 0 are undecided"),
        ((0.3, 0.2, 0.1), ["abc"], 3, HOLDS, "3 of 3 pairs change their order, 0 are undecided"),
        ((0.2, 0.2, 0.3), ["abc"], 0, OPEN, "0 of 3 pairs change their order, 1 are undecided"),
        ((0.2, 0.2, 0.3), ["abc"], 1, HOLDS, "0 of 3 pairs change their order, 1 are undecided"),
        # within groups only
        ((0.2, 0.3, 0.1), ["ab", "c"], 0, HOLDS, "0 of 1 pairs change their order, 0 are undecided"),
    ],
)
def test_same_order_counts_reversed_pairs_and_those_that_could_be(there, groups, exceptions, verdict, figures):
    both = both_worlds(**dict(zip("abc", there, strict=True)))
    found = decisions.same_order(both, "here", "there", groups, exceptions)
    assert (found.verdict, found.figures) == (verdict, figures)


@pytest.mark.parametrize(
    ("there", "exceptions", "verdict"),
    [(0.1, 0, HOLDS), (0.4, 0, FAILS), (0.4, 1, HOLDS), (0.2, 0, OPEN), (0.2, 1, HOLDS)],
)
def test_same_verdicts_on_two_worlds(there, exceptions, verdict):
    claims = [Claim(f"{a} < {b}", "", "", partial(decisions.ordered, pairs=[(a, b)])) for a, b in ("ab", "bc")]
    found = decisions.same_verdicts(both_worlds(a=there, b=0.2, c=0.3), "here", "there", claims, exceptions)
    assert found.verdict is verdict


def test_sentences_with_opposite_and_open_verdicts_are_named():
    claims = [Claim(f"a < {other}", "", "", partial(decisions.ordered, pairs=[("a", other)])) for other in "bcd"]
    found = decisions.same_verdicts(both_worlds(a=0.25, b=0.2, c=0.3, d=0.25), "here", "there", claims, 2)
    assert found.instead == "opposite verdicts: a < b"
    assert found.figures == (
        "1 of 3 sentences have the same verdict on both worlds; opposite: a < b; undecided on one or both: a < d"
    )


def test_all_hold_needs_every_claim():
    claims = [Claim(f"a < {other}", "", "", partial(decisions.ordered, pairs=[("a", other)])) for other in "bc"]
    assert decisions.all_hold(evidence(a=0.1, b=0.2, c=0.3), claims).verdict is HOLDS
    assert decisions.all_hold(evidence(a=0.1, b=0.1, c=0.3), claims).verdict is OPEN
    fails = decisions.all_hold(evidence(a=0.25, b=0.2, c=0.3), claims)
    assert (fails.verdict, fails.instead) == (FAILS, "these do not hold here: a < b")


def test_a_note_puts_a_star_wherever_the_agent_is_shown():
    noted = replace(evidence(a=0.1, b=0.2), notes={"a": "set by us"})
    finding = decisions.least(noted, "a", ("a", "b"))
    assert "a* " in finding.figures
    assert (finding.tests[0].left, finding.tests[0].right) == ("a*", "b")


def test_worlds_decide_claims_about_themselves():
    abrupt = Evidence({}, Abrupt(horizon=HORIZON).means())
    stretches = ((0, 14_999), (14_999, 30_000), (30_000, 39_999), (39_999, 50_000))
    assert decisions.best_arm_by_phase(abrupt, stretches, (10, 1, 10, 1)).verdict is HOLDS
    assert decisions.best_arm_by_phase(abrupt, stretches, (1, 10, 1, 10)).verdict is FAILS
    early = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])  # arm 2 is best in the last round of phase 1
    found = decisions.best_arm_by_phase(Evidence({}, early), HALVES, (1, 2))
    assert (found.verdict, found.figures) == (FAILS, "best arm in phase 1: 1, 2; phase 2: 2")
    assert decisions.every_arm_best(abrupt).verdict is FAILS
    smooth = Evidence({}, Smooth().means())
    assert decisions.every_arm_best(smooth).verdict is HOLDS
    found = decisions.turns_best(smooth, 10, 10_000, 20_000)
    assert (found.verdict, found.figures) == (HOLDS, "arm 10 is the best from round 10,950 to 20,466")
    assert decisions.turns_best(smooth, 10, 30_000, 40_000).verdict is FAILS


def test_risen_arms_were_among_the_lowest_since_they_were_last_best():
    means = np.array(
        [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1], [0.2, 0.3, 0.8], [0.2, 0.9, 0.8], [0.2, 0.3, 0.8], [0.9, 0.3, 0.8]]
    )
    # Arm 3, the lowest at first, is best in rounds 3 and 5, in round 5 without having been low since; arm 1, the lowest
    # from round 3 on, in round 6; arm 2 is never the lowest before round 4. In round 4 arm 3 is the second lowest.
    assert decisions.risen(means, 1) == [range(3, 4), range(6, 7)]
    assert decisions.risen(means, 2) == [range(3, 4), range(4, 5), range(5, 6), range(6, 7)]


@pytest.mark.parametrize(("b", "verdict"), [(0.3, HOLDS), (0.05, FAILS), (0.1, OPEN)])
def test_least_in_stretches_ignores_what_happens_elsewhere(b, verdict):
    inside = (ROUNDS > 1_000) & (ROUNDS <= 2_000) | (ROUNDS > 3_000) & (ROUNDS <= 3_500)
    made = evidence(a=np.where(inside, 0.1, 9.0), b=b * inside)
    found = decisions.least_in(with_noisy_steps(made), "a", "ab", [range(1_001, 2_001), range(3_001, 3_501)])
    assert found.verdict is verdict
    assert found.figures.startswith("2 stretches of 1,500 rounds in all: ")


def with_noisy_steps(made):
    """The same evidence with noise in every step of every label, so that any stretch has some luck."""
    noisy = {}
    for seed, (label, runs) in enumerate(made.curves.items()):
        steps = np.random.default_rng(seed).normal(0, 1, size=runs.regret.shape)
        noisy[label] = replace(runs, regret=runs.regret + np.cumsum(steps, axis=1))
    return replace(made, curves=noisy)


COSTLY = np.tile([1.0, 0.0], (HORIZON, 1))  # random play costs 0.5 a round, half of it 0.25


@pytest.mark.parametrize(
    ("small", "large", "verdict"), [(0.4, 0.05, HOLDS), (0.2, 0.05, FAILS), (0.4, 0.3, FAILS), (0.25, 0.05, OPEN)]
)
def test_never_settles_compares_the_end_of_phases_with_random_play(small, large, verdict):
    start = 9.0  # early in a phase anything goes
    late = (ROUNDS > 5_000 / 3) & (ROUNDS <= 2_500) | (ROUNDS > 2_500 + 5_000 / 3)
    made = evidence(means=COSTLY, noise=0, a=np.where(late, small, start), b=np.where(late, large, start))
    assert decisions.never_settles(with_noisy_steps(made), "a", "b", HALVES, share=0.5).verdict is verdict


def test_the_end_of_a_phase_is_named_by_its_rounds():
    found = decisions.never_settles(evidence(noise=0, means=COSTLY, a=0.4), "a", "", HALVES, share=0.5)
    assert [test.where for test in found.tests] == ["in rounds 1,668 to 2,500", "in rounds 4,168 to 5,000"]
    assert found.figures == "regret in rounds 1,668 to 2,500, 4,168 to 5,000, as a share of random play's: a 80%, 80%"


# In phase 2 all arms are alike, or it is the one round 2,501, so that its last third has none.
@pytest.mark.parametrize(("worse", "last"), [(1.0, 50_000), (0.0, 25_010)])
def test_who_never_settles_is_open_where_random_play_costs_nothing(worse, last):
    means = COSTLY.copy()
    means[2_500:, 1] = worse
    found = decisions.never_settles(evidence(means=means, a=1, b=0), "a", "b", ((0, 25_000), (25_000, last)), share=0.5)
    assert found.verdict is OPEN
    assert found.figures == "in the last third of some phase, random play costs nothing"


def test_the_mean_of_a_curve_is_its_height_over_the_horizon():
    early = np.where(ROUNDS <= 2_500, 0.2, 0.0)  # 500 in the end, as 0.1 throughout
    found = decisions.least(evidence(a=early, b=0.1, noise=1.0), "b", "ab", decisions.mean_regret)
    assert found.verdict is HOLDS
    assert found.tests[0].right_mean == pytest.approx((250 + 500) / 2, rel=0.02)
    assert found.tests[0].left_mean == pytest.approx(250, rel=0.03)


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
