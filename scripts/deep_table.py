"""Measure where learning wins: families of random worlds × algorithms × training seeds, beside the zoo.

python scripts/deep_table.py --jobs 2            # everything, into results/deep: hours; the same command goes on
python scripts/deep_table.py --quick             # the same with tiny numbers, into results/deep-quick, in a minute
python scripts/deep_table.py --jobs 2 --write    # and put figures and picture into docs/, and write the pages

Each model is trained in a process of its own, as `ns-mab-gym train` would, into WORLD/ALGORITHM/seed-N. Then all models
of a world and the rivals, which are tuned once, play the same held-out instances; WORLD/numbers.json has the outcome.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from quoting import deep_picture, figures_file, pages
from tabling.measuring import compared, trained
from tabling.sizes import QUICK, WHOLE, Size

from ns_mab_gym.cli import door
from ns_mab_gym.figures.style import save_as

PICTURE = "deep-table.png"
STOPPED = "stopped; what was trained is saved, and the same command goes on"


def main() -> int:
    """Train and compare what is asked for, then write the figures; returns the exit code."""
    parser = door.Parser("deep_table.py", __doc__ or "", ("--jobs 2", "--quick --jobs 2"))
    parser.add_argument("--out", type=door.path, help="folder of results (results/deep, or results/deep-quick)")
    parser.add_argument("--jobs", type=door.jobs, default=1, help="models that are trained at once (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to see that it works")
    parser.add_argument("--write", action="store_true", help="put figures and picture into docs/, and write the pages")
    return door.closing(parser, None, _measure, interrupted=STOPPED)


def _measure(options: argparse.Namespace) -> Iterator[str]:
    if options.quick and options.write:
        raise ValueError("--quick measures nothing that is worth writing; leave out --quick or --write")
    size = QUICK if options.quick else WHOLE
    out: Path = options.out or Path("results/deep-quick" if options.quick else "results/deep")
    torch.set_num_threads(1)  # so small networks gain nothing from more
    models = {}
    for name, model in trained(size, out, options.jobs):
        models[name] = model
        yield f"{name}: {model.steps:,} steps in {model.seconds:,.0f} s"
    worlds = {}
    for world, numbers in compared(size, out, models):
        worlds[world] = numbers
        yield f"{world}: tuned and played in {numbers['seconds']:,.0f} s"
    figures = _figures(size, worlds)
    save_as(deep_picture.picture(figures), out / PICTURE)
    yield f"{out / PICTURE} shows all of them"
    if options.write:
        yield from _write(figures, options.jobs)


def _figures(size: Size, worlds: dict[str, Any]) -> dict[str, Any]:
    about = {"arms": size.arms, "horizon": size.horizon, "runs": size.runs, "tuning_runs": size.tuning_runs}
    rounded: dict[str, Any] = _rounded({**about, "seeds": list(size.seeds), "worlds": worlds})
    return rounded


def _rounded(value: Any) -> Any:
    """The same with six digits of every number, which nobody quotes more of."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _write(figures: dict[str, Any], jobs: int) -> Iterator[str]:
    figures_file.put("deep-table", f"python scripts/deep_table.py --jobs {jobs} --write", figures)
    save_as(deep_picture.picture(figures), figures_file.ROOT / "docs" / PICTURE)
    yield from (f"written: {page}" for page in pages.rewrite())


if __name__ == "__main__":
    door.leave(main())
