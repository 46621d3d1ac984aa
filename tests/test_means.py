"""The elementary facts equal loops over their definitions; bad matrices are refused with the reason."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ns_mab_gym import means as matrix
from ns_mab_gym import theory

# Few distinct values, so that ties and unchanged rounds are common.
matrices = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]),
)


@given(matrices)
def test_facts_equal_their_definitions(means):
    T, K = means.shape
    steps = [max(abs(means[t, i] - means[t - 1, i]) for i in range(K)) for t in range(1, T)]
    best = [row.index(max(row)) for row in means.tolist()]
    assert theory.breakpoints(means).tolist() == [t + 2 for t, step in enumerate(steps) if step > 0]
    assert theory.best_arms(means).tolist() == best
    assert theory.best_arm_switches(means).tolist() == [t + 1 for t in range(1, T) if best[t] != best[t - 1]]
    assert theory.variation(means) == pytest.approx(sum(steps))
    assert theory.lipschitz(means) == max(steps, default=0.0)


@given(matrices)
def test_leaders_are_the_best_and_the_best_of_the_rest(means):
    arm, best, rival = theory.leaders(means)
    for t, row in enumerate(means.tolist()):
        assert best[t] == max(row)
        assert arm[t] == row.index(best[t])
        assert rival[t] == max(row[: arm[t]] + row[arm[t] + 1 :])


@pytest.mark.parametrize("rounds", [1, 2, matrix.BLOCK - 1, matrix.BLOCK, matrix.BLOCK + 1, 2 * matrix.BLOCK + 1])
def test_blocks_leave_no_seam(rounds):
    means = np.random.default_rng(rounds).integers(0, 3, (rounds, 3)) / 2
    moves = np.abs(np.diff(means, axis=0)).max(axis=1)
    known = theory.knowledge(means)
    ordered = np.sort(means, axis=1)
    assert known.breakpoints == np.count_nonzero(moves)
    assert known.variation == pytest.approx(moves.sum())
    assert known.lipschitz == moves.max(initial=0.0)
    assert known.switches == np.count_nonzero(np.diff(means.argmax(axis=1)))
    assert (known.horizon, known.n_arms) == means.shape
    assert known.means is means
    np.testing.assert_array_equal(theory.leaders(means).best, ordered[:, -1])
    np.testing.assert_array_equal(theory.leaders(means).rival, ordered[:, -2])


@pytest.mark.parametrize(
    ("means", "error", "words"),
    [
        ([0.1, 0.2], ValueError, r"means must be a table of T rounds by K arms, got shape \(2,\)"),
        (np.zeros((0, 3)), ValueError, "means is empty; give one row per round and one column per arm"),
        (np.zeros((3, 1)), ValueError, "a bandit needs at least 2 arms, means has 1 column"),
        ([[0.1, 0.2], [0.3, float("nan")]], ValueError, "means is NaN or infinite at round 2, arm 2; fill"),
        ([[0.1, 0.2], [float("-inf"), 0.2]], ValueError, "means is NaN or infinite at round 2, arm 1"),
        ([[0.1, 0.2], [0.3]], ValueError, "the rows of means differ in length"),
        ([["a", "b"]], ValueError, "means holds something that is not a number"),
        ([["0.1", "0.2"]], ValueError, "means holds something that is not a number"),
        ([[0.1, None]], ValueError, "means is NaN or infinite at round 1, arm 2"),
    ],
)
def test_a_bad_matrix_is_refused_with_the_reason(means, error, words):
    with pytest.raises(error, match=words):
        theory.knowledge(means)
