"""``ns-mab-gym evaluate``: compare agents on worlds of the user's choice."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .door import Parser, as_typed, closing, natural, positive, ran, study_options, workers
from .paper_command import STORED

if TYPE_CHECKING:
    from ..experiments.study import Study

__all__ = ["main"]

RUNS, SEED = 50, 0
DESCRIPTION = """\
Compare agents on worlds and write a report that opens in a browser. Name them here, or describe the
comparison in a TOML file. What is computed is stored: the same command continues where it stopped.

Parameters follow a colon: piecewise:n_arms=3,horizon=1e4 or stationary:mu=0.1,0.5. Several values of an
agent's parameter, between bars and in quotes, are several agents, as in 'beta-swts:window=100|316|1000';
the report shows their regret against the parameter.

What you name may run code of others: package.module:Class, and models that are zip files. See SECURITY.md.

A TOML file has worlds and agents and, if you like, title, runs, seed and reference. Options have the last word:

  title = "Which memory?"
  worlds = ["NSBandit-Smooth-v0", "means.csv"]
  agents = [
    {agent = "beta-swts", window = {sweep = [100, 316, 1000]}},
    {agent = "sw-ucb", xi = 0.3, label = "SW-UCB, bold", group = "SW-UCB"},  # a group has a chart of its own
    {agent = "sw-ucb", xi = 1.2, label = "SW-UCB, shy", group = "SW-UCB", note = "a guess"},
  ]
"""


def main(
    arguments: Sequence[str] | None = None, command: str = "evaluate", simulate: Callable[..., Any] | None = None
) -> int:
    """Compare agents and write the report; returns the exit code."""
    work = partial(_evaluate, simulate=simulate, typed=as_typed(command, arguments))
    return closing(_parser(command), arguments, work, interrupted=STORED)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        DESCRIPTION,
        (
            "--env NSBandit-Smooth-v0 piecewise:n_arms=3,horizon=5000 --agents beta-swts beta-swts:window=500 random",
            "--env NSBandit-Abrupt-v0:horizon=1e4 --agents 'beta-swts:window=100|316|1000|3162' sw-ucb --runs 20",
            "--env means.csv --agents my_module:Greedy:epsilon=0.1 ts --runs 20",
            "--env NSBandit-Piecewise-v0 --agents sb3:path=model.npz beta-swts",
            "comparison.toml --runs 200 --seed 7 --out results/comparison",
        ),
    )
    parser.add_argument("description", nargs="?", help="a TOML file, in place of --env and --agents")
    parser.add_argument(
        "--env", nargs="+", metavar="WORLD", help="ids, worlds or files of means, with :parameter=value,… if need be"
    )
    parser.add_argument(
        "--agents",
        nargs="+",
        metavar="AGENT",
        help="names or package.module:Class, with :parameter=value,…; several values as value|value|…",
    )
    parser.add_argument("--runs", type=positive, help=f"runs of each agent ({RUNS}, or as the file says)")
    parser.add_argument("--seed", type=natural, help=f"from which all seeds are derived ({SEED}, or as the file says)")
    parser.add_argument("--reference", help="the agent to which the others are compared (the first)")
    parser.add_argument(
        "--trust-models",
        action="store_true",
        help="load models (sb3:path=model.zip) that were not saved on this machine, which can run any code in them; "
        "those that SB3Agent.export wrote (model.npz) need no trust",
    )
    study_options(parser, "results/evaluation")
    return parser


def _evaluate(options: argparse.Namespace, simulate: Callable[..., Any] | None, typed: str) -> Iterable[str]:
    from ..experiments.pipeline import Pipeline
    from ..play.engine import simulate as engine

    play, trust = simulate or engine, options.trust_models
    return ran(Pipeline(_study(options), options.out, play, command=typed, trust_models=trust, **workers(options)))


def _study(options: argparse.Namespace) -> Study:
    """The user's comparison as a study, from a file or from the arguments, which have the last word."""
    given = {key: getattr(options, key) for key in ("runs", "seed", "reference") if getattr(options, key) is not None}
    return _described(options, given) if options.description else _named(options, given)


def _described(options: argparse.Namespace, given: Mapping[str, Any]) -> Study:
    from ..experiments.descriptions import read_study

    for word in ("env", "agents"):
        if getattr(options, word) is not None:
            raise ValueError(f"give a description or --{word}, not both: write {word} into {options.description}")
    study = read_study(options.description)
    return replace(study, experiments=tuple(replace(each, **given) for each in study.experiments))


def _named(options: argparse.Namespace, given: Mapping[str, Any]) -> Study:
    from ..experiments.parsing import experiment
    from ..experiments.study import Study

    if not options.env or not options.agents:
        raise ValueError("name at least one world (--env) and one agent (--agents), or a TOML file")
    settings = {"runs": RUNS, "seed": SEED, **given}
    return Study("Comparison", (experiment(options.env, options.agents, **settings),))
