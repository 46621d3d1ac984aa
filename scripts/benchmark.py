"""Measure what must stay fast, as ratios of two timings in one run, so that they mean the same on any machine.

python scripts/benchmark.py env      # one file of scripts/benchmarks/ a subcommand; no name: all of them

A subcommand is a module with a docstring and a function ``run() -> bool``, which prints its figures and says
whether they are within their limits.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

NAMES = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent / "benchmarks")]) if m.name[0] != "_")


def main() -> int:
    """Run the benchmarks named on the command line; 1 if one of them is beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of: {', '.join(NAMES)}")
    names = parser.parse_args().names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    within = [importlib.import_module(f"benchmarks.{name}").run() for name in names]
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
