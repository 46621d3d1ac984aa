"""The claims as Markdown: verdict, quote, test and figures of each, on what it depends, and what was not tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .claims import Judged, Judgement, Untested, Verdict

__all__ = ["claims_markdown"]

RULE = (
    "A comparison “A against B” is about the difference B − A of runs that share their luck, with its 95 % bootstrap-t "
    "interval, and the interval that holds for all comparisons of the sentence together. Where all comparisons must be "
    "true, one is true if its own interval lies above 0 or the margin that the test names, and false if the shared one "
    "lies below; “some” is judged the other way round, and numbers by the shared interval alone. With more runs a "
    "sentence is judged again by all runs, the first ones included, because it was undecided under some reading: a "
    "second look, at the same level."
)


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
    said = f" (said of {judged.claim.said_of}; the test on this world is ours)" if judged.claim.ours else ""
    yield f"## {judged.world}: {judged.claim.key}: **{judged.verdict.value}**"
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
    """On which choices a verdict depends, what each reading gives alone, and which readings give other verdicts."""
    yield f"It depends on: {' '.join(choice.question for choice in judgement.deciding)}"
    yield ""
    first = next(iter(judgement.findings))
    headline = ", ".join(f"*{reading.name}*" for reading in first)
    yield f"- headline ({headline}): **{judgement.finding.verdict.value}**"
    for readings, finding in judgement.nearest().items():
        changed = [f"*{a.name}*" for a, b in zip(readings, first, strict=True) if a != b]
        yield f"- with {' and '.join(changed)}: **{finding.verdict.value}**. {finding.figures}."
    for choice in judgement.deciding:
        alone = judgement.alone(choice)
        if len({finding.verdict for finding in alone.values()}) > 1:
            each = ", ".join(f"*{reading.name}* {finding.verdict.value}" for reading, finding in alone.items())
            yield f"- {choice.key}, all else as in the headline: {each}"


def _later(later: Judgement) -> Iterator[str]:
    on = f" ({', '.join(choice.key for choice in later.deciding)})" if later.deciding else ""
    yield f"With {later.runs} runs: **{later.verdict.value}**{on}. {later.finding.figures}."
