"""Reads the regret of a round out of infos, for wrappers of any environment that reports it."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from .memory import BoolArray, FloatArray

__all__ = ["regret_in", "rounds_regret"]


def regret_in(info: dict[str, Any], env: Any) -> Any:
    """What an info says of the regret; raises a TypeError if it says nothing."""
    if "regret" not in info:
        raise TypeError(
            f'{env} does not report info["regret"], only {sorted(info)}; this wrapper needs the regret of each round, '
            f"as the environments of this package report it"
        )
    return info["regret"]


def rounds_regret(envs: Any, infos: dict[str, Any], over: BoolArray, before: BoolArray) -> FloatArray:
    """The regret of the round that each sub-environment played in a step; 0 where the step only reset it.

    Args:
        envs: the vector environment.
        infos: what it said after the step. Where an episode ended with ``SAME_STEP``, its last round is in the
            final info.
        over: (N,) whether an episode ended in this step.
        before: (N,) whether one ended in the step before.
    """
    ended = over & ("final_info" in infos)
    mode = envs.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    only_reset = before & (mode is AutoresetMode.NEXT_STEP)
    regrets = np.zeros(len(over))
    for source, played in ((infos.get("final_info", {}), ended), (infos, ~(only_reset | ended))):
        if played.any():
            regrets[played] = np.asarray(regret_in(source, envs))[played]
    return regrets
