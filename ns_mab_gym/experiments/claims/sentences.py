"""The sentences of the paper's Experiments section, each with the test that decides it."""

from __future__ import annotations

from dataclasses import replace

from ..paper_study import (
    ABRUPT,
    ALGORITHMS,
    ALPHAS,
    BETA,
    FAST,
    GAUSS,
    GENERAL,
    KL_UCB,
    REXP3,
    SAMPLERS,
    SER4,
    SMOOTH,
    SUGGESTED,
    SW_KL_UCB,
    SW_UCB,
    TS,
    sensitivity_label,
)
from . import decisions, over_time, places, world_facts
from .rules import Claim

__all__ = ["CLAIMS"]

ALL = tuple(ALGORITHMS)
WINDOWED = (BETA, GAUSS, SW_UCB, SW_KL_UCB)
OTHERS = (BETA, GAUSS, TS, SW_UCB, KL_UCB, SW_KL_UCB)  # all except the two that the paper calls the worst
PHASES = ((0, 14_999), (14_999, 30_000), (30_000, 39_999), (39_999, 50_000))
CHANGES = tuple(last for _, last in PHASES[:-1])
LATE = (30_000, 35_000, 40_000, 45_000, 50_000)
LARGE = ALPHAS[2:]  # windows of 660, 2,942 and 5,744
CLOSE = 0.10


def _windows(sampler: str) -> list[str]:
    """A sampler's entries in ascending order of their windows."""
    return [sensitivity_label(sampler, alpha) for alpha in ALPHAS]


def _smallest_worst() -> list[tuple[str, str]]:
    return [(other, _windows(s)[0]) for s in SAMPLERS for other in _windows(s)[1:]]


def _growing() -> list[tuple[str, str]]:
    """Each window against the next larger one, up to the sampler's best in the paper."""
    beta, gauss = _windows(BETA), _windows(GAUSS)
    return [*zip(beta[1:4], beta[:3], strict=True), *zip(gauss[1:], gauss[:-1], strict=True)]


def _best_window(sampler: str, alpha: float) -> Claim:
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
        decisions.least(sensitivity_label(sampler, alpha), _windows(sampler)),
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
        "each of the six others has less final regret than both",
        decisions.ordered([(other, worst) for other in OTHERS for worst in (REXP3, SER4)]),
    ),
    Claim(
        "TS best in phase 1",
        "During the first phase F1, the best-performing algorithm is TS",
        "less regret than each of the seven others at the end of phase 1, round 14,999",
        decisions.least(TS, ALL, decisions.regret_at(PHASES[0][1])),
    ),
    Claim(
        "all worse after a change",
        "As soon as we change phase, and consequently, the optimal arm changes, all the algorithms start accumulating "
        "regret at an increased rate.",
        "each of the eight gathers more regret in the 1,000 rounds after each of the three changes than in the 1,000 "
        "before",
        over_time.faster_after(ALL, CHANGES, 1_000),
    ),
    Claim(
        "TS cannot address changes",
        "the TS algorithm cannot address this change",
        "TS gathers more regret than Beta-SWTS from the first change to the end",
        over_time.more_after(TS, BETA, CHANGES[0], 50_000),
    ),
    Claim(
        "TS degrades with every change",
        "its performance degrades as multiple changes occur",
        "TS gathers more regret than Beta-SWTS in each of phases 2, 3 and 4",
        over_time.degrades(TS, BETA, PHASES),
    ),
    Claim(
        "Beta-SWTS best from early in phase 2",
        "its sliding window counterpart Beta-SWTS provides the best performances starting from the initial part of "
        "phase F2 (t ≈ 12.000)",
        "less regret than each of the seven others at rounds 18,000, 24,000, 30,000, 40,000 and 50,000",
        decisions.best_from(BETA, ALL, (18_000, 24_000, 30_000, 40_000, 50_000)),
    ),
    Claim(
        "most windows beat TS",
        "By the end of the learning horizon, most of the sliding-window-based approaches are able to outperform the TS "
        "algorithm.",
        "at least three of Beta-SWTS, γ-SWGTS, SW-UCB and SW-KL-UCB have less final regret than TS",
        places.most_beat(WINDOWED, TS),
    ),
    Claim(
        "γ-SWGTS not the best",
        "The fact that γ-SWGTS is not the best-performing algorithm in this setting",
        "some other algorithm has less final regret",
        places.not_best(GAUSS, ALL),
    ),
    Claim(
        "γ-SWGTS explores more",
        "in its design, it needs to introduce more exploration",
        "γ-SWGTS plays arms that are not the best more often than Beta-SWTS does",
        decisions.ordered([(BETA, GAUSS)], decisions.suboptimal_pulls),
    ),
    Claim(
        "α = 0.2 too explorative",
        "for smaller window sizes, i.e., α = 0.2, the algorithms become too explorative, leading to a larger regret",
        "for both samplers, the smallest window has more final regret than each of the four others",
        decisions.ordered(_smallest_worst()),
    ),
    Claim(
        "larger windows better",
        "As the window size increases, the performance for both algorithms improves",
        "each larger window has less final regret than the one before it, up to the window that the paper calls best",
        decisions.ordered(_growing()),
    ),
    _best_window(BETA, SUGGESTED),
    _best_window(GAUSS, 0.8),
)

