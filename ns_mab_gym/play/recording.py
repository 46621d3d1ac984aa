"""What a simulation keeps of its runs: an empty record to be filled run by run, and the rounds that it notes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive_int, shown
from ..agents.core.memory_limits import ensure_fits, grouped
from ..runs import Runs
from .episode import Trajectory

__all__ = ["RECORDS", "Recording", "evenly_spaced", "finished", "note", "note_alarms"]

RECORDS = ("curve", "regret", "all")
POINTS = 500  # points of a regret curve
RUN_BYTES = 400  # of the seeds and parameters of a run
NO_LOG = np.zeros(0, np.void)  # stands for the alarms of an agent that has no log of them


@dataclass(frozen=True)
class Recording:
    """What to keep of each run.

    Attributes:
        what: "curve", "regret" or "all", see :func:`ns_mab_gym.simulate`.
        rounds: the rounds, counted from 1, after which the regret is kept, besides the last; ``what`` chooses if None.
    """

    what: str
    rounds: Sequence[int] | None

    def __post_init__(self) -> None:
        """Refuse words that mean nothing, and rounds beside a word that has chosen them already."""
        choice("record", self.what, RECORDS)
        if self.rounds is not None and not (
            isinstance(self.rounds, Collection) and getattr(self.rounds, "ndim", 1) == 1
        ):
            raise TypeError(
                f"rounds must be a list of numbers of rounds, such as [100, 1000], got {shown(self.rounds)}"
            )
        if self.what == "regret" and self.rounds is not None:
            raise ValueError(
                'record="regret" keeps the regret after every round, and rounds= chooses some of them; '
                'leave out one of the two (record="curve" goes with rounds=)'
            )

    def blank(self, horizon: int, n_arms: int, seeds: list[tuple[int, int]]) -> Runs:
        """A record of zeros for runs with these seeds."""
        self.ensure_room(len(seeds), horizon, n_arms)
        return _zeros(self._noted(horizon), horizon, n_arms, seeds, singles=self.what == "all")

    def ensure_room(self, runs: int, horizon: int | None = None, n_arms: int = 2) -> None:
        """Raise a ``ValueError`` if there is not enough memory for the record of so many runs.

        Args:
            runs: how many.
            horizon: their rounds; None if that is not known yet.
            n_arms: their arms; at least two.
        """
        rounds = horizon or 1
        asked = POINTS if self.rounds is None else len(self.rounds)
        noted = rounds if self.what == "regret" else min(rounds, asked)
        each = RUN_BYTES + 16 * n_arms + 8 * noted + (16 * rounds if self.what == "all" else 0)
        length = "" if horizon is None else f" of {grouped(horizon)} rounds"
        instead = "play" if self.what == "curve" else 'use record="curve", or play'
        ensure_fits(
            f'record="{self.what}" of {grouped(runs)} runs{length}',
            runs * each,
            f"{instead} fewer runs at once, which blocks with first_run= join to many",
        )

    def _noted(self, horizon: int) -> npt.NDArray[np.int64]:
        if self.what == "regret":
            return np.arange(1, horizon + 1)
        return evenly_spaced(horizon) if self.rounds is None else _asked(self.rounds, horizon)


def _zeros(
    noted: npt.NDArray[np.int64], horizon: int, n_arms: int, seeds: list[tuple[int, int]], *, singles: bool
) -> Runs:
    runs = len(seeds)
    return Runs(
        rounds=noted,
        regret=np.zeros((runs, len(noted))),
        pulls=np.zeros((runs, n_arms), np.int64),
        suboptimal_pulls=np.zeros((runs, n_arms), np.int64),
        seeds=seeds,
        parameters=[{} for _ in seeds],
        seconds=0.0,
        arms=np.zeros((runs, horizon), np.int64) if singles else None,
        rewards=np.zeros((runs, horizon)) if singles else None,
        alarms=[NO_LOG] * runs,
    )


def note(runs: Runs, run: int, episode: Trajectory, parameters: dict[str, Any]) -> None:
    """Write an episode into its row of the record."""
    if runs.horizon != len(episode.arms):
        raise ValueError(
            f"one episode took {runs.horizon} rounds, another {len(episode.arms)}; simulate compares episodes "
            f"of one length"
        )
    assert episode.regret is not None
    assert episode.suboptimal_pulls is not None
    runs.regret[run] = episode.regret[runs.rounds - 1]
    runs.pulls[run], runs.suboptimal_pulls[run] = episode.pulls, episode.suboptimal_pulls
    note_alarms(runs, run, episode.alarms)
    runs.parameters[run] = parameters
    if runs.arms is not None and runs.rewards is not None:
        runs.arms[run], runs.rewards[run] = episode.arms, episode.rewards


def note_alarms(runs: Runs, run: int, alarms: npt.NDArray[np.void] | None) -> None:
    """Keep the alarms of a run, if its agent logs any."""
    if runs.alarms is not None and alarms is not None:
        runs.alarms[run] = alarms


def finished(runs: Runs, seconds: float) -> Runs:
    """The record of all runs with the time they took; without alarms if the agent logs none."""
    logged = runs.alarms is not None and runs.alarms[0] is not NO_LOG
    return replace(runs, seconds=seconds, alarms=runs.alarms if logged else None)


def evenly_spaced(horizon: int) -> npt.NDArray[np.int64]:
    """At most 500 rounds, evenly spaced, the last of them T."""
    points = min(POINTS, horizon)
    return np.arange(1, points + 1) * horizon // points


def _asked(rounds: Sequence[int], horizon: int) -> npt.NDArray[np.int64]:
    """The given rounds and the last one, each once, in ascending order; raises a ValueError if one is not 1 to T."""
    wanted = sorted({positive_int("each of rounds", round_) for round_ in rounds} | {horizon})
    if wanted[-1] > horizon:
        raise ValueError(f"rounds must be between 1 and the horizon, {horizon:,}; got {grouped(wanted[-1])}")
    return np.array(wanted, np.int64)
