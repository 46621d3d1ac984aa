"""Runs to be stored, and whether those that are loaded are the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.runs import Runs


def same(one: Runs, other: Runs) -> bool:
    """Whether all that is stored of two blocks of runs is equal to the last bit."""
    arrays = ("rounds", "regret", "pulls", "suboptimal_pulls")
    logs = [[] if each.alarms is None else [log.tolist() for log in each.alarms] for each in (one, other)]
    alike = (one.alarms is None) == (other.alarms is None) and logs[0] == logs[1]
    return (
        alike
        and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
        and ((one.seeds, one.parameters, one.seconds) == (other.seeds, other.parameters, other.seconds))
    )


def with_alarms(block: Runs) -> Runs:
    """The same runs of an agent that sounded two alarms in the first run, none in the second, one in all others."""
    some = [np.array(log, ALARM) for log in ([(3, 0, False), (9, -1, True)], [], *[[(5, 2, True)]] * (len(block) - 2))]
    return replace(block, alarms=some)
