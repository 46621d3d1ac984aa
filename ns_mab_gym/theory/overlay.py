"""Measured pulls and regret over the bounds' curves, in one figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .bounds import bounds
from .matrix import Floats, as_means
from .measured import Comparison, Measured
from .regret import regret_curve
from .style import BLUE, GREY, ORANGE, Curve, Figure, curves, log_axes, mark, tidy
from .tables import signed

__all__ = ["draw_measured"]

SHAPE = "window τ (bounds with unit constants: shapes)"


def draw_measured(means: npt.ArrayLike, comparison: Comparison) -> Figure:
    """E[N_{i,T}] and the regret, as measured, over the theorem's and the round-by-round curve."""
    matrix = as_means(means)
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_pulls(left, matrix, comparison.measured)
    _draw_regret(right, matrix, comparison)
    return figure


def _draw_pulls(axes: Any, matrix: Floats, measured: Measured) -> None:
    """The pulls of every arm while it was not the best, over the bound that holds for each of them."""
    log_axes(axes)
    least = measured.pulls[measured.pulls > 0].min(initial=len(matrix))
    axes.set_ylim(max(least / 2, 0.5), 20 * len(matrix))
    most = measured.pulls.max(axis=1)
    for arm in measured.pulls.T:
        axes.plot(measured.windows, np.where(arm > 0, arm, np.nan), color="#C8C8C8", linewidth=0.8)
    axes.axhline(len(matrix), color=GREY, linewidth=1, linestyle=":")
    axes.annotate("T", (0.01, len(matrix)), xycoords=("axes fraction", "data"), color=GREY, va="bottom")
    literal, number = _theorem(matrix, measured, 0.0)
    lines: list[Curve] = [
        (f"Theorem {number}", literal, {"color": ORANGE, "linewidth": 2}),
        ("its best superset", _best_superset(matrix, measured), {"color": ORANGE, "linestyle": "--"}),
        ("measured, worst arm", most, {"color": BLUE, "linewidth": 2, "marker": "o", "markersize": 3.5}),
    ]
    curves(axes, measured.windows, lines)
    tidy(axes, "Pulls while worse, $E[N_{i,T}]$; every arm in grey", SHAPE, "pulls")


def _theorem(matrix: Floats, measured: Measured, delta: float) -> tuple[Floats, int]:
    terms = bounds(matrix, measured.windows, measured.agent, delta=delta or None)
    return np.array([each.total for each in terms]), terms[0].theorem


def _best_superset(matrix: Floats, measured: Measured) -> Floats:
    """The least total over unlearnable sets that also hold the rounds below some threshold on the margin."""
    spread = float(matrix.max() - matrix.min())
    thresholds = [0.0, *(spread * np.geomspace(0.005, 0.9, 25))]
    total: Floats = np.min([_theorem(matrix, measured, float(delta))[0] for delta in thresholds], axis=0)
    return total


def _draw_regret(axes: Any, matrix: Floats, comparison: Comparison) -> None:
    """The measured regret with two standard errors, over the round-by-round curve; both minima marked."""
    measured = comparison.measured
    mean, runs = measured.regret.mean(axis=1), measured.regret.shape[1]
    band = 2 * measured.regret.std(axis=1) / np.sqrt(max(runs - 1, 1))
    theory = regret_curve(matrix, measured.windows, measured.agent).total
    log_axes(axes)
    axes.set_ylim(min(mean.min(), theory.min()) / 2, max(mean.max(), theory.max()) * 5)
    axes.fill_between(measured.windows, mean - band, mean + band, color=BLUE, alpha=0.25, linewidth=0)
    lines: list[Curve] = [
        ("bound, by round", theory, {"color": ORANGE, "linewidth": 2}),
        ("measured", mean, {"color": BLUE, "linewidth": 2, "marker": "o", "markersize": 3.5}),
    ]
    curves(axes, measured.windows, lines)
    mark(axes, comparison.best, f"best measured {comparison.best:,}", BLUE)
    recommended = comparison.recommended.window
    mark(axes, recommended, f"recommended {recommended:,} ({signed(comparison.loss)})", ORANGE, height=0.91)
    tidy(axes, f"Regret of {measured.agent}, {runs} runs", SHAPE, "regret")
