"""Recipes of observations: the wrappers between the bandit and the learner, by name with their arguments.

A recipe is plain data, which is saved with a model and can be read without running anything. Most wrappers in it can be
put around another environment again. Those that cannot are named all the same, so that a user can be told what is
missing: unknown wrappers, and :class:`~ns_mab_gym.wrappers.ArmAvailability`, which is part of the problem that is
played, not of what a learner needs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import FlattenObservation, FrameStackObservation, TimeAwareObservation
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper, VecFrameStack

from ..envs.vector import NSBanditVectorEnv
from ..wrappers import ArmAvailability, DelayedRewards, LastRounds, WindowedStatistics
from .vec_env import SB3VecEnv

HOUSE = __name__.partition(".")[0]
LONGEST = 10_000_000  # rounds that a wrapper out of a file may remember
Recipe = list[tuple[str, dict[str, Any]]]  # names of wrappers and their arguments, the innermost first


def _count(value: Any) -> bool:
    return type(value) is int and 0 < value <= LONGEST


def _one_of(*allowed: str | bool) -> Callable[[Any], bool]:
    return lambda value: type(value) in (str, bool) and value in allowed


# the wrappers of a single environment: their arguments, and whether each may have a value.
ARGUMENTS: dict[type, dict[str, Callable[[Any], bool]]] = {
    WindowedStatistics: {"window": _count},
    LastRounds: {"n": _count},
    ArmAvailability: {
        "probability": lambda value: type(value) in (int, float) and 0 < value <= 1,
        "if_masked": _one_of("raise", "substitute"),
    },
    FrameStackObservation: {"stack_size": _count, "padding_type": _one_of("reset", "zero")},
    FlattenObservation: {},
    TimeAwareObservation: {
        "flatten": _one_of(True),
        "normalize_time": _one_of(True, False),
        "dict_time_key": lambda value: isinstance(value, str),
    },
}
KINDS: dict[str, Any] = {kind.__name__: kind for kind in ARGUMENTS}  # by their names in a recipe
ONLY_BY_HAND = {"ArmAvailability"}  # closes arms, also to the agents that the model is compared with
FOREIGN = re.compile(r"[A-Z]\w{0,99}")


def rebuilds(name: str) -> bool:
    """Return whether a wrapper of this name can be put around an environment again."""
    return name in KINDS and name not in ONLY_BY_HAND


def in_words(recipe: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the wrappers of a recipe, for a message.

    >>> in_words([("WindowedStatistics", {"window": 10}), ("FlattenObservation", {})])
    'WindowedStatistics(window=10), FlattenObservation()'
    >>> in_words([])
    'no wrappers'
    """
    texts = (f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in recipe)
    return ", ".join(texts) or "no wrappers"


def missing(recipe: Recipe, present: Recipe) -> Recipe | None:
    """Return the part of a recipe that the present wrappers lack; None if they do not begin as the recipe does.

    Arms may be closed with another probability than in training.
    """
    if len(present) > len(recipe):
        return None
    for (name, arguments), (own, given) in zip(recipe, present, strict=False):
        if name != own or (rebuilds(name) and arguments != given):
            return None
    return recipe[len(present) :]


def as_in_training(env: gym.Env[Any, Any], recipe: Recipe) -> gym.Env[Any, Any]:
    """Return the environment with what it lacks of a recipe; raises a ValueError if that cannot be added.

    It cannot if the wrappers that are there contradict the recipe, or if one that is missing cannot be rebuilt.
    """
    present = layers_of(env)
    lacking = missing(recipe, present)
    if lacking is None and recipe:
        raise ValueError(
            f"the model was trained with {in_words(recipe)}, and the environment has {in_words(present)}; wrap it as "
            f"in training, or not at all: then the model's wrappers are added"
        )
    if by_hand := [entry for entry in lacking or [] if not rebuilds(entry[0])]:
        raise ValueError(
            f"the model was trained with {in_words(recipe)}, of which {in_words(by_hand)} cannot be added here; wrap "
            f"the environment in it as in training, then the rest is added (known are "
            f"{', '.join(filter(rebuilds, KINDS))})"
        )
    for name, arguments in lacking or []:
        try:
            env = KINDS[name](env, **arguments)
        except ValueError as error:
            if name != "TimeAwareObservation":
                raise
            raise ValueError(
                f"the model was trained with {name}: {error} Use gym.make(…, max_episode_steps=T)"
            ) from None
    return env


