"""Training of models: an algorithm, worlds and a duration. It can be interrupted and goes on as if it had not been.

A checkpoint holds everything that the rest of a training depends on: the model with its optimiser, its buffer of
replayed rounds and its hidden states, the environments with their instances, memories and luck, the learning curve, and
the random streams of Python, NumPy and torch. It is written between two rollouts, whole or not at all. A training that
goes on from it ends with the same weights as one that was not interrupted, on the same machine with the same number of
threads. Reading it runs what is pickled there: go on only in folders of your own.
"""

from __future__ import annotations

import inspect
import pickle
import random
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecMonitor

from ..agents.core.arguments import choice, positive_int, shown
from ..files import write_atomically
from ..play.progress import Progress, progress_for
from ..wrappers import VectorRegretAsReward, VectorWindowedStatistics
from .agent import SB3Agent
from .algorithm_settings import LAST_RATE, algorithm, hyperparameters
from .vec_env import SB3VecEnv

LEARN_FROM = ("regret", "reward")
EVERY = 250_000  # steps between two checkpoints
ABOVE_WORDS = 2**64  # the seeds of evaluations and races are 64-bit words; those of training lie above
LARGEST_SEED = 2**32 - 1  # that NumPy's global stream takes, from which Stable-Baselines3 draws


@dataclass(frozen=True)
class Training:
    """Describes what to train, and on what.

    Attributes:
        algo: a name in ``SETTINGS``, such as ``"ppo"``.
        env: the id of an environment of this package, best one whose instances are random.
        env_kwargs: its arguments.
        windows: the windows of the statistics in the observation; empty for the bare observation.
        timesteps: environment steps, all environments together; played are as many as full rollouts need.
        seed: the seed of the networks, the instances and the luck.
        settings: hyperparameters, in place of the usual ones.
        device: where torch computes.
        stagger: whether the environments begin in different rounds of their first episode, so that a rollout shows all
            parts of one. The learning curve is of whole episodes: it leaves out the first of each, but for those that
            begin in round 1.
        learn_from: ``"regret"``, whose negative the model is to maximise, as it does not scatter and has the same best
            policy (:class:`~ns_mab_gym.wrappers.RegretAsReward`); or ``"reward"``, what was drawn. Observations, all
            that the model sees when it plays, are the same.
    """

    algo: str = "ppo"
    env: str = "NSBandit-Piecewise-v0"
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    windows: tuple[int, ...] = (30, 150)
    timesteps: int = 3_000_000
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    stagger: bool = False
    learn_from: str = "regret"

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        hyperparameters(self.algo, self.settings)
        positive_int("timesteps", self.timesteps)
        positive_int("seed", self.seed, least=0, most=LARGEST_SEED)
        choice("learn_from", self.learn_from, LEARN_FROM)
        if not isinstance(self.stagger, bool):
            raise TypeError(f"stagger must be True or False, got {shown(self.stagger)}")
        try:
            torch.zeros(1, device="cpu" if self.device == "auto" else self.device).item()  # "meta" has no numbers
        except Exception as error:  # RuntimeError, AssertionError or NotImplementedError, whatever torch is built with
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise ValueError(f"torch cannot compute on device {self.device!r}: {first}; use 'cpu' or 'auto'") from None

    def vector_env(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        """Return the environments to learn from."""
        native: dict[str, Any] = {"vectorization_mode": "vector_entry_point", "stagger": self.stagger}
        envs: Any = gym.make_vec(self.env, num_envs=num_envs, **native, **self.env_kwargs)
        for window in self.windows:
            envs = VectorWindowedStatistics(envs, window=window)
        return VectorRegretAsReward(envs) if self.learn_from == "regret" else envs

    def to_dict(self) -> dict[str, Any]:
        """Return the training as plain values."""
        return {**asdict(self), "windows": list(self.windows)}


@dataclass(frozen=True)
class LearningCurve:
    """The mean regret of finished episodes, and the number of steps taken until then."""

    steps: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]

    def to_dict(self) -> dict[str, list[float]]:
        """Return the curve as plain values."""
        return {"steps": self.steps.tolist(), "regret": self.regret.tolist()}


class Trained(NamedTuple):
    """The result of a training.

    Attributes:
        agent: the agent.
        curve: the regret of its episodes.
        steps: the number of steps that it played.
        seconds: the time that it took, interruptions not counted.
    """

    agent: SB3Agent
    curve: LearningCurve
    steps: int
    seconds: float


