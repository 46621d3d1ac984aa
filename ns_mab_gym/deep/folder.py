"""The folder of a training: models, checkpoints and curves, one subfolder for each training seed.

The folder belongs to one training, which ``training.json`` describes. The same training goes on there, with further
seeds too; another one is refused. To go on in a folder loads the checkpoints and models in it, which can run code: it
must be a folder of one's own.

Several models can be trained at once, each in a process of its own. After Ctrl-C the processes are ended; what they
trained until the last checkpoint is kept, and the same call goes on.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..files import remove_leftovers, write_atomically
from ..parallel import Failed, executor, map_unordered
from ..rl.agent import SB3Agent
from ..rl.training import LearningCurve, Trained, Training, train
from ..studies.store import FolderLock, guarded, mark, own_folder
from ..studies.study import StoreError
from ..studies.tables import json_text

Name = TypeVar("Name", bound=Hashable)
OWNER = "Models and results of `ns-mab-gym train`"
README = f"""{OWNER}; the same command goes on with them.

training.json    what is trained
seed-N/          of training seed N: model.zip, model.pt (which needs no trust), learning.json, tensorboard/,
                 and checkpoint while it is trained
model.zip, .pt   copies of the first seed's
numbers.json     the comparison, as numbers; regret*.png and learning.png, as pictures
"""
REMEDY = "choose another folder with --out"
MODELS = ("model.pt", "model.zip")  # an export, if there can be one, and all that it takes to train further
BEFORE = {"stagger": False, "learn_from": "reward"}  # what trainings were that do not say it, since there was no choice


@dataclass(frozen=True)
class SeedFolder:
    """The folder of the model of one training seed.

    Attributes:
        path: where it is; no other process may write there.
        training: what is trained.
    """

    path: Path
    training: Training

    @property
    def checkpoint(self) -> Path:
        """The training that is under way."""
        return self.path / "checkpoint"

    def train(self, every: int, *, progress: bool = False) -> tuple[Trained, str]:
        """Train the model, or go on with it, save it and remove its checkpoint; returns it with a line for the user.

        Args:
            every: steps between two checkpoints.
            progress: whether to show how many steps are played.
        """
        with guarded(self.path, "write to"):
            logs = self.path / "tensorboard"
            trained = train(self.training, logs=logs, checkpoint=self.checkpoint, every=every, progress=progress)
            trained.agent.save(self.path / "model.zip")
            try:
                trained.agent.export(self.path / "model.pt")
                said = f"saved {self.path / 'model.zip'} and, for others, model.pt"
            except ValueError as error:
                said = f"saved {self.path / 'model.zip'}; {error}"
            about = {"steps": trained.steps, "seconds": trained.seconds, "curve": trained.curve.to_dict()}
            write_atomically(self.path / "learning.json", f"{json_text(about)}\n".encode())
            self.checkpoint.unlink(missing_ok=True)
            return trained, said

    def kept(self) -> Trained | None:
        """Return the model that is trained already; None if it is not."""
        about, model = self.path / "learning.json", next(filter(Path.is_file, map(self.path.joinpath, MODELS)), None)
        if model is None or not about.is_file():
            return None
        with _undamaged(about):
            read = json.loads(about.read_text(encoding="utf-8"))
            steps, regret = (np.array(read["curve"][key], kind) for key, kind in (("steps", int), ("regret", float)))
            curve, spent = LearningCurve(steps, regret), (int(read["steps"]), float(read["seconds"]))
        return Trained(SB3Agent.load(model, trust=True), curve, *spent)


class TrainingFolder:
    """A folder that holds one training; locked until it is closed.

    Args:
        folder: where; raises a :class:`StoreError` if it holds other things.
        training: what is trained there, with any seed.
    """

    def __init__(self, folder: Path, training: Training) -> None:
        self.path, self.training, file = folder, training, folder / "training.json"
        described = json.loads(json_text({key: value for key, value in training.to_dict().items() if key != "seed"}))
        with guarded(folder, "write to"), ExitStack() as after_error:
            own_folder(folder, OWNER, REMEDY)
            self._lock = FolderLock(folder)
            after_error.callback(self.close)
            if file.is_file():
                with _undamaged(file):
                    there: Mapping[str, Any] = {**BEFORE, **json.loads(file.read_text(encoding="utf-8"))}
                for key, value in described.items():
                    if there.get(key) != value:
                        raise StoreError(
                            f"{str(folder)!r} holds another training, with {key} = {there.get(key)!r} instead of "
                            f"{value!r}; {REMEDY}"
                        )
            mark(folder, README)
            write_atomically(file, f"{json_text(described, indent=2)}\n".encode())
            after_error.pop_all()

    def of_seed(self, seed: int) -> SeedFolder:
        """Return the folder of one training seed, made if need be."""
        folder = self.path / f"seed-{seed}"
        folder.mkdir(exist_ok=True)
        remove_leftovers(folder)
        return SeedFolder(folder, replace(self.training, seed=seed))

    def put_forward(self, seed: int) -> None:
        """Copy the models of a seed to the top of the folder."""
        for name in MODELS:
            if (source := self.path / f"seed-{seed}" / name).is_file():
                write_atomically(self.path / name, source.read_bytes())

    def close(self) -> None:
        """Let another process have the folder."""
        self._lock.release()


@contextmanager
def _undamaged(file: Path) -> Iterator[None]:
    """Turn the errors of a file that does not hold what was written there into a :class:`StoreError`."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{str(file)!r} is damaged ({type(error).__name__}: {error}); {REMEDY}") from error


def train_side_by_side(models: Mapping[Name, SeedFolder], jobs: int, every: int) -> Iterator[tuple[Name, Trained]]:
    """Train models in this order, ``jobs`` at once; yields each when it is done, those that are trained already first.

    Each process computes with one thread. After Ctrl-C the processes are ended; what they trained until the last
    checkpoint is kept, and the same call goes on. So it is if one of them fails, which raises a RuntimeError.

    Args:
        models: by their names, the slowest best first, so that none of them is left alone in the end.
        jobs: the number of processes.
        every: steps between two checkpoints.
    """
    kept = {name: trained for name, model in models.items() if (trained := model.kept()) is not None}
    yield from kept.items()
    waiting = [name for name in models if name not in kept]
    with executor("processes", jobs) as pool:
        for found in map_unordered(pool, partial(_train, models, every), waiting, retries=0, most=1):
            if isinstance(found, Failed):
                raise RuntimeError(
                    f"the training of {found.item} failed ({found.error.text}); what was trained until the last "
                    f"checkpoint is saved, and the same command goes on"
                )
            for name in found.items:
                trained = models[name].kept()
                assert trained is not None
                yield name, trained


def _train(models: Mapping[Name, SeedFolder], every: int, name: Name) -> None:
    """Train one of the models with one thread, and leave the result in its folder."""
    import torch

    torch.set_num_threads(1)
    models[name].train(every)
