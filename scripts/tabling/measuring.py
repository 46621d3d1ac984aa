"""Trains the models of the table and compares them world by world."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ns_mab_gym.choosing.best_parameters import tune
from ns_mab_gym.deep.algorithms_contest import compare_algorithms
from ns_mab_gym.deep.held_out import cases_of, training_env
from ns_mab_gym.deep.rivals import TUNING_SEED, Rival, rivals_of, tuned
from ns_mab_gym.deep.side_by_side import Model, train_side_by_side
from ns_mab_gym.deep.strongest_rivals import strongest, zoo_race
from ns_mab_gym.deep.training_folder import TrainingFolder
from ns_mab_gym.experiments.study import WorldEntry
from ns_mab_gym.experiments.valid_json import json_text
from ns_mab_gym.files import write_atomically
from ns_mab_gym.rl.training import EVERY, Trained, Training
from tabling.plain_index import SPACE, PlainIndex
from tabling.sizes import Size

__all__ = ["PLAIN", "Name", "measured"]

STRONGEST = 2  # of the zoo, beside those that always play
PLAIN = "plain index, tuned"


class Name(NamedTuple):
    """Which model it is."""

    world: str
    algorithm: str
    seed: int

    def __str__(self) -> str:
        return f"{self.world}, {self.algorithm}, seed {self.seed}"


def measured(size: Size, out: Path, jobs: int) -> Generator[str, None, dict[str, Any]]:
    """Train and compare everything; yields what to say meanwhile, and returns the figures."""
    torch.set_num_threads(1)  # so small networks gain nothing from more
    models = {}
    for name, model in trained(size, out, jobs):
        models[name] = model
        yield f"{name}: {model.steps:,} steps in {model.seconds:,.0f} s"
    worlds = yield from compared(size, out, models)
    about = {"arms": size.arms, "horizon": size.horizon, "runs": size.runs, "tuning_runs": size.tuning_runs}
    figures: dict[str, Any] = _rounded({**about, "seeds": list(size.seeds), "worlds": worlds})
    return figures


def trained(size: Size, out: Path, jobs: int) -> Iterator[tuple[Name, Trained]]:
    """Train all models, so many at once, each when it is done; the folder of an algorithm on a world has its seeds."""
    names = [Name(world, name, seed) for name, world, seed in product(size.algorithms, size.worlds, size.seeds)]
    with ExitStack() as leaving:
        folders: dict[tuple[str, str], TrainingFolder] = {}
        models = {}
        for name in names:
            training, pair = size.training(name.algorithm, name.world, name.seed), (name.world, name.algorithm)
            if pair not in folders:
                folder = TrainingFolder(_folder(out, name.world) / _file_name(name.algorithm), training)
                folders[pair] = leaving.enter_context(closing(folder))
            models[name] = Model(training, folders[pair].of_seed(name.seed))
        yield from train_side_by_side(models, jobs, EVERY)
        for folder in folders.values():
            folder.put_forward(size.seeds[0])


def compared(size: Size, out: Path, models: Mapping[Name, Trained]) -> Generator[str, None, dict[str, dict[str, Any]]]:
    """Find the strongest of the zoo, play held-out instances, and write ``numbers.json`` of each world.

    The rivals are the same in all worlds: those that always play, and the strongest of each world.
    """
    races, seconds, worlds = {}, {}, {}
    for world, entry in size.worlds.items():
        began = time.perf_counter()
        races[world] = zoo_race(entry, training_env(_any_training(size, world)), size.race_runs, size.zoo)
        seconds[world] = time.perf_counter() - began
        yield f"{world}: the zoo raced in {seconds[world]:,.0f} s"
    names = list(
        dict.fromkeys([*size.rivals, *(name for race in races.values() for name in strongest(race, STRONGEST))])
    )
    for world, entry in size.worlds.items():
        began, training = time.perf_counter(), _any_training(size, world)
        rivals = _rivals(size, entry, training_env(training), names)
        of_world = {name: {seed: models[Name(world, name, seed)] for seed in size.seeds} for name in size.algorithms}
        numbers = compare_algorithms(cases_of(training)[0], of_world, rivals, size.runs)
        about = {"world": _words(entry.kwargs), "race": [placed._asdict() for placed in races[world]]}
        spent = {"race_seconds": seconds[world], "seconds": time.perf_counter() - began}
        found = {**about, **numbers, **spent}
        write_atomically(_folder(out, world) / "numbers.json", f"{json_text(found, indent=2)}\n".encode())
        worlds[world] = found
        yield f"{world}: tuned and played in {found['seconds']:,.0f} s"
    return worlds


def _any_training(size: Size, world: str) -> Training:
    return size.training(next(iter(size.algorithms)), world, size.seeds[0])


def _rivals(size: Size, entry: WorldEntry, env: Any, names: Sequence[str]) -> list[Rival]:
    """Those that play, each also tuned, and the plain index."""
    found, _ = rivals_of(entry, names)
    plain = tune(env, PlainIndex, space=SPACE, runs=size.tuning_runs, seed=TUNING_SEED)
    steps = plain.spent.runs * size.horizon
    return [
        *tuned(found, env, size.tuning_runs),
        Rival(PLAIN, PlainIndex, plain.parameters, steps, plain.spent.seconds),
    ]


def _folder(out: Path, world: str) -> Path:
    return out / _file_name(world)


def _file_name(label: str) -> str:
    """A label as the name of a folder.

    >>> _file_name("PPO, a rate of 0.001")
    'ppo-a-rate-of-0-001'
    """
    return "-".join(re.findall(r"[a-z0-9]+", label.lower()))


def _rounded(value: Any) -> Any:
    """The same with six digits of every number, which nobody quotes more of."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _words(given: Mapping[str, Any]) -> str:
    """A world as one would type it."""
    return f"{given['world']}:" + ",".join(f"{key}={value}" for key, value in given.items() if key != "world")
