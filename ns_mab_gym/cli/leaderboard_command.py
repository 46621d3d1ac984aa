"""``ns-mab-gym leaderboard``: every agent on many worlds, ranked, and your own beside them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from .door import Parser, as_typed, closing, natural, path, positive, ran, study_options, workers
from .paper_command import STORED

__all__ = ["main"]

QUICK = "Horizons are a tenth, with few runs: this tries the machinery and says little about the agents."


def main(
    arguments: Sequence[str] | None = None, command: str = "leaderboard", simulate: Callable[..., Any] | None = None
) -> int:
    """Run what is missing, rank the agents and write the page; returns the exit code."""
    work = partial(_ranked, simulate=simulate, typed=as_typed(command, arguments))
    return closing(_parser(command), arguments, work, interrupted=STORED)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Play every agent on many kinds of worlds, told the facts of the world and told T and K alone; rank them, and\n"
        "write a page with a guide in words. What is computed is stored: the same command continues where it stopped,\n"
        "and an agent of your own adds its own rows only.",
        (
            "",
            "--agents my_module:MyAgent",
            "--agents beta-swts:window=500 --division blind",
            "--quick --out results/look",
        ),
    )
    parser.add_argument(
        "--agents", nargs="+", default=[], metavar="AGENT", help="agents beside the zoo: names or package.module:Class"
    )
    parser.add_argument("--division", choices=("informed", "blind"), help="play one division only (both)")
    parser.add_argument("--worlds", nargs="+", metavar="WORLD", help="worlds or families of worlds, by label (all)")
    parser.add_argument("--runs", type=positive, help="runs of each agent on each world (the world's own number)")
    parser.add_argument("--seed", type=natural, default=0, help="from which all seeds are derived (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds and few runs, to have a look")
    parser.add_argument("--snapshot", type=path, help="write Markdown, pictures and tables into this folder too")
    study_options(parser, "results/leaderboard")
    return parser


def _ranked(options: argparse.Namespace, simulate: Callable[..., Any] | None, typed: str) -> Iterable[str]:
    from ..experiments.leaderboard.board import Leaderboard
    from ..experiments.leaderboard.board_plan import plan_of
    from ..experiments.leaderboard.board_worlds import chosen_worlds
    from ..experiments.leaderboard.contestants import DIVISIONS, zoo_and
    from ..experiments.parsing import parse
    from ..experiments.study import AgentEntry
    from ..play.engine import simulate as engine

    players = zoo_and([parse(AgentEntry, words) for words in options.agents])
    worlds = chosen_worlds(options.worlds, options.runs, options.quick)
    divisions = (options.division,) if options.division else DIVISIONS
    board = Leaderboard(
        plan=plan_of(worlds, players, divisions, options.seed),
        folder=options.out,
        simulate=simulate or engine,
        command=typed,
        warning=QUICK if options.quick else "",
        snapshot=options.snapshot,
        **workers(options),
    )
    return ran(board)
