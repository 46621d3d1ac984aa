"""Saving an agent as a flat dictionary of plain arrays, without pickle, and loading one that may be damaged.

A saved agent is its name, its parameters, the arrays of its state, its generator, and a digest of these arrays. It is
loaded whole or not at all: if name and parameters are the agent's own, every array has its shape and its type, and the
digest is that of the arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]

WORD = (1 << 64) - 1
PLAIN = "biufUS"  # kinds of arrays that hold truth values, numbers or text; nothing pickled


def save(name: str, parameters: Mapping[str, Any], state: Any, rng: np.random.Generator) -> dict[str, Any]:
    """The saved agent; parameters that are None are left out."""
    arrays = {key: array.copy() for key, array in arrays_of(state).items()} | {"generator": generator_state(rng)}
    given = {f"parameter.{key}": value for key, value in parameters.items() if value is not None}
    return {"agent": name, **given, **arrays, "digest": digest_of(arrays)}


def load(mine: Mapping[str, Any], state: Any, saved: Any) -> tuple[Any, np.random.Generator]:
    """The state and the generator of a saved agent; a ValueError that says what is wrong with it if there is anything.

    Args:
        mine: the agent that loads, saved.
        state: its state.
        saved: what is to be loaded.
    """
    name = mine["agent"]
    if not isinstance(saved, Mapping):
        raise TypeError(f"a saved {name} is a dictionary as state_dict() returns it, got {type(saved).__name__}")
    given = list(saved)
    missing, unknown = [key for key in mine if key not in given], [key for key in given if key not in mine]
    if missing or unknown:
        lacks = [f"it has no {_few(missing)}"] if missing else []
        knows = [f"a {name} has no {_few(unknown)}"] if unknown else []
        raise ValueError(f"not a saved {name}: {', and '.join(lacks + knows)}; save it with state_dict()")
    arrays: Arrays = {}
    for key, own in mine.items():
        if isinstance(saved, dict) and saved[key] is own:
            continue  # a parameter of any type
        value = plain_value(saved, key)
        if key == "digest":
            if str(value) != digest_of(arrays):
                raise ValueError(f"the saved {name} is damaged: its arrays do not have its digest; save it again")
        elif key.startswith(("agent", "parameter.")):
            if not np.array_equal(value, own):
                theirs, ours = (" ".join(f"{each!s:.200}".split()) for each in (value, own))
                raise ValueError(f"saved with {key} = {theirs}, this agent has {ours}; make it the same first")
        elif value.shape != own.shape or value.dtype != own.dtype:
            theirs, ours = (f"{each.dtype}{list(each.shape)}" for each in (value, own))
            raise ValueError(f"saved {key} is {theirs}, this agent's is {ours}")
        else:
            arrays[key] = value
    for key, own in arrays_of(state).items():
        arrays[key].flags.writeable = own.flags.writeable  # compiled code has another type for constant arrays
    return with_arrays(state, arrays), generator_from(arrays["generator"])


def _few(keys: list[Any]) -> str:
    shown = ", ".join(f"{key!r:.60}" for key in keys[:3])
    return f"{shown} and {len(keys) - 3} more" if len(keys) > 3 else shown


def plain_value(saved: Mapping[str, Any], key: str) -> npt.NDArray[Any]:
    """A copy of the value under a key as an array; a ValueError if it does not hold plain values."""
    try:
        value = np.array(saved[key], order="C")
    except Exception as error:  # a damaged file, lists of different lengths
        raise ValueError(f"saved {key} cannot be read as an array: {type(error).__name__}: {error}") from error
    if value.dtype.kind not in PLAIN:
        raise ValueError(f"saved {key} holds {value.dtype} values; it must hold numbers, truth values or text alone")
    return value


def digest_of(arrays: Arrays) -> str:
    """SHA-256 of arrays and their names.

    >>> digest_of({"state.pulls": np.arange(3)}) == digest_of({"state.pulls": np.arange(3)[::-1]})
    False
    """
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def arrays_of(state: Any, prefix: str = "state.") -> Arrays:
    """The arrays of a state; those of a nested state, or of a tuple of them, under a dotted name."""
    arrays: Arrays = {}
    names = getattr(state, "_fields", map(str, range(len(state))))
    for name, value in zip(names, state, strict=True):
        if isinstance(value, tuple):
            arrays |= arrays_of(value, f"{prefix}{name}.")
        elif isinstance(value, np.ndarray):
            arrays[prefix + name] = value
    return arrays


def with_arrays(state: Any, arrays: Arrays, prefix: str = "state.") -> Any:
    """The state with these arrays in the place of its own; other values stay."""
    names = getattr(state, "_fields", map(str, range(len(state))))
    values = [
        with_arrays(value, arrays, f"{prefix}{name}.") if isinstance(value, tuple) else arrays.get(prefix + name, value)
        for name, value in zip(names, state, strict=True)
    ]
    return type(state)(*values) if hasattr(state, "_fields") else type(state)(values)


def generator_state(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """The state of a PCG64 generator as six 64-bit words."""
    state: Any = rng.bit_generator.state
    value, increment = state["state"]["state"], state["state"]["inc"]
    words = [value >> 64, value & WORD, increment >> 64, increment & WORD, state["has_uint32"], state["uinteger"]]
    return np.array(words, dtype=np.uint64)


def generator_from(words: npt.NDArray[Any]) -> np.random.Generator:
    """A PCG64 generator in a state that :func:`generator_state` returned."""
    value_high, value_low, inc_high, inc_low, has_uint32, uinteger = (int(w) for w in words)
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": value_high << 64 | value_low, "inc": inc_high << 64 | inc_low},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)
