"""Claims about an agent's place among others: among the worst, not the best, in between."""

from __future__ import annotations

from collections.abc import Sequence

from .decisions import Decide, Quantity, against, final, ordered, pair_of, ranking
from .evidence import Evidence
from .rules import Finding, Verdict, less, verdict_all

__all__ = ["among_worst", "last_places", "moderate", "most_beat", "not_best", "same_order"]


def among_worst(who: Sequence[str], among: Sequence[str]) -> Decide:
    """Decides whether each label is in the worse half: at least half of the others have less final regret."""

    def decide(evidence: Evidence) -> Finding:
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

    return decide


def most_beat(challengers: Sequence[str], who: str) -> Decide:
    """Decides whether more than half of the challengers have less final regret than one label."""

    def decide(evidence: Evidence) -> Finding:
        tests = less([pair_of(evidence, challenger, who, final) for challenger in challengers], needed="number")
        answers = [test.answer for test in tests]
        needed = len(challengers) // 2 + 1
        enough, hopeless = answers.count(True) >= needed, len(answers) - answers.count(False) < needed
        verdict = Verdict.HOLDS if enough else Verdict.FAILS if hopeless else Verdict.UNDECIDED
        figures = f"{answers.count(True)} of {len(answers)}: {ranking(evidence, [*challengers, who])}"
        return Finding(verdict, figures, tuple(tests), against(tests))

    return decide


def not_best(who: str, among: Sequence[str]) -> Decide:
    """Decides whether some other label has less final regret."""

    def decide(evidence: Evidence) -> Finding:
        tests = less([pair_of(evidence, other, who, final) for other in among if other != who], needed="any")
        answers = [test.answer for test in tests]
        beaten, leads = True in answers, all(answer is False for answer in answers)
        verdict = Verdict.HOLDS if beaten else Verdict.FAILS if leads else Verdict.UNDECIDED
        return Finding(verdict, ranking(evidence, among), tuple(tests), () if beaten else against(tests))

    return decide


def moderate(who: str, among: Sequence[str], least: int) -> Decide:
    """Decides whether at least so many other labels have less final regret, and at least as many have more."""

    def decide(evidence: Evidence) -> Finding:
        tests = less([pair_of(evidence, other, who, final) for other in among if other != who], needed="number")
        answers = [test.answer for test in tests]
        better, worse, open_ = (answers.count(answer) for answer in (True, False, None))
        between = min(better, worse) >= least
        extreme = min(better, worse) + open_ < least
        verdict = Verdict.HOLDS if between else Verdict.FAILS if extreme else Verdict.UNDECIDED
        instead = f"{better} have less, {worse} have more, {open_} are open"
        return Finding(verdict, ranking(evidence, among), tuple(tests), instead=instead)

    return decide


def last_places(who: Sequence[str], among: Sequence[str], quantity: Quantity = final) -> Decide:
    """Decides whether each of several labels has more of a quantity than each of the others."""
    return ordered([(other, each) for other in among if other not in who for each in who], quantity)


def same_order(here: str, there: str, groups: Sequence[Sequence[str]], exceptions: int) -> Decide:
    """Decides whether two worlds put the agents of each group into the same order, with a few exceptions."""

    def decide(evidence: Evidence) -> Finding:
        pairs = [(a, b) for group in groups for i, a in enumerate(group) for b in group[i + 1 :]]
        sentences = [pair_of(evidence.elsewhere[w], a, b, final, f"on {w}") for w in (here, there) for a, b in pairs]
        tests = less(sentences, needed="number")
        both = list(zip(tests[: len(pairs)], tests[len(pairs) :], strict=True))
        reversed_ = [pair for pair in both if {pair[0].answer, pair[1].answer} == {True, False}]
        open_ = sum(None in (one.answer, other.answer) for one, other in both)
        fits = len(reversed_) + open_ <= exceptions
        verdict = Verdict.FAILS if len(reversed_) > exceptions else Verdict.HOLDS if fits else Verdict.UNDECIDED
        figures = f"{len(reversed_)} of {len(pairs)} pairs change their order, {open_} are open"
        against_it = tuple(test for pair in reversed_ for test in pair)
        return Finding(verdict, figures, tuple(t for pair in both for t in pair), against_it)

    return decide
