"""Claims about what happens from phase to phase."""

from __future__ import annotations

from collections.abc import Sequence

from .decisions import Decide, conjunction, mean_se, pair_of, regret_between
from .rules import Evidence, Finding, Pair, less

__all__ = ["degrades", "faster_after", "more_after"]


def degrades(who: str, reference: str, phases: Sequence[tuple[float, float]]) -> Decide:
    """Decides whether one label gathers more regret than the reference in every phase after the first."""

    def decide(evidence: Evidence) -> Finding:
        pairs = [
            pair_of(evidence, reference, who, regret_between(*phase), f"in phase {number}")
            for number, phase in enumerate(phases, start=1)
        ]
        rates = [
            f"phase {number}: {who} {mean_se(pair.right_values)}, {reference} {mean_se(pair.left_values)}"
            for number, pair in enumerate(pairs, start=1)
        ]
        tests = less(pairs[1:])
        better = ", ".join(test.where for test in tests if test.answer is False)
        return conjunction("regret in " + "; ".join(rates), tests, f"{who} gathers less {better}")

    return decide


def more_after(who: str, reference: str, change: float, end: float) -> Decide:
    """Decides whether one label gathers more regret than the reference from a change to the end."""

    def decide(evidence: Evidence) -> Finding:
        pair = pair_of(evidence, reference, who, regret_between(change, end))
        figures = f"{who} {mean_se(pair.right_values)}, {reference} {mean_se(pair.left_values)}"
        return conjunction(figures, less([pair]))

    return decide


def faster_after(labels: Sequence[str], changes: Sequence[float], span: float) -> Decide:
    """Decides whether each label gathers more regret just after every change than just before it."""

    def decide(evidence: Evidence) -> Finding:
        pairs = []
        for label in labels:
            for change in changes:
                before = regret_between(change - span, change)(evidence.curves[label], evidence)
                after = regret_between(change, change + span)(evidence.curves[label], evidence)
                pairs.append(
                    Pair(
                        f"{evidence.name(label)} before", "after", before, after, f"round {evidence.round(change):,.0f}"
                    )
                )
        tests = less(pairs)
        true = sum(test.answer is True for test in tests)
        figures = f"{true} of {len(tests)} (algorithm, change) pairs"
        slower = [f"{test.left.removesuffix(' before')} at {test.where}" for test in tests if test.answer is False]
        return conjunction(figures, tests, f"less regret after the change than before: {'; '.join(slower)}")

    return decide
