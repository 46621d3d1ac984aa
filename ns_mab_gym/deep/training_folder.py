"""The folder of a training: models, checkpoints and curves, one subfolder for each training seed.

The folder belongs to one training, which ``training.json`` describes. The same training goes on there, with further
seeds too; another one is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..experiments.folder_lock import FolderLock
from ..experiments.result_folders import StoreError, guarded, mark, own_folder
from ..experiments.valid_json import json_text
from ..files import is_plain_file, refuse_links, remove_leftovers, write_atomically
from ..rl.regret_callback import LearningCurve
from ..rl.sb3_agent import SB3Agent
from ..rl.training import Trained, Training, train

__all__ = ["SeedFolder", "TrainingFolder"]

OWNER = "Models and results of `ns-mab-gym train`"
README = f"""{OWNER}; the same command goes on with them.

training.json    what is trained
seed-N/          of training seed N: model.zip, model.npz (which needs no trust), learning.json, tensorboard/,
                 and checkpoint while it is trained
model.zip, .npz  copies of the first seed's
numbers.json     the comparison, as numbers; regret*.png and learning.png, as pictures
"""
REMEDY = "choose another folder with --out"
SAME = ("seed",)  # what may differ between trainings that share a folder
BEFORE = {"stagger": False, "learn_from": "reward"}  # what trainings were that do not say it, since there was no choice


@dataclass(frozen=True)
class SeedFolder:
    """Where the model of one training seed lies."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        """The training that is under way."""
        return self.path / "checkpoint"

    @property
    def logs(self) -> Path:
        """What TensorBoard shows."""
        return self.path / "tensorboard"

    def prepare(self) -> None:
        """Make the folder; nothing in it may lead elsewhere."""
        refuse_links(self.path)
        self.path.mkdir(exist_ok=True)
        refuse_links(self.checkpoint, self.logs, *(self.path / name for name in ("model.zip", "model.npz")))
        remove_leftovers(self.path)

    def train(self, training: Training, every: int, *, progress: bool = False) -> tuple[Trained, str]:
        """Train a model, or go on with it, and save it; returns it with what to say.

        Args:
            training: what is trained.
            every: steps between two checkpoints.
            progress: whether to show how many steps are played.
        """
        with guarded(self.path, "write to"):
            trained = train(training, logs=self.logs, checkpoint=self.checkpoint, every=every, progress=progress)
            return trained, self.keep(trained)

    def keep(self, trained: Trained) -> str:
        """Save a model that is trained, then what was needed to go on with it is removed; returns what to say."""
        trained.agent.save(self.path / "model.zip")
        try:
            trained.agent.export(self.path / "model.npz")
            said = f"saved {self.path / 'model.zip'} and, for others, model.npz"
        except ValueError as error:
            said = f"saved {self.path / 'model.zip'}; {error}"
        curve = {"steps": trained.curve.steps.tolist(), "regret": trained.curve.regret.tolist()}
        about = {"steps": trained.steps, "seconds": trained.seconds, "curve": curve}
        write_atomically(self.path / "learning.json", f"{json_text(about)}\n".encode())
        self.checkpoint.unlink(missing_ok=True)
        return said

    def kept(self) -> Trained | None:
        """The model that is trained already; None if it is not."""
        about, models = self.path / "learning.json", [self.path / "model.npz", self.path / "model.zip"]
        model = next(filter(is_plain_file, models), None)
        if model is None or not is_plain_file(about):
            return None
        with _undamaged(about):
            read = json.loads(about.read_text(encoding="utf-8"))
            steps, regret = (np.array(read["curve"][key], kind) for key, kind in (("steps", int), ("regret", float)))
            curve, spent = LearningCurve(steps, regret), (int(read["steps"]), float(read["seconds"]))
        return Trained(SB3Agent.load(model), curve, *spent)


class TrainingFolder:
    """A folder that holds one training; locked until it is closed.

    Args:
        folder: where; raises a :class:`StoreError` if it holds other things.
        training: what is trained there, with any seed.
    """

    def __init__(self, folder: Path, training: Training) -> None:
        self.path = folder
        with guarded(folder, "write to"):
            own_folder(folder, OWNER, REMEDY)
            self._lock = FolderLock(folder)
        try:
            with guarded(folder, "write to"):
                self._take(training)
        except BaseException:
            self.close()
            raise

    def _take(self, training: Training) -> None:
        described = {key: value for key, value in training.to_dict().items() if key not in SAME}
        described = json.loads(json_text(described))
        file = self.path / "training.json"
        refuse_links(file, *(self.path / name for name in ("model.zip", "model.npz", "numbers.json")))
        if file.is_file():
            with _undamaged(file):
                there = {**BEFORE, **json.loads(file.read_text(encoding="utf-8"))}
            _ensure_same(self.path, there, described)
        mark(self.path, README)
        write_atomically(file, f"{json_text(described, indent=2)}\n".encode())

    def of_seed(self, seed: int) -> SeedFolder:
        """The folder of one training seed, made if need be."""
        folder = SeedFolder(self.path / f"seed-{seed}")
        folder.prepare()
        return folder

    def put_forward(self, seed: int) -> None:
        """Copy the models of a seed to the top of the folder."""
        for name in ("model.zip", "model.npz"):
            if is_plain_file(source := self.of_seed(seed).path / name):
                write_atomically(self.path / name, source.read_bytes())

    def close(self) -> None:
        """Let another process have the folder."""
        self._lock.release()


@contextmanager
def _undamaged(file: Path) -> Iterator[None]:
    """Turn what a file gives that does not hold what was written there into a :class:`StoreError`."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{str(file)!r} is damaged ({type(error).__name__}: {error}); {REMEDY}") from error


def _ensure_same(folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    for key in here:
        if there.get(key) != here[key]:
            raise StoreError(
                f"{str(folder)!r} holds another training, with {key} = {there.get(key)!r} instead of {here[key]!r}; "
                f"{REMEDY}"
            )
