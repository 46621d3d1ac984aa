"""What the page shows of detections on a world: a scorecard for each agent, each breakpoint, and every alarm."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...detections import BreakpointScore, Scorecard
from ..scorecards import UNSCORED
from ..study import AgentEntry

__all__ = ["BreakpointRow", "DetectionRow", "DetectionSection", "detection_section", "embedded"]

FEW = 12  # breakpoints that a table has columns for


@dataclass(frozen=True)
class DetectionRow:
    """The scorecard of one agent, as text."""

    agent: str
    delay: str
    missed: str
    false_alarms: str
    rate: str
    with_false: str
    true_alarms: str
    other: bool  # whether it is another reading of an agent


@dataclass(frozen=True)
class BreakpointRow:
    """How one agent did at each breakpoint, as text."""

    agent: str
    cells: list[str]
    other: bool


@dataclass(frozen=True)
class DetectionSection:
    """The detections of an experiment's agents on a world.

    Attributes:
        rows: a scorecard for each agent that has a detector.
        heads: the breakpoints that all runs share, if they are few.
        breakpoints: how each agent did at them.
        notes: what must be said about the rows.
        timeline: the picture of all alarms, an SVG file in base 64; empty if there is none.
    """

    rows: list[DetectionRow]
    heads: list[str]
    breakpoints: list[BreakpointRow]
    notes: list[str]
    timeline: str


def detection_section(
    cards: Mapping[str, Scorecard], agents: Mapping[str, AgentEntry], timeline: Path | None
) -> DetectionSection:
    """The detections of agents by label; without cards it says why there are none."""
    if not cards:
        return DetectionSection([], [], [], [UNSCORED], "")
    shared = next(iter(cards.values())).breakpoints
    rows = [_row(card, agents[label]) for label, card in cards.items()]
    few = 0 < len(shared) <= FEW
    return DetectionSection(
        rows=rows,
        heads=[_head(each) for each in shared] if few else [],
        breakpoints=[_breakpoint_row(card, agents[label]) for label, card in cards.items()] if few else [],
        notes=[note for label, card in cards.items() if (note := _full(label, card))],
        timeline="" if timeline is None else embedded(timeline),
    )


def _row(card: Scorecard, agent: AgentEntry) -> DetectionRow:
    return DetectionRow(
        agent=_starred(agent),
        delay=card.delay.as_number(),
        missed=card.missed.as_share(),
        false_alarms=card.false_alarms.as_number(),
        rate=card.false_alarm_rate.as_number(),
        with_false=card.runs_with_false_alarm.as_share(),
        true_alarms=card.true_alarms.as_number(),
        other=bool(agent.stands_for),
    )


def _breakpoint_row(card: Scorecard, agent: AgentEntry) -> BreakpointRow:
    cells = [_cell(each, len(card.runs)) for each in card.breakpoints]
    return BreakpointRow(_starred(agent), cells, bool(agent.stands_for))


def _head(each: BreakpointScore) -> str:
    arms = ", ".join(str(arm + 1) for arm in each.arms)
    return f"round {each.round:,}, arm{'s' if len(each.arms) > 1 else ''} {arms}"


def _cell(each: BreakpointScore, runs: int) -> str:
    found = f"{each.detected} of {runs}"
    return found if np.isnan(each.delay.value) else f"{found}, delay {each.delay.as_number()}"


def _starred(agent: AgentEntry) -> str:
    return f"{agent.label}*" if agent.note else agent.label


def _full(label: str, card: Scorecard) -> str:
    full = card.full_logs
    return f"{label}: the log of alarms was full in {full} runs, and later alarms are not counted." if full else ""


def embedded(path: Path) -> str:
    """A file in base 64, to become part of the page."""
    return base64.b64encode(path.read_bytes()).decode()
