"""``ns-mab-gym agents``: lists the agents, or prints the card of one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from .door import Parser, closing

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, command: str = "agents") -> int:
    """List the agents, or print the card of one; returns the exit code."""
    return closing(command, lambda: _tell(_parser(command).parse_args(arguments)))


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "List the agents, those of installed packages among them, or print the card of one:\n"
        "its source, its rule, its parameters, how it is tuned and what it must know.",
        ("", "beta-swts", "my_package.agents:Greedy"),
    )
    parser.add_argument("name", nargs="?", help="a name of the list, or package.module:Class")
    return parser


def _tell(options: argparse.Namespace) -> Iterator[str]:
    from ..agents.core import zoo
    from .listing import rows

    if options.name is None:
        yield from rows(zoo.names(), zoo.card)
    else:
        yield str(zoo.card(options.name))
