"""Labels for what is compared: short where that is enough, with parameters or numbers where it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..agents.core.arguments import shown
from ..plain_texts import plain_text

__all__ = ["Named", "in_words", "labels_of", "named_by", "reading"]

LONGEST = 40  # letters of a parameter's value


@dataclass(frozen=True)
class Named:
    """Something that needs a label.

    Attributes:
        short: what it is called where that tells it from all others.
        parameters: what may have to be added to tell it apart.
        shown: the parameters that its label has in any case.
        given: the label that the user gave it, if any.
        long: what it is called instead where several have the same short name, such as the whole path of a file.
    """

    short: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    given: str = ""
    long: str = ""


def labels_of(named: Sequence[Named], what: str) -> list[str]:
    """A label for each, all of them different.

    >>> labels_of([Named("ts"), Named("sw-ucb", {"xi": 1, "window": 5}), Named("sw-ucb", {"xi": 1})], "agent")
    ['ts', 'sw-ucb:window=5', 'sw-ucb']
    >>> labels_of([Named("Mine"), Named("Mine"), Named("ts", given="a")], "agent")
    ['Mine', 'Mine (2)', 'a']

    Args:
        named: what is to be labelled.
        what: what error messages call one of them.
    """
    given = Counter(each.given for each in named if each.given)
    if twice := [label for label, times in given.items() if times > 1]:
        raise ValueError(f"{given[twice[0]]} {what}s are labelled {twice[0]!r}; give each a label of its own")
    taken, labels = set(given), []
    for each, told_apart in zip(named, _told_apart(named), strict=True):
        labels.append(each.given or _numbered(told_apart, taken))
        taken.add(plain_text(f"the label of {'an' if what == 'agent' else 'a'} {what}", labels[-1]))
    return labels


def _told_apart(named: Sequence[Named]) -> list[str]:
    """The short names with those parameters in which things of one short name differ."""
    families: dict[str, list[Named]] = {}
    for each in named:
        if not each.given:
            families.setdefault(each.short, []).append(each)
    differing = {short: _differing(members) for short, members in families.items()}
    long = {short: len({each.long for each in members}) > 1 for short, members in families.items()}
    return [
        in_words(each.long if each.long and long.get(each.short) else each.short, _chosen(each, differing))
        for each in named
    ]


def _differing(members: Sequence[Named]) -> list[str]:
    keys = dict.fromkeys(key for each in members for key in each.parameters)
    return [key for key in keys if len({repr(each.parameters.get(key)) for each in members}) > 1]


def _chosen(each: Named, differing: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    wanted = dict.fromkeys([*differing.get(each.short, ()), *each.shown])
    return {key: each.parameters[key] for key in wanted if key in each.parameters and _is_short(each.parameters[key])}


def _is_short(value: Any) -> bool:
    return isinstance(value, bool | int | float | str) and len(str(value)) <= LONGEST


def in_words(name: str, parameters: Mapping[str, Any]) -> str:
    """A name with its parameters, as on the command line."""
    settings = ",".join(f"{key}={_word(value)}" for key, value in parameters.items())
    return f"{name}:{settings}" if settings else name


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@contextmanager
def reading(words: str) -> Iterator[None]:
    """Say what else can be written, where the extra that reads words with parameters is missing."""
    try:
        yield
    except ImportError:
        instead = "write (name, {parameter: value})"
        need = "needs the extra: pip install 'ns-mab-gym[experiments]'"
        raise ImportError(f"reading {words!r} {need}; or {instead}") from None


def _numbered(label: str, taken: set[str]) -> str:
    number, numbered = 1, label
    while numbered in taken:
        number += 1
        numbered = f"{label} ({number})"
    return numbered


def named_by(given: Any, is_one: Callable[[Any], bool], what: str, allowed: str) -> Iterator[tuple[str, Any]]:
    """What a user names, one by one, with the user's own label where there is one.

    Args:
        given: one of them, an iterable of them, or a mapping from labels to them.
        is_one: whether something is one of them, though it may be iterable or a mapping.
        what: what they are, such as "an agent".
        allowed: what may be given, in words.
    """
    if isinstance(given, Mapping) and not is_one(given):
        for label, each in given.items():
            if not isinstance(label, str) or not label.strip():
                raise TypeError(f"the label of {what} is a text that is not empty, got {label!r}")
            yield label, each
    elif is_one(given):
        yield "", given
    elif isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0:
        for each in given:
            yield from named_by(each, is_one, what, allowed)
    else:
        raise TypeError(f"cannot compare {shown(given)}; {what} is {allowed}")
