"""Figures of the theory: a world diagnosed, measured windows beside the bounds, and two explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from ..means import Floats, as_means
from ..theory.sets import learnable_set, phases, pseudophases
from ..theory.text_tables import signed
from ..theory.theorems import BERNOULLI, bounds
from ..theory.windows import RegretCurve, recommend_window, regret_curve, window_grid
from . import style
from .worlds import RIBBON, draw_world

if TYPE_CHECKING:
    from ..tuning.diagnosis import Measured, WindowComparison

POINTS = 1_000  # across the picture
SHAPE = "window τ (unit constants: a shape)"
SHAPES = "window τ (theory with unit constants: shapes)"
TOTAL: dict[str, Any] = {"color": style.BLACK, "linewidth": 2.2}
MEASURED: dict[str, Any] = {"color": style.BLUE, "linewidth": 2, "marker": "o", "markersize": 3.5}


@style.styled(dpi=110)
def diagnosis_figure(
    means: npt.ArrayLike,
    agent: str = "beta-swts",
    *,
    windows: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    subgaussian: float = BERNOULLI,
) -> Figure:
    """A world in one picture: its means, the learnable rounds of some windows, a bound and a heuristic over the window.

    Args:
        means: the (T, K) matrix of means.
        agent: the agent of the bound and of the heuristic regret, "beta-swts" or "gamma-swgts".
        windows: the windows whose learnable rounds are shaded; None for a quarter of the recommended window,
            itself, and four times it.
        names: the arms' names; None for "arm 1", "arm 2", …
        subgaussian: λ of the rewards; ½ for Bernoulli.
    """
    matrix = as_means(means)
    curve = regret_curve(matrix, window_grid(len(matrix)), agent, subgaussian=subgaussian)
    recommended = recommend_window(matrix, agent, subgaussian=subgaussian).window
    chosen = windows or sorted({max(1, recommended // 4), recommended, min(4 * recommended, len(matrix))})
    sheet = style.Sheet(10.4, [RIBBON, 2.6, 0.3 * len(chosen), 3.0], [1, 1, 1, 2])
    [ribbon], [top], [strips], [left, right] = sheet.rows
    draw_world(ribbon, top, matrix, names)
    _draw_learnable(strips, matrix, chosen)
    _draw_theorem(left, matrix, curve.windows, agent, subgaussian)
    _draw_heuristic(right, curve, recommended, agent)
    ribbon.set_title(f"Means of the {matrix.shape[1]} arms")
    top.set_ylabel("mean reward")
    top.tick_params(labelbottom=False)
    return sheet.settle()


def _draw_learnable(axes: Axes, matrix: Floats, windows: Sequence[int]) -> None:
    """One strip per window: green where its rounds are learnable, white where they are not."""
    masks = learnable_set(matrix, windows)
    edges = np.unique(np.linspace(0, len(matrix), POINTS + 1).astype(np.intp))
    shares = np.add.reduceat(masks, edges[:-1], axis=1, dtype=np.float64) / np.diff(edges)
    rows = np.arange(len(windows) + 1)
    colours = LinearSegmentedColormap.from_list("learnable", ["white", style.LEARNABLE])
    axes.pcolormesh(edges + 0.5, rows, shares, cmap=colours, vmin=0, vmax=1, rasterized=True)
    axes.hlines(rows[1:-1], 0.5, len(matrix) + 0.5, color="white", linewidth=4)
    axes.set(xlim=(0.5, len(matrix) + 0.5), ylim=(len(windows), 0), xlabel="round")
    axes.set_title("Learnable rounds in green: the best arm stood out through the last τ rounds")
    axes.set_yticks(rows[:-1] + 0.5, [f"τ = {window:,}" for window in windows])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    for row, mask in enumerate(masks):
        style.write_beside(axes, row + 0.5, f"{mask.mean():.0%}")


def _draw_theorem(axes: Axes, matrix: Floats, windows: Sequence[int], agent: str, subgaussian: float) -> None:
    """The terms of Theorem 1 or 2 over the window."""
    terms = bounds(matrix, windows, agent, subgaussian=subgaussian)
    _log_axes(axes, windows, 1, 100 * len(matrix))
    axes.axhspan(len(matrix), 100 * len(matrix), color=style.BAND, zorder=0, linewidth=0)
    axes.text(0.98, 0.97, "above T: true of every agent", transform=axes.transAxes, color=style.MUTED,
              fontsize=style.LABEL, ha="right", va="top")  # fmt: skip
    axes.set(title=f"Theorem {terms[0].theorem}: pulls of a worse arm", xlabel=SHAPE, ylabel="pulls")
    _draw_curve(axes, windows, "total", [each.total for each in terms], **TOTAL)
    _draw_curve(axes, windows, "(A) unlearnable", [each.unlearnable for each in terms], color=style.VERMILION)
    _draw_curve(axes, windows, "(B) learnable", [each.learnable for each in terms], color=style.BLUE)
    _draw_curve(axes, windows, "(C) forced", [each.forced for each in terms], color=style.GREEN)


def _draw_heuristic(axes: Axes, curve: RegretCurve, recommended: int, agent: str) -> None:
    """The heuristic regret over the window, and the recommended window."""
    _log_axes(axes, curve.windows, max(float(curve.total.min()) / 20, 0.1), max(float(curve.total.max()) * 3, 1.0))
    axes.set(title=f"Heuristic: regret of {agent}", xlabel=SHAPE, ylabel="regret")
    _draw_curve(axes, curve.windows, "total", curve.total, **TOTAL)
    _draw_curve(axes, curve.windows, "(A) confusable", curve.unlearnable, color=style.VERMILION)
    _draw_curve(axes, curve.windows, "(B, C) others", curve.learnable, color=style.BLUE)
    at = np.interp(recommended, curve.windows, curve.total)
    axes.plot([recommended], [at], "o", color=style.BLACK, markersize=6)
    style.mark(axes, recommended, f"recommended τ = {recommended:,}")


def _log_axes(axes: Axes, windows: Sequence[int], low: float, high: float) -> None:
    """Make both axes logarithmic, from the shortest to the longest window and between two positive values."""
    axes.set(xscale="log", yscale="log", xlim=(0.9 * min(windows), 1.1 * max(windows)), ylim=(low, high))
    style.number_log(axes.xaxis)
    style.number_log(axes.yaxis)
    axes.grid(axis="x")


def _draw_curve(axes: Axes, windows: Sequence[int], name: str, values: npt.ArrayLike, **look: Any) -> None:
    """Draw the positive and finite part of a curve over the window."""
    given = np.asarray(values, dtype=np.float64)
    axes.plot(windows, np.where((given > 0) & np.isfinite(given), given, np.nan), label=name, **look)


@style.styled(dpi=110)
def measured_figure(means: npt.ArrayLike, comparison: WindowComparison) -> Figure:
    """E[N_{i,T}] and the regret, as measured, over the theorem's and the heuristic curve."""
    matrix = as_means(means)
    sheet = style.Sheet(10.4, [3.3], [2])
    [[left, right]] = sheet.rows
    _draw_pulls(left, matrix, comparison.measured)
    _draw_measured_regret(right, matrix, comparison)
    return sheet.settle()


