"""One grammar for worlds and agents, used by ``simulate``, ``compare``, ``tune``, ``recommend``, commands and studies.

A world is an id of Gymnasium, a world or its name, ``"package.module:Class"``, a (T, K) array of means, the file of one
or an environment; an agent is a name, ``"package.module:Class"``, a class, an object, or a saved model. Both take
parameters, as text (``"beta-swts:window=100"``, read by :mod:`ns_mab_gym.agents.core.registry`, since ``agents.make``
takes it too) or in a pair (``("beta-swts", {"window": 100})``). :class:`WorldSpec` and :class:`AgentSpec` are these
with a label, :func:`as_env` and :func:`as_agent` what they make.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self, TypeVar

import gymnasium as gym
import numpy as np

from .agents.core.arguments import as_integer, known_parameters, nearest, plain_text, positive, positive_int, shown
from .agents.core.registry import (
    PLAYS,
    TEXTS,
    Values,
    check_parameters,
    check_single,
    current_folder_importable,
    is_number,
    is_pair,
    kind,
    load_path,
    looks_like_path,
    names,
    read_text,
    unpacked,
    write_text,
)
from .envs.bandit import NSBanditEnv
from .files import KeptFile
from .means import Floats, as_means
from .rewards import Law
from .worlds import world as worlds
from .worlds.world import World

S = TypeVar("S", bound="Spec")

# name of a kind of saved models: the function that loads one, and the parameters that it takes.
MODELS = {"sb3": ("ns_mab_gym.rl.agent:SB3Agent.load", ("path", "algo", "deterministic", "name", "trust"))}
TABLES = (".csv", ".parquet", ".npz")  # the endings of files that hold means
LONGEST = 10_000  # letters of a text among the parameters, or of a spec as text
BLIND = ", blind"  # the end of the label of an agent that is told T, K and the law of rewards alone
SHOWN = 40  # letters of a value that is shown in a label
WORLD = (
    "an id such as 'NSBandit-Abrupt-v0', a world or its name, 'piecewise:n_arms=3', 'package.module:Class', a (T, K) "
    "array of means, the file of one (.csv, .parquet, .npz), a log, an environment, or (one of these, arguments)"
)
AGENT = (
    "a name such as 'beta-swts', 'beta-swts:window=500', 'package.module:Class', a class, an agent, "
    "(name or class, parameters), or a sweep"
)
SWEEP = "write one parameter with its values, as in sweep('beta-swts', window=[100, 1000])"


# Environments and agents.


def as_env(given: Any, kwargs: Mapping[str, Any] | None = None) -> gym.Env[Any, Any]:
    """Return the environment of a world in any of its forms; an environment is returned as it is."""
    env, kwargs = _unpacked(given, kwargs)
    if isinstance(env, gym.Env):
        if kwargs:
            raise TypeError("env_kwargs go with an id or a world; this environment is already made")
        return env
    if names_a_file(env) or _is_means(env):
        source = {"path": fspath(env)} if names_a_file(env) else {"rows": as_means(env, "env")}
        size = {key: kwargs.pop(key) for key in ("horizon", "n_arms") if key in kwargs}
        return gym.make("NSBandit-v0", world=worlds.make("table", **source, **size), **kwargs)
    if isinstance(env, World) or (isinstance(env, type) and issubclass(env, World)) or names_a_world(env):
        if "world" in kwargs:
            raise TypeError(f"{shown(env)} is a world already; leave out world={shown(kwargs['world'])}")
        if not isinstance(env, World):
            env = worlds.make(env, **{key: kwargs.pop(key) for key in worlds.kind(env).parameters() if key in kwargs})
        return gym.make("NSBandit-v0", world=env, **kwargs)
    if not isinstance(env, str):
        raise TypeError(f"env must be {WORLD}; got {shown(env)}")
    if env.startswith(":"):
        raise ValueError(f"an id of Gymnasium is 'Name-v0' or 'module:Name-v0', got {shown(env)}")
    if ":" not in env and env not in gym.registry:
        ids = [each for each in gym.registry if each.startswith("NSBandit-")]
        raise ValueError(f"unknown world {env!r}; {nearest(env, [*worlds.names(), *ids])}")
    with current_folder_importable() if ":" in env else nullcontext():
        return gym.make(env, **kwargs)


def means_and_law(given: Any) -> tuple[Floats, Law | None]:
    """Return the (T, K) means of a world in any of its forms, and the law of its rewards; None for means alone.

    Of a random world they are those of the instance of seed 0.

    >>> means, law = means_and_law("abrupt:horizon=100,reward=gaussian,scale=2")
    >>> means.shape, law
    ((100, 10), Gaussian(scale=2))
    """
    if not _is_named(given):
        return as_means(given), None
    env = as_env(given)
    if not isinstance(bandit := env.unwrapped, NSBanditEnv):
        raise TypeError(f"{shown(given)} does not tell its means; give a world, or a (T, K) array of means")
    if bandit.world.random:
        env.reset(seed=0)
    return bandit.means, bandit.law


def as_agent(given: Any, kwargs: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
    """Return the agent, or its name or class, with the parameters that remain to be passed; a saved model is loaded."""
    agent, kwargs = _unpacked(given, kwargs)
    check_single(given, kwargs)
    if not isinstance(agent, str):
        check_plays(agent)
    elif agent in MODELS:
        path, allowed = MODELS[agent]
        known_parameters(f"agent {agent!r}", kwargs, allowed)
        if "path" not in kwargs:
            raise ValueError(f"agent {agent!r} needs path=, the file of a saved model, such as {agent}:path=ppo.zip")
        return load_path(path)(**kwargs), {}
    return agent, kwargs


def check_plays(agent: Any) -> None:
    """Raise a TypeError for what is neither an agent nor a class of agents."""
    if missing := [method for method in PLAYS if not callable(getattr(agent, method, None))]:
        raise TypeError(f"{shown(agent)} is no agent: it has no {missing[0]}(); an agent is {AGENT}")


def names_a_world(given: object) -> bool:
    """Return whether this is the name of a world, or its ``package.module:Class``, rather than an id of Gymnasium.

    >>> names_a_world("piecewise"), names_a_world("NSBandit-Piecewise-v0")
    (True, False)
    """
    return isinstance(given, str) and given not in gym.registry and (given in worlds.WORLDS or looks_like_path(given))


def names_a_file(given: object) -> bool:
    """Return whether this is the path of a file of means, by its ending."""
    if isinstance(given, PathLike):
        return True
    return isinstance(given, str) and given.lower().endswith(TABLES) and given not in gym.registry


def _is_named(given: Any) -> bool:
    """True for a world in some form other than its means."""
    return isinstance(given, str | PathLike | World | gym.Env | type) or is_pair(given) or _makes_a_world(given)


def _makes_a_world(given: Any) -> bool:
    """True for a log of decisions, which has a method ``world``; classes and environments have none."""
    return callable(getattr(type(given), "world", None)) and not isinstance(given, type)


def _is_means(given: Any) -> bool:
    """True for an array, a table of another library, or a list of rows of numbers."""
    if hasattr(given, "__array__") and not isinstance(given, gym.Env | type):
        return True
    rows = isinstance(given, list | tuple) and len(given) > 0 and all(isinstance(row, list | tuple) for row in given)
    return rows and all(isinstance(cell, int | float | np.number) for row in given for cell in row) and any(given)


def _is_chosen(given: Any) -> bool:
    """True for an agent with parameters, as :func:`ns_mab_gym.tune` and others return them."""
    chosen = isinstance(getattr(given, "agent", None), str | type)
    return chosen and isinstance(getattr(given, "parameters", None), Mapping) and not hasattr(given, "act")


def _unpacked(given: Any, kwargs: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
    """The name without its parameters, and these: from a text, a pair, or a choice; ``kwargs`` come last."""
    name, settings = unpacked((given.agent, given.parameters) if _is_chosen(given) else given)
    return name.world() if _makes_a_world(name) else name, {**settings, **(kwargs or {})}


# Worlds and agents with parameters and a label.


class Settings(dict[str, Any]):
    """A parameter that has parameters of its own, such as a reward law; hashable, since it is never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items())))


