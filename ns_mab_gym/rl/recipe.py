"""Records how the observations of a model were made: the wrappers between the environment and the learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from .. import wrappers
from ..wrappers.memory import MemoryObservation, VectorMemoryObservation
from .vec_env import SB3VecEnv

__all__ = ["Recipe", "apply", "checked_recipe", "recipe_of"]

LONGEST = 10_000_000  # rounds that a wrapper out of a file may remember
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


def checked_recipe(given: Any) -> Recipe:
    """The recipe in a file that anybody may have written; raises a ValueError if it names anything but wrappers."""
    if not isinstance(given, list):
        raise ValueError(f"its wrappers must be a list, got {str(given)[:60]}")
    checked: Recipe = []
    for each in given:
        name, arguments = each if isinstance(each, list) and len(each) == 2 else (None, None)
        kind = getattr(wrappers, name, None) if isinstance(name, str) and name in wrappers.__all__ else None
        if not (isinstance(kind, type) and issubclass(kind, MemoryObservation) and isinstance(arguments, dict)):
            raise ValueError(f"a wrapper must be one of observations with its arguments, got {str(each)[:60]}")
        if not all(type(value) is int and 0 < value <= LONGEST for value in arguments.values()):
            raise ValueError(f"arguments of wrappers must be integers from 1 to {LONGEST:,}, got {str(arguments)[:60]}")
        checked.append((str(name), arguments))
    return checked


def apply(recipe: Sequence[Any], env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """The environment wrapped by the recipe."""
    for name, arguments in recipe:
        env = getattr(wrappers, name)(env, **arguments)
    return env
