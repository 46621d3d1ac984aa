"""A comparison as the data of its figure: curves of agents, sweeps, and the values of a sweep that are worth a mark."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..figures.compare_plot import Shown, compare_figure
from ..figures.style import save_as
from ..figures.sweep_plot import Swept
from ..figures.world_means import phase_starts
from ..runs import Runs
from ..theory.choices import INSTANCES, marked_values
from .competitors import Competitor, Family
from .venues import Venue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .comparison import Comparison

__all__ = ["picture", "shown_of", "swept_of"]


def picture(comparison: Comparison, path: str | Path | None) -> Figure:
    """The figure of a comparison, saved if there is a path."""
    figure = compare_figure([shown_of(comparison, venue) for venue in comparison.venues])
    vars(figure)["_repr_png_"] = partial(_png, figure)  # shows it in a notebook, also where pyplot was never imported
    if path is not None:
        save_as(figure, Path(path))
    return figure


def _png(figure: Figure) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def shown_of(comparison: Comparison, venue: Venue) -> Shown:
    """What the figure shows of a world: curves of agents outside of sweeps and of the best in each, and the sweeps."""
    played = comparison.runs[venue.label]
    swept = swept_of(comparison, venue)
    outside = {each.label: each for each in comparison.competitors if each.family is None and each.label in played}
    curves = {label: played[label] for label in outside}
    if curves:
        curves |= _best_of_families(comparison, played)
    changes = [] if venue.drawn_anew else phase_starts(venue.means(comparison.seed))
    kin = {each.label: _kin(each.family) for each in comparison.competitors if each.family is not None}
    return Shown(venue.label, curves, changes, swept, kin)


def _kin(family: Family) -> str:
    """What tells a sweep from all others."""
    return f"{family.label} by {family.sweep.parameter}"


def _families(comparison: Comparison, played: dict[str, Runs]) -> list[tuple[Family, list[Competitor]]]:
    """Every sweep, with its members that played on a world."""
    found: dict[str, tuple[Family, list[Competitor]]] = {}
    for each in comparison.competitors:
        if each.family is not None and each.label in played:
            found.setdefault(_kin(each.family), (each.family, []))[1].append(each)
    return list(found.values())


def _best_of_families(comparison: Comparison, played: dict[str, Runs]) -> dict[str, Runs]:
    best = {}
    for _, members in _families(comparison, played):
        label = min((each.label for each in members), key=lambda label: float(played[label].final.mean()))
        best[label] = played[label]
    return best


def swept_of(comparison: Comparison, venue: Venue) -> list[Swept]:
    """The sweeps on a world, with the tuned and the recommended value where there is one."""
    played = comparison.runs[venue.label]
    return [
        Swept(
            family.label,
            family.sweep.parameter,
            [float(each.parameters[family.sweep.parameter]) for each in members],
            [played[each.label].final for each in members],
            marks_of(family, members[0], venue, comparison.seed),
        )
        for family, members in _families(comparison, played)
    ]


def marks_of(family: Family, member: Competitor, venue: Venue, seed: int) -> dict[str, float]:
    """The values of a swept parameter that formula and theory choose for a world."""
    parameter = family.sweep.parameter
    others = {key: value for key, value in member.parameters.items() if key != parameter}
    known = [venue.knowledge(seed, run) for run in range(INSTANCES if venue.drawn_anew else 1)]
    return marked_values(family.sweep.agent, parameter, others, known)
