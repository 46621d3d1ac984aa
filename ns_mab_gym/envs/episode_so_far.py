"""What has been played of an episode, as pictures need it, and how arms are called."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["NAMED", "EpisodeSoFar", "arm_in_words"]

NAMED = 10  # arms that have a colour and a label; of more arms, the others are grey


def arm_in_words(arm: int) -> str:
    """An arm as people number it, from 1 as in the paper, and the action that plays it.

    >>> arm_in_words(2)
    'arm 3 (action 2)'
    """
    return f"arm {arm + 1} (action {arm})"


@dataclass
class EpisodeSoFar:
    """The part of an episode that a picture shows."""

    means: npt.NDArray[np.float64]  # (T, K)
    arms: npt.NDArray[np.int64]  # (T,)
    regret: npt.NDArray[np.float64]  # (T,) cumulative
    rounds: int
    range: tuple[float, float]  # of the axis of the means, which is the same in all frames

    @classmethod
    def of(cls, means: npt.NDArray[np.float64]) -> EpisodeSoFar:
        """An empty history of an episode with these means."""
        low, high = min(0.0, float(means.min())), max(1.0, float(means.max()))
        return cls(means, np.zeros(len(means), np.int64), np.zeros(len(means)), 0, (low, high))

    def add(self, arm: int, total_regret: float) -> None:
        """Add one round."""
        self.arms[self.rounds] = arm
        self.regret[self.rounds] = total_regret
        self.rounds += 1

    def regret_before(self, rounds: int) -> float:
        """The regret of the rounds before this one."""
        return float(self.regret[rounds - 2]) if rounds > 1 else 0.0

    @property
    def last(self) -> tuple[int, int, npt.NDArray[np.float64]]:
        """The arm just played, the best one, and the means of the round."""
        mu = self.means[self.rounds - 1]
        return int(self.arms[self.rounds - 1]), int(mu.argmax()), mu

    def named(self, first: int) -> list[int]:
        """The arms with a label: all if they are few, else the best, the one just played, and the most played ones.

        Args:
            first: the first round that is shown.
        """
        n, k = self.rounds, self.means.shape[1]
        if k <= NAMED or n == 0:
            return list(range(min(k, NAMED)))
        arm, best, _ = self.last
        pulls = np.bincount(self.arms[first - 1 : n], minlength=k)
        often = np.argsort(-pulls, kind="stable")[:NAMED].tolist()
        return list(dict.fromkeys([best, arm, *often]))[:NAMED]
