"""Training of models: algorithm, worlds and duration. It can be interrupted and goes on as if it had not been."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym
import torch
from stable_baselines3.common.utils import LinearSchedule

from ..agents.core.arguments import choice, positive_int, shown
from ..play.counters import counter_for
from ..wrappers import VectorRegretAsReward, VectorWindowedStatistics
from .algorithm_settings import LAST_RATE, SETTINGS, hyperparameters
from .algorithm_table import algorithm
from .checkpoints import SavedMonitor, Session, read_checkpoint, write_checkpoint
from .regret_callback import LearningCurve, RegretCallback
from .rollouts import BetweenRollouts, noted_interrupts
from .sb3_agent import SB3Agent
from .vec_env import SB3VecEnv

__all__ = ["LEARN_FROM", "Trained", "Training", "checked_device", "rounds_of", "train", "untrained"]

VectorEnv: TypeAlias = gym.vector.VectorEnv[Any, Any, Any]
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
        choice("algorithm", self.algo, SETTINGS)
        positive_int("timesteps", self.timesteps)
        positive_int("seed", self.seed, least=0, most=LARGEST_SEED)
        hyperparameters(self.algo, self.settings)
        checked_device(self.device)
        choice("learn_from", self.learn_from, LEARN_FROM)
        if not isinstance(self.stagger, bool):
            raise TypeError(f"stagger must be True or False, got {shown(self.stagger)}")

    @property
    def first_env_seed(self) -> int:
        """The seed of the first environment; those of the others follow, and those of other trainings lie elsewhere."""
        return ABOVE_WORDS * (1 + self.seed)

    def vector_env(self, num_envs: int) -> VectorEnv:
        """The environments to learn from."""
        native: dict[str, Any] = {"vectorization_mode": "vector_entry_point", "stagger": self.stagger}
        envs: gym.vector.VectorEnv[Any, Any, Any] = gym.make_vec(
            self.env, num_envs=num_envs, **native, **self.env_kwargs
        )
        for window in self.windows:
            envs = VectorWindowedStatistics(envs, window=window)
        return VectorRegretAsReward(envs) if self.learn_from == "regret" else envs

    def to_dict(self) -> dict[str, Any]:
        """The training as plain values."""
        return {**asdict(self), "windows": list(self.windows)}


class Trained(NamedTuple):
    """What a training gave.

    Attributes:
        agent: the agent.
        curve: the regret of its episodes.
        steps: how many it played.
        seconds: how long it took, interruptions not counted.
    """

    agent: SB3Agent
    curve: LearningCurve
    steps: int
    seconds: float


def checked_device(device: str) -> str:
    """The name of a device, if torch can compute there."""
    try:
        torch.zeros(1, device="cpu" if device == "auto" else device).item()  # "meta" has shapes, but no numbers
    except Exception as error:  # RuntimeError, AssertionError or NotImplementedError, whatever torch is built with
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"torch cannot compute on device {device!r}: {first}; use 'cpu' or 'auto'") from None
    return device


def untrained(training: Training) -> Any:
    """A new model with its environments; raises a ValueError if the settings do not fit together."""
    made = hyperparameters(training.algo, training.settings)
    envs = SavedMonitor(SB3VecEnv(training.vector_env(made.n_envs)))
    arguments = {"learning_rate": LinearSchedule(made.first_rate, LAST_RATE, 1.0), **made.arguments}
    try:
        model = algorithm(training.algo)(env=envs, seed=training.seed, device=training.device, **arguments)
    except (AssertionError, ValueError, TypeError) as error:
        said = " ".join(str(error).split())
        raise ValueError(f"{training.algo} cannot be made with these settings: {said}; change one of them") from error
    envs.seed(training.first_env_seed)
    return model


def rounds_of(model: Any, timesteps: int) -> int:
    """The number of rounds that each environment plays: whole rollouts, with as many steps as are asked for or more."""
    rollout: int = model.train_freq.frequency if hasattr(model, "train_freq") else model.n_steps
    return -(-timesteps // (rollout * int(model.n_envs))) * rollout


def train(
    training: Training,
    *,
    logs: Path | None = None,
    verbose: int = 0,
    checkpoint: Path | None = None,
    every: int = EVERY,
    progress: bool = False,
) -> Trained:
    """Train a model, or go on where it was interrupted.

    Args:
        training: what to train.
        logs: a folder for TensorBoard.
        verbose: Stable-Baselines3's own tables, if 1.
        checkpoint: a file to save it in while it lasts; if it exists, training goes on from there. After Ctrl-C the
            training is saved at the end of the rollout, and the same call goes on.
        every: how many steps lie between two checkpoints.
        progress: whether to show how many steps are played.
    """
    every = positive_int("every", every)
    known = checkpoint is not None and checkpoint.is_file()
    session = read_checkpoint(checkpoint, training) if known else _begun(training)  # type: ignore[arg-type]
    model, regret, began = session.model, session.regret, time.perf_counter()
    model.verbose, model.tensorboard_log = verbose, None if logs is None else str(logs)

    def seconds() -> float:
        return session.seconds + time.perf_counter() - began

    def save() -> None:
        if checkpoint is not None:
            write_checkpoint(checkpoint, Session(training, model, regret, seconds()))

    with _noted(checkpoint) as interrupted, _advancing(progress, model, training.timesteps) as advance:
        if (left := training.timesteps - model.num_timesteps) > 0:
            between = BetweenRollouts(save, every, interrupted, advance)
            unmasked = {"use_masking": False} if training.algo == "maskable-ppo" else {}
            model.learn(left, callback=[regret, between], reset_num_timesteps=not known, **unmasked)
        if interrupted():
            save()
            raise KeyboardInterrupt
    return Trained(SB3Agent(model), regret.curve, int(model.num_timesteps), seconds())


def _begun(training: Training) -> Session:
    """A training at its beginning; a point of its learning curve is the mean of as many episodes as environments."""
    model = untrained(training)
    return Session(training, model, RegretCallback(window=model.n_envs), 0.0)


@contextmanager
def _noted(checkpoint: Path | None) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; without a file to save to, it stops at once as ever."""
    if checkpoint is None:
        yield lambda: False
    else:
        with noted_interrupts() as interrupted:
            yield interrupted


@contextmanager
def _advancing(progress: bool, model: Any, asked: int) -> Iterator[Callable[[int, int], None]]:
    """What is told how many steps were played."""
    if not progress:
        yield lambda steps, things: None
        return
    with closing(counter_for(sys.stderr, "steps")) as counter:
        counter.start(model.num_timesteps, rounds_of(model, asked) * model.n_envs)
        yield counter.advance
