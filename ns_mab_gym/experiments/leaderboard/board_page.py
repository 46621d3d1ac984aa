"""The page of the leaderboard: one self-contained HTML file in the look of the report."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .board_rules import FLATTERED, RULES
from .board_table import Division
from .board_worlds import BoardWorld
from .findings import Findings
from .standings import Standing, Standings

__all__ = ["BoardPage"]

NOTHING = "–"


@dataclass
class BoardPage:
    """What the page shows; :meth:`html` writes it.

    Attributes:
        findings: what the table says.
        pictures: SVG files by division and name, "" for both divisions.
        command: what was typed.
        made: when.
        settings: pairs of a setting and its value.
        warning: what must be read first.
    """

    findings: Findings
    pictures: Mapping[tuple[str, str], Path]
    command: str
    made: str
    settings: Sequence[tuple[str, Any]]
    warning: str = ""

    def html(self) -> str:
        """The whole page."""
        standings = self.findings.standings
        division = standings[0].division
        return (
            _environment()
            .get_template("leaderboard.html")
            .render(
                {
                    "command": self.command,
                    "meta": [self.made, *_sizes(division, standings)],
                    "warning": self.warning,
                    "general": self.findings.general,
                    "topics": self.findings.advice,
                    "divisions": [self._division(each) for each in standings],
                    "rates": self._picture("", "rates"),
                    "worlds": [_world_row(world, division) for world in division.worlds],
                    "rules": RULES,
                    "flattered": FLATTERED,
                    "settings": self.settings,
                }
            )
        )

    def _division(self, standings: Standings) -> dict[str, Any]:
        division = standings.division
        return {
            "name": division.name,
            "rows": [_row(row) for row in standings.rows],
            "others": _others(standings),
            "stability": self.findings.stability[division.name],
            "orders": list(self.findings.orders[division.name].items()),
            "ranks": self._picture(division.name, "ranks"),
            "heatmap": self._picture(division.name, "heatmap"),
        }

    def _picture(self, division: str, name: str) -> str | None:
        path = self.pictures.get((division, name))
        return None if path is None else base64.b64encode(path.read_bytes()).decode()


@cache
def _environment() -> Environment:
    """The Jinja environment: the leaderboard's own templates, and the styles of the report."""
    loader = ChoiceLoader([PackageLoader(__package__ or ""), PackageLoader("ns_mab_gym.experiments.report")])
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    env.globals["file"] = lambda name: Markup(loader.get_source(env, name)[0])
    return env


def _sizes(division: Division, standings: Sequence[Standings]) -> list[str]:
    runs = sorted({world.runs for world in division.worlds})
    return [
        f"{len(division.worlds)} worlds, of which {len(division.counting)} count",
        f"{max(len(each.rows) for each in standings)} agents with a place",
        f"{' or '.join(map(str, runs))} runs each",
    ]


def _row(row: Standing) -> dict[str, Any]:
    return {
        "place": row.place,
        "agent": row.label,
        "rank": f"{row.rank:.1f}",
        "interval": f"{row.low:.1f} to {row.high:.1f}",
        "to_best": f"{row.to_best:.2f}",
        "to_oracle": _or_nothing(row.to_oracle),
        "best_on": row.best_on,
        "close_on": row.close_on,
        "worst": f"{row.worst:.1f}",
        "worst_on": row.worst_on,
    }


def _or_nothing(ratio: float) -> str:
    return NOTHING if np.isnan(ratio) else f"{ratio:.2f}"


def _others(standings: Standings) -> list[dict[str, str]]:
    """The agents without a place, with the reason and their mean ratio to the best on the worlds that they play."""
    division, found = standings.division, []
    for number, (label, competes) in enumerate(zip(division.labels, division.competes, strict=True)):
        if label not in division.ranked:
            ratios = division.to_best[number, division.counting]
            played = ratios[~np.isnan(ratios)]
            why = f"plays {len(played)} of {len(ratios)} worlds that count" if competes else "a further form"
            mean = f"{np.exp(np.log(played).mean()):.2f}" if len(played) else NOTHING
            found.append({"agent": label, "why": why, "to_best": mean})
    return found


def _world_row(world: BoardWorld, division: Division) -> dict[str, Any]:
    return {
        "label": world.label,
        "family": world.family,
        "words": world.entry.words,
        "runs": world.runs,
        "counts": "yes" if world.counts else "no",
        "phases": "yes" if world.label in division.phased else "no",
    }
