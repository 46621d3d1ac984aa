"""Argument checks whose messages say what was given, what is allowed and what to do.

**Ranges.** Every number that a rule computes with is 0 or lies, in size, between ``SMALLEST`` and ``LARGEST``. Rewards
are at most ``LARGEST_REWARD`` in size, and counts (rounds, arms, windows) at most ``MOST``. Rules form squares of
parameters, products of two or three of them, products with counts, and quotients of such: within these ranges all of
that stays finite and apart from 0, so that no comparison meets a NaN. Rewards fit single precision, in which
environments show them; counts are exact as floats, and a thousand times a count fits a 64-bit integer.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import math
import operator
import os
import re
import types
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

LONGEST_TEXT = 1_000  # letters of a label or a title
# Text that turns the reading direction or that is no letter, and Unicode's controls, surrogates and ends of lines:
UNSEEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff")
UNSEEN_KINDS = ("Cc", "Cs", "Zl", "Zp")

T = TypeVar("T")

SMALLEST, LARGEST = 1e-100, 1e30  # numbers other than 0, in size
LARGEST_REWARD = 1e36
MOST = 2**53  # rounds, arms, windows and other counts

FEW = 8  # words that are all named even where one of them is close
LONG = 120  # characters, at which the text of a given value is cut
TOO_LARGE = 2**63  # for an integer of compiled code
TYPE_WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a text", type(None): "none"}
SMALL = 16 << 20  # bytes, for which looking up the free memory takes longer than to allocate them


def shown(given: object) -> str:
    """A given value as error messages show it: its ``repr`` in one line, cut if it is long.

    >>> shown("a"), shown(10**5000), shown(np.zeros((2, 1)))
    ("'a'", 'an integer of 16610 bits', 'array([[0.], [0.]])')
    """
    try:
        text = repr(given)
        text = " ".join(text.split()) if "\n" in text else text
    except Exception:  # whatever somebody's own class may raise; and Python does not spell integers of 4 300 digits
        return f"an integer of {given.bit_length()} bits" if isinstance(given, int) else f"a {type(given).__name__}"
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def nearest(given: object, allowed: Iterable[str]) -> str:
    """A sentence that names the closest allowed word, and all of them if none is close or if they are few.

    >>> nearest("widow", ["window", "xi"])
    "did you mean 'window'? choose one of 'window', 'xi'"
    """
    words = list(allowed)
    close = difflib.get_close_matches(given, words, n=1, cutoff=0.5) if isinstance(given, str) else []
    guess = [f"did you mean {close[0]!r}?"] if close else []
    every = [f"choose one of {', '.join(map(repr, words))}"] if not close or 1 < len(words) <= FEW else []
    return " ".join([*guess, *every])


def choice(what: str, given: object, allowed: Collection[str]) -> str:
    """The given word, if it is one of those allowed."""
    if isinstance(given, str) and given in allowed:
        return given
    raise ValueError(f"unknown {what} {shown(given)}; {nearest(given, allowed)}")


def known_parameters(owner: str, given: Iterable[str], allowed: Collection[str], also: str = "") -> None:
    """Raise a TypeError that names the nearest parameter, and says this also, if a given name is not allowed."""
    for name in given:
        if name not in allowed:
            close = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}? " if close else ""
            takes = f"it takes {', '.join(allowed) or 'none'}"
            raise TypeError(f"{owner} has no parameter {name!r}; {hint}{takes}{also.format(name)}") from None


def known_keywords(owner: str, given: Iterable[str], allowed: Collection[str]) -> None:
    """Like :func:`known_parameters`, and in Python's own words too, by which others recognise an unknown keyword.

    ``torchrl`` makes every environment with ``frameskip=`` first, and without it if the error has these words.
    """
    known_parameters(owner, given, allowed, also=" (unexpected keyword argument {!r})")


def seed_number(given: object, what: str = "seed") -> int | None:
    """The given seed, an integer of at least 0 of any size; None stands for a fresh one."""
    return None if given is None else positive_int(what, given, least=0, most=None)


def by_name(what: str, given: object) -> dict[str, Any]:
    """The given values by their names; none if None is given.

    >>> by_name("env_kwargs", {"horizon": 100}), by_name("env_kwargs", None)
    ({'horizon': 100}, {})
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{what} must be a dictionary of values by their names, got {shown(given)}")
    return dict(given)


def as_integer(given: object) -> int:
    """The given value as a Python int; a TypeError if it is no integer, as NumPy's truth values are not."""
    if isinstance(given, np.bool_):  # which NumPy itself takes for an integer until 2.3
        raise TypeError
    return operator.index(given)  # type: ignore[arg-type]


