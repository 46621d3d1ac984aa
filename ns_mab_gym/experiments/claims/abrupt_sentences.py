"""The sentences of the paper's Experiments section on the abruptly changing worlds, with their tests."""

from __future__ import annotations

from .. import paper_readings as open_
from ..paper_names import (
    ABRUPT,
    BETA,
    GAUSS,
    GENERAL,
    PHASES,
    REXP3,
    SAMPLERS,
    SER4,
    SUGGESTED,
    TS,
    sensitivity_label,
)
from . import decisions, likeness, over_time, places, world_facts
from .judging import Claim
from .wordings import (
    EVERYBODY,
    WINDOWED,
    about_all,
    addressed,
    addressed_in_words,
    best_window,
    growing,
    led,
    led_in_words,
    rivals,
    small_worst,
    windows,
)

__all__ = ["ABRUPT_CLAIMS", "MODERATE", "SENSITIVITY", "SIMILAR", "VIABLE"]

MODERATE = Claim(
    "γ-SWGTS moderate",
    "Similarly to what happened in the generalized abruptly changing environments, the performance of γ-SWGTS displays "
    "moderate performance in this setting",
    lambda e: (
        "some algorithm has less final regret, and some has more"
        if e.read(open_.MIDDLE) == 1
        else "at least two algorithms have less final regret, and at least two have more"
    ),
    lambda e: places.moderate(GAUSS, rivals(e), e.read(open_.MIDDLE))(e),
    about_all(open_.MIDDLE),
)

VIABLE = Claim(
    "windowed samplers beat TS",
    "showing how the sliding window approach applied to the TS algorithm is a viable solution to deal with "
    "Non-Stationary settings",
    "Beta-SWTS and γ-SWGTS have less final regret than TS",
    decisions.ordered([(sampler, TS) for sampler in SAMPLERS]),
    (open_.GAMMA,),
)

