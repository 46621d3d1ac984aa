"""Defaults that follow from the size of a world, so that an episode is of the same kind at every T and K.

A parameter with such a default is declared by :func:`derived`, with its formula in words, which cards show, and as a
function of the world. At T = 50 000 and K = 10 each formula gives the number that the README states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import Field, field
from typing import Any

__all__ = ["ARMS", "as_many_changes", "derived", "rule_of", "shorter_steps", "words_of"]

ROUNDS, ARMS = 50_000, 10  # the usual size
LARGEST_STEP = 0.25  # of a walk: beyond it, a mean has little to do with the one before


def derived(words: str, rule: Callable[[Any], Any]) -> Any:
    """A parameter whose default is None, and then follows a rule.

    Args:
        words: the formula, as cards show it.
        rule: from the world, with its other parameters up to this one, to the value.
    """
    return field(default=None, metadata={"default": words, "rule": rule})


def rule_of(parameter: Field[Any]) -> Callable[[Any], Any] | None:
    """The rule of a parameter's default; None if it has none."""
    rule: Callable[[Any], Any] | None = parameter.metadata.get("rule")
    return rule


def words_of(parameter: Field[Any]) -> str:
    """The formula of a parameter's default, in words."""
    return str(parameter.metadata["default"])


def shorter_steps(step: float, horizon: int) -> float:
    """A walk's step ∝ 1/√T, with which it wanders as far in an episode as with this step in the usual one."""
    return min(step * math.sqrt(ROUNDS / horizon), LARGEST_STEP)


def as_many_changes(changes: int, horizon: int, spacing: int = 1) -> int:
    """So many changes, or as many as fit between phases of at least ``spacing`` rounds."""
    return max(0, min(changes, horizon // spacing - 1))
