"""The columns of a file of means: what every reader returns, and which columns are no arms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..means import BadMeansError
from .world import FloatArray

__all__ = ["FULL", "ROWS_AND_COLUMNS", "SMALLER", "Columns", "refuse_clocks", "shown"]

ROWS_AND_COLUMNS = "give one row per round and one column per arm"
SMALLER = "give a table of fewer rounds, or a machine with more memory"
FULL = 60  # characters of a cell that an error message repeats
# What people call the column that says when.
CLOCKS = {
    *("round", "rounds", "step", "steps", "time", "t", "timestamp", "datetime", "date", "epoch", "iteration", "trial"),
    *("second", "minute", "hour", "day", "week", "month", "year"),
    *("index", "idx", "id", "row", "no", "nr", "number", "unnamed: 0", "level_0"),
}


class Columns(NamedTuple):
    """What a reader found in a file."""

    values: npt.NDArray[Any]  # (T, K), if it is a table at all
    names: tuple[str, ...] | None = None  # of the columns, if they have names


def shown(text: str) -> str:
    """A piece of the file as error messages repeat it."""
    return repr(text) if len(text) <= FULL else f"{text[:FULL]!r}…"


def refuse_clocks(values: FloatArray, names: tuple[str, ...] | None, source: str) -> None:
    """Raise an error if a column tells the time instead of means; nobody would notice such an arm.

    A column of whole numbers in equal steps upwards is a clock, if there are three rounds or more to tell; and so is a
    column of growing numbers, or of whole numbers that are all different, which is called as clocks are.
    """
    for k, column in enumerate(values.T):
        name = "" if names is None else names[k]
        if _counts(column):
            numbers = ", ".join(f"{value:.15g}" for value in column[:3].tolist())
            raise BadMeansError(
                f"{source}, column {k + 1}: {numbers}, … counts rounds and is no arm; leave the column out (pandas: "
                f"index=False). If these are means, save them as an array with numpy.savez"
            )
        if name.strip().casefold() in CLOCKS and (_grows(column) or _numbers_rows(column)):
            raise BadMeansError(
                f"{source}, column {k + 1}: {shown(name)} tells the round and is no arm; leave the column out (pandas: "
                f"index=False), or give it another name if it is an arm"
            )


def _counts(column: FloatArray) -> bool:
    if len(column) < 3:
        return False
    first, second = column[:2].tolist()
    step = second - first
    if not (step >= 1 and step.is_integer() and first.is_integer()):
        return False
    with np.errstate(all="ignore"):
        return bool(np.all(np.diff(column) == step))


def _grows(column: FloatArray) -> bool:
    return bool(np.all(column[1:] > column[:-1]))


def _numbers_rows(column: FloatArray) -> bool:
    return len(np.unique(column)) == len(column) and bool(np.all(column == np.floor(column)))
