"""The learning algorithms by name, their settings for random piecewise worlds, and the settings that a user may change.

A new algorithm is one row of ``ALGORITHMS``; one of ``SETTINGS`` makes it trainable by ``ns-mab-gym train``.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..agents.core.arguments import choice, fraction, known_parameters, positive, positive_int, shown

# name: the module and the class.
ALGORITHMS: dict[str, tuple[str, str]] = {
    "ppo": ("stable_baselines3", "PPO"),
    "a2c": ("stable_baselines3", "A2C"),
    "dqn": ("stable_baselines3", "DQN"),
    "recurrent-ppo": ("sb3_contrib", "RecurrentPPO"),
    "maskable-ppo": ("sb3_contrib", "MaskablePPO"),
    "trpo": ("sb3_contrib", "TRPO"),
    "qr-dqn": ("sb3_contrib", "QRDQN"),
    "ars": ("sb3_contrib", "ARS"),
}

ON_POLICY: dict[str, Any] = {"gamma": 0.95, "gae_lambda": 0.9, "ent_coef": 0.005}
CLIPPED: dict[str, Any] = {"n_steps": 128, "batch_size": 2048, "n_epochs": 6, **ON_POLICY}
# One memory for both networks: it learns from what the actor needs, and takes half the time of two.
ONE_MEMORY: dict[str, Any] = {"lstm_hidden_size": 64, "shared_lstm": True, "enable_critic_lstm": False}
REPLAYED: dict[str, Any] = {
    "buffer_size": 200_000, "learning_starts": 10_000, "batch_size": 512, "gamma": 0.9, "train_freq": 4,
    "gradient_steps": 2, "target_update_interval": 2_000, "exploration_final_eps": 0.02,
}  # fmt: skip
# name: the settings; the arguments of the policy among them are named in POLICY.
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
# name: the arguments of the policy beside the widths of its layers, with their types.
POLICY: dict[str, dict[str, type]] = {
    "recurrent-ppo": {
        "lstm_hidden_size": int, "n_lstm_layers": int, "shared_lstm": bool, "enable_critic_lstm": bool,
    },
    "qr-dqn": {"n_quantiles": int},
}  # fmt: skip
# Arguments with an option of their own, and those that make no sense for bandits.
OTHERS = ("seed", "verbose", "device", "policy", "use_sde", "sde_sample_freq", "_init_setup_model")
SHARES = ("gamma", "gae_lambda", "tau", "exploration_fraction", "exploration_initial_eps", "exploration_final_eps")
LEAST = {"learning_starts": 0, "gradient_steps": -1}  # -1: as many as there were steps
LARGEST = 10**9  # of whole numbers: far beyond what a machine can hold or do


def algorithms() -> list[str]:
    """Return the names that :func:`algorithm` knows."""
    return list(ALGORITHMS)


def algorithm(name: str) -> Any:
    """Return the class of an algorithm.

    >>> algorithm("recurrent-ppo").__name__
    'RecurrentPPO'
    """
    module, kind = ALGORITHMS[choice("algorithm", name, ALGORITHMS)]
    try:
        return getattr(importlib.import_module(module), kind)
    except ImportError:
        raise ImportError(f"{name} needs {module}: pip install 'ns-mab-gym[rl]'") from None


def policy_name(algo: str) -> str:
    """Return the name that Stable-Baselines3 gives to the standard policy of an algorithm."""
    return "MlpLstmPolicy" if algo == "recurrent-ppo" else "MlpPolicy"


def class_of(model: Any) -> str:
    """Return the name of the class of a model's algorithm, also of an exported model."""
    algo = getattr(model, "algo", None)
    return ALGORITHMS[algo][1] if isinstance(algo, str) and algo in ALGORITHMS else type(model).__name__


def name_of(model: Any) -> str:
    """Return the name of a model's algorithm, or of its class if it is not in the table."""
    kind = class_of(model)
    return next((name for name, (_, class_name) in ALGORITHMS.items() if class_name == kind), kind.lower())


class Hyperparameters(NamedTuple):
    """The number of environments that an algorithm learns from at once, its first rate of learning, and its arguments.

    The rate is the one that is used unless the arguments have one.
    """

    n_envs: int
    first_rate: float
    arguments: dict[str, Any]


def hyperparameters(algo: str, given: Mapping[str, Any]) -> Hyperparameters:
    """Return the settings of an algorithm, with the given :func:`changeable` ones in place of the usual ones, checked.

    >>> hyperparameters("ppo", {"n_steps": 64, "net_arch": [32, 32]}).arguments["policy_kwargs"]
    {'net_arch': [32, 32]}
    """
    usual, allowed = SETTINGS[choice("algorithm", algo, SETTINGS)], changeable(algo)
    known_parameters(f"algorithm {algo!r}", given, tuple(allowed))
    settings = {**usual, **{name: _checked(algo, name, value, allowed[name]) for name, value in given.items()}}
    kept = {name: settings.pop(name) for name in ("net_arch", *POLICY.get(algo, {})) if name in settings}
    n_envs = settings.pop("n_envs")
    arguments = {"policy": policy_name(algo), **settings, **({"policy_kwargs": kept} if kept else {})}
    return Hyperparameters(n_envs, FIRST_RATES.get(algo, FIRST_RATE), arguments)


def changeable(algo: str) -> dict[str, tuple[type, ...]]:
    """Return the settings that a user may change, with their types: numbers and truth values among the arguments."""
    found: dict[str, tuple[type, ...]] = {"n_envs": (int,), "net_arch": (list,)}
    found |= {name: (kind,) for name, kind in POLICY.get(algo, {}).items()}
    for name, each in inspect.signature(algorithm(algo)).parameters.items():
        members = typing.get_args(each.annotation) or (each.annotation,)
        kinds = tuple(kind for kind in (bool, int, float) if kind in members)
        if kinds and name not in OTHERS:
            found[name] = kinds
    return found


def _checked(algo: str, name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    what = f"{name} of {algo}"
    if kinds == (list,):
        widths = list(value) if isinstance(value, list | tuple) else [value]  # a single number is one layer
        return [positive_int(f"each width in {what}", width, most=100_000) for width in widths]
    if bool in kinds:
        if not isinstance(value, bool):
            raise TypeError(f"{what} must be true or false, got {shown(value)}")
        return value
    if float in kinds:
        return fraction(what, value) if name in SHARES else positive(what, value, allow_zero=name != "learning_rate")
    return positive_int(what, value, least=LEAST.get(name, 1), most=LARGEST)
