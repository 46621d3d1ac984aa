"""Figures of the theory: a world diagnosed, measured windows beside the bounds, and two explanations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from ..means import Floats, as_means
from ..theory.sets import learnable_set, phases, pseudophases
from ..theory.text_tables import signed
from ..theory.theorems import bounds
from ..theory.windows import Recommendation, RegretCurve, recommend_window, regret_curve, window_grid
from .style import (
    BAND,
    BLACK,
    BLUE,
    DASHED,
    FAINT,
    GREEN,
    GRID,
    INK,
    LABEL,
    LEARNABLE,
    MUTED,
    NUMBERS,
    SOLID,
    UNLEARNABLE,
    VERMILION,
    Label,
    canvas,
    draw_band,
    mark,
    phase_name,
    styled,
)
from .worlds import RIBBON, draw_world

POINTS = 1_000  # across the picture
SHAPE = "window τ (unit constants: a shape)"
SHAPES = "window τ (theory with unit constants: shapes)"
TOTAL: dict[str, Any] = {"color": BLACK, "linewidth": 2.2}
MEASURED: dict[str, Any] = {"color": BLUE, "linewidth": 2, "marker": "o", "markersize": 3.5}


@styled(dpi=110)
def diagnosis_figure(
    means: npt.ArrayLike,
    agent: str = "beta-swts",
    *,
    windows: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Figure:
    """A world in one picture: its means, the learnable rounds of some windows, a bound and a heuristic over the window.

    Args:
        means: the (T, K) matrix of means.
        agent: the agent of the bound and of the heuristic regret, "beta-swts" or "gamma-swgts".
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
        top: draw_world(ribbon, top, matrix, names),
        strips: _draw_learnable(strips, matrix, chosen),
        left: _draw_theorem(left, matrix, curve.windows, agent),
        right: _draw_heuristic(right, curve, recommended, agent),
    }
    ribbon.set_title(f"Means of the {matrix.shape[1]} arms")
    top.set_ylabel("mean reward")
    top.tick_params(labelbottom=False)
    return sheet.settle(labels)


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
    _log_axes(axes, windows, 1, 100 * len(matrix))
    axes.axhspan(len(matrix), 100 * len(matrix), color=BAND, zorder=0, linewidth=0)
    axes.text(0.98, 0.97, "above T: says nothing", transform=axes.transAxes, color=MUTED, fontsize=LABEL, ha="right",
              va="top")  # fmt: skip
    axes.set(title=f"Theorem {terms[0].theorem}: pulls of a worse arm", xlabel=SHAPE, ylabel="pulls")
    curves = {
        "total": ([each.total for each in terms], TOTAL),
        "(A) unlearnable": ([each.unlearnable for each in terms], {"color": VERMILION}),
        "(B) learnable": ([each.learnable for each in terms], {"color": BLUE}),
        "(C) forced": ([each.forced for each in terms], {"color": GREEN}),
    }
    return _draw_curves(axes, windows, curves)


def _draw_heuristic(axes: Axes, curve: RegretCurve, recommended: int, agent: str) -> list[Label]:
    """The heuristic regret over the window, and the recommended window."""
    _log_axes(axes, curve.windows, max(float(curve.total.min()) / 20, 0.1), max(float(curve.total.max()) * 3, 1.0))
    axes.set(title=f"Heuristic: regret of {agent}", xlabel=SHAPE, ylabel="regret")
    curves = {
        "total": (curve.total, TOTAL),
        "(A) confusable": (curve.unlearnable, {"color": VERMILION}),
        "(B, C) others": (curve.learnable, {"color": BLUE}),
    }
    labels = _draw_curves(axes, curve.windows, curves)
    at = np.interp(recommended, curve.windows, curve.total)
    axes.plot([recommended], [at], "o", color=BLACK, markersize=6)
    mark(axes, recommended, f"recommended τ = {recommended:,}")
    return labels


def _log_axes(axes: Axes, windows: Sequence[int], low: float, high: float) -> None:
    """Make both axes logarithmic, from the shortest to the longest window and between two positive values."""
    axes.set(xscale="log", yscale="log", xlim=(0.9 * min(windows), 1.1 * max(windows)), ylim=(low, high))
    for axis in (axes.xaxis, axes.yaxis):  # a new scale brings formatters of its own
        axis.set_major_formatter(NUMBERS)
        axis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x")


