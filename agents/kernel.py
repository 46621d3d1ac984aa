"""One definition of an algorithm, driven two ways.

An algorithm is a state, a ``NamedTuple`` of arrays and numbers, and two plain functions of it:
``act(state, mask, rng) -> arm`` and ``observe(state, arm, reward)``. Python calls them as they are; the compiled loop
of :mod:`ns_mab_gym.engine` finds the very same functions through numba's ``overload``, by the class of the state.
Both draw the same numbers from the same generator, so both give the same trajectory, bit for bit.

Rules for such functions: ``math.log`` and ``math.exp``, never numpy's, and plain loops for sums (numpy's differ in the
last bit); no division by zero; helpers are marked with numba's ``register_jitable`` and in hot places take arrays, not
the state (every array of a tuple that is passed on is counted as a reference, and counting takes time).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.extending import overload

__all__ = ["BoolArray", "FloatArray", "IntArray", "act", "observe", "rule"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Rule(NamedTuple):
    """The two functions of an algorithm."""

    act: Callable[[Any, BoolArray, np.random.Generator], int]
    observe: Callable[[Any, int, float], None]


RULES: dict[type, Rule] = {}
NAMED_TUPLES = (types.NamedTuple, types.NamedUniTuple)


def rule(
    state: type,
    act: Callable[[Any, BoolArray, np.random.Generator], int],
    observe: Callable[[Any, int, float], None],
) -> None:
    """Say by which functions the algorithm with this class of state acts and observes."""
    RULES[state] = Rule(act, observe)


def act(state: Any, mask: BoolArray, rng: np.random.Generator) -> int:
    """The arm to play now, one of those where the mask is true."""
    return RULES[type(state)].act(state, mask, rng)


def observe(state: Any, arm: int, reward: float) -> None:
    """Take in the reward of a round."""
    RULES[type(state)].observe(state, arm, reward)


@overload(act, strict=False, jit_options={"forceinline": True})
def _compiled_act(state, mask, rng):  # type: ignore[no-untyped-def]
    return RULES[state.instance_class].act if isinstance(state, NAMED_TUPLES) else None


@overload(observe, strict=False, jit_options={"forceinline": True})
def _compiled_observe(state, arm, reward):  # type: ignore[no-untyped-def]
    return RULES[state.instance_class].observe if isinstance(state, NAMED_TUPLES) else None
