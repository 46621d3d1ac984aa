"""Environments on which a saved model is trained further."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from stable_baselines3.common.vec_env import VecEnv

from ..agents.core.arguments import shown
from .batched_envs import TWINS
from .observation_layers import as_in_training, layers_of, recipe_of
from .recipe import KINDS, Recipe, in_words, missing
from .vec_env import SB3VecEnv

__all__ = ["attach"]


def attach(model: Any, env: Any, recipe: Recipe) -> Any:
    """The environment in the form in which a model can learn on it; raises an error if it does not fit.

    Args:
        model: the model.
        env: a single environment or a vector one, of Gymnasium or of Stable-Baselines3.
        recipe: how the observations of the model are made; what the environment lacks of it is added.
    """
    learnt = _rewrapped(env, recipe)
    if isinstance(learnt, VecEnv) and recipe and missing(recipe, recipe_of(learnt)) != []:
        raise ValueError(
            f"the model was trained with {in_words(recipe)}, and this VecEnv has {in_words(recipe_of(learnt))}; wrap "
            f"it as in training, or pass a single environment, to which the wrappers are added"
        )
    for what in ("observation_space", "action_space"):
        wanted, got = getattr(model, what), getattr(learnt, what)
        if wanted != got:
            raise ValueError(f"the model was trained with the {what.replace('_', ' ')} {wanted}, this one is {got}")
    return learnt


def _rewrapped(env: Any, recipe: Recipe) -> Any:
    if isinstance(env, gym.vector.VectorEnv):
        return SB3VecEnv(_vector(env, recipe))
    if isinstance(env, gym.Env):
        return as_in_training(env, recipe)
    if not isinstance(env, VecEnv):
        raise TypeError(f"env must be an environment of Gymnasium or a VecEnv, got {shown(env)}; gym.make makes one")
    return env


def _vector(envs: Any, recipe: Recipe) -> Any:
    """The vector environment with the twins of the wrappers that it lacks, as far as they have one."""
    for name, arguments in missing(recipe, layers_of(envs)) or []:
        if (twin := TWINS.get(KINDS.get(name, object))) is None:
            break  # what is still lacking is named above
        envs = twin(envs, **arguments)
    return envs
