"""The settings of the algorithms: those that work on random piecewise worlds, and which of them a user may change."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..agents.core.arguments import choice, fraction, known_parameters, positive, positive_int, shown
from .algorithm_table import algorithm

__all__ = ["LAST_RATE", "SETTINGS", "Hyperparameters", "changeable", "hyperparameters"]

ON_POLICY: dict[str, Any] = {"gamma": 0.95, "gae_lambda": 0.9, "ent_coef": 0.005}
CLIPPED: dict[str, Any] = {"n_steps": 128, "batch_size": 2048, "n_epochs": 6, **ON_POLICY}
# One memory for both networks: it learns from what the actor needs, and takes half the time of two.
ONE_MEMORY: dict[str, Any] = {"lstm_hidden_size": 64, "shared_lstm": True, "enable_critic_lstm": False}
REPLAYED: dict[str, Any] = {
    "buffer_size": 200_000, "learning_starts": 10_000, "batch_size": 512, "gamma": 0.9, "train_freq": 4,
    "gradient_steps": 2, "target_update_interval": 2_000, "exploration_final_eps": 0.02,
}  # fmt: skip
# name: the settings; what the policy takes is in POLICY.
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 128, **CLIPPED},
    "a2c": {"n_envs": 128, "n_steps": 16, **ON_POLICY},
    "recurrent-ppo": {"n_envs": 256, **CLIPPED, "batch_size": 4096, "n_epochs": 4, **ONE_MEMORY},
    "maskable-ppo": {"n_envs": 128, **CLIPPED},
    "trpo": {"n_envs": 128, "n_steps": 128, "batch_size": 2048, "gamma": 0.95, "gae_lambda": 0.9},
    "dqn": {"n_envs": 32, **REPLAYED},
    "qr-dqn": {"n_envs": 32, **REPLAYED, "n_quantiles": 25},  # with the usual 200 it takes many times as long
}
# name: the rate of learning at first; it falls to the last one in a straight line, unless a user sets one that stays.
FIRST_RATES = {"ppo": 3e-3, "maskable-ppo": 3e-3, "recurrent-ppo": 5e-3}
FIRST_RATE, LAST_RATE = 1e-3, 1e-4
# name: what the policy takes beside the widths of its layers, and of which type it is.
POLICY: dict[str, dict[str, type]] = {
    "recurrent-ppo": {
        "lstm_hidden_size": int, "n_lstm_layers": int, "shared_lstm": bool, "enable_critic_lstm": bool,
    },
    "qr-dqn": {"n_quantiles": int},
}  # fmt: skip
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
        first_rate: the rate of learning at first, unless the arguments have one.
        arguments: those of its class.
    """

    n_envs: int
    first_rate: float
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
    kept = {name: settings.pop(name) for name in ("net_arch", *POLICY.get(algo, {})) if name in settings}
    n_envs = settings.pop("n_envs")
    policy = "MlpLstmPolicy" if algo == "recurrent-ppo" else "MlpPolicy"
    arguments = {"policy": policy, **settings, **({"policy_kwargs": kept} if kept else {})}
    return Hyperparameters(n_envs, FIRST_RATES.get(algo, FIRST_RATE), arguments)


def changeable(algo: str) -> dict[str, tuple[type, ...]]:
    """What a user may set, with the types of the values: numbers and truth values among the arguments of the class."""
    taken = inspect.signature(algorithm(algo)).parameters
    numbers = {name: _plain_types(each.annotation) for name, each in taken.items() if name not in OTHERS}
    policy = {name: (kind,) for name, kind in POLICY.get(algo, {}).items()}
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