def checked_recipe(given: Any) -> Recipe:
    """Return the recipe in a file of any author; raises a ValueError if it names anything but wrappers."""
    if not isinstance(given, list):
        raise ValueError(f"its wrappers must be a list, got {str(given)[:60]}")
    recipe: Recipe = []
    for each in given:
        name, arguments = each if isinstance(each, list | tuple) and len(each) == 2 else (None, None)
        if not isinstance(name, str) or not FOREIGN.fullmatch(name) or not isinstance(arguments, dict):
            raise ValueError(f"a wrapper must be one of observations with its arguments, got {str(each)[:60]}")
        allowed = ARGUMENTS.get(KINDS.get(name, object), {})
        if arguments.keys() != allowed.keys() or not all(allowed[key](value) for key, value in arguments.items()):
            raise ValueError(
                f"arguments of wrappers must be complete and in range (at most {LONGEST:,}), got {str(each)[:60]}"
            )
        recipe.append((name, arguments))
    return recipe


def recipe_of(venv: Any) -> Recipe:
    """Return the recipe of the observations of a Stable-Baselines3 ``VecEnv``; empty if there is no environment."""
    around: Recipe = []
    while isinstance(venv, VecEnvWrapper):
        before = venv.venv.observation_space
        if isinstance(venv, VecFrameStack) and len(before.shape or ()) == 1:
            frames = {"stack_size": int(venv.stacked_obs.n_stack), "padding_type": "zero"}
            around = [("FrameStackObservation", frames), ("FlattenObservation", {}), *around]
        elif venv.observation_space != before:
            around = [(type(venv).__name__, {}), *around]
        venv = venv.venv
    if isinstance(venv, SB3VecEnv):
        return layers_of(venv.envs) + around
    if isinstance(venv, DummyVecEnv):
        return layers_of(venv.envs[0]) + around
    return around if venv is None else _remote(venv) + around


def _remote(envs: Any) -> Recipe:
    """Return the recipe of environments in other processes, from their specification; empty if they have none."""
    try:
        spec = envs.get_attr("spec")[0]
    except (AttributeError, NotImplementedError):
        return []
    recipe: Recipe = []
    for each in getattr(spec, "additional_wrappers", ()):
        module, _, name = each.entry_point.partition(":")
        kind = getattr(sys.modules.get(module), name, None)
        if kind is None or (isinstance(kind, type) and issubclass(kind, gym.ObservationWrapper)) or name in KINDS:
            recipe.append(_entry(kind, name, each.kwargs or {}))
    return recipe


def layers_of(env: Any) -> Recipe:
    """Return the recipe of an environment of Gymnasium, a single or a vector one; late rewards are no part of it."""
    bare, recipe = env.unwrapped, Recipe()
    if isinstance(bare, gym.vector.VectorEnv) and not isinstance(bare, NSBanditVectorEnv):
        recipe += layers_of(bare.envs[0]) if isinstance(bare, gym.vector.SyncVectorEnv) else _remote(bare)
    for layer in inside_out(env):
        kind = type(layer)
        name = kind.__name__.removeprefix("Vector")
        space = "single_observation_space" if isinstance(layer, gym.vector.VectorWrapper) else "observation_space"
        if name in KINDS:
            recipe.append(_entry(kind, name, layer._saved_kwargs if isinstance(layer, RecordConstructorArgs) else {}))
        elif isinstance(layer, DelayedRewards):
            continue  # part of the problem, and changes no shape
        elif (
            isinstance(layer, gym.ObservationWrapper | gym.vector.VectorObservationWrapper)
            or getattr(layer, space) != getattr(layer.env, space)
        ):  # fmt: skip
            recipe.append((kind.__name__, {}))
    return recipe


def inside_out(env: Any) -> list[Any]:
    """Return the wrappers of an environment of Gymnasium, the innermost first."""
    layers: list[Any] = []
    while isinstance(env, gym.Wrapper | gym.vector.VectorWrapper):
        layers.insert(0, env)
        env = env.env
    return layers


def _entry(kind: Any, name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the entry of a wrapper: with its arguments if recipes know it and they are plain, else by name."""
    if name not in KINDS:
        return name, {}
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()}
    house = getattr(kind, "__module__", "").startswith(f"{HOUSE}.")  # the twins for vector environments, too
    allowed = ARGUMENTS[KINDS[name]]
    if (kind is KINDS[name] or house) and all(key in plain and fits(plain[key]) for key, fits in allowed.items()):
        return name, {key: plain[key] for key in allowed}
    return f"Custom{name}", {}
