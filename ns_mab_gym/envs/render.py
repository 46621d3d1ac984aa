"""Renders an episode: one line of text per round, or a picture of what has been played so far."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from .episode_so_far import EpisodeSoFar, arm_in_words

__all__ = ["EpisodeSoFar", "ansi_line", "draw_frame"]


def ansi_line(
    t: int, arm: int, reward: float, mu: npt.NDArray[np.float64], best: int, regret: float, total: float
) -> str:
    """One round in one line."""
    return (
        f"round {t:,}: {arm_in_words(arm)}, mean {mu[arm]:.3f}, gave {reward:g}; "
        f"best was {arm_in_words(best)}, mean {mu[best]:.3f}; regret {regret:.3f}, {total:,.1f} so far"
    )


def draw_frame(history: EpisodeSoFar) -> npt.NDArray[np.uint8]:
    """An RGB picture: the means and the arms played in the last rounds, the whole episode, and the regret so far."""
    try:
        from .episode_drawing import drawn
    except ImportError:
        raise DependencyNotInstalled("pictures need Pillow: pip install 'ns-mab-gym[render]'") from None
    canvas, _ = drawn(history)
    return canvas.pixels()
