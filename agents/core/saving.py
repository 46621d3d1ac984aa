"""Saving a state without pickle: a flat dictionary of arrays; and reading one that anybody may have written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "arrays_of",
    "check_keys",
    "check_parameter",
    "generator_from",
    "generator_state",
    "plain_value",
    "saved_arrays",
    "with_arrays",
]

WORD = (1 << 64) - 1
PLAIN = "biufUS"  # kinds of arrays that hold truth values, numbers or text; nothing pickled


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


def with_arrays(state: Any, arrays: Mapping[str, npt.NDArray[Any]], prefix: str = "state.") -> Any:
    """The state with these arrays in the place of its own; other values stay."""
    names = getattr(state, "_fields", map(str, range(len(state))))
    values = [_replaced(value, arrays, prefix + name) for name, value in zip(names, state, strict=True)]
    return type(state)(*values) if hasattr(state, "_fields") else type(state)(values)


def _replaced(value: Any, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Any:
    return with_arrays(value, arrays, f"{name}.") if isinstance(value, tuple) else arrays.get(name, value)


def check_keys(what: str, saved: Any, wanted: Collection[str]) -> None:
    """Raise an error that names what is missing or unknown in what is said to be a saved state; it may be anything."""
    if not isinstance(saved, Mapping):
        raise TypeError(f"a saved {what} is a dictionary as state_dict() returns it, got {type(saved).__name__}")
    given = list(saved)
    missing, unknown = [key for key in wanted if key not in given], [key for key in given if key not in wanted]
    if missing or unknown:
        lacks = [f"it has no {_few(missing)}"] if missing else []
        knows = [f"a {what} has no {_few(unknown)}"] if unknown else []
        raise ValueError(f"not a saved {what}: {', and '.join(lacks + knows)}; save it with state_dict()")


def _few(keys: list[Any]) -> str:
    shown = ", ".join(f"{key!r:.60}" for key in keys[:3])
    return f"{shown} and {len(keys) - 3} more" if len(keys) > 3 else shown


def plain_value(saved: Mapping[str, Any], key: str) -> npt.NDArray[Any]:
    """A copy of the value under a key as an array; a ValueError if it does not hold plain values."""
    try:
        value = np.array(saved[key], order="C")
    except Exception as error:  # a damaged file, lists of different lengths, objects that pretend to be arrays
        raise ValueError(f"saved {key} cannot be read as an array: {type(error).__name__}: {error}") from error
    if value.dtype.kind not in PLAIN:
        raise ValueError(f"saved {key} holds {value.dtype} values; it must hold numbers, truth values or text alone")
    return value.view(np.uint8) != 0 if value.dtype == np.bool_ and value.ndim else value  # whatever the bytes were


def check_parameter(saved: Mapping[str, Any], key: str, mine: Any) -> None:
    """Raise a ValueError if a saved parameter is not the agent's own, which may be of any type."""
    if isinstance(saved, dict) and saved[key] is mine:
        return
    value = plain_value(saved, key)
    if not np.array_equal(value, mine):
        raise ValueError(
            f"saved with {key} = {_in_line(value)}, this agent has {_in_line(mine)}; make it the same first"
        )


def _in_line(value: Any) -> str:
    return " ".join(f"{value!s:.200}".split())


def saved_arrays(own: Mapping[str, npt.NDArray[Any]], saved: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Copies of the saved arrays in the place of an agent's own, if each has its shape and its type."""
    arrays = {}
    for name, mine in own.items():
        value = plain_value(saved, name)
        if value.shape != mine.shape or value.dtype != mine.dtype:
            raise ValueError(
                f"saved {name} is {value.dtype}{list(value.shape)}, this agent's is {mine.dtype}{list(mine.shape)}"
            )
        if not mine.flags.writeable and not np.array_equal(value, mine):
            raise ValueError(f"saved {name} is not this agent's, which never changes; make it the same first")
        arrays[name] = value if mine.flags.writeable else mine
    return arrays


def generator_state(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """The state of a PCG64 generator as six 64-bit words."""
    state: Any = rng.bit_generator.state
    value, increment = state["state"]["state"], state["state"]["inc"]
    words = [value >> 64, value & WORD, increment >> 64, increment & WORD, state["has_uint32"], state["uinteger"]]
    return np.array(words, dtype=np.uint64)


def generator_from(words: npt.NDArray[Any]) -> np.random.Generator:
    """A PCG64 generator in a state that :func:`generator_state` returned."""
    if words.shape != (6,) or words.dtype.kind not in "iu" or np.any(words < 0):
        raise ValueError(f"a saved generator is six words of 64 bits, got {words.dtype}{list(words.shape)}")
    value_high, value_low, inc_high, inc_low, has_uint32, uinteger = (int(w) for w in words)
    if inc_low % 2 == 0 or has_uint32 > 1 or uinteger >= 1 << 32:
        given = f"{inc_low}, {has_uint32} and {uinteger}"
        raise ValueError(f"a saved generator ends with an odd number, 0 or 1, and 32 bits, got {given}")
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": value_high << 64 | value_low, "inc": inc_high << 64 | inc_low},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)
