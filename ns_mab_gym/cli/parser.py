"""The frame of all commands: one style of errors and exit codes, and the values of options.

Exit codes: 0 after success, 2 if the user must change something (an argument, a file, a missing extra), 1 after an
error that nobody foresaw and if some units of a study have failed, 130 after Ctrl-C. An error is one line,
``command: error: what is wrong; what to do``, on the error stream; so is a warning. With ``--debug`` the traceback
stands before it.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import gymnasium as gym

from ..agents.core.arguments import escaped, job_count, shown
from ..sources import is_users_file

GONE_WELL, UNFORESEEN, REFUSED, INTERRUPTED = 0, 1, 2, 130
# Errors that are raised on purpose, in words, and those of a machine that runs out of something.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError, gym.error.Error)
PACKAGE = __name__.partition(".")[0]
PROGRAM = "ns-mab-gym"
MOST, LARGEST_SEED, MOST_THREADS = 2**63 - 1, 2**128 - 1, 1_024


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
        self.add_argument("--debug", action="store_true", help="show the traceback of an error")

    def add_seed(self, of: str = "of all runs") -> None:
        """Add the option ``--seed``, whose default is 0."""
        self.add_argument("--seed", type=natural, default=0, help=f"{of} (default: %(default)s)")

    def add_jobs(self, what: str = "threads") -> None:
        """Add the option ``--jobs``."""
        self.add_argument("--jobs", type=jobs, help=f"{what}; -1, the default, for as many as there are cores")

    def error(self, message: str) -> NoReturn:
        """Raise a ValueError that says what is wrong with the arguments and where to find help."""
        raise ValueError(f"{message}; see {self.prog} --help")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End after the help text has been shown."""
        raise HelpShown(status)


class UnfinishedError(Exception):
    """Something was left undone that can be done later; the rest is done."""


class HelpShown(SystemExit):
    """The help text is all that was asked for."""


def closing(
    parser: Parser,
    arguments: Sequence[str] | None,
    work: Callable[[argparse.Namespace], Iterable[str]],
    *,
    interrupted: str = "stopped",
) -> int:
    """Run a command, print its lines as they are produced, and return the exit code.

    Args:
        parser: reads its arguments, and knows its name.
        arguments: those that were typed; those of this process if None.
        work: does everything that the options ask for; returns the lines to print.
        interrupted: what to say after Ctrl-C.
    """
    command, given = parser.prog, list(sys.argv[1:] if arguments is None else arguments)
    options = argparse.Namespace(debug="--debug" in given)
    with printable_streams():
        try:
            with _surroundings(command):
                for line in work(options := parser.parse_args(given)):
                    print(line, flush=True)
        except HelpShown:
            raise
        except BrokenPipeError:  # the reader of the lines, such as ``head``, has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            print(f"\n{command}: {interrupted}", file=sys.stderr)
            return INTERRUPTED
        except (Exception, SystemExit) as error:  # whatever it is, it is told in one line
            if options.debug:
                traceback.print_exception(error)
            print(f"{command}: error: {in_one_line(error)}", file=sys.stderr)
            return REFUSED if isinstance(error, EXPECTED) else UNFORESEEN
    return GONE_WELL


@contextmanager
def printable_streams() -> Iterator[None]:
    """Print letters that the terminal's encoding lacks as escapes, instead of ending in an error."""
    streams = [stream for stream in (sys.stdout, sys.stderr) if isinstance(stream, io.TextIOWrapper)]
    before = [(stream, stream.errors) for stream in streams]
    for stream in streams:
        stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for stream, errors in before:
            with suppress(OSError, ValueError):  # it may be closed, and so may the other end of the pipe
                stream.reconfigure(errors=errors)


def leave(exit_code: int) -> NoReturn:
    """End the process; after Ctrl-C at once, without waiting for threads: what is stored is complete."""
    if exit_code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(exit_code)
    sys.exit(exit_code)


@contextmanager
def _surroundings(command: str) -> Iterator[None]:
    """Show each warning once, in one line, and have ``os._exit`` raise an error: a command ends with its own exit code.

    Processes that are forked meanwhile can use it as ever.
    """
    told: set[str] = set()
    leave_at_once, here = os._exit, os.getpid()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in told:
            told.add(str(message))
            print(f"{command}: warning: {escaped(' '.join(str(message).split()))}", file=sys.stderr)

    def refuse(status: int) -> None:
        if os.getpid() != here:
            leave_at_once(status)
        raise RuntimeError(f"the code of an agent or a world called os._exit({status}); let it raise an error instead")

    os._exit = refuse  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show
            yield
    finally:
        os._exit = leave_at_once


def in_one_line(error: BaseException) -> str:
    """Return an error's message, its notes, and the place in the user's own code where it arose, if it did."""
    said = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        said = f"{error.strerror}: {str(error.filename)!r}"
    if isinstance(error, MemoryError):
        said = f"it does not fit into the memory of this machine; ask for less ({said or 'no more is known'})"
    if not isinstance(error, (*EXPECTED, UnfinishedError)):
        ours = [(module, line) for module, _, line in _frames(error) if module.partition(".")[0] == PACKAGE]
        origin = f" in {ours[-1][0]}, line {ours[-1][1]}" if ours else ""
        said = f"{type(error).__name__}{origin}: {said or 'no more is known'}; --debug shows the traceback"
    about = "; ".join([*getattr(error, "__notes__", ()), *_places(error)])
    return escaped(" ".join(f"{said} ({about})".removesuffix(" ()").split()))


def _frames(error: BaseException) -> list[tuple[str, str, int]]:
    """Return the module, file and line of each frame of a traceback."""
    walked = traceback.walk_tb(error.__traceback__)
    return [(str(frame.f_globals.get("__name__")), frame.f_code.co_filename, line) for frame, line in walked]


def _places(error: BaseException | None) -> list[str]:
    """Return the file and line of the user's own code (an agent or a world) in which an error arose, if it did."""
    while error is not None:
        for module, file, line in reversed(_frames(error)):
            if module.partition(".")[0] not in (PACKAGE, "__main__") and is_users_file(file):
                return [f"{Path(file).name}, line {line}"]
        error = error.__cause__
    return []


def whole(least: int, most: int, kind: str) -> Callable[[str], int]:
    """Return a reader of options that must be integers within bounds."""

    def read(text: str) -> int:
        try:
            value = _integer(text)
        except (ValueError, OverflowError):
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be {kind}, got {shown(text)}")
        if value > most:
            raise argparse.ArgumentTypeError(f"must be below 2**{most.bit_length()}, got {shown(text)}")
        return value

    return read


def _integer(text: str) -> int:
    """Return the integer that a text means; 1e4 is one too."""
    try:
        return int(text)
    except ValueError:
        if (number := float(text)).is_integer():
            return int(number)
        raise


positive = whole(1, MOST, "a positive integer")
natural = whole(0, LARGEST_SEED, "an integer of at least 0")  # such as a seed


def threads(text: str) -> int:
    """Read an option that is a number of threads."""
    return min(positive(text), MOST_THREADS)


def jobs(text: str) -> int:
    """Read ``--jobs``, a number of threads; −1 means as many as there are cores."""
    several = whole(1, MOST, "a positive integer, or -1 for all cores")
    return job_count(None) if text.strip() == "-1" else min(several(text), MOST_THREADS)


def seconds(text: str) -> float:
    """Read an option that is a time: a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {shown(text)}")
    return value


def path(text: str) -> Path:
    """Read an option that is the name of a file or a folder."""
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError(f"must be the name of a file or a folder, got {shown(text)}")
    return Path(text)
