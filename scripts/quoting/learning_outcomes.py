"""Sentences on where learning wins, loses, and cannot be told from rivals: computed, so that they follow the figures.

``oracle-restart`` is told when the world changes, and ``random`` learns nothing: they are references, not rivals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["REFERENCES", "called", "is_tuned", "outcomes", "rivals_of", "strongest"]

REFERENCES = ("oracle-restart", "random")
TWIN = ", tuned"  # how the label of a tuned rival ends
Row = Mapping[str, Any]


def rivals_of(found: Row) -> list[Row]:
    """The agents of a world that models are judged against."""
    return [row for row in found["rivals"] if row["agent"] not in REFERENCES]


def is_tuned(row: Row) -> bool:
    """Whether a rival was tuned on training instances."""
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
    """Than how many rivals an algorithm has less regret, and than whom it has more; from the rest it cannot be told."""
    won, lost = (
        [row for row in rivals if row["learning"][algorithm]["learning"] == word] for word in ("wins", "loses")
    )
    if len(won) == len(rivals):
        return f"less regret than all {len(rivals)} rivals"
    if not won and not lost:
        return f"not to be told from any of {len(rivals)} rivals"
    others = f" and {len(lost) - 1} others" if len(lost) > 2 else " and 1 other" if len(lost) == 2 else ""
    more = f"{called(strongest(lost))}{others}" if lost else "none"
    return f"less regret than {len(won) or 'none'} of {len(rivals)} rivals, more than {more}"


def _listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> _listed(["one", "two", "three"])
    'one, two and three'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
