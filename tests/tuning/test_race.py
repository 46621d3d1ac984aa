"""Races of made-up candidates, whose true regrets are known."""

import math

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym.tuning.race import Budget, Candidate, HeldOut, Race

RACES = 300


class Clock:
    """Shows the time that a test sets."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class MadeUp:
    """Candidate i has a mean regret; run r shares a part of its luck with all candidates."""

    def __init__(self, means, seed, *, shared=20.0, own=5.0, clock=None, seconds=1.0):
        luck = np.random.default_rng(seed).standard_normal((2_000, len(means) + 1))
        self.finals = np.asarray(means) + shared * luck[:, -1:] + own * luck[:, :-1]
        self.clock, self.cost = clock, seconds
        self.played = []

    def play(self, candidates, first, runs):
        if self.clock is not None:
            self.clock.now += self.cost * runs * len(candidates)
        self.played += [(each, run) for each in candidates for run in range(first, first + runs)]
        return [self.finals[first : first + runs, each.kwargs["i"]] for each in candidates]

    def seconds(self, candidate):
        return self.cost


def candidates(number):
    return [Candidate.of("made-up", {"i": i}) for i in range(number)]


def raced(evaluator, budget, number, **settings):
    race = Race(evaluator, budget, **settings)
    race.enter(candidates(number))
    race.narrow()
    return race


def test_the_best_is_hardly_ever_thrown_out_by_a_bound():
    """All are alike, the worst case: whoever is the best leaves by a bound in at most ``level`` of races."""
    level = 0.2
    thrown = 0
    for seed in range(RACES):
        race = Race(MadeUp([100.0] * 5, seed), Budget(runs=10**6), level=level, tolerance=0.0)
        race.enter(candidates(5))
        while race.runs < 64 and len(race.alive) > 1:
            race.budget.runs = race.budget.played + 10**6
            movers, target, _ = race._next_block(0, 1)
            race._advance(movers, target)
        thrown += candidates(5)[0] not in race.alive  # by symmetry any candidate may stand for the best
    assert thrown / RACES <= level + 2 * math.sqrt(level * (1 - level) / RACES)


def test_a_clear_winner_wins_and_the_others_leave_by_bounds():
    wins = 0
    for seed in range(60):
        race = raced(MadeUp([130.0, 100.0, 120.0, 125.0], seed), Budget(runs=10**6), 4)
        wins += race.leader.kwargs["i"] == 1
        assert race.alive == [race.leader]
    assert wins == 60


class Given:
    """Candidate i has the regrets of row i."""

    def __init__(self, finals):
        self.finals = np.asarray(finals)

    def play(self, candidates, first, runs):
        return [self.finals[each.kwargs["i"], first : first + runs] for each in candidates]

    def seconds(self, candidate):
        return 1.0


def looked(finals, looks, **settings):
    """A race with these regrets after a number of looks, each with twice the runs of the one before."""
    race = Race(Given(finals), Budget(runs=10**6), **settings)
    race.enter(candidates(len(finals)))
    for _ in range(looks):
        movers, target, _ = race._next_block(0, 1)
        race._advance(movers, target)
    return race


WAVE = np.tile([1.0, -1.0], 16)  # its first n numbers, n even, have mean 0 and variance n/(n − 1)


@pytest.mark.parametrize("level", [0.05, 0.2])
@pytest.mark.parametrize(("look", "runs"), [(1, 8), (2, 16), (3, 32)])
def test_who_is_behind_leaves_at_the_tail_of_its_look(level, look, runs):
    """Look l over M candidates has the tail level/(l (l + 1) M); the t there, times the standard error, decides."""
    bound = stats.t.isf(level / (look * (look + 1) * 3), runs - 1) / math.sqrt(runs - 1)
    for share, stays in ((0.99, True), (1.01, False)):
        race = looked([np.zeros(32), share * bound + WAVE, np.zeros(32)], look, level=level, tolerance=0.0, first=8)
        assert (candidates(2)[1] in race.alive) == stays
        assert race.runs == runs


def test_a_bound_of_three_runs_is_not_trusted():
    """A constant difference has no standard error, and is beyond doubt by any t: the number of runs decides."""
    finals = [np.zeros(8), np.ones(8)]
    assert len(looked(finals, 1, first=3).alive) == 2
    assert len(looked(finals, 1, first=4).alive) == 1


@pytest.mark.parametrize(("look", "runs"), [(1, 8), (2, 16)])
def test_a_race_is_settled_where_nobody_can_be_better_by_more_than_the_tolerance(look, runs):
    """The other one is behind by 0.1 on average; by the same bound as above it may be ahead by t s/√n − 0.1."""
    most = stats.t.isf(0.05 / (look * (look + 1) * 2), runs - 1) / math.sqrt(runs - 1) - 0.1
    finals = [np.full(32, 100.0), 100.1 + WAVE]
    for share, settled in ((0.99, False), (1.01, True)):
        assert looked(finals, look, tolerance=share * most / 100, first=8).settled() == settled
    assert not looked(finals, look, tolerance=10.0, first=64).settled()  # before the first block is complete
    for share, settled in ((0.99, False), (1.01, True)):  # 1 % of the leader's regret, if not given
        high = [np.full(32, share * most / 0.01), share * most / 0.01 + 0.1 + WAVE]
        assert looked(high, look, first=8).settled() == settled


def test_the_tails_of_all_looks_sum_to_the_level():
    race = Race(Given([]), Budget(runs=10**6), level=0.05)
    race.enter(candidates(7))
    tails = []
    for race.looks in range(1, 10_000):
        tails.append(7 * race._tail)
    assert sum(tails) == pytest.approx(0.05, rel=1e-3)
    assert sum(tails) < 0.05


def held_out(means, runs, seed, level=0.05, shared=3.0):
    luck = np.random.default_rng(seed).standard_normal((len(means) + 1, runs))
    finals = np.asarray(means)[:, None] + luck[1:] + shared * luck[0]
    return HeldOut(dict(zip(candidates(len(means)), finals, strict=True)), level)


def test_held_out_intervals_hold_for_all_together():
    """Bonferroni: the level is divided by k for regrets, and by the k − 1 others for differences; both two-sided."""
    held = held_out([5.0, 6.0, 7.0, 8.0], 12, 1, level=0.1)
    first, second, *_ = candidates(4)
    for found, samples, parts in (
        (held.regret(first), held.finals[first], 4),
        (held.difference(second, first), held.finals[second] - held.finals[first], 3),
    ):
        reach = stats.t.isf(0.1 / 2 / parts, 11) * samples.std(ddof=1) / math.sqrt(12)
        assert found == pytest.approx((samples.mean(), samples.mean() - reach, samples.mean() + reach, 12))


def test_the_interval_of_the_one_that_is_named_holds_although_it_was_chosen():
    """Eight that are alike: the least mean is too low. Intervals of each alone would hold in 0.975⁸ = 82 % only."""
    held = alone = 0
    for seed in range(1_000):
        runs = held_out([100.0] * 8, 20, seed, shared=0.0)
        named = min(runs.finals, key=lambda each: runs.finals[each].mean())
        low, high = runs.regret(named)[1:3]
        held += low <= 100 <= high
        low, high = HeldOut({named: runs.finals[named]}).regret(named)[1:3]
        alone += low <= 100 <= high
    assert held / 1_000 >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / 1_000)
    assert abs(alone / 1_000 - 0.975**8) < 3 * math.sqrt(0.82 * 0.18 / 1_000)


def test_the_best_is_hardly_ever_beaten_beyond_doubt():
    """All are alike, the worst case: with probability 0.2/2 at most the best is told apart from another one."""
    beaten = sum(candidates(1)[0] not in held_out([100.0] * 5, 10, seed, level=0.2).unbeaten() for seed in range(400))
    assert 0 < beaten / 400 <= 0.1 + 2 * math.sqrt(0.1 * 0.9 / 400)


def test_nothing_beats_an_unbeaten_one_and_the_least_mean_is_among_them():
    for seed in range(50):
        held = held_out(np.random.default_rng(seed).normal(100, 0.6, 6), 10, seed)
        unbeaten = held.unbeaten()
        assert min(held.finals, key=lambda each: held.finals[each].mean()) in unbeaten
        for each in held.finals:
            beaten = any(held.difference(other, each).high < 0 for other in held.finals)
            assert (each in unbeaten) != beaten


def test_who_is_equal_to_the_best_is_not_beaten():
    alike = dict.fromkeys(candidates(2), np.arange(9.0))
    assert HeldOut(alike).unbeaten() == candidates(2)


def test_everybody_plays_the_same_runs_from_the_first_on():
    evaluator = MadeUp([100.0, 101.0, 99.0], 3)
    race = raced(evaluator, Budget(runs=300), 3)
    assert len(evaluator.played) == len(set(evaluator.played)) == race.budget.played
    for candidate, finals in race.finals.items():
        assert [run for each, run in evaluator.played if each == candidate] == list(range(len(finals)))


def test_who_joins_late_catches_up_or_leaves():
    evaluator = MadeUp([100.0, 101.0, 150.0, 90.0], 4)
    race = Race(evaluator, Budget(runs=10**5))
    race.enter(candidates(2))
    race.narrow()
    before = race.runs
    race.enter(candidates(4))
    race.narrow()
    assert race.leader.kwargs["i"] == 3
    assert len(race.finals[race.leader]) >= min(before, 8)
    assert len(race.finals[candidates(4)[2]]) == 8  # far behind: gone after its first block


def test_who_was_never_tried_is_forgotten_and_who_was_is_remembered():
    race = Race(MadeUp([100.0, 101.0, 90.0, 95.0, 99.0], 4), Budget(runs=20))
    race.enter(candidates(2))
    race.narrow()
    race.budget.runs = race.budget.played  # nothing is left for the others
    race.enter(candidates(5))
    race.narrow()
    assert set(race.finals) == set(candidates(2))


def test_nobody_plays_more_than_two_thousand_runs():
    race = raced(MadeUp([100.0, 100.0], 1), Budget(runs=10**6), 2, level=1e-9, tolerance=0.0)
    assert len(race.alive) == 2
    assert race.runs == 2_000


def test_candidates_within_the_tolerance_end_the_race():
    race = raced(MadeUp([1000.0, 1000.0, 1000.0], 5, shared=5.0, own=1.0), Budget(runs=10**6), 3, tolerance=0.01)
    assert len(race.alive) == 3
    assert race.budget.played < 200


def test_a_budget_in_runs_is_kept_and_the_worse_half_leaves_first():
    for runs in (20, 57, 100, 400):
        evaluator = MadeUp([100.0 + 3 * (i - 4) ** 2 for i in range(9)], 7, own=0.5)
        race = raced(evaluator, Budget(runs=runs), 9, tolerance=0.0)
        assert len(race.alive) == 1
        assert race.budget.played <= runs
        assert race.leader.kwargs["i"] == 4


@pytest.mark.parametrize(("runs", "wanted"), [(32 * 8, 4), (32 * 4, 2), (32 * 3, 2)])
def test_the_first_look_has_half_of_the_money_and_two_runs_at_least(runs, wanted):
    """Later looks share the rest among the halvings that are left: of 32 candidates, five."""
    race = Race(MadeUp([100.0] * 32, 1), Budget(runs=runs))
    race.enter(candidates(32))
    movers, target, limited = race._next_block(0, 1)
    assert (len(movers), target, limited) == (32, wanted, True)
    race.looks = 1
    assert race._next_block(0, 1)[1] == runs // 5 // 32


def test_half_leave_where_the_money_does_not_suffice():
    """Of 32 with two runs each 16 remain, who have money for one run more, and of these 8."""
    evaluator = MadeUp([100.0 + 10 * i for i in range(32)], 2, own=0.1)
    raced(evaluator, Budget(runs=32 * 4), 32, tolerance=0.0)
    runs = np.bincount([each.kwargs["i"] for each, _ in evaluator.played])
    assert runs[8:].tolist() == [3] * 8 + [2] * 16
    assert runs[:8].min() > 3


def test_a_budget_in_seconds_is_kept():
    clock = Clock()
    evaluator = MadeUp([100.0 + i / 10 for i in range(12)], 8, clock=clock, seconds=0.25)
    race = raced(evaluator, Budget(30.0, clock=clock), 12, tolerance=0.0)
    assert len(race.alive) == 1
    assert 15 < clock.now <= 30


def test_seconds_of_compilation_do_not_count():
    clock = Clock()
    budget = Budget(10.0, clock=clock)
    clock.now += 2
    with budget.paused():
        clock.now += 100
    assert budget.elapsed == pytest.approx(2)
    assert budget.left == pytest.approx(8)


def test_a_floor_leaves_money():
    race = Race(MadeUp([100.0 + i for i in range(6)], 9), Budget(runs=200), tolerance=0.0)
    race.enter(candidates(6))
    race.narrow(floor=120, keep=2)
    assert race.budget.left >= 120
    assert len(race.alive) <= 2


def test_equal_candidates_without_noise_are_settled_at_once():
    race = raced(MadeUp([0.0, 0.0], 1, shared=0.0, own=0.0), Budget(runs=1_000), 2)
    assert len(race.alive) == 2
    assert race.budget.played == 16


@pytest.mark.parametrize(("seconds", "runs"), [(0, None), (-1, None), (math.nan, None), (5, 0), (5, 1.5)])
def test_bad_budgets_are_refused(seconds, runs):
    with pytest.raises((TypeError, ValueError), match=r"must be a"):
        Budget(seconds, runs)


def test_a_few_easy_runs_make_no_leader():
    """The first runs are easy for everybody: who has played only these has a lower mean, and is still behind."""
    one, other = candidates(2)
    race = Race(MadeUp([0.0, 0.0], 1), Budget(runs=100))
    race.enter([one, other], {one: np.array([1.0, 1, 9, 9]), other: np.array([2.0, 2])})
    assert race.leader == one
    assert race.behind(other).tolist() == [1.0, 1.0]
    assert race.ranked() == [one, other]


def test_parameters_as_text():
    """Discounts close to 1 have seven digits, other numbers four."""
    settings = {"gamma": 0.999209412, "xi": 0.123456, "c": 1.00001, "window": 12_345, "binarize": True}
    assert Candidate.of("ts", settings).settings == ("gamma=0.9992094, xi=0.1235, c=1, window=12,345, binarize=True")
    assert str(Candidate("ts")) == "ts"
    assert str(Candidate.of("ts", {"blind": True})) == "ts, told T, K and the law of rewards alone"
