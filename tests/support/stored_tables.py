"""The table that the files of units in a folder make together."""

from __future__ import annotations

from pathlib import Path

import pandas as pd


def table_of(folder: Path) -> pd.DataFrame:
    """All rows of all units, in an order that does not depend on the files that they are in."""
    return pd.read_parquet(folder / "units").sort_values(["world", "agent", "run", "round"], ignore_index=True)
