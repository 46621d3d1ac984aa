"""Measure what matters in training: trainings that differ from the usual one in one thing, on one family of worlds.

python scripts/deep_choices.py --jobs 2            # everything, into results/choices; the same command goes on
python scripts/deep_choices.py --quick             # two tiny trainings, into results/choices-quick
python scripts/deep_choices.py --jobs 2 --write    # and put the figures into docs/figures.json, and write the pages
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from quoting import figures_file, pages
from tabling.choices import CHOICES, QUICK_CHOICES
from tabling.measuring import measured
from tabling.options import STOPPED, folder_of, study_parser

from ns_mab_gym.cli import door


def main() -> int:
    """Train and compare, then write the figures; returns the exit code."""
    parser = study_parser("deep_choices.py", __doc__ or "")
    return door.closing(parser, None, _measure, interrupted=STOPPED)


def _measure(options: argparse.Namespace) -> Iterator[str]:
    out = folder_of(options, "results/choices")
    figures = yield from measured(QUICK_CHOICES if options.quick else CHOICES, out, options.jobs)
    for row in figures["worlds"]["piecewise"]["models"]:
        yield f"{row['agent']}: {row['regret']:.1f} ({', '.join(f'{mean:.1f}' for mean in row['by_seed'])})"
    if options.write:
        figures_file.put("deep-choices", f"python scripts/deep_choices.py --jobs {options.jobs} --write", figures)
        yield from (f"written: {page}" for page in pages.rewrite())


if __name__ == "__main__":
    door.leave(main())
