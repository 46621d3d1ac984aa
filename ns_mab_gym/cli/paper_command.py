"""``ns-mab-gym paper``: reproduce the paper's experiments."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from .door import Parser, as_typed, closing, natural, positive, ran, study_options, workers

__all__ = ["STORED", "main"]

STORED = "stopped; what is computed is stored: run the same command to go on"


def main(
    arguments: Sequence[str] | None = None, command: str = "paper", simulate: Callable[..., Any] | None = None
) -> int:
    """Run the paper's experiments, judge its claims and write the report; returns the exit code."""
    work = partial(_reproduce, simulate=simulate, typed=as_typed(command, arguments))
    return closing(_parser(command), arguments, work, interrupted=STORED)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Reproduce the paper's experiments, judge its claims, play the whole zoo on its worlds, and write a report\n"
        "that opens in a browser.\n"
        "What is computed is stored: the same command continues where it stopped.",
        ("", "--runs 10 --out results/quick", "--runs 500 --jobs 8"),
    )
    parser.add_argument(
        "--runs",
        type=positive,
        default=50,
        help="runs of each agent (%(default)s, as in the paper); more are played only by agents whose first 50 runs "
        "leave a sentence open, and are shown beside them",
    )
    parser.add_argument(
        "--horizon",
        type=positive,
        default=50_000,
        help="rounds of each run (%(default)s, as in the paper); with fewer there are no verdicts",
    )
    parser.add_argument("--seed", type=natural, default=0, help="from which all seeds are derived (%(default)s)")
    parser.add_argument(
        "--paper-only", action="store_true", help="leave out the section with the whole zoo on the paper's worlds"
    )
    study_options(parser, "results/paper")
    return parser


def _reproduce(options: argparse.Namespace, simulate: Callable[..., Any] | None, typed: str) -> Iterable[str]:
    from ..experiments.paper_run import paper_pipeline
    from ..play.engine import simulate as engine

    pipeline = paper_pipeline(
        options.out,
        simulate or engine,
        runs=options.runs,
        horizon=options.horizon,
        seed=options.seed,
        zoo=not options.paper_only,
        command=typed,
        **workers(options),
    )
    return ran(pipeline)
