"""``ns-mab-gym train``: train deep agents and compare them with agents of the registry."""

from __future__ import annotations

import argparse
import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    "runs": 200, "seed": [0], "agents": None, "device": "cpu", "checkpoint_every": 250_000, "tuning_runs": 2_000,
    "settings": {}, "stagger": False, "learn_from": "regret",
}  # fmt: skip
COUNTS = ("timesteps", "runs", "checkpoint_every", "tuning_runs")
LISTS: dict[str, Callable[[str], Any]] = {"windows": positive, "seed": natural, "agents": str}


def main(arguments: Sequence[str] | None = None, command: str = "train") -> int:
    """Train models on random worlds, save them, and compare them with other agents on instances they have not seen."""
    parser = Parser(command, DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    add("description", nargs="?", help="a TOML file with any of the options below and settings = {…}")
    add("--algo", help="ppo, a2c, recurrent-ppo, maskable-ppo, trpo, dqn or qr-dqn, with :parameter=value,… (ppo)")
    add("--env", metavar="WORLD", help=f"an id or a world with :parameter=value,… ({DEFAULTS['env']})")
    add("--timesteps", type=positive, help="environment steps of each model (3e6)")
    add("--windows", type=positive, nargs="*", help="of the statistics that the model sees (30 150)")
    add("--stagger", action=argparse.BooleanOptionalAction, help="begin first episodes in different rounds (no)")
    add("--learn-from", metavar="regret|reward", help="the expected loss of an arm, or what was drawn (regret)")
    add("--seed", type=natural, nargs="+", help="of training; a model is trained for each (0)")
    add("--runs", type=positive, help="held-out instances to play (200)")
    add("--agents", nargs="+", metavar="AGENT", help="the rivals, with :parameter=value,… (nine of the registry)")
    add("--tuning-runs", type=positive, help="runs for tuning each rival without parameters (2000)")
    add("--no-tuning", action="store_true", help="rivals as their papers tune them, and no more")
    add("--checkpoint-every", type=positive, metavar="STEPS", help="steps after which a training is saved (250000)")
    add("--device", help="where torch computes: cpu, cuda, auto (cpu)")
    add("--threads", type=threads, default=1, help="of torch; small networks gain little from more (%(default)s)")
    parser.add_jobs("threads or processes of the comparison")
    folder = "folder to write, or one of your own to go on in (%(default)s)"
    add("--out", type=path, default=Path("results/sb3"), help=folder)
    return closing(parser, arguments, _train, interrupted=STOPPED)


@dataclass(frozen=True)
class TrainingPlan:
    """The training and the comparison that the options describe, checked.

    Attributes:
        training: the training with the first seed.
        seeds: the seeds of training.
        rivals: the agents to compare with.
        runs: of each agent in the comparison.
        tuning_runs: of each race of a rival's parameters; None to tune none.
        every: steps between two checkpoints.
        jobs: threads or processes of the comparison.
        refused: the reasons for which some of the usual rivals do not play.
    """

    training: Training
    seeds: list[int]
    rivals: list[Rival]
    runs: int
    tuning_runs: int | None
    every: int
    jobs: int | None
    refused: list[str]

    @property
    def name(self) -> str:
        """The name of the models together."""
        return f"sb3-{self.training.algo}"


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
    plan = _planned(options)
    cases = cases_of(plan.training)
    with contextlib.closing(TrainingFolder(options.out, plan.training)) as folder:
        torch.set_num_threads(options.threads)
        trained: dict[str, Trained] = {}
        for seed, place in [(seed, folder.of_seed(seed)) for seed in plan.seeds]:
            if (model := place.kept()) is not None:
                said = ", trained before"
            else:
                model, saved = place.train(plan.every, progress=True)
                said = f"; {saved}"
            trained[plan.name if len(plan.seeds) == 1 else f"{plan.name}, seed {seed}"] = model
            yield f"seed {seed}: {model.steps:,} steps in {model.seconds:,.0f} s{said}"
        with guarded(folder.path, "write to"):
            folder.put_forward(plan.seeds[0])
        yield from (f"not played: {reason}" for reason in plan.refused)
        rows = _judged(plan, cases, trained, folder.path)
        for case in cases:
            horizon = case.env.unwrapped.world.horizon  # type: ignore[attr-defined]
            yield f"\n{text_of(case.title, horizon, rows[case.title], plan.seeds, case.note)}"


def _planned(options: argparse.Namespace) -> TrainingPlan:
    """Check everything that the options describe, and make it once if need be, so that a mistake shows at once."""
    from ..deep.comparison import is_fixed, rivals_of
    from ..envs.bandit import NSBanditEnv
    from ..rl.training import Training, rounds_of, untrained
    from ..specs import AgentSpec, WorldSpec, names_a_world

    asked = _described(options)
    world, algo = WorldSpec.read(asked["env"]), AgentSpec.read(asked["algo"])
    env: Any = world.env()
    if algo.label != algo.text or algo.note or algo.group:
        raise ValueError(f"an algorithm has hyperparameters alone, no label, note or group, got {asked['algo']!r}")
    if len(set(asked["seed"])) < len(asked["seed"]):
        raise ValueError(f"the seeds of training must differ, got {' '.join(map(str, asked['seed']))}")
    if not isinstance(env.unwrapped, NSBanditEnv):
        raise ValueError(f"{world.label!r} is no environment of this package, whose vector twins are trained on")
    by_name = names_a_world(world.name)
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in algo.kwargs.items()}
    training, *_ = [
        Training(
            algo=algo.name,
            env="NSBandit-v0" if by_name else world.name,
            env_kwargs={"world": world.name, **world.kwargs} if by_name else world.kwargs,
            windows=tuple(asked["windows"]),
            seed=seed,
            settings={**asked["settings"], **settings},
            **{key: asked[key] for key in ("timesteps", "device", "stagger", "learn_from")},
        )
        for seed in asked["seed"]
    ]
    rivals, refused = rivals_of(world, asked["agents"])
    model = untrained(training)
    if is_fixed(env):
        warnings.warn(
            f"{world.label} has the same means in every episode, which a model can learn by heart; it is judged on the "
            f"same means with the arms in another order, begun at another round; to train for that, use a random world",
            stacklevel=1,
        )
    rounds, horizon = rounds_of(model, asked["timesteps"]), env.unwrapped.world.horizon
    if rounds < horizon:
        warnings.warn(
            f"each of the {model.n_envs} environments plays {rounds:,} rounds, and an episode has {horizon:,}: none is "
            f"played whole, and there is no learning curve; {model.n_envs * horizon:,} --timesteps play one in each",
            stacklevel=1,
        )
    tuning = None if options.no_tuning else asked["tuning_runs"]
    return TrainingPlan(
        training, asked["seed"], rivals, asked["runs"], tuning, asked["checkpoint_every"], options.jobs, refused
    )


