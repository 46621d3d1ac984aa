"""Claims about what happens from phase to phase."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...runs import Runs
from .decisions import Decide, conjunction, mean_se, pair_of, ranking, regret_between
from .evidence import Evidence
from .rules import Finding, Floats, Pair, Verdict, less

__all__ = ["degrades", "faster_after", "in_words", "least_in", "more_after", "never_settles"]

Span = tuple[int, int]  # the first and the last of several phases, counted from 1


def degrades(who: str, phases: Sequence[tuple[float, float]], steps: Sequence[tuple[Span, Span]]) -> Decide:
    """Decides whether a label gathers regret at a higher rate in some phases than in earlier ones.

    Args:
        who: the label.
        phases: the last round before each phase, and its last round.
        steps: pairs of earlier and of later phases, each given by its first and its last phase, counted from 1.
    """

    def decide(evidence: Evidence) -> Finding:
        def rate(span: Span) -> Floats:
            first, last = phases[span[0] - 1][0], phases[span[1] - 1][1]
            return regret_between(first, last)(evidence.curves[who], evidence) / evidence.round(last - first)

        tests = less([Pair(_phases(a), _phases(b), rate(a), rate(b)) for a, b in steps])
        each = ", ".join(f"{mean_se(rate((n, n)))} in phase {n}" for n in range(1, len(phases) + 1))
        lower = (f"the rate in {test.right} is below that in {test.left}" for test in tests if test.answer is False)
        return conjunction(f"regret per round of {evidence.name(who)}: {each}", tests, "; ".join(lower))

    return decide


def in_words(steps: Sequence[tuple[Span, Span]]) -> str:
    """Pairs of earlier and later phases, as text."""
    return "; ".join(f"{_phases(earlier)}, {_phases(later)}" for earlier, later in steps)


def _phases(span: Span) -> str:
    first, last = span
    return f"phase {first}" if first == last else f"phases {first} to {last}"


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
        open_ = [f"{test.left.removesuffix(' before')} at {test.where}" for test in tests if test.answer is None]
        slower = [f"{test.left.removesuffix(' before')} at {test.where}" for test in tests if test.answer is False]
        figures = (
            f"{true} of {len(tests)} (algorithm, change) pairs"
            + "".join(f"; slower: {each}" for each in slower)
            + "".join(f"; open: {each}" for each in open_)
        )
        return conjunction(figures, tests, f"less regret after the change than before: {'; '.join(slower)}")

    return decide


def least_in(who: str, among: Sequence[str], stretches: Callable[[Evidence], Sequence[range]]) -> Decide:
    """Decides whether one label gathers the least regret in some stretches of rounds, taken together.

    Args:
        who: the label.
        among: the labels with which it is compared.
        stretches: a function from the evidence to ranges of rounds, counted from 1.
    """

    def decide(evidence: Evidence) -> Finding:
        where = stretches(evidence)
        if not where:
            return Finding(Verdict.UNDECIDED, "there are no such rounds")

        def gathered(curves: Runs, evidence: Evidence) -> Floats:
            return np.asarray(np.sum([curves.between(each.start - 1, each.stop - 1) for each in where], axis=0))

        tests = less([pair_of(evidence, who, other, gathered) for other in among if other != who])
        rounds = f"{len(where)} stretches of {sum(map(len, where)):,} rounds in all"
        less_than = "; ".join(f"{test.right} gathers less" for test in tests if test.answer is False)
        return conjunction(f"{rounds}: {ranking(evidence, among, gathered)}", tests, less_than)

    return decide


def never_settles(
    small: Sequence[str], suggested: Sequence[str], phases: Sequence[tuple[float, float]], share: float
) -> Decide:
    """Decides whether some labels still play at random late in every phase, while others have settled by then.

    Late is the last third of a phase. A label still plays at random if it gathers more than a share of the regret of
    uniformly random play there, which the means give; it has settled if it gathers less. Either group may be empty.
    Where random play costs nothing, as in a phase too short for thirds, that is undecided.
    """

    def decide(evidence: Evidence) -> Finding:
        late = [(last - (last - first) / 3, last) for first, last in phases]
        bounds = [(round(evidence.round(first)), round(evidence.round(last))) for first, last in late]
        cost = np.concatenate(([0.0], np.cumsum(evidence.means.max(axis=1) - evidence.means.mean(axis=1))))
        randoms = [cost[last] - cost[first] for first, last in bounds]
        if not all(randoms):
            return Finding(Verdict.UNDECIDED, "in the last third of some phase, random play costs nothing")

        pairs: list[Pair] = []
        shares: dict[str, list[float]] = {label: [] for label in (*small, *suggested)}
        for (first, last), random in zip(bounds, randoms, strict=True):
            for label, values in shares.items():
                mine = evidence.curves[label].between(first, last)
                values.append(mine.mean() / random)
                limit = np.full(len(mine), share * random)
                where = f"in rounds {first + 1:,} to {last:,}"
                few, much = (f"{share:.0%} of random play", evidence.name(label))
                pairs.append(
                    Pair(few, much, limit, mine, where) if label in small else Pair(much, few, mine, limit, where)
                )
        words = "; ".join(f"{label} {', '.join(f'{each:.0%}' for each in each_)}" for label, each_ in shares.items())
        rounds = ", ".join(f"{evidence.round(first) + 1:,.0f} to {evidence.round(last):,.0f}" for first, last in late)
        return conjunction(f"regret in rounds {rounds}, as a share of random play's: {words}", less(pairs))

    return decide
