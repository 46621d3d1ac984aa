"""What the pages say about the choice of an agent and its parameters: advice, tuning, ranks."""

from __future__ import annotations

from typing import Any

from quoting.markdown import Figures, number, table

__all__ = ["advised", "leaderboard", "recommended_windows", "tuned"]


def recommended_windows(figures: Figures) -> str:
    """A table of what the recommended window loses."""

    def row(agent: str, lost: dict[str, float | None]) -> tuple[str, ...]:
        paper = f"{number(lost['paper_least'], '.0%')} to {number(lost['paper_most'], '.0%')}"
        return f"`{agent}`", paper, *(number(lost[key], ".0%") for key in ("median", "worst", "median_of_suggested"))

    header = ("agent", "the paper's worlds", "others, median", "others, worst", "others, median with 4√(T ln T)")
    return table(header, [row(agent, lost) for agent, lost in figures["windows"]["figures"].items()])


def tuned(figures: Figures) -> str:
    """A table of what `tune` loses against the best of a grid of windows, and how long it takes."""
    rows = []
    for which, one in figures["tuning"]["figures"].items():
        agent, world = which.split(", ")
        loss = f"{one['loss']:+.1%} ± {one['error']:.1%}"
        rows.append((f"`{agent}`", world, f"{one['window']:,}", f"{one['best']:,}", loss, f"{one['seconds']:.0f} s"))
    return table(("agent", "world", "its window", "the best of 41", "loss, standard error", "time"), rows)


def advised(figures: Figures) -> str:
    """A table of what `recommend` loses against the best of a full grid."""
    meant = {
        "advice": "`recommend`: agent and parameters, against the best of the full grid",
        "window": "its window for `beta-swts`, against the best window",
        "theory": "`theory.recommend_window`, against the best window",
    }
    rows = [
        (words, *(f"{figures['advice']['figures'][what][which]:+.1%}" for which in ("median", "worst")))
        for what, words in meant.items()
    ]
    return table(("24 instances", "median loss", "worst"), rows)


def leaderboard(figures: Figures) -> str:
    """The first five of each division of the leaderboard: mean rank with its interval, regret relative to the best."""
    measured = figures["leaderboard"]["figures"]
    first = measured["first"]

    def cell(row: dict[str, Any]) -> str:
        return f"`{row['label']}`, {row['rank']:.1f} ({row['low']:.1f} to {row['high']:.1f}), {row['to_best']:.2f}"

    rows = [(str(place), *map(cell, level)) for place, level in enumerate(zip(*first.values(), strict=True), start=1)]
    return table((f"of {measured['agents']} agents, {measured['worlds']} worlds", *first), rows)
