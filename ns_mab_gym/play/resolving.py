"""Turns what a user names into objects: environments from ids and worlds, agents from names and saved models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from ..agents.core.arguments import known_parameters
from ..agents.core.registry import load_path, looks_like_path
from ..worlds import catalogue
from ..worlds.world import World

__all__ = ["MODELS", "as_agent", "as_env", "names_a_world"]

# name of a kind of saved models: the function that loads one, and the parameters that it takes.
MODELS = {"sb3": ("ns_mab_gym.rl.sb3_agent:SB3Agent.load", ("path", "algo", "deterministic", "name"))}


def names_a_world(env: object) -> bool:
    """Whether this is the name of a world, or the ``package.module:Class`` of one, rather than an id of Gymnasium.

    >>> names_a_world("piecewise"), names_a_world("NSBandit-Piecewise-v0")
    (True, False)
    """
    return isinstance(env, str) and env not in gym.registry and (env in catalogue.WORLDS or looks_like_path(env))


def as_env(env: Any, kwargs: Mapping[str, Any]) -> gym.Env[Any, Any]:
    """The environment of an id or of a world (an object, a class or a name); an environment is returned as it is."""
    if isinstance(env, World) or (isinstance(env, type) and issubclass(env, World)) or names_a_world(env):
        world = env if isinstance(env, World) else None
        own = {} if world else {key: kwargs[key] for key in _parameters(env) if key in kwargs}
        others = {key: value for key, value in kwargs.items() if key not in own}
        made = world or (env(**own) if isinstance(env, type) else catalogue.make(env, **own))
        return gym.make("NSBandit-v0", world=made, **others)
    if isinstance(env, str):
        return gym.make(env, **kwargs)
    if kwargs:
        raise TypeError("env_kwargs go with an id or a world; this environment is already made")
    if not isinstance(env, gym.Env):
        raise TypeError(f"env must be an id, a world or an environment, got {env!r}")
    return env


def _parameters(world: Any) -> tuple[str, ...]:
    kind: type[World] = world if isinstance(world, type) else catalogue.kind(world)
    return kind.parameters()


def as_agent(agent: Any, kwargs: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The agent, or its name or class, with the parameters that remain to be passed; a saved model is loaded."""
    if not isinstance(agent, str) or agent not in MODELS:
        return agent, dict(kwargs)
    path, allowed = MODELS[agent]
    known_parameters(f"agent {agent!r}", kwargs, allowed)
    if "path" not in kwargs:
        raise ValueError(f"agent {agent!r} needs path=, the file of a saved model, such as {agent}:path=ppo.zip")
    return load_path(path)(**kwargs), {}
