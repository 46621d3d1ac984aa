"""Files written with the report: the summary as CSV, the claims as JSON and Markdown, the verdicts in a few lines."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections import Counter
from collections.abc import Sequence

from .claims import Judged, Verdict
from .results import Results
from .statistics import summarise

__all__ = ["claims_json", "claims_markdown", "summary_csv", "verdict_lines"]

SUMMARY = (
    "world", "agent", "words", "runs", "final_regret", "sd", "se", "low", "high",
    "difference", "difference_low", "difference_high", "reference", "p_improvement", "mean_rank", "engine_seconds",
)  # fmt: skip


def summary_csv(results: Results) -> bytes:
    """One row for each experiment's world and agent: final regret and the comparison with the reference."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(SUMMARY)
    for experiment in results.study.experiments:
        for world in experiment.worlds:
            curves = results.of(experiment, world)
            finals = {label: curve.final for label, curve in curves.items()}
            for row in summarise(finals, experiment.reference):
                f, d = row.final, row.difference
                difference = ("", "", "") if d is None else (d.mean, d.low, d.high)
                improvement = "" if row.improvement is None else row.improvement.mean
                curve, words = curves[row.label], results.agents[world.label][row.label].words
                asked = (world.label, row.label, words, len(curve))
                compared = (*difference, experiment.reference, improvement, row.rank, curve.seconds)
                writer.writerow([*asked, f.mean, f.sd, f.se, f.low, f.high, *compared])
    return text.getvalue().encode()


def claims_json(judged: Sequence[Judged]) -> bytes:
    """Every claim with its verdict and every paired test behind it."""
    rows = [
        {
            "world": each.world,
            "claim": each.claim.key,
            "quote": each.claim.quote,
            "ours": each.claim.ours,
            "test": each.claim.test,
            "verdict": each.finding.verdict.value,
            "figures": each.finding.figures,
            "instead": each.finding.instead if each.finding.verdict is Verdict.FAILS else "",
            "comparisons": [dataclasses.asdict(test) for test in each.finding.tests],
        }
        for each in judged
    ]
    return (json.dumps(rows, indent=1, ensure_ascii=False) + "\n").encode()


def claims_markdown(judged: Sequence[Judged], notes: Sequence[str]) -> bytes:
    """The claims as Markdown: verdict, quote, test, figures, and the tests that contradict a claim."""
    lines = ["# The paper's claims and what the runs show", ""]
    for each in judged:
        said = " (said of σ = 0.0001; the test on this world is ours)" if each.claim.ours else ""
        lines += [f"## {each.world}: {each.claim.key}: **{each.finding.verdict.value}**", ""]
        lines += [
            f"> {each.claim.quote}{said}",
            "",
            f"Test: {each.claim.test}.",
            "",
            f"Measured: {each.finding.figures}.",
        ]
        if each.finding.verdict is Verdict.FAILS and each.finding.instead:
            lines += ["", f"Instead: {each.finding.instead}."]
        if each.finding.exceptions:
            lines += ["", "Against it:", "", *(f"- {test}" for test in each.finding.exceptions)]
        lines.append("")
    lines += ["## Notes", "", *(f"- {note}" for note in notes), ""]
    return "\n".join(lines).encode()


def verdict_lines(judged: Sequence[Judged]) -> list[str]:
    """The verdicts in a few lines: for each world the counts, and the claims that do not hold."""
    lines = []
    for world in dict.fromkeys(each.world for each in judged):
        here = [each for each in judged if each.world == world]
        counts = Counter(each.finding.verdict for each in here)
        numbers = ", ".join(f"{counts[verdict]} {_word(verdict)}" for verdict in Verdict)
        fails = [each.claim.key for each in here if each.finding.verdict is Verdict.FAILS]
        lines.append(f"{world}: {numbers}")
        if fails:
            lines.append(f"    does not hold: {'; '.join(fails)}")
    return lines


def _word(verdict: Verdict) -> str:
    return {Verdict.HOLDS: "hold", Verdict.FAILS: "do not", Verdict.UNDECIDED: "undecided"}[verdict]