def positive_int(what: str, given: object, *, least: int = 1, most: int | None = MOST, hint: str = "") -> int:
    """The given value as a Python int, if it is an integer from ``least`` to ``most``, which is None for seeds."""
    kind = "a positive integer" if least == 1 else f"an integer of at least {least}"
    try:
        if isinstance(given, bool):
            raise TypeError
        value = as_integer(given)
    except TypeError:
        whole = isinstance(given, float) and given.is_integer() and least <= given <= MOST
        hint = f"write {int(given)}" if whole else hint  # type: ignore[call-overload]
        raise TypeError(f"{what} must be {kind}, got {shown(given)}{hint and '; ' + hint}") from None
    if value < least:
        raise ValueError(f"{what} must be {kind}, got {shown(value)}{hint and '; ' + hint}")
    if most is not None and value > most:
        raise ValueError(f"{what} must be at most {most:,}, got {shown(value)}{hint and '; ' + hint}")
    return value


def number(what: str, given: object, *, kind: str = "a finite number", hint: str = "", any_size: bool = False) -> float:
    """The given value as a float, if it is a finite number, and 0 or in size between ``SMALLEST`` and ``LARGEST``.

    Args:
        what: what error messages call it.
        given: the value.
        kind: what error messages call numbers that are allowed.
        hint: what to do if it is not allowed.
        any_size: whether all finite numbers will do, as in theory, where no rule computes with them.
    """
    given_and_hint = f"got {shown(given)}{hint and '; ' + hint}"
    if isinstance(given, bool | np.bool_ | str | bytes) or (isinstance(given, np.ndarray) and given.ndim > 0):
        raise TypeError(f"{what} must be {kind}, {given_and_hint}")
    try:
        value = float(given)  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond all floats
        value = math.inf
    except Exception:  # whatever somebody's own class may raise
        raise TypeError(f"{what} must be {kind}, {given_and_hint}") from None
    if not math.isfinite(value):
        raise ValueError(f"{what} must be {kind}, {given_and_hint}")
    if value and not any_size and not SMALLEST <= abs(value) <= LARGEST:
        raise ValueError(f"{what} must lie between {SMALLEST:g} and {LARGEST:g} in size, {given_and_hint}")
    return value


def positive(
    what: str,
    given: object,
    *,
    allow_zero: bool = False,
    least: float = 0.0,
    below: float = math.inf,
    hint: str = "",
    any_size: bool = False,
) -> float:
    """The given value as a float, if it is a :func:`number` above 0 in [least, below), or 0 if that is allowed."""
    kind = "a finite number of at least 0" if allow_zero else "a finite number above 0"
    value = number(what, given, kind=kind, hint=hint, any_size=any_size)
    if value > 0 and not least <= value < below:
        kind = " and ".join([f"at least {least:g}"] * (least > 0) + [f"below {below:g}"] * (below < math.inf))
    elif value > 0 or (value == 0 and allow_zero):
        return value
    raise ValueError(f"{what} must be {kind}, got {shown(given)}{hint and '; ' + hint}")


def fraction(what: str, given: object, *, allow_zero: bool = True, hint: str = "") -> float:
    """The given value as a float, if it lies in [0, 1], and is not 0 unless that is allowed."""
    value = positive(what, given, allow_zero=allow_zero, hint=hint)
    if value > 1:
        raise ValueError(f"{what} must lie in [0, 1], got {shown(given)}{hint and '; ' + hint}")
    return value


def check_subgaussian(given: object) -> float:
    """λ, the scale of rewards, as a float above 0."""
    return positive("subgaussian", given, hint="it is the scale of the rewards, (b - a)/2 for rewards in [a, b]")


def check_types(kind: Any, given: Mapping[str, Any]) -> None:
    """Raise a TypeError that states what is allowed if a given value is not of the type that the class states for it.

    Truth values, integers, numbers, texts and unions of these are checked; of other types, and in a class with a type
    that is known to type checkers alone, any value is taken.

    >>> class Coin:
    ...     def __init__(self, fair: bool = True, sides: int = 2) -> None: ...
    >>> check_types(Coin, {"fair": False, "sides": np.int64(3)})
    >>> check_types(Coin, {"fair": "no"})
    Traceback (most recent call last):
        ...
    TypeError: fair must be true or false, got 'no'; write fair=true or fair=false

    Args:
        kind: the class.
        given: values by the names of parameters; names that the class does not know are not looked at.
    """
    scalars = _scalars(kind)
    for name, value in given.items():
        allowed, advice = scalars.get(name), ""
        if allowed is None or any(_fits(value, each) for each in allowed):
            continue
        if bool in allowed:
            advice = f"; write {name}=true or {name}=false"
        elif int in allowed and isinstance(value, float) and value.is_integer():
            advice = f"; write {int(value)}"
        elif isinstance(value, int) and abs(value) >= TOO_LARGE:
            advice = "; it is too large"
        words = " or ".join(TYPE_WORDS[each] for each in allowed)
        raise TypeError(f"{name} must be {words}, got {shown(value)}{advice}")


