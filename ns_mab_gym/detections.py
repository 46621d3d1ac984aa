"""Scores of an agent's change detector: delays, missed changes and false alarms, judged by the true means.

**An alarm** is sounded after a round r, about one arm, or about none in particular (arm −1). Let f be the last round
before r after which the same was forgotten, 0 if there is none: an arm is forgotten with an alarm about it, with one
that forgets everything, and with any about none in particular; for an alarm about none in particular, everything must
have been forgotten. The rounds f + 1, …, r are what the alarm throws away. It *covers* the changes of its arm's mean
(of any mean, if about none in particular) in the rounds f + 2, …, r + 1: those within what is thrown away, and one
right after it. It is **true** if it covers a change, and **false** otherwise. What an arm did while it was not played
counts too: the definition asks the world, not the rewards.

**A breakpoint** is a round b in which some arm's mean differs from that in round b − 1. It is **detected** by the first
alarm that covers it, if that is sounded before the next breakpoint. The **delay** is r − b + 1, the number of rounds
with the new means until the alarm: 1 for an alarm after the very first of them, 0 for one right before it, as by those
who know the world. Other breakpoints are **missed**, even if a later alarm about their arms is true.

**Intervals** are at 95 % and take runs as what is independent; alarms and breakpoints of one run may depend on each
other in any way.

- Means (delay, false alarms): percentile bootstrap of whole runs, 10,000 samples with a fixed seed, of the ratio of
  sums over runs. Where all runs agree there is nothing to resample, and the interval is NaN.
- Shares (missed breakpoints, runs with a false alarm): Clopper and Pearson's. Of one breakpoint, and of the runs with a
  false alarm, each run is one trial, and the interval is exact. Of all breakpoints together the number of trials is the
  effective one of Korn and Graubard (1998), which is smaller the more alike the breakpoints of one run end, and at
  least the number of runs (that of Kish if runs have different numbers of breakpoints).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from .agents.core.arguments import shown
from .agents.parts.alarms import CAPACITY
from .means import Floats, Ints, Mask, as_means, breakpoints
from .runs import Runs
from .statistics import Interval, mean_of, share_of

FEW, APART = 10, 50  # breakpoints are scored if there are at most FEW, or if they are APART rounds apart on average
NOBODY = -1  # the arm of an alarm about none in particular

Alarms = npt.NDArray[np.void]


class Changes(NamedTuple):
    """The breakpoints of a (T, K) matrix of means."""

    horizon: int
    rounds: Ints  # (B,) counted from 1, the first with the new means
    moved: Mask  # (B, K) whose mean changed

    @property
    def scorable(self) -> bool:
        """True if there are few enough to score each: at most ten, or at most one in 50 rounds."""
        return len(self.rounds) <= max(FEW, self.horizon / APART)


@dataclass(frozen=True, eq=False)
class RunScore:
    """The alarms and the breakpoints of one run.

    Attributes:
        alarms: (n,) as in :class:`ns_mab_gym.Runs`.
        true: (n,) whether each is true.
        rounds: (B,) the breakpoints.
        delays: (B,) the delay with which each was detected; NaN where it was missed.
    """

    alarms: Alarms
    true: Mask
    rounds: Ints
    delays: Floats


@dataclass(frozen=True)
class BreakpointScore:
    """One breakpoint of a world that is the same in all runs.

    Attributes:
        round: the first with the new means, counted from 1.
        arms: the arms whose mean changed, counted from 0.
        detected: in how many runs it was detected.
        delay: the mean delay where it was detected.
        missed: the share of runs in which it was missed.
    """

    round: int
    arms: tuple[int, ...]
    detected: int
    delay: Interval
    missed: Interval


@dataclass(frozen=True, eq=False)
class Scorecard:
    """The detections of an agent on a world; :mod:`ns_mab_gym.detections` defines every word of it.

    Attributes:
        horizon: T.
        runs: the alarms and breakpoints of each run.
        moved: (B, K) whose mean changed at each breakpoint; None if the breakpoints differ from run to run.
    """

    horizon: int
    runs: tuple[RunScore, ...]
    moved: Mask | None

    @cached_property
    def delay(self) -> Interval:
        """The mean delay of all detected breakpoints."""
        return mean_of(*self._delays)

    @cached_property
    def missed(self) -> Interval:
        """The share of all breakpoints that were missed."""
        total = np.array([len(run.rounds) for run in self.runs])
        return share_of(total - self._delays[1], total)

    @cached_property
    def false_alarms(self) -> Interval:
        """The mean number of false alarms in a run."""
        return mean_of(self._false, np.ones(len(self.runs)))

    @property
    def false_alarm_rate(self) -> Interval:
        """False alarms per 10,000 rounds."""
        return Interval(*(10_000 / self.horizon * each for each in self.false_alarms))

    @cached_property
    def runs_with_false_alarm(self) -> Interval:
        """The share of runs with at least one false alarm."""
        return share_of((self._false > 0).astype(float), np.ones(len(self.runs)))

    @cached_property
    def true_alarms(self) -> Interval:
        """The mean number of true alarms in a run; there may be several for one breakpoint."""
        return mean_of(np.array([run.true.sum() for run in self.runs], float), np.ones(len(self.runs)))

    @property
    def full_logs(self) -> int:
        """The number of runs whose log of alarms is full: what came later is not counted."""
        return sum(len(run.alarms) >= CAPACITY for run in self.runs)

    @cached_property
    def breakpoints(self) -> tuple[BreakpointScore, ...]:
        """Each breakpoint; empty if they differ from run to run."""
        if self.moved is None:
            return ()
        scores = []
        for at, (round_, moved) in enumerate(zip(self.runs[0].rounds.tolist(), self.moved, strict=True)):
            delays = np.array([run.delays[at] for run in self.runs])
            found = np.isfinite(delays)
            delay = mean_of(np.where(found, delays, 0.0), found.astype(float))
            missed = share_of((~found).astype(float), np.ones(len(found)))
            arms = tuple(np.flatnonzero(moved).tolist())
            scores.append(BreakpointScore(round_, arms, int(found.sum()), delay, missed))
        return tuple(scores)

    def table(self) -> str:
        """The scorecard as a table in Markdown, with what is to be said of all alarms below; arms count from 1."""
        head = ("change in round", "arms", "detected", "delay", "missed")
        rows = []
        for each in self.breakpoints:
            arms, detected = ", ".join(str(arm + 1) for arm in each.arms), f"{each.detected} of {len(self.runs)}"
            rows.append((f"{each.round:,}", arms, detected, each.delay.as_number(), each.missed.as_share()))
        detected = f"{int(self._delays[1].sum())} of {sum(len(run.rounds) for run in self.runs)}"
        rows.append(("all", "", detected, self.delay.as_number(), self.missed.as_share()))
        lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
        lines += [
            "",
            f"False alarms: {self.false_alarms.as_number()} in a run, {self.false_alarm_rate.as_number()} in 10,000 "
            f"rounds; {self.runs_with_false_alarm.as_share()} of {len(self.runs)} runs have one.",
            f"True alarms: {self.true_alarms.as_number()} in a run.",
        ]
        if full := self.full_logs:
            lines.append(f"The log of {full} runs was full after {CAPACITY:,} alarms: later ones are not counted.")
        return "\n".join(lines)

    @cached_property
    def _delays(self) -> tuple[Floats, Floats]:
        """(R,) the sum of each run's delays, and how many breakpoints it detected."""
        total = np.array([np.nansum(run.delays) for run in self.runs])
        return total, np.array([np.isfinite(run.delays).sum() for run in self.runs], float)

    @cached_property
    def _false(self) -> Floats:
        return np.array([(~run.true).sum() for run in self.runs], float)


