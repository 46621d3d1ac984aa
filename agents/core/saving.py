"""Saving a state without pickle: a flat dictionary of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["arrays_of", "generator_state", "restore_arrays", "restore_generator"]

WORD = (1 << 64) - 1


def arrays_of(state: Any, prefix: str = "state.") -> dict[str, npt.NDArray[Any]]:
    """The arrays of a state; those of a nested state, or of a tuple of them, under a dotted name."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    names = getattr(state, "_fields", map(str, range(len(state))))
    for name, value in zip(names, state, strict=True):
        if isinstance(value, tuple):
            arrays |= arrays_of(value, f"{prefix}{name}.")
        elif isinstance(value, np.ndarray):
            arrays[prefix + name] = value
    return arrays


def restore_arrays(state: Any, saved: Mapping[str, Any]) -> None:
    """Copy saved arrays back into a state, if all of them fit."""
    targets = arrays_of(state)
    values = {name: np.asarray(saved[name]) for name in targets}
    for name, target in targets.items():
        if values[name].shape != target.shape or values[name].dtype != target.dtype:
            raise ValueError(
                f"saved {name} is {values[name].dtype}{list(values[name].shape)}, "
                f"this agent's is {target.dtype}{list(target.shape)}"
            )
    for name, target in targets.items():
        if target.flags.writeable:
            target[...] = values[name]


def generator_state(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """The state of a PCG64 generator as six 64-bit words."""
    state: Any = rng.bit_generator.state
    value, increment = state["state"]["state"], state["state"]["inc"]
    words = [value >> 64, value & WORD, increment >> 64, increment & WORD, state["has_uint32"], state["uinteger"]]
    return np.array(words, dtype=np.uint64)


def restore_generator(rng: np.random.Generator, words: Any) -> None:
    """Put a PCG64 generator into a state that :func:`generator_state` returned."""
    value_high, value_low, inc_high, inc_low, has_uint32, uinteger = (int(w) for w in np.asarray(words))
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": value_high << 64 | value_low, "inc": inc_high << 64 | inc_low},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
