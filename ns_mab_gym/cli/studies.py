"""The commands that run a study: ``paper``, ``evaluate`` and ``leaderboard``."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agents.core.arguments import escaped
from ..parallel import EXECUTORS, RETRIES, executor
from .parser import PROGRAM, Parser, UnfinishedError, closing, natural, path, positive

if TYPE_CHECKING:
    from ..studies.study import Study

Simulate = Callable[..., Any]
STORED = "stopped; what is computed is stored: run the same command to go on"


def _closing(
    parser: Parser,
    folder: str,
    arguments: Sequence[str] | None,
    study: Callable[[argparse.Namespace, dict[str, Any]], Any],
    simulate: Simulate | None,
) -> int:
    """Run a study with the options that all of them have, and return the exit code.

    Args:
        parser: reads the options of the command itself.
        folder: the folder of results by default.
        arguments: those that were typed; those of this process if None.
        study: makes the study from the options, and from the arguments that all studies take.
        simulate: plays the runs; the engine if None.
    """
    add = parser.add_argument
    add("--out", type=path, default=Path(folder), help="folder of results (%(default)s)")
    parser.add_jobs("threads or processes")
    where = (
        "where to compute: threads of this process (the default), processes, or a Dask cluster (extra 'cluster'), "
        "which is started on this machine unless --scheduler names one"
    )
    add("--executor", choices=EXECUTORS, help=where)
    add("--scheduler", metavar="ADDRESS", help="a Dask scheduler that is running, such as tcp://10.0.0.1:8786")
    again = "how often a unit (up to 25 runs of an agent on a world) is tried again if it fails (%(default)s)"
    add("--retries", type=natural, default=RETRIES, help=again)
    fresh = "drop all results that are stored in the folder, and compute anew: for what the store cannot know of"
    add("--fresh", action="store_true", help=f"{fresh}, such as a file that your agent reads")
    program = f"python scripts/{parser.prog}" if parser.prog.endswith(".py") else f"{PROGRAM} {parser.prog.split()[-1]}"
    typed = f"{program} {shlex.join(sys.argv[1:] if arguments is None else arguments)}".strip()

    def run(options: argparse.Namespace) -> Iterator[str]:
        from ..play.simulate import simulate as engine

        name = options.executor or ("threads" if options.scheduler is None else "dask")
        if options.scheduler is not None and name != "dask":
            raise ValueError(f"--scheduler is for --executor dask, got --executor {name}; leave one of them out")
        common = {
            "folder": options.out.absolute(),  # the code of an agent may go to another folder
            "simulate": simulate or engine,
            "command": escaped(typed),
            "n_jobs": options.jobs,
            "pool": None if name == "threads" else partial(executor, name, options.jobs, options.scheduler),
            "retries": options.retries,
            "fresh": options.fresh,
        }
        made = study(options, common)
        yield from made.run()
        if failures := made.failures:
            raise UnfinishedError(
                f"{len(failures)} of the units failed, such as {failures[0]}; {options.out / 'failures.txt'} has all "
                f"of them with their tracebacks, and the same command tries them again"
            )

    return closing(parser, arguments, run, interrupted=STORED)


def paper(arguments: Sequence[str] | None = None, command: str = "paper", simulate: Simulate | None = None) -> int:
    """Run the paper's experiments, judge its claims and write the report; returns the exit code."""
    parser = Parser(
        command,
        "Reproduce the paper's experiments, judge its claims, play all agents of the registry on its worlds, and\n"
        "write a report that opens in a browser.\n"
        "What is computed is stored: the same command continues where it stopped.",
        ("", "--runs 10 --out results/quick", "--runs 500 --jobs 8"),
    )
    add = parser.add_argument
    runs = (
        "runs of each agent (%(default)s, as in the paper); more are played only by agents whose first 50 runs "
        "leave a sentence undecided, and are shown beside them"
    )
    add("--runs", type=positive, default=50, help=runs)
    rounds = "rounds of each run (%(default)s, as in the paper); with fewer there are no verdicts"
    add("--horizon", type=positive, default=50_000, help=rounds)
    parser.add_seed("from which all seeds are derived")
    add("--paper-only", action="store_true", help="leave out the section with all agents on the paper's worlds")

    def study(options: argparse.Namespace, common: dict[str, Any]) -> Any:
        from ..paper.study import paper_pipeline

        size = {"runs": options.runs, "horizon": options.horizon, "seed": options.seed}
        return paper_pipeline(**common, **size, zoo=not options.paper_only)

    return _closing(parser, "results/paper", arguments, study, simulate)


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