SIMILAR = Claim(
    "both abrupt worlds alike",
    "Since similar conclusions can be drawn from both experiments",
    "of the 28 pairs of algorithms, at most two are in opposite order of final regret in the two worlds",
    places.same_order(ABRUPT, GENERAL, ALL, exceptions=2),
)

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
        "each of the three is in the worse half: at least four others have less final regret",
        places.among_worst((SER4, REXP3, SW_KL_UCB), ALL),
    ),
    Claim(
        "Beta-SWTS best late",
        "Beta-SWTS outperforms all the other algorithms in t ∈ [30.000, 50.000]",
        "less cumulative regret than each of the seven others at rounds 30,000, 35,000, …, 50,000",
        decisions.best_from(BETA, ALL, LATE),
    ),
    Claim(
        "Beta-SWTS lowest slope",
        "in t ∈ [10.000, 20.000], […] the Beta-SWTS is providing the lowest increase rate among the analyzed "
        "algorithms",
        "less regret gathered from round 10,000 to 20,000 than by each of the seven others",
        decisions.least(BETA, ALL, decisions.regret_between(10_000, 20_000)),
    ),
    Claim(
        "TS behind Beta-SWTS late",
        "the classical TS algorithm is outperformed by its sliding-window counterpart in t ∈ [30.000, 50.000]",
        "Beta-SWTS has less cumulative regret at rounds 30,000, 35,000, …, 50,000",
        decisions.best_from(BETA, (BETA, TS), LATE),
    ),
    Claim(
        "γ-SWGTS moderate",
        "γ-SWGTS displays moderate performance in this setting",
        "some algorithm has less final regret, and some has more",
        places.moderate(GAUSS, ALL),
    ),
    Claim(
        "small windows explore too much",
        "for small sliding window sizes, the algorithms tend to explore more than is needed",
        "for both samplers, the smallest window has more final regret than each of the four others",
        decisions.ordered(_smallest_worst()),
    ),
    Claim(
        "large windows collapse",
        "for larger values of the window size, the performance tends to collapse to almost the same regret curve",
        "for both samplers, windows 660, 2,942 and 5,744 lie within 10 % of each other at rounds 20,000, 30,000, "
        "40,000, 50,000",
        decisions.collapse(
            [[sensitivity_label(s, a) for a in LARGE] for s in SAMPLERS], (20_000, 30_000, 40_000, 50_000), CLOSE
        ),
    ),
    Claim(
        "α = 1 clearly worse",
        "for α = 1, i.e., using the classical TS, would provide a significantly large regret",
        "TS has more than 10 % more final regret than Beta-SWTS with each of the windows 660, 2,942 and 5,744",
        decisions.ordered([(sensitivity_label(BETA, a), TS) for a in LARGE], margin=CLOSE),
    ),
)

TURN = Claim(
    "arm 10 becomes best",
    "For instance, in t ∈ [10.000, 20.000], phase in which arm a10 become optimal",
    "the best arm of every round, from the means; no runs needed",
    world_facts.turns_best(10, 10_000, 20_000),
)

CLAIMS = {
    ABRUPT: ABRUPT_CLAIMS,
    GENERAL: (*ABRUPT_CLAIMS, SIMILAR),
    SMOOTH: (SMOOTH_CLAIMS[0], TURN, *SMOOTH_CLAIMS[1:]),
    FAST: tuple(replace(claim, ours=True) for claim in SMOOTH_CLAIMS),
}
