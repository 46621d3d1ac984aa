"""What a deep agent learns over time, beside the zoo."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from .line_labels import Label, labels_height
from .sheet import canvas
from .style import line_style, styled

__all__ = ["learning_figure"]


@styled()
def learning_figure(
    name: str, steps: npt.NDArray[np.int64], regret: npt.NDArray[np.float64], rivals: Mapping[str, float]
) -> Figure:
    """Regret of training episodes over steps, with the rivals' regret on held-out instances as levels.

    Args:
        name: the learner's.
        steps: environment steps after which an episode ended.
        regret: the mean regret of the episodes that ended there.
        rivals: the mean regret of others on instances that the learner has not seen.
    """
    sheet = canvas(7.2, [max(3.1, labels_height(len(rivals) + 1))])
    [[axes]] = sheet.rows
    ends = {name: float(regret[-1]), **rivals}
    # The dot at the end is all there is to see of a single point.
    axes.plot(steps, regret, linewidth=1.6, marker="o", markersize=3, markevery=[-1], clip_on=False, **line_style(0))
    for index, level in enumerate(rivals.values(), start=1):
        axes.axhline(level, linewidth=1.0, **line_style(index))
    highest = max(float(regret.max()), *ends.values())
    axes.set(xlim=(0, steps[-1]), ylim=(0, 1.05 * highest or 1.0))
    axes.set(xlabel="environment steps", ylabel="mean regret of an episode")
    axes.set_title("while it learns, and the others on held-out instances")
    labels = [
        Label(f"{who}  {end:,.0f}", end, line_style(index)["color"]) for index, (who, end) in enumerate(ends.items())
    ]
    return sheet.settle({axes: labels})
