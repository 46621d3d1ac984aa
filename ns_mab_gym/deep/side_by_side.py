"""Trains several models at once, each in a process of its own.

A process saves its training as ``ns-mab-gym train`` does, so that it goes on after Ctrl-C, and after the end of any of
the processes. Ctrl-C reaches the process that started them, which tells them once; they end when it does.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, TypeVar

from ..play.child_processes import ctrl_c_held_back, hear_from_parent_alone
from ..rl.training import Trained, Training
from .training_folder import SeedFolder

__all__ = ["Model", "train_side_by_side"]

Name = TypeVar("Name", bound=Hashable)
INTERRUPTED = 130  # the exit code of a process that has saved what it had


class Model(NamedTuple):
    """A model to be trained.

    Attributes:
        training: what is trained.
        place: where it is saved; nobody else may write there.
    """

    training: Training
    place: SeedFolder


def train_side_by_side(models: Mapping[Name, Model], jobs: int, every: int) -> Iterator[tuple[Name, Trained]]:
    """Train models in this order, so many at once; yields each when it is done, those that are trained already first.

    Each process computes with one thread. After Ctrl-C all of them are saved, and the same call goes on; so they are
    if one of them fails, which raises a RuntimeError.

    Args:
        models: by their names, the slowest best first, so that none of them is left alone in the end.
        jobs: how many processes.
        every: steps between two checkpoints.
    """
    waiting = deque(models)
    for name in models:
        if (kept := models[name].place.kept()) is not None:
            waiting.remove(name)
            yield name, kept
    under_way: dict[Any, tuple[Name, BaseProcess]] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < jobs:
                process = _started(models[waiting[0]], every)
                under_way[process.sentinel] = waiting.popleft(), process
            for sentinel in wait(list(under_way)):
                name, process = under_way.pop(sentinel)
                yield name, _outcome(name, process, models[name].place)
    finally:
        _stop([process for _, process in under_way.values()])


def _started(model: Model, every: int) -> BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=_train, args=(model, every, os.getpid()))
    with ctrl_c_held_back():
        process.start()
    return process


def _outcome(name: Hashable, process: BaseProcess, place: SeedFolder) -> Trained:
    """What a process that has ended leaves; raises a RuntimeError if it was not able to finish."""
    process.join()
    trained = place.kept() if process.exitcode == 0 else None
    if trained is None:
        raise RuntimeError(
            f"the training of {name} ended with exit code {process.exitcode}; what was trained until the last "
            f"checkpoint is saved, and the same command goes on"
        )
    return trained


def _stop(processes: Sequence[BaseProcess]) -> None:
    """Have processes save what they have, and wait for them; a second Ctrl-C ends them at once."""
    try:
        for process in processes:
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, signal.SIGINT)
        for process in processes:
            process.join()
    finally:
        for process in processes:
            process.kill()


def _train(model: Model, every: int, parent: int) -> None:
    """What a process does."""
    import torch

    try:
        hear_from_parent_alone(parent)
        torch.set_num_threads(1)
        model.place.train(model.training, every)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
