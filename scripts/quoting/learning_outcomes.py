"""Sentences on where learning wins, loses, and cannot be told from rivals: computed, so that they follow the figures.

``oracle-restart`` is told when the world changes, and ``random`` learns nothing: they are references, not rivals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["REFERENCES", "called", "is_tuned", "outcomes", "rivals_of", "strongest"]

REFERENCES = ("oracle-restart", "random")
NAMED = 2  # rivals, in a sentence; the others are counted
TWIN = ", tuned"  # how the label of a tuned rival ends
Row = Mapping[str, Any]


def rivals_of(found: Row) -> list[Row]:
    """The agents of a world that models are judged against."""
    return [row for row in found["rivals"] if row["agent"] not in REFERENCES]


def is_tuned(row: Row) -> bool:
    """Whether a rival was tuned on other instances of the world."""
    return str(row["agent"]).endswith(TWIN)


def strongest(rows: Sequence[Row]) -> Row:
    """The one with the least regret."""
    return min(rows, key=lambda row: float(row["regret"]))


def called(row: Row) -> str:
    """What a sentence calls a rival."""
    name = f"`{row['agent'].removesuffix(TWIN)}`"
    return f"tuned {name}" if is_tuned(row) else name


def outcomes(worlds: Mapping[str, Row]) -> list[str]:
    """A sentence for each algorithm: on which worlds it beats every rival, and how it fares on the others.

    Args:
        worlds: by name, their models and rivals.
    """
    algorithms = [row["agent"] for row in next(iter(worlds.values()))["models"]]
    return [_sentence(algorithm, worlds) for algorithm in algorithms]


def _sentence(algorithm: str, worlds: Mapping[str, Row]) -> str:
    said: dict[str, list[str]] = {}
    for world, found in worlds.items():
        said.setdefault(_outcome(algorithm, rivals_of(found)), []).append(world)
    return f"{algorithm}: {'; '.join(f'on {_listed(where)}, {outcome}' for outcome, where in said.items())}."


def _outcome(algorithm: str, rivals: Sequence[Row]) -> str:
    """Than how many rivals an algorithm has less regret, than whom it has more, and from whom it cannot be told."""
    by_word: dict[str, list[Row]] = {"wins": [], "loses": [], "open": []}
    for row in sorted(rivals, key=lambda row: float(row["regret"])):
        by_word[row["learning"][algorithm]["learning"]].append(row)
    if len(by_word["wins"]) == len(rivals):
        return f"less regret than all {len(rivals)} rivals, tuned or not"
    said = [f"less regret than {len(by_word['wins']) or 'none'} of {len(rivals)} rivals"]
    if by_word["loses"]:
        said.append(f"more than {_some(by_word['loses'])}")
    if by_word["open"]:
        said.append(f"not to be told from {_some(by_word['open'])}")
    return ", ".join(said)


def _some(rows: Sequence[Row]) -> str:
    """The strongest of some rivals by name, and how many others there are."""
    names = [called(row) for row in rows]
    if len(names) <= NAMED:
        return _listed(names)
    left = len(names) - NAMED
    return f"{', '.join(names[:NAMED])} and {left} {'other' if left == 1 else 'others'}"


def _listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> _listed(["one", "two", "three"])
    'one, two and three'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
