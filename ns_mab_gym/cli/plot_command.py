"""``ns-mab-gym plot``: draw the means of worlds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .door import Parser, closing, natural, path

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, command: str = "plot") -> int:
    """Draw the means of worlds (the paper's four if none is named), the best arm above them; returns the exit code."""
    return closing(_parser(command), arguments, _plot)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Draw the means of worlds, the best arm above them; the paper's four worlds if none is named.",
        ("", "NSBandit-Smooth-v0 piecewise:n_arms=3,horizon=500 means.csv --seed 7 --out worlds.svg"),
    )
    parser.add_argument(
        "worlds", nargs="*", metavar="WORLD", help="ids, worlds or files of means, with :parameter=value,… if need be"
    )
    parser.add_argument(
        "--out", type=path, default=Path("results/worlds.png"), help="the picture, .png or .svg (%(default)s)"
    )
    parser.add_argument("--seed", type=natural, default=0, help="of the instances of random worlds (%(default)s)")
    return parser


def _plot(options: argparse.Namespace) -> list[str]:
    from ..figures.gallery import PAPER, gallery_figure
    from ..figures.style import save_as
    from .reading import means_of

    worlds = options.worlds or PAPER
    shown = {PAPER.get(words, words): means_of(words, options.seed)[1] for words in worlds}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_as(gallery_figure(shown), options.out)
    return [f"picture: {options.out} ({options.out.stat().st_size / 1024:.0f} KB)"]