def scorecard(runs: Runs, means: npt.ArrayLike | Sequence[npt.ArrayLike] | Callable[[int], npt.ArrayLike]) -> Scorecard:
    """Score the alarms of an agent by the true means; :mod:`ns_mab_gym.detections` defines every word of it.

    >>> import numpy as np
    >>> import ns_mab_gym as nsb
    >>> from ns_mab_gym.agents.parts.alarms import ALARM
    >>> means = np.repeat([[0.9, 0.5], [0.1, 0.5]], 50, axis=0)  # arm 0 changes in round 51
    >>> blank = np.zeros((2, 2), np.int64)
    >>> runs = nsb.Runs(np.array([100]), np.zeros((2, 1)), blank, blank, [(0, 0)] * 2, [{}] * 2, 0.0, alarms=[
    ...     np.array([(20, 1, False), (60, 0, False)], ALARM), np.array([(64, 0, False)], ALARM)])
    >>> card = nsb.scorecard(runs, means)
    >>> card.delay.value, card.missed.value, card.false_alarms.value
    (12.0, 0.0, 0.5)

    Args:
        runs: of an agent that logs its alarms.
        means: the (T, K) matrix of the world. For worlds that differ from run to run, one matrix for each run, or a
            function from the number of a run, counted from 0, to its matrix.

    Raises:
        ValueError: if the agent logs no alarms, if the means do not fit the runs, or if the means change more than ten
            times and more often than once in 50 rounds: drifting means have no breakpoints to score.
    """
    if not isinstance(runs, Runs):
        raise TypeError(f"runs are what ns_mab_gym.simulate returns, got {shown(runs)}")
    matrices: Iterable[Any] = [means]  # one for all runs
    if callable(means):
        matrices = map(means, range(len(runs)))  # one at a time: all of them may not fit the memory
    elif _are_matrices(means):
        matrices = list(means)
        if len(matrices) != len(runs):
            told = f"there are {len(runs)} runs and {len(matrices)} matrices of means"
            raise ValueError(f"{told}; give one for each run, or one")
    return score(runs, [changes_of(each) for each in matrices])


