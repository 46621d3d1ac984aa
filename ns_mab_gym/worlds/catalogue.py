"""Worlds by their names: looked up, made and described. The table of names is in ``worlds/__init__.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..agents.core.arguments import by_name, known_keywords, typed
from ..agents.core.registry import Card, Registry, card_of, docstring_of
from ..agents.core.text import check_single, unpacked
from .world import World

WORLDS = Registry("world", "worlds", "ns_mab_gym.worlds", needs=("means", "with_parameters", "parameters", "to_dict"))


def register(name: str, world: type[World] | str) -> None:
    """Register a world of your own under a name that ``make``, ``gym.make``, descriptions and commands then accept.

    Args:
        name: lower-case words joined by hyphens.
        world: a class derived from :class:`~ns_mab_gym.worlds.World`, or where it is, ``"package.module:Class"``.
    """
    WORLDS.add(name, world)


def names() -> list[str]:
    """The names that :func:`make` knows."""
    return WORLDS.names()


def kind(name: str) -> type[World]:
    """The class of the world with this name, or at this ``package.module:Class``."""
    return WORLDS.find(name)


def card(name: str | World) -> Card:
    """The card of a world: how its means move, whether they are random, its parameters; ``print`` shows it.

    Args:
        name: the name of a world; or a world, whose card also says what was derived from its size, by which formulas.
    """
    world = type(name) if isinstance(name, World) else kind(name)
    doc = docstring_of(world).split("Attributes:")[0].split(">>>")[0].split("\n\n", 1)
    facts = {"more": " ".join(doc[1].replace("``", "").split())} if len(doc) > 1 and doc[1].strip() else {}
    facts["means"] = "drawn anew at each reset" if world.random else "the same in every run"
    if isinstance(name, World):
        facts["this one"] = repr(name)
        if name.derived:
            each = (f"{key} = {getattr(name, key)} ({formula})" for key, formula in name.derived.items())
            facts["derived"] = "; ".join(each)
    return card_of(name.name if isinstance(name, World) else name, world, facts)


def make(world: Any, **parameters: Any) -> World:
    """A world from its name or class, from what :meth:`World.to_dict` returned, or from another world.

    Args:
        world: a name, a ``"package.module:Class"``, a class, a mapping with a ``name`` and parameters, or a world; also
            with parameters, as a text (``"piecewise:n_arms=3"``) or in a pair (``("piecewise", {"n_arms": 3})``).
        parameters: parameters to set or to change.
    """
    given, (world, settings) = world, unpacked(world)
    check_single(given, settings, "agents")
    parameters = settings | parameters
    if isinstance(world, World):
        return world.with_parameters(**parameters) if parameters else world
    if isinstance(world, Mapping):
        described = dict(world)
        name, derived = described.pop("name", None), by_name("derived", described.pop("derived", None))
        made = make(name, **({key: value for key, value in described.items() if key not in derived} | parameters))
        if parameters or made == (stored := make(name, **described)):
            return made
        return stored  # by formulas of another version
    found = WORLDS.checked(world) if isinstance(world, type) else kind(world)
    known_keywords(f"world {world if isinstance(world, str) else world.__name__!r}", parameters, found.parameters())
    return typed(found, parameters, lambda: found(**parameters))