def frozen(owner: str, place: str, value: Any) -> Any:
    """Return the value of a parameter with tuples for lists and :class:`Settings` for tables.

    Raises an error if the value cannot be written down: an object, a date, not a number. It names the owner and the
    place, which is the parameter, or where in it the value is, such as ``mu[2]``, counted from 1.

    >>> frozen("beta-swts", "mu", [0.1, {"name": "beta"}])
    (0.1, {'name': 'beta'})
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isnan(value):
        raise ValueError(f"{place} of {owner!r} must be a number, got nan")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return plain_text(f"{place} of {owner!r}", value, longest=LONGEST) if value.strip() else value
    if isinstance(value, Mapping):
        keys = sorted(plain_text(f"a name in {place} of {owner!r}", key) for key in value)
        return Settings({key: frozen(owner, f"{place}.{key}", value[key]) for key in keys})
    if isinstance(value, list | tuple):
        return tuple(frozen(owner, f"{place}[{n}]", each) for n, each in enumerate(value, start=1))
    allowed = "a number, a truth value, a text, or a list or a table of these"
    raise TypeError(f"{place} of {owner!r} must be {allowed}, got {shown(value)} of type {type(value).__name__}")


@dataclass(frozen=True, eq=False)
class Given:
    """An object that a user gave instead of a name, with its arguments; equal to itself alone."""

    thing: Any
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Spec:
    """A name with its parameters, and the label that people see.

    Attributes:
        name: what the registry calls it.
        parameters: pairs of a parameter and its value, in alphabetical order.
        label: what tables and figures call it; by default the text.
        note: what must be said wherever its result is shown.
        group: the family to which it belongs: the agents of a family share a chart, as variants of one algorithm do.
        given: the object of what has no text: an environment, an agent, a class, an array.
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()
    label: str = ""
    note: str = ""
    group: str = ""
    given: Given | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check all texts and values; sort and freeze the parameters, so that specs with equal ones are equal."""
        self._check_name()
        keys = Counter(plain_text(f"a parameter of {self.name!r}", key) for key, _ in self.parameters)
        if twice := [key for key, times in keys.items() if times > 1]:
            raise ValueError(f"{twice[0]} of {self.name!r} is given {keys[twice[0]]} times; give it once")
        values = {
            key: frozen(self.name, key, value) for key, value in sorted(self.parameters, key=lambda each: each[0])
        }
        if (path := values.get("path")) is not None and not (isinstance(path, str) and path):
            raise TypeError(f"path of {self.name!r} must be the name of a file, got {path!r}")
        object.__setattr__(self, "parameters", tuple(values.items()))
        for what in TEXTS:
            plain_text(f"{what} of {self.name!r}", getattr(self, what), lines=what == "note")
        if not self.label:
            object.__setattr__(self, "label", plain_text(f"{self.name!r} with parameters", self.text, longest=LONGEST))

    def _check_name(self) -> None:
        if not plain_text("the name of a world or an agent", self.name).strip():
            raise ValueError(f"a name is missing in {self.text!r}; write a name, then its parameters")

    @classmethod
    def of(cls, name: str, /, *, label: str = "", note: str = "", group: str = "", **parameters: Any) -> Self:
        """Return a spec with its parameters as keywords."""
        return cls(name, tuple(parameters.items()), label, note, group)

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the spec of a text; see :mod:`ns_mab_gym.agents.core.registry`."""
        name, parameters = read_text(text)
        check_single(text, parameters)
        return cls.of(name, **parameters)

    @cached_property
    def bare(self) -> Self:
        """The same name with the same parameters, and nothing else: what is played, whatever it is called."""
        return self if self.given is not None else type(self)(self.name, tuple(self.kwargs.items()))

    @property
    def kwargs(self) -> dict[str, Any]:
        """The parameters as keyword arguments."""
        return dict(self.parameters)

    @property
    def source(self) -> tuple[Any, dict[str, Any]]:
        """The arguments of ``simulate`` for it: a name or an object, and its arguments."""
        return (self.name, self.kwargs) if self.given is None else (self.given.thing, self.given.kwargs)

    @property
    def text(self) -> str:
        """The spec as it is written on the command line, without its label."""
        return write_text(self.name, sorted(self.kwargs.items()))

    @property
    def name_in_group(self) -> str:
        """The label without the name of its family."""
        return self.label.removeprefix(self.group).strip(" ,()")

    @property
    def file(self) -> Path | None:
        """The file from which it is read, if there is one: a table of means, or a saved model."""
        path = self.kwargs.get("path")
        return None if path is None else Path(path)

    @property
    def files(self) -> dict[str, str]:
        """All files that its parameters name, by the name of the parameter, such as ``reward.path``."""
        return {name: value for name, value in _leaves(self.parameters) if _is_file(name, value)}

    def with_files(self, read: Callable[[str], KeptFile] = KeptFile) -> Self:
        """Return the spec with its files read, once; equal to the spec."""

        def replaced(name: str, value: Any) -> Any:
            if isinstance(value, Mapping):
                return {key: replaced(key, each) for key, each in value.items()}
            return read(value) if _is_file(name, value) and not isinstance(value, KeptFile) else value

        return replace(self, parameters=tuple((name, replaced(name, value)) for name, value in self.parameters))