def _are_matrices(means: Any) -> TypeGuard[Sequence[Any]]:
    try:
        return isinstance(means, list | tuple | np.ndarray) and len(means) > 0 and np.ndim(means[0]) == 2
    except (TypeError, ValueError):  # of a number, and of lists that differ in length, which are no matrix
        return False


def changes_of(means: npt.ArrayLike) -> Changes:
    """The breakpoints of a (T, K) matrix, and whose means change at them.

    >>> changes_of([[0.2, 0.8], [0.2, 0.8], [0.9, 0.8]])
    Changes(horizon=3, rounds=array([3]), moved=array([[ True, False]]))
    """
    matrix = as_means(means)
    rounds = breakpoints(matrix)
    return Changes(len(matrix), rounds, matrix[rounds - 1] != matrix[rounds - 2])


def score(runs: Runs, changes: Sequence[Changes]) -> Scorecard:
    """Like :func:`scorecard`, given the changes of the world, or those of each run."""
    if runs.alarms is None:
        raise ValueError(
            "the agent of these runs logs no alarms, so there is nothing to score; use one with a detector"
        )
    played = (runs.horizon, runs.pulls.shape[1])
    for each in changes:
        if (given := (each.horizon, each.moved.shape[1])) != played:
            raise ValueError(
                f"the means have {given[0]:,} rounds and {given[1]} arms, the runs {played[0]:,} and {played[1]}"
            )
        if not each.scorable:
            raise ValueError(
                f"the means change in {len(each.rounds):,} of {each.horizon:,} rounds, which leaves no breakpoints to "
                f"score: there may be {FEW}, or one in {APART} rounds; look at the regret of such worlds instead"
            )
    each_run = list(changes) * len(runs) if len(changes) == 1 else changes
    scored = tuple(_run(alarms, each) for alarms, each in zip(runs.alarms, each_run, strict=True))
    first = changes[0]
    alike = all(np.array_equal(a.rounds, first.rounds) and np.array_equal(a.moved, first.moved) for a in changes)
    return Scorecard(runs.horizon, scored, first.moved if alike else None)


def _run(alarms: Alarms, changes: Changes) -> RunScore:
    """Judge the alarms of one run and find out which breakpoints they detect."""
    rounds, arms = alarms["round"].tolist(), alarms["arm"].tolist()
    horizon, n_arms = changes.horizon, changes.moved.shape[1]
    if any(not 1 <= round_ <= horizon for round_ in rounds) or any(not NOBODY <= arm < n_arms for arm in arms):
        raise ValueError(f"an alarm is about a round or an arm that is not there; there are {horizon:,} and {n_arms}")
    if rounds != sorted(rounds):
        raise ValueError("the alarms of a run are not in the order of their rounds; sort them by 'round'")
    moves = {arm: changes.rounds[changes.moved[:, arm]].tolist() for arm in range(n_arms)}
    moves[NOBODY] = changes.rounds.tolist()
    following = dict(pairwise([*moves[NOBODY], horizon + 1]))  # by breakpoint, the next one or the round after the last
    delays = dict.fromkeys(moves[NOBODY], np.nan)
    true = []
    for round_, arm, first in zip(rounds, arms, _first_covered(rounds, arms, alarms["everything"]), strict=True):
        covered = moves[arm][bisect_left(moves[arm], first) : bisect_right(moves[arm], round_ + 1)]
        true.append(bool(covered))
        for change in covered:
            if np.isnan(delays[change]) and round_ < following[change]:
                delays[change] = round_ - change + 1
    return RunScore(alarms, np.array(true, np.bool_), changes.rounds, np.array(list(delays.values()), np.float64))


def _first_covered(rounds: Sequence[int], arms: Sequence[int], everything: Iterable[bool]) -> Iterator[int]:
    """The first round, f + 2, in which each alarm covers a change; alarms of one round do not hide each other's."""
    forgotten: dict[int, int] = {}  # by arm, the round after which it was forgotten by an alarm about it alone
    cleared = 0  # the round after which everything was forgotten
    for round_, group in groupby(zip(rounds, arms, everything, strict=True), key=itemgetter(0)):
        together = list(group)
        for _, arm, _ in together:
            yield max(forgotten.get(arm, 0), cleared) + 2
        forgotten |= {arm: round_ for _, arm, _ in together}
        cleared = round_ if any(all_ or arm == NOBODY for _, arm, all_ in together) else cleared
