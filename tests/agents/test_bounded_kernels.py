"""No rule makes an index of a float that may be anything, and no loop of a rule can go on for ever: read off the code.

An index beyond an array is not noticed by compiled code, nor is Ctrl-C in a loop that does not end.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from numba import njit

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import floor_within

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
    ("rotting", "spread > 0.0 and h <= min(pulls[fewest], values.shape[1] - 1) and (count > 1)"): "h grows",
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
