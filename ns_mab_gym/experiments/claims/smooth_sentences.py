"""The sentences of the paper's Experiments section on the smoothly changing worlds, with their tests."""

from __future__ import annotations

from .. import paper_readings as open_
from ..paper_names import (
    ABRUPT,
    BETA,
    SAMPLERS,
    TS,
    sensitivity_label,
)
from . import decisions, likeness, over_time, places, world_facts
from .abrupt_sentences import MODERATE, SENSITIVITY, VIABLE
from .evidence import Evidence
from .judging import Claim
from .rules import Finding
from .wordings import (
    EVERYBODY,
    LAST,
    about_all,
    among_worst,
    among_worst_in_words,
    in_rounds,
    larger,
    led,
    led_in_words,
    low_arms_risen,
    margin,
    margin_in_words,
    rivals,
    similar_in_words,
    small_worst,
    windows,
)

__all__ = ["SMOOTH_CLAIMS", "TURN"]

SMALL = Claim(
    "small windows explore too much",
    "for small sliding window sizes, the algorithms tend to explore more than is needed",
    lambda e: (
        f"for both samplers, more final regret with window {in_rounds(e.read(open_.SMALLER))} than with each larger one"
    ),
    lambda e: decisions.ordered(small_worst(e.read(open_.SMALLER)))(e),
    (open_.SMALLER, open_.GAMMA),
)

COLLAPSE = Claim(
    "large windows collapse",
    "for larger values of the window size, the performance tends to collapse to almost the same regret curve",
    lambda e: (
        f"for both samplers, windows {in_rounds(larger(e))} lie within {margin_in_words(e)} of each other at "
        "rounds 20,000, 30,000, 40,000, 50,000"
    ),
    lambda e: decisions.collapse(
        [[sensitivity_label(s, a) for a in larger(e)] for s in SAMPLERS],
        (20_000, 30_000, 40_000, LAST),
        *margin(e),
    )(e),
    (open_.LARGER, open_.CLOSENESS, open_.GAMMA),
)


def _similar(evidence: Evidence) -> Finding:
    """Whether windows matter as in the abrupt world: by what is said there, by what is said here, or by their order."""
    way = evidence.read(open_.SAME_BEHAVIOUR)
    if way == "order":
        both = [windows(sampler) for sampler in SAMPLERS]
        return places.same_order(evidence.world, ABRUPT, both, exceptions=2)(evidence)
    return likeness.all_hold(SENSITIVITY if way == "there" else (SMALL, COLLAPSE))(evidence)


SMOOTH_CLAIMS = (
    Claim(
        "every arm best at times",
        "each arm is optimal for at least one round over the selected learning horizon",
        "the best arm of every round, from the means; no runs needed",
        world_facts.every_arm_best(),
    ),
    Claim(
        "Ser4, Rexp3, SW-KL-UCB among the worst",
        "Among the worst performing algorithms we have Ser4, Rexp3, and SW-KL-UCB.",
        among_worst_in_words,
        among_worst,
        about_all(open_.WORST),
    ),
    Claim(
        "Beta-SWTS best late",
        "In this setting Beta-SWTS outperforms all the other algorithms in t ∈ [30.000, 50.000].",
        lambda e: led_in_words(e, "each of the others", 30_000),
        lambda e: led(e, rivals(e), 30_000),
        about_all(open_.MEASURE),
    ),
    Claim(
        "Beta-SWTS best when a low arm rises",
        "it is particularly effective in dealing with cases in which arms whose expected reward was among the lowest "
        "becomes optimal",
        lambda e: (
            "less regret than each of the others in the rounds whose best arm was, since it last was best, "
            f"among the lowest {'three' if e.read(open_.LOWEST) == 3 else 'two'}"
        ),
        lambda e: over_time.least_in(BETA, rivals(e), low_arms_risen)(e),
        about_all(open_.LOWEST),
    ),
    Claim(
        "Beta-SWTS lowest slope",
        "For instance, in t ∈ [10.000, 20.000], […] the Beta-SWTS is providing the lowest increase rate among the "
        "analyzed algorithms.",
        "less regret gathered from round 10,000 to 20,000 than by each of the others",
        lambda e: decisions.least(BETA, rivals(e), decisions.regret_between(10_000, 20_000))(e),
        EVERYBODY,
    ),
    Claim(
        "TS behind Beta-SWTS late",
        "Once more, the classical TS algorithm is outperformed by its sliding-window counterpart in t ∈ [30.000, "
        "50.000].",
        lambda e: led_in_words(e, "TS", 30_000),
        lambda e: led(e, (BETA, TS), 30_000),
        (open_.MEASURE,),
    ),
    MODERATE,
    SMALL,
    Claim(
        "sensitivity as in the abrupt world",
        "The behavior is similar to what we presented in the abruptly-changing scenario.",
        similar_in_words,
        _similar,
        (open_.SAME_BEHAVIOUR, open_.SMALLER, open_.LARGER, open_.CLOSENESS, open_.GAMMA),
        beside=(ABRUPT,),
    ),
    COLLAPSE,
    Claim(
        "α = 1 clearly worse",
        "for α = 1, i.e., using the classical TS, would provide a significantly large regret",
        lambda e: (
            f"TS has more final regret than Beta-SWTS with each of the windows {in_rounds(larger(e))}, by more than "
            f"{margin_in_words(e)}"
        ),
        lambda e: decisions.clearly_above(TS, [sensitivity_label(BETA, a) for a in larger(e)], *margin(e))(e),
        (open_.LARGER, open_.CLOSENESS, open_.GAMMA),
    ),
    VIABLE,
)

TURN = Claim(
    "arm 10 becomes best",
    "For instance, in t ∈ [10.000, 20.000], phase in which arm a10 become optimal",
    "the best arm of every round, from the means; no runs needed",
    world_facts.turns_best(10, 10_000, 20_000),
)
