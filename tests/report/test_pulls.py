"""The table of pulls: shares of all rounds of all runs, with the arms' names."""

import numpy as np

from ns_mab_gym.experiments.report.pulls import MOST, Share, pulls_table
from ns_mab_gym.runs import Runs


def runs(*pulls: list[int]) -> Runs:
    counts = np.array(pulls)
    seeds = [(n, n) for n in range(len(counts))]
    return Runs(np.array([10]), np.ones((len(counts), 1)), counts, counts, seeds, [{}] * len(counts), 0.1)


def texts(shares: list[Share]) -> list[str]:
    return list(map(str, shares))


def test_shares_are_over_all_runs_and_beside_them_the_rounds_of_the_best_arm():
    means = np.array([[0.1, 0.9]] * 7 + [[0.8, 0.2]] * 3)
    table = pulls_table({"a": runs([4, 6], [2, 8]), "b": runs([0, 10], [0, 10])}, ["left", "right"], means)
    assert table.arms == ["left", "right"]
    assert [(label, texts(shares)) for label, shares in table.rows] == [
        ("a", ["30 %", "70 %"]),
        ("b", ["0 %", "100 %"]),
    ]
    assert table.best is not None
    assert texts(table.best) == ["30 %", "70 %"]


def test_without_means_that_all_runs_share_there_is_no_best_arm():
    assert pulls_table({"a": runs([4, 6])}, ["left", "right"], None).best is None


def test_a_share_above_none_is_never_shown_as_none():
    assert texts([Share(0.0), Share(0.001), Share(0.0051), Share(1.0)]) == ["0 %", "<1 %", "1 %", "100 %"]


def test_of_many_arms_the_most_played_have_columns_and_the_rest_one():
    pulls = [1] * 200
    for arm in range(50, 60):
        pulls[arm] = 81  # ten arms with 810 of 1,000 pulls
    names = [f"arm {n + 1}" for n in range(200)]
    table = pulls_table({"a": runs(pulls)}, names, None)
    assert table.arms == [*names[50:60], "190 others"]
    [(_, shares)] = table.rows
    assert texts(shares) == ["8 %"] * MOST + ["19 %"]
    assert abs(sum(share.value for share in shares) - 1) < 1e-12
    means = np.zeros((5, 200))
    means[:, 199] = 1.0  # the best arm has a column even if nobody plays it
    assert "arm 200" in pulls_table({"a": runs(pulls)}, names, means).arms
