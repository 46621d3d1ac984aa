"""The kinds of claims about regrets: each function returns the test that decides such a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...runs import Runs
from .evidence import Evidence
from .rules import Finding, Floats, Pair, Test, equal, less, verdict_all

__all__ = [
    "Decide",
    "against",
    "best_from",
    "clearly_above",
    "collapse",
    "conjunction",
    "final",
    "least",
    "mean_regret",
    "mean_se",
    "ordered",
    "pair_of",
    "podium",
    "ranking",
    "regret_at",
    "regret_between",
    "suboptimal_pulls",
]

Decide = Callable[[Evidence], Finding]
Quantity = Callable[[Runs, Evidence], Floats]


def final(curves: Runs, evidence: Evidence) -> Floats:
    """Cumulative regret in round T."""
    return curves.final


def mean_regret(curves: Runs, evidence: Evidence) -> Floats:
    """The cumulative regret, averaged over the whole horizon: the mean height of the curve."""
    heights = [curves.at(evidence.horizon * k / 50) for k in range(1, 51)]
    return np.asarray(np.mean(heights, axis=0))


def suboptimal_pulls(curves: Runs, evidence: Evidence) -> Floats:
    """The number of pulls of arms that were not the best."""
    return np.asarray(curves.suboptimal_pulls.sum(axis=1), np.float64)


def regret_at(round_: float) -> Quantity:
    """Cumulative regret after one of the paper's rounds."""
    return lambda curves, evidence: curves.at(evidence.round(round_))


def regret_between(first: float, last: float) -> Quantity:
    """Regret gathered between two of the paper's rounds."""
    return lambda curves, evidence: curves.between(evidence.round(first), evidence.round(last))


def ranking(evidence: Evidence, labels: Iterable[str], quantity: Quantity = final) -> str:
    """A text with the mean ± standard error of every label, the least first."""
    values = {label: quantity(evidence.curves[label], evidence) for label in labels}
    ascending = sorted(values, key=lambda label: float(values[label].mean()))
    return ", ".join(f"{evidence.name(label)} {mean_se(values[label])}" for label in ascending)


def mean_se(values: Floats) -> str:
    """A text with the mean and its standard error."""
    se = float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    if abs(values.mean()) < 10:
        return f"{values.mean():.3g} ± {se if se > 1e-9 else 0:.1g}"
    return f"{values.mean():,.0f} ± {se:,.{0 if se >= 9.95 else 1}f}"


def pair_of(evidence: Evidence, left: str, right: str, quantity: Quantity, where: str = "") -> Pair:
    """The sentence that the left label has less of a quantity than the right one."""
    left_values, right_values = (quantity(evidence.curves[label], evidence) for label in (left, right))
    return Pair(evidence.name(left), evidence.name(right), left_values, right_values, where)


def _at(evidence: Evidence, round_: float) -> str:
    return f"at round {evidence.round(round_):,.0f}"


def against(tests: Iterable[Test]) -> tuple[Test, ...]:
    """The tests that contradict a claim: the false ones, or the open ones if none is false."""
    tests = list(tests)
    return tuple(t for t in tests if t.answer is False) or tuple(t for t in tests if t.answer is None)


def conjunction(figures: str, tests: list[Test], instead: str = "") -> Finding:
    """The finding of a claim all of whose sentences must be true."""
    return Finding(verdict_all([test.answer for test in tests]), figures, tuple(tests), against(tests), instead)


def podium(evidence: Evidence, labels: Sequence[str], round_: float) -> str:
    """A text that names the three labels with the least regret at a round."""
    values = {label: float(regret_at(round_)(evidence.curves[label], evidence).mean()) for label in labels}
    first = sorted(values, key=values.__getitem__)[:3]
    order = ", ".join(f"{evidence.name(label)} {values[label]:,.0f}" for label in first)
    return f"{_at(evidence, round_)} {order}"


def ordered(pairs: Sequence[tuple[str, str]], quantity: Quantity = final) -> Decide:
    """Decides whether in every pair the left label has less than the right one."""

    def decide(evidence: Evidence) -> Finding:
        tests = less([pair_of(evidence, left, right, quantity) for left, right in pairs])
        figures = ranking(evidence, dict.fromkeys(label for pair in pairs for label in pair), quantity)
        false = (f"{test.right} has less than {test.left}" for test in tests if test.answer is False)
        return conjunction(figures, tests, "; ".join(false))

    return decide


