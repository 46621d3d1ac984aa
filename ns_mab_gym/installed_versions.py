"""The versions of Python and of the packages that produce a result."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

__all__ = ["versions"]

PACKAGES = ("ns-mab-gym", "numpy", "numba", "gymnasium")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that produced a result."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return ("python", platform.python_version()), *((name, metadata.version(name)) for name in PACKAGES)
