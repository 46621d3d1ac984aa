"""Many runs in the generic loop: in this process, and in others if that is worth it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runs import Runs
from .match import Match
from .processes import Caught, packed, rows, workers
from .recording import Recording, finished, note, note_alarms

__all__ = ["play_generic_runs"]

OTHERWISE = (
    "the first run, played again in another process, went otherwise: the agent or the environment depends on more than "
    "its seeds, such as a global variable or generator, or a module that was edited after it was imported"
)


class Game:
    """The runs of one simulation, which are played in order.

    Args:
        match: the pairing.
        seeds: the pair of seeds of each run.
        recording: what to keep of each run.
        tick: called with the number of rounds whenever a run was played.
    """

    def __init__(
        self, match: Match, seeds: list[tuple[int, int]], recording: Recording, tick: Callable[[int], None]
    ) -> None:
        self.match, self.seeds, self.recording, self.tick = match, seeds, recording, tick
        self.done, self.seconds = 0, 0.0
        self.runs = self._first()

    @property
    def left(self) -> int:
        """How many runs are still to be played."""
        return len(self.seeds) - self.done

    def _first(self) -> Runs:
        """Play the first run, which tells how long an episode is."""
        began = time.perf_counter()
        episode, parameters = self.match.play_generic(self.seeds[0])
        runs = self.recording.blank(len(episode.arms), len(episode.pulls), self.seeds)
        note(runs, 0, episode, parameters)
        self._count(len(episode.arms), time.perf_counter() - began)
        return runs

    def play(self) -> None:
        """Play the next run in this process."""
        began = time.perf_counter()
        note(self.runs, self.done, *self.match.play_generic(self.seeds[self.done]))
        self._count(self.runs.horizon, time.perf_counter() - began)

    def take(self, other: Runs) -> None:
        """Take in the next run as another process has played it."""
        for row, theirs in self._rows_beside(self.done, other):
            row[:] = theirs
        self.runs.parameters[self.done] = other.parameters[0]
        note_alarms(self.runs, self.done, None if other.alarms is None else other.alarms[0])
        self._count(self.runs.horizon, other.seconds)

    def agrees(self, other: Runs) -> bool:
        """Whether another process has played the first run as it was played here."""
        return all(np.array_equal(row, theirs, equal_nan=True) for row, theirs in self._rows_beside(0, other))

    def _rows_beside(self, run: int, other: Runs) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        for name in ("regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
            if (mine := getattr(self.runs, name)) is not None:
                yield mine[run], getattr(other, name)[0]

    def _count(self, rounds: int, seconds: float) -> None:
        self.done += 1
        self.seconds += seconds
        self.tick(rounds)


def play_generic_runs(
    match: Match, seeds: list[tuple[int, int]], recording: Recording, jobs: int, tick: Callable[[int], None]
) -> Runs:
    """Play runs in the generic loop; a warning, to the caller's caller, says why only one core is used if so.

    Args:
        match: the pairing.
        seeds: the pair of seeds of each run.
        recording: what to keep of each run.
        jobs: how many processes the user allows.
        tick: called with the number of rounds whenever a run was played.
    """
    game = Game(match, seeds, recording, tick)
    number = workers(match, jobs, len(seeds), game.seconds)
    if number > 1 and (why := _play_elsewhere(game, number)):
        what = f"playing {game.left} runs in this process, one after the other; n_jobs=1 does so without this warning"
        warnings.warn(f"{why}: {what}", stacklevel=3)
    while game.left:
        game.play()
    return finished(game.runs, game.seconds)


def _play_elsewhere(game: Game, number: int) -> str:
    """Play the other runs in so many processes; returns the reason if some runs remain, else nothing."""
    if find_spec("loky") is None:
        return "several processes need loky, pip install 'ns-mab-gym[experiments]'"
    try:
        work = packed(game.match, game.recording, game.runs.horizon)
    except Exception as error:  # whatever the user's objects raise
        return f"the agent or the environment cannot be pickled ({type(error).__name__}: {error})"
    with closing(rows(work, game.seeds, number)) as arriving:
        again = next(arriving)
        if again.runs is None:
            return f"the first run, played again in another process, failed there ({again.failure})"
        if not game.agrees(again.runs):
            return OTHERWISE
        issued = set(again.caught)  # by the first run, as it was played here
        failure = ""
        for row in arriving:
            if row.runs is None:
                failure = row.failure
                break
            _issue(row.caught, issued)
            game.take(row.runs)
    if not failure:
        return ""
    game.play()  # raises the error as it is
    return f"run {game.done} failed in another process ({failure}), but not in this one"


def _issue(caught: Iterable[Caught], issued: set[Caught]) -> None:
    """Issue the warnings of a run, each only once in all runs."""
    for warning in caught:
        if warning not in issued:
            issued.add(warning)
            warnings.warn_explicit(warning.text, warning.category, warning.file, warning.line)