def _draw_pulls(axes: Axes, matrix: Floats, measured: Measured) -> None:
    """The pulls of every arm while it was not the best, over the theorem's bound, which is one for all."""
    windows, pulls = measured.windows, measured.pulls
    _log_axes(axes, windows, max(float(pulls[pulls > 0].min(initial=len(matrix))) / 2, 0.5), 20 * len(matrix))
    axes.plot(windows, np.where(pulls > 0, pulls, np.nan), color=style.FAINT, linewidth=0.8)
    axes.axhline(len(matrix), color=style.MUTED, linewidth=1, linestyle=":")
    axes.annotate("T", (0.01, len(matrix)), xycoords=("axes fraction", "data"), color=style.MUTED, va="bottom")
    widest = float(matrix.max() - matrix.min())
    thresholds = [0.0, *(widest * np.geomspace(0.005, 0.9, 25))]  # on the margin: rounds below one are unlearnable too
    agent, scale = measured.agent, measured.subgaussian
    terms = [bounds(matrix, windows, agent, delta=delta or None, subgaussian=scale) for delta in thresholds]
    totals = np.array([[each.total for each in some] for some in terms])
    axes.set(title="Pulls while worse; every arm in grey", xlabel=SHAPES)
    axes.set_ylabel("pulls, $E[N_{i,T}]$", parse_math=True)
    _draw_curve(axes, windows, f"Theorem {terms[0][0].theorem}", totals[0], color=style.VERMILION, linewidth=2)
    _draw_curve(axes, windows, "its best superset", totals.min(axis=0), color=style.VERMILION, linestyle=style.DASHED)
    _draw_curve(axes, windows, "measured, worst arm", pulls.max(axis=1), **MEASURED)


def _draw_measured_regret(axes: Axes, matrix: Floats, comparison: WindowComparison) -> None:
    """The measured regret with two standard errors, over the heuristic curve; both minima marked."""
    measured, windows = comparison.measured, comparison.measured.windows
    mean, runs = measured.regret.mean(axis=1), measured.regret.shape[1]
    error = 2 * measured.regret.std(axis=1) / np.sqrt(max(runs - 1, 1))
    theory = regret_curve(matrix, windows, measured.agent, subgaussian=measured.subgaussian).total
    positive = [value for value in (*mean, *theory) if value > 0] or [1.0]
    low, high = min(positive) / 2, max(positive) * 5
    _log_axes(axes, windows, low, high)
    style.draw_band(axes, windows, np.maximum(mean - error, low / 10), mean + error, style.BLUE, alpha=0.25)
    axes.set(title=f"Regret of {measured.agent}, {runs} run{'s' if runs > 1 else ''}", xlabel=SHAPES, ylabel="regret")
    style.mark(axes, comparison.best, f"best measured {comparison.best:,}", style.BLUE)
    tau, loss = comparison.recommended.window, signed(comparison.loss)
    style.mark(axes, tau, f"recommended {tau:,} ({loss})", style.VERMILION, row=1)
    _draw_curve(axes, windows, "heuristic", theory, color=style.VERMILION, linewidth=2)
    _draw_curve(axes, windows, "measured", mean, **MEASURED)