@dataclass(frozen=True)
class AgentSpec(Spec):
    """An agent of the registry, or a saved model of Stable-Baselines3 (``sb3:path=model.zip``).

    >>> AgentSpec.read("beta-swts:window=500").kwargs
    {'window': 500}

    Attributes:
        blind: whether the agent is told T, K and the law of rewards alone.
        stands_for: the label of the agent in whose place this one can be looked at, if it is another reading of it:
            it is shown beside that agent, and not ranked with the others.
        swept: the parameter in which it differs from the other agents of its sweep, if it is part of one.
        family: what the agents of its sweep are called together.
    """

    blind: bool = False
    stands_for: str = ""
    swept: str = ""
    family: str = ""

    def __post_init__(self) -> None:
        """Take ``blind`` out of the parameters; refuse trust, since others may have written the spec."""
        settings = dict(self.parameters)
        if "blind" in settings and len(settings) == len(self.parameters):
            object.__setattr__(self, "blind", settings.pop("blind"))
            object.__setattr__(self, "parameters", tuple(settings.items()))
        if not isinstance(self.blind, bool):
            raise TypeError(f"blind must be True or False, got {shown(self.blind)}; in a text, write blind=true")
        super().__post_init__()
        if self.name in MODELS and "trust" in settings:
            raise ValueError(
                f"{self.text!r}: trust is not part of a description, which others may have written; leave it out, and "
                f"pass --trust-models to the command if you trust the author of the model"
            )

    def as_blind(self, parameters: Mapping[str, Any]) -> AgentSpec:
        """Return the same agent with these parameters, told T, K and the law of rewards alone."""
        return AgentSpec(self.name, tuple(parameters.items()), f"{self.label}{BLIND}", blind=True)

    @property
    def informed_label(self) -> str:
        """The label that the agent has where it is told more than T and K."""
        return self.label.removesuffix(BLIND) if self.blind else self.label

    @property
    def kwargs(self) -> dict[str, Any]:
        """The parameters as keyword arguments, ``blind`` among them if it is."""
        return {**({"blind": True} if self.blind else {}), **dict(self.parameters)}


