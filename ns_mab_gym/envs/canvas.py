"""A picture that texts, curves and marks are drawn on, with Pillow (extra ``render``)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from .panels import HEIGHT, WIDTH, Panel

__all__ = ["FAINT", "INK", "LARGE", "PALETTE", "SHADE", "Canvas", "Colour"]

Colour = tuple[int, int, int]
IntArray = npt.NDArray[np.int64]
Box = tuple[int, int, int, int]

INK, FAINT, CROWD, SHADE = (40, 40, 40), (226, 226, 226), (208, 208, 208), (250, 222, 150)
# Paul Tol's muted colours and a brown, distinguishable for colour-blind readers; repeated beyond ten arms.
PALETTE: tuple[Colour, ...] = (
    (51, 34, 136), (92, 172, 216), (68, 170, 153), (17, 119, 51), (153, 153, 51),
    (205, 180, 80), (204, 102, 119), (136, 34, 85), (170, 68, 153), (120, 94, 70),
)  # fmt: skip
SMALL, LARGE = 12, 14  # sizes of texts


class Canvas:
    """A white picture: a ground of lines, dots and crowds, with curves above it and texts beside them.

    Attributes:
        texts: every text with the box (left, top, right, bottom) that it takes.
    """

    def __init__(self) -> None:
        self._ground = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
        self._curves: list[tuple[list[float], Colour, int]] = []
        self._masks: list[tuple[Image.Image, tuple[int, int]]] = []
        self.texts: list[tuple[str, Box]] = []

    def text(self, x: float, y: float, text: str, *, at: str = "left", size: int = SMALL) -> None:
        """Write a line whose middle is at a height, and whose left, middle or right end is at x."""
        mask = _mask(text, size)
        left = round(x - {"left": 0.0, "middle": 0.5, "right": 1.0}[at] * mask.width)
        top = round(y - mask.height / 2)
        self._masks.append((mask, (left, top)))
        self.texts.append((text, (left, top, left + mask.width, top + mask.height)))

    def line(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], colour: Colour, width: int = 1) -> None:
        """Join points."""
        self._curves.append((np.stack([x, y], axis=1).ravel().tolist(), colour, width))

    def steps(self, panel: Panel, rounds: IntArray, values: npt.NDArray[np.float64], colour: Colour) -> None:
        """A curve that is level within each round, so that one round can be seen too."""
        middle, height = panel.x(rounds), panel.y(values)
        edges = np.stack([middle - panel.cell / 2, middle + panel.cell / 2], axis=1).ravel()
        self.line(edges, np.repeat(height, 2), colour, width=2)

    def rectangle(self, box: Box, colour: Colour) -> None:
        """Fill a rectangle of the ground, its edges included."""
        left, top, right, bottom = box
        self._ground[top : bottom + 1, left : right + 1] = colour

    def crowd(self, panel: Panel, columns: IntArray, values: npt.NDArray[np.float64]) -> None:
        """Thin grey curves on the ground, one for each column of the (columns, arms) values."""
        self._ground[np.rint(panel.y(values)).astype(np.int64), columns[:, None]] = CROWD

    def dots(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], radius: int) -> None:
        """Round marks on the ground."""
        across = np.arange(-radius, radius + 1)
        inside = np.argwhere(across[:, None] ** 2 + across**2 <= radius**2 + 1) - radius
        rows, columns = np.rint(y).astype(np.int64), np.rint(x).astype(np.int64)
        self._ground[rows[:, None] + inside[:, 0], columns[:, None] + inside[:, 1]] = INK

    def pixels(self) -> npt.NDArray[np.uint8]:
        """The (height, width, 3) picture."""
        image = Image.fromarray(self._ground)
        pen = ImageDraw.Draw(image)
        for points, colour, width in self._curves:
            pen.line(points, fill=colour, width=width)
        for mask, place in self._masks:
            image.paste(INK, place, mask)
        return np.array(image, dtype=np.uint8)


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


@lru_cache(maxsize=2_048)
def _mask(text: str, size: int) -> Image.Image:
    """The text as a picture of its own; the same texts come back in every frame."""
    font = _font(size)
    _, _, right, bottom = font.getbbox(text)
    mask = Image.new("L", (int(right) + 1, max(int(bottom), size) + 1))
    ImageDraw.Draw(mask).text((0, 0), text, fill=255, font=font)
    return mask
