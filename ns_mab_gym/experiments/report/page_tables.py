"""The rows of the page's tables, as text: final regrets with their intervals, and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..results import Results, summaries
from ..statistics import Estimate, Summary
from ..study import Experiment, WorldEntry

__all__ = ["FinalRow", "ParameterRow", "final_rows", "parameter_rows", "parameters_in_words"]

NOTHING = "–"  # shown where the reference would be compared with itself
SYMBOLS = {"window": "τ", "gamma": "γ", "delta": "δ", "phi": "φ", "batch": "Δ", "sigma": "σ", "epsilon": "ε",
           "xi": "ξ"}  # fmt: skip


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
    parameters: str
    other: bool  # whether it is another reading of an agent


@dataclass(frozen=True)
class ParameterRow:
    """The parameters with which one agent played on one world."""

    world: str
    agent: str
    words: str
    parameters: str


def final_rows(results: Results, experiment: Experiment, world: WorldEntry) -> list[FinalRow]:
    """A row for each agent, the least regret first, then for each other reading; a star at labels with a footnote."""
    return [_final_row(row, results, world) for row in summaries(results, experiment, world)]


def _final_row(row: Summary, results: Results, world: WorldEntry) -> FinalRow:
    final, difference, improvement = row.final, row.difference, row.improvement
    agent = results.agents[world.label][row.label]
    return FinalRow(
        agent=f"{row.label}*" if agent.note else row.label,
        regret=f"{final.mean:,.0f} ± {final.se:,.1f}",
        interval=_interval(final),
        sd=f"{final.sd:,.0f}",
        difference=NOTHING if difference is None else f"{difference.mean:+,.0f}",
        difference_interval=NOTHING if difference is None else _interval(difference, sign="+"),
        improvement=NOTHING if improvement is None else f"{improvement.mean:.0%}",
        rank=f"{row.rank:.2f}",
        parameters=parameters_in_words(results.curves[world.label][row.label].parameters[0]),
        other=bool(agent.stands_for),
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


def parameters_in_words(parameters: Mapping[str, Any]) -> str:
    """Parameters in little room, by the letters that papers give them; without K, and without what is switched off.

    >>> parameters_in_words({"n_arms": 10, "binarize": False, "window": 2942, "gamma": 0.25})
    'τ = 2,942, γ = 0.25'
    """
    said = {key: value for key, value in parameters.items() if key != "n_arms" and value is not False}
    return ", ".join(f"{SYMBOLS.get(key, key)} = {_value(value)}" for key, value in said.items())


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value) if isinstance(value, bool) or not isinstance(value, int) else f"{value:,}"
