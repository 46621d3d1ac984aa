"""A trained model as an agent."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch

from ..kept_files import content_of
from ..play.batched_runs import Round
from .algorithm_table import class_of, name_of
from .arm_scores import scores_of
from .batched_envs import Batch, Plan
from .batched_play import draws_are_known, play_rounds
from .continued_training import attach
from .model_files import NOTE, found, note_of, unpickled, write
from .observation_layers import as_in_training
from .own_models import ensure_trusted, remember
from .playable_models import ensure_playable, is_a, played_deterministically, trained_recipe
from .policy_export import ExportedModel, export, is_export, read_export
from .recipe import Recipe, in_words

__all__ = ["SB3Agent"]

STREAM = threading.Lock()  # torch has one generator for all threads


class SB3Agent:
    """A Stable-Baselines3 model that plays wherever agents play: ``run_episode``, ``simulate``, plots and reports.

    Everything it knows comes with the observation, so the environment must be wrapped as it was in training:
    :meth:`wrap` does that, and agents that need no observation can play the same environment too. The hidden
    state of a recurrent policy is kept from round to round. The policy draws from a random stream of the agent's
    own, seeded by ``reset(seed)``; torch's global stream is left as it was.

    ``simulate`` plays all runs at once, with one pass through the network for each round, and each run is the one that
    ``run_episode`` plays with its seeds. Runs are played one by one where an environment or its wrappers have no twin
    in arrays (foreign environments, late rewards, closed arms), and for policies with a ``predict`` of their own.

    Args:
        model: a trained model with discrete actions, of one of :func:`ns_mab_gym.rl.algorithms` or a class of your own.
        deterministic: play the likeliest arm instead of drawing one; ``None`` draws where the policy is a distribution
            (a policy trained to explore needs its randomness) and not for DQN, QRDQN and ARS, whose policies are
            deterministic.
        name: what plots and tables call it.
    """

    only_generic = True  # a network has no compiled form; simulate does not warn about it
    handles_delay = True  # late rewards reach it through the observation, as in training

    def __init__(self, model: Any, *, deterministic: bool | None = None, name: str | None = None) -> None:
        ensure_playable(model)
        self.model = model
        self.algorithm = class_of(model)
        self.name = name or f"sb3-{name_of(model)}"
        self.deterministic = played_deterministically(model, deterministic)
        self.handles_mask = is_a(model, "MaskablePPO")
        self.n_arms = int(model.action_space.n)
        self.recipe: Recipe = trained_recipe(model)
        self.reset()

    def wrap(self, env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        """The environment with those wrappers that the model was trained with and that it lacks.

        An environment whose wrappers are others than those of the training is refused, and so is one that lacks a
        wrapper which cannot be added here. If it is not known how the model was trained, the environment is returned.
        """
        return as_in_training(env, self.recipe)

    def save(self, path: str | Path) -> None:
        """Save the model with a note of its algorithm and its observation wrappers, for :meth:`load`.

        The file can be trained further, and holds pickled objects: on another machine, loading it needs trust.
        """
        if isinstance(self.model, ExportedModel):
            raise ValueError("this agent comes from an export, which cannot be trained further; export it again")
        setattr(self.model, NOTE, note_of(self.model, self.recipe))
        content = io.BytesIO()
        self.model.save(content)
        remember(hashlib.sha256(content.getvalue()).hexdigest())
        write(Path(path), ".zip", content.getvalue())

    def export(self, path: str | Path) -> None:
        """Write what it takes to play, and no more: weights and a description, which :meth:`load` reads without trust.

        Args:
            path: where; the ending is ``.npz``.
        """
        write(Path(path), ".npz", export(self.model, self.recipe))

    @classmethod
    def load(
        cls, path: str | Path, algo: str | None = None, *, trust: bool = False, env: Any = None, **options: Any
    ) -> SB3Agent:
        """The agent of a saved or exported model.

        Args:
            path: the file that :meth:`save`, :meth:`export`, or the model's own ``save`` wrote.
            algo: a name in :func:`ns_mab_gym.rl.algorithms`; only for files of the model's own ``save``.
            trust: whether a model that was not saved on this machine may be loaded, which can run any code that is in
                it; an export needs no trust.
            env: an environment, single or vector, on which ``agent.model.learn()`` goes on; the wrappers of the
                training that it lacks are added. Not for exports.
            options: ``deterministic`` and ``name``.
        """
        file = found(path)
        content, named = content_of(file), str(file)
        if is_export(content):
            if env is not None:
                raise ValueError(
                    f"{named!r} is an export, which cannot be trained further; load the saved model (.zip)"
                )
            return cls(read_export(content, named), **options)
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise ValueError(f"{named!r} is no model: neither saved by Stable-Baselines3 nor exported")
        vouched = getattr(file, "trusted", False) if trust is False else trust
        ensure_trusted(named, hashlib.sha256(content).hexdigest(), vouched)
        agent = cls(unpickled(content, algo, named), **options)
        if env is None:
            return agent
        return cls(unpickled(content, algo, named, attach(agent.model, env, agent.recipe)), **options)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that tables show."""
        return {"n_arms": self.n_arms, "algorithm": self.algorithm, "deterministic": self.deterministic}

    def __repr__(self) -> str:
        return f"SB3Agent({self.algorithm}, n_arms={self.n_arms}, deterministic={self.deterministic})"

    def __deepcopy__(self, memo: dict[int, Any]) -> SB3Agent:
        """A new agent with the same model, which is shared because playing does not change it."""
        return SB3Agent(self.model, deterministic=self.deterministic, name=self.name)

    def reset(self, seed: int | None = None) -> None:
        """Forget the episode and restart the agent's own stream."""
        self._hidden: Any = None
        self._first = True
        generator = torch.Generator()
        if seed is None:
            generator.seed()
        else:
            generator.manual_seed(seed)
        self._stream = generator.get_state()

    def act(self, observation: Any = None, *, mask: npt.NDArray[np.bool_] | None = None) -> int:
        """The arm to play.

        Args:
            observation: what the environment showed.
            mask: (K,) which arms can be played; only for MaskablePPO.
        """
        shown = self._checked(observation)
        masks = {"action_masks": mask} if mask is not None else {}
        if masks and not self.handles_mask:
            raise ValueError(f"{self.algorithm} cannot use masks; train a MaskablePPO, or use beta-swts or sw-ucb")
        with self._own_stream():
            arm, self._hidden = self.model.predict(
                shown,
                state=self._hidden,
                episode_start=np.array([self._first]),
                deterministic=self.deterministic,
                **masks,
            )
        self._first = False
        return int(arm)

    def runs_at_once(self, env: gym.Env[Any, Any]) -> int:
        """How many runs on this environment can be played together; 0 if each has to be played alone."""
        plan = Plan.of(env)
        fits = plan is not None and env.observation_space.shape == self.model.observation_space.shape
        if plan is None or not fits or scores_of(self.model) is None:
            return 0
        return plan.runs_at_once() if self.deterministic or draws_are_known() else 0

    def play_at_once(self, env: gym.Env[Any, Any], seeds: list[tuple[int, int]]) -> Iterator[Round]:
        """The rounds of runs with these pairs of seeds, each as :meth:`act` plays it; only if they fit at once."""
        plan, scores = Plan.of(env), scores_of(self.model)
        assert plan is not None
        assert scores is not None
        return play_rounds(self.model, scores, Batch(plan, len(seeds)), seeds, self.deterministic)

    def observe(self, arm: int, reward: float) -> None:
        """Do nothing: the next observation contains the reward."""

    @contextmanager
    def _own_stream(self) -> Iterator[None]:
        with STREAM:
            others = torch.get_rng_state()
            torch.set_rng_state(self._stream)
            try:
                yield
            finally:
                self._stream = torch.get_rng_state()
                torch.set_rng_state(others)

    def _checked(self, observation: Any) -> npt.NDArray[Any]:
        wanted = self.model.observation_space
        shape = None if observation is None else np.shape(observation)
        if shape != wanted.shape:
            got = "none" if shape is None else f"one of shape {shape}"
            how = f", with {in_words(self.recipe)}: agent.wrap(env) adds what it can" if self.recipe else ""
            raise ValueError(
                f"the model was trained on observations of shape {wanted.shape} and got {got}; wrap the environment as "
                f"in training{how}"
            )
        return np.asarray(observation)
