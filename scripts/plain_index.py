"""A discounted index of three lines, which is in no paper and in no list of the suite.

It plays beside the zoo because the best of a list of known algorithms need not be the best there can be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ns_mab_gym import agents
from ns_mab_gym.means import Floats

SPACE = {"gamma": (0.9, 0.9999, "memory"), "width": (0.02, 2.0)}


class Faded(NamedTuple):
    """Faded counts and sums of rewards, the factor by which they fade, and the width of the bonus."""

    pulls: Floats
    sums: Floats
    gamma: float
    width: float


def act(state: Faded, mask: npt.NDArray[np.bool_], rng: np.random.Generator) -> int:
    """Play argmax of (S_i + ½)/(N_i + 1) + width/√(N_i + 1)."""
    arm, highest = -1, -math.inf
    for i in range(state.pulls.size):
        weight = state.pulls[i] + 1.0
        index = (state.sums[i] + 0.5) / weight + state.width / math.sqrt(weight)
        if mask[i] and index > highest:
            arm, highest = i, index
    return arm


def observe(state: Faded, arm: int, reward: float) -> None:
    """Let all counts and sums fade, and add the round."""
    for i in range(state.pulls.size):
        state.pulls[i] *= state.gamma
        state.sums[i] *= state.gamma
    state.pulls[arm] += 1.0
    state.sums[arm] += reward


agents.rule(Faded, act, observe)


@dataclass(eq=False)
class PlainIndex(agents.Agent):
    """Plays the arm with the largest faded mean, ½ before its first reward, plus a bonus without a logarithm.

    Attributes:
        gamma: the factor by which everything fades in a round.
        width: of the bonus.
    """

    gamma: float = 0.97
    width: float = 0.3

    def _new_state(self) -> Faded:
        return Faded(np.zeros(self.n_arms), np.zeros(self.n_arms), self.gamma, self.width)
