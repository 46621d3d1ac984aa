"""Leads: an interval that holds for all pairs together, so that a best of equals is seldom called clear."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym import resampling
from ns_mab_gym.choosing.leads import FEWEST, best_of, standings_of


def standings(table):
    return standings_of({f"agent {place}": column for place, column in enumerate(np.asarray(table, dtype=float).T)})


@pytest.fixture
def coarse(monkeypatch):
    """Fewer resamples, for tests that judge many comparisons."""
    monkeypatch.setattr(resampling, "RESAMPLES", 500)
    resampling._weights.cache_clear()
    yield
    resampling._weights.cache_clear()


@pytest.mark.parametrize(("runs", "rivals"), [(5, 3), (10, 6), (30, 3)])
def test_equal_agents_are_told_apart_in_at_most_one_comparison_of_twenty(runs, rivals, coarse):
    """Counted over 200 comparisons: at most 5 % and three standard errors of that, 4.6 %."""
    rng = np.random.default_rng(runs)
    wrong = 0
    for _ in range(200):
        rows = standings(rng.normal(size=(runs, rivals + 1)) + 3 * rng.normal(size=(runs, 1)))
        wrong += best_of("world", rows, runs).is_clear
    assert wrong / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5


def test_the_interval_of_a_difference_is_as_wide_as_the_largest_t_of_all_pairs_says():
    """Against a bootstrap by hand, with other draws: 20,000 resamples, whose quantile is within 3 %."""
    rng = np.random.default_rng(1)
    table = rng.normal([0, 1, 1.5], [1, 2, 3], size=(30, 3))
    rows = standings(table)
    picks = rng.integers(0, 30, size=(20_000, 30))
    largest = np.zeros(20_000)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        difference = table[:, one] - table[:, other]
        drawn = difference[picks]
        t = (drawn.mean(axis=1) - difference.mean()) / (drawn.std(axis=1, ddof=1) / 30**0.5)
        largest = np.maximum(largest, np.abs(t))
    factor = np.quantile(largest, 0.95)
    for row in rows[1:]:
        difference = table[:, int(row.agent[-1])] - table[:, int(rows[0].agent[-1])]
        reach = factor * difference.std(ddof=1) / 30**0.5
        assert row.more.high - row.more.value == pytest.approx(reach, rel=0.03)
        assert row.more.value - row.more.low == pytest.approx(reach, rel=0.03)


def test_a_real_lead_is_clear():
    luck = np.random.default_rng(0).normal(size=(10, 1))
    best = best_of("here", standings(luck + np.array([5.0, 3.0, 9.0]) + 0.01 * luck * np.array([1, 2, 3])), 10)
    assert (best.agent, best.runner_up, best.is_clear, best.alike) == ("agent 1", "agent 0", True, ())
    assert str(best).startswith("agent 1 has the least regret on here: ")
    assert "The lead is clear" in str(best)


def test_those_that_may_be_as_good_are_named():
    rng = np.random.default_rng(0)
    best = best_of("here", standings(rng.normal([0, 0, 50], size=(20, 3))), 20)
    assert best.is_clear is False
    assert best.alike == (best.runner_up,)
    assert f"The lead may be luck: {best.runner_up} may be as good" in str(best)


def test_ties_share_a_place_and_are_never_told_apart():
    rows = standings(np.tile([[2.0, 1.0, 1.0, 3.0]], (8, 1)))
    assert [row.place for row in rows] == [1, 1, 3, 4]
    best = best_of("here", rows, 8)
    assert (best.alike, best.lead.value) == (("agent 2",), 0)


@pytest.mark.parametrize("runs", [1, FEWEST - 1])
def test_few_runs_have_no_interval(runs):
    rows = standings(np.random.default_rng(0).normal([0, 9], 0.1, size=(runs, 2)))
    assert all(np.isnan([row.regret.low, row.regret.high, row.more.low, row.more.high]).all() for row in rows)
    assert best_of("here", rows, runs).is_clear is None


def test_many_agents_are_resampled_in_parts_with_the_same_result(monkeypatch):
    table = np.random.default_rng(3).normal(size=(12, 13))
    whole = standings(table)
    monkeypatch.setattr("ns_mab_gym.choosing.leads.AT_ONCE", 7)
    for one, other in zip(whole, standings(table), strict=True):
        np.testing.assert_allclose(one.more, other.more)
