"""No function of a matrix of means writes to it, whatever its layout in memory, and none depends on that layout."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym import theory
from ns_mab_gym.detections import changes_of

FUNCTIONS = {
    "near_ties, all": lambda means: theory.near_ties(means, delta=0.1, pairs="all"),
    "near_ties, best": lambda means: theory.near_ties(means, delta=0.1, pairs="best"),
    "tie_growth": lambda means: theory.tie_growth(means, delta=0.1),
    "describe": theory.describe,
    "knowledge": lambda means: (theory.knowledge(means).breakpoints, theory.knowledge(means).variation),
    "breakpoints": theory.breakpoints,
    "general_breakpoints": theory.general_breakpoints,
    "variation": theory.variation,
    "lipschitz": theory.lipschitz,
    "leaders": theory.leaders,
    "best_arms": theory.best_arms,
    "best_arm_switches": theory.best_arm_switches,
    "phases": theory.phases,
    "pseudophases": lambda means: theory.pseudophases(means, 2),
    "margins": lambda means: theory.margins(means, 2),
    "gaps": lambda means: theory.gaps(means, 2),
    "learnable_set": lambda means: theory.learnable_set(means, 2),
    "recommend_window": theory.recommend_window,
    "bounds": lambda means: theory.bounds(means, [1, 2], delta=0.05),
    "regret_curve": lambda means: theory.regret_curve(means, [1, 2]),
    "compare_orders": theory.compare_orders,
    "changes_of": changes_of,
}
LAYOUTS = {
    "by row": lambda means: np.array(means, order="C"),
    "by column": lambda means: np.array(means, order="F"),
    "every second": lambda means: np.repeat(np.repeat(means, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda means: np.array(means[::-1, ::-1])[::-1, ::-1],
}


def answer(function, means):
    """What a function says, in full; or why it refuses."""
    with np.printoptions(precision=17, threshold=10**6):
        try:
            return repr(function(means)) + str(function(means))
        except ValueError as error:
            return str(error)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_any_layout_gives_the_same_and_stays_as_it_is(function):
    for rounds, writeable in ((1, False), (2, True), (60, False), (60, True)):
        means = np.random.default_rng(1).random((rounds, 4)).round(1)
        expected = answer(function, means.copy())
        assert "read-only" not in expected
        for name, layout in LAYOUTS.items():
            given = layout(means)
            given.setflags(write=writeable)
            assert answer(function, given) == expected, name
            np.testing.assert_array_equal(given, means)
