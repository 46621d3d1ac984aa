"""Measured pulls over a theorem's bound and measured regret over the heuristic, in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..means import Floats, as_means
from ..theory.recommendation import Recommendation
from ..theory.regret_curves import regret_curve
from ..theory.text_tables import signed
from ..theory.theorems import bounds
from .line_labels import Label
from .log_panels import Curve, draw_curves, log_axes, mark
from .sheet import canvas
from .style import BLUE, DASHED, FAINT, MUTED, VERMILION, draw_band, styled

__all__ = ["Compared", "Played", "measured_figure"]

SHAPE = "window τ (theory with unit constants: shapes)"
MEASURED = {"color": BLUE, "linewidth": 2, "marker": "o", "markersize": 3.5}


class Played(Protocol):
    """Runs of one agent with several windows."""

    @property
    def agent(self) -> str:
        """The agent's name."""

    @property
    def windows(self) -> Sequence[int]:
        """W windows in rising order."""

    @property
    def regret(self) -> Floats:
        """(W, R) the regret of every run at the end."""

    @property
    def pulls(self) -> Floats:
        """(W, K) N_{i,T} of every arm, averaged over the runs."""


class Compared(Protocol):
    """A recommended window beside the best of those that were played."""

    @property
    def measured(self) -> Played:
        """The runs."""

    @property
    def best(self) -> int:
        """The window of least mean regret."""

    @property
    def recommended(self) -> Recommendation:
        """The recommended window."""

    @property
    def loss(self) -> float:
        """The relative excess of the recommended window's mean regret over that of the best."""


@styled(dpi=110)
def measured_figure(means: npt.ArrayLike, comparison: Compared) -> Figure:
    """E[N_{i,T}] and the regret, as measured, over the theorem's and the heuristic curve."""
    matrix = as_means(means)
    sheet = canvas(10.4, [3.3], [2])
    [[left, right]] = sheet.rows
    return sheet.settle(
        {left: _draw_pulls(left, matrix, comparison.measured), right: _draw_regret(right, matrix, comparison)}
    )


def _draw_pulls(axes: Axes, matrix: Floats, measured: Played) -> list[Label]:
    """The pulls of every arm while it was not the best, over the theorem's bound, which is one for all."""
    least = float(measured.pulls[measured.pulls > 0].min(initial=len(matrix)))
    log_axes(axes, measured.windows, max(least / 2, 0.5), 20 * len(matrix))
    for arm in measured.pulls.T:
        axes.plot(measured.windows, np.where(arm > 0, arm, np.nan), color=FAINT, linewidth=0.8)
    axes.axhline(len(matrix), color=MUTED, linewidth=1, linestyle=":")
    axes.annotate("T", (0.01, len(matrix)), xycoords=("axes fraction", "data"), color=MUTED, va="bottom")
    literal, number = _theorem(matrix, measured, 0.0)
    axes.set(title="Pulls while worse; every arm in grey", xlabel=SHAPE)
    axes.set_ylabel("pulls, $E[N_{i,T}]$", parse_math=True)
    curves = [
        Curve(f"Theorem {number}", literal, {"color": VERMILION, "linewidth": 2}),
        Curve("its best superset", _best_superset(matrix, measured), {"color": VERMILION, "linestyle": DASHED}),
        Curve("measured, worst arm", measured.pulls.max(axis=1), MEASURED),
    ]
    return draw_curves(axes, measured.windows, curves)


def _theorem(matrix: Floats, measured: Played, delta: float) -> tuple[Floats, int]:
    terms = bounds(matrix, measured.windows, measured.agent, delta=delta or None)
    return np.array([each.total for each in terms]), terms[0].theorem


def _best_superset(matrix: Floats, measured: Played) -> Floats:
    """The least total over unlearnable sets that also hold the rounds below some threshold on the margin."""
    widest = float(matrix.max() - matrix.min())
    thresholds = [0.0, *(widest * np.geomspace(0.005, 0.9, 25))]
    total: Floats = np.min([_theorem(matrix, measured, float(delta))[0] for delta in thresholds], axis=0)
    return total


def _draw_regret(axes: Axes, matrix: Floats, comparison: Compared) -> list[Label]:
    """The measured regret with two standard errors, over the heuristic curve; both minima marked."""
    measured = comparison.measured
    mean, runs = measured.regret.mean(axis=1), measured.regret.shape[1]
    error = 2 * measured.regret.std(axis=1) / np.sqrt(max(runs - 1, 1))
    theory = regret_curve(matrix, measured.windows, measured.agent).total
    positive = [value for value in (*mean, *theory) if value > 0] or [1.0]
    low, high = min(positive) / 2, max(positive) * 5
    log_axes(axes, measured.windows, low, high)
    draw_band(axes, measured.windows, np.maximum(mean - error, low / 10), mean + error, BLUE, alpha=0.25)
    axes.set(title=f"Regret of {measured.agent}, {runs} run{'s' if runs > 1 else ''}", xlabel=SHAPE, ylabel="regret")
    curves = [
        Curve("heuristic", theory, {"color": VERMILION, "linewidth": 2}),
        Curve("measured", mean, MEASURED),
    ]
    mark(axes, comparison.best, f"best measured {comparison.best:,}", BLUE)
    recommended = comparison.recommended.window
    mark(axes, recommended, f"recommended {recommended:,} ({signed(comparison.loss)})", VERMILION, row=1)
    return draw_curves(axes, measured.windows, curves)
