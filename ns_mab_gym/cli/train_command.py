"""``ns-mab-gym train``: train deep agents and compare them with the zoo."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import write_atomically
from .door import closing
from .training_options import described
from .training_options import training_parser as _parser

if TYPE_CHECKING:
    from ..deep.held_out import Case
    from ..deep.rivals import Rival
    from ..deep.training_folder import SeedFolder, TrainingFolder
    from ..rl.training import Trained, Training
    from ..runs import Runs

__all__ = ["main"]

EXTRAS = "training and its comparison need: pip install 'ns-mab-gym[rl,experiments]'"
STOPPED = "stopped; what was trained until the last checkpoint is saved, and the same command goes on"


def main(arguments: Sequence[str] | None = None, command: str = "train") -> int:
    """Train models on random worlds, save them, and compare them with the zoo on instances they have not seen."""
    return closing(_parser(command), arguments, _train, interrupted=STOPPED)


@dataclass(frozen=True)
class Plan:
    """Everything that was asked for, checked.

    Attributes:
        training: what is trained, with the first seed.
        seeds: the seeds of training.
        rivals: the agents to compare with.
        runs: of each agent in the comparison.
        tuning_runs: of each race of a rival's parameters; None to tune none.
        every: steps between two checkpoints.
        jobs: threads or processes of the comparison.
        refused: why some of the usual rivals do not play.
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
        """What the models are called together."""
        return f"sb3-{self.training.algo}"

    def label(self, seed: int) -> str:
        """What the model of one seed is called."""
        return self.name if len(self.seeds) == 1 else f"{self.name}, seed {seed}"


def _train(options: argparse.Namespace) -> Iterator[str]:
    try:
        import torch

        from ..deep.held_out import cases_of
        from ..deep.training_folder import TrainingFolder
        from ..figures.learning import learning_figure  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{error}; {EXTRAS}") from None
    plan = _planned(options)
    cases = cases_of(plan.training)
    folder = TrainingFolder(options.out, plan.training)
    try:
        torch.set_num_threads(options.threads)
        yield from _models_and_tables(plan, cases, folder)
    finally:
        folder.close()


def _models_and_tables(plan: Plan, cases: Sequence[Case], folder: TrainingFolder) -> Iterator[str]:
    from ..experiments.result_folders import guarded

    places = {seed: folder.of_seed(seed) for seed in plan.seeds}
    trained: dict[str, Trained] = {}
    for seed, place in places.items():
        model, said = _model(replace(plan.training, seed=seed), place, plan.every)
        trained[plan.label(seed)] = model
        yield said
    with guarded(folder.path, "write to"):
        folder.put_forward(plan.seeds[0])
    yield from (f"not played: {reason}" for reason in plan.refused)
    numbers = _judged(plan, cases, trained, folder.path)
    for case in cases:
        yield f"\n{_text(plan, case, numbers)}"


def _planned(options: argparse.Namespace) -> Plan:
    """What the options describe; everything is checked, and made once if need be, so that a mistake shows at once."""
    from ..deep.rivals import rivals_of
    from ..experiments.parsing import parse
    from ..experiments.preflight import env_of
    from ..experiments.study import AgentEntry, WorldEntry
    from ..rl.training import untrained

    asked = described(options)
    world, algo = parse(WorldEntry, asked["env"]), parse(AgentEntry, asked["algo"])
    env = env_of(world)
    if algo.label != algo.words or algo.note or algo.group:
        raise ValueError(f"an algorithm has hyperparameters alone, no label, note or group, got {asked['algo']!r}")
    if len(set(asked["seed"])) < len(asked["seed"]):
        raise ValueError(f"the seeds of training must differ, got {' '.join(map(str, asked['seed']))}")
    trainings = [_training(asked, world, algo, env, seed) for seed in asked["seed"]]
    rivals, refused = rivals_of(world, asked["agents"])
    _warn_of(world.label, env, untrained(trainings[0]), asked["timesteps"])
    tuning = None if options.no_tuning else asked["tuning_runs"]
    return Plan(
        trainings[0], asked["seed"], rivals, asked["runs"], tuning, asked["checkpoint_every"], options.jobs, refused
    )


