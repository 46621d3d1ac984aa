"""The command ``ns-mab-gym``: finds the module of a subcommand and runs it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from .. import __version__
from ..agents.core.arguments import nearest
from .parser import GONE_WELL, PROGRAM, REFUSED, leave, printable_streams

# command: its function, loaded when it is called, and what it does.
COMMANDS = {
    "paper": ("studies:paper", "reproduce the paper's experiments and judge its claims"),
    "evaluate": ("studies:evaluate", "compare agents on worlds of your choice"),
    "leaderboard": ("studies:leaderboard", "rank every agent on many kinds of worlds, and your own beside them"),
    "tune": ("choosing:tune_parameters", "find the best parameters of an agent for a world"),
    "recommend": ("choosing:recommend_agent", "find the agent and the parameters that suit a world"),
    "diagnose": ("choosing:diagnose", "what makes a world hard, and which window fits it"),
    "log": ("logs:read", "a log of decisions: how it drifts, and a page"),
    "serve": ("live:serve", "let an agent decide over HTTP, and learn from rewards that come late"),
    "train": ("train:main", "train a deep agent and compare it with agents of the registry"),
    "plot": ("choosing:plot", "draw the means of worlds"),
    "agents": ("lists:agents", "list the agents, or print the card of one"),
    "worlds": ("lists:worlds", "list the worlds and reward laws, or print the card of one"),
    "cite": ("lists:cite", "how to cite this software and the paper"),
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
        rows = [f"  {name:<13}{what}" for name, (_, what) in COMMANDS.items()]
        print(f"usage: {PROGRAM} COMMAND …", "", *rows, "", f"{PROGRAM} COMMAND --help tells more of each.", sep="\n")
    elif command == "--version":
        print(f"{PROGRAM} {__version__}")
    elif command in COMMANDS:
        module, _, function = COMMANDS[command][0].partition(":")
        run = getattr(importlib.import_module(f".{module}", __package__), function)
        exit_code: int = run(given[1:], f"{PROGRAM} {command}")
        return exit_code
    else:
        print(f"{PROGRAM}: error: unknown command {command[:80]!r}; {nearest(command, COMMANDS)}", file=sys.stderr)
        return REFUSED
    return GONE_WELL
