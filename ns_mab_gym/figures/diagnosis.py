"""A world in one picture: its means, which rounds three windows can learn, a bound and a heuristic over the window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from ..means import Floats, as_means
from ..theory.recommendation import recommend_window, window_grid
from ..theory.regret_curves import RegretCurve, regret_curve
from ..theory.sets import learnable_set
from ..theory.theorems import bounds
from .line_labels import Label
from .log_panels import Curve, draw_curves, log_axes, mark
from .sheet import canvas
from .style import BAND, BLACK, BLUE, GREEN, INK, LABEL, LEARNABLE, MUTED, VERMILION, styled
from .world_means import RIBBON, draw_world

__all__ = ["diagnosis_figure"]

POINTS = 1_000  # across the picture
SHAPE = "window τ (unit constants: a shape)"


@styled(dpi=110)
def diagnosis_figure(
    means: npt.ArrayLike,
    agent: str = "beta-swts",
    *,
    windows: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Figure:
    """The picture of a world.

    Args:
        means: the (T, K) matrix of means.
        agent: whose bound and heuristic regret to draw, "beta-swts" or "gamma-swgts".
        windows: the windows whose learnable rounds are shaded; None for a quarter of the recommended window,
            itself, and four times it.
        names: the arms' names; None for "arm 1", "arm 2", …
    """
    matrix = as_means(means)
    curve = regret_curve(matrix, window_grid(len(matrix)), agent)
    recommended = recommend_window(matrix, agent).window
    chosen = windows or sorted({max(1, recommended // 4), recommended, min(4 * recommended, len(matrix))})
    sheet = canvas(10.4, [RIBBON, 2.6, 0.3 * len(chosen), 3.0], [1, 1, 1, 2])
    [ribbon], [top], [strips], [left, right] = sheet.rows
    labels = {
        top: _draw_means(ribbon, top, matrix, names),
        strips: _draw_learnable(strips, matrix, chosen),
        left: _draw_theorem(left, matrix, curve.windows, agent),
        right: _draw_regret(right, curve, recommended, agent),
    }
    return sheet.settle(labels)


def _draw_means(ribbon: Axes, axes: Axes, matrix: Floats, names: Sequence[str] | None) -> list[Label]:
    labels = draw_world(ribbon, axes, matrix, names)
    ribbon.set_title(f"Means of the {matrix.shape[1]} arms")
    axes.set_ylabel("mean reward")
    axes.tick_params(labelbottom=False)
    return labels


def _draw_learnable(axes: Axes, matrix: Floats, windows: Sequence[int]) -> list[Label]:
    """One strip per window: green where its rounds are learnable, white where they are not."""
    masks = learnable_set(matrix, windows)
    edges = np.unique(np.linspace(0, len(matrix), POINTS + 1).astype(np.intp))
    shares = np.add.reduceat(masks, edges[:-1], axis=1, dtype=np.float64) / np.diff(edges)
    rows = np.arange(len(windows) + 1)
    colours = LinearSegmentedColormap.from_list("learnable", ["white", LEARNABLE])
    axes.pcolormesh(edges + 0.5, rows, shares, cmap=colours, vmin=0, vmax=1, rasterized=True)
    axes.hlines(rows[1:-1], 0.5, len(matrix) + 0.5, color="white", linewidth=4)
    axes.set(xlim=(0.5, len(matrix) + 0.5), ylim=(len(windows), 0), xlabel="round")
    axes.set_title("Learnable rounds in green: the best arm stood out through the last τ rounds")
    axes.set_yticks(rows[:-1] + 0.5, [f"τ = {window:,}" for window in windows])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return [Label(f"{mask.mean():.0%}", row + 0.5, INK, dash=False) for row, mask in enumerate(masks)]


def _draw_theorem(axes: Axes, matrix: Floats, windows: Sequence[int], agent: str) -> list[Label]:
    """The terms of Theorem 1 or 2 over the window."""
    terms = bounds(matrix, windows, agent)
    log_axes(axes, windows, 1, 100 * len(matrix))
    axes.axhspan(len(matrix), 100 * len(matrix), color=BAND, zorder=0, linewidth=0)
    axes.text(0.98, 0.97, "above T: says nothing", transform=axes.transAxes, color=MUTED, fontsize=LABEL, ha="right",
              va="top")  # fmt: skip
    axes.set(title=f"Theorem {terms[0].theorem}: pulls of a worse arm", xlabel=SHAPE, ylabel="pulls")
    curves = [
        Curve("total", np.array([each.total for each in terms]), {"color": BLACK, "linewidth": 2.2}),
        Curve("(A) unlearnable", np.array([each.unlearnable for each in terms]), {"color": VERMILION}),
        Curve("(B) learnable", np.array([each.learnable for each in terms]), {"color": BLUE}),
        Curve("(C) forced", np.array([each.forced for each in terms]), {"color": GREEN}),
    ]
    return draw_curves(axes, windows, curves)


def _draw_regret(axes: Axes, curve: RegretCurve, recommended: int, agent: str) -> list[Label]:
    """The heuristic regret over the window, and the recommended window."""
    log_axes(axes, curve.windows, max(float(curve.total.min()) / 20, 0.1), max(float(curve.total.max()) * 3, 1.0))
    axes.set(title=f"Heuristic: regret of {agent}", xlabel=SHAPE, ylabel="regret")
    curves = [
        Curve("total", curve.total, {"color": BLACK, "linewidth": 2.2}),
        Curve("(A) confusable", curve.unlearnable, {"color": VERMILION}),
        Curve("(B, C) others", curve.learnable, {"color": BLUE}),
    ]
    labels = draw_curves(axes, curve.windows, curves)
    at = np.interp(recommended, curve.windows, curve.total)
    axes.plot([recommended], [at], "o", color=BLACK, markersize=6)
    mark(axes, recommended, f"recommended τ = {recommended:,}")
    return labels