class RegretCallback(BaseCallback):  # type: ignore[misc, unused-ignore]
    """Logs ``rollout/regret``: the mean regret of the last finished episodes, beside ``rollout/ep_rew_mean``.

    It works with every vector environment whose infos have ``total_regret``, and with every algorithm but ARS, which
    does not tell callbacks what happens::

        model.learn(100_000, callback=rl.RegretCallback())

    Only whole episodes count. Where an environment begins in the middle of one, as those of ``make_vec(…,
    stagger=True)`` do, the regret until the end of that first episode is left out.

    It can be pickled in the middle of a training, and goes on in the ``learn`` that goes on with the model.

    Args:
        window: the number of finished episodes over which the mean is taken.
        verbose: Stable-Baselines3's verbosity.

    Attributes:
        regrets: the regret of the last finished episodes, the latest at the end.
    """

    def __init__(self, window: int = 100, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.regrets: deque[float] = deque(maxlen=positive_int("window", window, hint="the number of episodes"))
        self._finished = 0
        self._points: list[tuple[int, float]] = []
        self._begun_late = np.zeros(0, np.bool_)  # environments whose episode did not begin in round 1

    @property
    def curve(self) -> LearningCurve:
        """The learning curve so far: a point for every ``window`` episodes, which is their mean."""
        steps, regret = zip(*self._points, strict=True) if self._points else ((), ())
        return LearningCurve(np.array(steps, np.int64), np.array(regret, np.float64))

    def __getstate__(self) -> Mapping[str, Any]:
        """Return what was recorded, without the training in which it was."""
        return {**vars(self), "model": None, "locals": {}, "globals": {}, "parent": None}

    def _on_training_start(self) -> None:
        """Begin anew where the count of steps does; see which environments are in an episode that began late."""
        if self.model.num_timesteps == 0:
            self.regrets.clear()
            self._points.clear()
            self._finished = 0
        firsts = self.training_env.unwrapped.reset_infos
        self._begun_late = np.array([info.get("round", 0) > 0 for info in firsts], np.bool_)

    def _on_step(self) -> bool:
        """Remember the regret of the episodes that ended in this step."""
        if "dones" not in self.locals:
            raise ValueError(
                f"{type(self.model).__name__} does not tell callbacks what happens in a step, so that no regret can be "
                f"logged; wrap its environment in ns_mab_gym.wrappers.RecordRegret, which remembers it"
            )
        ended = np.asarray(self.locals["dones"], np.bool_)
        if ended.any():
            for i in np.flatnonzero(ended & ~self._begun_late).tolist():
                info = self.locals["infos"][i]
                if "total_regret" not in info:
                    raise ValueError(
                        f'RegretCallback needs info["total_regret"], got {sorted(info)}; environments of this package '
                        f'report it, and ns_mab_gym.wrappers.RecordRegret adds it to others that report info["regret"]'
                    )
                self.regrets.append(float(info["total_regret"]))
                self._finished += 1
                if self._finished % self.regrets.maxlen == 0:  # type: ignore[operator]  # it has one
                    self._points.append((self.num_timesteps, float(np.mean(self.regrets))))
            self._begun_late &= ~ended
            self._on_rollout_end()  # DQN and its like write the log within this step
        return True

    def _on_rollout_end(self) -> None:
        """Log the mean, also for rollouts in which no episode ended."""
        if self.regrets:
            self.logger.record("rollout/regret", float(np.mean(self.regrets)))


class BetweenRollouts(BaseCallback):  # type: ignore[misc, unused-ignore]
    """Saves a training whenever ``every`` steps have passed and when it is interrupted, and shows its progress."""

    def __init__(
        self, save: Callable[[], None], every: int, interrupted: Callable[[], bool], progress: Progress
    ) -> None:
        super().__init__()
        self._save, self._every, self._interrupted, self._progress = save, every, interrupted, progress
        self._saved = 0

    def _on_training_start(self) -> None:
        self._saved = self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        steps = self.model.num_timesteps
        if self._interrupted():
            self._save()
            raise KeyboardInterrupt
        if steps - self._saved >= self._every:
            self._save()
            self._saved = steps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        new = self.model.num_timesteps - self._progress.done
        self._progress.advance(new, new)


@contextmanager
def noted_interrupts(wanted: bool) -> Iterator[Callable[[], bool]]:
    """Note Ctrl-C instead of stopping at once, if wanted; a second one stops. Yields whether it was pressed.

    Elsewhere than in the main thread, and where Ctrl-C is ignored, nothing changes.
    """
    pressed, before = threading.Event(), signal.getsignal(signal.SIGINT)
    if not wanted or threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield pressed.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        print("\nstopping after this rollout, to save it; Ctrl-C again stops at once", file=sys.stderr, flush=True)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


class SavedMonitor(VecMonitor):  # type: ignore[misc, unused-ignore]
    """Stable-Baselines3's record of episodes, which can be pickled: what is known of its class is left out."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "class_attributes"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, class_attributes=dict(inspect.getmembers(type(self))))


class TrainingSession(NamedTuple):
    """A training that is under way: its model with environments, the regret of its episodes, and the time so far."""

    training: Training
    model: Any
    regret: RegretCallback
    seconds: float


def write_checkpoint(path: Path, session: TrainingSession) -> None:
    """Save a training between two rollouts, with the states of all random streams of the process."""
    numpy = np.random.get_state()  # noqa: NPY002 (it is the one that Stable-Baselines3 draws from)
    streams = random.getstate(), numpy, torch.get_rng_state(), torch.cuda.get_rng_state_all()
    logger = vars(session.model).pop("_logger", None)  # it holds open files, and a new one is made by ``learn``
    try:
        content = pickle.dumps((session, streams), protocol=pickle.HIGHEST_PROTOCOL)
    finally:
        if logger is not None:
            session.model._logger = logger
    write_atomically(path, content)


def read_checkpoint(path: Path, training: Training) -> TrainingSession:
    """Return the training that was saved here, if it is this one, and set the random streams to where they were.

    What is pickled in the file is run.
    """
    remedy, content = f"remove {str(path)!r} to train from the start, or choose another folder", path.read_bytes()
    try:
        session, (python, numpy, cpu, gpus) = pickle.loads(content)
    except Exception as error:  # whatever another version of torch or of this package makes of it
        raise ValueError(f"the checkpoint cannot be read ({type(error).__name__}: {error}); {remedy}") from error
    if session.training != training:
        raise ValueError(f"the checkpoint is one of another training; {remedy}")
    random.setstate(python)
    np.random.set_state(numpy)  # noqa: NPY002
    torch.set_rng_state(cpu)
    torch.cuda.set_rng_state_all(gpus)
    return session  # type: ignore[no-any-return]


def untrained(training: Training) -> Any:
    """Return a new model with its environments; raises a ValueError if the settings do not fit together."""
    made = hyperparameters(training.algo, training.settings)
    envs = SavedMonitor(SB3VecEnv(training.vector_env(made.n_envs)))
    arguments = {"learning_rate": LinearSchedule(made.first_rate, LAST_RATE, 1.0), **made.arguments}
    try:
        model = algorithm(training.algo)(env=envs, seed=training.seed, device=training.device, **arguments)
    except (AssertionError, ValueError, TypeError) as error:
        said = " ".join(str(error).split())
        raise ValueError(f"{training.algo} cannot be made with these settings: {said}; change one of them") from error
    envs.seed(ABOVE_WORDS * (1 + training.seed))  # the first; those of other trainings lie elsewhere
    return model


def rounds_of(model: Any, timesteps: int) -> int:
    """Return the number of rounds that each environment plays: whole rollouts, with the asked steps or more."""
    rollout: int = model.train_freq.frequency if hasattr(model, "train_freq") else model.n_steps
    return -(-timesteps // (rollout * int(model.n_envs))) * rollout


def train(
    training: Training,
    *,
    logs: Path | None = None,
    checkpoint: Path | None = None,
    every: int = EVERY,
    progress: bool = False,
) -> Trained:
    """Train a model, or go on where it was interrupted.

    Args:
        training: what to train.
        logs: a folder for TensorBoard.
        checkpoint: a file of your own to save it in while it lasts; if it exists, training goes on from there, which
            runs what is pickled in it. After Ctrl-C the training is saved at the end of the rollout, and the same call
            goes on. Without a file, Ctrl-C stops at once.
        every: the number of steps between two checkpoints.
        progress: whether to show how many steps are played.
    """
    every = positive_int("every", every)
    if known := checkpoint is not None and checkpoint.is_file():
        session = read_checkpoint(checkpoint, training)
    else:  # a point of the learning curve is the mean of as many episodes as there are environments
        new = untrained(training)
        session = TrainingSession(training, new, RegretCallback(window=new.n_envs), 0.0)
    model, regret, began = session.model, session.regret, time.perf_counter()
    model.tensorboard_log = None if logs is None else str(logs)

    def now() -> TrainingSession:
        return session._replace(seconds=session.seconds + time.perf_counter() - began)

    def save() -> None:
        if checkpoint is not None:
            write_checkpoint(checkpoint, now())

    bar = progress_for(sys.stderr, "steps") if progress else Progress()
    with noted_interrupts(checkpoint is not None) as interrupted, bar as counted:
        counted.start(model.num_timesteps, rounds_of(model, training.timesteps) * model.n_envs)
        if (left := training.timesteps - model.num_timesteps) > 0:
            between = BetweenRollouts(save, every, interrupted, counted)
            unmasked = {"use_masking": False} if training.algo == "maskable-ppo" else {}
            model.learn(left, callback=[regret, between], reset_num_timesteps=not known, **unmasked)
        if interrupted():
            save()
            raise KeyboardInterrupt
    return Trained(SB3Agent(model), regret.curve, int(model.num_timesteps), now().seconds)
