"""The report's tables: verdicts, final regrets with their intervals, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..claims import Judged, Verdict
from ..results import Curves
from ..statistics import Estimate, summarise
from .markup import paragraph, table, text

__all__ = ["final_table", "settings_table", "verdict_details", "verdict_table"]

CSS = {Verdict.HOLDS: "holds", Verdict.FAILS: "fails", Verdict.UNDECIDED: "undecided"}
SIGNS = {Verdict.HOLDS: "holds", Verdict.FAILS: "no", Verdict.UNDECIDED: "open"}
SHORT = {Verdict.HOLDS: "holds", Verdict.FAILS: "does not hold", Verdict.UNDECIDED: "undecided"}
MOST_EXCEPTIONS = 12


def verdict_table(judged: Sequence[Judged]) -> str:
    """Every claim at a glance: a row for each, a column for each world, linked to the figures below."""
    worlds = list(dict.fromkeys(each.world for each in judged))
    rows = []
    for number, (key, by_world) in enumerate(_by_claim(judged).items()):
        cells = [_mark(by_world[world]) if world in by_world else "" for world in worlds]
        rows.append((f'<a href="#claim-{number}">{text(key)}</a>', *cells))
    return table(("Claim", *worlds), rows, css="glance")


def verdict_details(judged: Sequence[Judged]) -> str:
    """Every claim with the paper's words, the deciding test, and the figures on each world."""
    rows = []
    for number, by_world in enumerate(_by_claim(judged).values()):
        claim = next(iter(by_world.values())).claim
        said = f'<q id="claim-{number}">{text(claim.quote)}</q><br><small>Test: {text(claim.test)}.</small>'
        rows.append((said, "".join(_found(each) for each in by_world.values())))
    return table(("The paper says", "Measured (mean ± standard error)"), rows, css="cards halves")


def _by_claim(judged: Sequence[Judged]) -> dict[str, dict[str, Judged]]:
    """The judged claims by their key, then by world."""
    grouped: dict[str, dict[str, Judged]] = {}
    for each in judged:
        grouped.setdefault(each.claim.key, {})[each.world] = each
    return grouped


def _mark(judged: Judged) -> str:
    verdict = judged.finding.verdict
    ours = "<sup>†</sup>" if judged.claim.ours else ""
    return f'<span class="badge {CSS[verdict]}" title="{text(verdict.value)}">{SIGNS[verdict]}</span>{ours}'


def _found(judged: Judged) -> str:
    """What one world shows about a claim."""
    verdict = judged.finding.verdict
    badge = f'<span class="badge {CSS[verdict]}">{text(SHORT[verdict])}</span>'
    ours = "<sup>†</sup>" if judged.claim.ours else ""
    figures = " ".join(_unbroken(piece) for piece in f"{judged.finding.figures}.".split(", "))
    found = f"{figures}{_instead(judged)}{_comparisons(judged)}"
    return f"<div class=found>{badge} <b>{text(judged.world)}</b>{ours}<br>{found}</div>"


def _instead(judged: Judged) -> str:
    finding = judged.finding
    show = finding.verdict is Verdict.FAILS and finding.instead
    return f"<br><i>Instead:</i> {text(finding.instead)}." if show else ""


def _unbroken(piece: str) -> str:
    """A short piece of a list, with its comma, that stays on one line."""
    comma = "" if piece.endswith(".") else ","
    return f"<span class=piece>{text(piece)}{comma}</span>" if len(piece) < 40 else f"{text(piece)}{comma}"


def _comparisons(judged: Judged) -> str:
    """The paired tests behind the verdict: those against it in full, the rest as a number."""
    tests, against = judged.finding.tests, judged.finding.exceptions
    if not tests:
        return ""
    true = sum(test.answer is True for test in tests)
    summary = f"{true} of {len(tests)} paired comparisons are true"
    if not against:
        return f"<br><small>{summary}</small>"
    shown = "".join(f"<li>{text(test)}</li>" for test in against[:MOST_EXCEPTIONS])
    more = f"<li>and {len(against) - MOST_EXCEPTIONS} more</li>" if len(against) > MOST_EXCEPTIONS else ""
    return f"<details><summary>{summary}; those against the claim</summary><ul>{shown}{more}</ul></details>"


def final_table(curves: Mapping[str, Curves], reference: str) -> str:
    """Final regret of every agent, and how it compares with the reference on the same luck."""
    head = (
        "Agent",
        "Final regret",
        "95 % interval",
        "sd",
        f"minus {reference}",
        "95 % interval",
        "P(less)",
        "mean rank",
    )
    rows = []
    for row in summarise({label: curve.final for label, curve in curves.items()}, reference):
        star = "*" if curves[row.label].agent.note else ""
        improvement = "–" if row.improvement is None else f"{row.improvement.mean:.0%}"
        rows.append(
            (
                f"{text(row.label)}{star}",
                f"{row.final.mean:,.0f} ± {row.final.se:,.1f}",
                _interval(row.final),
                f"{row.final.sd:,.0f}",
                "–" if row.difference is None else f"{row.difference.mean:+,.0f}",
                "–" if row.difference is None else _interval(row.difference, sign="+"),
                improvement,
                f"{row.rank:.2f}",
            )
        )
    notes = [f"* {curve.agent.label}: {curve.agent.note}" for curve in curves.values() if curve.agent.note]
    return table(head, rows, numbers=1) + "".join(paragraph(note, "muted") for note in notes)


def _interval(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.low:{sign},.0f} to {estimate.high:{sign},.0f}"


def settings_table(settings: Sequence[tuple[str, Any]]) -> str:
    """Settings and provenance, as exact text."""
    return table(("Setting", "Value"), [(text(key), f"<code>{text(value)}</code>") for key, value in settings])
