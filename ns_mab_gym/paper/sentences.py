"""The sentences of the paper's Experiments section, by the worlds on which they are tested."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..claims.judging import Choice, Claim, Evidence, Finding, Untested
from . import (
    decisions,
    readings,
)
from . import readings as open_

UNTESTED = (
    Untested(
        "sliding-window algorithms that are generally able to deal with non-stationary bandit settings",
        "a judgement of the literature; how they do in these settings is tested",
    ),
    Untested(
        "The parameters for all the baseline algorithms have been set as recommended in the corresponding papers",
        "a statement about what the authors did; the appendix's formulas are followed here, and what they leave open "
        "is among the readings",
    ),
    Untested(
        "the expected rewards within each phase evolve arbitrarily between two breakpoints",
        "a description; by the paper's equations only arms 2, 4 and 6 move in phases 1 and 3",
    ),
    Untested(
        "SW-KL-UCB, one of the most effective stationary MAB algorithms",
        "a judgement of the literature; none of the paper's worlds is stationary",
    ),
    Untested(
        "Since we derived above that the order of cumulative regret for our algorithms is the same as that of SW-UCB",
        "a statement about bounds, not about runs; ns_mab_gym.theory has the orders side by side",
    ),
    Untested(
        "We believe this can be explained by the way some hyperparameters are set based on theoretical considerations, "
        "which should be tuned depending on the specific scenario to provide better performance.",
        "a belief about causes; the other readings of their tuning show what other parameters do",
    ),
    Untested(
        "since the setting is comparable to a stationary environment during the phase and it is the only algorithm "
        "considering the entire history to take decisions",
        "a reason; the first half is true of the abrupt world by its equations, and not of the general one, whose "
        "means move within phases; the second half holds only if KL-UCB is not among the algorithms",
    ),
    Untested(
        "is due to the fact that it is designed for generic subgaussian rewards, while the other ones are specifically "
        "crafted for Bernoulli rewards",
        "a reason; SW-UCB, Rexp3 and Ser4 are made for any rewards in [0, 1]",
    ),
    Untested(
        "further highlighting the explorative nature of sampling from a Gaussian distribution in a Bernoulli setting",
        "an interpretation of the sentence before it, which is tested",
    ),
    Untested(
        "Even in this case, the issue is related to the initialization of the parameters that may play a crucial role "
        "in having low regret.",
        "a belief about causes; see the other readings of the tuning of Rexp3, SW-KL-UCB and Ser4",
    ),
    Untested("due to the more general formulation of the algorithm", "a reason; the performance it explains is tested"),
    Untested(
        "which shows the necessity to introduce at least a limited amount of forgetting in such settings",
        "an inference from the sentence before it, which is tested",
    ),
)


WINDOWED = (readings.BETA, readings.GAUSS, readings.SW_UCB, readings.SW_KL_UCB)
EVERYBODY = (open_.RIVALS, *open_.TUNINGS)  # what a comparison of all algorithms leaves open
LAST = 50_000
EVERY = 1_000  # at these rounds an algorithm must lead to have led all along


def rivals(evidence: Evidence) -> tuple[str, ...]:
    """The algorithms that are compared, under the evidence's reading."""
    found: tuple[str, ...] = evidence.read(open_.RIVALS)
    return found


def windows(sampler: str) -> list[str]:
    """A sampler's entries in ascending order of their windows."""
    return [readings.sensitivity_label(sampler, alpha) for alpha in readings.ALPHAS]


def small_worst(small: tuple[float, ...]) -> list[tuple[str, str]]:
    """Each larger window of a sampler against each of the small ones."""
    larger = [alpha for alpha in readings.ALPHAS if alpha not in small]
    return [
        (readings.sensitivity_label(s, a), readings.sensitivity_label(s, b))
        for s in readings.SAMPLERS
        for a in larger
        for b in small
    ]


