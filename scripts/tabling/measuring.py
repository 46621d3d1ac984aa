"""Trains the models of the table and compares them world by world."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ns_mab_gym.deep.algorithms_contest import compare_algorithms
from ns_mab_gym.deep.held_out import cases_of, training_env
from ns_mab_gym.deep.rivals import rivals_of, tuned
from ns_mab_gym.deep.side_by_side import Model, train_side_by_side
from ns_mab_gym.deep.training_folder import TrainingFolder
from ns_mab_gym.experiments.valid_json import json_text
from ns_mab_gym.files import write_atomically
from ns_mab_gym.rl.training import EVERY, Trained
from tabling.sizes import Size

__all__ = ["Name", "compared", "trained"]


class Name(NamedTuple):
    """Which model it is."""

    world: str
    algorithm: str
    seed: int

    def __str__(self) -> str:
        return f"{self.world}, {self.algorithm}, seed {self.seed}"


def trained(size: Size, out: Path, jobs: int) -> Iterator[tuple[Name, Trained]]:
    """Train all models, so many at once, each when it is done; the folder of an algorithm on a world has its seeds."""
    names = [Name(world, name, seed) for name, world, seed in product(size.algorithms, size.worlds, size.seeds)]
    with ExitStack() as leaving:
        folders: dict[tuple[str, str], TrainingFolder] = {}
        models = {}
        for name in names:
            training, pair = size.training(name.algorithm, name.world, name.seed), (name.world, name.algorithm)
            if pair not in folders:
                folder = TrainingFolder(_folder(out, name.world) / name.algorithm.lower(), training)
                folders[pair] = leaving.enter_context(closing(folder))
            models[name] = Model(training, folders[pair].of_seed(name.seed))
        yield from train_side_by_side(models, jobs, EVERY)
        for folder in folders.values():
            folder.put_forward(size.seeds[0])


def compared(size: Size, out: Path, models: Mapping[Name, Trained]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tune the rivals of each world once, play held-out instances, write ``numbers.json`` and yield what is in it."""
    for world, entry in size.worlds.items():
        began = time.perf_counter()
        rivals, _ = rivals_of(entry, size.rivals)
        training = size.training(next(iter(size.algorithms)), world, size.seeds[0])
        rivals = tuned(rivals, training_env(training), size.tuning_runs)
        of_world = {
            name: {seed: models[Name(world, name, seed)] for seed in size.seeds} for name in sorted(size.algorithms)
        }
        numbers = compare_algorithms(cases_of(training)[0], of_world, rivals, size.runs)
        found = {"world": _words(entry.kwargs), **numbers, "seconds": time.perf_counter() - began}
        write_atomically(_folder(out, world) / "numbers.json", f"{json_text(found, indent=2)}\n".encode())
        yield world, found


def _folder(out: Path, world: str) -> Path:
    return out / world.replace(" ", "-")


def _words(given: Mapping[str, Any]) -> str:
    """A world as one would type it."""
    return f"{given['world']}:" + ",".join(f"{key}={value}" for key, value in given.items() if key != "world")