@contextmanager
def checking_types(kind: type[Any], given: Mapping[str, Any]) -> Iterator[None]:
    """Replace an error that does not name the parameter of a wrong type, and so is one by accident, by one that does.

    The class's own checks come first, as they know better what to write instead.
    """
    try:
        yield
    except Exception as error:
        try:
            check_types(kind, given)
        except TypeError as better:
            if str(better).partition(" ")[0] not in str(error):
                raise better from error
        raise


def typed(kind: type[Any], given: Mapping[str, Any], make: Callable[[], T]) -> T:
    """The object that ``make`` returns, if the given values pass the checks of its class and are of their types."""
    with checking_types(kind, given):
        made = make()
    check_types(kind, {name: getattr(made, name, value) for name, value in given.items()})
    return made


@functools.cache
def _scalars(kind: Any) -> dict[str, tuple[type, ...]]:
    """The types of each parameter of a class that takes scalars alone; None may be given where it is the default."""
    try:
        hints = get_type_hints(kind if is_dataclass(kind) else kind.__init__)
        parameters = inspect.signature(kind).parameters
    except Exception:  # names that are imported for type checkers alone, or a class that Python cannot look into
        return {}
    found = {}
    for name, hint in hints.items():
        types_ = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        if name in parameters and all(each in TYPE_WORDS for each in types_):
            found[name] = tuple(dict.fromkeys([*types_, *[type(None)] * (parameters[name].default is None)]))
    return found


def _fits(value: Any, scalar: type) -> bool:
    if scalar in (str, type(None)):
        return isinstance(value, scalar)
    if scalar is bool or isinstance(value, bool | np.bool_):
        return scalar is bool and isinstance(value, bool | np.bool_)
    with suppress(TypeError, ValueError, OverflowError):
        if scalar is int:
            return abs(as_integer(value)) < TOO_LARGE
        return not isinstance(value, str) and getattr(value, "ndim", 0) == 0 and isinstance(float(value), float)
    return False