def growing(evidence: Evidence) -> Finding:
    """Each window against the next larger one, up to the sampler's best in the paper."""
    order = evidence.read(open_.GROWING)
    pairs = []
    for sampler, best in ((readings.BETA, readings.SUGGESTED), (readings.GAUSS, 0.8)):
        labels = [readings.sensitivity_label(sampler, alpha) for alpha in order[: order.index(best) + 1]]
        pairs += list(zip(labels[1:], labels[:-1], strict=True))
    return decisions.ordered(pairs)(evidence)


def best_window(sampler: str, alpha: float) -> Claim:
    """The claim that a sampler is best with the window of α."""
    name = "at the suggested window" if alpha == readings.SUGGESTED else f"at α = {alpha:g}"
    quote = (
        "achieving the minimum at the suggested window size (i.e., τ = 4√(T log(T))) for Beta-SWTS"
        if sampler == readings.BETA
        else "while γ-SWGTS reaches its best performance at α = 0.8"
    )
    return Claim(
        f"{sampler} best {name}",
        quote,
        "less final regret than with each of the four other windows",
        decisions.least(readings.sensitivity_label(sampler, alpha), windows(sampler)),
        () if sampler == readings.BETA else (open_.GAMMA,),
    )


def led(evidence: Evidence, among: tuple[str, ...], first: int) -> Finding:
    """Beta-SWTS against others from a round to the end, measured as the reading says."""
    if evidence.read(open_.MEASURE) == "gathered":
        return decisions.least(readings.BETA, among, decisions.regret_between(first, LAST))(evidence)
    return decisions.best_from(readings.BETA, among, (*range(first, LAST, EVERY), LAST))(evidence)


def led_in_words(evidence: Evidence, others: str, first: int) -> str:
    """The test of :func:`led`, in words."""
    if evidence.read(open_.MEASURE) == "gathered":
        return f"less regret gathered from round {first:,} to the end than by {others}"
    return f"less cumulative regret than {others} at round {first:,}, every 1,000 rounds from there, and at the end"


def addressed(evidence: Evidence) -> Finding:
    """TS after the first change: behind Beta-SWTS, or still playing at random late in phase 2."""
    span = evidence.read(open_.ADDRESSED)
    if span is None:
        return decisions.never_settles([readings.TS], [], readings.PHASES[1:2], share=0.5)(evidence)
    return decisions.more_after(readings.TS, readings.BETA, *span)(evidence)


def addressed_in_words(evidence: Evidence) -> str:
    """The test of :func:`addressed`, in words."""
    span = evidence.read(open_.ADDRESSED)
    if span is None:
        return "in the last third of phase 2, TS gathers more than half of the regret of uniformly random play"
    until = "second" if span == readings.PHASES[1] else "end"
    return f"TS gathers more regret than Beta-SWTS from the first change to the {until}"


def among_worst(evidence: Evidence) -> Finding:
    """Ser4, Rexp3 and SW-KL-UCB: in the worse half, or in the last three places."""
    who = (readings.SER4, readings.REXP3, readings.SW_KL_UCB)
    rule = decisions.among_worst if evidence.read(open_.WORST) == "half" else decisions.last_places
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
    return share, [label for sampler in readings.SAMPLERS for label in windows(sampler)] if of == "axis" else []


def margin_in_words(evidence: Evidence) -> str:
    """The margin of :func:`margin`, in words."""
    share, of = evidence.read(open_.CLOSENESS)
    return f"{share:.0%} of the {'largest final regret of all ten' if of == 'axis' else 'curve'}"


def in_rounds(alphas: tuple[float, ...]) -> str:
    """The windows of several α, as text."""
    return ", ".join(f"{readings.window(alpha):,}" for alpha in alphas)


def low_arms_risen(evidence: Evidence) -> list[range]:
    """The rounds whose best arm was among the lowest before, under the evidence's reading of that."""
    lowest = evidence.read(open_.LOWEST)
    found: list[range] = evidence.once(("risen", lowest), lambda: decisions.risen(evidence.means, lowest))
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
    """The choices that a comparison of all algorithms leaves open, and those of a claim itself."""
    return (*more, *EVERYBODY)