@dataclass(frozen=True)
class WorldSpec(Spec):
    """A Gymnasium id or a world with the arguments of its environment, or a file of means.

    >>> WorldSpec.of("NSBandit-Smooth-v0", label="fast", sigma=1e-3).text
    'NSBandit-Smooth-v0:sigma=0.001'
    >>> WorldSpec.of("means.csv").kwargs
    {'path': 'means.csv', 'world': 'table'}
    """

    def __post_init__(self) -> None:
        """Turn the name of a file of means into the world that plays it."""
        self._check_name()
        if self.given is None and self.name.lower().endswith(TABLES):
            object.__setattr__(self, "parameters", (*self.parameters, ("path", self.name), ("world", "table")))
            object.__setattr__(self, "name", "NSBandit-v0")
        super().__post_init__()

    @property
    def text(self) -> str:
        """The world as it is written on the command line, without its label."""
        if self.name == "NSBandit-v0" and self.file is not None:
            return write_text(str(self.file), [each for each in self.parameters if each[0] not in ("path", "world")])
        return super().text

    def env(self) -> gym.Env[Any, Any]:
        """Return its environment; raises a ValueError that names the world if it cannot be made."""
        if self.given is not None and isinstance(self.given.thing, gym.Env):
            return self.given.thing
        try:
            made = as_env(*self.source)
        except (Exception, SystemExit) as error:  # whatever a constructor raises, the reader needs the world's name
            cause = error.__cause__  # Gymnasium adds the id and all arguments once more to a TypeError
            bare = cause if isinstance(cause, TypeError) and str(error).startswith(str(cause)) else error
            raise ValueError(f"world {self.label!r}: {said(bare)}") from bare
        if not isinstance(made.action_space, gym.spaces.Discrete):
            raise TypeError(f"world {self.label!r}: an agent needs a Discrete action space, got {made.action_space}")
        return made

    @cached_property
    def random(self) -> bool:
        """True if its means are drawn for every run."""
        bandit = self.env().unwrapped
        return isinstance(bandit, NSBanditEnv) and bandit.world.random


