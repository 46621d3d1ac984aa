"""Measure what must stay fast, as ratios of two timings in one run, so that they are comparable between machines.

python scripts/benchmark.py env              # one file of scripts/benchmarks/ per name; no name: all of them
python scripts/benchmark.py --write          # and put the figures into docs/figures.json and the pages that quote them

A benchmark is a module with a docstring and a function ``run() -> Outcome``, which prints its figures, says whether
they are within their limits, and returns them.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

from quoting import figures_file, pages

NAMES = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent / "benchmarks")]) if m.name[0] != "_")


def main() -> int:
    """Run the benchmarks named on the command line; returns 1 if a figure exceeds its limit, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of: {', '.join(NAMES)}")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/figures.json and the pages")
    options = parser.parse_args()
    names = options.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    within = [_measured(name, options.write) for name in names]
    return 0 if all(within) else 1


def _measured(name: str, write: bool) -> bool:
    """Run one benchmark; returns whether it passed. Figures are written at once, so that a later failure loses none."""
    outcome = importlib.import_module(f"benchmarks.{name}").run()
    if write and outcome.figures:
        figures_file.put(name, f"python scripts/benchmark.py {name} --write", outcome.figures)
        pages.rewrite()
    return bool(outcome.within)


if __name__ == "__main__":
    sys.exit(main())