MODERATE = Claim(
    "γ-SWGTS moderate",
    "Similarly to what happened in the generalized abruptly changing environments, the performance of γ-SWGTS displays "
    "moderate performance in this setting",
    lambda e: (
        "some algorithm has less final regret, and some has more"
        if e.read(open_.MIDDLE) == 1
        else "at least two algorithms have less final regret, and at least two have more"
    ),
    lambda e: decisions.moderate(readings.GAUSS, rivals(e), e.read(open_.MIDDLE))(e),
    about_all(open_.MIDDLE),
)

VIABLE = Claim(
    "windowed samplers beat TS",
    "showing how the sliding window approach applied to the TS algorithm is a viable solution to deal with "
    "Non-Stationary settings",
    "Beta-SWTS and γ-SWGTS have less final regret than TS",
    decisions.ordered([(sampler, readings.TS) for sampler in readings.SAMPLERS]),
    (open_.GAMMA,),
)

ABRUPT_CLAIMS = (
    Claim(
        "best arms",
        "In both settings the optimal arm is 10 during the F1 and F3 phases and arm 1 during the F2 and F4 phases.",
        "the best arm of every round, from the means; no runs needed",
        decisions.best_arm_by_phase(readings.PHASES, (10, 1, 10, 1)),
    ),
    Claim(
        "Rexp3 and Ser4 worst",
        "The algorithms providing the worst performance overall are Rexp3 and Ser4.",
        lambda e: (
            "each of the others has less final regret than both"
            if e.read(open_.OVERALL) == "final"
            else "each of the others has less cumulative regret than both, averaged over the whole horizon"
        ),
        lambda e: decisions.last_places(
            (readings.REXP3, readings.SER4),
            rivals(e),
            decisions.final if e.read(open_.OVERALL) == "final" else decisions.mean_regret,
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
        lambda e: decisions.best_from(readings.TS, rivals(e), e.read(open_.DURING))(e),
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
        lambda e: decisions.faster_after(rivals(e), e.read(open_.WHICH_CHANGES), e.read(open_.SPAN))(e),
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
            f"TS gathers more regret per round in the later of these: {decisions.in_words(e.read(open_.WORSENING))}"
        ),
        lambda e: decisions.degrades(readings.TS, readings.PHASES, e.read(open_.WORSENING))(e),
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
        decisions.ordered([(readings.BETA, readings.TS)]),
    ),
    Claim(
        "most windows beat TS",
        "By the end of the learning horizon, most of the sliding-window-based approaches are able to outperform the TS "
        "algorithm.",
        "at least three of Beta-SWTS, γ-SWGTS, SW-UCB and SW-KL-UCB have less final regret than TS",
        decisions.most_beat(WINDOWED, readings.TS),
        (open_.GAMMA, open_.SIGMA),
    ),
    Claim(
        "γ-SWGTS not the best",
        "The fact that γ-SWGTS is not the best-performing algorithm in this setting",
        "some other algorithm has less final regret",
        lambda e: decisions.not_best(readings.GAUSS, rivals(e))(e),
        EVERYBODY,
    ),
    Claim(
        "γ-SWGTS explores more",
        "Therefore, in its design, it needs to introduce more exploration",
        "γ-SWGTS plays arms that are not the best more often than Beta-SWTS does",
        decisions.ordered([(readings.BETA, readings.GAUSS)], decisions.suboptimal_pulls),
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
        decisions.never_settles(
            [windows(sampler)[0] for sampler in readings.SAMPLERS],
            [readings.sensitivity_label(sampler, readings.SUGGESTED) for sampler in readings.SAMPLERS],
            readings.PHASES,
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
    best_window(readings.BETA, readings.SUGGESTED),
    best_window(readings.GAUSS, 0.8),
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
        decisions.same_verdicts(readings.ABRUPT, readings.GENERAL, RESULTS, exceptions=2)(e)
        if e.read(open_.ALIKE) == "said"
        else decisions.same_order(readings.ABRUPT, readings.GENERAL, [rivals(e)], exceptions=2)(e)
    ),
    about_all(open_.ALIKE),
    beside=(readings.ABRUPT,),
)

SENSITIVITY = tuple(
    claim
    for claim in ABRUPT_CLAIMS
    if claim.key in ("α = 0.2 too explorative", "Beta-SWTS best at the suggested window", "γ-SWGTS best at α = 0.8")
)


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
        [[readings.sensitivity_label(s, a) for a in larger(e)] for s in readings.SAMPLERS],
        (20_000, 30_000, 40_000, LAST),
        *margin(e),
    )(e),
    (open_.LARGER, open_.CLOSENESS, open_.GAMMA),
)