def _draw_curves(
    axes: Axes, windows: Sequence[int], curves: Mapping[str, tuple[npt.ArrayLike, dict[str, Any]]]
) -> list[Label]:
    """Draw the positive and finite parts of curves over the window; returns the labels of curves with such a part."""
    labels = []
    for name, (given, style) in curves.items():
        values = np.asarray(given, dtype=np.float64)
        shown = np.where((values > 0) & np.isfinite(values), values, np.nan)
        axes.plot(windows, shown, **style)
        if not np.isnan(shown).all():
            labels.append(Label(name, float(shown[~np.isnan(shown)][-1]), style["color"]))
    return labels


class PlayedWindows(Protocol):
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


class ComparedWindows(Protocol):
    """A recommended window beside the best of those that were played."""

    @property
    def measured(self) -> PlayedWindows:
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
def measured_figure(means: npt.ArrayLike, comparison: ComparedWindows) -> Figure:
    """E[N_{i,T}] and the regret, as measured, over the theorem's and the heuristic curve."""
    matrix = as_means(means)
    sheet = canvas(10.4, [3.3], [2])
    [[left, right]] = sheet.rows
    return sheet.settle(
        {left: _draw_pulls(left, matrix, comparison.measured), right: _draw_measured_regret(right, matrix, comparison)}
    )


def _draw_pulls(axes: Axes, matrix: Floats, measured: PlayedWindows) -> list[Label]:
    """The pulls of every arm while it was not the best, over the theorem's bound, which is one for all."""
    least = float(measured.pulls[measured.pulls > 0].min(initial=len(matrix)))
    _log_axes(axes, measured.windows, max(least / 2, 0.5), 20 * len(matrix))
    for arm in measured.pulls.T:
        axes.plot(measured.windows, np.where(arm > 0, arm, np.nan), color=FAINT, linewidth=0.8)
    axes.axhline(len(matrix), color=MUTED, linewidth=1, linestyle=":")
    axes.annotate("T", (0.01, len(matrix)), xycoords=("axes fraction", "data"), color=MUTED, va="bottom")
    literal, number = _theorem(matrix, measured, 0.0)
    widest = float(matrix.max() - matrix.min())
    thresholds = [0.0, *(widest * np.geomspace(0.005, 0.9, 25))]  # on the margin: rounds below one are unlearnable too
    superset = np.min([_theorem(matrix, measured, float(delta))[0] for delta in thresholds], axis=0)
    axes.set(title="Pulls while worse; every arm in grey", xlabel=SHAPES)
    axes.set_ylabel("pulls, $E[N_{i,T}]$", parse_math=True)
    curves: dict[str, tuple[Floats, dict[str, Any]]] = {
        f"Theorem {number}": (literal, {"color": VERMILION, "linewidth": 2}),
        "its best superset": (superset, {"color": VERMILION, "linestyle": DASHED}),
        "measured, worst arm": (measured.pulls.max(axis=1), MEASURED),
    }
    return _draw_curves(axes, measured.windows, curves)


def _theorem(matrix: Floats, measured: PlayedWindows, delta: float) -> tuple[Floats, int]:
    terms = bounds(matrix, measured.windows, measured.agent, delta=delta or None)
    return np.array([each.total for each in terms]), terms[0].theorem


def _draw_measured_regret(axes: Axes, matrix: Floats, comparison: ComparedWindows) -> list[Label]:
    """The measured regret with two standard errors, over the heuristic curve; both minima marked."""
    measured = comparison.measured
    mean, runs = measured.regret.mean(axis=1), measured.regret.shape[1]
    error = 2 * measured.regret.std(axis=1) / np.sqrt(max(runs - 1, 1))
    theory = regret_curve(matrix, measured.windows, measured.agent).total
    positive = [value for value in (*mean, *theory) if value > 0] or [1.0]
    low, high = min(positive) / 2, max(positive) * 5
    _log_axes(axes, measured.windows, low, high)
    draw_band(axes, measured.windows, np.maximum(mean - error, low / 10), mean + error, BLUE, alpha=0.25)
    axes.set(title=f"Regret of {measured.agent}, {runs} run{'s' if runs > 1 else ''}", xlabel=SHAPES, ylabel="regret")
    curves = {"heuristic": (theory, {"color": VERMILION, "linewidth": 2}), "measured": (mean, MEASURED)}
    mark(axes, comparison.best, f"best measured {comparison.best:,}", BLUE)
    recommended = comparison.recommended.window
    mark(axes, recommended, f"recommended {recommended:,} ({signed(comparison.loss)})", VERMILION, row=1)
    return _draw_curves(axes, measured.windows, curves)


