"""Types of parameters, checked against their annotations when an agent, a world or a law is described or made.

Truth values, integers, numbers, texts, choices, lists of them, and unions of these are checked; whatever else an
annotation says, or if there is none, any value is taken.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import numpy as np

from .arguments import as_integer, shown

__all__ = ["check_types", "checking_types", "typed"]

T = TypeVar("T")
TOO_LARGE = 2**63  # for an integer of compiled code
LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
MAPPINGS = (dict, collections.abc.Mapping)


class Parameter(NamedTuple):
    """What is known about a parameter: its annotation, and whether its default is None, which then may be given."""

    annotation: Any
    optional: bool


def check_types(kind: type[Any], given: Mapping[str, Any]) -> None:
    """Raise a TypeError that says what is allowed if a given value is not of the type that the class states for it.

    >>> class Coin:
    ...     def __init__(self, fair: bool = True, sides: int = 2) -> None: ...
    >>> check_types(Coin, {"fair": False, "sides": np.int64(3)})
    >>> check_types(Coin, {"fair": "no"})
    Traceback (most recent call last):
        ...
    TypeError: fair must be true or false, got 'no'; write fair=true or fair=false

    Args:
        kind: the class.
        given: values by the names of parameters; names that the class does not know are left to others.
    """
    if wrong := _mistyped(kind, given):
        raise TypeError(f"{wrong} must be {_wanted(kind, wrong, given[wrong])}")


@contextmanager
def checking_types(kind: type[Any], given: Mapping[str, Any]) -> Iterator[None]:
    """Within, a class makes its own checks, which know better what to write instead; types are the last resort.

    An error that does not name the parameter of a wrong type is one by accident, and is replaced.
    """
    try:
        yield
    except Exception as error:
        wrong = _mistyped(kind, given)
        if wrong is None or wrong in str(error):
            raise
        raise TypeError(f"{wrong} must be {_wanted(kind, wrong, given[wrong])}") from error


def typed(kind: type[Any], given: Mapping[str, Any], make: Callable[[], T]) -> T:
    """What is made from the given values, if each is of its type and passes the class's own checks."""
    with checking_types(kind, given):
        made = make()
    check_types(kind, {name: getattr(made, name, value) for name, value in given.items()})
    return made


def _mistyped(kind: Any, given: Mapping[str, Any]) -> str | None:
    """The first parameter whose value is not of its type."""
    known = _parameters(kind)
    for name, value in given.items():
        if name in known and not (value is None and known[name].optional) and not _fits(value, known[name].annotation):
            return name
    return None


def _wanted(kind: Any, name: str, value: Any) -> str:
    annotation = _parameters(kind)[name].annotation
    hint = _hint(name, value, annotation)
    return f"{_words(annotation)}, got {shown(value)}{hint and '; ' + hint}"


@functools.cache
def _parameters(kind: Any) -> Mapping[str, Parameter]:
    """The parameters of a class by their names."""
    line = reversed(kind.__mro__)
    if is_dataclass(kind):
        annotations: dict[str, Any] = {}
        for each in line:
            scope = vars(sys.modules.get(each.__module__, types))
            annotations |= {name: _evaluated(raw, scope) for name, raw in inspect.get_annotations(each).items()}
        return {name: Parameter(note, getattr(kind, name, ...) is None) for name, note in annotations.items()}
    try:
        listed = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):  # a class whose constructor Python cannot look into
        return {}
    scope = getattr(kind.__init__, "__globals__", {})
    return {each.name: Parameter(_evaluated(each.annotation, scope), each.default is None) for each in listed}


def _evaluated(annotation: Any, scope: Mapping[str, Any]) -> Any:
    """What an annotation means; Any if that cannot be told, as for names that are imported for type checkers alone."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, dict(scope))
    except Exception:
        return Any


def _fits(value: Any, annotation: Any) -> bool:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _fits(value, inner[0])
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in inner)
    if origin in LISTS or annotation in (list, tuple):
        listed = isinstance(value, collections.abc.Iterable) and not isinstance(value, str | bytes | Mapping)
        return listed and getattr(value, "ndim", 1) > 0 and _all_fit(value, inner)
    if origin is np.ndarray:
        return isinstance(value, list | tuple) or hasattr(value, "__array__")
    if origin in MAPPINGS or annotation is dict:
        return isinstance(value, Mapping)
    return next((check(value) for plain, check in CHECKS.items() if plain is annotation), True)


def _all_fit(values: Any, inner: tuple[Any, ...]) -> bool:
    """Whether the entries of a list are of the types that stand in brackets: one for all, or one for each."""
    if not isinstance(values, list | tuple | np.ndarray):
        return True  # what can be read only once is not read here
    if len(inner) > 1 and inner[1] is not Ellipsis:
        return len(values) == len(inner) and all(map(_fits, values, inner))
    return not inner or all(_fits(each, inner[0]) for each in values)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_integer(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and abs(as_integer(value)) < TOO_LARGE
    except TypeError:
        return False


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_ | str | complex) or getattr(value, "ndim", 0) > 0:
        return False
    try:
        return isinstance(float(value), float)
    except (TypeError, ValueError, OverflowError):
        return False


CHECKS: dict[Any, Callable[[Any], bool]] = {
    bool: _is_truth,
    int: _is_integer,
    float: _is_number,
    str: lambda value: isinstance(value, str),
    Path: lambda value: isinstance(value, PathLike),
    type(None): lambda value: value is None,
    None: lambda value: value is None,
}
WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a text", Path: "a path", type(None): "none"}


def _words(annotation: Any) -> str:
    """What values an annotation allows, in words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _words(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_words(each) for each in inner)
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if origin in LISTS or annotation in (list, tuple):
        return f"a list of {_words(inner[0]).removeprefix('an ').removeprefix('a ')}s" if inner else "a list"
    if origin is np.ndarray:
        return "an array of numbers"
    return next((words for plain, words in WORDS.items() if plain is annotation), "a table")


def _hint(name: str, value: Any, annotation: Any) -> str:
    """How to write it, if that can be guessed."""
    allowed = get_args(annotation) or (annotation,)
    if bool in allowed:
        return f"write {name}=true or {name}=false"
    if int in allowed and isinstance(value, float) and value.is_integer():
        return f"write {int(value)}"
    if isinstance(value, int) and abs(value) >= TOO_LARGE:
        return "it is too large"
    return ""
