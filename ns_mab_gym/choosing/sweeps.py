"""Sweeps: several agents that differ in one parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..agents.core.arguments import as_integer, positive, positive_int, shown
from ..agents.core.zoo import AGENTS, check_parameters, kind

__all__ = ["Sweep", "geomspace", "sweep"]

Number = int | float
USAGE = "write one parameter with its values, as in sweep('beta-swts', window=[100, 1000])"


@dataclass(frozen=True)
class Sweep:
    """An agent with several values of one parameter; :func:`sweep` makes one.

    Attributes:
        agent: a name, a ``"package.module:Class"`` or a class.
        parameter: the parameter that varies.
        values: its values.
        fixed: parameters that all of them share.
    """

    agent: Any
    parameter: str
    values: tuple[Number, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def entries(self) -> list[tuple[Any, dict[str, Any]]]:
        """The agent with its parameters, once for each value.

        >>> sweep("sw-ucb", window=[10, 100], xi=0.6).entries()
        [('sw-ucb', {'xi': 0.6, 'window': 10}), ('sw-ucb', {'xi': 0.6, 'window': 100})]
        """
        return [(self.agent, {**self.fixed, self.parameter: value}) for value in self.values]


def sweep(agent: Any, /, **parameters: Any) -> Sweep:
    """Several agents that differ in one parameter, for :func:`ns_mab_gym.compare`.

    Args:
        agent: a name, a ``"package.module:Class"`` of your own, or a class.
        parameters: one of them with a list of numbers, which is swept; the others hold for all.

    >>> sweep("beta-swts", window=geomspace(100, 10_000, 5)).values
    (100, 316, 1000, 3162, 10000)
    """
    if not isinstance(agent, str | type):
        raise TypeError(f"a sweep makes its agents: give a name or a class, got {shown(agent)}")
    swept = [name for name, values in parameters.items() if isinstance(values, Sequence | np.ndarray | range)]
    swept = [name for name in swept if not isinstance(parameters[name], str)]
    if not swept:
        raise ValueError(f"nothing is swept: {USAGE}")
    if len(swept) > 1:
        raise ValueError(f"a sweep varies one parameter, got {' and '.join(swept)}; give two sweeps in a list")
    check_parameters(f"agent {agent!r}", kind(agent) if isinstance(agent, str) else AGENTS.checked(agent), parameters)
    (parameter,) = swept
    fixed = {name: value for name, value in parameters.items() if name != parameter}
    return Sweep(agent, parameter, _numbers(parameter, parameters[parameter]), fixed)


def _numbers(parameter: str, values: Any) -> tuple[Number, ...]:
    """The values as Python numbers, each once and in ascending order."""
    plain = np.atleast_1d(values).tolist() if isinstance(values, np.ndarray) else list(values)
    plain = [value.item() if isinstance(value, np.generic) else value for value in plain]
    if not plain:
        raise ValueError(f"{parameter} has no values to sweep; {USAGE}")
    for value in plain:
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise TypeError(f"a sweep varies a number, got {parameter} = {shown(value)}; compare such agents in a list")
    return tuple(sorted(dict.fromkeys(plain)))


def geomspace(first: float, last: float, count: int) -> list[Number]:
    """Numbers from the first to the last, each about as many times the one before; integers between integers.

    Integers that would be equal after rounding are given once.

    >>> geomspace(1, 100, 3), geomspace(1.0, 100, 3), geomspace(1, 4, 9)
    ([1, 10, 100], [1.0, 10.0, 100.0], [1, 2, 3, 4])
    """
    positive("the first number of geomspace", first)
    positive("the last number of geomspace", last)
    positive_int("the count of geomspace", count, least=2)
    numbers = np.geomspace(first, last, count)
    if _is_integer(first) and _is_integer(last):
        return list(dict.fromkeys(int(number) for number in numbers.round()))
    return [float(first), *numbers[1:-1].tolist(), float(last)]


def _is_integer(given: object) -> bool:
    try:
        as_integer(given)
    except TypeError:
        return False
    return True
