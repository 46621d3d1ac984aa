"""Which saved states can be: ranges and consistency of the arrays of a state, checked before one of them is loaded.

Compiled code follows a place or a count without looking whether it lies within an array. So a state that comes from
outside must be one that an agent could have reached. The class of each state says what that means, with
:func:`admissible`, beside its fields: a generator of claims, each with the name of a field, whether it holds (for all
entries, or entry by entry), and what must be. A claim is looked at before the next one is computed, so that later ones
can rely on earlier ones, and on those of the states within.

>>> class TurnState(NamedTuple):
...     turn: npt.NDArray[np.int64]  # (1,) whose turn it is
>>> def claims(state, facts):
...     yield "turn", state.turn < facts.n_arms, "an arm"
>>> admissible(TurnState, claims)
>>> check_state(TurnState(np.array([7])), Facts(n_arms=3))
Traceback (most recent call last):
    ...
ValueError: saved state.turn[0] is 7 and must be an arm; load only what state_dict() returned
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["MOST", "Claims", "Facts", "admissible", "check_state", "close", "is_whole", "parts_of"]

Claims = Iterator[tuple[str, Any, str]]
MOST = 2**53  # what is counted stays below: floats are exact as integers up to here, and 64 bits never overflow
LARGEST = 1e150  # what is measured stays below: squares of it do not overflow


class Facts(NamedTuple):
    """What is known about the agent whose state is looked at."""

    n_arms: int
    lowest: float = -LARGEST  # of the rewards that it takes
    highest: float = LARGEST
    whole: bool = False  # whether all rewards are 0 or 1

    def rewards(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which of these can be rewards."""
        possible = (values >= self.lowest) & (values <= self.highest)
        return possible & is_whole(values) if self.whole else possible

    def sums(self, sums: npt.NDArray[np.float64], counts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which of these can be sums of so many rewards, but for rounding."""
        if self.whole:
            return is_whole(sums) & (sums >= 0) & (sums <= counts)
        slack = 1e-9 * (1.0 + counts)
        return np.asarray((sums >= self.lowest * counts - slack) & (sums <= self.highest * counts + slack))


class Admission(NamedTuple):
    """What is declared about a class of states."""

    claims: Callable[[Any, Facts], Claims] | None
    free: tuple[str, ...]
    constant: tuple[str, ...]
    parts: Callable[[Any], Mapping[str, Any]] | None


ADMISSIONS: dict[type, Admission] = {}


def admissible(
    state: type,
    claims: Callable[[Any, Facts], Claims] | None = None,
    *,
    free: tuple[str, ...] = (),
    constant: tuple[str, ...] = (),
    parts: Callable[[Any], Mapping[str, Any]] | None = None,
) -> None:
    """Declare which states of this class can be. Integers must be at least 0, and other numbers at most 1e150 in size.

    Args:
        state: the class of the state.
        claims: given a state and :class:`Facts`, what must hold beyond that.
        free: fields that may hold other numbers: the claims alone say which.
        constant: fields that never change, and must be those of the agent that loads.
        parts: the states within, under their names, if they are to be looked at in another way than as they are.
    """
    ADMISSIONS[state] = Admission(claims, free, constant, parts)


def parts_of(state: Any) -> Mapping[str, Any]:
    """The states, and tuples of states, within a state."""
    names = getattr(state, "_fields", None) or map(str, range(len(state)))
    return {name: part for name, part in zip(names, state, strict=True) if isinstance(part, tuple)}


def check_state(state: Any, facts: Facts, own: Any = None, where: str = "state.") -> None:
    """Raise a ValueError that names the first field that cannot be; classes without a declaration are not checked.

    Args:
        state: the state.
        facts: about the agent.
        own: the state that the agent has now, from which constants are taken.
        where: how messages call the state.
    """
    with np.errstate(all="ignore"):
        _check(state, facts, state if own is None else own, where)


def _check(state: Any, facts: Facts, own: Any, where: str) -> None:
    declared = ADMISSIONS.get(type(state))
    for name, holds, words in _usual(state, own, declared) if declared else ():
        _insist(where + name, getattr(state, name), holds, words)
    seen = declared.parts(state) if declared and declared.parts else parts_of(state)
    for name, part in seen.items():
        _check(part, facts, parts_of(own)[name], f"{where}{name}.")
    for name, holds, words in declared.claims(state, facts) if declared and declared.claims else ():
        _insist(where + name, getattr(state, name), holds, words)


def _usual(state: Any, own: Any, declared: Admission) -> Claims:
    """What holds for every field that is not free."""
    for name, value in zip(state._fields, state, strict=True):
        if not isinstance(value, np.ndarray):
            continue
        if name in declared.constant:
            yield name, value == getattr(own, name), "what this agent has, as it never changes"
        elif name not in declared.free and value.dtype.kind == "f":
            yield name, np.abs(value) <= LARGEST, f"a number of at most {LARGEST:g} in size"
        elif name not in declared.free and value.dtype.kind == "i":
            yield name, (value >= 0) & (value <= MOST), f"an integer from 0 to {MOST}"


def _insist(name: str, value: Any, holds: Any, words: str) -> None:
    if np.all(holds):
        return
    place, given = "", "inconsistent"
    if np.shape(holds) == getattr(value, "shape", None):
        first = tuple(int(n) for n in np.argwhere(~np.asarray(holds))[0])
        place, given = str(list(first)), f"{value[first]}"
    raise ValueError(f"saved {name}{place} is {given} and must be {words}; load only what state_dict() returned")


def close(given: Any, exact: Any, slack: Any = 1e-9) -> Any:
    """Where two numbers are the same but for rounding, infinite ones and NaN too."""
    same = np.abs(given - exact) <= slack * (1.0 + np.abs(exact))
    return np.where(np.isfinite(exact), same, (given == exact) | (np.isnan(given) & np.isnan(exact)))


def is_whole(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Where a float counts something: a whole number from 0 on."""
    return np.asarray((values >= 0) & (values <= MOST) & (values == np.floor(values)))
