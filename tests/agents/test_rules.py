"""Rules that change, and states within states: never an old loop, never a wrong number."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.core.kernel import RULES, IntArray, act, floor_within, forget, observe, rule, states_in
from ns_mab_gym.agents.core.protocol import arrays_of, with_arrays
from ns_mab_gym.play.loop import loop_for

WORLD = worlds.Abrupt(horizon=40)


class FixedState(NamedTuple):
    """The arm that is always played."""

    arm: IntArray


class ChangedState(NamedTuple):
    """The same, of another class, whose rule a test changes."""

    arm: IntArray


def act_fixed(state, mask, rng):
    return state.arm[0]


def act_changed(state, mask, rng):
    return state.arm[0] + 1


def observe_nothing(state, arm, reward):
    pass


rule(FixedState, act_fixed, observe_nothing)
rule(ChangedState, act_fixed, observe_nothing)


class TeamState(NamedTuple):
    """Two agents in a plain tuple."""

    members: tuple[FixedState, FixedState]


def act_as_the_second(state, mask, rng):
    return act(state.members[1], mask, rng)


rule(TeamState, act_as_the_second, observe_nothing)


@dataclass(eq=False)
class Playing(agents.Agent):
    """Plays the state that it is given."""

    name = "playing"

    given: Any = None

    def _new_state(self) -> Any:
        return self.given


def pulls_of(state: Any) -> list[int]:
    return nsb.simulate(WORLD, Playing(10, given=state), runs=1).pulls[0].tolist()


def pulls(arm: int) -> list[int]:
    return [40 if i == arm else 0 for i in range(10)]


def test_a_rule_that_is_compiled_already_cannot_be_changed():
    """Numba keeps the first function that it found for a class, and so would play the old rule."""
    rule(ChangedState, act_changed, observe_nothing)  # nothing was compiled: as often as one likes
    rule(ChangedState, act_fixed, observe_nothing)
    compiled = njit(lambda state, mask, rng: act(state, mask, rng))
    state = ChangedState(np.array([3]))
    assert compiled(state, np.ones(10, np.bool_), np.random.default_rng(0)) == 3
    rule(ChangedState, act_fixed, observe_nothing)  # the same is no change
    with pytest.raises(ValueError, match=r"the rule of ChangedState is compiled already; .* define the class"):
        rule(ChangedState, act_changed, observe_nothing)
    assert RULES[ChangedState]["act"] is act_fixed


def test_a_changed_rule_has_a_loop_of_its_own(monkeypatch):
    first = loop_for((FixedState,), "fixed")
    monkeypatch.setitem(RULES, FixedState, RULES[FixedState] | {"act": act_changed})
    assert loop_for((FixedState,), "fixed").py_func.__name__ != first.py_func.__name__


def test_states_in_a_plain_tuple_are_found_and_played():
    state = TeamState((FixedState(np.array([2])), FixedState(np.array([5]))))
    assert [type(each) for each in states_in(state)] == [TeamState, FixedState, FixedState]
    assert pulls_of(state) == pulls(5)


def test_loops_of_one_state_around_different_ones_have_names_of_their_own():
    one, other = ((TeamState, FixedState, FixedState), (TeamState, ChangedState, ChangedState))
    names = {loop_for(kinds, "team").py_func.__name__ for kinds in (one, other)}
    assert len(names) == 2


@pytest.mark.parametrize("name", ["beta-swts", "ts", "gamma-swgts", "kl-ucb"])
def test_what_an_agent_computed_about_an_arm_is_forgotten_with_it(name):
    """Apart from counts and sums, an agent keeps numbers computed from them: those must go too.

    When the arm was last seen stays: see ``test_window.py``.
    """
    k = 3
    agent = agents.make(name, k, 500)
    fresh = agents.make(name, k, 500)
    for t in range(60):
        agent.observe(t % k, float(t % 2))
        agent.act()
    forget(agent.state, 1)
    for part, new in zip(states_in(agent.state), states_in(fresh.state), strict=True):
        for field, value in part._asdict().items():
            if isinstance(value, np.ndarray) and value.shape == (k,):
                np.testing.assert_array_equal(value[1], getattr(new, field)[1], err_msg=field)
    observe(agent.state, 1, 1.0)  # and it goes on
    assert 0 <= act(agent.state, np.ones(k, np.bool_), np.random.default_rng(1)) < k


def test_arrays_in_plain_tuples_are_saved_and_restored():
    class Pair(NamedTuple):
        both: tuple[np.ndarray, np.ndarray]
        number: float

    one, two = Pair((np.arange(3), np.zeros(2)), 1.0), Pair((np.zeros(3, np.int64), np.ones(2)), 1.0)
    assert list(arrays_of(one)) == ["state.both.0", "state.both.1"]
    restored = with_arrays(two, arrays_of(one))
    np.testing.assert_array_equal(restored.both[0], [0, 1, 2])
    np.testing.assert_array_equal(restored.both[1], [0, 0])
    assert type(restored) is Pair
    assert restored.number == 1.0


# No rule makes an index of a float that may be anything, and no loop of a rule can go on for ever: read off the code.
# An index beyond an array is not noticed by compiled code, nor is Ctrl-C in a loop that does not end.

FOLDER = Path(agents.__file__).parent
FILES = sorted([*FOLDER.glob("*.py"), *(FOLDER / "parts").glob("*.py")])
COMPILED = ("helper", "inlined", "register_jitable")
# Conversions of what is an integer or a truth value already.
HARMLESS = {"int(wins)", "int(everything)", "int(clock[SINCE] + 1 - clock[NEXT])"}
# What is rounded otherwise, and why it is finite.
ROUNDED = {
    "math.floor(n)": "compared, not used as an index",
    "math.ceil(min(NEVER, root * root))": "bounded, as floor_within is",
}
# Every loop without a count, and why it ends.
ENDING = {
    ("active_ptw", "level < log_odds.size - 1"): "level grows",
    ("dsw_ts", "sample > x"): "called where a sample exceeds x with a probability of at most one half",
    ("rotting", "spread > 0.0 and h <= min(samples[fewest], values.shape[1] - 1) and (count > 1)"): "h grows",
    ("rotting", "j < levels[fewest] and count > 1"): "j grows",
    ("master", "running[m] == 0 and m + 1 < running.size"): "m grows",
    ("rotting", "not settled"): "each turn settles another arm",
    ("rotting", "h < n"): "h grows",
    ("detectors", "True"): "the row grows, and the last one returns",
    ("memories", "last >= room"): "ε doubles, and in the end all points but two are dropped",
    ("races", "n < 16.0"): "n is at least 0 and grows by 1",
    ("races", "True"): "for a ≥ 1 each turn ends with a probability of one half or more",
}


def kernels(file: Path) -> Iterator[ast.FunctionDef]:
    """The functions of a file that are compiled: helpers, and those tied to a state."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tied = {
        argument.id
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("rule", "detection")
        for argument in call.args[1:]
        if isinstance(argument, ast.Name)
    }
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            marks = " ".join(map(ast.unparse, function.decorator_list))
            if function.name in tied or any(mark in marks for mark in COMPILED):
                yield function


