"""The deciders of claims: clear runs decide a claim either way, unclear or few runs do not."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from claims_made import HORIZON, ROUNDS, evidence

from ns_mab_gym.claims.judging import Claim, Evidence, Verdict
from ns_mab_gym.paper import decisions
from ns_mab_gym.worlds import Abrupt, Smooth

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("slopes", "runs", "verdict"),
    [
        ({"a": 0.1, "b": 0.2, "c": 0.3}, 30, HOLDS),
        ({"a": 0.2, "b": 0.1, "c": 0.3}, 30, FAILS),
        ({"a": 0.1, "b": 0.1, "c": 0.3}, 30, UNDECIDED),
        ({"a": 0.1, "b": 0.2, "c": 0.3}, 9, UNDECIDED),
    ],
)
def test_least(slopes, runs, verdict):
    finding = decisions.least(evidence(runs, **slopes), "a", ("a", "b", "c"))
    assert finding.verdict is verdict
    assert len(finding.tests) == 2
    assert "±" in finding.figures


def test_a_finding_names_what_stands_against_it():
    finding = decisions.least(evidence(a=0.2, b=0.1, c=0.3), "a", ("a", "b", "c"))
    assert [test.right for test in finding.exceptions] == ["b"]
    assert "a 1,0" in str(finding.exceptions[0])


# Of four, the worse half has at least two with less: exactly two (0.25), three (0.4), one (0.15), none (0.05).
@pytest.mark.parametrize(
    ("d", "verdict"), [(0.4, HOLDS), (0.25, HOLDS), (0.15, FAILS), (0.05, FAILS), (0.2, UNDECIDED)]
)
def test_among_worst_is_the_worse_half(d, verdict):
    found = decisions.among_worst(evidence(a=0.1, b=0.2, c=0.3, d=d), ("d",), tuple("abcd"))
    assert found.verdict is verdict
    assert found.instead.startswith("the worse half is")


@pytest.mark.parametrize(("c", "verdict"), [(0.25, HOLDS), (0.15, FAILS)])
def test_the_middle_of_an_odd_number_is_in_the_worse_half(c, verdict):
    """Of two others, one is half."""
    assert decisions.among_worst(evidence(a=0.2, b=0.3, c=c), ("c",), tuple("abc")).verdict is verdict


def test_each_of_the_worst_is_judged_by_its_own_comparisons():
    found = decisions.among_worst(evidence(a=0.1, b=0.2, c=0.3, d=0.4), ("c", "a"), tuple("abcd"))
    assert found.verdict is FAILS
    assert {test.right for test in found.exceptions} == {"a"}


@pytest.mark.parametrize(("c", "verdict"), [(0.3, HOLDS), (0.15, FAILS), (0.2, UNDECIDED)])
def test_the_last_places_have_more_than_all_others(c, verdict):
    found = decisions.last_places(evidence(a=0.1, b=0.2, c=c, d=0.4), ("c", "d"), tuple("abcd"))
    assert found.verdict is verdict
    assert len(found.tests) == 4


# A majority of four is three: two are not most.
@pytest.mark.parametrize(
    ("slopes", "verdict"),
    [
        ((0.1, 0.1, 0.3), HOLDS),
        ((0.1, 0.3, 0.3), FAILS),
        ((0.1, 0.2, 0.3), UNDECIDED),
        ((0.1, 0.1, 0.1, 0.3), HOLDS),
        ((0.1, 0.1, 0.3, 0.3), FAILS),
        ((0.1, 0.1, 0.2, 0.3), UNDECIDED),
        ((0.1, 0.2, 0.3, 0.3), FAILS),
    ],
)
def test_most_beat(slopes, verdict):
    challengers = tuple("abce")[: len(slopes)]
    found = decisions.most_beat(evidence(d=0.2, **dict(zip(challengers, slopes, strict=True))), challengers, "d")
    assert found.verdict is verdict
    assert found.figures.startswith(f"{sum(slope < 0.2 for slope in slopes)} of {len(slopes)}: ")


@pytest.mark.parametrize(("b", "verdict"), [(0.2, HOLDS), (0.05, FAILS), (0.1, UNDECIDED)])
def test_not_best(b, verdict):
    assert decisions.not_best(evidence(a=0.1, b=b), "b", ("a", "b")).verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.2, HOLDS), (0.05, FAILS), (0.4, FAILS), (0.1, UNDECIDED)])
def test_moderate_is_neither_first_nor_last(b, verdict):
    assert decisions.moderate(evidence(a=0.1, b=b, c=0.3), "b", ("a", "b", "c"), 1).verdict is verdict


@pytest.mark.parametrize(
    ("x", "verdict"), [(0.25, HOLDS), (0.15, FAILS), (0.35, FAILS), (0.2, UNDECIDED), (0.05, FAILS)]
)
def test_moderate_with_two_on_either_side(x, verdict):
    found = decisions.moderate(evidence(a=0.1, b=0.2, c=0.3, d=0.4, x=x), "x", tuple("abcdx"), 2)
    assert found.verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.102, HOLDS), (0.13, FAILS), (0.11, UNDECIDED)])
def test_collapse_within_ten_per_cent(b, verdict):
    found = decisions.collapse(evidence(a=0.1, b=b), [("a", "b")], (25_000, 50_000), margin=0.1)
    assert found.verdict is verdict


def test_best_from_tells_the_round_from_which_it_leads():
    late = np.where(ROUNDS <= 1_000, 0.4, 0.05)
    found = decisions.best_from(evidence(noise=0, a=late, b=0.2), "a", ("a", "b"), (40_000, 50_000))
    assert found.verdict is HOLDS
    assert "a has the least mean regret in rounds 2,350 to 5,000; else b" in found.figures
    early = decisions.best_from(evidence(noise=0.1, a=late, b=0.2), "a", ("a", "b"), (10_000,))
    assert early.verdict is FAILS


PHASES = ((0, 20_000), (20_000, 40_000), (40_000, 50_000))
ONE, TWO, THREE = (1, 1), (2, 2), (3, 3)


def test_degrades_compares_the_regret_per_round_of_phases():
    rates = np.select([ROUNDS <= 2_000, ROUNDS <= 4_000], [0.1, 0.3], 0.2)  # phase 3 is half as long as the others
    found = evidence(a=rates, noise=0.5)
    assert decisions.degrades(found, "a", PHASES, [(ONE, TWO)]).verdict is HOLDS
    assert decisions.degrades(found, "a", PHASES, [(ONE, THREE)]).verdict is HOLDS
    assert decisions.degrades(found, "a", PHASES, [(ONE, (2, 3)), ((1, 2), THREE)]).verdict is UNDECIDED
    dropped = decisions.degrades(found, "a", PHASES, [(ONE, TWO), (TWO, THREE)])
    assert dropped.verdict is FAILS
    assert dropped.instead == "the rate in phase 3 is below that in phase 2"
    assert "0.1 ± " in dropped.figures
    assert "0.3 ± " in dropped.figures


def test_equal_rates_are_open():
    steady = with_noisy_steps(evidence(a=0.1))
    assert decisions.degrades(steady, "a", ((0, 25_000), (25_000, 50_000)), [(ONE, TWO)]).verdict is UNDECIDED


@pytest.mark.parametrize(("slope", "verdict"), [(0.3, HOLDS), (0.05, FAILS), (0.1, UNDECIDED)])
def test_more_after_a_change(slope, verdict):
    late = np.where(ROUNDS <= 2_000, 9.0, slope)  # what happened before the change does not count
    assert decisions.more_after(evidence(a=late, b=0.1), "a", "b", 20_000, 50_000).verdict is verdict


def test_faster_after_a_change():
    jump = np.where(ROUNDS <= 2_000, 0.1, 0.3)
    assert decisions.faster_after(evidence(a=jump), ("a",), (20_000,), 5_000).verdict is HOLDS
    assert decisions.faster_after(evidence(a=jump, b=0.4 - jump), ("a", "b"), (20_000,), 5_000).verdict is FAILS


def both_worlds(here, there):
    elsewhere = {"here": here, "there": there}
    return replace(here, elsewhere=elsewhere)


def test_same_order_counts_reversed_pairs():
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=0.3, b=0.2, c=0.1))
    assert decisions.same_order(both, "here", "here", ["abc"], exceptions=0).verdict is HOLDS
    assert decisions.same_order(both, "here", "there", ["abc"], exceptions=2).verdict is FAILS
    assert decisions.same_order(both, "here", "there", ["abc"], exceptions=3).verdict is HOLDS


def test_same_order_leaves_open_what_open_pairs_could_reverse():
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=0.2, b=0.2, c=0.3))
    found = decisions.same_order(both, "here", "there", ["abc"], exceptions=0)
    assert (found.verdict, found.figures) == (UNDECIDED, "0 of 3 pairs change their order, 1 are open")
    assert decisions.same_order(both, "here", "there", ["abc"], exceptions=1).verdict is HOLDS


def test_same_order_compares_within_groups_only():
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=0.2, b=0.3, c=0.1))
    found = decisions.same_order(both, "here", "there", ["ab", "c"], exceptions=0)
    assert (found.verdict, len(found.tests)) == (HOLDS, 2)


@pytest.mark.parametrize(
    ("there", "exceptions", "verdict"),
    [(0.1, 0, HOLDS), (0.4, 0, FAILS), (0.4, 1, HOLDS), (0.2, 0, UNDECIDED), (0.2, 1, HOLDS)],
)
def test_same_verdicts_on_two_worlds(there, exceptions, verdict):
    claims = [
        Claim("a is least", "", "", lambda e: decisions.least(e, "a", "ab")),
        Claim("b < c", "", "", lambda e: decisions.least(e, "b", "bc")),
    ]
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=there, b=0.2, c=0.3))
    found = decisions.same_verdicts(both, "here", "there", claims, exceptions)
    assert found.verdict is verdict
    if verdict is FAILS:
        assert found.instead == "opposite verdicts: a is least"


def test_a_note_puts_a_star_wherever_the_agent_is_shown():
    noted = replace(evidence(a=0.1, b=0.2), notes={"a": "a choice of ours"})
    finding = decisions.least(noted, "a", ("a", "b"))
    assert "a* " in finding.figures
    assert (finding.tests[0].left, finding.tests[0].right) == ("a*", "b")


def test_worlds_decide_claims_about_themselves():
    abrupt = Evidence({}, Abrupt(horizon=HORIZON).means())
    stretches = ((0, 14_999), (14_999, 30_000), (30_000, 39_999), (39_999, 50_000))
    assert decisions.best_arm_by_phase(abrupt, stretches, (10, 1, 10, 1)).verdict is HOLDS
    assert decisions.best_arm_by_phase(abrupt, stretches, (1, 10, 1, 10)).verdict is FAILS
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


@pytest.mark.parametrize(("b", "verdict"), [(0.3, HOLDS), (0.05, FAILS), (0.1, UNDECIDED)])
def test_least_in_stretches_ignores_what_happens_elsewhere(b, verdict):
    inside = (ROUNDS > 1_000) & (ROUNDS <= 2_000) | (ROUNDS > 3_000) & (ROUNDS <= 3_500)
    made = evidence(a=np.where(inside, 0.1, 9.0), b=b * inside)
    found = decisions.least_in(with_noisy_steps(made), "a", "ab", [range(1_001, 2_001), range(3_001, 3_501)])
    assert found.verdict is verdict
    assert found.figures.startswith("2 stretches of 1,500 rounds in all: ")


def with_noisy_steps(made):
    """The same evidence with noise in every step of every label, so that any stretch has some luck."""
    noisy = {
        label: replace(runs, regret=_noisy_steps(runs.regret, seed))
        for seed, (label, runs) in enumerate(made.curves.items())
    }
    return replace(made, curves=noisy)


def _noisy_steps(regret, seed):
    return regret + np.cumsum(np.random.default_rng(seed).normal(0, 1, size=regret.shape), axis=1)


@pytest.mark.parametrize(
    ("small", "large", "verdict"), [(0.4, 0.05, HOLDS), (0.2, 0.05, FAILS), (0.4, 0.3, FAILS), (0.25, 0.05, UNDECIDED)]
)
def test_never_settles_compares_the_end_of_phases_with_random_play(small, large, verdict):
    means = np.tile([1.0, 0.0], (HORIZON, 1))  # random play costs 0.5 a round, half of it 0.25
    start = 9.0  # early in a phase anything goes
    late = (ROUNDS > 5_000 / 3) & (ROUNDS <= 2_500) | (ROUNDS > 2_500 + 5_000 / 3)
    made = evidence(means=means, noise=0, a=np.where(late, small, start), b=np.where(late, large, start))
    found = decisions.never_settles(with_noisy_steps(made), "a", "b", ((0, 25_000), (25_000, 50_000)), share=0.5)
    assert found.verdict is verdict


# In phase 2 all arms are alike, or it is the one round 2,501, so that its last third has none.
@pytest.mark.parametrize(("worse", "last"), [(1.0, 50_000), (0.0, 25_010)])
def test_who_never_settles_is_open_where_random_play_costs_nothing(worse, last):
    means = np.tile([1.0, 0.0], (HORIZON, 1))
    means[2_500:, 1] = worse
    found = decisions.never_settles(evidence(means=means, a=1, b=0), "a", "b", ((0, 25_000), (25_000, last)), share=0.5)
    assert found.verdict is UNDECIDED
    assert found.figures == "in the last third of some phase, random play costs nothing"


def test_the_mean_of_a_curve_is_its_height_over_the_horizon():
    early = np.where(ROUNDS <= 2_500, 0.2, 0.0)  # 500 in the end, as 0.1 throughout
    found = decisions.least(evidence(a=early, b=0.1, noise=1.0), "b", "ab", decisions.mean_regret)
    assert found.verdict is HOLDS
    assert found.tests[0].right_mean == pytest.approx((250 + 500) / 2, rel=0.02)
    assert found.tests[0].left_mean == pytest.approx(250, rel=0.03)


@pytest.mark.parametrize(("c", "verdict"), [(0.2, HOLDS), (0.12, FAILS), (0.15, UNDECIDED)])
def test_clearly_above_by_a_share_of_the_curve_or_of_the_axis(c, verdict):
    found = evidence(a=0.1, c=c, d=0.5)  # a + 50 % is 0.15; 0.15 is also a tenth of the axis above a
    assert decisions.clearly_above(found, "c", ["a"], 0.5).verdict is verdict
    assert decisions.clearly_above(found, "c", ["a"], 0.1, ["a", "d"]).verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.102, HOLDS), (0.15, HOLDS), (0.2, FAILS)])
def test_collapse_by_a_share_of_the_axis(b, verdict):
    found = decisions.collapse(evidence(a=0.1, b=b, d=0.5), [("a", "b")], (50_000,), 0.15, ["a", "d"])
    assert found.verdict is verdict


def test_all_hold_needs_every_claim():
    claims = [Claim(f"a < {other}", "", "", partial(decisions.ordered, pairs=[("a", other)])) for other in "bc"]
    assert decisions.all_hold(evidence(a=0.1, b=0.2, c=0.3), claims).verdict is HOLDS
    assert decisions.all_hold(evidence(a=0.1, b=0.1, c=0.3), claims).verdict is UNDECIDED
    fails = decisions.all_hold(evidence(a=0.25, b=0.2, c=0.3), claims)
    assert (fails.verdict, fails.instead) == (FAILS, "here these fail: a < b")