def two_arms(general: bool = False, horizon: int = 1_000) -> Floats:
    """Two arms that change places in rounds 351 and 701; general: they also move inside the phases."""
    rounds = np.arange(1, horizon + 1)
    first_leads = (rounds <= 350) | (rounds > 700)
    means = np.column_stack([np.where(first_leads, 0.75, 0.3), np.where(first_leads, 0.35, 0.65)])
    if general:
        means += 0.1 * np.column_stack([np.sin(rounds / 40), np.cos(rounds / 55)])
    return means


@styled()
def learnable_figure(windows: Sequence[int] = (240, 150, 60)) -> Figure:
    """The learnable rounds of some windows: the longer the window, the fewer."""
    sheet = canvas(7.2, [2.0, 0.45 * len(windows)])
    [top], [below] = sheet.rows
    means = two_arms()
    _draw_arms(top, means, "Longer windows leave fewer rounds learnable")
    top.set_ylabel("mean reward")
    labels = []
    for row, window in enumerate(windows):
        learnable = learnable_set(means, window)
        edges = np.flatnonzero(np.diff(np.concatenate(([~learnable[0]], learnable, [~learnable[-1]]))))
        for first, after in itertools.pairwise(edges.tolist()):
            style = (LEARNABLE, "", None) if learnable[first] else (UNLEARNABLE, "", "///")
            _draw_bar(below, row, range(first + 1, after + 1), *style)
        labels.append(Label(f"{learnable.mean():.0%} learnable", row, INK, dash=False))
        ends = (351, row - 0.46), (351 + window, row - 0.46)
        below.annotate("", *ends, arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0})
    _finish(below, [f"τ = {window:,}" for window in windows], len(means))
    note = "Green: learnable, the window has seen one phase only. Hatched: unlearnable."
    return sheet.settle({below: labels}, [note])


@styled()
def pseudophase_figure(window: int = 120) -> Figure:
    """Phases and pseudophases of a piecewise-constant and of a general abrupt world."""
    sheet = canvas(10.4, [2.0, 1.0], [2, 2])
    for column, general in enumerate((False, True)):
        means = two_arms(general)
        top, below = (row[column] for row in sheet.rows)
        _draw_arms(top, means, "General abrupt" if general else "Piecewise constant")
        whole, inner = phases(means, general=general), pseudophases(means, window, general=general)
        for number, (phase, pseudo) in enumerate(zip(whole, inner, strict=True), start=1):
            _draw_bar(below, 0, phase, GRID, phase_name(number))
            _draw_bar(below, 1, phase, UNLEARNABLE, "", hatch="///")
            _draw_bar(below, 1, pseudo, LEARNABLE, f"{phase_name(number)}*")
        _finish(below, ["phases", f"pseudophases,\nτ = {window:,}"] if column == 0 else ["", ""], len(means))
    sheet.rows[0][0].set_ylabel("mean reward")
    return sheet.settle(notes=["Green: a pseudophase, whose rounds are learnable. Hatched: unlearnable."])


def _draw_arms(axes: Axes, means: Floats, title: str) -> None:
    rounds = np.arange(1, len(means) + 1)
    for arm, (colour, dashes) in enumerate(((VERMILION, SOLID), (BLUE, DASHED))):
        axes.plot(rounds, means[:, arm], color=colour, linestyle=dashes, linewidth=2)
        low = 100 + int(means[100:300, arm].argmin())
        axes.text(low, means[low, arm] - 0.03, f"arm {arm + 1}", color=colour, va="top", ha="center")
    for phase in phases(means, general=True)[1:]:
        axes.axvline(phase.start, color=MUTED, linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, len(means) + 1), ylim=(0.1, 1.0), title=title, yticks=[0.2, 0.4, 0.6, 0.8, 1.0])
    axes.tick_params(labelbottom=False)


def _draw_bar(axes: Axes, row: int, stretch: range, colour: str, name: str, hatch: str | None = None) -> None:
    """A bar for some rounds, with a name in its middle."""
    axes.barh(row, len(stretch), left=stretch.start, height=0.65, color=colour, hatch=hatch, edgecolor="white")
    middle = (stretch.start + stretch.stop) / 2
    axes.text(middle, row, name, ha="center", va="center", color=INK)


def _finish(axes: Axes, names: Sequence[str], horizon: int) -> None:
    axes.set(xlim=(0, horizon + 1), ylim=(len(names) - 0.4, -0.6), xlabel="round")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
