"""A trained model as an agent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.save_util import load_from_zip_file

from .algorithm_table import algorithm, name_of
from .recipe import apply, recipe_of

__all__ = ["SB3Agent"]

STREAM = threading.Lock()  # torch has one generator for all threads
NOTE = "ns_mab_gym"  # the attribute of a saved model that records how it was trained


class SB3Agent:
    """A Stable-Baselines3 model that plays wherever agents play: ``run_episode``, ``simulate``, plots and reports.

    Everything it knows comes with the observation, so the environment must be wrapped as it was in training:
    :meth:`wrap` does that, and agents that need no observation can play the same environment too. The hidden
    state of a recurrent policy is kept from round to round. The policy draws from a random stream of the agent's
    own, seeded by ``reset(seed)``; torch's global stream is left as it was.

    Args:
        model: a trained PPO, A2C, DQN, RecurrentPPO or MaskablePPO.
        deterministic: play the likeliest arm instead of drawing one; ``None`` draws where the policy is a distribution
            (a policy trained to explore needs its randomness) and not for DQN, whose policy is deterministic.
        name: what plots and tables call it.
    """

    only_generic = True  # a network has no compiled form; simulate does not warn about it
    handles_delay = True  # late rewards reach it through the observation, as in training

    def __init__(self, model: Any, *, deterministic: bool | None = None, name: str | None = None) -> None:
        self.model = model
        self.algorithm = type(model).__name__
        self.name = name or f"sb3-{name_of(model)}"
        self.deterministic = self.algorithm == "DQN" if deterministic is None else deterministic
        self.handles_mask = self.algorithm == "MaskablePPO"
        if not isinstance(model.action_space, Discrete) or not isinstance(model.observation_space, Box):
            raise TypeError(
                f"a bandit agent needs a model with Discrete actions and Box observations, this {self.algorithm} has "
                f"{model.action_space} and {model.observation_space}"
            )
        if self.algorithm == "DQN" and not self.deterministic:
            raise ValueError("DQN is played greedily, deterministic=True: its exploration is part of its training")
        normalised = model.get_vec_normalize_env()
        if normalised is not None and normalised.norm_obs:
            raise ValueError(
                "the model was trained on normalised observations; train with VecNormalize(norm_obs=False)"
            )
        self.n_arms = int(model.action_space.n)
        noted = [(name, arguments) for name, arguments in getattr(model, NOTE, {}).get("recipe", [])]
        self.recipe = recipe_of(model.get_env()) or noted
        self.reset()

    def wrap(self, env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        """The environment with the suite's observation wrappers that the model was trained with, if it lacks them."""
        fits = env.observation_space.shape == self.model.observation_space.shape
        return env if fits else apply(self.recipe, env)

    def save(self, path: str | Path) -> None:
        """Save the model with a note of its algorithm and its observation wrappers, for :meth:`load`."""
        setattr(self.model, NOTE, {"algo": name_of(self.model), "recipe": self.recipe})
        self.model.save(path)

    @classmethod
    def load(cls, path: str | Path, algo: str | None = None, **options: Any) -> SB3Agent:
        """The agent of a saved model.

        Args:
            path: the file that :meth:`save`, or the model's own ``save``, wrote.
            algo: a name in :func:`ns_mab_gym.rl.algorithms`; only for files of the model's own ``save``.
            options: ``deterministic`` and ``name``.
        """
        note = (load_from_zip_file(path, device="cpu")[0] or {}).get(NOTE, {})
        if algo is None and "algo" not in note:
            raise ValueError(f"{str(path)!r} does not say of which algorithm it is; pass algo=, such as algo='ppo'")
        return cls(algorithm(algo or note["algo"]).load(path, device="cpu"), **options)

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
            raise ValueError(
                f"the model was trained on observations of shape {wanted.shape} and got {got}; wrap the environment as "
                f"in training, for example in ns_mab_gym.wrappers.WindowedStatistics with the same window"
            )
        return np.asarray(observation)