class DoesNotFitError(ValueError):
    """More memory was asked for than there is."""


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Raise a :class:`DoesNotFitError` if more bytes are needed than are free.

    Systems promise memory that they do not have and end the process later, so this comes before the allocation.

    Args:
        needed: bytes.
        what: the subject of the message.
        remedy: what to do instead.
    """
    if needed > SMALL and needed > (free := available_memory()):
        sizes = f"would take {needed / 1e9:,.1f} GB of memory, {free / 1e9:,.1f} GB are free"
        raise DoesNotFitError(f"{what} {sizes}; {remedy}")


def available_memory() -> float:
    """Bytes that this process can still get, of the machine and of its container; infinite if nothing is known."""
    free = [math.inf]
    with suppress(AttributeError, OSError, ValueError):  # all that the machine has: other Unixes do not tell the rest
        free.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free.append(next(int(line.split()[1]) * 1024.0 for line in lines if line.startswith("MemAvailable:")))
    with suppress(OSError, ValueError):  # there is no container, or it has no limit
        limit, used = (int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("max", "current"))
        free.append(float(limit - used))
    return max(0.0, min(free))


class UnplayableArmError(ValueError):
    """An agent chose something that is no arm.

    Args:
        agent: the agent's name.
        chosen: what it chose, in words.
        n_arms: K.
        round_: in which round, counted from 1; left out if that is not known.
    """

    def __str__(self) -> str:
        agent, chosen, n_arms, *round_ = self.args
        when = f" in round {round_[0]:,}" if round_ else ""
        return f"{agent} chose {chosen}{when}; an arm is an integer from 0 to {n_arms - 1}, so mend the agent's act"

    def in_round(self, round_: int) -> UnplayableArmError:
        """The same error, with the round."""
        return UnplayableArmError(*self.args[:3], round_)


def whole_arm(agent: str, chosen: Any, n_arms: int) -> int:
    """The arm that a rule chose: a whole number from 0 to K − 1, of any type, since numba may make floats of integers.

    >>> whole_arm("mine", 2.0, 3)
    2
    """
    try:
        if 0 <= chosen < n_arms and (arm := int(chosen)) == chosen:
            return arm
    except Exception:  # whatever comes of comparing something that is no number
        pass
    raise UnplayableArmError(agent, spelled_arm(chosen), n_arms)


def playable(agent: str, chosen: Any, n_arms: int, round_: int) -> int:
    """The arm that an agent chose in a round, counted from 1, if it is an integer from 0 to K − 1."""
    if not isinstance(chosen, bool | np.bool_):
        try:
            if 0 <= (arm := operator.index(chosen)) < n_arms:
                return arm
        except TypeError:
            pass
    raise UnplayableArmError(agent, spelled_arm(chosen), n_arms, round_)


def spelled_arm(chosen: Any) -> str:
    """A chosen arm as messages show it: 10 for NumPy's 10 and for a compiled rule's 10.0."""
    value = chosen.item() if isinstance(chosen, np.generic) else chosen
    return shown(int(value) if isinstance(value, float) and value.is_integer() else value)


def read_call(what: str, text: object) -> tuple[str, dict[str, Any]]:
    """The name and the options of a call in words; they may be left out.

    Args:
        what: what error messages call it.
        text: for example ``"glr"`` or ``"cusum(threshold=5, epsilon=0.1)"``.

    >>> read_call("base", "kl-ucb(c=0)")
    ('kl-ucb', {'c': 0})
    """
    example = "cusum(threshold=5)" if what == "detector" else "kl-ucb(c=0)"
    advice = f"{what} must be a name, with options in brackets if it has any, as in {example!r}"
    if not isinstance(text, str):
        raise TypeError(f"{advice}, got {shown(text)}")
    parts = re.fullmatch(r"\s*([^\s()]+)\s*(\(.*\))?\s*", text, re.S)
    if parts is None:
        unclosed = "; a bracket is not closed" if text.count("(") > text.count(")") else ""
        raise ValueError(f"{advice}, got {text!r}{unclosed}")
    try:
        call = ast.parse(f"_{parts[2] or '()'}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        options: dict[Any, Any] = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
        if None in options or len(options) < len(call.keywords):  # **options, or one that is given twice
            raise ValueError
        return parts[1], options
    except (SyntaxError, ValueError, TypeError):
        raise ValueError(f"{advice}, got {text!r}; options are keywords with plain values") from None


def spell_call(name: str, options: Mapping[str, Any]) -> str:
    """The text that :func:`read_call` reads as this name and these options.

    >>> spell_call("kl-ucb", {"c": 0.5})
    'kl-ucb(c=0.5)'
    """
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})" if options else name


def usable_cores() -> int:
    """Return the number of cores this process may use; batch systems and containers often grant only some."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def job_count(n_jobs: object, what: str = "n_jobs") -> int:
    """Return the number of jobs to do at once: all cores for None and -1, else the given positive integer.

    Args:
        n_jobs: the user's argument.
        what: its name in error messages.

    >>> job_count(3), job_count(None) == job_count(-1) == usable_cores()
    (3, True)
    >>> job_count(-2, "--jobs")
    Traceback (most recent call last):
        ...
    ValueError: --jobs must be a positive integer, got -2; -1 means all cores
    """
    with suppress(TypeError):
        if n_jobs is None or as_integer(n_jobs) == -1:
            return usable_cores()
    return positive_int(what, n_jobs, hint="-1 means all cores")


def plain_text(what: str, given: object, *, lines: bool = False, longest: int = LONGEST_TEXT) -> str:
    r"""The given text, if it can be shown wherever texts are shown: on a page, in a table, in a figure, in XML.

    Args:
        what: its name in error messages.
        given: the text; it may be empty, but not blank.
        lines: True if it may have several lines.
        longest: letters that it may have.

    >>> plain_text("label", "Smooth, σ = 0.001")
    'Smooth, σ = 0.001'
    >>> plain_text("label", "bell\a")
    Traceback (most recent call last):
        ...
    ValueError: label has a character that cannot be shown, '\x07' in 'bell\x07'; leave it out
    """
    if not isinstance(given, str):
        raise TypeError(f"{what} must be a text in quotes, got {shown(given)}")
    if given and not given.strip():
        raise ValueError(f"{what} is blank, got {shown(given)}; write a text, or leave it out")
    if len(given) > longest:
        raise ValueError(f"{what} may have {longest:,} letters, got {len(given):,}: {shown(given)}; shorten it")
    for letter in given:
        if _is_unseen(letter) and not (lines and letter in "\n\r\t"):
            said = f"{what} has a character that cannot be shown, {letter!a} in {shown(given)}"
            raise ValueError(f"{said}; leave it out")
    return given


def without_controls(text: str) -> str:
    r"""The text with a sign in place of every character that cannot be shown; lines and tabs are kept.

    >>> without_controls("bell\a")
    'bell�'
    """
    return text.translate({ord(letter): "\ufffd" for letter in set(text) - set("\n\r\t") if _is_unseen(letter)})


def escaped(text: str) -> str:
    r"""The text with an escape in place of every character that cannot be shown.

    >>> escaped("a\nb")
    'a\\nb'
    """
    return "".join(ascii(letter)[1:-1] if _is_unseen(letter) else letter for letter in text)


def _is_unseen(letter: str) -> bool:
    return not letter.isprintable() and (letter in UNSEEN or unicodedata.category(letter) in UNSEEN_KINDS)