def two_arms(general: bool = False, horizon: int = 1_000) -> Floats:
    """Two arms that change places in rounds 351 and 701; general: they also move inside the phases."""
    rounds = np.arange(1, horizon + 1)
    first_leads = (rounds <= 350) | (rounds > 700)
    means = np.column_stack([np.where(first_leads, 0.75, 0.3), np.where(first_leads, 0.35, 0.65)])
    if general:
        means += 0.1 * np.column_stack([np.sin(rounds / 40), np.cos(rounds / 55)])
    return means


@style.styled()
def learnable_figure(windows: Sequence[int] = (240, 150, 60)) -> Figure:
    """The learnable rounds of some windows: the longer the window, the fewer."""
    sheet = style.Sheet(7.2, [2.0, 0.45 * len(windows)])
    [top], [below] = sheet.rows
    means = two_arms()
    _draw_arms(top, means, "Longer windows leave fewer rounds learnable")
    top.set_ylabel("mean reward")
    rounds = np.arange(1, len(means) + 1)
    for row, window in enumerate(windows):
        learnable = learnable_set(means, window)
        _draw_bar(below, row, range(1, len(means) + 1), style.UNLEARNABLE, hatch="///")
        below.fill_between(rounds, row - 0.325, row + 0.325, where=learnable, step="mid", color=style.LEARNABLE)
        style.write_beside(below, row, f"{learnable.mean():.0%} learnable")
        ends = (351, row - 0.46), (351 + window, row - 0.46)
        below.annotate("", *ends, arrowprops={"arrowstyle": "<->", "color": style.INK, "shrinkA": 0, "shrinkB": 0})
    _finish(below, [f"τ = {window:,}" for window in windows], len(means))
    return sheet.settle(["Green: learnable, the window has seen one phase only. Hatched: unlearnable."])


@style.styled()
def pseudophase_figure(window: int = 120) -> Figure:
    """Phases and pseudophases of a piecewise-constant and of a general abrupt world."""
    sheet = style.Sheet(10.4, [2.0, 1.0], [2, 2])
    for column, general in enumerate((False, True)):
        means = two_arms(general)
        top, below = (row[column] for row in sheet.rows)
        _draw_arms(top, means, "General abrupt" if general else "Piecewise constant")
        whole, inner = phases(means, general=general), pseudophases(means, window, general=general)
        for number, (phase, pseudo) in enumerate(zip(whole, inner, strict=True), start=1):
            _draw_bar(below, 0, phase, style.GRID, style.phase_name(number))
            _draw_bar(below, 1, phase, style.UNLEARNABLE, hatch="///")
            _draw_bar(below, 1, pseudo, style.LEARNABLE, f"{style.phase_name(number)}*")
        _finish(below, ["phases", f"pseudophases,\nτ = {window:,}"] if column == 0 else ["", ""], len(means))
    sheet.rows[0][0].set_ylabel("mean reward")
    return sheet.settle(["Green: a pseudophase, whose rounds are learnable. Hatched: unlearnable."])


def _draw_arms(axes: Axes, means: Floats, title: str) -> None:
    rounds = np.arange(1, len(means) + 1)
    for arm, (colour, dashes) in enumerate(((style.VERMILION, style.SOLID), (style.BLUE, style.DASHED))):
        axes.plot(rounds, means[:, arm], color=colour, linestyle=dashes, linewidth=2)
        low = 100 + int(means[100:300, arm].argmin())
        axes.text(low, means[low, arm] - 0.03, f"arm {arm + 1}", color=colour, va="top", ha="center")
    for phase in phases(means, general=True)[1:]:
        axes.axvline(phase.start, color=style.MUTED, linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, len(means) + 1), ylim=(0.1, 1.0), title=title, yticks=[0.2, 0.4, 0.6, 0.8, 1.0])
    axes.tick_params(labelbottom=False)


def _draw_bar(axes: Axes, row: int, stretch: range, colour: str, name: str = "", hatch: str | None = None) -> None:
    """A bar for some rounds, with a name in its middle."""
    axes.barh(row, len(stretch), left=stretch.start, height=0.65, color=colour, hatch=hatch, edgecolor="white")
    axes.text((stretch.start + stretch.stop) / 2, row, name, ha="center", va="center", color=style.INK)


def _finish(axes: Axes, names: Sequence[str], horizon: int) -> None:
    axes.set(xlim=(0, horizon + 1), ylim=(len(names) - 0.4, -0.6), xlabel="round")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=style.INK)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
