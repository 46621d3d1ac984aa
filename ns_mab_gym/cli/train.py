"""``ns-mab-gym train``: train deep agents and compare them with agents of the registry."""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import write_atomically
from .parser import Parser, closing, natural, path, positive, threads

if TYPE_CHECKING:
    from ..deep.comparison import Case, Rival
    from ..rl.training import Trained, Training

EXTRAS = "training and its comparison need: pip install 'ns-mab-gym[rl,experiments]'"
STOPPED = "stopped; what was trained until the last checkpoint is saved, and the same command goes on"
DESCRIPTION = """\
Train a model of Stable-Baselines3 on random worlds, save it, and compare it with agents of the registry on instances
that it has not seen: each rival by its own formula, and tuned on yet other instances. What is trained is stored: the
same command goes on where it stopped, and a model that was interrupted ends with the same weights as one that was not.

Hyperparameters follow the algorithm: ppo:learning_rate=3e-4,n_steps=64,net_arch=64,64. Or everything stands in a file,
over which options have the last word:

  algo = "ppo"
  env = "piecewise:n_arms=5,horizon=1000,changes=4"
  timesteps = 5e6
  seed = [0, 1, 2]
  settings = {learning_rate = 3e-4, net_arch = [64, 64]}

To go on loads what is pickled in the folder, and runs code that is in it: --out must be a folder of your own.

The saved model plays wherever agents play: sb3:path=results/sb3/model.pt. It runs no code; model.zip beside it can be
trained further, and other commands load it only with --trust-models, since loading it can run any code in it.
"""
EXAMPLES = (
    "--algo ppo --timesteps 3e6 --seed 0 1 2 --out results/ppo",
    "--env piecewise:n_arms=5,horizon=1000,changes=4 --windows 50 200 --algo dqn:gamma=0.5",
    "--algo recurrent-ppo:lstm_hidden_size=32 --windows --agents sw-ucb glr-ts sw-ucb:window=100",
    "training.toml --runs 500 --no-tuning --out results/mine",
)
DEFAULTS: dict[str, Any] = {
    "algo": "ppo", "env": "NSBandit-Piecewise-v0:n_arms=10,horizon=1000", "timesteps": 3_000_000, "windows": [30, 150],
    "runs": 200, "seed": [0], "device": "cpu", "checkpoint_every": 250_000, "tuning": True, "tuning_runs": 2_000,
    "settings": {}, "stagger": False, "learn_from": "regret", "threads": 1, "out": Path("results/sb3"),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None, command: str = "train") -> int:
    """Train models on random worlds, save them, and compare them with other agents on instances they have not seen."""
    parser, given = Parser(command, DESCRIPTION, EXAMPLES), sys.argv[1:] if arguments is None else arguments
    add, either = parser.add_argument, argparse.BooleanOptionalAction
    add("description", nargs="?", help="a TOML file with any of the options below and settings = {…}")
    add("--algo", help="ppo, a2c, recurrent-ppo, maskable-ppo, trpo, dqn or qr-dqn, with :parameter=value,… (ppo)")
    add("--env", metavar="WORLD", help="an id or a world with :parameter=value,… (%(default)s)")
    add("--timesteps", type=positive, help="environment steps of each model (3e6)")
    add("--windows", type=positive, nargs="*", help="rounds over which the model is shown statistics (30 150)")
    add("--stagger", action=either, help="let the environments begin in different rounds of their first episode (no)")
    add("--learn-from", metavar="regret|reward", help="rewards in training: minus the regret, or as drawn (regret)")
    add("--seed", type=natural, nargs="+", help="seeds of training; a model is trained for each (0)")
    add("--runs", type=positive, help="held-out instances to play (200)")
    add("--agents", nargs="+", metavar="AGENT", help="the rivals, with :parameter=value,… (nine of the registry)")
    add("--tuning-runs", type=positive, help="runs for tuning each rival that is named without parameters (2000)")
    add("--tuning", action=either, help="play rivals with tuned parameters too, not with their papers' alone (yes)")
    add("--checkpoint-every", type=positive, metavar="STEPS", help="steps between two checkpoints (250000)")
    add("--device", help="where torch computes: cpu, cuda, auto (cpu)")
    add("--threads", type=threads, help="threads of torch; small networks gain little from more (%(default)s)")
    parser.add_jobs("threads or processes of the comparison")
    add("--out", type=path, help="folder to write, or one of your own to go on in (%(default)s)")
    parser.set_defaults(**DEFAULTS)

    def work(options: argparse.Namespace) -> Iterator[str]:
        if options.description:  # what it says is overwritten by what was typed
            options = parser.parse_args(given, _described(parser, options.description))
        return _train(options)

    return closing(parser, arguments, work, interrupted=STOPPED)


