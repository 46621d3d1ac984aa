"""Measure where learning wins: families of random worlds × algorithms × training seeds, beside the zoo.

python scripts/deep_table.py --jobs 2            # everything, into results/deep: most of an hour; it goes on if stopped
python scripts/deep_table.py --quick             # the same with tiny numbers, into results/deep-quick, in a minute
python scripts/deep_table.py --jobs 2 --write    # and put figures and picture into docs/, and write the pages

Each model is trained in a process of its own, as `ns-mab-gym train` would, into WORLD/ALGORITHM/seed-N. Then all models
of a world and the rivals, which are tuned once, play the same held-out instances; WORLD/numbers.json has the outcome.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from quoting import deep_picture, figures_file, pages
from tabling.measuring import measured
from tabling.options import STOPPED, folder_of, study_parser
from tabling.sizes import QUICK, WHOLE

from ns_mab_gym.cli import door
from ns_mab_gym.figures.style import save_as

PICTURE = "deep-table.png"


def main() -> int:
    """Train and compare what is asked for, then write the figures; returns the exit code."""
    parser = study_parser("deep_table.py", __doc__ or "")
    return door.closing(parser, None, _measure, interrupted=STOPPED)


def _measure(options: argparse.Namespace) -> Iterator[str]:
    out = folder_of(options, "results/deep")
    figures = yield from measured(QUICK if options.quick else WHOLE, out, options.jobs)
    save_as(deep_picture.picture(figures), out / PICTURE)
    yield f"{out / PICTURE} shows all of them"
    if options.write:
        yield from _write(figures, options.jobs)


def _write(figures: dict[str, Any], jobs: int) -> Iterator[str]:
    figures_file.put("deep-table", f"python scripts/deep_table.py --jobs {jobs} --write", figures)
    save_as(deep_picture.picture(figures), figures_file.ROOT / "docs" / PICTURE)
    yield from (f"written: {page}" for page in pages.rewrite())


if __name__ == "__main__":
    door.leave(main())
