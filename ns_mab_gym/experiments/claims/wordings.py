"""How sentences of the paper become tests, and the tests words, under the reading of the evidence."""

from __future__ import annotations

from .. import paper_readings as open_
from ..paper_names import (
    ALPHAS,
    BETA,
    GAUSS,
    PHASES,
    REXP3,
    SAMPLERS,
    SER4,
    SUGGESTED,
    SW_KL_UCB,
    SW_UCB,
    TS,
    sensitivity_label,
    window,
)
from ..readings import Choice
from . import decisions, over_time, places, world_facts
from .evidence import Evidence
from .judging import Claim
from .rules import Finding

__all__ = [
    "EVERYBODY",
    "LAST",
    "WINDOWED",
    "about_all",
    "addressed",
    "addressed_in_words",
    "among_worst",
    "among_worst_in_words",
    "best_window",
    "growing",
    "in_rounds",
    "larger",
    "led",
    "led_in_words",
    "margin",
    "margin_in_words",
    "rivals",
    "small_worst",
    "windows",
]

WINDOWED = (BETA, GAUSS, SW_UCB, SW_KL_UCB)
EVERYBODY = (open_.RIVALS, *open_.TUNINGS)  # what a comparison of all algorithms leaves open
LAST = 50_000
EVERY = 1_000  # at these rounds an algorithm must lead to have led all along


def rivals(evidence: Evidence) -> tuple[str, ...]:
    """The algorithms that are compared, under the evidence's reading."""
    found: tuple[str, ...] = evidence.read(open_.RIVALS)
    return found


def windows(sampler: str) -> list[str]:
    """A sampler's entries in ascending order of their windows."""
    return [sensitivity_label(sampler, alpha) for alpha in ALPHAS]


def small_worst(small: tuple[float, ...]) -> list[tuple[str, str]]:
    """Each larger window of a sampler against each of the small ones."""
    larger = [alpha for alpha in ALPHAS if alpha not in small]
    return [(sensitivity_label(s, a), sensitivity_label(s, b)) for s in SAMPLERS for a in larger for b in small]


def growing(evidence: Evidence) -> Finding:
    """Each window against the next larger one, up to the sampler's best in the paper."""
    order = evidence.read(open_.GROWING)
    pairs = []
    for sampler, best in ((BETA, SUGGESTED), (GAUSS, 0.8)):
        labels = [sensitivity_label(sampler, alpha) for alpha in order[: order.index(best) + 1]]
        pairs += list(zip(labels[1:], labels[:-1], strict=True))
    return decisions.ordered(pairs)(evidence)


def best_window(sampler: str, alpha: float) -> Claim:
    """The claim that a sampler is best with the window of α."""
    name = "at the suggested window" if alpha == SUGGESTED else f"at α = {alpha:g}"
    quote = (
        "achieving the minimum at the suggested window size (i.e., τ = 4√(T log(T))) for Beta-SWTS"
        if sampler == BETA
        else "while γ-SWGTS reaches its best performance at α = 0.8"
    )
    return Claim(
        f"{sampler} best {name}",
        quote,
        "less final regret than with each of the four other windows",
        decisions.least(sensitivity_label(sampler, alpha), windows(sampler)),
        () if sampler == BETA else (open_.GAMMA,),
    )


def led(evidence: Evidence, among: tuple[str, ...], first: int) -> Finding:
    """Beta-SWTS against others from a round to the end, measured as the reading says."""
    if evidence.read(open_.MEASURE) == "gathered":
        return decisions.least(BETA, among, decisions.regret_between(first, LAST))(evidence)
    return decisions.best_from(BETA, among, (*range(first, LAST, EVERY), LAST))(evidence)


def led_in_words(evidence: Evidence, others: str, first: int) -> str:
    """The test of :func:`led`, in words."""
    if evidence.read(open_.MEASURE) == "gathered":
        return f"less regret gathered from round {first:,} to the end than by {others}"
    return f"less cumulative regret than {others} at round {first:,}, every 1,000 rounds from there, and at the end"


def addressed(evidence: Evidence) -> Finding:
    """TS after the first change: behind Beta-SWTS, or still playing at random late in phase 2."""
    span = evidence.read(open_.ADDRESSED)
    if span is None:
        return over_time.never_settles([TS], [], PHASES[1:2], share=0.5)(evidence)
    return over_time.more_after(TS, BETA, *span)(evidence)


def addressed_in_words(evidence: Evidence) -> str:
    """The test of :func:`addressed`, in words."""
    span = evidence.read(open_.ADDRESSED)
    if span is None:
        return "in the last third of phase 2, TS gathers more than half of the regret of uniformly random play"
    until = "second" if span == PHASES[1] else "end"
    return f"TS gathers more regret than Beta-SWTS from the first change to the {until}"


def among_worst(evidence: Evidence) -> Finding:
    """Ser4, Rexp3 and SW-KL-UCB: in the worse half, or in the last three places."""
    who = (SER4, REXP3, SW_KL_UCB)
    rule = places.among_worst if evidence.read(open_.WORST) == "half" else places.last_places
    return rule(who, rivals(evidence))(evidence)


def among_worst_in_words(evidence: Evidence) -> str:
    """The test of :func:`among_worst`, in words."""
    if evidence.read(open_.WORST) == "half":
        return "each of the three is in the worse half: at least half of the other algorithms have less final regret"
    return "each of the others has less final regret than all three"


def larger(evidence: Evidence) -> tuple[float, ...]:
    """The α of the larger windows, under the evidence's reading."""
    alphas: tuple[float, ...] = evidence.read(open_.LARGER)
    return alphas


def margin(evidence: Evidence) -> tuple[float, list[str]]:
    """The margin of closeness, and the curves of the figure whose height it is a share of, if it is."""
    share, of = evidence.read(open_.CLOSENESS)
    return share, [label for sampler in SAMPLERS for label in windows(sampler)] if of == "axis" else []


def margin_in_words(evidence: Evidence) -> str:
    """The margin of :func:`margin`, in words."""
    share, of = evidence.read(open_.CLOSENESS)
    return f"{share:.0%} of the {'largest final regret of all ten' if of == 'axis' else 'curve'}"


def in_rounds(alphas: tuple[float, ...]) -> str:
    """The windows of several α, as text."""
    return ", ".join(f"{window(alpha):,}" for alpha in alphas)


def low_arms_risen(evidence: Evidence) -> list[range]:
    """The rounds whose best arm was among the lowest before, under the evidence's reading of that."""
    lowest = evidence.read(open_.LOWEST)
    found: list[range] = evidence.once(("risen", lowest), lambda: world_facts.risen(evidence.means, lowest))
    return found


def similar_in_words(evidence: Evidence) -> str:
    """The test of whether windows matter as in the abrupt world, in words."""
    return {
        "there": "as the text says of the abrupt worlds: the smallest window is the worst, Beta-SWTS is best at the "
        "suggested one, and γ-SWGTS at α = 0.8",
        "here": "as the text goes on, “more specifically”: small windows explore too much, and large ones collapse",
        "order": "of the ten pairs of windows of each sampler, at most two of all twenty are in opposite order of "
        "final regret in this world and in the abrupt one",
    }[evidence.read(open_.SAME_BEHAVIOUR)]


def about_all(*more: Choice) -> tuple[Choice, ...]:
    """What a comparison of all algorithms leaves open, and what else a claim does."""
    return (*more, *EVERYBODY)
