"""The table of a comparison, which prints itself as text and shows itself in notebooks."""

from __future__ import annotations

import html
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..run_intervals import Interval
from ..theory.text_tables import table
from .leads import FEWEST, Standing

__all__ = ["Standings", "WorldStandings", "overall"]

NOTHING = "–"
HEADS = ("agent", "regret", "more than the best")


@dataclass(frozen=True)
class WorldStandings:
    """How the agents ended on one world.

    Attributes:
        world: its label.
        horizon: T.
        runs: how many runs each agent played.
        rows: the agents, the least mean regret first.
        misfits: labels of agents that cannot play it.
    """

    world: str
    horizon: int
    runs: int
    rows: Sequence[Standing]
    misfits: Sequence[str] = ()

    @property
    def title(self) -> str:
        """What the rows show."""
        rounds = f"{self.horizon:,} round{'s' if self.horizon > 1 else ''}"
        of = "one run" if self.runs == 1 else f"mean ± standard error of {self.runs:,} runs"
        return f"{self.world}: regret after {rounds}, {of}"

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text."""
        errors, means = [row.se for row in self.rows], [row.regret.value for row in self.rows]
        digits = _digits(_middle(errors) or _middle(means) / 100)
        rows = [(f"{row.place:2} {row.agent}", _mean(row, digits), _more(row.more, digits)) for row in self.rows]
        rows += [(f" {NOTHING} {agent}", "cannot play", "") for agent in self.misfits]
        return [(f"   {HEADS[0]}", *HEADS[1:]), *rows]


@dataclass(frozen=True)
class Standings:
    """How the agents of a comparison ended: ``print`` shows it as text, a notebook as tables."""

    worlds: Sequence[WorldStandings]

    def __str__(self) -> str:
        parts = [f"{each.title}\n{table(each.cells())}" for each in self.worlds]
        if places := overall(self.worlds):
            parts.append(f"mean place over {len(self.worlds)} worlds\n{table(_places(places))}")
        return "\n\n".join([*parts, *self._notes()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [_html(each.title, each.cells()) for each in self.worlds]
        if places := overall(self.worlds):
            parts.append(_html(f"mean place over {len(self.worlds)} worlds", _places(places)))
        return "".join([*parts, *(f"<p>{html.escape(note)}</p>" for note in self._notes())])

    def _notes(self) -> list[str]:
        if max(len(each.rows) for each in self.worlds) < 2:
            return []
        if any(each.runs < FEWEST for each in self.worlds):
            return [f"no intervals: they need at least {FEWEST} runs"]
        return ["in brackets: 95 % intervals of differences on the same luck, for all pairs of agents together"]


def overall(worlds: Sequence[WorldStandings]) -> dict[str, float]:
    """The mean place among the agents that played on every world, the best first; empty for one world or agent."""
    regrets = [{row.agent: row.regret.value for row in each.rows} for each in worlds]
    everywhere = [agent for agent in regrets[0] if all(agent in found for found in regrets)]
    if len(worlds) < 2 or len(everywhere) < 2:
        return {}
    places = {
        agent: statistics.mean(1 + sum(found[other] < found[agent] for other in everywhere) for found in regrets)
        for agent in everywhere
    }
    return dict(sorted(places.items(), key=lambda pair: pair[1]))


def _places(places: dict[str, float]) -> list[tuple[str, ...]]:
    return [("   agent", "place"), *((f"   {agent}", f"{place:.2f}") for agent, place in places.items())]


def _mean(row: Standing, digits: int) -> str:
    mean = _number(row.regret.value, digits)
    return mean if math.isnan(row.se) else f"{mean} ± {_number(row.se, digits)}"


def _more(more: Interval, digits: int) -> str:
    if more.value == 0 and math.isnan(more.low):
        return NOTHING
    value = f"+{_number(more.value, digits)}"
    return value if math.isnan(more.low) else f"{value} [{_number(more.low, digits)}, {_number(more.high, digits)}]"


def _middle(values: Sequence[float]) -> float:
    """The median of what is above zero; 0 if nothing is."""
    return statistics.median([value for value in values if value > 0] or [0.0])


def _digits(error: float) -> int:
    """How many decimals show two digits of an error."""
    return 0 if error <= 0 or not math.isfinite(error) else min(max(1 - math.floor(math.log10(error)), 0), 6)


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def _html(title: str, cells: Sequence[tuple[str, ...]]) -> str:
    heads, *rows = cells
    head = "".join(f"<th>{html.escape(cell.strip())}</th>" for cell in heads)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell.strip())}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{html.escape(title)}</caption><tr>{head}</tr>{body}</table>"
