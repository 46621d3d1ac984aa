"""The rows of the page's tables, as text: final regrets with their intervals, and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..results import Results, summaries
from ..statistics import Estimate, Summary
from ..study import Experiment, WorldEntry
from ..values import is_number

__all__ = ["FinalRow", "ParameterRow", "final_rows", "parameter_rows", "parameters_in_words", "played_with"]

NOTHING = "–"  # shown where the reference would be compared with itself
SYMBOLS = {"window": "τ", "gamma": "γ", "delta": "δ", "phi": "φ", "batch": "Δ", "sigma": "σ", "epsilon": "ε",
           "xi": "ξ"}  # fmt: skip
DIFFERS = "differs from run to run"


class Span(NamedTuple):
    """A parameter that differs between runs, as it does where each instance of a random world is tuned for."""

    low: float
    high: float


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
        parameters=parameters_in_words(played_with(results.curves[world.label][row.label].parameters)),
        other=bool(agent.stands_for),
    )


def _interval(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.low:{sign},.0f} to {estimate.high:{sign},.0f}"


def parameter_rows(results: Results, world: WorldEntry) -> list[ParameterRow]:
    """The parameters of every agent on a world, in all runs."""
    curves = results.curves[world.label]
    return [
        ParameterRow(world.label, label, agent.words, _in_words(played_with(curves[label].parameters)))
        for label, agent in results.agents[world.label].items()
    ]


def played_with(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters of several runs as one: where runs differ, a span from the least value to the largest.

    >>> parameters_in_words(played_with([{"window": 210, "xi": 0.6}, {"window": 493, "xi": 0.6}]))
    'τ = 210 to 493, ξ = 0.6'
    """
    return {key: _together([each[key] for each in parameters if key in each]) for key in parameters[0]}


def _together(values: Sequence[Any]) -> Any:
    first = values[0]
    if all(type(value) is type(first) and value == first for value in values):
        return first
    return Span(min(values), max(values)) if all(map(is_number, values)) else DIFFERS


def _in_words(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_exactly(value)}" for key, value in parameters.items())


def _exactly(value: Any) -> str:
    if isinstance(value, Span):
        return f"{_exactly(value.low)} to {_exactly(value.high)}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def parameters_in_words(parameters: Mapping[str, Any]) -> str:
    """Parameters in little room, by the letters that papers give them; without K, and without what is switched off.

    >>> parameters_in_words({"n_arms": 10, "binarize": False, "window": 2942, "gamma": 0.25})
    'τ = 2,942, γ = 0.25'
    """
    said = {key: value for key, value in parameters.items() if key != "n_arms" and value is not False}
    return ", ".join(f"{SYMBOLS.get(key, key)} = {_value(value)}" for key, value in said.items())


def _value(value: Any) -> str:
    if isinstance(value, Span):
        return f"{_value(value.low)} to {_value(value.high)}"
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value) if isinstance(value, bool) or not isinstance(value, int) else f"{value:,}"
