"""Worlds by their names: looked up, made and described. The table of names is in ``worlds/__init__.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..agents.core.arguments import by_name, known_keywords
from ..agents.core.cards import Card, card_of, docstring_of
from ..agents.core.parameter_types import typed
from ..agents.core.registry import Registry
from .world import World

__all__ = ["WORLDS", "card", "kind", "make", "names", "register"]

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
    if isinstance(name, World):
        return _card(name.name, type(name), {"this one": repr(name)} | _derivations(name))
    return _card(name, kind(name), {})


def _derivations(world: World) -> dict[str, str]:
    told = [f"{name} = {getattr(world, name)} ({words})" for name, words in world.derived.items()]
    return {"derived": "; ".join(told)} if told else {}


def _card(name: str, world: type[World], facts_of_one: dict[str, str]) -> Card:
    doc = docstring_of(world).split("Attributes:")[0].split(">>>")[0].split("\n\n", 1)
    facts = {"more": " ".join(doc[1].replace("``", "").split())} if len(doc) > 1 and doc[1].strip() else {}
    drawn = "drawn anew at each reset" if world.random else "the same in every run"
    return card_of(name, world, facts | {"means": drawn} | facts_of_one)


def make(world: World | str | Mapping[str, Any], **parameters: Any) -> World:
    """A world from its name, from what :meth:`World.to_dict` returned, or from another world.

    Args:
        world: a name, a ``"package.module:Class"``, a mapping with a ``name`` and parameters, or a world.
        parameters: parameters to set or to change.
    """
    if isinstance(world, World):
        return world.with_parameters(**parameters) if parameters else world
    if isinstance(world, Mapping):
        return _from_description(dict(world), parameters)
    found = kind(world)
    known_keywords(f"world {world!r}", parameters, found.parameters())
    return typed(found, parameters, lambda: found(**parameters))


def _from_description(described: dict[str, Any], parameters: dict[str, Any]) -> World:
    """A world from what ``to_dict`` returned; what was derived there is derived again if that gives the same."""
    name = described.pop("name", None)
    derived = by_name("derived", described.pop("derived", None))
    made = make(name, **({key: value for key, value in described.items() if key not in derived} | parameters))
    if parameters or made == (stored := make(name, **described)):
        return made
    return stored  # by formulas of another version
