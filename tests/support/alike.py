"""Equality of what environments return: values, shapes and types, through nested infos and arrays of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["assert_alike"]


def assert_alike(ours: Any, theirs: Any) -> None:
    """Raise an AssertionError if anything differs, be it a type alone."""
    assert type(ours) is type(theirs)
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            assert_alike(ours[key], theirs[key])
    elif isinstance(theirs, tuple) or (isinstance(theirs, np.ndarray) and theirs.dtype == object):
        for one, other in zip(ours, theirs, strict=True):
            assert_alike(one, other)
    else:
        np.testing.assert_array_equal(ours, theirs, strict=isinstance(theirs, np.ndarray))
