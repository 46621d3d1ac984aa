"""The kinds of claims about regrets: each function decides such a claim by the evidence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import numpy as np

from ..claims.judging import Claim, Evidence, Finding, Pair, Test, Verdict, equal, less, verdict_all
from ..means import Floats, best_arms
from ..runs import Runs
from ..statistics import mean_se
from ..studies.results import MissingRunsError, Results
from . import readings as paper

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


def pair_of(evidence: Evidence, left: str, right: str, quantity: Quantity, where: str = "") -> Pair:
    """The sentence that the left label has less of a quantity than the right one."""
    left_values, right_values = (quantity(evidence.curves[label], evidence) for label in (left, right))
    return Pair(evidence.name(left), evidence.name(right), left_values, right_values, where)


def _at(evidence: Evidence, round_: float) -> str:
    return f"at round {evidence.round(round_):,.0f}"


def against(tests: Iterable[Test]) -> tuple[Test, ...]:
    """The tests that contradict a claim: the false ones, or the undecided ones if none is false."""
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


def ordered(evidence: Evidence, pairs: Sequence[tuple[str, str]], quantity: Quantity = final) -> Finding:
    """Decide whether in every pair the left label has less than the right one."""
    tests = less([pair_of(evidence, left, right, quantity) for left, right in pairs])
    figures = ranking(evidence, dict.fromkeys(label for pair in pairs for label in pair), quantity)
    false = (f"{test.right} has less than {test.left}" for test in tests if test.answer is False)
    return conjunction(figures, tests, "; ".join(false))


def clearly_above(
    evidence: Evidence, who: str, others: Sequence[str], margin: float, axis: Sequence[str] = ()
) -> Finding:
    """Decide whether one label has more final regret than each of several others, by more than a margin.

    Args:
        evidence: the runs and the means of a world.
        who: the label.
        others: the labels that it is compared with.
        margin: a share of the mean of the two regrets, or of the largest regret of an axis.
        axis: the labels whose largest regret is the height of a figure; none if the margin is one of the two curves.
    """
    pairs = [pair_of(evidence, other, who, final) for other in others]
    tests = less(pairs, margin, scale=_height(evidence, axis))
    near = (f"{test.right} is not clearly above {test.left}" for test in tests if test.answer is False)
    return conjunction(ranking(evidence, [who, *others]), tests, "; ".join(near))


def _height(evidence: Evidence, axis: Sequence[str]) -> float | None:
    """The largest final regret of the labels of an axis; None if there is none."""
    return max((float(evidence.curves[label].final.mean()) for label in axis), default=None)


def least(evidence: Evidence, who: str, among: Iterable[str], quantity: Quantity = final) -> Finding:
    """Decide whether one label has less than every other."""
    return ordered(evidence, [(who, other) for other in among if other != who], quantity)


def best_from(evidence: Evidence, who: str, among: Sequence[str], rounds: Sequence[float]) -> Finding:
    """Decide whether one label has the least cumulative regret at each of several rounds."""
    others = [label for label in among if label != who]
    tests = less([pair_of(evidence, who, o, regret_at(r), _at(evidence, r)) for r in rounds for o in others])
    last = ranking(evidence, among, regret_at(rounds[-1]))
    leads = f"{leads_from(evidence, who, others)}. " if evidence.round(rounds[-1]) == evidence.horizon else ""
    figures = f"{leads}{_at(evidence, rounds[-1]).capitalize()}: {last}"
    shown = [rounds[place] for place in sorted({0, len(rounds) // 2, len(rounds) - 1})]
    instead = "the least regret have " + "; ".join(podium(evidence, among, r) for r in shown)
    return conjunction(figures, tests, instead)


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
    evidence: Evidence,
    groups: Sequence[Sequence[str]],
    rounds: Sequence[float],
    margin: float,
    axis: Sequence[str] = (),
) -> Finding:
    """Decide whether within each group the curves lie within a margin of each other at each of several rounds.

    Args:
        evidence: the runs and the means of a world.
        groups: the labels of each group.
        rounds: the rounds.
        margin: a share of the mean of the two curves, or of the largest regret of an axis.
        axis: the labels whose largest final regret is the height of a figure; none if the margin is one of the curves.
    """
    pairs = [
        pair_of(evidence, left, right, regret_at(r), _at(evidence, r))
        for group in groups
        for left, right in itertools.combinations(group, 2)
        for r in rounds
    ]
    ends = [[float(evidence.curves[label].final.mean()) for label in group] for group in groups]
    spreads = " and ".join(f"{max(end) / min(end) - 1:.0%}" for end in ends)
    figures = ranking(evidence, [label for group in groups for label in group])
    tests = equal(pairs, margin, scale=_height(evidence, axis))
    return conjunction(figures, tests, f"at the end the largest exceeds the least by {spreads}")


Span = tuple[int, int]  # the first and the last of several phases, counted from 1


def degrades(
    evidence: Evidence, who: str, phases: Sequence[tuple[float, float]], steps: Sequence[tuple[Span, Span]]
) -> Finding:
    """Decide whether a label gathers regret at a higher rate in some phases than in earlier ones.

    Args:
        evidence: the runs and the means of a world.
        who: the label.
        phases: the last round before each phase, and its last round.
        steps: pairs of earlier and of later phases, each given by its first and its last phase, counted from 1.
    """

    def rate(span: Span) -> Floats:
        first, last = phases[span[0] - 1][0], phases[span[1] - 1][1]
        return regret_between(first, last)(evidence.curves[who], evidence) / evidence.round(last - first)

    tests = less([Pair(_phases(a), _phases(b), rate(a), rate(b)) for a, b in steps])
    each = ", ".join(f"{mean_se(rate((n, n)))} in phase {n}" for n in range(1, len(phases) + 1))
    lower = (f"the rate in {test.right} is below that in {test.left}" for test in tests if test.answer is False)
    return conjunction(f"regret per round of {evidence.name(who)}: {each}", tests, "; ".join(lower))


def in_words(steps: Sequence[tuple[Span, Span]]) -> str:
    """Pairs of earlier and later phases, as text."""
    return "; ".join(f"{_phases(earlier)}, {_phases(later)}" for earlier, later in steps)


def _phases(span: Span) -> str:
    first, last = span
    return f"phase {first}" if first == last else f"phases {first} to {last}"


def more_after(evidence: Evidence, who: str, reference: str, change: float, end: float) -> Finding:
    """Decide whether one label gathers more regret than the reference from a change to the end."""
    pair = pair_of(evidence, reference, who, regret_between(change, end))
    figures = f"{who} {mean_se(pair.right_values)}, {reference} {mean_se(pair.left_values)}"
    return conjunction(figures, less([pair]))


def faster_after(evidence: Evidence, labels: Sequence[str], changes: Sequence[float], span: float) -> Finding:
    """Decide whether each label gathers more regret just after every change than just before it."""
    pairs = []
    for label in labels:
        for change in changes:
            before = regret_between(change - span, change)(evidence.curves[label], evidence)
            after = regret_between(change, change + span)(evidence.curves[label], evidence)
            pairs.append(
                Pair(f"{evidence.name(label)} before", "after", before, after, f"round {evidence.round(change):,.0f}")
            )
    tests = less(pairs)
    faster, slower, open_ = (
        [f"{test.left.removesuffix(' before')} at {test.where}" for test in tests if test.answer is answer]
        for answer in (True, False, None)
    )
    others = "".join([*(f"; slower: {each}" for each in slower), *(f"; undecided: {each}" for each in open_)])
    figures = f"{len(faster)} of {len(tests)} (algorithm, change) pairs{others}"
    return conjunction(figures, tests, f"less regret after the change than before: {'; '.join(slower)}")


def least_in(evidence: Evidence, who: str, among: Sequence[str], stretches: Sequence[range]) -> Finding:
    """Decide whether one label gathers the least regret in some stretches of rounds, counted from 1, taken together."""
    if not stretches:
        return Finding(Verdict.UNDECIDED, "there are no such rounds")

    def gathered(curves: Runs, evidence: Evidence) -> Floats:
        return np.asarray(np.sum([curves.between(each.start - 1, each.stop - 1) for each in stretches], axis=0))

    tests = less([pair_of(evidence, who, other, gathered) for other in among if other != who])
    rounds = f"{len(stretches)} stretches of {sum(map(len, stretches)):,} rounds in all"
    less_than = "; ".join(f"{test.right} gathers less" for test in tests if test.answer is False)
    return conjunction(f"{rounds}: {ranking(evidence, among, gathered)}", tests, less_than)


def never_settles(
    evidence: Evidence,
    small: Sequence[str],
    suggested: Sequence[str],
    phases: Sequence[tuple[float, float]],
    share: float,
) -> Finding:
    """Decide whether some labels still play at random late in every phase, while others have settled by then.

    Late is the last third of a phase. A label still plays at random if it gathers more than a share of the regret of
    uniformly random play there, which the means give; it has settled if it gathers less. Either group may be empty.
    Where random play costs nothing, as in a phase too short for thirds, that is undecided.
    """
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
            pairs.append(Pair(few, much, limit, mine, where) if label in small else Pair(much, few, mine, limit, where))
    words = "; ".join(f"{label} {', '.join(f'{each:.0%}' for each in each_)}" for label, each_ in shares.items())
    rounds = ", ".join(f"{evidence.round(first) + 1:,.0f} to {evidence.round(last):,.0f}" for first, last in late)
    return conjunction(f"regret in rounds {rounds}, as a share of random play's: {words}", less(pairs))


def among_worst(evidence: Evidence, who: Sequence[str], among: Sequence[str]) -> Finding:
    """Decide whether each label is in the worse half: at least half of the others have less final regret."""
    half = len(among) // 2  # of the others, rounded up
    pairs = [(other, each) for each in who for other in among if other != each]
    tests = less([pair_of(evidence, left, right, final) for left, right in pairs], needed="number")
    answers: list[bool | None] = []
    for each in who:
        mine = [test.answer for test in tests if test.right == evidence.name(each)]
        enough, hopeless = mine.count(True) >= half, len(mine) - mine.count(False) < half
        answers.append(True if enough else False if hopeless else None)
    doubtful = [evidence.name(each) for each, answer in zip(who, answers, strict=True) if answer is not True]
    exceptions = against(test for test in tests if test.right in doubtful)
    ascending = sorted(among, key=lambda label: float(evidence.curves[label].final.mean()))
    instead = f"the worse half is {', '.join(evidence.name(label) for label in ascending[half:])}"
    return Finding(verdict_all(answers), ranking(evidence, among), tuple(tests), exceptions, instead)


def most_beat(evidence: Evidence, challengers: Sequence[str], who: str) -> Finding:
    """Decide whether more than half of the challengers have less final regret than one label."""
    tests = less([pair_of(evidence, challenger, who, final) for challenger in challengers], needed="number")
    answers = [test.answer for test in tests]
    needed = len(challengers) // 2 + 1
    enough, hopeless = answers.count(True) >= needed, len(answers) - answers.count(False) < needed
    verdict = Verdict.HOLDS if enough else Verdict.FAILS if hopeless else Verdict.UNDECIDED
    figures = f"{answers.count(True)} of {len(answers)}: {ranking(evidence, [*challengers, who])}"
    return Finding(verdict, figures, tuple(tests), against(tests))


def not_best(evidence: Evidence, who: str, among: Sequence[str]) -> Finding:
    """Decide whether some other label has less final regret."""
    tests = less([pair_of(evidence, other, who, final) for other in among if other != who], needed="any")
    answers = [test.answer for test in tests]
    beaten, leads = True in answers, all(answer is False for answer in answers)
    verdict = Verdict.HOLDS if beaten else Verdict.FAILS if leads else Verdict.UNDECIDED
    return Finding(verdict, ranking(evidence, among), tuple(tests), () if beaten else against(tests))


def moderate(evidence: Evidence, who: str, among: Sequence[str], least: int) -> Finding:
    """Decide whether at least a number of other labels have less final regret, and at least as many have more."""
    tests = less([pair_of(evidence, other, who, final) for other in among if other != who], needed="number")
    answers = [test.answer for test in tests]
    better, worse, open_ = (answers.count(answer) for answer in (True, False, None))
    between = min(better, worse) >= least
    extreme = min(better, worse) + open_ < least
    verdict = Verdict.HOLDS if between else Verdict.FAILS if extreme else Verdict.UNDECIDED
    instead = f"{better} have less, {worse} have more, {open_} are undecided"
    return Finding(verdict, ranking(evidence, among), tuple(tests), instead=instead)


def last_places(evidence: Evidence, who: Sequence[str], among: Sequence[str], quantity: Quantity = final) -> Finding:
    """Decide whether each of several labels has more of a quantity than each of the others."""
    return ordered(evidence, [(other, each) for other in among if other not in who for each in who], quantity)


def same_order(evidence: Evidence, here: str, there: str, groups: Sequence[Sequence[str]], exceptions: int) -> Finding:
    """Decide whether two worlds put the agents of each group into the same order, with a few exceptions."""
    pairs = [pair for group in groups for pair in itertools.combinations(group, 2)]
    sentences = [pair_of(evidence.elsewhere[w], a, b, final, f"on {w}") for w in (here, there) for a, b in pairs]
    tests = less(sentences, needed="number")
    both = list(zip(tests[: len(pairs)], tests[len(pairs) :], strict=True))
    reversed_ = [pair for pair in both if {pair[0].answer, pair[1].answer} == {True, False}]
    open_ = sum(None in (one.answer, other.answer) for one, other in both)
    fits = len(reversed_) + open_ <= exceptions
    verdict = Verdict.FAILS if len(reversed_) > exceptions else Verdict.HOLDS if fits else Verdict.UNDECIDED
    figures = f"{len(reversed_)} of {len(pairs)} pairs change their order, {open_} are undecided"
    against_it = tuple(test for pair in reversed_ for test in pair)
    return Finding(verdict, figures, tuple(t for pair in both for t in pair), against_it)


def same_verdicts(evidence: Evidence, here: str, there: str, claims: Sequence[Claim], exceptions: int) -> Finding:
    """Decide whether claims have the same verdict on two worlds, under the same reading, with a few exceptions.

    The verdicts are taken as they are: the level of each is its own.
    """
    both = {claim.key: [_verdict(claim, evidence, world) for world in (here, there)] for claim in claims}
    opposite = [key for key, verdicts in both.items() if set(verdicts) == {Verdict.HOLDS, Verdict.FAILS}]
    open_ = [key for key, verdicts in both.items() if Verdict.UNDECIDED in verdicts]
    fits = len(opposite) + len(open_) <= exceptions
    verdict = Verdict.FAILS if len(opposite) > exceptions else Verdict.HOLDS if fits else Verdict.UNDECIDED
    same = len(both) - len(opposite) - len(open_)
    figures = (
        f"{same} of {len(both)} sentences have the same verdict on both worlds; opposite: "
        f"{'; '.join(opposite) or 'none'}; undecided on one or both: {'; '.join(open_) or 'none'}"
    )
    return Finding(verdict, figures, instead=f"opposite verdicts: {'; '.join(opposite)}")


def _verdict(claim: Claim, evidence: Evidence, world: str) -> Verdict:
    """The verdict on a claim about a world, under the evidence's reading; from an earlier judgement if there is one."""
    judgement = evidence.judged.get((world, claim.key))
    if judgement is None:
        return claim.decide(evidence.elsewhere[world]).verdict
    evidence.note(judgement.consulted)
    return judgement.under(evidence.chosen).verdict


