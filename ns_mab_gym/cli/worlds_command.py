"""``ns-mab-gym worlds``: lists the worlds and reward laws, or prints the card of one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .door import Parser, closing

if TYPE_CHECKING:
    from ..worlds import World

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, command: str = "worlds") -> int:
    """List the worlds, ids and laws, or print the card of one; returns the exit code."""
    return closing(_parser(command), arguments, _tell)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "List the worlds, the ids by which Gymnasium knows them and the reward laws, or print the card of one.",
        ("", "piecewise", "NSBandit-Smooth-v0", "mixed:n_arms=5,horizon=500", "gaussian", "my_package.worlds:Tide"),
    )
    help_ = "a world, an id, a law, or package.module:Class; with parameters, to see what follows from them"
    parser.add_argument("name", nargs="?", help=help_)
    return parser


def _tell(options: argparse.Namespace) -> Iterator[str]:
    from .. import rewards, worlds
    from ..envs import ENV_IDS
    from .listing import closing_note, rows

    if options.name is not None:
        yield from _card(options.name)
        return
    yield from ("worlds", *rows(worlds.names(), worlds.card, "  "))
    yield from ("", "ids, for gym.make and wherever a world can be named", *(f"  {_played(name)}" for name in ENV_IDS))
    yield from ("", "reward laws", *rows(rewards.names(), rewards.card, "  "), *closing_note())


def _card(name: str) -> Iterator[str]:
    from .. import rewards, worlds
    from ..agents.core.arguments import nearest
    from ..agents.core.registry import load_path, looks_like_path
    from ..envs import ENV_IDS

    if "=" in name:
        yield str(worlds.card(_sized(name)))
        return
    env_id = name.removeprefix("ns_mab_gym:")
    if env_id in ENV_IDS:
        yield _played(env_id)
        name = ENV_IDS[env_id].get("world", "abrupt")
    if name in rewards.LAWS or (looks_like_path(name) and _is_a_law(load_path(name))):
        yield str(rewards.card(name))
    elif name in worlds.names() or looks_like_path(name):
        yield str(worlds.card(name))
        yield from (f"  id           {each}" for each in ENV_IDS if ENV_IDS[each].get("world") == name)
    else:
        every = [*worlds.names(), *rewards.names(), *ENV_IDS]
        raise ValueError(f"unknown world, id or law {name!r}; {nearest(name, every)}")


def _sized(words: str) -> World:
    """The world of a text such as ``mixed:n_arms=5,horizon=500``."""
    from ..envs import ENV_IDS
    from ..experiments.parsing import parse
    from ..experiments.study import WorldEntry
    from ..worlds import make

    entry = parse(WorldEntry, words)
    played = ENV_IDS.get(entry.name.removeprefix("ns_mab_gym:"))
    known = {"world": entry.name} if played is None else {"world": "abrupt"} | played
    return make(**(known | entry.kwargs))


def _is_a_law(found: object) -> bool:
    from ..rewards import Law

    return isinstance(found, type) and issubclass(found, Law)


def _played(env_id: str) -> str:
    """A line with an id and the world that it plays."""
    from ..envs import ENV_IDS

    settings = ", ".join(f"{key}={value!r}" for key, value in ENV_IDS[env_id].items())
    return f"{env_id:<28}{settings or 'any world, by its argument world='}"
