"""The command ``ns-mab-gym``: finds the module of a subcommand and runs it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from .. import __version__
from ..agents.core.arguments import nearest
from .door import GONE_WELL, PROGRAM, REFUSED, leave, printable_streams

__all__ = ["COMMANDS", "main"]

# command: what it does. Its module is <command>_command, loaded when it is called.
COMMANDS = {
    "paper": "reproduce the paper's experiments and judge its claims",
    "evaluate": "compare agents on worlds of your choice",
    "leaderboard": "rank every agent on many kinds of worlds, and your own beside them",
    "tune": "find the best parameters of an agent for a world",
    "recommend": "find the agent and the parameters that suit a world",
    "diagnose": "what makes a world hard, and which window fits it",
    "train": "train a deep agent and compare it with the zoo",
    "plot": "draw the means of worlds",
    "agents": "list the agents, or print the card of one",
    "worlds": "list the worlds and reward laws, or print the card of one",
    "cite": "how to cite this software and the paper",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand that the arguments name; returns the exit code."""
    with printable_streams():
        exit_code = _run(list(sys.argv[1:] if arguments is None else arguments))
    if arguments is None:  # this process was started for the command
        leave(exit_code)
    return exit_code


def _run(given: list[str]) -> int:
    command = given[0] if given else "--help"
    if command in ("-h", "--help"):
        print(_help())
        return GONE_WELL
    if command == "--version":
        print(f"{PROGRAM} {__version__}")
        return GONE_WELL
    if command not in COMMANDS:
        print(f"{PROGRAM}: error: unknown command {command[:80]!r}; {nearest(command, COMMANDS)}", file=sys.stderr)
        return REFUSED
    module = importlib.import_module(f".{command}_command", __package__)
    exit_code: int = module.main(given[1:], f"{PROGRAM} {command}")
    return exit_code


def _help() -> str:
    rows = [f"  {command:<13}{what}" for command, what in COMMANDS.items()]
    return "\n".join([f"usage: {PROGRAM} COMMAND …", "", *rows, "", f"{PROGRAM} COMMAND --help tells more of each."])
