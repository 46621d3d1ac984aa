"""What all commands share: one style of errors and exit codes, and the options of commands that run a study.

Exit codes: 0 after success, 2 if the user must change something (an argument, a file, a missing extra), 130 after
Ctrl-C. An error is one line, ``command: error: what is wrong; what to do``, on the error stream; so is a warning.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import gymnasium as gym

from ..module_files import is_own_code
from ..play.cores import job_count

__all__ = [
    "GONE_WELL",
    "INTERRUPTED",
    "PROGRAM",
    "REFUSED",
    "Parser",
    "as_typed",
    "closing",
    "jobs",
    "leave",
    "natural",
    "positive",
    "study_options",
]

GONE_WELL, REFUSED, INTERRUPTED = 0, 2, 130
HOUSE = __name__.partition(".")[0]
PROGRAM = "ns-mab-gym"


class Parser(argparse.ArgumentParser):
    """Reads the arguments of a command; mistakes in them are reported in one line, like any other error.

    Args:
        command: the name of the command.
        description: what it does.
        examples: arguments with which to try it, shown by ``--help``.
    """

    def __init__(self, command: str, description: str, examples: Iterable[str]) -> None:
        lines = "\n".join(f"  {command} {example}".rstrip() for example in examples)
        shape = argparse.RawDescriptionHelpFormatter
        super().__init__(command, description=description, epilog=f"examples:\n{lines}", formatter_class=shape)

    def error(self, message: str) -> NoReturn:
        """Raise a ValueError that says what is wrong with the arguments and where to find help."""
        raise ValueError(f"{message}; see {self.prog} --help")


def closing(command: str, work: Callable[[], Iterable[str]], *, interrupted: str = "stopped") -> int:
    """Run a command, print its lines as they are produced, and return the exit code.

    Args:
        command: its name, for messages.
        work: a function that does everything, including the reading of arguments; returns the lines to print.
        interrupted: what to say after Ctrl-C.
    """
    try:
        with _working_folder_importable(), _warnings_in_one_line(command):
            for line in work():
                print(line, flush=True)
    except BrokenPipeError:  # the reader of the lines, such as ``head``, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, OSError, ImportError, gym.error.Error) as error:
        print(f"{command}: error: {_in_one_line(error)}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print(f"\n{command}: {interrupted}", file=sys.stderr)
        return INTERRUPTED
    return GONE_WELL


def leave(exit_code: int) -> NoReturn:
    """End the process; after Ctrl-C at once, without waiting for threads: what is stored is complete."""
    if exit_code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(exit_code)
    sys.exit(exit_code)


@contextmanager
def _working_folder_importable() -> Iterator[None]:
    """Make modules in the current folder importable as ``module:Class``, as with ``python -m``."""
    folder = str(Path.cwd())
    if folder in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


@contextmanager
def _warnings_in_one_line(command: str) -> Iterator[None]:
    """Show a warning as ``command: warning: …``, once, without the line of code that caused it."""
    told: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in told:
            told.add(str(message))
            print(f"{command}: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _in_one_line(error: BaseException) -> str:
    """An error's message, its notes, and the place in the user's own code where it arose, if it did."""
    said = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        said = f"{error.strerror}: {str(error.filename)!r}"
    about = "; ".join([*getattr(error, "__notes__", ()), *_places(error)])
    return " ".join(f"{said} ({about})".removesuffix(" ()").split())


def _places(error: BaseException | None) -> list[str]:
    """The file and line of the user's own code (an agent or a world) in which an error arose; empty if elsewhere."""
    while error is not None:
        frames = list(traceback.walk_tb(error.__traceback__))
        own = [(frame, line) for frame, line in frames if _is_the_users(str(frame.f_globals.get("__name__")))]
        if own:
            frame, line = own[-1]
            return [f"{Path(frame.f_code.co_filename).name}, line {line}"]
        error = error.__cause__
    return []


def _is_the_users(module: str) -> bool:
    top = module.partition(".")[0]
    return top != HOUSE and is_own_code(top)


def as_typed(command: str, arguments: Sequence[str] | None) -> str:
    """A command with its arguments, those of this process if none are given, as one would type it."""
    program = f"python scripts/{command}" if command.endswith(".py") else f"{PROGRAM} {command.split()[-1]}"
    return f"{program} {shlex.join(sys.argv[1:] if arguments is None else arguments)}".strip()


def positive(text: str) -> int:
    """The value of an option that must be a positive integer."""
    return _at_least(1, text, "a positive integer")


def natural(text: str) -> int:
    """The value of an option that must be an integer of at least 0, such as a seed."""
    return _at_least(0, text, "an integer of at least 0")


def jobs(text: str) -> int:
    """The value of ``--jobs``: how many threads; −1 means as many as there are cores."""
    try:
        return job_count(_integer(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a positive integer, or -1 for all cores, got {text!r}") from None


def _at_least(least: int, text: str, kind: str) -> int:
    try:
        value = _integer(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"must be {kind}, got {text!r}")
    return value


def _integer(text: str) -> int:
    """The integer that a text means; 1e4 is one too."""
    try:
        return int(text)
    except ValueError:
        if (number := float(text)).is_integer():
            return int(number)
        raise


def study_options(parser: argparse.ArgumentParser, folder: str) -> None:
    """Add the options of commands that run a study and write its results to a folder."""
    parser.add_argument("--out", default=folder, help="folder of results (%(default)s)")
    parser.add_argument("--jobs", type=jobs, help="threads; -1, the default, for as many as there are cores")