def all_hold(evidence: Evidence, claims: Sequence[Claim]) -> Finding:
    """Decide whether every one of several claims holds on this world; each is judged for itself, at its own level."""
    found = {claim.key: claim.decide(evidence) for claim in claims}
    answers = {Verdict.HOLDS: True, Verdict.FAILS: False, Verdict.UNDECIDED: None}
    verdict = verdict_all([answers[each.verdict] for each in found.values()])
    figures = "; ".join(f"{key}: {each.verdict.value}" for key, each in found.items())
    fails = [key for key, each in found.items() if each.verdict is Verdict.FAILS]
    tests = tuple(test for each in found.values() for test in each.tests)
    against = tuple(test for each in found.values() for test in each.exceptions)
    return Finding(verdict, figures, tests, against, f"these do not hold here: {'; '.join(fails)}")


def _exactly(true: bool, figures: str) -> Finding:
    return Finding(Verdict.HOLDS if true else Verdict.FAILS, figures)


def best_arm_by_phase(evidence: Evidence, phases: Sequence[tuple[float, float]], arms: Sequence[int]) -> Finding:
    """Decide whether the best arm, counted from 1, is the given one in every round of each phase."""
    best = best_arms(evidence.means) + 1
    rounds = np.arange(1, evidence.horizon + 1)
    found = []
    for first, last in phases:
        inside = (rounds > evidence.round(first)) & (rounds <= evidence.round(last))
        found.append(np.unique(best[inside]).tolist())
    said = [[arm] for arm in arms]
    words = "; ".join(f"phase {n}: {', '.join(map(str, each))}" for n, each in enumerate(found, start=1))
    return _exactly(found == said, f"best arm in {words}")


