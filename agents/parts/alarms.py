"""The log of a detector's alarms: which round, which arm, and what was forgotten."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.kernel import IntArray, helper

CAPACITY = 10_000  # alarms that are kept; all are counted

# One alarm: the round, counted from 1, after which it was sounded, the arm that it is about (ALL if about none in
# particular), and whether all arms were forgotten.
ALARM = np.dtype([("round", np.int64), ("arm", np.int64), ("everything", np.bool_)])


class AlarmLog(NamedTuple):
    """The alarms since the first round, one array so that a state that carries it stays fast."""

    rows: IntArray  # (1 + capacity, 3) row 0: how many; then round, arm and whether everything was forgotten


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