def clearly_above(who: str, others: Sequence[str], margin: float, axis: Sequence[str] = ()) -> Decide:
    """Decides whether one label has more final regret than each of several others, by more than a margin.

    Args:
        who: the label.
        others: the labels that it is compared with.
        margin: a share of the other's regret, or of the largest regret of an axis.
        axis: the labels whose largest regret is the height of a figure; none if the margin is a share of each curve.
    """

    def decide(evidence: Evidence) -> Finding:
        pairs = [pair_of(evidence, other, who, final) for other in others]
        tests = less(pairs, margin, scale=_height(evidence, axis))
        near = (f"{test.right} is not clearly above {test.left}" for test in tests if test.answer is False)
        return conjunction(ranking(evidence, [who, *others]), tests, "; ".join(near))

    return decide


def _height(evidence: Evidence, axis: Sequence[str]) -> float | None:
    """The largest final regret of the labels of an axis; None if there is none."""
    return max((float(evidence.curves[label].final.mean()) for label in axis), default=None)


def least(who: str, among: Iterable[str], quantity: Quantity = final) -> Decide:
    """Decides whether one label has less than every other."""
    return ordered([(who, other) for other in among if other != who], quantity)


def best_from(who: str, among: Sequence[str], rounds: Sequence[float]) -> Decide:
    """Decides whether one label has the least cumulative regret at each of several rounds."""

    def decide(evidence: Evidence) -> Finding:
        others = [label for label in among if label != who]
        tests = less([pair_of(evidence, who, o, regret_at(r), _at(evidence, r)) for r in rounds for o in others])
        last = ranking(evidence, among, regret_at(rounds[-1]))
        leads = f"{leads_from(evidence, who, others)}. " if evidence.round(rounds[-1]) == evidence.horizon else ""
        figures = f"{leads}{_at(evidence, rounds[-1]).capitalize()}: {last}"
        shown = [rounds[place] for place in sorted({0, len(rounds) // 2, len(rounds) - 1})]
        instead = "the least regret have " + "; ".join(podium(evidence, among, r) for r in shown)
        return conjunction(figures, tests, instead)

    return decide


def leads_from(evidence: Evidence, who: str, others: Sequence[str]) -> str:
    """A text that says in which rounds one label has the least mean regret, and who has it else."""
    rounds = evidence.curves[who].rounds
    mine = evidence.curves[who].regret.mean(axis=0)
    rivals = np.stack([evidence.curves[other].regret.mean(axis=0) for other in others])
    leads = np.concatenate(([False], mine < rivals.min(axis=0), [False]))
    starts, stops = np.flatnonzero(leads[1:] & ~leads[:-1]), np.flatnonzero(leads[:-1] & ~leads[1:])
    spans = [f"{rounds[first]:,} to {rounds[after - 1]:,}" for first, after in zip(starts, stops, strict=True)]
    if not spans:
        return f"{evidence.name(who)} never has the least mean regret"
    behind = np.flatnonzero(~leads[1:-1])
    rest = [evidence.name(others[int(place)]) for place in rivals[:, behind].argmin(axis=0)]
    others_ = f"; else {', '.join(dict.fromkeys(rest))}" if rest else ""
    shown = spans if len(spans) <= 4 else [*spans[:2], "…", spans[-1]]
    return f"{evidence.name(who)} has the least mean regret in rounds {', '.join(shown)}{others_}"


def collapse(
    groups: Sequence[Sequence[str]], rounds: Sequence[float], margin: float, axis: Sequence[str] = ()
) -> Decide:
    """Decides whether within each group the curves lie within a margin of each other at each of several rounds.

    Args:
        groups: the labels of each group.
        rounds: the rounds.
        margin: a share of the curve, or of the largest regret of an axis.
        axis: the labels whose largest final regret is the height of a figure; none if the margin is one of the curve.
    """

    def decide(evidence: Evidence) -> Finding:
        pairs = [
            pair_of(evidence, left, right, regret_at(r), _at(evidence, r))
            for group in groups
            for i, left in enumerate(group)
            for right in group[i + 1 :]
            for r in rounds
        ]
        ends = [[float(evidence.curves[label].final.mean()) for label in group] for group in groups]
        spreads = " and ".join(f"{max(end) / min(end) - 1:.0%}" for end in ends)
        figures = ranking(evidence, [label for group in groups for label in group])
        tests = equal(pairs, margin, scale=_height(evidence, axis))
        return conjunction(figures, tests, f"at the end the largest exceeds the least by {spreads}")

    return decide
