"""The environments and the table of their ids. A new id is one row of the table."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from .bandit import NSBanditEnv

__all__ = ["ENV_IDS", "NSBanditEnv", "register"]

# id: the arguments with which NSBanditEnv plays it.
ENV_IDS: dict[str, dict[str, Any]] = {
    "NSBandit-Abrupt-v0": {"world": "abrupt"},
    "NSBandit-GeneralAbrupt-v0": {"world": "general-abrupt"},
    "NSBandit-Smooth-v0": {"world": "smooth", "sigma": 1e-4},
    "NSBandit-SmoothFast-v0": {"world": "smooth", "sigma": 1e-3},
    "NSBandit-Stationary-v0": {"world": "stationary"},
    "NSBandit-Piecewise-v0": {"world": "piecewise"},
    "NSBandit-RandomWalk-v0": {"world": "random-walk"},
    "NSBandit-DawWalk-v0": {"world": "daw-walk", "reward": {"name": "gaussian", "scale": 0.04}},
    "NSBandit-Rising-v0": {"world": "rising"},
    "NSBandit-Rotting-v0": {"world": "rotting"},
    "NSBandit-Variation-v0": {"world": "variation"},
    "NSBandit-Periodic-v0": {"world": "periodic"},
    "NSBandit-Mixed-v0": {"world": "mixed"},
    "NSBandit-v0": {},
}


def register() -> None:
    """Register every id that Gymnasium does not know yet."""
    for env_id, kwargs in ENV_IDS.items():
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point="ns_mab_gym.envs.bandit:NSBanditEnv",
                vector_entry_point="ns_mab_gym.envs.vector:NSBanditVectorEnv",
                kwargs=kwargs,
            )
