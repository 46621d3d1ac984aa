"""Wrappers for learning agents, and for the imperfect feedback that real systems give.

Wrappers that extend the observation append to its end, so that they can be stacked in any order. They remember the
reward in the observation, which reward wrappers do not change.
"""

from .feedback import ArmAvailability, DelayedRewards
from .observations import LastRounds, VectorLastRounds, VectorWindowedStatistics, WindowedStatistics
from .rewards import (
    RecordRegret,
    RegretAsReward,
    StandardizeReward,
    VectorRecordRegret,
    VectorRegretAsReward,
    VectorStandardizeReward,
)

__all__ = [
    "ArmAvailability",
    "DelayedRewards",
    "LastRounds",
    "RecordRegret",
    "RegretAsReward",
    "StandardizeReward",
    "VectorLastRounds",
    "VectorRecordRegret",
    "VectorRegretAsReward",
    "VectorStandardizeReward",
    "VectorWindowedStatistics",
    "WindowedStatistics",
]
