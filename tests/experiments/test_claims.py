"""The deciders of claims: clear runs decide a claim either way, unclear or few runs do not."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from claims_made import HORIZON, ROUNDS, evidence

from ns_mab_gym.experiments.claims import Evidence, Verdict, decisions, likeness, over_time, places, world_facts
from ns_mab_gym.experiments.claims.judging import Claim
from ns_mab_gym.experiments.claims.rules import Pair, equal, less
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
    finding = decisions.least("a", ("a", "b", "c"))(evidence(runs, **slopes))
    assert finding.verdict is verdict
    assert len(finding.tests) == 2
    assert "±" in finding.figures


def test_a_finding_names_what_stands_against_it():
    finding = decisions.least("a", ("a", "b", "c"))(evidence(a=0.2, b=0.1, c=0.3))
    assert [test.right for test in finding.exceptions] == ["b"]
    assert "a 1,0" in str(finding.exceptions[0])


# Of four, the worse half has at least two with less: exactly two (0.25), three (0.4), one (0.15), none (0.05).
@pytest.mark.parametrize(
    ("d", "verdict"), [(0.4, HOLDS), (0.25, HOLDS), (0.15, FAILS), (0.05, FAILS), (0.2, UNDECIDED)]
)
def test_among_worst_is_the_worse_half(d, verdict):
    found = places.among_worst(("d",), tuple("abcd"))(evidence(a=0.1, b=0.2, c=0.3, d=d))
    assert found.verdict is verdict
    assert found.instead.startswith("the worse half is")


@pytest.mark.parametrize(("c", "verdict"), [(0.25, HOLDS), (0.15, FAILS)])
def test_the_middle_of_an_odd_number_is_in_the_worse_half(c, verdict):
    """Of two others, one is half."""
    assert places.among_worst(("c",), tuple("abc"))(evidence(a=0.2, b=0.3, c=c)).verdict is verdict


def test_each_of_the_worst_is_judged_by_its_own_comparisons():
    found = places.among_worst(("c", "a"), tuple("abcd"))(evidence(a=0.1, b=0.2, c=0.3, d=0.4))
    assert found.verdict is FAILS
    assert {test.right for test in found.exceptions} == {"a"}


@pytest.mark.parametrize(("c", "verdict"), [(0.3, HOLDS), (0.15, FAILS), (0.2, UNDECIDED)])
def test_the_last_places_have_more_than_all_others(c, verdict):
    found = places.last_places(("c", "d"), tuple("abcd"))(evidence(a=0.1, b=0.2, c=c, d=0.4))
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
    found = places.most_beat(challengers, "d")(evidence(d=0.2, **dict(zip(challengers, slopes, strict=True))))
    assert found.verdict is verdict
    assert found.figures.startswith(f"{sum(slope < 0.2 for slope in slopes)} of {len(slopes)}: ")


@pytest.mark.parametrize(("b", "verdict"), [(0.2, HOLDS), (0.05, FAILS), (0.1, UNDECIDED)])
def test_not_best(b, verdict):
    assert places.not_best("b", ("a", "b"))(evidence(a=0.1, b=b)).verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.2, HOLDS), (0.05, FAILS), (0.4, FAILS), (0.1, UNDECIDED)])
def test_moderate_is_neither_first_nor_last(b, verdict):
    assert places.moderate("b", ("a", "b", "c"), 1)(evidence(a=0.1, b=b, c=0.3)).verdict is verdict


@pytest.mark.parametrize(
    ("x", "verdict"), [(0.25, HOLDS), (0.15, FAILS), (0.35, FAILS), (0.2, UNDECIDED), (0.05, FAILS)]
)
def test_moderate_with_two_on_either_side(x, verdict):
    found = places.moderate("x", tuple("abcdx"), 2)(evidence(a=0.1, b=0.2, c=0.3, d=0.4, x=x))
    assert found.verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.102, HOLDS), (0.13, FAILS), (0.11, UNDECIDED)])
def test_collapse_within_ten_per_cent(b, verdict):
    found = decisions.collapse([("a", "b")], (25_000, 50_000), margin=0.1)(evidence(a=0.1, b=b))
    assert found.verdict is verdict


def test_best_from_tells_the_round_from_which_it_leads():
    late = np.where(ROUNDS <= 1_000, 0.4, 0.05)
    found = decisions.best_from("a", ("a", "b"), (40_000, 50_000))(evidence(noise=0, a=late, b=0.2))
    assert found.verdict is HOLDS
    assert "a has the least mean regret in rounds 2,350 to 5,000; else b" in found.figures
    early = decisions.best_from("a", ("a", "b"), (10_000,))(evidence(noise=0.1, a=late, b=0.2))
    assert early.verdict is FAILS


PHASES = ((0, 20_000), (20_000, 40_000), (40_000, 50_000))
ONE, TWO, THREE = (1, 1), (2, 2), (3, 3)


def test_degrades_compares_the_regret_per_round_of_phases():
    rates = np.select([ROUNDS <= 2_000, ROUNDS <= 4_000], [0.1, 0.3], 0.2)  # phase 3 is half as long as the others
    found = evidence(a=rates, noise=0.5)
    assert over_time.degrades("a", PHASES, [(ONE, TWO)])(found).verdict is HOLDS
    assert over_time.degrades("a", PHASES, [(ONE, THREE)])(found).verdict is HOLDS
    assert over_time.degrades("a", PHASES, [(ONE, (2, 3)), ((1, 2), THREE)])(found).verdict is UNDECIDED
    dropped = over_time.degrades("a", PHASES, [(ONE, TWO), (TWO, THREE)])(found)
    assert dropped.verdict is FAILS
    assert dropped.instead == "the rate in phase 3 is below that in phase 2"
    assert "0.1 ± " in dropped.figures
    assert "0.3 ± " in dropped.figures


def test_equal_rates_are_open():
    steady = with_noisy_steps(evidence(a=0.1))
    assert over_time.degrades("a", ((0, 25_000), (25_000, 50_000)), [(ONE, TWO)])(steady).verdict is UNDECIDED


@pytest.mark.parametrize(("slope", "verdict"), [(0.3, HOLDS), (0.05, FAILS), (0.1, UNDECIDED)])
def test_more_after_a_change(slope, verdict):
    late = np.where(ROUNDS <= 2_000, 9.0, slope)  # what happened before the change does not count
    assert over_time.more_after("a", "b", 20_000, 50_000)(evidence(a=late, b=0.1)).verdict is verdict


def test_faster_after_a_change():
    jump = np.where(ROUNDS <= 2_000, 0.1, 0.3)
    assert over_time.faster_after(("a",), (20_000,), 5_000)(evidence(a=jump)).verdict is HOLDS
    assert over_time.faster_after(("a", "b"), (20_000,), 5_000)(evidence(a=jump, b=0.4 - jump)).verdict is FAILS


def both_worlds(here, there):
    elsewhere = {"here": here, "there": there}
    return replace(here, elsewhere=elsewhere)


def test_same_order_counts_reversed_pairs():
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=0.3, b=0.2, c=0.1))
    assert places.same_order("here", "here", ["abc"], exceptions=0)(both).verdict is HOLDS
    assert places.same_order("here", "there", ["abc"], exceptions=2)(both).verdict is FAILS
    assert places.same_order("here", "there", ["abc"], exceptions=3)(both).verdict is HOLDS


def test_same_order_leaves_open_what_open_pairs_could_reverse():
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=0.2, b=0.2, c=0.3))
    found = places.same_order("here", "there", ["abc"], exceptions=0)(both)
    assert (found.verdict, found.figures) == (UNDECIDED, "0 of 3 pairs change their order, 1 are open")
    assert places.same_order("here", "there", ["abc"], exceptions=1)(both).verdict is HOLDS


def test_same_order_compares_within_groups_only():
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=0.2, b=0.3, c=0.1))
    found = places.same_order("here", "there", ["ab", "c"], exceptions=0)(both)
    assert (found.verdict, len(found.tests)) == (HOLDS, 2)


@pytest.mark.parametrize(
    ("there", "exceptions", "verdict"),
    [(0.1, 0, HOLDS), (0.4, 0, FAILS), (0.4, 1, HOLDS), (0.2, 0, UNDECIDED), (0.2, 1, HOLDS)],
)
def test_same_verdicts_on_two_worlds(there, exceptions, verdict):
    claims = [
        Claim("a is least", "", "", decisions.least("a", "ab")),
        Claim("b < c", "", "", decisions.least("b", "bc")),
    ]
    both = both_worlds(evidence(a=0.1, b=0.2, c=0.3), evidence(a=there, b=0.2, c=0.3))
    found = likeness.same_verdicts("here", "there", claims, exceptions)(both)
    assert found.verdict is verdict
    if verdict is FAILS:
        assert found.instead == "opposite verdicts: a is least"


def test_a_note_puts_a_star_wherever_the_agent_is_shown():
    noted = replace(evidence(a=0.1, b=0.2), notes={"a": "a choice of ours"})
    finding = decisions.least("a", ("a", "b"))(noted)
    assert "a* " in finding.figures
    assert (finding.tests[0].left, finding.tests[0].right) == ("a*", "b")


def test_worlds_decide_claims_about_themselves():
    abrupt = Evidence({}, Abrupt(horizon=HORIZON).means())
    stretches = ((0, 14_999), (14_999, 30_000), (30_000, 39_999), (39_999, 50_000))
    assert world_facts.best_arm_by_phase(stretches, (10, 1, 10, 1))(abrupt).verdict is HOLDS
    assert world_facts.best_arm_by_phase(stretches, (1, 10, 1, 10))(abrupt).verdict is FAILS
    assert world_facts.every_arm_best()(abrupt).verdict is FAILS
    smooth = Evidence({}, Smooth().means())
    assert world_facts.every_arm_best()(smooth).verdict is HOLDS
    found = world_facts.turns_best(10, 10_000, 20_000)(smooth)
    assert (found.verdict, found.figures) == (HOLDS, "arm 10 is the best from round 10,950 to 20,466")
    assert world_facts.turns_best(10, 30_000, 40_000)(smooth).verdict is FAILS


def test_risen_arms_were_among_the_lowest_since_they_were_last_best():
    means = np.array(
        [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1], [0.2, 0.3, 0.8], [0.2, 0.9, 0.8], [0.2, 0.3, 0.8], [0.9, 0.3, 0.8]]
    )
    # Arm 3, the lowest at first, is best in rounds 3 and 5, in round 5 without having been low since; arm 1, the lowest
    # from round 3 on, in round 6; arm 2 is never the lowest before round 4. In round 4 arm 3 is the second lowest.
    assert world_facts.risen(means, 1) == [range(3, 4), range(6, 7)]
    assert world_facts.risen(means, 2) == [range(3, 4), range(4, 5), range(5, 6), range(6, 7)]


@pytest.mark.parametrize(("b", "verdict"), [(0.3, HOLDS), (0.05, FAILS), (0.1, UNDECIDED)])
def test_least_in_stretches_ignores_what_happens_elsewhere(b, verdict):
    inside = (ROUNDS > 1_000) & (ROUNDS <= 2_000) | (ROUNDS > 3_000) & (ROUNDS <= 3_500)
    made = evidence(a=np.where(inside, 0.1, 9.0), b=b * inside)
    stretches = over_time.least_in("a", "ab", lambda means: [range(1_001, 2_001), range(3_001, 3_501)])
    found = stretches(with_noisy_steps(made))
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
    found = over_time.never_settles("a", "b", ((0, 25_000), (25_000, 50_000)), share=0.5)(with_noisy_steps(made))
    assert found.verdict is verdict


@pytest.mark.parametrize("sentences", [1, 12])
def test_intervals_have_half_of_the_level_on_either_side(sentences):
    rng = np.random.default_rng(8)
    runs = 2_000
    pairs = [Pair("a", "b", np.zeros(runs), rng.normal(size=runs)) for _ in range(sentences)]
    for test, pair in zip(less(pairs), pairs, strict=True):
        se = pair.right_values.std(ddof=1) / np.sqrt(runs)
        # With so many runs, bootstrap-t is the normal interval, and the largest of independent t's has a known law; of
        # 10,000 resamples, quantiles so far out are known to about 3 %.
        own, shared = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.975 ** (1 / sentences))
        assert (test.high - test.low) / 2 / se == pytest.approx(own, rel=0.06)
        assert (test.shared[1] - test.shared[0]) / 2 / se == pytest.approx(shared, rel=0.06)
        assert (test.high + test.low) / 2 == pytest.approx(pair.right_values.mean(), abs=0.2 * se)


def test_equal_sentences_share_the_interval_of_one():
    values = np.random.default_rng(4).normal(size=40)
    for test in less([Pair("a", "b", np.zeros(40), values)] * 5):
        assert test.shared == (test.low, test.high)


def test_what_is_clearly_true_does_not_make_the_others_harder_to_refute():
    rng = np.random.default_rng(2)
    doubtful, far = alike(rng), [clear(rng) for _ in range(20)]
    alone, among = less([doubtful])[0], less([doubtful, *far])[0]
    assert among.shared == alone.shared
    counted = less([doubtful, *far], needed="number")[0]
    assert counted.shared[0] < alone.low < alone.high < counted.shared[1]
    together = equal([doubtful, *(Pair("x", "y", np.full(30, 9.0), 9 + rng.normal(size=30)) for _ in range(20))], 0.5)
    assert together[0].shared == equal([doubtful], 0.5)[0].shared


def test_the_mean_of_a_curve_is_its_height_over_the_horizon():
    early = np.where(ROUNDS <= 2_500, 0.2, 0.0)  # 500 in the end, as 0.1 throughout
    found = decisions.least("b", "ab", decisions.mean_regret)(evidence(a=early, b=0.1, noise=1.0))
    assert found.verdict is HOLDS
    assert found.tests[0].right_mean == pytest.approx((250 + 500) / 2, rel=0.02)
    assert found.tests[0].left_mean == pytest.approx(250, rel=0.03)


LEVEL_MISSED = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)  # of 200 trials, three standard errors above 5 %


def share_of_trials(trial, trials=200):
    """How often something happens in trials, each with a generator of its own."""
    return np.mean([trial(np.random.default_rng((5, number))) for number in range(trials)])


def alike(rng):
    return Pair("a", "b", rng.normal(size=30), rng.normal(size=30))


def clear(rng):
    return Pair("a", "b", rng.normal(size=30), 9 + rng.normal(size=30))


def test_a_claim_of_which_all_must_be_true_rarely_fails_by_luck():
    assert share_of_trials(lambda rng: any(t.answer is False for t in less([alike(rng) for _ in range(12)]))) < (
        LEVEL_MISSED
    )


def test_a_claim_of_which_all_must_be_true_rarely_holds_by_luck():
    """One of three sentences is not true: only luck in that one makes all three true."""

    def holds(rng):
        return all(test.answer for test in less([clear(rng), clear(rng), alike(rng)]))

    assert 0 < share_of_trials(holds) < LEVEL_MISSED  # and not never, as if the others made it stricter


def test_a_claim_of_which_one_must_be_true_rarely_holds_by_luck():
    def holds(rng):
        return any(test.answer for test in less([alike(rng) for _ in range(12)], needed="any"))

    assert share_of_trials(holds) < LEVEL_MISSED


def test_counted_sentences_are_rarely_decided_by_luck():
    def decided(rng):
        return any(test.answer is not None for test in less([alike(rng) for _ in range(12)], needed="number"))

    assert share_of_trials(decided) < LEVEL_MISSED


def test_where_one_must_be_true_a_sentence_is_false_by_its_own_interval():
    rng = np.random.default_rng(3)
    many = [Pair("x", "y", rng.normal(size=30), rng.normal(size=30)) for _ in range(30)]
    left, right = rng.normal(size=30), rng.normal(size=30)
    slight = Pair(
        "a", "b", left - left.mean() + 0.62, right - right.mean()
    )  # a little more than its own interval allows
    answers = {needed: less([slight, *many], needed=needed)[0].answer for needed in ("all", "any", "number")}
    assert answers == {"all": None, "any": False, "number": None}


def test_an_interval_found_again_is_that_of_the_same_differences_and_level():
    rng = np.random.default_rng(6)
    a, b, c = (Pair(name, "0", np.zeros(20), rng.normal(size=20)) for name in "abc")
    alone, together = less([a])[0], less([a, b])[0]
    assert (together.low, together.high) == (alone.low, alone.high) == alone.shared
    assert together.shared[0] < alone.low < alone.high < together.shared[1]  # of two sentences, each is asked for more
    assert less([b, c, a])[2].shared == less([a, b, c])[0].shared


@pytest.mark.parametrize(("c", "verdict"), [(0.2, HOLDS), (0.12, FAILS), (0.15, UNDECIDED)])
def test_clearly_above_by_a_share_of_the_curve_or_of_the_axis(c, verdict):
    found = evidence(a=0.1, c=c, d=0.5)  # a + 50 % is 0.15; 0.15 is also a tenth of the axis above a
    assert decisions.clearly_above("c", ["a"], 0.5)(found).verdict is verdict
    assert decisions.clearly_above("c", ["a"], 0.1, ["a", "d"])(found).verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.102, HOLDS), (0.15, HOLDS), (0.2, FAILS)])
def test_collapse_by_a_share_of_the_axis(b, verdict):
    found = decisions.collapse([("a", "b")], (50_000,), 0.15, ["a", "d"])(evidence(a=0.1, b=b, d=0.5))
    assert found.verdict is verdict


def test_all_hold_needs_every_claim():
    claims = [Claim(f"a < {other}", "", "", decisions.ordered([("a", other)])) for other in "bc"]
    assert likeness.all_hold(claims)(evidence(a=0.1, b=0.2, c=0.3)).verdict is HOLDS
    assert likeness.all_hold(claims)(evidence(a=0.1, b=0.1, c=0.3)).verdict is UNDECIDED
    fails = likeness.all_hold(claims)(evidence(a=0.25, b=0.2, c=0.3))
    assert (fails.verdict, fails.instead) == (FAILS, "here these fail: a < b")


def test_margins_are_relative_to_the_left():
    hundred = np.full(20, 100.0)
    assert less([Pair("a", "b", hundred, hundred + 9)], margin=0.1)[0].answer is False
    assert less([Pair("a", "b", hundred, hundred + 11)], margin=0.1)[0].answer is True
    assert equal([Pair("a", "b", hundred, hundred + 9)], margin=0.1)[0].answer is True
    assert equal([Pair("a", "b", hundred, hundred + 11)], margin=0.1)[0].answer is False


@pytest.mark.parametrize(("share", "answer"), [(-0.2, False), (-0.1, None), (-0.05, True), (0.05, True), (0.1, None)])
def test_equal_looks_at_both_sides(share, answer):
    left = np.full(40, 100.0)
    right = left * (1 + share) + np.random.default_rng(9).normal(0, 1, 40)
    right += left.mean() * (1 + share) - right.mean()  # so that the mean is exactly there
    assert equal([Pair("a", "b", left, right)], margin=0.1)[0].answer is answer
