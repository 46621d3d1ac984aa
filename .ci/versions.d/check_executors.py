"""Compare the results in two folders of the same study, which must agree to the bit: check_executors.py ONE OTHER."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pandas as pd


def results(folder: str) -> pd.DataFrame:
    """The table of all results, in an order that does not depend on who computed them."""
    table = pd.read_parquet(Path(folder) / "table.parquet")
    table = table.astype({"world": str, "agent": str})
    return table.sort_values(["world", "agent", "run", "round"], ignore_index=True)


if __name__ == "__main__":
    one, other = map(results, sys.argv[1:])
    assert len(one), "there are no results"
    pd.testing.assert_frame_equal(one, other, check_exact=True)
    os._exit(0)  # pyarrow 17 may abort when its threads are torn down at the end of a process
