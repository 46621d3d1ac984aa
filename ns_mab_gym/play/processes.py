"""Runs of the generic loop in several processes, with loky; each is the run that this process would have played.

A process of its own may differ from this one in ways that nobody declares: a module that was edited after it was
imported, a global variable that was set by hand, a name that was registered. So the first run, which was played here,
is played there again; :func:`rows` yields it before all others, for the caller to compare.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import time
import warnings
from collections.abc import Generator
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

from ..runs import Runs
from .child_processes import become_child, ctrl_c_ignored
from .cores import usable_cores
from .match import Match
from .recording import Recording, finished, note

__all__ = ["Caught", "Row", "packed", "rows", "workers"]

SAVING = 3.0  # seconds that processes must save to be worth their start, which takes one or two


class Work(NamedTuple):
    """What every process needs to play any of the runs."""

    match: Match
    recording: Recording
    horizon: int


class Caught(NamedTuple):
    """A warning that a run issued."""

    text: str
    category: type[Warning]
    file: str
    line: int


class Row(NamedTuple):
    """What a process sends back: the record of one run, or else why there is none."""

    runs: Runs | None
    caught: tuple[Caught, ...] = ()
    failure: str = ""


_packed: bytes | None = None  # the Work of this process, if it was started to play runs
_work: Work | None = None


def workers(match: Match, jobs: int, runs: int, seconds: float) -> int:
    """How many processes are to play all runs but the first one, which took so many seconds here; 1 if none but this.

    Args:
        match: the pairing.
        jobs: how many jobs at once the user wants.
        runs: the number of runs, with the first.
        seconds: how long the first run took.
    """
    # A network stays here: torch uses several cores by itself, and with another number of threads its sums may differ
    # in the last bit; every process would load it anew. Pictures and windows belong to the process that shows them.
    stays = getattr(match.kind, "only_generic", False) or getattr(match.env, "render_mode", None) is not None
    # A process that was itself started to share work leaves the cores to its siblings.
    nested = _packed is not None or multiprocessing.parent_process() is not None
    number = min(jobs, usable_cores(), runs - 1)
    if stays or nested or number < 2:
        return 1
    there = math.ceil(runs / number) * seconds  # the first run is played again
    return number if (runs - 1) * seconds - there > SAVING else 1


def packed(match: Match, recording: Recording, horizon: int) -> bytes:
    """The pairing as bytes; raises an error of any kind if the agent or the environment cannot be pickled."""
    import cloudpickle  # type: ignore[import-untyped]

    return bytes(cloudpickle.dumps(Work(match.portable(), recording, horizon)))


def rows(work: bytes, seeds: list[tuple[int, int]], number: int) -> Generator[Row, None, None]:
    """Plays runs in processes of their own, and yields them in the order of their seeds.

    Args:
        work: what :func:`packed` returned.
        seeds: the pair of seeds of each run.
        number: how many processes.
    """
    import loky  # type: ignore[import-untyped]

    try:
        with ctrl_c_ignored():
            pool = loky.ProcessPoolExecutor(number, initializer=_begin, initargs=(work, os.getpid()))
            futures = [pool.submit(_play, pair) for pair in seeds]
    except (OSError, NotImplementedError) as error:  # the system grants no processes, or no semaphores
        yield Row(None, failure=f"no process could be started: {error}")
        return
    complete = False
    try:
        for future in futures:
            yield _row(future)
        complete = True
    finally:
        # Those who leave early, by Ctrl-C or an error, do not wait for runs that nobody wants to see.
        pool.shutdown(wait=True, kill_workers=not complete)


def _row(future: Any) -> Row:
    try:
        row: Row = pickle.loads(future.result())
    except BrokenProcessPool as error:
        raise RuntimeError(_died(str(error))) from None
    except Exception as error:
        return Row(None, failure=f"{type(error).__name__}: {error}")
    return row


def _died(words: str) -> str:
    codes = next((line for line in words.splitlines() if "exit codes" in line), "").strip()
    return (
        f"a process that played some of the runs has died{codes and f' ({codes})'}: its memory may have run out, or "
        f"the agent's or the environment's code ended it; fewer processes need less memory (n_jobs=2), and n_jobs=1 "
        f"plays all runs in this process"
    )


def _begin(work: bytes, parent: int) -> None:
    """Make this a process that plays runs."""
    global _packed
    _packed = work
    become_child(parent)


def _play(seeds: tuple[int, int]) -> bytes:
    """Play one run in this process; what went wrong is told in words, since not every error can be sent."""
    import cloudpickle

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # each warning once for every line of code that issues it
        try:
            runs, failure = _played(seeds), ""
        except Exception as error:
            runs, failure = None, f"{type(error).__name__}: {error}"
    issued = tuple(Caught(str(each.message), each.category, each.filename, each.lineno) for each in caught)
    return bytes(cloudpickle.dumps(Row(runs, issued, failure)))


def _played(seeds: tuple[int, int]) -> Runs:
    global _work
    if _work is None:
        assert _packed is not None
        _work = pickle.loads(_packed)
    began = time.perf_counter()
    episode, parameters = _work.match.play_generic(seeds)
    runs = _work.recording.blank(_work.horizon, len(episode.pulls), [seeds])
    note(runs, 0, episode, parameters)
    return finished(runs, time.perf_counter() - began)
