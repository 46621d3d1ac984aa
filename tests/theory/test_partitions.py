"""Phases partition the horizon; general breakpoints are the fewest that Definition 6 allows."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ns_mab_gym import theory

matrices = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(2, 3)),
    elements=st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
)

# No two arms can tie: each has fractions of its own.
untied = matrices.map(lambda means: means + 0.01 * np.arange(means.shape[1]))


def admissible(means, rounds):
    """Definition 6 for one phase, word for word; rounds and arms as in the paper."""
    best = {t: int(np.argmax(means[t - 1])) for t in rounds}
    lowest = min(means[t - 1, best[t]] for t in rounds)
    others = [i for t in rounds for i in range(means.shape[1]) if i != best[t]]
    return all(lowest > max(means[t - 1, i] for t in rounds) for i in others)


def fewest(means):
    """The smallest number of general breakpoints over all ways to cut, or None if no way is admissible."""
    T = len(means)
    for size in range(T):
        for cuts in itertools.combinations(range(2, T + 1), size):
            edges = [1, *cuts, T + 1]
            if all(admissible(means, range(a, b)) for a, b in itertools.pairwise(edges)):
                return size
    return None


@settings(max_examples=300, deadline=None)
@given(matrices | untied)
def test_general_breakpoints_are_admissible_and_fewest(means):
    if fewest(means) is None:
        with pytest.raises(ValueError, match="share the best mean"):
            theory.general_breakpoints(means)
        return
    cuts = theory.general_breakpoints(means).tolist()
    assert len(cuts) == fewest(means)
    assert all(admissible(means, range(a, b)) for a, b in itertools.pairwise([1, *cuts, len(means) + 1]))
    assert [phase.start for phase in theory.phases(means, general=True)] == [1, *cuts]


def test_a_long_drift_is_swept_as_a_short_one():
    t = np.arange(3_000)
    means = np.column_stack([0.6 + 0.3 * np.sin(t / 90), 0.5 + 0.3 * np.sin(t / 90)])  # one arm ahead, both move
    cuts = theory.general_breakpoints(means)
    edges = [1, *cuts.tolist(), 3_001]
    assert len(cuts) > 10
    assert all(admissible(means, range(a, b)) for a, b in itertools.pairwise(edges))
    assert not any(admissible(means, range(a, b + 1)) for a, b in itertools.pairwise(edges[:-1]))


def test_the_general_breakpoints_of_the_general_abrupt_world_are_its_three_switches(general_abrupt):
    assert theory.general_breakpoints(general_abrupt).tolist() == [15_000, 30_001, 40_000]
    assert theory.best_arm_switches(general_abrupt).tolist() == [15_000, 30_001, 40_000]
    assert len(theory.breakpoints(general_abrupt)) == 49_999  # the sinusoids move in every round


def test_both_notions_agree_in_the_piecewise_constant_world(abrupt):
    assert theory.breakpoints(abrupt).tolist() == [15_000, 30_001, 40_000]
    assert theory.general_breakpoints(abrupt).tolist() == [15_000, 30_001, 40_000]


@settings(deadline=None)
@given(untied, st.integers(1, 10), st.booleans())
def test_phases_partition_and_pseudophases_skip_the_window(means, tau, general):
    phases, pseudo = theory.phases(means, general=general), theory.pseudophases(means, tau, general=general)
    assert [t for phase in phases for t in phase] == list(range(1, len(means) + 1))
    assert pseudo[0] == phases[0]
    for phase, rest in zip(phases[1:], pseudo[1:], strict=True):
        assert list(rest) == [t for t in phase if t >= phase.start + tau]
    union = {t for rest in pseudo for t in rest}
    mask = theory.pseudophase_set(means, tau, general=general)
    assert union == set((np.flatnonzero(mask) + 1).tolist())


@settings(deadline=None)
@given(untied, st.integers(1, 10))
def test_rounds_of_general_pseudophases_are_learnable(means, tau):
    pseudo = theory.pseudophase_set(means, tau, general=True)
    assert np.all(pseudo <= theory.learnable_set(means, tau))