def calls(file: Path, *names: str) -> list[ast.Call]:
    """The calls of these functions in the file's kernels."""
    inside = (node for function in kernels(file) for node in ast.walk(function))
    return [node for node in inside if isinstance(node, ast.Call) and ast.unparse(node.func) in names]


def test_kernels_are_found():
    found = {file.stem: {function.name for function in kernels(file)} for file in FILES}
    assert {"act", "observe", "forget", "_update"} <= found["gamma_swgts"]
    assert {"log_factorial", "largest_gaussian", "normal_beyond"} <= found["races"]
    assert {"watch_adwin", "_insert"} <= found["detectors"]
    assert sum(map(len, found.values())) > 150


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_floats_become_integers_within_bounds(file):
    wrong = [
        ast.unparse(call)
        for call in calls(file, "int", "np.int64", "round")
        if not isinstance(call.args[0], ast.Compare) and ast.unparse(call) not in HARMLESS
    ]
    assert not wrong, "use floor_within(x, most)"
    assert {ast.unparse(call) for call in calls(file, "math.ceil", "math.floor", "math.trunc")} <= ROUNDED.keys()


def test_every_loop_without_a_count_is_known_to_end():
    found = {
        (file.stem, ast.unparse(loop.test))
        for file in FILES
        for function in kernels(file)
        for loop in ast.walk(function)
        if isinstance(loop, ast.While)
    }
    assert found == ENDING.keys(), "say in ENDING why a new loop ends, whatever numbers it meets"


@pytest.mark.parametrize(
    ("x", "most", "expected"),
    [
        (2.7, 9.0, 2), (9.0, 9.0, 9), (9.99, 9.0, 9), (-0.5, 9.0, 0), (-1e300, 9.0, 0), (1e300, 9.0, 9), (0.0, 0.0, 0),
        (math.nan, 9.0, 9), (math.inf, 9.0, 9), (-math.inf, 9.0, 0), (2.0**62, 2.0**53, 2**53), (5e-324, 1.0, 0),
    ],
)  # fmt: skip
def test_floor_within(x, most, expected):
    assert floor_within(x, most) == expected
    assert njit(lambda a, b: floor_within(a, b))(x, most) == expected
