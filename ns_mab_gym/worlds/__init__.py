"""How means move. A new world is one dataclass and one row of the table below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..agents.checks import choice, known_parameters
from .base import World
from .drawn import Mixed, Piecewise, RandomWalk
from .monotone import Rising, Rotting
from .paper import Abrupt, GeneralAbrupt, Smooth
from .synthetic import Periodic, Stationary, Variation
from .table import Table, read_means

__all__ = [
    "Abrupt",
    "GeneralAbrupt",
    "Mixed",
    "Periodic",
    "Piecewise",
    "RandomWalk",
    "Rising",
    "Rotting",
    "Smooth",
    "Stationary",
    "Table",
    "Variation",
    "World",
    "make",
    "names",
    "read_means",
]

WORLDS: dict[str, type[World]] = {
    "abrupt": Abrupt,
    "general-abrupt": GeneralAbrupt,
    "smooth": Smooth,
    "stationary": Stationary,
    "piecewise": Piecewise,
    "random-walk": RandomWalk,
    "rising": Rising,
    "rotting": Rotting,
    "variation": Variation,
    "periodic": Periodic,
    "mixed": Mixed,
    "table": Table,
}


def names() -> list[str]:
    """The names that :func:`make` knows."""
    return list(WORLDS)


def make(world: World | str | Mapping[str, Any], **parameters: Any) -> World:
    """A world from its name, from what :meth:`World.to_dict` gave, or from another world.

    Args:
        world: a name, a mapping with a ``name`` and parameters, or a world.
        parameters: parameters to set or to change.
    """
    if isinstance(world, World):
        return world.with_parameters(**parameters) if parameters else world
    if isinstance(world, Mapping):
        described = dict(world)
        return make(described.pop("name", None), **(described | parameters))
    kind = WORLDS[choice("world", world, WORLDS)]
    known_parameters(f"world {world!r}", parameters, kind.parameters())
    return kind(**parameters)