def every_arm_best(evidence: Evidence) -> Finding:
    """Decide whether every arm is the best in some round."""
    rounds = np.bincount(best_arms(evidence.means), minlength=evidence.means.shape[1])
    fewest = int(rounds.argmin())
    figures = f"arm {fewest + 1} is best in {rounds[fewest]:,} rounds, every other arm in more or as many"
    return _exactly(bool((rounds > 0).all()), figures)


def turns_best(evidence: Evidence, arm: int, first: float, last: float) -> Finding:
    """Decide whether an arm, counted from 1, becomes the best between two rounds."""
    best = best_arms(evidence.means) == arm - 1
    starts = np.flatnonzero(best[1:] & ~best[:-1]) + 2  # rounds, from 1
    inside = starts[(starts >= evidence.round(first)) & (starts <= evidence.round(last))]
    if len(inside) == 0:
        return _exactly(False, f"arm {arm} becomes the best in no round of that stretch")
    after = int(inside[0]) + int(np.argmin(np.append(best[inside[0] - 1 :], False))) - 1
    return _exactly(True, f"arm {arm} is the best from round {inside[0]:,} to {after:,}")


def risen(means: Floats, lowest: int) -> list[range]:
    """The stretches of rounds, counted from 1, whose best arm was among the lowest since it last was best.

    Args:
        means: (T, K)
        lowest: how many arms are the lowest in a round.
    """
    best = best_arms(means)
    edges = [0, *(np.flatnonzero(best[1:] != best[:-1]) + 1).tolist(), len(best)]
    last_best: dict[int, int] = {}
    found = []
    for start, stop in itertools.pairwise(edges):
        arm = int(best[start])
        before = means[last_best.get(arm, 0) : start]
        if np.any((before < before[:, [arm]]).sum(axis=1) < lowest):
            found.append(range(start + 1, stop + 1))
        last_best[arm] = stop
    return found


