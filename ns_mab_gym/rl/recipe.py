"""Records how the observations of a model were made: the wrappers between the environment and the learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from .. import wrappers
from ..wrappers.memory import MemoryObservation, VectorMemoryObservation
from .vec_env import SB3VecEnv

__all__ = ["Recipe", "apply", "recipe_of"]

Recipe = list[tuple[str, dict[str, Any]]]  # names in ns_mab_gym.wrappers and their arguments, the innermost first


def recipe_of(venv: Any) -> Recipe:
    """The observation wrappers of a Stable-Baselines3 ``VecEnv``; empty if there is no environment."""
    base = getattr(venv, "unwrapped", None)
    layer: Any = base.envs if isinstance(base, SB3VecEnv) else next(iter(getattr(base, "envs", [])), None)
    recipe: Recipe = []
    while isinstance(layer, gym.Wrapper | gym.vector.VectorWrapper):
        if isinstance(layer, MemoryObservation | VectorMemoryObservation):
            assert isinstance(layer, RecordConstructorArgs)
            recipe.insert(0, (type(layer).__name__.removeprefix("Vector"), dict(layer._saved_kwargs)))
        layer = layer.env
    return recipe


def apply(recipe: Sequence[Any], env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """The environment wrapped by the recipe."""
    for name, arguments in recipe:
        env = getattr(wrappers, name)(env, **arguments)
    return env
