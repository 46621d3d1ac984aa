"""Recipes: how the observations of a model are made, as names of wrappers and their arguments.

A recipe is plain data, which is saved with a model and can be read without running anything. Most wrappers in it can be
put around another environment again. Those that cannot are named all the same, so that a user can be told what is
missing: wrappers that nobody here knows, and :class:`~ns_mab_gym.wrappers.ArmAvailability`, which is part of the
problem that is played, not of what a learner needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import FlattenObservation, FrameStackObservation, TimeAwareObservation

from ..wrappers import ArmAvailability, LastRounds, WindowedStatistics

__all__ = ["ARGUMENTS", "KINDS", "Recipe", "apply", "checked_recipe", "in_words", "missing"]

LONGEST = 10_000_000  # rounds that a wrapper out of a file may remember
Recipe = list[tuple[str, dict[str, Any]]]  # names of wrappers and their arguments, the innermost first


def _count(value: Any) -> bool:
    return type(value) is int and 0 < value <= LONGEST


def _flag(value: Any) -> bool:
    return type(value) is bool


# a name in a recipe: the wrapper of a single environment.
KINDS: dict[str, type[gym.Wrapper[Any, Any, Any, Any]]] = {
    kind.__name__: kind
    for kind in (
        WindowedStatistics, LastRounds, ArmAvailability,
        FrameStackObservation, FlattenObservation, TimeAwareObservation,
    )
}  # fmt: skip
# its arguments, and what each of them may be.
ARGUMENTS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "WindowedStatistics": {"window": _count},
    "LastRounds": {"n": _count},
    "ArmAvailability": {
        "probability": lambda value: type(value) in (int, float) and 0 < value <= 1,
        "if_masked": lambda value: isinstance(value, str) and value in ("raise", "substitute"),
    },
    "FrameStackObservation": {
        "stack_size": _count,
        "padding_type": lambda value: isinstance(value, str) and value in ("reset", "zero"),
    },
    "FlattenObservation": {},
    "TimeAwareObservation": {
        "flatten": lambda value: value is True,
        "normalize_time": _flag,
        "dict_time_key": lambda value: isinstance(value, str),
    },
}
ONLY_BY_HAND = {"ArmAvailability"}  # closes arms, also to the agents that the model is compared with
FOREIGN = re.compile(r"[A-Z]\w{0,99}")


def rebuilds(name: str) -> bool:
    """Whether a wrapper of this name can be put around an environment by :func:`apply`."""
    return name in KINDS and name not in ONLY_BY_HAND


def in_words(recipe: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The wrappers of a recipe, for a message.

    >>> in_words([("WindowedStatistics", {"window": 10}), ("FlattenObservation", {})])
    'WindowedStatistics(window=10), FlattenObservation()'
    >>> in_words([])
    'no wrappers'
    """
    texts = (f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in recipe)
    return ", ".join(texts) or "no wrappers"


def missing(recipe: Recipe, present: Recipe) -> Recipe | None:
    """What of a recipe an environment with these wrappers lacks; None if it does not begin as the recipe does.

    Args:
        recipe: how the observations of a model are made.
        present: the wrappers that are there. Arms may be closed with another probability than in training.
    """
    if len(present) > len(recipe):
        return None
    for (name, arguments), (own, given) in zip(recipe, present, strict=False):
        if name != own or (rebuilds(name) and arguments != given):
            return None
    return recipe[len(present) :]


def apply(recipe: Recipe, env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """The environment wrapped by a recipe; raises a ValueError if a wrapper in it cannot be rebuilt."""
    if by_hand := [entry for entry in recipe if not rebuilds(entry[0])]:
        raise ValueError(
            f"the model was trained with {in_words(recipe)}, of which {in_words(by_hand)} cannot be added here; wrap "
            f"the environment in it as in training, then the rest is added (known are "
            f"{', '.join(filter(rebuilds, KINDS))})"
        )
    for name, arguments in recipe:
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
    """The recipe in a file that anybody may have written; raises a ValueError if it names anything but wrappers."""
    if not isinstance(given, list):
        raise ValueError(f"its wrappers must be a list, got {str(given)[:60]}")
    return [_checked_entry(each) for each in given]


def _checked_entry(each: Any) -> tuple[str, dict[str, Any]]:
    name, arguments = each if isinstance(each, list | tuple) and len(each) == 2 else (None, None)
    allowed = ARGUMENTS.get(name, {}) if isinstance(name, str) else {}
    if not isinstance(name, str) or not FOREIGN.fullmatch(name) or not isinstance(arguments, dict):
        raise ValueError(f"a wrapper must be one of observations with its arguments, got {str(each)[:60]}")
    if arguments.keys() != allowed.keys():
        raise ValueError(f"a wrapper must be one of observations with all its arguments, got {str(each)[:60]}")
    if not all(allowed[key](value) for key, value in arguments.items()):
        raise ValueError(f"arguments of wrappers must be in their ranges (at most {LONGEST:,}), got {str(each)[:60]}")
    return name, arguments
