"""Saves a training in the middle, and goes on with it as if it had never stopped.

A checkpoint holds everything that the rest of a training depends on: the model with its optimiser, its buffer of
replayed rounds and its hidden states, the environments with their instances, memories and luck, the learning curve, and
the random streams of Python, NumPy and torch. It is written between two rollouts, whole or not at all. A training that
goes on from it ends with the same weights as one that was not interrupted, on the same machine with the same number of
threads.

Reading it runs what is pickled there, so that only checkpoints that were saved on this machine are read.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from stable_baselines3.common.vec_env import VecMonitor

from ..files import write_atomically
from .own_models import remember, was_saved_here
from .regret_callback import RegretCallback

__all__ = ["SavedMonitor", "Session", "read_checkpoint", "write_checkpoint"]


class SavedMonitor(VecMonitor):  # type: ignore[misc, unused-ignore]
    """Stable-Baselines3's record of episodes, which can be pickled: what is known of its class is left out."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "class_attributes"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, class_attributes=dict(inspect.getmembers(type(self))))


class Session(NamedTuple):
    """A training that is under way.

    Attributes:
        training: what is trained.
        model: the model, with its environments.
        regret: the regret of its episodes.
        seconds: the time that it took so far.
    """

    training: Any
    model: Any
    regret: RegretCallback
    seconds: float


def write_checkpoint(path: Path, session: Session) -> None:
    """Save a training between two rollouts."""
    logger = vars(session.model).pop("_logger", None)  # it holds open files, and a new one is made by ``learn``
    try:
        content = pickle.dumps((session, _streams()), protocol=pickle.HIGHEST_PROTOCOL)
    finally:
        if logger is not None:
            session.model.set_logger(logger)
            session.model._custom_logger = False
    remember(hashlib.sha256(content).hexdigest())
    write_atomically(path, content)


def read_checkpoint(path: Path, training: Any) -> Session:
    """The training that was saved here, with the random streams set to where they were.

    Args:
        path: the file.
        training: what must be trained in it.
    """
    content = path.read_bytes()
    remedy = f"remove {str(path)!r} to train from the start, or choose another folder"
    if not was_saved_here(hashlib.sha256(content).hexdigest()):
        raise ValueError(f"the checkpoint was not saved on this machine, and reading it can run any code; {remedy}")
    try:
        session, streams = pickle.loads(content)
    except Exception as error:  # whatever another version of torch or of this package makes of it
        raise ValueError(f"the checkpoint cannot be read ({type(error).__name__}: {error}); {remedy}") from error
    if session.training != training:
        raise ValueError(f"the checkpoint is one of another training; {remedy}")
    _restore(streams)
    return session  # type: ignore[no-any-return]


def _streams() -> tuple[Any, Any, Any, Any]:
    """The states of all random streams that belong to the process."""
    numpy = np.random.get_state()  # noqa: NPY002 (it is the one that Stable-Baselines3 draws from)
    return random.getstate(), numpy, torch.get_rng_state(), torch.cuda.get_rng_state_all()


def _restore(streams: tuple[Any, Any, Any, Any]) -> None:
    python, numpy, cpu, gpus = streams
    random.setstate(python)
    np.random.set_state(numpy)  # noqa: NPY002
    torch.set_rng_state(cpu)
    torch.cuda.set_rng_state_all(gpus)