def _described(parser: Parser, file: str) -> argparse.Namespace:
    """Return the options that a TOML file describes, read as if they had been typed."""
    from ..agents.core.arguments import by_name, known_parameters
    from ..agents.core.registry import plain
    from ..studies.study import toml_content

    read, usual = plain(toml_content(Path(file))), vars(parser.parse_args([]))
    try:
        known_parameters("the description", read, [name for name in usual if name not in ("description", "debug")])
        settings, words = by_name("settings", read.pop("settings", None)), []
        for name, value in read.items():
            option, kind = name.replace("_", "-"), type(usual[name])
            if kind in (bool, str) and type(value) is not kind:
                raise ValueError(f"{name} must be {'a text' if kind is str else 'true or false'}, got {value!r}")
            if kind is bool:
                words.append(f"--{option}" if value else f"--no-{option}")
            else:
                words += [f"--{option}", *map(str, value)] if isinstance(value, list) else [f"--{option}={value}"]
        return argparse.Namespace(**{**vars(parser.parse_args(words)), "settings": settings})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file!r}: {error}") from None


def _train(options: argparse.Namespace) -> Iterator[str]:
    """Train the models that are not trained yet, then compare them; yields the lines to print."""
    try:
        import torch

        from ..deep.comparison import cases_of, text_of
        from ..deep.folder import TrainingFolder
        from ..figures.learning import learning_figure  # noqa: F401
        from ..studies.store import guarded
    except ImportError as error:
        raise ImportError(f"{error}; {EXTRAS}") from None
    training, rivals, refused = _planned(options)
    name, cases = f"sb3-{training.algo}", cases_of(training)
    with contextlib.closing(TrainingFolder(options.out, training)) as folder:
        torch.set_num_threads(options.threads)
        trained: dict[str, Trained] = {}
        for seed, place in [(seed, folder.of_seed(seed)) for seed in options.seed]:
            if (model := place.kept()) is not None:
                said = ", trained before"
            else:
                model, saved = place.train(options.checkpoint_every, progress=True)
                said = f"; {saved}"
            trained[name if len(options.seed) == 1 else f"{name}, seed {seed}"] = model
            yield f"seed {seed}: {model.steps:,} steps in {model.seconds:,.0f} s{said}"
        with guarded(folder.path, "write to"):
            folder.put_forward(options.seed[0])
        yield from (f"not played: {reason}" for reason in refused)
        rows = _judged(options, training, rivals, cases, trained)
        for case in cases:
            horizon = case.env.unwrapped.world.horizon  # type: ignore[attr-defined]
            yield f"\n{text_of(case.title, horizon, rows[case.title], options.seed, case.note)}"


