"""A world in one picture: its means, which rounds three windows can learn, and the bounds over the window."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .bounds import bounds
from .facts import best_arms
from .matrix import Floats, Ints, as_means
from .recommend import recommend_window, window_grid
from .regret import RegretCurve, regret_curve
from .sets import learnable_set
from .style import BLUE, GREEN, GREY, ORANGE, PALETTE, Curve, Figure, curves, log_axes, mark, tidy

__all__ = ["draw"]

POINTS = 2_000  # across the picture


def draw(
    means: npt.ArrayLike,
    agent: str = "beta-swts",
    *,
    windows: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Figure:
    """The picture of a world.

    Args:
        means: the (T, K) matrix of means.
        agent: whose bounds to draw, "beta-swts" or "gamma-swgts".
        windows: the windows whose learnable rounds are shaded; None for a quarter of the recommended window,
            itself, and four times it.
        names: the arms' names; None for "arm 0", "arm 1", …
    """
    matrix = as_means(means)
    curve = regret_curve(matrix, window_grid(len(matrix)), agent)
    recommended = recommend_window(matrix, agent).window
    chosen = windows or sorted({max(1, recommended // 4), recommended, min(4 * recommended, len(matrix))})
    figure = Figure(figsize=(11, 9), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    above, below = halves
    top, strip = above.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
    _draw_means(top, matrix, names or [f"arm {arm + 1}" for arm in range(matrix.shape[1])])
    _draw_learnable(strip, matrix, chosen)
    left, right = below.subplots(1, 2)
    _draw_theorem(left, matrix, curve.windows, agent)
    _draw_regret(right, curve, recommended, agent)
    return figure


def _draw_means(axes: Any, matrix: Floats, names: Sequence[str]) -> None:
    """Arms that are best at some time in colour, with their names where they reign; others in grey."""
    rounds = np.unique(np.linspace(1, len(matrix), POINTS).astype(np.intp))
    shown = matrix[rounds - 1]
    reigns = _reigns(best_arms(matrix))
    looks = itertools.cycle(itertools.product(("-", "--"), PALETTE))
    style = {arm: next(looks) for arm in sorted(reigns)}
    for arm in sorted(range(matrix.shape[1]), key=lambda arm: arm in reigns):
        line, color = style.get(arm, ("-", "#D0D0D0"))
        axes.plot(rounds, shown[:, arm], line, color=color, linewidth=1.8 if arm in reigns else 1.0)
    for arm, middle in reigns.items():
        axes.annotate(
            names[arm], (middle, matrix[middle - 1, arm]), (0, 4), textcoords="offset points",
            ha="center", va="bottom", fontsize=9, color=style[arm][1], fontweight="bold",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1},
        )  # fmt: skip
    grey = "; never the best in grey" if len(reigns) < matrix.shape[1] else ""
    tidy(axes, f"Means of the {matrix.shape[1]} arms{grey}", "", "mean reward")
    axes.margins(x=0, y=0.1)


def _reigns(best: Ints) -> dict[int, int]:
    """For every arm that is ever best, the middle round of a long reign of it, away from other arms' if possible."""
    starts = np.concatenate(([0], np.flatnonzero(best[1:] != best[:-1]) + 1))
    lengths = np.diff(np.append(starts, len(best)))
    middles = (starts + lengths // 2 + 1).tolist()
    longest = np.argsort(-lengths, kind="stable").tolist()
    placed: dict[int, int] = {}
    for distance in (len(best) // 15, 0):
        for run in longest:
            if all(abs(middles[run] - other) >= distance for other in placed.values()):
                placed.setdefault(int(best[starts[run]]), middles[run])
    return placed


def _draw_learnable(axes: Any, matrix: Floats, windows: Sequence[int]) -> None:
    """One strip a window: dark where its rounds are learnable, white where they are not."""
    masks = learnable_set(matrix, windows)
    edges = np.unique(np.linspace(0, len(matrix), POINTS // 2 + 1).astype(np.intp))
    shares = np.add.reduceat(masks, edges[:-1], axis=1, dtype=np.float64) / np.diff(edges)
    rows = np.arange(len(windows) + 1)
    axes.pcolormesh(edges + 0.5, rows, 0.6 * shares, cmap="Blues", vmin=0, vmax=1, rasterized=True)
    axes.hlines(rows[1:-1], 0.5, len(matrix) + 0.5, color="white", linewidth=4)
    axes.set_yticks(rows[:-1] + 0.5, [f"τ = {window:,}" for window in windows])
    axes.tick_params(axis="y", length=0)
    for row, mask in enumerate(masks):
        axes.annotate(
            f"{mask.mean():.0%}", (1.01, row + 0.5), xycoords=("axes fraction", "data"), va="center", fontsize=9
        )
    tidy(axes, "Learnable rounds, shaded: the best arm stood out through the last τ rounds", "round", "")
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _draw_theorem(axes: Any, matrix: Floats, windows: Sequence[int], agent: str) -> None:
    """The terms of Theorem 1 or 2 over the window."""
    terms = bounds(matrix, windows, agent)
    log_axes(axes)
    axes.set_ylim(1, 100 * len(matrix))
    axes.axhspan(len(matrix), 100 * len(matrix), color="#F2F2F2", zorder=0)
    axes.annotate(
        "above T: says nothing", (0.98, 0.96), xycoords="axes fraction", color=GREY, fontsize=9, ha="right", va="top"
    )
    total = np.array([each.total for each in terms])
    lines: list[Curve] = [
        ("total", total, {"color": "black", "linewidth": 2.2}),
        ("(A) unlearnable", np.array([each.unlearnable for each in terms]), {"color": ORANGE}),
        ("(B) learnable", np.array([each.learnable for each in terms]), {"color": BLUE}),
        ("(C) forced", np.array([each.forced for each in terms]), {"color": GREEN}),
    ]
    curves(axes, windows, lines)
    tidy(axes, f"Theorem {terms[0].theorem}: pulls of a worse arm", "window τ (unit constants: a shape)", "pulls")


def _draw_regret(axes: Any, curve: RegretCurve, recommended: int, agent: str) -> None:
    """The round-by-round regret over the window, and the recommended window."""
    least, most = float(curve.total.min()), float(curve.total.max())
    log_axes(axes)
    axes.set_ylim(max(least / 20, 0.1), max(most * 3, 1.0))
    lines: list[Curve] = [
        ("total", curve.total, {"color": "black", "linewidth": 2.2}),
        ("(A) confusable", curve.unlearnable, {"color": ORANGE}),
        ("(B, C) others", curve.learnable, {"color": BLUE}),
    ]
    curves(axes, curve.windows, lines)
    at = np.interp(recommended, curve.windows, curve.total)
    axes.plot([recommended], [at], "o", color="black", markersize=7)
    mark(axes, recommended, f"recommended τ = {recommended:,}")
    tidy(axes, f"Round by round: regret of {agent}", "window τ (unit constants: a shape)", "regret")
