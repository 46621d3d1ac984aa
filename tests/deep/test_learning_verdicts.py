"""Intervals over training seeds and runs hold what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym.deep.learning_verdicts import crossed, verdicts_of


def test_a_small_table_by_hand() -> None:
    found = crossed(np.array([[1.0, 2.0, 6.0], [3.0, 4.0, 8.0]]))  # seeds' means 3 and 5, runs' means 2, 3 and 7
    of_seeds, of_runs = 2 / 2, 7 / 3
    freedom = (of_seeds + of_runs) ** 2 / (of_seeds**2 / 1 + of_runs**2 / 2)
    reach = stats.t.ppf(0.975, math.floor(freedom)) * (of_seeds + of_runs) ** 0.5
    assert found.mean == 4
    assert found.se == pytest.approx((of_seeds + of_runs) ** 0.5)
    assert found.interval.low == pytest.approx(4 - reach)
    assert found.interval.high == pytest.approx(4 + reach)


@pytest.mark.parametrize("spreads", [(1.0, 0.2, 0.5), (0.1, 3.0, 1.0), (1.0, 3.0, 2.0)])
def test_the_truth_lies_within_as_often_as_promised(spreads: tuple[float, float, float]) -> None:
    """95 % of 2 000 trials, with 4 standard errors for luck; more is allowed, as one part is counted twice."""
    rng, trials, seeds, runs = np.random.default_rng(5), 2_000, 3, 30
    of_seeds, of_runs, of_both = spreads
    within = 0
    for _ in range(trials):
        samples = (
            rng.normal(0, of_seeds, (seeds, 1))
            + rng.normal(0, of_runs, (1, runs))
            + rng.normal(0, of_both, (seeds, runs))
        )
        interval = crossed(samples).interval
        within += interval.low <= 0 <= interval.high
    assert within / trials > 0.95 - 4 * (0.95 * 0.05 / trials) ** 0.5


def test_one_row_or_one_column_has_no_interval_over_seeds() -> None:
    assert math.isnan(crossed(np.array([[1.0, 2.0]])).interval.low)
    assert crossed(np.array([[1.0, 2.0]])).se == pytest.approx(0.5)
    assert math.isnan(crossed(np.array([[1.0]])).se)
    assert crossed(np.array([[1.0], [3.0]])).se == pytest.approx(1.0)


def test_wins_losses_and_what_cannot_be_told() -> None:
    rng = np.random.default_rng(0)
    luck = rng.normal(0, 5, 200)
    models = 50 + luck + rng.normal(0, 1, (3, 200)) + np.array([[-0.5], [0.0], [0.5]])
    rivals = {"worse": 60 + luck, "better": 40 + luck, "alike": 50.2 + luck}
    found = verdicts_of(models, rivals)
    assert [(each.agent, each.word) for each in found] == [("better", "loses"), ("alike", "open"), ("worse", "wins")]
    assert found[0].more.value == pytest.approx((rivals["better"] - models).mean())


def test_with_one_model_intervals_hold_for_all_rivals_together() -> None:
    """They are wider than Student's for one rival, and not wider than Bonferroni's by more than a tenth."""
    rng = np.random.default_rng(1)
    model, rivals = rng.normal(0, 1, (1, 100)), {str(each): rng.normal(0, 1, 100) for each in range(10)}
    for each in verdicts_of(model, rivals):
        error = (rivals[each.agent] - model[0]).std(ddof=1) / 10
        factor = (each.more.high - each.more.value) / error
        assert stats.t.ppf(0.975, 99) * 1.1 < factor < stats.t.ppf(1 - 0.025 / 10, 99) * 1.1


def test_few_runs_have_no_intervals() -> None:
    (only,) = verdicts_of(np.zeros((1, 3)), {"ts": np.array([1.0, 2.0, 3.0])})
    assert only.more.value == 2
    assert math.isnan(only.more.low)
    assert only.word == "open"
