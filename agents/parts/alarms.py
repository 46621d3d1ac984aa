"""The log of a detector's alarms: which round, which arm, and what was forgotten."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.admission import MOST, Claims, Facts, admissible
from ..core.kernel import ALL, IntArray, helper

__all__ = ["ALARM", "CAPACITY", "AlarmLog", "alarms_in", "alarms_of", "forget_alarms", "log_in", "new_alarms", "sound"]

CAPACITY = 10_000  # alarms that are kept; all are counted

# One alarm: the round, counted from 1, after which it was sounded, the arm that it is about (ALL if about none in
# particular), and whether all arms were forgotten.
ALARM = np.dtype([("round", np.int64), ("arm", np.int64), ("everything", np.bool_)])


class AlarmLog(NamedTuple):
    """The alarms since the first round, one array so that a state that carries it stays fast."""

    rows: IntArray  # (1 + capacity, 3) row 0: how many; then round, arm and whether everything was forgotten


def _claims(log: AlarmLog, facts: Facts) -> Claims:
    """Row 0 counts the alarms; each has a round, an arm or ALL, and 0 or 1; the rest of the log is empty."""
    rows, count = log.rows, log.rows[0, 0]
    yield "rows", 0 <= count <= MOST and not rows[0, 1:].any(), "the number of alarms in row 0"
    kept = min(int(count), len(rows) - 1)
    rounds, arms, everything = rows[1 : 1 + kept].T
    yield "rows", (rounds >= 1) & (rounds <= MOST), "the round of an alarm"
    yield "rows", (arms >= ALL) & (arms < facts.n_arms), f"an alarm about an arm from 0 to {facts.n_arms - 1}, or -1"
    yield "rows", (everything == 0) | (everything == 1), "an alarm that forgets all arms, 1, or not, 0"
    yield "rows", not rows[1 + kept :].any(), "empty behind the last alarm"


admissible(AlarmLog, _claims, free=("rows",))


def new_alarms() -> AlarmLog:
    """An empty log. Rows that stay empty cost address space, not memory."""
    return AlarmLog(np.zeros((1 + CAPACITY, 3), np.int64))


@helper
def sound(alarms: AlarmLog, round_: int, arm: int, everything: bool) -> None:
    """Log an alarm; those beyond the capacity are counted only."""
    rows = alarms.rows
    rows[0, 0] += 1
    if rows[0, 0] < rows.shape[0]:
        rows[rows[0, 0], 0] = round_
        rows[rows[0, 0], 1] = arm
        rows[rows[0, 0], 2] = int(everything)


@helper
def forget_alarms(alarms: AlarmLog) -> None:
    """Empty the log."""
    kept = min(alarms.rows[0, 0], alarms.rows.shape[0] - 1)
    alarms.rows[: kept + 1] = 0


def alarms_in(state: Any) -> npt.NDArray[np.void] | None:
    """(n,) the alarms in a state, of type ``ALARM``; None if it has no log."""
    log = log_in(state)
    return None if log is None else alarms_of(log)


def alarms_of(log: AlarmLog) -> npt.NDArray[np.void]:
    """(n,) the alarms of a log, of type ``ALARM``."""
    rows = log.rows[1 : 1 + min(int(log.rows[0, 0]), CAPACITY)]
    alarms = np.zeros(len(rows), ALARM)
    alarms["round"], alarms["arm"], alarms["everything"] = rows.T
    return alarms


def log_in(state: Any) -> AlarmLog | None:
    """The log in a state: the outermost, since one within may be emptied by alarms outside."""
    level = [state]
    while level:
        for each in level:
            if isinstance(each, AlarmLog):
                return each
        level = [part for each in level for part in each if isinstance(part, tuple)]
    return None
