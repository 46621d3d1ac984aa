"""Kills an evaluation early, and at random; the same command must end with the results of a whole one."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

from .evaluation import evaluate, killed, same_results, warmed_up

__all__ = ["try_kills"]

EARLY = 0.010  # seconds after the store is opened
REPORTED = 25  # so many early kills come to one after which the report is written too, which takes most of the time


def try_kills(scratch: Path, early: int, late: int) -> bool:
    """Kill so many evaluations in the first 10 ms of their store, and so many at any time; whether all went well."""
    lasting = warmed_up(scratch)
    dice = random.Random(14)
    left: Counter[str] = Counter()
    wrong = 0
    for number in range(early + late):
        folder = scratch / f"killed-{number}"
        if number < early:
            killed(folder, dice.uniform(0, EARLY), at_store=True)
        else:
            killed(folder, dice.uniform(0, lasting), at_store=False)
        left[_what_is_in(folder)] += 1
        ended = evaluate(folder, report=number >= early or number % REPORTED == 0)
        alike = ended.status == 0 and same_results(folder, scratch / "first")
        leftovers = list(folder.rglob("*.part"))
        if not alike or leftovers:
            wrong += 1
            print(f"kill {number}: exit code {ended.status}; {ended.said.strip()} {leftovers}", flush=True)
        shutil.rmtree(folder)
    print(f"{early} kills in the first 10 ms of the store, {late} in {lasting:.1f} s: {wrong} went on wrongly")
    for what, times in left.most_common():
        print(f"  {times:5d} left {what}")
    return wrong == 0


def _what_is_in(folder: Path) -> str:
    if not folder.exists():
        return "no folder"
    names = sorted("half a file" if path.suffix == ".part" else path.name for path in folder.iterdir())
    units = len(list(folder.glob("units/*.parquet")))
    return f"{', '.join(names) or 'an empty folder'}; {units} units"
