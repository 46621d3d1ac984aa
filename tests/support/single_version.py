"""The version of the code that computes a unit, where it does not matter which: one for all."""

from __future__ import annotations

from ns_mab_gym.studies.study import Unit


def v1(unit: Unit) -> str:
    """The same version for every unit."""
    return "v1"
