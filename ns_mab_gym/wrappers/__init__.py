"""Wrappers for learning agents and for the feedback that real systems have.

Those that add to the observation append to it: what the environment showed stays in front, so that they can be stacked
in any order, and each remembers what the observation said, not what a reward wrapper made of it.
"""

from .availability import ArmAvailability
from .delay import DelayedRewards
from .last_rounds import LastRounds, VectorLastRounds
from .standardize import StandardizeReward, VectorStandardizeReward
from .windowed_statistics import VectorWindowedStatistics, WindowedStatistics

__all__ = [
    "ArmAvailability",
    "DelayedRewards",
    "LastRounds",
    "StandardizeReward",
    "VectorLastRounds",
    "VectorStandardizeReward",
    "VectorWindowedStatistics",
    "WindowedStatistics",
]
