"""Reads off environments how their observations are made: every wrapper between the bandit and the learner."""

from __future__ import annotations

import sys
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper, VecFrameStack

from ..envs.vector import NSBanditVectorEnv
from ..wrappers import DelayedRewards
from .recipe import ARGUMENTS, KINDS, Recipe, apply, in_words, missing
from .vec_env import SB3VecEnv

__all__ = ["as_in_training", "inside_out", "layers_of", "recipe_of"]

HOUSE = __name__.partition(".")[0]


def as_in_training(env: gym.Env[Any, Any], recipe: Recipe) -> gym.Env[Any, Any]:
    """The environment with what it lacks of a recipe; raises a ValueError if its wrappers contradict the recipe."""
    present = layers_of(env)
    lacking = missing(recipe, present)
    if lacking is None and recipe:
        raise ValueError(
            f"the model was trained with {in_words(recipe)}, and the environment has {in_words(present)}; wrap it as "
            f"in training, or not at all: then the model's wrappers are added"
        )
    return env if lacking is None else apply(lacking, env)


def recipe_of(venv: Any) -> Recipe:
    """The recipe of the observations of a Stable-Baselines3 ``VecEnv``; empty if there is no environment."""
    around: Recipe = []
    while isinstance(venv, VecEnvWrapper):
        around = _around(venv) + around
        venv = venv.venv
    return _below(venv) + around


def _around(venv: VecEnvWrapper) -> Recipe:
    """What one wrapper of Stable-Baselines3 does to observations."""
    before = venv.venv.observation_space
    if isinstance(venv, VecFrameStack) and len(before.shape or ()) == 1:
        frames = {"stack_size": int(venv.stacked_obs.n_stack), "padding_type": "zero"}
        return [("FrameStackObservation", frames), ("FlattenObservation", {})]
    return [] if venv.observation_space == before else [(type(venv).__name__, {})]


def _below(venv: Any) -> Recipe:
    """The recipe of a ``VecEnv`` without wrappers of its own kind."""
    if isinstance(venv, SB3VecEnv):
        return layers_of(venv.envs)
    if isinstance(venv, DummyVecEnv):
        return layers_of(venv.envs[0])
    return [] if venv is None else _remote(venv)


def _remote(envs: Any) -> Recipe:
    """The recipe of environments in other processes, read off their specification; empty if they have none."""
    try:
        spec = envs.get_attr("spec")[0]
    except (AttributeError, NotImplementedError):
        return []
    return [entry for each in getattr(spec, "additional_wrappers", ()) for entry in _specified(each)]


def _specified(spec: Any) -> Recipe:
    module, _, name = spec.entry_point.partition(":")
    kind = getattr(sys.modules.get(module), name, None)
    if kind is None or (isinstance(kind, type) and issubclass(kind, gym.ObservationWrapper)) or name in KINDS:
        return [_entry(kind, name, spec.kwargs or {})]
    return []


def layers_of(env: Any) -> Recipe:
    """The recipe of an environment of Gymnasium, a single or a vector one."""
    return _each(env.unwrapped) + [entry for layer in inside_out(env) for entry in _layer(layer)]


def _each(envs: Any) -> Recipe:
    """The recipe of the parts of a vector environment; the native one has none."""
    if not isinstance(envs, gym.vector.VectorEnv) or isinstance(envs, NSBanditVectorEnv):
        return []
    return layers_of(envs.envs[0]) if isinstance(envs, gym.vector.SyncVectorEnv) else _remote(envs)


def inside_out(env: Any) -> list[Any]:
    """The wrappers of an environment of Gymnasium, the innermost first."""
    layers: list[Any] = []
    while isinstance(env, gym.Wrapper | gym.vector.VectorWrapper):
        layers.insert(0, env)
        env = env.env
    return layers


def _layer(layer: Any) -> Recipe:
    """What one wrapper does to observations; late rewards are part of the problem, and change no shape."""
    kind = type(layer)
    name = kind.__name__.removeprefix("Vector")
    if name in KINDS:
        given = layer._saved_kwargs if isinstance(layer, RecordConstructorArgs) else {}
        return [_entry(kind, name, given)]
    space = "single_observation_space" if isinstance(layer, gym.vector.VectorWrapper) else "observation_space"
    changes = isinstance(layer, gym.ObservationWrapper | gym.vector.VectorObservationWrapper)
    changes = changes or getattr(layer, space) != getattr(layer.env, space)
    return [(kind.__name__, {})] if changes and not isinstance(layer, DelayedRewards) else []


def _entry(kind: Any, name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The entry of a wrapper: with its arguments if it is one that recipes know, and they are plain; else by name."""
    if name not in KINDS:
        return name, {}
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()}
    house = getattr(kind, "__module__", "").startswith(f"{HOUSE}.")  # the twins for vector environments, too
    known = (kind is KINDS[name] or house) and plain.keys() >= ARGUMENTS[name].keys()
    if known and all(allowed(plain[key]) for key, allowed in ARGUMENTS[name].items()):
        return name, {key: plain[key] for key in ARGUMENTS[name]}
    return f"Custom{name}", {}