def said(error: BaseException) -> str:
    """Return the message of an error, with its type if the message was not written for users."""
    if isinstance(error, MemoryError):
        return f"it does not fit into memory ({error}); ask for fewer rounds or arms"
    return str(error) if isinstance(error, TypeError | ValueError | OSError) else f"{type(error).__name__}: {error}"


# Sweeps.


@dataclass(frozen=True)
class Sweep:
    """An agent with several values of one parameter; :func:`sweep` makes one.

    Attributes:
        agent: a name, a ``"package.module:Class"`` or a class.
        parameter: the parameter that varies.
        values: its values.
        fixed: parameters that all of them share.
    """

    agent: Any
    parameter: str
    values: tuple[Any, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)


def sweep(agent: Any, /, **parameters: Any) -> Sweep:
    """Return several agents that differ in one parameter, for :func:`ns_mab_gym.compare`.

    Args:
        agent: a name, a ``"package.module:Class"`` of your own, or a class.
        parameters: one of them with a list of numbers, which is swept; the others hold for all.

    >>> sweep("beta-swts", window=geomspace(100, 10_000, 5)).values
    (100, 316, 1000, 3162, 10000)
    """
    if not isinstance(agent, str | type):
        raise TypeError(f"a sweep makes its agents: give a name or a class, got {shown(agent)}")
    several = {key: each for key, each in parameters.items() if isinstance(each, Sequence | np.ndarray | range)}
    swept = [key for key, each in several.items() if not isinstance(each, str)]
    if not swept:
        raise ValueError(f"nothing is swept: {SWEEP}")
    if len(swept) > 1:
        raise ValueError(f"a sweep varies one parameter, got {' and '.join(swept)}; give two sweeps in a list")
    check_parameters(f"agent {agent!r}", kind(agent), parameters)
    (parameter,) = swept
    given = parameters[parameter]
    given = np.atleast_1d(given) if isinstance(given, np.ndarray) else given
    values = [each.item() if isinstance(each, np.generic) else each for each in given]
    if not values:
        raise ValueError(f"{parameter} has no values to sweep; {SWEEP}")
    for value in values:
        if not is_number(value) or not math.isfinite(value):
            raise TypeError(f"a sweep varies a number, got {parameter} = {shown(value)}; compare such agents in a list")
    fixed = {key: value for key, value in parameters.items() if key != parameter}
    return Sweep(agent, parameter, tuple(sorted(dict.fromkeys(values))), fixed)


