"""One definition of an algorithm, run in two ways: interpreted and compiled.

An algorithm is a state, a ``NamedTuple`` of arrays and numbers, and plain functions of it:

* ``act(state, mask, rng) -> arm`` chooses one of the arms where the mask is true;
* ``observe(state, arm, reward)`` takes in the reward of a round;
* ``forget(state, arm)``, which is optional, drops what was learnt about one arm, or about all with ``arm=ALL``;
* ``expect(state, arm, pulls)``, optional too, counts pulls of an arm whose rewards are under way as if they had shown
  the mean of the arm: :func:`imagine` calls it on a copy of the state, on which ``act`` then chooses;
* ``probabilities(state, mask)``, optional and never compiled, is the law of the next choice of a rule that draws.

:func:`rule` ties them to the class of the state; a detector of changes has ``watch(state, arm, reward)``, which is true
when it sounds an alarm, and ``forget``, tied to its state by :func:`detection`. Python calls them as they are; the
compiled loop of :mod:`ns_mab_gym.play.loop` finds the very same functions through numba's ``overload``, by the class of
the state. Both draw the same numbers from the same generator, so both give the same trajectory, bit for bit. A state
may hold other states: the functions of a detector call ``act(state.inner, mask, rng)`` with the functions of this
module.

Rules for such functions: ``math.log`` and ``math.exp``, never numpy's, and plain loops for sums (numpy's differ in the
last bit); no division by zero; :func:`floor_within` where a float becomes an integer. ``act`` and ``expect`` write to
small arrays alone (:func:`copied` says which). Helpers are marked with
:data:`helper`, in hot places with :data:`inlined`, and with :data:`allocating` if they make arrays, none of which they
return. Nothing else in the agents of this suite may make any: their rules are compiled without the counting of
references to arrays, which would take most of their time. Whoever calls them holds all arrays meanwhile.

>>> from typing import NamedTuple
>>> class TurnState(NamedTuple):
...     clock: IntArray  # (1,) rounds played
>>> def act_in_turn(state, mask, rng):
...     return state.clock[0] % mask.size
>>> def count(state, arm, reward):
...     state.clock[0] += 1
>>> rule(TurnState, act_in_turn, count)
>>> state = TurnState(np.zeros(1, np.int64))
>>> observe(state, 0, 1.0)
>>> int(act(state, np.ones(3, np.bool_), np.random.default_rng(0)))
1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.extending import overload, register_jitable

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

Act = Callable[[Any, BoolArray, np.random.Generator], int]
Observe = Callable[[Any, int, float], None]
Forget = Callable[[Any, int], None]
Watch = Callable[[Any, int, float], bool]
Expect = Callable[[Any, int, int], None]
Probabilities = Callable[[Any, BoolArray], FloatArray]

ALL = -1  # stands for every arm in ``forget``
COUNTABLE = 2.0**53  # up to which a float counts exactly
SMALL = 2**14  # numbers in an array to which ``act`` may write

# Only compiled code calls these functions, and numba need not compile doors for Python and C: a tenth of its time.
LEAN: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INLINED: Any = {"forceinline": True, **LEAN}
helper = register_jitable(**LEAN)
inlined = register_jitable(**INLINED)
allocating = register_jitable(**LEAN, _nrt=True)  # the others count references to arrays only if their caller does


RULES: dict[type, dict[str, Callable[..., Any]]] = {}  # the functions of each class of state, by their names here
DECIDED: dict[type, tuple[str, ...]] = {}  # fields of each class of state that outlive a copy on which a rule acts
_COMPILED: set[type] = set()  # states whose functions numba has compiled: it would not look them up again
NAMED_TUPLES = (types.NamedTuple, types.NamedUniTuple)


def rule(
    state: type,
    act: Act,
    observe: Observe,
    forget: Forget | None = None,
    expect: Expect | None = None,
    *,
    probabilities: Probabilities | None = None,
    decided: tuple[str, ...] = (),
) -> None:
    """Register the functions of the algorithm with this class of state.

    Args:
        state: the class.
        act: as above.
        observe: as above.
        forget: as above.
        expect: as above.
        probabilities: as above.
        decided: the fields in which ``act`` writes down what it decided for later rounds, such as a window that was
            drawn: it keeps them when it acts on a copy because pulls are under way.
    """
    DECIDED[state] = decided
    _keep(state, act=act, observe=observe, forget=forget, expect=expect, probabilities=probabilities)


def detection(state: type, watch: Watch, forget: Forget) -> None:
    """Register the functions by which the detector with this class of state watches rewards and forgets."""
    _keep(state, watch=watch, forget=forget)


def _keep(state: type, **functions: Callable[..., Any] | None) -> None:
    given = {name: function for name, function in functions.items() if function is not None}
    if state in _COMPILED and given != RULES.get(state):
        raise ValueError(
            f"the rule of {state.__name__} is compiled already; to change it, define the class of the state again too"
        )
    RULES[state] = given


def functions_of(state: type) -> tuple[Callable[..., Any], ...]:
    """The functions that are tied to this class of state and compiled; none if it is only a part of others."""
    return tuple(function for name, function in RULES.get(state, {}).items() if name != "probabilities")


def act(state: Any, mask: BoolArray, rng: np.random.Generator) -> int:
    """The arm to play now, one of those where the mask is true."""
    arm: int = RULES[type(state)]["act"](state, mask, rng)
    return arm


def observe(state: Any, arm: int, reward: float) -> None:
    """Take in the reward of a round."""
    RULES[type(state)]["observe"](state, arm, reward)


def forget(state: Any, arm: int) -> None:
    """Drop what was learnt about one arm; with ``arm=ALL``, return the state to what it was before the first round."""
    functions = RULES[type(state)]
    if "forget" not in functions:
        raise NotImplementedError(
            f"{type(state).__name__} cannot forget: give rule(state, act, observe, forget) a fourth function"
        )
    functions["forget"](state, arm)


def expect(state: Any, arm: int, pulls: int) -> None:
    """Count pulls of an arm as if they had shown its mean; nothing, if the rule needs no counts."""
    if "expect" in RULES[type(state)]:
        RULES[type(state)]["expect"](state, arm, pulls)


def watch(state: Any, arm: int, reward: float) -> bool:
    """Show a detector the reward of a round; whether it sounds an alarm about the arm."""
    alarm: bool = RULES[type(state)]["watch"](state, arm, reward)
    return alarm


def _compile(function: Callable[..., Any], own: bool, options: Any) -> None:
    """Let compiled code call a function of this module, by the class of the state, whose rule is fixed from then on.

    Args:
        function: the function.
        own: whether for rules of this suite, which need no counting of references, or for all others.
        options: how it is compiled.
    """

    def of_the_state(state: Any, *others: Any) -> Any:
        tied = RULES[state.instance_class].get(function.__name__) if isinstance(state, NAMED_TUPLES) else None
        if tied is None and own and function is expect and isinstance(state, NAMED_TUPLES):
            return lambda state, arm, pulls: None
        if tied is None or own != tied.__module__.startswith("ns_mab_gym."):
            return None
        _COMPILED.add(state.instance_class)
        return tied

    compiled_so: Any = {**options, "_nrt": not own}
    overload(function, strict=False, jit_options=compiled_so)(of_the_state)


for _function, _options in ((act, INLINED), (observe, INLINED), (watch, INLINED), (forget, LEAN), (expect, LEAN)):
    for _own in (True, False):
        _compile(_function, _own, _options)


@inlined
def floor_within(x: float, most: float) -> int:
    """x rounded down, at least 0 and at most ``most``, which is also what NaN becomes.

    Of NaN, of infinity and of numbers beyond 64 bits, compiled code would make any integer.

    >>> import math
    >>> floor_within(2.7, 9.0), floor_within(-math.inf, 9.0), floor_within(1e300, 9.0), floor_within(math.nan, 9.0)
    (2, 0, 9, 9)
    """
    return int(max(0.0, min(most, x)))  # in this order: NaN is neither below ``most`` nor above 0


@allocating
def random_below(n: int, rng: np.random.Generator) -> int:
    """A uniformly random integer from 0 to n − 1."""
    return rng.integers(0, n)  # type: ignore[return-value]


@inlined
def forgotten(arm: int, n_arms: int) -> range:
    """The arms that ``forget(state, arm)`` is about: this one, or with ``ALL`` every one."""
    return range(n_arms) if arm == ALL else range(arm, arm + 1)


def states_in(state: Any) -> Iterator[Any]:
    """The state itself and every named tuple nested in it, also within plain tuples."""
    if hasattr(state, "_fields"):
        yield state
    for part in state:
        if isinstance(part, tuple):
            yield from states_in(part)


def copied(state: Any, n_arms: int, *, but_decided: bool = False) -> Any:
    """A copy of a state on which it can be tried how the rule would act.

    Arrays of more than 16,384 numbers, and of more than eight for each arm, are shared with the state: memories, to
    which ``act`` and ``expect`` do not write.

    Args:
        state: the state.
        n_arms: K.
        but_decided: whether the copy also shares the fields in which ``act`` writes down what it decided for later.
    """
    if isinstance(state, tuple):
        shared = DECIDED.get(type(state), ()) if but_decided else ()
        names = getattr(state, "_fields", range(len(state)))
        parts = [
            part if name in shared else copied(part, n_arms, but_decided=but_decided)
            for name, part in zip(names, state, strict=True)
        ]
        return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)
    small = isinstance(state, np.ndarray) and state.size <= max(SMALL, 8 * n_arms) and state.flags.writeable
    return state.copy() if small else state


def imagine(view: Any, state: Any, pending: IntArray) -> None:
    """Make of a copy of a state what the state would be had all pulls under way shown the means of their arms.

    Args:
        view: the copy, of which nothing is kept but what is shared.
        state: the state.
        pending: (K,) how many pulls of each arm are under way.
    """
    renew(view, state)
    for i in range(pending.size):
        if pending[i] > 0:
            expect(view, i, pending[i])


def renew(view: Any, state: Any) -> None:
    """Write what is in the arrays of a state into those of a copy."""
    for mine, new in zip(view, state, strict=True):
        if isinstance(new, tuple):
            renew(mine, new)
        elif isinstance(new, np.ndarray) and mine is not new:
            mine[...] = new


@overload(renew, strict=False, jit_options=LEAN)
def _compiled_renew(view: Any, state: Any) -> Any:
    """Plain loops over arrays, which compile fast, and one half of a tuple after the other."""
    half = len(view) // 2 if isinstance(view, types.BaseTuple) else 0

    def array(view: Any, state: Any) -> None:
        if view is not state:
            for i in range(state.size):
                view[i] = state[i]

    def arrays(view: Any, state: Any) -> None:
        if view is not state:
            for i in range(state.shape[0]):
                renew(view[i], state[i])

    def halves(view: Any, state: Any) -> None:
        renew(view[:half], state[:half])
        renew(view[half:], state[half:])

    if isinstance(view, types.Array) and view.mutable:
        return array if view.ndim == 1 else arrays
    if isinstance(view, types.BaseTuple) and len(view) == 1:
        return lambda view, state: renew(view[0], state[0])
    return halves if half > 0 else lambda view, state: None


helper(imagine)
