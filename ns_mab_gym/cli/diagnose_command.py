"""``ns-mab-gym diagnose``: what makes a world hard and which window fits it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..theory.learners import LEARNERS
from .door import Parser, closing, natural, path, positive

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, command: str = "diagnose") -> int:
    """Describe and draw a world and recommend a window; with ``--measure``, play windows too; returns the exit code."""
    return closing(_parser(command), arguments, _diagnose)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Tell what makes a world hard, draw it, and recommend a window by a heuristic shaped by the theorems' terms;\n"
        "with --measure, play a grid of windows and say what the recommended one loses.",
        (
            "NSBandit-Abrupt-v0",
            "piecewise:n_arms=3,horizon=5000 --seed 7 --measure",
            "means.csv --agent gamma-swgts --windows 100 1000",
        ),
    )
    parser.add_argument(
        "world",
        help="an id, a world or a file of means (.csv, .parquet or .npz, one column per arm), with :parameter=value,…",
    )
    parser.add_argument(
        "--agent", default="beta-swts", help=f"whose window: {' or '.join(LEARNERS)} (default: %(default)s)"
    )
    parser.add_argument("--windows", type=positive, nargs="+", help="windows to shade instead of the three chosen ones")
    parser.add_argument(
        "--out", type=path, default=Path("results"), help="folder of the pictures (default: %(default)s)"
    )
    parser.add_argument("--measure", action="store_true", help="play a grid of windows and compare with the theory")
    parser.add_argument("--runs", type=positive, default=20, help="runs of each window (default: %(default)s)")
    parser.add_argument(
        "--seed", type=natural, default=0, help="of the runs and of a random world's instance (default: %(default)s)"
    )
    return parser


def _diagnose(options: argparse.Namespace) -> Iterator[str]:
    from ..agents.core.arguments import choice
    from ..experiments.measurement import compare
    from ..figures.diagnosis import diagnosis_figure
    from ..figures.measured_windows import measured_figure
    from ..figures.style import save_as
    from ..theory import describe
    from .reading import means_of

    choice("agent", options.agent, LEARNERS)
    name, means, arms = means_of(options.world, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    yield str(describe(means, agent=options.agent))
    stem = options.out / f"{name}-{options.agent}"
    figure = diagnosis_figure(means, options.agent, windows=options.windows, names=arms)
    save_as(figure, Path(f"{stem}-diagnosis.png"))
    yield f"\npicture: {stem}-diagnosis.png"
    if options.measure:
        comparison = compare(means, options.agent, runs=options.runs, seed=options.seed)
        save_as(measured_figure(means, comparison), Path(f"{stem}-measured.png"))
        yield f"\n{comparison}\npicture: {stem}-measured.png"
