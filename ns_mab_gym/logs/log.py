"""A log of decisions, read from files, frames and tables of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice
from ..means import Floats, Ints

if TYPE_CHECKING:
    from .drift import Drift
    from .replay import Replay
    from .world import LogWorld


@dataclass(frozen=True, eq=False)
class Log:
    """Decisions in the order of their times, N rows.

    A row is one decision, or with ``trials`` several of one arm at one time.

    Attributes:
        times: (N,) when each was made, in seconds, ascending; since 1970 (UTC) if the log holds dates.
        arms: (N,) the arm of each, from 0 to K − 1.
        rewards: (N,) its reward; of several decisions, their mean.
        names: the K names of the arms.
        trials: (N,) how many decisions a row stands for; None if each is one.
        propensities: (N,) the probability with which the arm was chosen; None if the log does not say.
        delays: (N,) seconds from the decision to its reward; None if the log does not say.
        dated: whether times are dates; plain numbers otherwise.
        notes: what was guessed when the log was read, as sentences.

    >>> Log.read({"time": [1, 2, 3], "arm": [9.99, 14.99, 9.99], "reward": [0, 1, 1]}).names
    ('9.99', '14.99')
    """

    times: Floats
    arms: Ints
    rewards: Floats
    names: tuple[str, ...]
    trials: Ints | None = None
    propensities: Floats | None = None
    delays: Floats | None = None
    dated: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        source: str | PathLike[str] | Any,
        time: str | None = None,
        arm: str | None = None,
        reward: str | None = None,
        propensity: str | None = None,
        delay: str | None = None,
    ) -> Log:
        """Return the log in a CSV or Parquet file or a frame, one decision a row.

        Times are dates in ISO form (UTC where they have no zone), seconds, milliseconds, microseconds or nanoseconds
        since 1970, or plain numbers; rows are sorted by them, and rows of one time stay in their order. Arms are
        whatever the column holds, in the order of numbers if all are numbers, else of the alphabet. A row that lacks a
        value, or has a reward that is no finite number, is an error; rows that are alike are different decisions.

        Args:
            source: the file; or a frame of pandas, polars or pyarrow, or a dictionary of columns.
            time: the name of the column, if it is not a plain one such as ``timestamp``; so are the others.
            arm: of the arm that was chosen.
            reward: of what it earned.
            propensity: of the probability with which the arm was chosen, if the log says.
            delay: of the seconds until the reward came, if the log says.
        """
        from .reading import read_log

        said = {"time": time, "arm": arm, "reward": reward, "propensity": propensity, "delay": delay}
        return read_log(source, said)

    @classmethod
    def from_counts(cls, successes: Any, trials: Any, times: Any = None, names: Any = None) -> Log:
        """Return the log that a wide table of counts stands for: one row for each time, one column for each arm.

        Cells without trials are left out. The successes may be sums of other rewards, such as revenues.

        Args:
            successes: (T, K) numbers, a frame, or a CSV or Parquet file; its first column may hold the times.
            trials: how many decisions each cell stands for: one number, one for each time, or a table like that.
            times: (T,) the times; 1 to T if nothing says.
            names: the K names of the arms; "arm 1", … if nothing says.

        >>> Log.from_counts([[3, 5], [4, 2]], trials=100).rewards
        array([0.03, 0.05, 0.04, 0.02])
        """
        from .reading import read_counts

        return read_counts(successes, trials, times, names)

    def folded(self, period: str) -> Log:
        """Return the log by the hour of the day or the day of the week, without propensities and delays.

        Args:
            period: "day" or "week".
        """
        seconds, unit = {"day": (86_400, 3_600), "week": (7 * 86_400, 86_400)}[
            choice("period", period, ("day", "week"))
        ]
        if not self.dated:
            raise ValueError("only a log with dates has hours and days; give times as dates")
        monday = 4 * 86_400  # the first after the beginning of 1970
        clock = (self.times - monday) % seconds / unit
        order = np.argsort(clock, kind="stable")
        what = "hours of the day" if period == "day" else "days of the week, 0 for Monday at midnight"
        notes = (*self.notes, f"Times are {what}, in UTC or as the log has them.")
        trials = None if self.trials is None else self.trials[order]
        return Log(clock[order], self.arms[order], self.rewards[order], self.names, trials, notes=notes)

    def drift(self, permutations: int = 999, seed: int = 0) -> Drift:
        """Return how the means of the arms move, beside logs in which nothing moves."""
        from .drift import drift_of

        return drift_of(self, permutations, seed)

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.names)

    @property
    def counts(self) -> Ints:
        """(N,) decisions of each row."""
        return np.ones(len(self.times), np.int64) if self.trials is None else self.trials

    @property
    def decisions(self) -> int:
        """How many decisions the log holds."""
        return int(self.counts.sum())

    @property
    def span(self) -> float:
        """Seconds from the first decision to the last; an error if there are none."""
        if len(self.times) < 2 or self.times[0] == self.times[-1]:
            raise ValueError(f"a log needs decisions at several times, got {len(self.times):,} at one time at most")
        return float(self.times[-1] - self.times[0])

    @property
    def rate(self) -> float:
        """Decisions a second, on average."""
        return self.decisions / self.span

    @cached_property
    def binary(self) -> bool:
        """Whether the reward of every decision is 0 or 1; of several, if their sum is a whole number within range."""
        sums = self.rewards * self.counts
        whole: npt.NDArray[np.bool_] = np.isclose(sums, np.round(sums), rtol=1e-9, atol=0)
        return bool(np.all(whole & (self.rewards >= 0) & (self.rewards <= 1)))

    def in_decisions(self, duration: int | str) -> int:
        """Return the decisions in a duration such as "7d", at the log's rate; for windows, delays and batches.

        Args:
            duration: a number and s, min, h, d or w; a whole number is decisions already.
        """
        from .durations import decisions_of

        return decisions_of("duration", duration, self.rate)

    def world(self, horizon: int | None = None, *, decisions_per_day: float | None = None) -> LogWorld:
        """Return a random world of the histories that the log leaves plausible, with its reward law.

        ``simulate``, ``compare``, ``tune`` and ``recommend`` play it, and take a log itself in its place.

        Args:
            horizon: T, the decisions with which the span of the log is played; as many as it holds if not given. With
                fewer decisions, more moves between one and the next.
            decisions_per_day: the same as a rate.
        """
        from .world import world_of

        return world_of(self, horizon, decisions_per_day)

    def replay(self, agents: Any = (), *, policies: Mapping[str, npt.ArrayLike] | None = None, seed: int = 0) -> Replay:
        """Estimate what agents and fixed policies would have earned, from the log's own rewards.

        Learning agents are replayed by rejection; always playing an arm, and policies, which do not learn, are weighted
        (:mod:`ns_mab_gym.logs.replay`). A log without propensities must have been collected uniformly at random.

        Args:
            agents: an agent in any form that ``compare`` takes, or several; agents given by name are told how many
                decisions they will get, and the law of rewards.
            policies: of each policy its name, and (K,) or (N, K) probabilities of the arms, in all or in each decision.
            seed: from which all draws are derived.
        """
        from .replay import replay_of

        return replay_of(self, agents, policies or {}, seed)