def geomspace(first: float, last: float, count: int) -> list[int | float]:
    """Return numbers from the first to the last, each about as many times the one before; integers between integers.

    Integers that would be equal after rounding are given once.

    >>> geomspace(1, 100, 3), geomspace(1.0, 100, 3), geomspace(1, 4, 9)
    ([1, 10, 100], [1.0, 10.0, 100.0], [1, 2, 3, 4])
    """
    positive("the first number of geomspace", first)
    positive("the last number of geomspace", last)
    positive_int("the count of geomspace", count, least=2)
    numbers = np.geomspace(first, last, count)
    try:
        as_integer(first), as_integer(last)
    except TypeError:
        return [float(first), *numbers[1:-1].tolist(), float(last)]
    return list(dict.fromkeys(int(number) for number in numbers.round()))


def read_agents(text: str) -> list[AgentSpec]:
    """Return the agents that a text describes: one, or one for each value of a swept parameter.

    >>> [agent.text for agent in read_agents("beta-swts:window=100|316")]
    ['beta-swts:window=100', 'beta-swts:window=316']
    """
    name, parameters = read_text(text)
    about = {key: parameters.pop(key) for key in TEXTS if key in parameters}
    return swept_agents(name, parameters, **about)


def swept_agents(
    agent: Any, parameters: Mapping[str, Any], label: str = "", *, least: int = 2, **about: str
) -> list[AgentSpec]:
    """Return one agent, or one for each value of the parameter that has several.

    Args:
        agent: a name, or a class.
        parameters: a swept one has :class:`~ns_mab_gym.agents.core.registry.Values`.
        label: its label, to which a swept parameter is added.
        least: how many values a sweep must have.
        about: its note and group.
    """
    name = agent if isinstance(agent, str) else _short(agent)
    swept = [key for key, value in parameters.items() if isinstance(value, Values)]
    if not swept:
        return [AgentSpec.of(name, label=label, **about, **parameters)]
    if len(swept) > 1:
        raise ValueError(f"agent {name!r} sweeps {' and '.join(swept)}; sweep one parameter and fix the others")
    (key,) = swept
    fixed = {other: value for other, value in parameters.items() if other != key}
    specs = []
    for value in parameters[key]:
        spec = AgentSpec.of(name, label=f"{label}, {key}={value}" if label else "", **about, **fixed, **{key: value})
        given = None if isinstance(agent, str) else Given(agent, {**fixed, key: value})
        specs.append(replace(spec, swept=key, family=label or write_text(name, fixed), given=given))
    if len({spec.parameters for spec in specs}) < max(least, len(specs)):
        values = f"{key} = {list(parameters[key])}"
        raise ValueError(f"a sweep needs two or more different values, got {values} of {name!r}")
    return specs


# Specs with labels that differ.


def world_specs(given: Any) -> list[WorldSpec]:
    """Return the worlds that a user names, one or several in any form, each with a label of its own."""
    one = lambda each: _is_named(each) or _is_means(each)  # noqa: E731
    return _labelled([_world_spec(label, each) for label, each in _each(given, one, "world", WORLD)], "world")


