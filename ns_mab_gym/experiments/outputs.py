"""What is written beside the report: rows of final regrets and detections, claims as JSON, verdicts in a few lines."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..detections import Scorecard
from ..means import Floats
from ..run_intervals import Interval
from .claims import Judged, Judgement, Verdict
from .results import Results, summaries
from .scorecards import cards_on
from .study import Experiment, WorldEntry
from .valid_json import json_text

__all__ = ["DETECTIONS", "SUMMARY", "claims_json", "detection_rows", "summary_rows", "verdict_lines"]

SUMMARY = (
    "world", "agent", "words", "stands_for", "runs", "final_regret", "sd", "se", "low", "high",
    "difference", "difference_low", "difference_high", "reference", "p_improvement", "mean_rank", "engine_seconds",
)  # fmt: skip

DETECTIONS = (
    "world", "agent", "words", "runs", "breakpoint", "arms", "detected", "of", "delay", "delay_low", "delay_high",
    "missed", "missed_low", "missed_high", "false_alarms", "false_alarms_low", "false_alarms_high",
    "false_alarms_per_10000_rounds", "false_alarms_per_10000_rounds_low", "false_alarms_per_10000_rounds_high",
    "runs_with_false_alarm", "runs_with_false_alarm_low", "runs_with_false_alarm_high", "true_alarms",
)  # fmt: skip
OF_ALARMS = 10  # columns of DETECTIONS that are about all breakpoints together

WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "do not",
    Verdict.UNDECIDED: "undecided",
    Verdict.DEPENDS: "depend on the reading",
}


def summary_rows(results: Results, experiment: Experiment, world: WorldEntry) -> Iterator[list[Any]]:
    """A row for each agent of an experiment on a world: final regret and the comparison with the reference."""
    for row in summaries(results, experiment, world):
        f, d = row.final, row.difference
        difference = ("", "", "") if d is None else (d.mean, d.low, d.high)
        improvement = "" if row.improvement is None else row.improvement.mean
        curve, agent = results.curves[world.label][row.label], results.agents[world.label][row.label]
        asked = (world.label, row.label, agent.words, agent.stands_for, len(curve))
        compared = (*difference, experiment.reference, improvement, row.rank, curve.seconds)
        yield [*asked, f.mean, f.sd, f.se, f.low, f.high, *compared]


def detection_rows(
    results: Results, experiment: Experiment, world: WorldEntry, means: Floats | None, drawn_anew: bool
) -> Iterator[list[Any]]:
    """The scorecards of an experiment's agents with a detector on a world, a row for each breakpoint and one for all.

    Arms are counted from 1, as in the report. What there is nothing to estimate from is left empty.
    """
    for label, card in cards_on(results, experiment, world, means, drawn_anew).items():
        about = [world.label, label, results.agents[world.label][label].words, len(card.runs)]
        yield from ([*about, *cells] for cells in _detections(card))


def _detections(card: Scorecard) -> Iterator[list[Any]]:
    for each in card.breakpoints:
        arms = " ".join(str(arm + 1) for arm in each.arms)
        found = (each.detected, len(card.runs), *_cells(each.delay), *_cells(each.missed))
        yield [each.round, arms, *found, *[""] * OF_ALARMS]
    detected = sum(int(np.isfinite(run.delays).sum()) for run in card.runs)
    total = (detected, sum(len(run.rounds) for run in card.runs), *_cells(card.delay), *_cells(card.missed))
    false = (card.false_alarms, card.false_alarm_rate, card.runs_with_false_alarm)
    yield ["all", "", *total, *(cell for each in false for cell in _cells(each)), card.true_alarms.value]


def _cells(interval: Interval) -> list[float | str]:
    return ["" if np.isnan(part) else part for part in interval]


def claims_json(judged: Sequence[Judged]) -> bytes:
    """Every claim with its verdict under every reading, and every paired test behind the first one."""
    rows = [
        {
            "world": each.world,
            "claim": each.claim.key,
            "quote": each.claim.quote,
            "said_of": each.claim.said_of,
            **_judgement(each.now),
            "instead": each.now.finding.instead if each.verdict is Verdict.FAILS else "",
            "comparisons": [dataclasses.asdict(test) for test in each.now.finding.tests],
            "more_runs": None if each.later is None else _judgement(each.later),
        }
        for each in judged
    ]
    return f"{json_text(rows, indent=1)}\n".encode()


def _judgement(judgement: Judgement) -> dict[str, Any]:
    """A judgement as plain values: the first reading's test and figures, and the verdict of every combination."""
    return {
        "runs": judgement.runs,
        "verdict": judgement.verdict.value,
        "depends_on": [choice.key for choice in judgement.deciding],
        "test": judgement.test,
        "figures": judgement.finding.figures,
        "readings": [
            {
                **{choice.key: reading.name for choice, reading in zip(judgement.choices, readings, strict=True)},
                "verdict": finding.verdict.value,
                "figures": finding.figures,
            }
            for readings, finding in judgement.findings.items()
        ],
    }


def verdict_lines(judged: Sequence[Judged]) -> list[str]:
    """The verdicts in a few lines: for each world the counts, and the claims that do not hold."""
    lines = []
    for world in dict.fromkeys(each.world for each in judged):
        here = [each for each in judged if each.world == world]
        counts = Counter(each.verdict for each in here)
        numbers = ", ".join(f"{counts[verdict]} {WORDS[verdict]}" for verdict in Verdict)
        fails = [each.claim.key for each in here if each.verdict is Verdict.FAILS]
        lines.append(f"{world}: {numbers}")
        if fails:
            lines.append(f"    does not hold: {'; '.join(fails)}")
    return lines