def evaluate(
    arguments: Sequence[str] | None = None, command: str = "evaluate", simulate: Simulate | None = None
) -> int:
    """Compare agents and write the report; returns the exit code."""
    parser = Parser(
        command,
        DESCRIPTION,
        (
            "--env NSBandit-Smooth-v0 piecewise:n_arms=3,horizon=5000 --agents beta-swts beta-swts:window=500 random",
            "--env NSBandit-Abrupt-v0:horizon=1e4 --agents 'beta-swts:window=100|316|1000|3162' sw-ucb --runs 20",
            "--env means.csv --agents my_module:Greedy:epsilon=0.1 ts --runs 20",
            "--env NSBandit-Piecewise-v0 --agents sb3:path=model.pt beta-swts",
            "comparison.toml --runs 200 --seed 7 --out results/comparison",
        ),
    )
    add = parser.add_argument
    add("description", nargs="?", help="a TOML file, in place of --env and --agents")
    add("--env", nargs="+", metavar="WORLD", help="ids, worlds or files of means, with :parameter=value,… if need be")
    agents = "names or package.module:Class, with :parameter=value,…; several values as value|value|…"
    add("--agents", nargs="+", metavar="AGENT", help=agents)
    add("--runs", type=positive, help=f"runs of each agent ({RUNS}, or as the file says)")
    add("--seed", type=natural, help=f"from which all seeds are derived ({SEED}, or as the file says)")
    add("--reference", help="the agent to which the others are compared (the first)")
    trust = (
        "load saved models (sb3:path=model.zip), which can run any code in them; those that SB3Agent.export wrote "
        "(model.pt) need no trust"
    )
    add("--trust-models", action="store_true", help=trust)

    def study(options: argparse.Namespace, common: dict[str, Any]) -> Any:
        from ..report.pipeline import Pipeline

        return Pipeline(_study(options), **common, trust_models=options.trust_models)

    return _closing(parser, "results/evaluation", arguments, study, simulate)


def _study(options: argparse.Namespace) -> Study:
    """Return the user's comparison as a study, from a file or from the arguments, which have the last word."""
    from ..studies.study import Study, experiment, read_study

    given = {key: getattr(options, key) for key in ("runs", "seed", "reference") if getattr(options, key) is not None}
    if options.description:
        for option in ("env", "agents"):
            if getattr(options, option) is not None:
                file = options.description
                raise ValueError(f"give a description or --{option}, not both: write {option} into {file}")
        study = read_study(options.description)
        return replace(study, experiments=tuple(replace(each, **given) for each in study.experiments))
    if not options.env or not options.agents:
        raise ValueError("name at least one world (--env) and one agent (--agents), or a TOML file")
    settings = {"runs": RUNS, "seed": SEED, **given}
    return Study("Comparison", (experiment(options.env, options.agents, **settings),))


QUICK = "Horizons are a tenth, with few runs: this tries the machinery and says little about the agents."


def leaderboard(
    arguments: Sequence[str] | None = None, command: str = "leaderboard", simulate: Simulate | None = None
) -> int:
    """Run what is missing, rank the agents and write the page; returns the exit code."""
    parser = Parser(
        command,
        "Play every agent on many kinds of worlds, told the facts of the world and told T, K and the law of rewards\n"
        "alone; rank them, and write a page with a guide in words. What is computed is stored: the same command\n"
        "continues where it stopped, and an agent of your own adds its own rows only.",
        (
            "",
            "--agents my_module:MyAgent",
            "--agents beta-swts:window=500 --division blind",
            "--quick --out results/look",
        ),
    )
    add = parser.add_argument
    beside = "agents beside those of the registry: names or package.module:Class"
    add("--agents", nargs="+", default=[], metavar="AGENT", help=beside)
    add("--division", choices=("informed", "blind"), help="play one division only (both)")
    add("--worlds", nargs="+", metavar="WORLD", help="worlds or families of worlds, by label (all)")
    add("--runs", type=positive, help="runs of each agent on each world (the world's own number)")
    parser.add_seed("from which all seeds are derived")
    add("--quick", action="store_true", help="a tenth of the rounds and few runs, to have a look")
    add("--snapshot", type=path, help="write Markdown, pictures and tables into this folder too")

    def study(options: argparse.Namespace, common: dict[str, Any]) -> Any:
        from ..leaderboard.page import Leaderboard
        from ..leaderboard.plan import DIVISIONS, chosen_worlds, plan_of, zoo_and
        from ..specs import AgentSpec

        players = zoo_and([AgentSpec.read(text) for text in options.agents])
        worlds = chosen_worlds(options.worlds, options.runs, options.quick)
        plan = plan_of(worlds, players, (options.division,) if options.division else DIVISIONS, options.seed)
        snapshot = None if options.snapshot is None else options.snapshot.absolute()
        return Leaderboard(plan=plan, warning=QUICK if options.quick else "", snapshot=snapshot, **common)

    return _closing(parser, "results/leaderboard", arguments, study, simulate)