def _planned(options: argparse.Namespace) -> tuple[Training, list[Rival], list[str]]:
    """Check everything that the options describe, and make it once if need be, so that a mistake shows at once.

    Returns:
        The training with the first seed, the rivals, and the reasons for which some of the usual ones do not play.
    """
    from ..deep.comparison import rivals_of
    from ..envs.bandit import NSBanditEnv
    from ..rl.training import Training, rounds_of, untrained
    from ..specs import AgentSpec, WorldSpec, names_a_world

    world, algo = WorldSpec.read(options.env), AgentSpec.read(options.algo)
    env: Any = world.env()
    if algo.label != algo.text or algo.note or algo.group:
        raise ValueError(f"an algorithm has hyperparameters alone, no label, note or group, got {options.algo!r}")
    if len(set(options.seed)) < len(options.seed):
        raise ValueError(f"the seeds of training must differ, got {' '.join(map(str, options.seed))}")
    if not isinstance(env.unwrapped, NSBanditEnv):
        raise ValueError(f"{world.label!r} is no environment of this package, whose vector twins are trained on")
    by_name = names_a_world(world.name)
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in algo.kwargs.items()}
    training, *_ = [
        Training(
            algo=algo.name,
            env="NSBandit-v0" if by_name else world.name,
            env_kwargs={"world": world.name, **world.kwargs} if by_name else world.kwargs,
            windows=tuple(options.windows),
            seed=seed,
            settings={**options.settings, **settings},
            **{key: getattr(options, key) for key in ("timesteps", "device", "stagger", "learn_from")},
        )
        for seed in options.seed
    ]
    rivals, refused = rivals_of(world, options.agents)
    model = untrained(training)
    if not env.unwrapped.world.random:
        warnings.warn(
            f"{world.label} has the same means in every episode, which a model can learn by heart; it is judged on the "
            f"same means with the arms in another order, begun at another round; to train for that, use a random world",
            stacklevel=1,
        )
    rounds, horizon = rounds_of(model, options.timesteps), env.unwrapped.world.horizon
    if rounds < horizon:
        warnings.warn(
            f"each of the {model.n_envs} environments plays {rounds:,} rounds, and an episode has {horizon:,}: none is "
            f"played whole, and there is no learning curve; {model.n_envs * horizon:,} --timesteps play one in each",
            stacklevel=1,
        )
    return training, rivals, refused


def _judged(
    options: argparse.Namespace,
    training: Training,
    rivals: Sequence[Rival],
    cases: Sequence[Case],
    trained: Mapping[str, Trained],
) -> dict[str, Any]:
    """Tune the rivals, play all cases, and write the numbers and figures; returns the rows of each case."""
    from ..deep.comparison import ABRUPT, HELD_OUT, INSTANCE, played_together, rows_of, training_env, tuned
    from ..figures.learning import learning_figure
    from ..figures.regret import WorldCurves, compare_figure
    from ..figures.style import save_as
    from ..studies.store import guarded
    from ..studies.tables import json_text

    if options.tuning:
        rivals = tuned(rivals, training_env(training), options.tuning_runs)
    name, agents = f"sb3-{training.algo}", {label: each.agent for label, each in trained.items()}
    played = {case.title: played_together(case, agents, rivals, options.runs, options.jobs) for case in cases}
    rows = {title: rows_of(name, trained, rivals, runs) for title, runs in played.items()}
    numbers = {
        "training": training.to_dict(),
        "seeds": options.seed,
        "tuning_runs": options.tuning_runs if options.tuning else None,
        "results": rows,
        "learning": {label: each.curve.to_dict() for label, each in trained.items()},
    }
    files = {HELD_OUT: "regret.png", INSTANCE: "regret-seen.png", ABRUPT: "regret-abrupt.png"}
    curves = [(each.curve.steps, each.curve.regret) for each in trained.values() if each.curve.steps.size]
    levels = {label: float(runs.final.mean()) for label, runs in played[HELD_OUT].items() if label not in trained}
    with guarded(options.out, "write to"):
        if curves:
            save_as(learning_figure(name, curves, levels), options.out / "learning.png")
        for title, runs in played.items():
            save_as(compare_figure([WorldCurves(title, runs)]), options.out / files[title])
        write_atomically(options.out / "numbers.json", f"{json_text(numbers, indent=2)}\n".encode())
    return rows
