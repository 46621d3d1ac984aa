"""One figure to draw and save, as a record that another process can be handed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from .style import save

__all__ = ["FigureJob"]


class FigureJob(NamedTuple):
    """A figure that has not been drawn yet; call it to draw and save it as PNG and SVG.

    It pickles, also for a process that is started anew: the function by its name, the arguments as plain data.
    """

    folder: Path
    name: str  # of the files, without their endings
    function: Callable[..., Figure]
    arguments: tuple[Any, ...] = ()

    def __call__(self) -> list[Path]:
        """Draw the figure and return the files written."""
        return save(self.function(*self.arguments), self.folder, self.name)
