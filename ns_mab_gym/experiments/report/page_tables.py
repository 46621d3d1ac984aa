"""The rows of the page's tables, as text: final regrets with their intervals, and parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ...runs import Runs
from ..results import Results
from ..statistics import Estimate, Summary, summarise

__all__ = ["FinalRow", "ParameterRow", "final_rows", "parameter_rows"]

NOTHING = "–"  # shown where the reference would be compared with itself


@dataclass(frozen=True)
class FinalRow:
    """Final regret of one agent, and how it compares with the reference on the same luck."""

    agent: str
    regret: str
    interval: str
    sd: str
    difference: str
    difference_interval: str
    improvement: str
    rank: str


@dataclass(frozen=True)
class ParameterRow:
    """The parameters with which one agent played on one world."""

    world: str
    agent: str
    words: str
    parameters: str


def final_rows(curves: Mapping[str, Runs], reference: str, starred: Collection[str]) -> list[FinalRow]:
    """A row for each agent, the least regret first; a star at the labels that have a footnote."""
    finals = {label: curve.final for label, curve in curves.items()}
    return [_final_row(row, "*" if row.label in starred else "") for row in summarise(finals, reference)]


def _final_row(row: Summary, star: str) -> FinalRow:
    final, difference, improvement = row.final, row.difference, row.improvement
    return FinalRow(
        agent=f"{row.label}{star}",
        regret=f"{final.mean:,.0f} ± {final.se:,.1f}",
        interval=_interval(final),
        sd=f"{final.sd:,.0f}",
        difference=NOTHING if difference is None else f"{difference.mean:+,.0f}",
        difference_interval=NOTHING if difference is None else _interval(difference, sign="+"),
        improvement=NOTHING if improvement is None else f"{improvement.mean:.0%}",
        rank=f"{row.rank:.2f}",
    )


def _interval(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.low:{sign},.0f} to {estimate.high:{sign},.0f}"


def parameter_rows(results: Results) -> list[ParameterRow]:
    """The parameters of every agent on every world, as they were in the first run."""
    return [
        ParameterRow(world, label, agent.words, _in_words(results.curves[world][label].parameters[0]))
        for world, agents in results.agents.items()
        for label, agent in agents.items()
    ]


def _in_words(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}" for key, value in parameters.items()
    )
