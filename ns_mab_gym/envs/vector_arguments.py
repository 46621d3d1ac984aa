"""Checks of what is given to the native vector environment; each error says what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction
from gymnasium.vector import AutoresetMode

from ..agents.core.arguments import positive_int, shown
from ..rewards import Law
from ..worlds.world import World
from .bandit import checked_means

__all__ = ["checked_arms", "checked_mask", "checked_mode", "first_rounds", "given_means", "last_round"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def checked_mode(given: object) -> AutoresetMode:
    """The autoreset mode, given as such or by its value."""
    try:
        return AutoresetMode(given)
    except ValueError:
        allowed = ", ".join(f"AutoresetMode.{mode.name} (or {mode.value!r})" for mode in AutoresetMode)
        raise ValueError(f"autoreset_mode must be one of {allowed}, got {shown(given)}") from None


def last_round(max_episode_steps: object, horizon: int) -> int:
    """The round in which episodes end; None and -1 set no limit beside the horizon, as in ``gym.make``."""
    if max_episode_steps is None or max_episode_steps == -1:
        return horizon
    return min(horizon, positive_int("max_episode_steps", max_episode_steps, hint="or None, to play all T rounds"))


def first_rounds(stagger: object, n_envs: int, rounds: int, render_mode: str | None) -> IntArray:
    """How many rounds lie behind each of N sub-environments when their first episode of so many rounds begins."""
    if not isinstance(stagger, bool):
        raise TypeError(f"stagger must be True or False, got {shown(stagger)}")
    if stagger and render_mode == "rgb_array":
        raise ValueError('pictures show episodes from round 1 on: use render_mode="ansi", or stagger=False')
    return np.arange(n_envs) * (rounds if stagger else 0) // n_envs


def checked_mask(mask: Any, n_envs: int, mode: AutoresetMode) -> BoolArray:
    """Which sub-environments to reset."""
    if mode is not AutoresetMode.DISABLED:
        raise ValueError(
            f"reset_mask needs autoreset_mode=AutoresetMode.DISABLED; with {mode.name}, sub-environments that end are "
            f"reset by themselves"
        )
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n_envs,) or not mask.any():
        raise ValueError(f"reset_mask must be an array of {n_envs} truth values, not all False, got {shown(mask)}")
    return mask.copy()


def given_means(means: Any, n_envs: int, world: World, law: Law) -> list[FloatArray]:
    """The instances given to ``reset``: one matrix for all, or one for each."""
    if not (isinstance(means, list | tuple | np.ndarray) and len(means) and np.ndim(means[0]) == 2):
        return [checked_means(means, world, law)] * n_envs
    if len(means) != n_envs:
        raise ValueError(
            f"means must be one (T, K) matrix or one for each of the {n_envs} sub-environments, "
            f"got {len(means)} of them"
        )
    return [checked_means(matrix, world, law) for matrix in means]


def checked_arms(actions: npt.ArrayLike, n_envs: int, n_arms: int, ignored: BoolArray | None) -> IntArray:
    """The arm to pull in each sub-environment, and 0 where the action is ignored."""
    try:
        given = np.asarray(actions)
    except Exception:  # lists of different lengths, or whatever somebody's own class raises
        raise _invalid(shown(actions), n_envs, n_arms) from None
    if given.shape != (n_envs,) or given.dtype.kind not in "iu":
        raise _invalid(f"{given.dtype} of shape {given.shape}", n_envs, n_arms)
    if ignored is not None:
        given = np.where(ignored, 0, given)
    arms = given.astype(np.int64)
    if int(np.maximum.reduce(arms.view(np.uint64))) >= n_arms:  # without a sign, negative numbers are very large
        bad = int(np.flatnonzero((given < 0) | (given >= n_arms))[0])
        raise _invalid(f"{given[bad]} in sub-environment {bad}", n_envs, n_arms)
    return arms


def _invalid(got: str, n_envs: int, n_arms: int) -> InvalidAction:
    allowed = f"actions must be {n_envs} integers from 0 to {n_arms - 1}, one per sub-environment"
    return InvalidAction(f"{allowed}; got {got}")
