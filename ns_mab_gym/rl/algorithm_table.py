"""The learning algorithms by name. A new one is one row of the table."""

from __future__ import annotations

import importlib
from typing import Any

from ..agents.core.arguments import choice

__all__ = ["algorithm", "algorithms", "class_of", "name_of"]

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


def algorithms() -> list[str]:
    """The names that :func:`algorithm` knows."""
    return list(ALGORITHMS)


def algorithm(name: str) -> Any:
    """The class of an algorithm.

    >>> algorithm("recurrent-ppo").__name__
    'RecurrentPPO'
    """
    module, kind = ALGORITHMS[choice("algorithm", name, ALGORITHMS)]
    try:
        return getattr(importlib.import_module(module), kind)
    except ImportError:
        raise ImportError(f"{name} needs {module}: pip install 'ns-mab-gym[rl]'") from None


def class_of(model: Any) -> str:
    """The name of the class of a model's algorithm, also of a model that was exported."""
    algo = getattr(model, "algo", None)
    return ALGORITHMS[algo][1] if isinstance(algo, str) and algo in ALGORITHMS else type(model).__name__


def name_of(model: Any) -> str:
    """The name of a model's algorithm, or of its class if it is not in the table."""
    kind = class_of(model)
    return next((name for name, (_, class_name) in ALGORITHMS.items() if class_name == kind), kind.lower())
