"""Wrappers for learning agents, and for the imperfect feedback that real systems give.

Wrappers that extend the observation append to its end, so that they can be stacked in any order. They remember the
reward in the observation, which reward wrappers do not change.
"""

from .availability import ArmAvailability
from .delay import DelayedRewards
from .last_rounds import LastRounds, VectorLastRounds
from .record_regret import RecordRegret, VectorRecordRegret
from .regret_as_reward import RegretAsReward, VectorRegretAsReward
from .standardize import StandardizeReward, VectorStandardizeReward
from .windowed_statistics import VectorWindowedStatistics, WindowedStatistics

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