def _similar(evidence: Evidence) -> Finding:
    """The finding that windows matter as in the abrupt world: by the words there, the words here, or their order."""
    way = evidence.read(open_.SAME_BEHAVIOUR)
    if way == "order":
        both = [windows(sampler) for sampler in readings.SAMPLERS]
        return decisions.same_order(evidence.world, readings.ABRUPT, both, exceptions=2)(evidence)
    return decisions.all_hold(SENSITIVITY if way == "there" else (SMALL, COLLAPSE))(evidence)


SMOOTH_CLAIMS = (
    Claim(
        "every arm best at times",
        "each arm is optimal for at least one round over the selected learning horizon",
        "the best arm of every round, from the means; no runs needed",
        decisions.every_arm_best(),
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
        lambda e: decisions.least_in(readings.BETA, rivals(e), low_arms_risen)(e),
        about_all(open_.LOWEST),
    ),
    Claim(
        "Beta-SWTS lowest slope",
        "For instance, in t ∈ [10.000, 20.000], […] the Beta-SWTS is providing the lowest increase rate among the "
        "analyzed algorithms.",
        "less regret gathered from round 10,000 to 20,000 than by each of the others",
        lambda e: decisions.least(readings.BETA, rivals(e), decisions.regret_between(10_000, 20_000))(e),
        EVERYBODY,
    ),
    Claim(
        "TS behind Beta-SWTS late",
        "Once more, the classical TS algorithm is outperformed by its sliding-window counterpart in t ∈ [30.000, "
        "50.000].",
        lambda e: led_in_words(e, "TS", 30_000),
        lambda e: led(e, (readings.BETA, readings.TS), 30_000),
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
        beside=(readings.ABRUPT,),
    ),
    COLLAPSE,
    Claim(
        "α = 1 clearly worse",
        "for α = 1, i.e., using the classical TS, would provide a significantly large regret",
        lambda e: (
            f"TS has more final regret than Beta-SWTS with each of the windows {in_rounds(larger(e))}, by more than "
            f"{margin_in_words(e)}"
        ),
        lambda e: decisions.clearly_above(
            readings.TS, [readings.sensitivity_label(readings.BETA, a) for a in larger(e)], *margin(e)
        )(e),
        (open_.LARGER, open_.CLOSENESS, open_.GAMMA),
    ),
    VIABLE,
)

TURN = Claim(
    "arm 10 becomes best",
    "For instance, in t ∈ [10.000, 20.000], phase in which arm a10 become optimal",
    "the best arm of every round, from the means; no runs needed",
    decisions.turns_best(10, 10_000, 20_000),
)


BOTH = {"best arms", "α = 0.2 too explorative", "α = 0.2 does not converge", "larger windows better"}  # "in both …"
BOTH |= {claim.key for claim in (*SENSITIVITY, VIABLE)}


def _said_of(world: str, claims: Sequence[Claim], elsewhere: Collection[str] = ()) -> tuple[Claim, ...]:
    """The claims as said of a world, but for those that the paper makes of others too."""
    return tuple(claim if claim.key in elsewhere else replace(claim, said_of=world) for claim in claims)


CLAIMS = {
    readings.ABRUPT: ABRUPT_CLAIMS,
    readings.GENERAL: (*_said_of(readings.ABRUPT, ABRUPT_CLAIMS, BOTH), MODERATE, SIMILAR),
    readings.SMOOTH: (SMOOTH_CLAIMS[0], TURN, *SMOOTH_CLAIMS[1:]),
    # The paper's example of a slope is about rounds in which one arm rises here, and in which several do there.
    readings.FAST: _said_of(
        readings.SMOOTH, [claim for claim in SMOOTH_CLAIMS if claim.key != "Beta-SWTS lowest slope"], BOTH
    ),
}
