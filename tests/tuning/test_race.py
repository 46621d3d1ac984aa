"""Races of made-up candidates, whose true regrets are known."""

import math

import numpy as np
import pytest

from ns_mab_gym.tuning.race import Budget, Candidate, Race

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
    """All are alike, the worst case: whoever is the best leaves by a bound in at most ``level / 2`` of races."""
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
    share, error = thrown / RACES, math.sqrt(level / 2 * (1 - level / 2) / RACES)
    assert share <= level / 2 + 2 * error


def test_a_clear_winner_wins_and_the_others_leave_by_bounds():
    wins = 0
    for seed in range(60):
        race = raced(MadeUp([130.0, 100.0, 120.0, 125.0], seed), Budget(runs=10**6), 4)
        wins += race.leader.kwargs["i"] == 1
        assert race.halved == set()
        assert race.unproved() == []
        assert race.doubt() == 0
    assert wins == 60


def test_the_doubt_holds():
    """The best of those who entered is better than the leader by more than the doubt in at most ``level`` of races."""
    means, level, wrong = [101.0, 100.0, 102.0, 100.5, 103.0, 100.2], 0.2, 0
    for seed in range(RACES):
        race = raced(MadeUp(means, seed, own=3.0), Budget(runs=150), 6, level=level)
        regret = means[race.leader.kwargs["i"]]
        # the leader's mean is estimated with the shared luck, which the doubt divides by
        wrong += regret - min(means) > race.doubt() * race.finals[race.leader].mean()
    assert wrong / RACES <= level + 2 * math.sqrt(level * (1 - level) / RACES)


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


def test_candidates_within_the_tolerance_end_the_race():
    race = raced(MadeUp([1000.0, 1000.0, 1000.0], 5, shared=5.0, own=1.0), Budget(runs=10**6), 3, tolerance=0.01)
    assert len(race.alive) == 3
    assert race.doubt() <= 0.01
    assert race.budget.played < 200


def test_a_budget_in_runs_is_kept_and_the_worse_half_leaves_first():
    for runs in (20, 57, 100, 400):
        evaluator = MadeUp([100.0 + 3 * (i - 4) ** 2 for i in range(9)], 7, own=0.5)
        race = raced(evaluator, Budget(runs=runs), 9, tolerance=0.0)
        assert len(race.alive) == 1
        assert race.budget.played <= runs
        assert race.leader.kwargs["i"] == 4


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
    assert race.doubt() == 0
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
