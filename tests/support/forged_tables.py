"""Tables that no run has, each made from one that a run has."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

Forger = Callable[[pa.Table], pa.Table]
Values = Callable[[Any], Any]


def column(name: str, values: Values, kind: pa.DataType | None = None) -> Forger:
    """A function that puts other values into a column."""

    def changed(table: pa.Table) -> pa.Table:
        place = table.column_names.index(name)
        return table.set_column(place, name, pa.array(values(table[name].to_numpy().copy()), kind))

    return changed


def with_value(value: Any, where: int = 0) -> Values:
    """A function that puts another value into one place."""

    def changed(values: Any) -> Any:
        values[where] = value
        return values

    return changed


COLUMNS: dict[str, Forger] = {
    "regret that is no number": column("regret", with_value(math.nan)),
    "endless regret": column("regret", with_value(math.inf, -1)),
    "regret below zero": column("regret", with_value(-1.0)),
    "regret that falls": column("regret", with_value(0.0, 3)),
    "regret as whole numbers": column("regret", lambda values: values.astype(np.int64)),
    "regret as text": column("regret", lambda values: [str(value) for value in values]),
    "regret with gaps": column("regret", lambda values: [None, *values[1:]]),
    "regret in lists": column("regret", lambda values: [[value] for value in values]),
    "rounds that fall": column("round", lambda values: values[::-1]),
    "rounds that stay": column("round", lambda values: values * 0 + 1_000),
    "rounds from 0": column("round", lambda values: values - 50),
    "rounds that differ between runs": column("round", with_value(999, -1)),
    "other runs": column("run", lambda values: values + 1, pa.int32()),
    "another world": column("world", with_value("elsewhere")),
    "another world in the last row": column("world", with_value("elsewhere", -1)),
    "another agent": column("agent", lambda values: ["oracle"] * len(values)),
    "fewer rows": lambda table: table.slice(0, len(table) - 1),
    "no rows": lambda table: table.slice(0, 0),
    "one run too few": lambda table: table.slice(0, len(table) - 20),
    "all rows twice": lambda table: pa.concat_tables([table, table]),
    "a column too few": lambda table: table.drop_columns(["run"]),
    "a column too many": lambda table: table.append_column("more", table["run"]),
    "columns in another order": lambda table: table.select(["agent", "world", "run", "round", "regret"]),
}