def _warn_of(label: str, env: Any, model: Any, timesteps: int) -> None:
    """Say what can be trained, but perhaps should not."""
    from ..deep.held_out import is_fixed
    from ..rl.training import rounds_of

    if is_fixed(env):
        warnings.warn(
            f"{label} has the same means in every episode, which a model can learn by heart; it is judged on the "
            f"same means with the arms in another order, begun at another round; to train for that, use a random world",
            stacklevel=1,
        )
    rounds, horizon = rounds_of(model, timesteps), env.unwrapped.world.horizon
    if rounds < horizon:
        warnings.warn(
            f"each of the {model.n_envs} environments plays {rounds:,} rounds, and an episode has {horizon:,}: none is "
            f"played whole, and there is no learning curve; {model.n_envs * horizon:,} --timesteps play one in each",
            stacklevel=1,
        )


def _training(asked: Mapping[str, Any], world: Any, algo: Any, env: Any, seed: int) -> Training:
    from ..envs.bandit import NSBanditEnv
    from ..play.resolving import names_a_world
    from ..rl.training import Training

    if not isinstance(env.unwrapped, NSBanditEnv):
        raise ValueError(f"{world.label!r} is no environment of this package, whose vector twins are trained on")
    by_name = names_a_world(world.name)
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in algo.kwargs.items()}
    return Training(
        algo=algo.name,
        env="NSBandit-v0" if by_name else world.name,
        env_kwargs={"world": world.name, **world.kwargs} if by_name else world.kwargs,
        windows=tuple(asked["windows"]),
        timesteps=asked["timesteps"],
        seed=seed,
        settings={**asked["settings"], **settings},
        device=asked["device"],
        stagger=asked["stagger"],
        learn_from=asked["learn_from"],
    )


def _model(training: Training, place: SeedFolder, every: int) -> tuple[Trained, str]:
    """The model of one seed, trained now or before, and what to say of it."""
    if (kept := place.kept()) is not None:
        return kept, f"seed {training.seed}: {kept.steps:,} steps in {kept.seconds:,.0f} s, trained before"
    trained, saved = place.train(training, every, progress=True)
    return trained, f"seed {training.seed}: {trained.steps:,} steps in {trained.seconds:,.0f} s; {saved}"


def _judged(plan: Plan, cases: Sequence[Case], trained: Mapping[str, Trained], out: Path) -> dict[str, Any]:
    """Tune the rivals, play all cases, and write the numbers and figures."""
    from ..deep.held_out import contest, rows_of, training_env
    from ..deep.rivals import tuned
    from ..experiments.result_folders import guarded
    from ..experiments.valid_json import json_text

    rivals = plan.rivals
    if plan.tuning_runs is not None:
        rivals = tuned(rivals, training_env(plan.training), plan.tuning_runs)
    agents = {label: each.agent for label, each in trained.items()}
    played = {case.title: contest(case, agents, rivals, plan.runs, plan.jobs) for case in cases}
    rows = {title: rows_of(plan.name, trained, rivals, runs) for title, runs in played.items()}
    numbers = {
        "training": plan.training.to_dict(),
        "seeds": plan.seeds,
        "tuning_runs": plan.tuning_runs,
        "results": rows,
        "learning": {
            label: {"steps": each.curve.steps.tolist(), "regret": each.curve.regret.tolist()}
            for label, each in trained.items()
        },
    }
    with guarded(out, "write to"):
        _draw(plan, trained, played, out)
        write_atomically(out / "numbers.json", f"{json_text(numbers, indent=2)}\n".encode())
    return numbers


def _draw(plan: Plan, trained: Mapping[str, Trained], played: Mapping[str, Mapping[str, Runs]], out: Path) -> None:
    from ..deep.held_out import ABRUPT, HELD_OUT, INSTANCE
    from ..figures.compare_plot import Shown, compare_figure
    from ..figures.learning import learning_figure
    from ..figures.style import save_as

    files = {HELD_OUT: "regret.png", INSTANCE: "regret-seen.png", ABRUPT: "regret-abrupt.png"}
    curves = {label: (each.curve.steps, each.curve.regret) for label, each in trained.items() if each.curve.steps.size}
    levels = {label: float(runs.final.mean()) for label, runs in played[HELD_OUT].items() if label not in trained}
    if curves:
        save_as(learning_figure(plan.name, list(curves.values()), levels), out / "learning.png")
    for title, runs in played.items():
        save_as(compare_figure([Shown(title, runs)]), out / files[title])


def _text(plan: Plan, case: Case, numbers: Mapping[str, Any]) -> str:
    from ..deep.held_out import text_of

    horizon = case.env.unwrapped.world.horizon  # type: ignore[attr-defined]
    return text_of(case.title, horizon, numbers["results"][case.title], plan.seeds, case.note)