def _world_spec(label: str, given: Any) -> tuple[str, WorldSpec, dict[str, Any]]:
    """A label if there is one, the spec, and the parameters that can tell it from others."""
    thing, arguments = (given, {}) if isinstance(given, str) and Path(given).is_file() else _unpacked(given)
    check_single(given, arguments, "agents")
    if isinstance(thing, PathLike):
        thing = fspath(thing)
    if isinstance(thing, str):
        try:
            return label, WorldSpec.of(thing, **arguments), arguments
        except TypeError:  # an argument that has no text, such as a reward law of one's own
            return label, WorldSpec(thing, given=Given(thing, arguments)), arguments
    if isinstance(thing, World):
        own = [each.name for each in fields(thing) if each.init and each.name not in thing.derived]
        told = {name: getattr(thing, name) for name in own} | arguments
        return label, WorldSpec(_short(thing.name), given=Given(thing, arguments)), told
    if isinstance(thing, type) and issubclass(thing, World):
        name = next(str(each.default) for each in fields(thing) if each.name == "name") or thing.__name__
        return label, WorldSpec(name, given=Given(thing, arguments)), arguments
    if isinstance(thing, gym.Env):
        name = type(thing.unwrapped).__name__ if thing.spec is None else thing.spec.id
        return label, WorldSpec(name, given=Given(thing, {})), arguments
    if _is_means(thing):
        made = WorldSpec("array", label=label, given=Given(thing, arguments)).env()
        return label, WorldSpec("array", given=Given(made)), arguments
    raise TypeError(f"cannot compare {shown(thing)}; a world is {WORLD}")


def agent_specs(given: Any, *, blind: bool = False) -> list[AgentSpec]:
    """Return the agents that a user names, one or several in any form, each with a label of its own.

    Args:
        given: see :func:`ns_mab_gym.compare`; ``"all"`` are all that the registry knows.
        blind: whether agents given by name or as a class are told T, K and the law of rewards alone.
    """
    if not isinstance(blind, bool | np.bool_):
        raise TypeError(f"blind must be True or False, got {shown(blind)}")

    def one(each: Any) -> bool:
        plays = all(callable(getattr(each, method, None)) for method in PLAYS)
        return isinstance(each, str | type | Sweep) or plays or is_pair(each) or _is_chosen(each)

    specs: list[tuple[str, AgentSpec, dict[str, Any]]] = []
    for label, each in _each(given, one, "agent", AGENT):
        for thing in names() if isinstance(each, str) and each == "all" and not label else [each]:
            specs += _agent_specs(label, thing, bool(blind))
    return _labelled(specs, "agent")


def _agent_specs(label: str, given: Any, blind: bool) -> Iterator[tuple[str, AgentSpec, dict[str, Any]]]:
    """Labels if there are any, specs, and the parameters that can tell one from others."""
    if isinstance(given, Sweep):
        agent, parameters = given.agent, {**given.fixed, given.parameter: Values(given.values)}
    else:
        agent, parameters = _unpacked(given)
    _check_agent(agent, parameters)
    if any(isinstance(value, Values) for value in parameters.values()):
        for spec in swept_agents(agent, parameters, label, least=1):
            yield "", replace(spec, label="", blind=blind or spec.blind), spec.kwargs
        return
    if not isinstance(agent, str | type):
        own = getattr(agent, "parameters", {})
        yield label, AgentSpec(_short(agent), given=Given(agent, {})), dict(own) if isinstance(own, Mapping) else {}
        return
    told = {**({"blind": True} if blind and agent not in MODELS else {}), **parameters}
    try:
        spec = AgentSpec.of(_short(agent) if isinstance(agent, type) else agent, **told)
    except TypeError:  # a parameter that has no text, such as an object
        yield label, AgentSpec(_short(agent), blind=bool(told.get("blind")), given=Given(agent, told)), parameters
        return
    yield label, replace(spec, given=Given(agent, told)) if isinstance(agent, type) else spec, parameters


def _check_agent(agent: Any, parameters: Mapping[str, Any]) -> None:
    """Raise an error for a name that nobody has, a class that is no agent, or a parameter that it does not take."""
    if not isinstance(agent, str):
        check_plays(agent)
    if isinstance(agent, type) or (isinstance(agent, str) and agent not in MODELS):
        check_parameters(f"agent {_short(agent)!r}", kind(agent), parameters)
    elif parameters and not isinstance(agent, str):
        raise TypeError(f"parameters go with a name or a class; set those of {shown(agent)} when it is made")


