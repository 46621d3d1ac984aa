"""The packages of other trainers, which are extras of their own: tests of those that are absent are skipped."""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from typing import Any

import pytest

__all__ = ["needed"]


def needed(module: str, extra: str = "trainers") -> Any:
    """A module of a trainer; a file of tests that asks for an absent one is skipped, or fails if ``TRAINERS`` is set.

    ``.ci/trainers`` sets it, so that nothing is skipped there.

    Args:
        module: its full name.
        extra: which installs it.
    """
    package = module.partition(".")[0]
    if importlib.util.find_spec(package) is None and not os.environ.get("TRAINERS"):
        pytest.skip(f"no {package}: pip install '.[{extra}]'", allow_module_level=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a trainer itself imports
        return importlib.import_module(module)
