"""The paired tests behind claims: intervals, their levels, margins, and what makes a sentence true, false or open."""

from statistics import NormalDist

import numpy as np
import pytest

from ns_mab_gym.claims.judging import Pair, equal, less, number


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


@pytest.mark.parametrize(("runs", "wanted"), [(9, None), (10, True)])
def test_fewer_than_ten_runs_decide_nothing(runs, wanted):
    assert less([Pair("a", "b", np.zeros(runs), 9 + np.linspace(-1, 1, runs))])[0].answer is wanted


LEVEL_MISSED = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)  # of 200 trials, three standard errors above 5 %


def share_of_trials(trial, trials=200):
    """How often something happens in trials, each with a generator of its own."""
    return np.mean([trial(np.random.default_rng((5, number))) for number in range(trials)], axis=0)


def alike(rng):
    return Pair("a", "b", rng.normal(size=30), rng.normal(size=30))


def clear(rng):
    return Pair("a", "b", rng.normal(size=30), 9 + rng.normal(size=30))


def test_sentences_of_no_difference_are_rarely_decided_by_luck():
    """Of twelve, none is false where all are needed, true where one is, or decided where they are counted."""
    wrong = {"all": (False,), "any": (True,), "number": (True, False)}

    def decided(rng):
        pairs = [alike(rng) for _ in range(12)]
        return [any(test.answer in wrong[needed] for test in less(pairs, needed=needed)) for needed in wrong]

    assert (share_of_trials(decided) < LEVEL_MISSED).all()


def test_a_claim_of_which_all_must_be_true_rarely_holds_by_luck():
    """One of three sentences is not true: only luck in that one makes all three true."""

    def holds(rng):
        return all(test.answer for test in less([clear(rng), clear(rng), alike(rng)]))

    assert 0 < share_of_trials(holds) < LEVEL_MISSED  # and not never, as if the others made it stricter


def test_where_one_must_be_true_a_sentence_is_false_by_its_own_interval():
    rng = np.random.default_rng(3)
    many = [Pair("x", "y", rng.normal(size=30), rng.normal(size=30)) for _ in range(30)]
    left, right = rng.normal(size=30), rng.normal(size=30)
    # a little more than its own interval allows
    slight = Pair("a", "b", left - left.mean() + 0.62, right - right.mean())
    answers = {needed: less([slight, *many], needed=needed)[0].answer for needed in ("all", "any", "number")}
    assert answers == {"all": None, "any": False, "number": None}


def test_an_interval_found_again_is_that_of_the_same_differences_and_level():
    rng = np.random.default_rng(6)
    a, b, c = (Pair(name, "0", np.zeros(20), rng.normal(size=20)) for name in "abc")
    alone, together = less([a])[0], less([a, b])[0]
    assert (together.low, together.high) == (alone.low, alone.high) == alone.shared
    assert together.shared[0] < alone.low < alone.high < together.shared[1]  # of two sentences, each is asked for more
    assert less([b, c, a])[2].shared == less([a, b, c])[0].shared


def test_margins_are_relative_to_the_mean_of_the_two():
    hundred = np.full(20, 100.0)
    for more, true in ((10, False), (11, True)):  # a tenth of the mean is 10.5 and 10.55
        assert less([Pair("a", "b", hundred, hundred + more)], margin=0.1)[0].answer is true
        assert equal([Pair("a", "b", hundred, hundred + more)], margin=0.1)[0].answer is not true


def test_what_is_equal_is_not_less():
    assert less([Pair("a", "b", np.arange(20.0), np.arange(20.0))])[0].answer is None


@pytest.mark.parametrize("difference", [9.0, 10.4, 10.6, 12.0])
def test_equal_does_not_ask_who_is_named_first(difference):
    low, high = np.full(20, 100.0), np.full(20, 100.0 + difference)
    one, other = (equal([Pair("a", "b", *pair)], margin=0.1)[0].answer for pair in ((low, high), (high, low)))
    assert one is other is (difference < 0.1 * (100 + difference / 2))


@pytest.mark.parametrize(("share", "answer"), [(-0.2, False), (-0.1, None), (-0.05, True), (0.05, True), (0.1, None)])
def test_equal_looks_at_both_sides(share, answer):
    left, right = 100 * (1 - share / 2), 100 * (1 + share / 2)  # their mean is 100
    noise = np.random.default_rng(9).normal(0, 1, 40)
    pair = Pair("a", "b", np.full(40, left), right + noise - noise.mean())  # so that the mean is exactly there
    assert equal([pair], margin=0.1)[0].answer is answer


def test_numbers_have_as_many_places_as_they_need():
    said = {9.54: "9.54", 10.4: "10", -1234.5: "-1,234", 0.01234: "0.0123"}
    assert {value: number(value) for value in said} == said
    assert number(3.0, "+") == "+3"
