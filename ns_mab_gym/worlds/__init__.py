"""Worlds: how means move. A new world is one dataclass, and its name in ``OTHERS``."""

from __future__ import annotations

from .drawn import DawWalk, Mixed, Piecewise, RandomWalk, Rising, Rotting
from .paper import Abrupt, GeneralAbrupt, Smooth
from .synthetic import Periodic, Stationary, Variation
from .table import Table, read_means
from .world import WORLDS, World, card, kind, make, names, register

__all__ = [
    "Abrupt",
    "DawWalk",
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

PAPER = (Abrupt, GeneralAbrupt, Smooth)
OTHERS = (Stationary, Piecewise, RandomWalk, DawWalk, Rising, Rotting, Variation, Periodic, Mixed, Table)
HOUSE: dict[str, type[World]] = {kind.name: kind for kind in (*PAPER, *OTHERS)}

for _name, _kind in HOUSE.items():
    WORLDS.add(_name, _kind)
