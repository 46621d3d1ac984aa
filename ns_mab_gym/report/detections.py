"""Detections on a world: a scorecard for each agent, each breakpoint, and every alarm."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..detections import Scorecard
from ..specs import AgentSpec
from ..studies.tables import UNSCORED

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
    """The detections of one agent at each breakpoint, as text."""

    agent: str
    cells: list[str]
    other: bool


@dataclass(frozen=True)
class DetectionSection:
    """The detections of an experiment's agents on a world.

    Attributes:
        rows: a scorecard for each agent that has a detector.
        heads: the breakpoints that all runs share, if they are few.
        breakpoints: the detections of each agent at them.
        notes: remarks on the rows.
        timeline: the picture of all alarms, an SVG file in base 64; empty if there is none.
    """

    rows: list[DetectionRow]
    heads: list[str]
    breakpoints: list[BreakpointRow]
    notes: list[str]
    timeline: str


def detection_section(
    cards: Mapping[str, Scorecard], agents: Mapping[str, AgentSpec], timeline: Path | None
) -> DetectionSection:
    """The detections of agents by label; without cards it says why there are none."""
    if not cards:
        return DetectionSection([], [], [], [UNSCORED], "")
    shared = next(iter(cards.values())).breakpoints
    rows, heads, breakpoints = [], [], []
    for label, card in cards.items():
        name, other = f"{label}*" if agents[label].note else label, bool(agents[label].stands_for)
        rows.append(
            DetectionRow(
                agent=name,
                delay=card.delay.as_number(),
                missed=card.missed.as_share(),
                false_alarms=card.false_alarms.as_number(),
                rate=card.false_alarm_rate.as_number(),
                with_false=card.runs_with_false_alarm.as_share(),
                true_alarms=card.true_alarms.as_number(),
                other=other,
            )
        )
        if 0 < len(shared) <= FEW:
            cells = [
                f"{each.detected} of {len(card.runs)}"
                + ("" if np.isnan(each.delay.value) else f", delay {each.delay.as_number()}")
                for each in card.breakpoints
            ]
            breakpoints.append(BreakpointRow(name, cells, other))
    if breakpoints:
        arms = [", ".join(str(arm + 1) for arm in each.arms) for each in shared]
        several = ["s" if len(each.arms) > 1 else "" for each in shared]
        heads = [f"round {each.round:,}, arm{s} {names}" for each, s, names in zip(shared, several, arms, strict=True)]
    return DetectionSection(
        rows=rows,
        heads=heads,
        breakpoints=breakpoints,
        notes=[
            f"{label}: the log of alarms was full in {card.full_logs} runs, and later alarms are not counted."
            for label, card in cards.items()
            if card.full_logs
        ],
        timeline="" if timeline is None else embedded(timeline),
    )


def embedded(path: Path) -> str:
    """A file in base 64, to become part of the page."""
    return base64.b64encode(path.read_bytes()).decode()
