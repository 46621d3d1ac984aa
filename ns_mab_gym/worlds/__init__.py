"""Worlds: how means move. A new world is one dataclass and one row of the table below."""

from __future__ import annotations

from .drawn import Mixed, Piecewise, RandomWalk, Rising, Rotting
from .paper import Abrupt, GeneralAbrupt, Smooth
from .synthetic import Periodic, Stationary, Variation
from .table import Table, read_means
from .world import WORLDS, World, card, kind, make, names, register

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
    "card",
    "kind",
    "make",
    "names",
    "read_means",
    "register",
]

# name: the class.
HOUSE: dict[str, type[World]] = {
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

for _name, _kind in HOUSE.items():
    WORLDS.add(_name, _kind)
