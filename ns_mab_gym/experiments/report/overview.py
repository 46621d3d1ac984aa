"""The first screen: for each world its winner, a small chart and a column of final regrets, for each agent a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runs import Runs
from ..claims.decisions import mean_se
from ..results import Results
from ..statistics import Estimate, estimate
from .charts import Chart, regret_line
from .page_tables import parameters_in_words, played_with
from .sections import WorldSection

__all__ = ["Column", "Lead", "Overview", "Standing", "column_of", "overview_of", "places_of"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """How an agent ended on a world.

    Attributes:
        mean: its mean final regret.
        regret: the same with its standard error, as text.
        parameters: those with which it played.
    """

    mean: float
    regret: str
    parameters: str

    def data(self) -> list[Any]:
        """What the script needs in order to put the standings of other readings into the table."""
        return [self.mean, self.regret, self.parameters]


@dataclass(frozen=True)
class Lead:
    """The agent with the least mean final regret on a world, and by how much it leads the next one.

    Attributes:
        winner: its label.
        second: the label of the next one.
        margin: how much more regret the second has, with a 95 % interval of the difference run by run.
    """

    winner: str
    second: str
    margin: Estimate

    def __str__(self) -> str:
        if self.margin.mean == 0:
            return f"level with {self.second}"
        found = f"{_number(self.margin.mean)} less than {self.second}"
        interval = f"95 % interval {_number(self.margin.low)} to {_number(self.margin.high)}"
        if self.margin.low > 0:
            return f"{found} ({interval})"
        return f"{found}, which may be luck ({interval})"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace("-", "−") if abs(value) >= 10 else f"{value:.2g}".replace("-", "−")


@dataclass(frozen=True)
class Column:
    """A world on the first screen.

    Attributes:
        anchor: the id of its section.
        label: its label.
        chart: the id of the chart whose lines the small one shows.
        standings: how each compared agent ended, by label.
        others: the same for other readings of these agents.
        lead: who won, and by how much; None where nobody is compared.
    """

    anchor: str
    label: str
    chart: str
    standings: dict[str, Standing]
    others: dict[str, Standing]
    lead: Lead | None = None

    @property
    def places(self) -> dict[str, int]:
        """The place of each compared agent."""
        return places_of({label: each.mean for label, each in self.standings.items()})

    def data(self) -> dict[str, list[Any]]:
        """The standings of all agents and of their other readings, by label."""
        return {label: each.data() for label, each in (self.standings | self.others).items()}


@dataclass(frozen=True)
class Row:
    """An agent: its label, its name with a star if it has a footnote, and how its line is drawn."""

    label: str
    name: str
    line: Chart

    @property
    def dashes(self) -> str:
        """The dashes as SVG writes them."""
        return "" if self.line["dash"] == "solid" else str(self.line["dash"]).replace("px", "")


@dataclass(frozen=True)
class Overview:
    """The first screen's worlds and agents."""

    columns: Sequence[Column]
    rows: list[Row]

    @property
    def labels(self) -> list[str]:
        """The labels of all agents that are compared."""
        return [row.label for row in self.rows]

    @property
    def longest(self) -> int:
        """The number of letters of the longest name."""
        return max(len(row.name) for row in self.rows)

    @property
    def mean_places(self) -> dict[str, float]:
        """The mean over the worlds of each agent's place, by label."""
        places = [column.places for column in self.columns]
        return {label: float(np.mean([there[label] for there in places if label in there])) for label in self.labels}

    def data(self) -> dict[str, Any]:
        """What the script needs: how lines are drawn, and every standing."""
        return {
            "agents": [{"label": row.label, "line": row.line} for row in self.rows],
            "worlds": [column.data() for column in self.columns],
        }


def overview_of(columns: Sequence[Column], starred: Collection[str]) -> Overview:
    """The first screen of a report.

    Args:
        columns: one for each world.
        starred: the labels of agents that have a footnote.
    """
    labels = list(dict.fromkeys(label for column in columns for label in column.standings))
    rows = [Row(label, f"{label}*" if label in starred else label, regret_line(n)) for n, label in enumerate(labels)]
    return Overview(columns, rows)


def column_of(results: Results, section: WorldSection) -> Column:
    """A world on the first screen."""
    main, world = section.main, section.entry
    readings = results.other_readings(main.experiment, world).values()
    standings = {label: _standing(runs) for label, runs in results.of(main.experiment, world).items()}
    others = {label: _standing(runs) for several in readings for label, runs in several.items()}
    lead = _lead({label: runs.final for label, runs in results.of(main.experiment, world).items()})
    return Column(section.anchor, world.label, main.charts[0].anchor, standings, others, lead)


def _standing(runs: Runs) -> Standing:
    return Standing(float(runs.final.mean()), mean_se(runs.final), parameters_in_words(played_with(runs.parameters)))


def _lead(finals: Mapping[str, Floats]) -> Lead | None:
    if len(finals) < 2:
        return None
    winner, second = sorted(finals, key=lambda label: float(finals[label].mean()))[:2]
    return Lead(winner, second, estimate(finals[second] - finals[winner]))


def places_of(means: Mapping[str, float]) -> dict[str, int]:
    """The place of each label: 1 has the least mean; equal means share the better place.

    >>> places_of({"a": 2.0, "b": 1.0, "c": 2.0, "d": 3.0})
    {'a': 2, 'b': 1, 'c': 2, 'd': 4}
    """
    return {label: 1 + sum(other < mean for other in means.values()) for label, mean in means.items()}
