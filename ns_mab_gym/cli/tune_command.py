"""``ns-mab-gym tune``: the best parameters of an agent for a world."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from .door import Parser, closing, jobs, natural, positive, seconds

__all__ = ["main"]

SCALE_AT = 2  # the place of the scale in low:high:scale


def main(arguments: Sequence[str] | None = None, command: str = "tune") -> int:
    """Tune an agent and print what was found; returns the exit code."""
    return closing(_parser(command), arguments, _tune)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Find the best parameters of an agent for a world: candidates race on the same luck, and the winner is judged\n"
        "on runs that chose nothing.",
        (
            "NSBandit-Abrupt-v0 beta-swts",
            "piecewise:n_arms=3,horizon=5000 sw-ucb:xi=0.6 --runs 2000",
            "means.csv gamma-swgts --space window=10:1000 --budget 60",
            "NSBandit-Smooth-v0 kl-ucb --space c=0,1,3",
        ),
    )
    parser.add_argument("world", help="an id, a world or a file of means, with :parameter=value,… if need be")
    parser.add_argument("agent", help="an agent; parameters after a colon are not searched")
    parser.add_argument(
        "--budget", type=seconds, default=20.0, help="seconds, compilation not counted (default: %(default)g)"
    )
    parser.add_argument(
        "--runs", type=positive, help="runs that may be played instead; the result is then the same on every machine"
    )
    parser.add_argument(
        "--space",
        nargs="+",
        metavar="PARAMETER=…",
        help="what to search: low:high, low:high:scale (log, linear or memory), or values with commas between them",
    )
    parser.add_argument("--seed", type=natural, default=0, help="of all runs (default: %(default)s)")
    parser.add_argument("--jobs", type=jobs, help="threads; -1, the default, for as many as there are cores")
    return parser


def _tune(options: argparse.Namespace) -> Iterator[str]:
    from ..choosing.best_parameters import tune
    from ..experiments.parsing import parse
    from ..experiments.preflight import env_of
    from ..experiments.study import AgentEntry, WorldEntry

    agent = parse(AgentEntry, options.agent)
    yield str(
        tune(
            env_of(parse(WorldEntry, options.world)),
            agent.name,
            budget=options.budget,
            runs=options.runs,
            space=None if options.space is None else dict(_searched(words) for words in options.space),
            agent_kwargs=agent.kwargs,
            seed=options.seed,
            n_jobs=options.jobs,
        )
    )


def _searched(words: str) -> tuple[str, Any]:
    """A parameter, and the tuple or list of what to search, from its text."""
    name, equals, values = words.partition("=")
    if not (name and equals and values):
        raise ValueError(f"cannot read the space {words!r}; write window=10:1000 or window=10,20,50")
    if ":" not in values:
        return name, [_number(words, each) for each in values.split(",")]
    ends = values.split(":")
    if len(ends) > SCALE_AT + 1:
        raise ValueError(f"cannot read the space {words!r}; write low:high or low:high:scale")
    return name, (*(_number(words, end) for end in ends[:SCALE_AT]), *ends[SCALE_AT:])


def _number(words: str, text: str) -> int | float:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    raise ValueError(f"{text!r} in the space {words!r} is not a number")
