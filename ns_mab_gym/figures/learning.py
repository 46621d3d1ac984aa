"""What deep agents learn over time, beside the zoo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from .line_labels import Label, labels_height
from .sheet import canvas
from .style import line_style, styled

__all__ = ["learning_figure"]

MOST_LEVELS = 7  # of rivals that are drawn: the best, and the worst for scale
Curve = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


@styled()
def learning_figure(name: str, curves: Sequence[Curve], rivals: Mapping[str, float]) -> Figure:
    """Regret of training episodes over steps, with the rivals' regret on held-out instances as levels.

    Args:
        name: the learner's.
        curves: of each training seed, the steps after which episodes ended, and the mean regret of those episodes.
        rivals: the mean regret of others on instances that the learner has not seen.
    """
    shown = _chosen(rivals)
    sheet = canvas(7.2, [max(3.1, labels_height(len(shown) + 1))])
    [[axes]] = sheet.rows
    last = float(np.mean([regret[-1] for _, regret in curves]))
    for steps, regret in curves:  # the dot at the end is all there is to see of a single point
        width = 1.6 if len(curves) == 1 else 1.0
        axes.plot(
            steps, regret, linewidth=width, marker="o", markersize=3, markevery=[-1], clip_on=False, **line_style(0)
        )
    for index, level in enumerate(shown.values(), start=1):
        axes.axhline(level, linewidth=1.0, **line_style(index))
    highest = max(*(float(regret.max()) for _, regret in curves), last, *shown.values())
    axes.set(xlim=(0, max(steps[-1] for steps, _ in curves)), ylim=(0, 1.05 * highest or 1.0))
    axes.set(xlabel="environment steps", ylabel="mean regret of an episode")
    axes.set_title("while it learns, and the others on held-out instances")
    learner = name if len(curves) == 1 else f"{name}, {len(curves)} seeds"
    ends = {learner: last, **shown}
    labels = [
        Label(f"{who}  {end:,.0f}", end, line_style(index)["color"]) for index, (who, end) in enumerate(ends.items())
    ]
    return sheet.settle({axes: labels})


def _chosen(rivals: Mapping[str, float]) -> dict[str, float]:
    """The best rivals and the worst, the best first."""
    ranked = sorted(rivals, key=rivals.__getitem__)
    kept = ranked if len(ranked) <= MOST_LEVELS else [*ranked[: MOST_LEVELS - 1], ranked[-1]]
    return {label: rivals[label] for label in kept}
