"""The text that names a world or an agent with its parameters: ``"beta-swts:window=100"``, read and written.

A name comes first; after a colon, ``parameter=value`` pairs between commas. A colon can be part of a name
(``package.module:Class``) and of a value. A value is a number, ``true``, ``false``, a list, or a text; several values
between bars, ``window=100|316``, are several agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

OPENING, CLOSING = "([{", ")]}"
EXACT = 2**53  # floats above it are not exact as integers
TEXTS = ("label", "note", "group")  # settings that are texts, whatever they look like


class Values(list[Any]):
    """Several values of one parameter: one agent for each of them."""


def read_text(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name in a text, and the parameters.

    >>> read_text("sw-ucb:window=500,xi=0.6")
    ('sw-ucb', {'window': 500, 'xi': 0.6})
    >>> read_text("my_module:Tide:reward=my_module:Coin")
    ('my_module:Tide', {'reward': 'my_module:Coin'})
    >>> read_text("restarting:detector=cusum(threshold=5, warmup=50),rate=0.1")
    ('restarting', {'detector': 'cusum(threshold=5, warmup=50)', 'rate': 0.1})
    >>> read_text("stationary:mu=0.1,0.5,horizon=1e4")
    ('stationary', {'mu': [0.1, 0.5], 'horizon': 10000})
    >>> read_text("beta-swts:window=100|316")
    ('beta-swts', {'window': [100, 316]})
    """
    parts = text.split(":")
    first = next((place for place, part in enumerate(parts) if place > 0 and "=" in part), len(parts))
    settings: list[str] = []
    for piece in filter(None, _split(":".join(parts[first:]), ",")):
        if settings and is_number(read_value(piece)):  # a number after a comma continues the list before it
            settings[-1] += f",{piece}"
        else:
            settings.append(piece)
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, given = setting.partition("=")
        several = _split(given, "|")
        if not (key.isidentifier() and equals and all(several or [""])):
            raise ValueError(f"cannot read {setting!r} in {text!r}; write name:parameter=value,parameter=value")
        if key in parameters:
            raise ValueError(f"{key} is given twice in {text!r}; several values of an agent are written {key}=1|2")
        values = [read_value(f"[{each}]" if len(_split(each, ",")) > 1 else each) for each in several]
        parameters[key] = given if key in TEXTS else Values(values) if len(values) > 1 else values[0]
    return ":".join(parts[:first]), parameters


def unpacked(given: Any) -> tuple[Any, dict[str, Any]]:
    """Return what is named without its parameters, and these: of a text, or of a pair.

    >>> unpacked("beta-swts:window=100"), unpacked(("beta-swts", {"window": 100}))
    (('beta-swts', {'window': 100}), ('beta-swts', {'window': 100}))
    """
    settings: dict[str, Any] = {}
    if is_pair(given):
        given, settings = given[0], dict(given[1])
    if isinstance(given, str) and ":" in given and "=" in given:
        given, read = read_text(given)
        settings = read | settings
    return given, settings


def is_pair(given: Any) -> bool:
    """Return whether it is a pair of what is named and its parameters."""
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)


def check_single(given: Any, parameters: Mapping[str, Any], who: str = "agents of a comparison") -> None:
    """Raise a ValueError if a parameter has several values."""
    if several := [key for key, value in parameters.items() if isinstance(value, Values)]:
        raise ValueError(f"{given!r} has several values of {several[0]}: only {who} can be swept")


def write_text(name: str, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """Return the text of a name with parameters, which :func:`read_text` reads.

    >>> write_text("stationary", {"mu": (0.1, 0.5), "shuffle": True})
    'stationary:mu=[0.1,0.5],shuffle=true'
    """
    settings = ",".join(f"{key}={_written(value)}" for key, value in dict(parameters).items())
    return f"{name}:{settings}" if settings else name


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_value(text: str) -> Any:
    """Return the value that a text means: a number, a truth value, a list in brackets, or the text itself.

    >>> [read_value(text) for text in ("500", "0.6", "1e4", "true", "[0.1, 0.5]", "gaussian")]
    [500, 0.6, 10000, True, [0.1, 0.5], 'gaussian']
    """
    if text.startswith("[") and text.endswith("]"):
        return [read_value(each.strip()) for each in _split(text[1:-1], ",")]
    for read in (int, float):
        try:
            return plain(read(text))
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def plain(value: Any) -> Any:
    """Return a value in which whole numbers are integers, however they are written, as 1e4 is in TOML."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def is_number(value: Any) -> bool:
    """Return whether a value is a number, which truth values are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _split(text: str, sign: str) -> list[str]:
    """The pieces of a text between signs outside of brackets; none if the text is empty."""
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth = max(0, depth + (letter in OPENING) - (letter in CLOSING))
        if letter == sign and depth == 0:
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]] if text else []