ABRUPT_CLAIMS = (
    Claim(
        "best arms",
        "In both settings the optimal arm is 10 during the F1 and F3 phases and arm 1 during the F2 and F4 phases.",
        "the best arm of every round, from the means; no runs needed",
        world_facts.best_arm_by_phase(PHASES, (10, 1, 10, 1)),
    ),
    Claim(
        "Rexp3 and Ser4 worst",
        "The algorithms providing the worst performance overall are Rexp3 and Ser4.",
        lambda e: (
            "each of the others has less final regret than both"
            if e.read(open_.OVERALL) == "final"
            else "each of the others has less cumulative regret than both, averaged over the whole horizon"
        ),
        lambda e: places.last_places(
            (REXP3, SER4), rivals(e), decisions.final if e.read(open_.OVERALL) == "final" else decisions.mean_regret
        )(e),
        about_all(open_.OVERALL),
    ),
    Claim(
        "TS best in phase 1",
        "During the first phase F1, the best-performing algorithm is TS",
        lambda e: (
            "less regret than each of the others after round "
            + ", ".join(f"{each:,.0f}" for each in e.read(open_.DURING))
        ),
        lambda e: decisions.best_from(TS, rivals(e), e.read(open_.DURING))(e),
        about_all(open_.DURING),
    ),
    Claim(
        "all worse after a change",
        "As soon as we change phase, and consequently, the optimal arm changes, all the algorithms start accumulating "
        "regret at an increased rate.",
        lambda e: (
            f"each algorithm gathers more regret in the {e.read(open_.SPAN):,} rounds after "
            f"{'each of the three changes' if len(e.read(open_.WHICH_CHANGES)) > 1 else 'the first change'} "
            "than in as many before"
        ),
        lambda e: over_time.faster_after(rivals(e), e.read(open_.WHICH_CHANGES), e.read(open_.SPAN))(e),
        about_all(open_.SPAN, open_.WHICH_CHANGES),
    ),
    Claim(
        "TS cannot address the change",
        "In particular, the TS algorithm cannot address this change",
        addressed_in_words,
        addressed,
        (open_.ADDRESSED,),
    ),
    Claim(
        "TS degrades with changes",
        "its performance degrades as multiple changes occur",
        lambda e: (
            f"TS gathers more regret per round in the later of these: {over_time.in_words(e.read(open_.WORSENING))}"
        ),
        lambda e: over_time.degrades(TS, PHASES, e.read(open_.WORSENING))(e),
        (open_.WORSENING,),
    ),
    Claim(
        "Beta-SWTS best from early in phase 2",
        "Conversely, its sliding window counterpart Beta-SWTS provides the best performances starting from the initial "
        "part of phase F2 (t ≈ 12.000)",
        lambda e: led_in_words(e, "each of the others", e.read(open_.BEGINNING)),
        lambda e: led(e, rivals(e), e.read(open_.BEGINNING)),
        about_all(open_.BEGINNING, open_.MEASURE),
    ),
    Claim(
        "forgetting pays",
        "showing that forgetting the past is an effective strategy in such a scenario",
        "Beta-SWTS has less final regret than TS, which is Beta-SWTS without forgetting",
        decisions.ordered([(BETA, TS)]),
    ),
    Claim(
        "most windows beat TS",
        "By the end of the learning horizon, most of the sliding-window-based approaches are able to outperform the TS "
        "algorithm.",
        "at least three of Beta-SWTS, γ-SWGTS, SW-UCB and SW-KL-UCB have less final regret than TS",
        places.most_beat(WINDOWED, TS),
        (open_.GAMMA, open_.SIGMA),
    ),
    Claim(
        "γ-SWGTS not the best",
        "The fact that γ-SWGTS is not the best-performing algorithm in this setting",
        "some other algorithm has less final regret",
        lambda e: places.not_best(GAUSS, rivals(e))(e),
        EVERYBODY,
    ),
    Claim(
        "γ-SWGTS explores more",
        "Therefore, in its design, it needs to introduce more exploration",
        "γ-SWGTS plays arms that are not the best more often than Beta-SWTS does",
        decisions.ordered([(BETA, GAUSS)], decisions.suboptimal_pulls),
        (open_.GAMMA,),
    ),
    Claim(
        "α = 0.2 too explorative",
        "for smaller window sizes, i.e., α = 0.2, the algorithms become too explorative, leading to a larger regret at "
        "the end of the learning horizon",
        "for both samplers, the smallest window has more final regret than each of the four others",
        decisions.ordered(small_worst((0.2,))),
        (open_.GAMMA,),
    ),
    Claim(
        "α = 0.2 does not converge",
        "we are too aggressive in discarding samples used for the arms' reward estimates, preventing the algorithms "
        "from converging to an optimum when the environment is not changing",
        "in the last third of every phase, both samplers gather more than half of the regret of uniformly random play "
        "with α = 0.2, and less than half of it with the suggested window",
        over_time.never_settles(
            [windows(sampler)[0] for sampler in SAMPLERS],
            [sensitivity_label(sampler, SUGGESTED) for sampler in SAMPLERS],
            PHASES,
            share=0.5,
        ),
        (open_.GAMMA,),
    ),
    Claim(
        "larger windows better",
        "As the window size increases, the performance for both algorithms improves",
        "each larger window has less final regret than the one before it, up to the window that the paper calls best",
        growing,
        (open_.GROWING, open_.GAMMA),
    ),
    best_window(BETA, SUGGESTED),
    best_window(GAUSS, 0.8),
    VIABLE,
)

# The sentences of the paragraph "Results", of which the paper says that they can be said of both experiments.
RESULTS = tuple(claim for claim in ABRUPT_CLAIMS[1:] if "α" not in claim.key and "window" not in claim.key)

SIMILAR = Claim(
    "both abrupt worlds alike",
    "Since similar conclusions can be drawn from both experiments",
    lambda e: (
        "at most two of the sentences on results hold on one of the two worlds and fail on the other"
        if e.read(open_.ALIKE) == "said"
        else "of all pairs of algorithms, at most two are in opposite order of final regret in the two worlds"
    ),
    lambda e: (
        likeness.same_verdicts(ABRUPT, GENERAL, RESULTS, exceptions=2)(e)
        if e.read(open_.ALIKE) == "said"
        else places.same_order(ABRUPT, GENERAL, [rivals(e)], exceptions=2)(e)
    ),
    about_all(open_.ALIKE),
    beside=(ABRUPT,),
)

SENSITIVITY = tuple(
    claim
    for claim in ABRUPT_CLAIMS
    if claim.key in ("α = 0.2 too explorative", "Beta-SWTS best at the suggested window", "γ-SWGTS best at α = 0.8")
)
