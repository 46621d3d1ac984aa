"""The command lines behind ``scripts/paper.py`` and ``scripts/evaluate.py``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import paper, words
from .check import MODEL
from .claims import CLAIMS, observations
from .job import Job
from .runner import Simulate
from .spec import Experiment, Study
from .store import StoreError

if TYPE_CHECKING:
    from ..engine import Runs

__all__ = ["evaluate", "reproduce"]


def reproduce(arguments: Sequence[str] | None = None, simulate: Simulate | None = None) -> int:
    """Run the paper's experiments; returns the exit code."""
    parser = argparse.ArgumentParser(description="Reproduce the paper's experiments and judge its claims.")
    parser.add_argument("--runs", type=int, default=paper.RUNS, help="runs of each agent (%(default)s)")
    parser.add_argument("--horizon", type=int, default=paper.HORIZON, help="rounds of each run (%(default)s)")
    _common(parser, "results/paper")
    given = parser.parse_args(arguments)

    def job() -> Job:
        study = paper.study(given.runs, given.horizon, given.seed)
        warning = _smaller(given.horizon)
        engine = simulate or _simulate
        return Job(study, Path(given.out), engine, given.jobs, CLAIMS, paper.NOTES, observations, True, warning)

    return _finish(job)


def _smaller(horizon: int) -> str:
    """A warning where the verdicts are not about the paper's experiments."""
    if horizon == paper.HORIZON:
        return ""
    same = f"the paper's is {paper.HORIZON:,}, and its smooth worlds do not shrink with it"
    return f"The horizon is {horizon:,} ({same}): these verdicts try the machinery and say nothing about the paper."


def evaluate(arguments: Sequence[str] | None = None, simulate: Simulate | None = None) -> int:
    """Compare agents on worlds of the user's choice; returns the exit code."""
    parser = argparse.ArgumentParser(
        description="Compare agents. Describe the comparison in a TOML file, or in words: "
        "--env NSBandit-Smooth-v0 means.csv --agents beta-swts beta-swts:window=500 sw-ucb",
    )
    parser.add_argument("description", nargs="?", help="a TOML file")
    parser.add_argument(
        "--env", nargs="+", default=[], metavar="WORLD", help="ids (id:parameter=value,…), files of means"
    )
    parser.add_argument("--agents", nargs="+", default=[], metavar="AGENT", help="names, name:parameter=value,…")
    parser.add_argument("--runs", type=int, help="runs of each agent (50)")
    parser.add_argument("--reference", help="the agent to which the others are compared (the first)")
    _common(parser, "results/evaluation")
    given = parser.parse_args(arguments)
    return _finish(lambda: Job(_study(given), Path(given.out), simulate or _simulate, given.jobs))


def _common(parser: argparse.ArgumentParser, folder: str) -> None:
    parser.add_argument("--seed", type=int, default=0, help="from which all seeds are derived (%(default)s)")
    parser.add_argument("--out", default=folder, help="folder of results (%(default)s)")
    parser.add_argument("--jobs", type=int, help="threads (all cores)")


def _study(given: argparse.Namespace) -> Study:
    """The user's comparison, from a file or from words."""
    if given.description and (given.env or given.agents or given.runs or given.reference):
        raise ValueError("give a description or words (--env, --agents, --runs, --reference), not both")
    if given.description:
        experiment: Experiment = words.read_toml(given.description)
        return Study(f"Comparison: {Path(given.description).stem}", (experiment,))
    if not given.env or not given.agents:
        raise ValueError("name at least one world (--env) and one agent (--agents), or a TOML file")
    settings = {
        "runs": 50 if given.runs is None else given.runs,
        "seed": given.seed,
        "reference": given.reference or "",
    }
    return Study("Comparison", (words.experiment(given.env, given.agents, **settings),))


def _simulate(env: str, agent: str, **settings: Any) -> Runs:
    """The engine: compiled for the zoo, the generic loop for a saved model."""
    if agent == MODEL:
        from .. import rl  # torch, for those who ask for it

        return rl.simulate(env, agent, **settings)
    from ..engine import simulate

    return simulate(env, agent, **settings)


def _finish(job: Callable[[], Job]) -> int:
    """Run a job and tell how it went: bad input and a full disk in one line, Ctrl-C with what to do next."""
    try:
        lines = job().run()
    except (ValueError, TypeError, StoreError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; what is computed is stored: run the same command to go on", file=sys.stderr)
        return 130
    print("\n".join(lines))
    return 0
