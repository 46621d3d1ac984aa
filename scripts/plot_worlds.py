"""Draw the means of the paper's four worlds: docs/worlds.png, or the file named on the command line."""

from __future__ import annotations

import argparse
import io
import itertools
from pathlib import Path

import gymnasium as gym
import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

import ns_mab_gym
from ns_mab_gym import theory

gym.register_envs(ns_mab_gym)

WORLDS = {
    "NSBandit-Abrupt-v0": "Abrupt: constant between breakpoints",
    "NSBandit-GeneralAbrupt-v0": "General abrupt: sinusoids between breakpoints",
    "NSBandit-Smooth-v0": "Smooth, σ = 0.0001",
    "NSBandit-SmoothFast-v0": "Smooth, σ = 0.001",
}
# Okabe and Ito's colours for the arms that the abrupt worlds are about, grey for those that stand by.
STORY = {1: "#D55E00", 9: "#009E73", 10: "#0072B2"}
GREY = "#A0A0A0"
STRIP = (1.06, 1.13)  # where the best arm is shown, above all means


def colours(env_id: str, k: int) -> list[str]:
    """A colour for each arm; in the smooth worlds arms are neighbours in a row, hence a gradient."""
    if "Abrupt" in env_id:
        return [STORY.get(arm, GREY) for arm in range(1, k + 1)]
    return [to_hex(mpl.colormaps["viridis"](0.82 * arm / (k - 1))) for arm in range(k)]


def spread(heights: npt.NDArray[np.float64], room: float) -> npt.NDArray[np.float64]:
    """The heights, moved upwards as little as keeps them ``room`` apart."""
    placed = heights.copy()
    order = np.argsort(heights)
    for lower, upper in itertools.pairwise(order):
        placed[upper] = max(placed[upper], placed[lower] + room)
    return placed


def draw_best_arm(axes: Axes, means: npt.NDArray[np.float64], paint: list[str]) -> None:
    """A strip in the best arm's colour, with its number where there is room for it."""
    horizon = len(means)
    edges = [1, *theory.best_arm_switches(means).tolist(), horizon + 1]
    for begin, end in itertools.pairwise(edges):
        arm = int(means[begin - 1].argmax())
        axes.fill_between([begin, end], *STRIP, color=paint[arm], lw=0)
        if end - begin > 0.02 * horizon:
            middle = (begin + end) / 2
            axes.text(
                middle, sum(STRIP) / 2, str(arm + 1), color="white", ha="center", va="center_baseline", fontsize=7
            )


def draw_world(axes: Axes, env_id: str, title: str) -> None:
    """The means of every arm, named at the right; above them, which arm is best."""
    means = gym.make(env_id).unwrapped.means  # type: ignore[attr-defined]
    horizon, k = means.shape
    paint = colours(env_id, k)
    shown = np.unique(np.linspace(0, horizon - 1, 4_000).astype(int))
    for arm in range(k):
        story = paint[arm] != GREY
        axes.plot(shown + 1, means[shown, arm], color=paint[arm], lw=1.6 if story else 1.0, zorder=3 if story else 2)
    for arm, height in enumerate(spread(means[-1], 0.05)):
        axes.annotate(str(arm + 1), (1.008, height), xycoords=("axes fraction", "data"), color=paint[arm],
                      va="center", fontsize=8, fontweight="bold" if paint[arm] != GREY else "normal")  # fmt: skip
    draw_best_arm(axes, means, paint)
    if "Abrupt" in env_id:
        for breakpoint_ in theory.best_arm_switches(means):
            axes.axvline(breakpoint_, 0, 0.93, color="#555555", lw=0.8, ls=":", zorder=1)
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.set(xlim=(1, horizon), ylim=(-0.02, STRIP[1]), yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def main() -> None:
    """Draw all four and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=Path(__file__).parent.parent / "docs" / "worlds.png")
    path = parser.parse_args().path
    figure = Figure(figsize=(10, 6.2), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (env_id, title) in zip(panels.flat, WORLDS.items(), strict=True):
        draw_world(axes, env_id, title)
    for axes in panels[-1]:
        axes.set_xlabel("round", fontsize=9)
    for axes in panels[:, 0]:
        axes.set_ylabel("mean reward", fontsize=9)
    figure.suptitle("The paper's four worlds: the means of ten arms; the strip on top shows the best arm", fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=130)
    Image.open(drawn).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(
        path, optimize=True
    )  # a third the size
    print(f"wrote {path} ({path.stat().st_size / 1024:.0f} KB)")


if __name__ == "__main__":
    main()
