"""``ns-mab-gym evaluate``: compare agents on worlds of the user's choice."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .door import Parser, as_typed, closing, natural, positive, study_options
from .paper_command import STORED

if TYPE_CHECKING:
    from ..experiments.study import Study

__all__ = ["main"]

RUNS, SEED = 50, 0
WORDS = ("env", "agents", "runs", "seed", "reference")


def main(
    arguments: Sequence[str] | None = None, command: str = "evaluate", simulate: Callable[..., Any] | None = None
) -> int:
    """Compare agents and write the report; returns the exit code."""
    parser = _parser(command)
    typed = as_typed(command, arguments)
    return closing(command, lambda: _evaluate(parser.parse_args(arguments), simulate, typed), interrupted=STORED)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Compare agents on worlds and write a report that opens in a browser. Name them here, or describe the\n"
        "comparison in a TOML file. What is computed is stored: the same command continues where it stopped.",
        (
            "--env NSBandit-Smooth-v0 piecewise:n_arms=3,horizon=5000 --agents beta-swts beta-swts:window=500 random",
            "--env means.csv --agents my_module:Greedy:epsilon=0.1 ts --runs 20",
            "--env NSBandit-Piecewise-v0 --agents sb3:path=model.zip beta-swts",
            "comparison.toml --out results/comparison",
        ),
    )
    parser.add_argument("description", nargs="?", help="a TOML file with worlds, agents, runs, seed and reference")
    parser.add_argument(
        "--env", nargs="+", metavar="WORLD", help="ids, worlds or files of means, with :parameter=value,… if need be"
    )
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT", help="names or package.module:Class, with :parameter=value,…"
    )
    parser.add_argument("--runs", type=positive, help=f"runs of each agent ({RUNS})")
    parser.add_argument("--seed", type=natural, help=f"from which all seeds are derived ({SEED})")
    parser.add_argument("--reference", help="the agent to which the others are compared (the first)")
    study_options(parser, "results/evaluation")
    return parser


def _evaluate(options: argparse.Namespace, simulate: Callable[..., Any] | None, typed: str) -> list[str]:
    from ..experiments.pipeline import Pipeline
    from ..play.engine import simulate as engine

    return Pipeline(_study(options), Path(options.out), simulate or engine, options.jobs, command=typed).run()


def _study(options: argparse.Namespace) -> Study:
    """The user's comparison as a study, from a file or from the arguments."""
    from ..experiments import parsing
    from ..experiments.study import Study

    given = [word for word in WORDS if getattr(options, word) is not None]
    if options.description and given:
        raise ValueError(f"give a description or --{given[0]}, not both: write {given[0]} into {options.description}")
    if options.description:
        return Study(f"Comparison: {Path(options.description).stem}", (parsing.read_toml(options.description),))
    if not options.env or not options.agents:
        raise ValueError("name at least one world (--env) and one agent (--agents), or a TOML file")
    settings = {
        "runs": RUNS if options.runs is None else options.runs,
        "seed": SEED if options.seed is None else options.seed,
        "reference": options.reference or "",
    }
    return Study("Comparison", (parsing.experiment(options.env, options.agents, **settings),))
