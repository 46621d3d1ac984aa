"""The settings of the algorithms: those that work on random piecewise worlds, and which of them a user may change."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..agents.core.arguments import choice, fraction, known_parameters, positive, positive_int, shown
from .algorithm_table import algorithm

__all__ = ["SETTINGS", "Hyperparameters", "changeable", "hyperparameters"]

ON_POLICY: dict[str, Any] = {"gamma": 0.95, "gae_lambda": 0.9, "ent_coef": 0.005}
CLIPPED: dict[str, Any] = {"n_steps": 128, "batch_size": 2048, "n_epochs": 6, **ON_POLICY}
REPLAYED: dict[str, Any] = {
    "buffer_size": 200_000, "learning_starts": 10_000, "batch_size": 512, "gamma": 0.9, "train_freq": 4,
    "gradient_steps": 2, "target_update_interval": 2_000, "exploration_final_eps": 0.02,
}  # fmt: skip
# name: the settings; what the policy takes is in POLICY.
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 128, **CLIPPED},
    "a2c": {"n_envs": 128, "n_steps": 16, **ON_POLICY},
    "recurrent-ppo": {"n_envs": 64, **CLIPPED, "n_epochs": 4, "lstm_hidden_size": 64},
    "maskable-ppo": {"n_envs": 128, **CLIPPED},
    "trpo": {"n_envs": 128, "n_steps": 128, "batch_size": 2048, "gamma": 0.95, "gae_lambda": 0.9},
    "dqn": {"n_envs": 32, **REPLAYED},
    "qr-dqn": {"n_envs": 32, **REPLAYED},
}
# name: what the policy takes beside the widths of its layers.
POLICY = {"recurrent-ppo": ("lstm_hidden_size", "n_lstm_layers"), "qr-dqn": ("n_quantiles",)}
# What the command has options for, and what makes no sense for bandits.
OTHERS = ("seed", "verbose", "device", "policy", "use_sde", "sde_sample_freq", "_init_setup_model")
SHARES = ("gamma", "gae_lambda", "tau", "exploration_fraction", "exploration_initial_eps", "exploration_final_eps")
FROM_ZERO = ("learning_starts",)
ANY_NUMBER = ("gradient_steps",)  # -1: as many as there were steps
LARGEST = 10**9  # of whole numbers: far beyond what a machine can hold or do


@dataclass(frozen=True)
class Hyperparameters:
    """What an algorithm is made with.

    Attributes:
        n_envs: how many environments it learns from at once.
        arguments: those of its class.
    """

    n_envs: int
    arguments: dict[str, Any] = field(default_factory=dict)


def hyperparameters(algo: str, given: Mapping[str, Any]) -> Hyperparameters:
    """The settings of an algorithm, with those that are given in place of the usual ones; all are checked.

    >>> hyperparameters("ppo", {"n_steps": 64, "net_arch": [32, 32]}).arguments["policy_kwargs"]
    {'net_arch': [32, 32]}

    Args:
        algo: a name in ``SETTINGS``.
        given: by name, see :func:`changeable`.
    """
    usual, allowed = SETTINGS[choice("algorithm", algo, SETTINGS)], changeable(algo)
    known_parameters(f"algorithm {algo!r}", given, tuple(allowed))
    settings = {**usual, **{name: _checked(algo, name, value, allowed[name]) for name, value in given.items()}}
    kept = {name: settings.pop(name) for name in ("net_arch", *POLICY.get(algo, ())) if name in settings}
    n_envs = settings.pop("n_envs")
    policy = "MlpLstmPolicy" if algo == "recurrent-ppo" else "MlpPolicy"
    return Hyperparameters(n_envs, {"policy": policy, **settings, **({"policy_kwargs": kept} if kept else {})})


def changeable(algo: str) -> dict[str, tuple[type, ...]]:
    """What a user may set, with the types of the values: numbers and truth values among the arguments of the class."""
    taken = inspect.signature(algorithm(algo)).parameters
    numbers = {name: _plain_types(each.annotation) for name, each in taken.items() if name not in OTHERS}
    policy = dict.fromkeys(POLICY.get(algo, ()), (int,))
    return {
        "n_envs": (int,),
        "net_arch": (list,),
        **policy,
        **{name: kinds for name, kinds in numbers.items() if kinds},
    }


def _plain_types(hint: Any) -> tuple[type, ...]:
    members = typing.get_args(hint) or (hint,)
    return tuple(each for each in (bool, int, float) if each in members)


def _checked(algo: str, name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    what = f"{name} of {algo}"
    if kinds == (list,):
        return _layers(what, value)
    if bool in kinds:
        if not isinstance(value, bool):
            raise TypeError(f"{what} must be true or false, got {shown(value)}")
        return value
    if float in kinds:
        return fraction(what, value) if name in SHARES else positive(what, value, allow_zero=name != "learning_rate")
    if name in ANY_NUMBER:
        return positive_int(what, value, least=-1, most=LARGEST)
    return positive_int(what, value, least=0 if name in FROM_ZERO else 1, most=LARGEST)


def _layers(what: str, value: Any) -> list[int]:
    """The widths of hidden layers; a single number is one layer."""
    widths = list(value) if isinstance(value, list | tuple) else [value]
    return [positive_int(f"each width in {what}", width, most=100_000) for width in widths]
