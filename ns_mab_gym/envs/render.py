"""Renders an episode: one line of text per round, or a picture of the episode so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

__all__ = ["EpisodeSoFar", "ansi_line", "draw_frame"]

WIDTH, HEIGHT = 720, 480  # even, because video codecs require it
LEFT, RIGHT = 64, 20
MEANS_PANEL = (34, 290)  # top and bottom, in pixels
REGRET_PANEL = (340, 440)
INK, FAINT = (40, 40, 40), (215, 215, 215)
# Paul Tol's muted colours and a grey, distinguishable for colour-blind readers; repeated beyond ten arms.
PALETTE = (
    (51, 34, 136), (136, 204, 238), (68, 170, 153), (17, 119, 51), (153, 153, 51),
    (221, 204, 119), (204, 102, 119), (136, 34, 85), (170, 68, 153), (150, 150, 150),
)  # fmt: skip


def ansi_line(
    t: int, arm: int, reward: float, mu: npt.NDArray[np.float64], best: int, regret: float, total: float
) -> str:
    """One round in one line; arms are numbered from 1, as in the paper."""
    return (
        f"round {t:,}: arm {arm + 1} (mean {mu[arm]:.3f}) gave {reward:g}; "
        f"best was arm {best + 1} ({mu[best]:.3f}); regret {regret:.3f}, {total:,.1f} so far"
    )


@dataclass
class EpisodeSoFar:
    """The part of an episode that a picture shows."""

    means: npt.NDArray[np.float64]  # (T, K)
    arms: npt.NDArray[np.int64]  # (T,)
    regret: npt.NDArray[np.float64]  # (T,) cumulative
    rounds: int

    @classmethod
    def of(cls, means: npt.NDArray[np.float64]) -> EpisodeSoFar:
        """An empty history of an episode with these means."""
        return cls(means, np.zeros(len(means), np.int64), np.zeros(len(means)), 0)

    def add(self, arm: int, total_regret: float) -> None:
        """Add one round."""
        self.arms[self.rounds] = arm
        self.regret[self.rounds] = total_regret
        self.rounds += 1


def draw_frame(history: EpisodeSoFar) -> npt.NDArray[np.uint8]:
    """An RGB picture: the means so far, the arms played on them, and the cumulative regret below."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise DependencyNotInstalled("pictures need Pillow: pip install 'ns-mab-gym[render]'") from None
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(image)
    n, (horizon, k) = history.rounds, history.means.shape
    shown = np.unique(np.linspace(0, n - 1, min(n, WIDTH)).astype(int)) if n else np.zeros(0, int)
    x = LEFT + (shown + 1) * ((WIDTH - LEFT - RIGHT) / horizon)

    low, high = min(0.0, float(history.means.min())), max(1.0, float(history.means.max()))
    _axes(pen, MEANS_PANEL, low, high, "means so far; in black, the arm played")
    for arm in range(k):
        y = _height(history.means[shown, arm], low, high, MEANS_PANEL)
        _curve(pen, x, y, PALETTE[arm % len(PALETTE)])
        if n:
            pen.text((x[-1] + 6, y[-1]), str(arm + 1), fill=PALETTE[arm % len(PALETTE)], anchor="lm")
    played = history.arms[shown]
    dots = _height(history.means[shown, played], low, high, MEANS_PANEL)
    for px, py in zip(x, dots, strict=True):
        pen.ellipse((px - 2, py - 2, px + 2, py + 2), fill=INK)

    most = max(1.0, float(history.regret[n - 1]) if n else 0.0)
    _axes(pen, REGRET_PANEL, 0.0, most, "cumulative regret")
    _curve(pen, x, _height(history.regret[shown], 0.0, most, REGRET_PANEL), INK)
    last = f"arm {history.arms[n - 1] + 1}, regret {history.regret[n - 1]:,.1f}" if n else "not begun"
    pen.text((LEFT, HEIGHT - 24), f"round {n:,} of {horizon:,}   {last}", fill=INK)
    return np.asarray(image, dtype=np.uint8).copy()


def _height(
    values: npt.NDArray[np.float64], low: float, high: float, panel: tuple[int, int]
) -> npt.NDArray[np.float64]:
    top, bottom = panel
    return np.asarray(bottom - (values - low) / (high - low) * (bottom - top))


def _axes(pen: Any, panel: tuple[int, int], low: float, high: float, title: str) -> None:
    top, bottom = panel
    pen.text((LEFT, top - 18), title, fill=INK)
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - top)
        pen.line((LEFT, y, WIDTH - RIGHT, y), fill=FAINT)
        pen.text((LEFT - 8, y), f"{low + share * (high - low):,.4g}", fill=INK, anchor="rm")


def _curve(pen: Any, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], colour: tuple[int, ...]) -> None:
    if x.size > 1:
        pen.line(list(zip(x.tolist(), y.tolist(), strict=True)), fill=colour, width=2)