def _each(given: Any, is_one: Callable[[Any], bool], what: str, allowed: str) -> Iterator[tuple[str, Any]]:
    """The things that a user names, one by one, with the user's own label where there is one."""
    if isinstance(given, Mapping) and not is_one(given):
        for label, each in given.items():
            if not isinstance(label, str) or not label.strip():
                raise TypeError(f"the label of each {what} is a text that is not empty, got {label!r}")
            yield label, each
    elif is_one(given):
        yield "", given
    elif isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0:
        for each in given:
            yield from _each(each, is_one, what, allowed)
    else:
        raise TypeError(f"cannot compare {shown(given)}; each {what} is {allowed}, a list of these, or {{label: one}}")


def _short(thing: Any) -> str:
    """The name of a world or an agent without its module or folder."""
    if isinstance(thing, str):
        return Path(thing).name if names_a_file(thing) else thing.rpartition(":")[2] or thing
    name = getattr(thing, "name", None)
    return name if isinstance(name, str) and name else (thing if isinstance(thing, type) else type(thing)).__name__


def _labelled(drafts: Sequence[tuple[str, S, dict[str, Any]]], what: str) -> list[S]:
    """The specs with labels that differ: short names, with those parameters in which specs of one name differ.

    Where these are equal too, the label has the whole name, such as the path of a file, or a number.
    """
    if not drafts:
        example = "'NSBandit-Abrupt-v0'" if what == "world" else "agents=['beta-swts', 'ts']"
        raise ValueError(f"there is no {what} to compare; name at least one, such as {example}")
    chosen = Counter(label for label, _, _ in drafts if label)
    if twice := [label for label, times in chosen.items() if times > 1]:
        raise ValueError(f"{chosen[twice[0]]} {what}s are labelled {twice[0]!r}; give each a label of its own")
    shorts = [_short(_whole(spec)) for _, spec, _ in drafts]
    taken, labelled = set(chosen), []
    for (label, spec, told), short in zip(drafts, shorts, strict=True):
        others = [each for each, other in zip(drafts, shorts, strict=True) if other == short and not each[0]]
        whole = _whole(spec) if len({_whole(other) for _, other, _ in others}) > 1 else short
        differing = [key for key in told if len({repr(each[2].get(key)) for each in others}) > 1]
        wanted = dict.fromkeys([*differing, *filter(None, [getattr(spec, "swept", "")])])
        settings = {key: f"{told[key]:.6g}" if isinstance(told[key], float) else told[key] for key in wanted}
        brief = {key: each for key, each in settings.items() if isinstance(each, int | str) and len(str(each)) <= SHOWN}
        free = label or write_text(whole, brief)
        number, numbered = 1, free
        while not label and numbered in taken:
            number += 1
            numbered = f"{free} ({number})"
        taken.add(plain_text(f"the label of {'an' if what == 'agent' else 'a'} {what}", numbered))
        labelled.append(replace(spec, label=numbered))
    return labelled


def _whole(spec: Spec) -> str:
    """The name, the path of a file of means, or the label that a user gave to a sweep."""
    if isinstance(spec, AgentSpec) and spec.family and not spec.family.startswith(spec.name):
        return spec.family
    return str(spec.file) if isinstance(spec, WorldSpec) and spec.file is not None else spec.name


def _leaves(parameters: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Names and values, also of parameters inside of parameters."""
    for name, value in parameters:
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", each) for inner, each in _leaves(value.items()))
        else:
            yield name, value


def _is_file(name: str, value: Any) -> bool:
    """True for the path of a file; a text without an ending counts only if its parameter is called a path."""
    named = isinstance(value, str) and (name.endswith("path") or bool(os.path.splitext(value)[1]))
    return isinstance(value, KeptFile) or (named and os.path.isfile(value))