def _judged(plan: TrainingPlan, cases: Sequence[Case], trained: Mapping[str, Trained], out: Path) -> dict[str, Any]:
    """Tune the rivals, play all cases, and write the numbers and figures; returns the rows of each case."""
    from ..deep.comparison import ABRUPT, HELD_OUT, INSTANCE, played_together, rows_of, training_env, tuned
    from ..figures.learning import learning_figure
    from ..figures.regret import WorldCurves, compare_figure
    from ..figures.style import save_as
    from ..studies.store import guarded
    from ..studies.tables import json_text

    rivals = plan.rivals
    if plan.tuning_runs is not None:
        rivals = tuned(rivals, training_env(plan.training), plan.tuning_runs)
    agents = {label: each.agent for label, each in trained.items()}
    played = {case.title: played_together(case, agents, rivals, plan.runs, plan.jobs) for case in cases}
    rows = {title: rows_of(plan.name, trained, rivals, runs) for title, runs in played.items()}
    numbers = {
        "training": plan.training.to_dict(),
        "seeds": plan.seeds,
        "tuning_runs": plan.tuning_runs,
        "results": rows,
        "learning": {label: each.curve.to_dict() for label, each in trained.items()},
    }
    files = {HELD_OUT: "regret.png", INSTANCE: "regret-seen.png", ABRUPT: "regret-abrupt.png"}
    curves = [(each.curve.steps, each.curve.regret) for each in trained.values() if each.curve.steps.size]
    levels = {label: float(runs.final.mean()) for label, runs in played[HELD_OUT].items() if label not in trained}
    with guarded(out, "write to"):
        if curves:
            save_as(learning_figure(plan.name, curves, levels), out / "learning.png")
        for title, runs in played.items():
            save_as(compare_figure([WorldCurves(title, runs)]), out / files[title])
        write_atomically(out / "numbers.json", f"{json_text(numbers, indent=2)}\n".encode())
    return rows


def _described(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of a training: the usual ones, over them those of the file, over them the options."""
    from ..agents.core.arguments import known_parameters
    from ..agents.core.text import plain
    from ..studies.study import toml_content

    given = {key: value for key in DEFAULTS if (value := getattr(options, key, None)) is not None}
    if not (file := options.description):
        return {**DEFAULTS, **given}
    read = plain(toml_content(Path(file)))
    try:
        known_parameters("the description", read, tuple(DEFAULTS))
        return {**DEFAULTS, **{key: _value(key, value) for key, value in read.items()}, **given}
    except (TypeError, ValueError, argparse.ArgumentTypeError) as error:
        raise ValueError(f"{file!r}: {error}") from None


def _value(key: str, value: Any) -> Any:
    """Return a value of the file, checked as the option of the same name is."""
    if key == "settings":
        if not isinstance(value, Mapping):
            raise ValueError(f"settings must be a table, such as settings = {{n_steps = 64}}, got {value!r}")
        return dict(value)
    if key in LISTS:
        values, read = value if isinstance(value, list) else [value], LISTS[key]
        if not values and key != "windows":
            raise ValueError(f"{key} must name one or more, got none; leave it out for the usual")
        return [_read(key, read, each) for each in values]
    if key == "stagger":
        if not isinstance(value, bool):
            raise ValueError(f"{key} must be true or false, got {value!r}")
        return value
    if key in COUNTS:
        return _read(key, positive, value)
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a text, got {value!r}")
    return value


def _read(key: str, read: Callable[[str], Any], value: Any) -> Any:
    if read is str and not isinstance(value, str):
        raise ValueError(f"{key} must be texts, got {value!r}")
    try:
        return read(str(value))
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{key} {error}") from None
