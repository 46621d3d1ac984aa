"""The command ``log``: a log of decisions, its drift, advice, and a page."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import file_name
from .parser import Parser, closing, path, positive, seconds

if TYPE_CHECKING:
    from ..logs.log import Log

ROLES = {
    "time": "of the times",
    "arm": "of the arms",
    "reward": "of the rewards",
    "propensity": "of the probabilities with which arms were chosen, if there is one",
    "delay": "of the seconds until rewards came, if there is one",
}


def read(arguments: Sequence[str] | None = None, command: str = "log") -> int:
    """Read a log, tell its drift and write a page; returns the exit code."""
    parser = Parser(
        command,
        "Read a log of decisions, one a row (time, arm, reward), tell how the arms drift beside chance, and write a\n"
        "page; with --seconds, also search the agent that suits it.",
        (
            "log.csv",
            "log.parquet --time ts --arm price --reward revenue --out page.html",
            "clicks.csv --trials views.csv",
            "flights",
        ),
    )
    add = parser.add_argument
    add("log", help="a .csv or .parquet file; or flights, prices, pedestrians or parks, from installed packages")
    for role, what in ROLES.items():
        add(f"--{role}", metavar="COLUMN", help=f"the column {what} (default: the one with a plain name)")
    counts = "the file is a table of successes, one column per arm: how many decisions each cell stands for, or a file"
    add("--trials", type=trials, metavar="NUMBER|FILE", help=counts)
    add("--fold", choices=("day", "week"), help="tell the drift over the hours of a day, or the days of a week")
    add("--out", type=path, help="the page (default: results/NAME-log.html)")
    add("--seconds", type=seconds, help="how long to search for the agent that suits the log (default: not at all)")
    add("--permutations", type=positive, default=999, help="logs in which nothing moves (default: %(default)s)")
    parser.add_seed("of these logs")

    def work(options: argparse.Namespace) -> Iterator[str]:
        from ..logs.page import write_page

        log = _log_of(options)
        folded = log if options.fold is None else log.folded(options.fold)
        drift = folded.drift(options.permutations, options.seed)
        yield str(drift)
        advice = []
        if options.seconds is not None:
            from ..tuning.tune import recommend

            advice.append(str(recommend(log, seconds=options.seconds)))
            yield f"\n{advice[-1]}"
        stem = file_name(Path(options.log).stem, instead="log", keep=".=,-")
        out = options.out or Path("results") / f"{stem}-log.html"
        out.parent.mkdir(parents=True, exist_ok=True)
        given = shlex.join(arguments) if arguments is not None else options.log
        write_page(drift, out, f"The log {Path(options.log).name}", advice, f"{command} {given}")
        yield f"\npage: {out}"

    return closing(parser, arguments, work)


def _log_of(options: argparse.Namespace) -> Log:
    """The log that the options name."""
    from ..logs.examples import EXAMPLES
    from ..logs.log import Log

    if options.log in EXAMPLES and not Path(options.log).exists():
        return EXAMPLES[options.log]()
    if options.trials is not None:
        return Log.from_counts(options.log, options.trials)
    return Log.read(options.log, **{role: getattr(options, role) for role in ROLES})


def trials(text: str) -> int | str:
    """Read an option that is a number of trials or the name of a file of them."""
    return positive(text) if text.strip().lstrip("+-").isdigit() else text
