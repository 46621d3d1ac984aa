"""Trains the models of the table and compares them world by world."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ns_mab_gym.deep.algorithms_contest import compare_algorithms
from ns_mab_gym.deep.held_out import cases_of, training_env
from ns_mab_gym.deep.rivals import rivals_of, tuned
from ns_mab_gym.deep.side_by_side import Model, train_side_by_side
from ns_mab_gym.deep.training_folder import TrainingFolder
from ns_mab_gym.experiments.valid_json import json_text
from ns_mab_gym.files import write_atomically
from ns_mab_gym.rl.training import EVERY, Trained
from tabling.sizes import Size

__all__ = ["Name", "measured"]


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
    worlds = {}
    for world, numbers in compared(size, out, models):
        worlds[world] = numbers
        yield f"{world}: tuned and played in {numbers['seconds']:,.0f} s"
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
