"""``ns-mab-gym agents``: lists the agents, or prints the card of one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from .door import Parser, closing

__all__ = ["FAMILIES", "main"]

# family: its agents, as far as they are of this house. What is in none of them is listed at the end.
FAMILIES: dict[str, tuple[str, ...]] = {
    "the paper's own": ("beta-swts", "gamma-swgts"),
    "baselines that forget nothing": ("ts", "kl-ucb", "ucb1", "exp3"),
    "passive: they forget all the time, by a window, a discount or restarts by the clock": (
        "sw-ucb", "sw-kl-ucb", "d-ucb", "d-ts", "ds-ts", "dsw-ts", "sw-lb-sda", "predictive-sampling", "rexp3", "exp3s",
        "ser4", "bandit-over-windows",
    ),
    "active: they look for changes, and forget when they find one": (
        "cusum-ucb", "pht-ucb", "br-mab", "m-ucb", "glr-klucb", "glr-ts", "adr-ts", "master", "restarting",
    ),
    "a belief about the last change": ("switching-ts", "active-ptw"),
    "for means that only rise or only fall": ("r-less-ucb", "raw-ucb", "fewa"),
    "references": ("random", "oracle-restart", "oracle"),
}  # fmt: skip
OTHERS = "yours, and those of installed packages"


def main(arguments: Sequence[str] | None = None, command: str = "agents") -> int:
    """List the agents, or print the card of one; returns the exit code."""
    return closing(_parser(command), arguments, _tell)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "List the agents by family, those of installed packages among them, or print the card of one:\n"
        "its source, its rule, its parameters, how it is tuned and what it must know.",
        ("", "beta-swts", "my_package.agents:Greedy"),
    )
    parser.add_argument("name", nargs="?", help="a name of the list, or package.module:Class")
    return parser


def _tell(options: argparse.Namespace) -> Iterator[str]:
    from ..agents.core import zoo
    from .listing import closing_note, rows

    if options.name is not None:
        yield str(zoo.card(options.name))
        return
    summaries = dict(zip(zoo.names(), rows(zoo.names(), zoo.card, "  "), strict=True))
    for number, (family, names) in enumerate(_families(list(summaries)).items()):
        yield from ("",) * (number > 0)
        yield from (family, *(summaries[name] for name in names))
    yield from closing_note()


def _families(names: Sequence[str]) -> dict[str, list[str]]:
    """The names by family, and those without one."""
    placed = {name for family in FAMILIES.values() for name in family}
    families = {family: [name for name in members if name in names] for family, members in FAMILIES.items()}
    families[OTHERS] = [name for name in names if name not in placed]
    return {family: members for family, members in families.items() if members}
