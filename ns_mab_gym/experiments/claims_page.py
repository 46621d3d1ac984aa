"""The claims as Markdown: verdict, quote, test and figures of each, on what it depends, and what was not tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .claims import RULE, Judged, Judgement, Untested, Verdict
from .readings import Choice

__all__ = ["claims_markdown"]


def claims_markdown(
    judged: Sequence[Judged], untested: Sequence[Untested], not_taken: Sequence[str], notes: Sequence[str]
) -> bytes:
    """All claims, then the readings, those that were not taken, the sentences that were not tested, and notes."""
    lines = ["# The paper's claims and what the runs show", "", RULE, ""]
    for each in judged:
        lines += [*_claim(each), ""]
    lines += [
        "## Readings",
        "",
        "What the paper leaves open, and the fair ways to read it; the first is the headline's.",
        "",
    ]
    for choice in dict.fromkeys(choice for each in judged for choice in each.claim.choices):
        lines += [f"- **{choice.key}**: {choice.question}"]
        lines += [f"  - *{reading.name}*: {reading.why}." for reading in choice.readings]
    lines += ["", "Readings that were not taken:", "", *(f"- {each}" for each in not_taken), ""]
    lines += [
        "## Sentences that runs cannot decide",
        "",
        *(f"- “{each.quote}”: {each.reason}." for each in untested),
        "",
    ]
    lines += ["## Notes", "", *(f"- {note}" for note in notes), ""]
    return "\n".join(lines).encode()


def _claim(judged: Judged) -> Iterator[str]:
    now, finding = judged.now, judged.now.finding
    said = f" (said of {judged.claim.said_of}; the test on this world is ours)" if judged.claim.said_of else ""
    yield f"## {judged.world}: {judged.claim.key}: **{judged.now.words}**"
    yield from ("", f"> {judged.claim.quote}{said}", "", f"Test: {now.test}.", "", f"Measured: {finding.figures}.")
    if finding.verdict is Verdict.FAILS and finding.instead:
        yield from ("", f"Instead: {finding.instead}.")
    if finding.exceptions:
        title = "Against it:" if any(test.answer is False for test in finding.exceptions) else "Open:"
        yield from ("", title, "", *(f"- {test}" for test in finding.exceptions))
    if now.verdict is Verdict.DEPENDS:
        yield from ("", *_depends(now))
    if judged.later is not None:
        yield from ("", *_later(judged.later))


def _depends(judgement: Judgement) -> Iterator[str]:
    """On which choices a verdict depends, and for each of them readings of it alone that give different verdicts."""
    first = next(iter(judgement.findings))
    headline = ", ".join(f"*{reading.name}*" for reading in first)
    yield f"It depends on: {' '.join(choice.question for choice in judgement.deciding)}"
    yield ""
    yield f"- headline ({headline}): **{judgement.finding.verdict.value}**"
    for choice in judgement.deciding:
        yield from _example(judgement, choice)


def _example(judgement: Judgement, choice: Choice) -> Iterator[str]:
    for readings, finding in judgement.example(choice).items():
        words = judgement.in_words(readings, choice)
        yield f"- {choice.key}: *{words}*: **{finding.verdict.value}**. {finding.figures}."


def _later(later: Judgement) -> Iterator[str]:
    yield f"With {later.runs} runs: **{later.words}**. {later.finding.figures}."
    if later.verdict is Verdict.DEPENDS:
        yield ""
        yield from _depends(later)
