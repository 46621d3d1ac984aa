"""Whatever a compiled function reads is part of its fingerprint, however it reaches it."""

from __future__ import annotations

import enum
from types import FunctionType, ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.extending import register_jitable

from ns_mab_gym.play.fingerprints import fingerprint


def compiled_from(source: str, **scope: object) -> FunctionType:
    """The function ``rule`` of a source, with these values in its global scope."""
    namespace = {"__name__": "own", "register_jitable": register_jitable, "np": np, **scope}
    exec(source, namespace)
    return namespace["rule"]


def print_of(source: str, **scope: object) -> str:
    return fingerprint([compiled_from(source, **scope)], [])


PLAIN = "def rule(x): return TOLD"
CLOSURE = "def around(c):\n def rule(x): return c\n return rule\nrule = around(TOLD)"
DEFAULT = "def rule(x, c=TOLD): return c"
DEFAULT_OF_A_HELPER = "@register_jitable\ndef helper(c=TOLD): return c\ndef rule(x): return helper()"
NESTED = "def rule(x):\n def inner(): return TOLD\n return inner()"
LAMBDAS = "one, two = (lambda: 7), (lambda: TOLD)\ndef rule(x): return one() + two()"
WAYS = [PLAIN, CLOSURE, DEFAULT, DEFAULT_OF_A_HELPER, NESTED, LAMBDAS]


class Pair(NamedTuple):
    """A constant with names."""

    first: int
    second: object


@pytest.mark.parametrize("source", WAYS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, 2),
        (1, 1.0),
        ((1, (2, 3)), (1, (2, 4))),
        (Pair(1, 2), Pair(1, 3)),
        (np.zeros(5_000), np.eye(1, 5_000, 2_500)[0]),
        ((np.zeros(5_000),), (np.eye(1, 5_000, 2_500)[0],)),
    ],
    ids=["number", "type", "nested tuple", "named tuple", "array", "tuple of arrays"],
)
def test_a_value_counts_however_it_is_reached(source, before, after):
    assert print_of(source, TOLD=before) != print_of(source, TOLD=after)
    assert print_of(source, TOLD=before) == print_of(source, TOLD=before)


def module_with(value: object) -> ModuleType:
    """A module ``helpers`` with a function, and a module ``deep`` in it with another."""
    helpers, deep = ModuleType("helpers"), ModuleType("helpers.deep")
    for module in (helpers, deep):
        exec(f"def helpers(): return {value}", vars(module))
    vars(helpers).update(deep=deep, itself=helpers)
    return helpers


@pytest.mark.parametrize("call", ["helpers.helpers()", "helpers.deep.helpers()", "helpers.itself.helpers()"])
def test_a_function_counts_that_is_reached_through_a_module(call):
    source = f"def rule(x): return {call}"
    assert print_of(source, helpers=module_with(1)) != print_of(source, helpers=module_with(2))
    assert print_of(source, helpers=module_with(1)) == print_of(source, helpers=module_with(1))


def test_the_code_of_numpy_does_not_count(monkeypatch):
    """Numba has its own version of it."""
    source = "def rule(x): return np.trapezoid(x)"
    before = print_of(source)
    monkeypatch.setattr(np, "trapezoid", lambda x: 7)
    assert print_of(source) == before


def test_members_of_an_enumeration_count():
    source = "def rule(x): return Mode.FAST"
    slow, fast = (enum.IntEnum("Mode", {"FAST": value}, module="own") for value in (1, 2))
    assert print_of(source, Mode=slow) != print_of(source, Mode=fast)


def test_the_options_with_which_a_helper_is_compiled_count():
    def helper(x):
        return x

    source = "def rule(x): return helper(x)"
    assert print_of(source, helper=njit(helper)) != print_of(source, helper=njit(fastmath=True)(helper))
    assert print_of(source, helper=njit(helper)) == print_of(source, helper=njit(helper))


def test_which_of_two_functions_has_which_name_counts():
    source = "{} = (lambda: 1), (lambda: 2)\ndef rule(x): return one() - two()"
    assert print_of(source.format("one, two")) != print_of(source.format("two, one"))


def test_two_functions_that_call_each_other_have_an_end():
    source = "def rule(x): return other(x - 1) if x else {}\ndef other(x): return rule(x)"
    assert print_of(source.format(1)) != print_of(source.format(2))


def test_fields_of_a_state_and_its_module_count():
    def kind(fields: str, module: str) -> type:
        return type("State", (tuple,), {"_fields": tuple(fields.split()), "__module__": module})

    function = compiled_from("def rule(x): return x")
    kinds = [kind("a b", "own"), kind("b a", "own"), kind("a b", "other")]
    assert len({fingerprint([function], [each]) for each in kinds}) == 3
