"""Measure what must stay fast, as ratios of two timings in one run, so that they are comparable between machines.

python scripts/benchmark.py env              # one benchmark of scripts/benchmarks/ per name; no name: all of them
python scripts/benchmark.py --write          # and put the figures into docs/figures.json and the pages that quote them

A benchmark is a function ``NAME() -> Outcome``, which prints its figures, and returns them and whether they are within
their limits; the table below has the module of each.
"""

from __future__ import annotations

import argparse
import importlib
import sys

import quoted

BENCHMARKS = {
    "agents": ("agents", "growth", "flat"),
    "choosing": ("advice", "answers", "tuning"),
    "endurance": ("endurance",),
    "environments": ("env", "vector", "rl_simulate"),
    "late": ("late",),
    "logs": ("still", "power", "installed", "large_log"),
    "live": ("killed", "requests", "served"),
    "peers": ("peers",),
    "replay": ("replay", "logged_advice"),
    "starting": ("ahead", "judged", "ablation", "scaling"),
    "startup": ("loading", "compiling"),
    "studies": ("stored", "tiny_units"),
    "theory": ("theory", "windows"),
    "workers": ("workers",),
}
MODULES = {name: module for module, names in BENCHMARKS.items() for name in names}


def main() -> int:
    """Run the benchmarks named on the command line; returns 1 if a figure exceeds its limit, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of: {', '.join(sorted(MODULES))}")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/figures.json and the pages")
    options = parser.parse_args()
    names = options.names or sorted(MODULES)
    if unknown := set(names) - set(MODULES):
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; choose from {', '.join(sorted(MODULES))}")
    within = True
    for name in names:
        outcome = getattr(importlib.import_module(f"benchmarks.{MODULES[name]}"), name)()
        within &= bool(outcome.within)
        if options.write and outcome.figures:  # at once, so that a later failure loses none
            quoted.put(name, f"python scripts/benchmark.py {name} --write", outcome.figures)
            quoted.rewrite()
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
