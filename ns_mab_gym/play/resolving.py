"""Turns what users name into objects: environments from ids, worlds and tables, agents from names and saved models."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import gymnasium as gym

from ..agents.core.arguments import known_parameters, shown
from ..agents.core.parameter_types import typed
from ..agents.core.registry import load_path, looks_like_path
from ..means import as_means
from ..worlds import catalogue
from ..worlds.world import World
from .episode import check_plays

__all__ = ["MODELS", "as_agent", "as_env", "names_a_world"]

# name of a kind of saved models: the function that loads one, and the parameters that it takes.
MODELS = {"sb3": ("ns_mab_gym.rl.sb3_agent:SB3Agent.load", ("path", "algo", "deterministic", "name", "trust"))}
TABLES = (".csv", ".parquet", ".npz")  # the endings of files that hold means


def names_a_world(env: object) -> bool:
    """Whether this is the name of a world, or the ``package.module:Class`` of one, rather than an id of Gymnasium.

    >>> names_a_world("piecewise"), names_a_world("NSBandit-Piecewise-v0")
    (True, False)
    """
    return isinstance(env, str) and env not in gym.registry and (env in catalogue.WORLDS or looks_like_path(env))


def as_env(env: Any, kwargs: Mapping[str, Any]) -> gym.Env[Any, Any]:
    """The environment of an id, of a world (an object, a class or a name) or of a table of means (an array or a file).

    An environment is returned as it is.
    """
    if isinstance(env, World) or (isinstance(env, type) and issubclass(env, World)) or names_a_world(env):
        return _env_of_world(env, kwargs)
    if given := _table(env):
        own = {key: kwargs[key] for key in ("horizon", "n_arms") if key in kwargs}
        others = {key: value for key, value in kwargs.items() if key not in own}
        return gym.make("NSBandit-v0", world=catalogue.make("table", **given, **own), **others)
    if isinstance(env, str):
        if env.startswith(":"):
            raise ValueError(f"an id of Gymnasium is 'Name-v0' or 'module:Name-v0', got {shown(env)}")
        return gym.make(env, **kwargs)
    if not isinstance(env, gym.Env):
        raise TypeError(
            f"env must be an id, a world or an environment, got {shown(env)}; means are given as an array of T rows "
            f"and K columns, or as the path of a file that holds one ({', '.join(TABLES)})"
        )
    if kwargs:
        raise TypeError("env_kwargs go with an id or a world; this environment is already made")
    return env


def _env_of_world(env: Any, kwargs: Mapping[str, Any]) -> gym.Env[Any, Any]:
    world = env if isinstance(env, World) else None
    own = {} if world else {key: kwargs[key] for key in _parameters(env) if key in kwargs}
    others = {key: value for key, value in kwargs.items() if key not in own}
    if "world" in others:
        raise TypeError(f"{shown(env)} is a world already; leave out world={shown(others['world'])}")
    made = world or (typed(env, own, lambda: env(**own)) if isinstance(env, type) else catalogue.make(env, **own))
    return gym.make("NSBandit-v0", world=made, **others)


def _table(env: Any) -> dict[str, Any]:
    """The argument of a table world, if this is an array of means or the path of a file; else none."""
    if isinstance(env, PathLike) or (isinstance(env, str) and _names_a_file(env)):
        return {"path": fspath(env)}
    listed = isinstance(env, list | tuple) and not any(isinstance(row, str) for row in env)
    if listed or (hasattr(env, "__array__") and not isinstance(env, gym.Env | type)):
        return {"rows": as_means(env, "env")}
    return {}


def _names_a_file(name: str) -> bool:
    return name.lower().endswith(TABLES) and name not in gym.registry


def _parameters(world: Any) -> tuple[str, ...]:
    kind: type[World] = world if isinstance(world, type) else catalogue.kind(world)
    return kind.parameters()


def as_agent(agent: Any, kwargs: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The agent, or its name or class, with the parameters that remain to be passed; a saved model is loaded."""
    if not isinstance(agent, str):
        check_plays(agent)
        return agent, dict(kwargs)
    if agent not in MODELS:
        return agent, dict(kwargs)
    path, allowed = MODELS[agent]
    known_parameters(f"agent {agent!r}", kwargs, allowed)
    if "path" not in kwargs:
        raise ValueError(f"agent {agent!r} needs path=, the file of a saved model, such as {agent}:path=ppo.zip")
    return load_path(path)(**kwargs), {}