def observations(results: Results) -> list[str]:
    """Notes on the results that no sentence of the paper claims; none where runs are missing."""
    notes: list[str] = []
    for remark in (_fast_world, _round_robin):
        with suppress(MissingRunsError):
            notes += remark(results)
    return notes


def _fast_world(results: Results) -> list[str]:
    """A note on the results for σ = 0.001."""
    curves = results.curves[paper.FAST]
    ascending = sorted(paper.ALGORITHMS, key=lambda label: float(curves[label].final.mean()))
    order = ", ".join(f"{label} {mean_se(curves[label].final)}" for label in ascending)
    period = 2 * math.pi / 0.001
    suggested = paper.window(paper.SUGGESTED, curves[paper.TS].horizon)
    windows = []
    for world, sampler in itertools.product((paper.SMOOTH, paper.FAST), paper.SAMPLERS):
        members = [results.curves[world][paper.sensitivity_label(sampler, alpha)] for alpha in paper.ALPHAS]
        best = min(members, key=lambda member: float(member.final.mean()))
        windows.append(f"{sampler} on {world}: τ = {best.parameters[0].get('window', 0):,} ({mean_se(best.final)})")
    return [
        f"What σ = 0.001 shows, of which the paper says nothing: final regrets {order}. The world repeats itself every "
        f"2π/σ = {period:,.0f} rounds, and the suggested window of {suggested:,} rounds looks back over "
        f"{suggested / period:.0%} of that. The best of the five windows: {'; '.join(windows)}."
    ]


def _round_robin(results: Results) -> list[str]:
    """A note that γ-SWGTS with a window shorter than the number of arms never samples; none if it does sample."""
    curve = results.curves[paper.ABRUPT][paper.sensitivity_label(paper.GAUSS, paper.ALPHAS[0])]
    if curve.final.std() > 1e-9 * curve.final.mean():
        return []
    window, arms = curve.parameters[0].get("window", 0), curve.pulls.shape[1]
    return [
        f"γ-SWGTS with α = 0.2 has a window of {window} rounds and {arms} arms: in every round some arm is unseen and "
        f"is forced, so that it plays the arms in turn all the time. Its regret is not random: "
        f"{curve.final.mean():,.0f} on the abrupt world, in every run."
    ]
