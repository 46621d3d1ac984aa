"""The commands that choose and look: ``tune``, ``recommend``, ``diagnose`` and ``plot``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..agents.core.registry import is_number, read_value
from ..envs.bandit import NSBanditEnv
from ..files import file_name
from ..means import Floats
from ..rewards import Law
from ..specs import AgentSpec, WorldSpec
from ..theory.theorems import LEARNERS
from .logs import trials
from .parser import Parser, closing, path, positive, seconds

if TYPE_CHECKING:
    from ..logs.drift import Drift

MEASURED = 30  # changes from one round to the next, from which a table of means may be one of measured rates
WORLD = "an id, a world or a file of means (.csv, .parquet, .npz), with :parameter=value,… if need be"


def tune_parameters(arguments: Sequence[str] | None = None, command: str = "tune") -> int:
    """Tune an agent and print what was found; returns the exit code."""
    parser = Parser(
        command,
        "Find the best parameters of an agent for a world: candidates race on the same luck, and the best of them\n"
        "play other runs, which name the winner.",
        (
            "NSBandit-Abrupt-v0 beta-swts",
            "piecewise:n_arms=3,horizon=5000 sw-ucb:xi=0.6 --runs 2000",
            "means.csv gamma-swgts --space window=10:1000 --seconds 60",
            "NSBandit-Smooth-v0 kl-ucb --space c=0,1,3",
        ),
    )
    add = parser.add_argument
    add("world", help=WORLD)
    add("agent", help="an agent; parameters after a colon are not searched")
    _add_limits(parser)
    what = "what to search: low:high, low:high:scale (log, linear or memory), or values with commas between them"
    add("--space", nargs="+", metavar="PARAMETER=…", help=what)

    def work(options: argparse.Namespace) -> Iterator[str]:
        from ..tuning.tune import tune

        agent = AgentSpec.read(options.agent)
        space = None if options.space is None else dict(map(_searched, options.space))
        env = WorldSpec.read(options.world).env()
        yield str(tune(env, agent.name, space=space, agent_kwargs=agent.kwargs, **_limits(options)))

    return closing(parser, arguments, work)


def _add_limits(parser: Parser) -> None:
    """Add the options of a race of candidates: how long it takes, by the clock or in runs, its seed and its threads."""
    limit = "how long to search; compiling, once on each machine, is not counted (default: %(default)g)"
    parser.add_argument("--seconds", type=seconds, default=20.0, help=limit)
    runs = "runs that may be played instead; the result is then the same on every machine"
    parser.add_argument("--runs", type=positive, help=runs)
    parser.add_seed()
    parser.add_jobs()


def _limits(options: argparse.Namespace) -> dict[str, Any]:
    return {"seconds": options.seconds, "runs": options.runs, "seed": options.seed, "n_jobs": options.jobs}


def _searched(text: str) -> tuple[str, Any]:
    """Read a parameter, and the tuple or list of what to search, such as ``window=10:1000`` or ``window=10,20``."""
    name, _, values = text.partition("=")
    low, *high_and_scale = values.split(":")
    if not (name and values) or len(high_and_scale) > 2:
        raise ValueError(
            f"cannot read the space {text!r}; write window=10:1000 (low:high or low:high:scale) or window=10,20,50"
        )
    written = [low, *high_and_scale[:1]] if high_and_scale else values.split(",")
    numbers = [read_value(each) for each in written]
    for number, each in zip(numbers, written, strict=True):
        if not is_number(number):
            raise ValueError(f"{each!r} in the space {text!r} is not a number")
    return name, (*numbers, *high_and_scale[1:]) if high_and_scale else numbers


def recommend_agent(arguments: Sequence[str] | None = None, command: str = "recommend") -> int:
    """Race agents on a world and print the advice; returns the exit code."""
    parser = Parser(
        command,
        "Say which agent to play in a world, and with which parameters: several agents race on the same luck, and the\n"
        "best of them play other runs, which name the winner.",
        (
            "means.csv",
            "NSBandit-Smooth-v0 --seconds 60",
            "piecewise:changes=8,horizon=5000 --agents beta-swts gamma-swgts glr-ts --runs 3000",
        ),
    )
    parser.add_argument("world", help=WORLD)
    _add_limits(parser)
    may = "agents that may be recommended, simpler ones first (default: a dozen that are each best somewhere)"
    parser.add_argument("--agents", nargs="+", metavar="AGENT", help=may)

    def work(options: argparse.Namespace) -> Iterator[str]:
        from ..tuning.tune import recommend

        env = WorldSpec.read(options.world).env()
        yield str(recommend(env, agents=options.agents, **_limits(options)))

    return closing(parser, arguments, work)


def diagnose(arguments: Sequence[str] | None = None, command: str = "diagnose") -> int:
    """Describe and draw a world and recommend a window; with ``--measure``, play windows too; returns the exit code."""
    parser = Parser(
        command,
        "Tell what makes a world hard, draw it, and recommend a window, by a heuristic from the theorems' terms;\n"
        "with --measure, play a grid of windows and say what the recommended one loses.",
        (
            "NSBandit-Abrupt-v0",
            "piecewise:n_arms=3,horizon=5000 --seed 7 --measure",
            "means.csv --agent gamma-swgts --windows 100 1000",
            "rates.csv --trials 170",
        ),
    )
    add = parser.add_argument
    add("world", help=f"{WORLD}; a file has one column per arm")
    add(
        "--agent", help="whose window: beta-swts (the default, for rewards that are 0 or 1) or gamma-swgts (for others)"
    )
    stands = "the file holds measured rates: how many decisions each stands for, or a file of such numbers like it"
    add("--trials", type=trials, metavar="NUMBER|FILE", help=stands)
    add("--windows", type=positive, nargs="+", help="windows to draw, instead of the recommended one and two others")
    add("--out", type=path, default=Path("results"), help="folder of the pictures (default: %(default)s)")
    add("--measure", action="store_true", help="play a grid of windows and compare with the theory")
    add("--runs", type=positive, default=20, help="runs of each window (default: %(default)s)")
    parser.add_seed("of the runs and of a random world's instance")
    return closing(parser, arguments, _diagnose)


def _diagnose(options: argparse.Namespace) -> Iterator[str]:
    from ..agents.core.arguments import choice
    from ..figures.style import save_as
    from ..figures.theory import diagnosis_figure, measured_figure
    from ..theory import describe
    from ..tuning.diagnosis import compare_windows

    name, means, arms, law = means_of(options.world, options.seed)
    agent = choice("agent", options.agent or LEARNERS[0 if law.binary else 1], LEARNERS)
    if agent == LEARNERS[0] and not law.binary:
        raise ValueError(f"{agent} takes rewards that are 0 or 1, got {law.name} ones; ask for --agent {LEARNERS[1]}")
    if options.trials is not None:
        drift, means = _smoothed(means, arms, options.trials)
        yield f"{drift}\n\nThe smoothed rates as a world:"
    elif arms is not None:
        moved, rounds = np.count_nonzero(np.any(np.diff(means, axis=0), axis=1)), len(means) - 1
        if moved >= max(MEASURED, 0.9 * rounds):
            yield (
                f"note: {moved:,} of {rounds:,} rounds differ from the one before. If these are measured rates, they "
                f"are estimates, and most of what follows may be their noise: say with --trials how many decisions "
                f"each stands for.\n"
            )
    options.out.mkdir(parents=True, exist_ok=True)
    yield str(describe(means, agent=agent, subgaussian=law.subgaussian))
    stem = options.out / f"{name}-{agent}"
    figure = diagnosis_figure(means, agent, windows=options.windows, names=arms, subgaussian=law.subgaussian)
    save_as(figure, Path(f"{stem}-diagnosis.png"))
    yield f"\npicture: {stem}-diagnosis.png"
    if options.measure:
        comparison = compare_windows(means, agent, law=law, runs=options.runs, seed=options.seed)
        save_as(measured_figure(means, comparison), Path(f"{stem}-measured.png"))
        yield f"\n{comparison}\npicture: {stem}-measured.png"


def _smoothed(rates: Floats, arms: list[str] | None, trials: int | str) -> tuple[Drift, Floats]:
    """Return the drift of measured rates, and their smoothed curves, one row for each of theirs."""
    from ..logs.log import Log
    from ..logs.reading import numbers_of

    counts = np.broadcast_to(numbers_of(trials, "trials"), rates.shape)
    if np.any((rates < 0) | (rates > 1)):
        raise ValueError("--trials is for rates, from 0 to 1; leave it out for other means")
    drift = Log.from_counts(np.round(rates * counts), counts, names=arms).drift()
    rows = np.arange(1.0, len(rates) + 1)
    return drift, np.column_stack([np.interp(rows, drift.times, curve) for curve in drift.curves.T])


def plot(arguments: Sequence[str] | None = None, command: str = "plot") -> int:
    """Draw the means of worlds (the paper's four if none is named), the best arm above them; returns the exit code."""
    parser = Parser(
        command,
        "Draw the means of worlds, the best arm above them; the paper's four worlds if none is named.",
        ("", "NSBandit-Smooth-v0 piecewise:n_arms=3,horizon=500 means.csv --seed 7 --out worlds.svg"),
    )
    add = parser.add_argument
    add("worlds", nargs="*", metavar="WORLD", help=WORLD)
    add("--out", type=path, default=Path("results/worlds.png"), help="the picture, .png, .svg or .pdf (%(default)s)")
    parser.add_seed("of the instances of random worlds")

    def work(options: argparse.Namespace) -> Iterator[str]:
        from ..figures.style import save_as
        from ..figures.worlds import PAPER, gallery_figure

        worlds = options.worlds or PAPER
        found = {PAPER.get(text, text): means_of(text, options.seed)[1:3] for text in worlds}
        options.out.parent.mkdir(parents=True, exist_ok=True)
        arms = {title: names for title, (_, names) in found.items()}
        save_as(gallery_figure({title: means for title, (means, _) in found.items()}, arms), options.out)
        yield f"picture: {options.out} ({options.out.stat().st_size / 1024:.0f} KB)"

    return closing(parser, arguments, work)


def means_of(text: str, seed: int) -> tuple[str, Floats, list[str] | None, Law]:
    """Return a name for files, the means of the instance of this seed, the arms' names in a file, and the law."""
    from ..studies.study import header_of

    world = WorldSpec.read(text).with_files()
    env = world.env()
    bandit = env.unwrapped
    if not isinstance(bandit, NSBanditEnv):
        raise ValueError(f"{text!r} does not tell its means; name a world of this suite or a file of means")
    env.reset(seed=seed)
    if world.file is not None:
        return (
            file_name(world.file.stem, instead="means", keep=".=,-"),
            bandit.means,
            header_of(world.kwargs["path"]),
            bandit.law,
        )
    return file_name(world.text, instead="world", keep=".=,-"), bandit.means, None, bandit.law
