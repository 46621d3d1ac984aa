"""What all commands share: one style of errors and exit codes, and the options of commands that run a study.

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
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import gymnasium as gym

from ..module_files import is_own_code
from ..plain_texts import escaped
from ..play.cores import job_count
from ..workforce import EXECUTORS, RETRIES, hired

__all__ = [
    "GONE_WELL",
    "INTERRUPTED",
    "PROGRAM",
    "REFUSED",
    "UNFORESEEN",
    "Parser",
    "UnfinishedError",
    "as_typed",
    "closing",
    "in_one_line",
    "jobs",
    "leave",
    "natural",
    "path",
    "positive",
    "printable_streams",
    "ran",
    "seconds",
    "study_options",
    "threads",
    "workers",
]

GONE_WELL, UNFORESEEN, REFUSED, INTERRUPTED = 0, 1, 2, 130
# What is raised on purpose, in words, and what every machine runs out of.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError, gym.error.Error)
HOUSE = __name__.partition(".")[0]
PROGRAM = "ns-mab-gym"
MOST, LARGEST_SEED, MOST_THREADS = 2**63 - 1, 2**128 - 1, 1_024
LONGEST_SHOWN = 80  # letters of what was typed


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
            with _working_folder_importable(), _warnings_in_one_line(command):
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
            print(f"{command}: warning: {escaped(' '.join(str(message).split()))}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def in_one_line(error: BaseException) -> str:
    """An error's message, its notes, and the place in the user's own code where it arose, if it did."""
    said = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        said = f"{error.strerror}: {str(error.filename)!r}"
    if isinstance(error, MemoryError):
        said = f"it does not fit into the memory of this machine; ask for less ({said or 'no more is known'})"
    if not isinstance(error, (*EXPECTED, UnfinishedError)):
        said = f"{type(error).__name__}{_origin(error)}: {said or 'no more is known'}; --debug shows the traceback"
    about = "; ".join([*getattr(error, "__notes__", ()), *_places(error)])
    return escaped(" ".join(f"{said} ({about})".removesuffix(" ()").split()))


def _origin(error: BaseException) -> str:
    """Where an error arose that nobody foresaw: the last place in our own code."""
    frames = list(traceback.walk_tb(error.__traceback__))
    ours = [each for each in frames if str(each[0].f_globals.get("__name__")).partition(".")[0] == HOUSE]
    if not ours:
        return ""
    frame, line = ours[-1]
    return f" in {frame.f_globals['__name__']}, line {line}"


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
    return escaped(f"{program} {shlex.join(sys.argv[1:] if arguments is None else arguments)}".strip())


def positive(text: str) -> int:
    """The value of an option that must be a positive integer."""
    return _within(1, MOST, text, "a positive integer")


def natural(text: str) -> int:
    """The value of an option that must be an integer of at least 0, such as a seed."""
    return _within(0, LARGEST_SEED, text, "an integer of at least 0")


def jobs(text: str) -> int:
    """The value of ``--jobs``: how many threads; −1 means as many as there are cores."""
    try:
        return min(job_count(_integer(text)), MOST_THREADS)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"must be a positive integer, or -1 for all cores, got {_shown(text)}"
        ) from None


def threads(text: str) -> int:
    """The value of an option that is a number of threads."""
    return min(positive(text), MOST_THREADS)


def seconds(text: str) -> float:
    """The value of an option that is a time: a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {_shown(text)}")
    return value


def path(text: str) -> Path:
    """The value of an option that is the name of a file or a folder."""
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError(f"must be the name of a file or a folder, got {_shown(text)}")
    return Path(text)


def _within(least: int, most: int, text: str, kind: str) -> int:
    try:
        value = _integer(text)
    except (ValueError, OverflowError):
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"must be {kind}, got {_shown(text)}")
    if value > most:
        raise argparse.ArgumentTypeError(f"must be below 2**{most.bit_length()}, got {_shown(text)}")
    return value


def _integer(text: str) -> int:
    """The integer that a text means; 1e4 is one too."""
    try:
        return int(text)
    except ValueError:
        if (number := float(text)).is_integer():
            return int(number)
        raise


def _shown(text: str) -> str:
    """What was typed, as an error message shows it."""
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


def study_options(parser: argparse.ArgumentParser, folder: str) -> None:
    """Add the options of commands that run a study and write its results to a folder."""
    parser.add_argument("--out", type=path, default=Path(folder), help="folder of results (%(default)s)")
    parser.add_argument(
        "--jobs", type=jobs, help="threads or processes; -1, the default, for as many as there are cores"
    )
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        help="who computes: threads of this process (the default), processes, or a Dask cluster (extra 'cluster'), "
        "which is started on this machine unless --scheduler names one",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler that is running, such as tcp://10.0.0.1:8786"
    )
    parser.add_argument(
        "--retries", type=natural, default=RETRIES, help="how often a unit that failed is tried again (%(default)s)"
    )


def workers(options: argparse.Namespace) -> dict[str, Any]:
    """Who computes, as the options of a study say it: arguments of the study."""
    executor = options.executor or ("threads" if options.scheduler is None else "dask")
    if options.scheduler is not None and executor != "dask":
        raise ValueError(f"--scheduler is for --executor dask, got --executor {executor}; leave one of them out")
    hire = None if executor == "threads" else partial(hired, executor, options.jobs, options.scheduler)
    return {"n_jobs": options.jobs, "hire": hire, "retries": options.retries}


def ran(study: Any) -> Iterator[str]:
    """Run a study, and return its closing lines; then raise an error if some of its units have failed."""
    yield from study.run()
    failures, folder = study.failures, study.folder
    if failures:
        raise UnfinishedError(
            f"{len(failures)} of the units failed, such as {failures[0]}; {folder / 'failures.txt'} has all of them "
            f"with their tracebacks, and the same command tries them again"
        )
