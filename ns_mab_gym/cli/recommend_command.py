"""``ns-mab-gym recommend``: the agent and the parameters that suit a world."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from .door import Parser, closing, jobs, natural, positive, seconds

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, command: str = "recommend") -> int:
    """Race agents on a world and print the advice; returns the exit code."""
    return closing(_parser(command), arguments, _recommend)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Say which agent to play in a world, and with which parameters: several agents race on the same luck, and the\n"
        "winner is judged on runs that chose nothing.",
        (
            "means.csv",
            "NSBandit-Smooth-v0 --seconds 60",
            "piecewise:changes=8,horizon=5000 --agents beta-swts gamma-swgts glr-ts --runs 3000",
        ),
    )
    parser.add_argument("world", help="an id, a world or a file of means, with :parameter=value,… if need be")
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=20.0,
        help="how long to search, compilation not counted (default: %(default)g)",
    )
    parser.add_argument(
        "--runs", type=positive, help="runs that may be played instead; the result is then the same on every machine"
    )
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT", help="agents that may be recommended (a choice of ours)"
    )
    parser.add_argument("--seed", type=natural, default=0, help="of all runs (default: %(default)s)")
    parser.add_argument("--jobs", type=jobs, help="threads; -1, the default, for as many as there are cores")
    return parser


def _recommend(options: argparse.Namespace) -> Iterator[str]:
    from ..choosing.advice import recommend
    from ..experiments.parsing import parse
    from ..experiments.preflight import env_of
    from ..experiments.study import WorldEntry

    env = env_of(parse(WorldEntry, options.world))
    settings = {"seconds": options.seconds, "runs": options.runs, "seed": options.seed, "n_jobs": options.jobs}
    yield str(recommend(env, agents=options.agents, **settings))
