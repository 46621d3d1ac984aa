"""The sentences of the paper's Experiments section, by the worlds on which they are tested."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace

from ..claims.judging import Claim, Evidence, Finding, Untested
from . import decisions
from . import readings as paper

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
    Untested(
        "We can see that (A) = |F_τ| tends to increase with τ and (B) decreases with τ.",
        "a statement about formulas, which ns_mab_gym.theory decides: no round leaves F_τ as τ grows; (B) grows up to "
        "τ = e, decreases from τ = 3 on in these four worlds, and increases in others, where a longer window has a "
        "smaller Δ_τ",
    ),
    Untested(
        "This implies that F_τ = F_Δ′,T",
        "a statement about sets, which ns_mab_gym.theory decides: F′_τ is part of F_Δ′,T, 1,300 of its 37,077 rounds "
        "in the world with σ = 0.0001, τ = 100 and Δ′ = 0.05; equal only as a superset of F′_τ, which Definition 1 "
        "allows",
    ),
    Untested(
        "From this fact, it is easy to prove that also Δ_τ = Δ′ − 2στ.",
        "a statement about gaps, which ns_mab_gym.theory decides: outside of F_Δ′,T the gap is at least that, 0.047 "
        "against 0.041 with the same numbers",
    ),
    Untested(
        "Consequently, we have that the learnable set is F*_τ, the union of the pseudophases",
        "a statement about sets, which ns_mab_gym.theory decides: if no phase has two best arms, F*_τ is part of the "
        "learnable set of Definition 1; all of it if every breakpoint changes the best arm too",
    ),
)


WINDOWED = (paper.BETA, paper.GAUSS, paper.SW_UCB, paper.SW_KL_UCB)
EVERYBODY = (paper.RIVALS, *paper.TUNINGS)  # what a comparison of all algorithms leaves open
LAST = 50_000
EVERY = 1_000  # at these rounds an algorithm must lead to have led all along


def rivals(evidence: Evidence) -> tuple[str, ...]:
    """The algorithms that are compared, under the evidence's reading."""
    return tuple(evidence.read(paper.RIVALS))


def windows(sampler: str, alphas: Sequence[float] = paper.ALPHAS) -> list[str]:
    """A sampler's entries with the windows of several α; by default all, in ascending order of their windows."""
    return [paper.sensitivity_label(sampler, alpha) for alpha in alphas]


def _both(alphas: Sequence[float] = paper.ALPHAS) -> list[str]:
    return [label for sampler in paper.SAMPLERS for label in windows(sampler, alphas)]


def small_worst(small: tuple[float, ...]) -> list[tuple[str, str]]:
    """Each larger window of a sampler against each of the small ones."""
    larger = [alpha for alpha in paper.ALPHAS if alpha not in small]
    return [pair for s in paper.SAMPLERS for pair in itertools.product(windows(s, larger), windows(s, small))]


def growing(evidence: Evidence) -> Finding:
    """Each window against the next larger one, up to the sampler's best in the paper."""
    order = evidence.read(paper.GROWING)
    pairs = []
    for sampler, best in ((paper.BETA, paper.SUGGESTED), (paper.GAUSS, 0.8)):
        labels = windows(sampler, order[: order.index(best) + 1])
        pairs += list(zip(labels[1:], labels[:-1], strict=True))
    return decisions.ordered(evidence, pairs)


def led(evidence: Evidence, among: tuple[str, ...], first: int) -> Finding:
    """Beta-SWTS against others from a round to the end, measured as the reading says."""
    if evidence.read(paper.MEASURE) == "gathered":
        return decisions.least(evidence, paper.BETA, among, decisions.regret_between(first, LAST))
    return decisions.best_from(evidence, paper.BETA, among, (*range(first, LAST, EVERY), LAST))


def led_in_words(evidence: Evidence, others: str, first: int) -> str:
    """The test of :func:`led`, in words."""
    if evidence.read(paper.MEASURE) == "gathered":
        return f"less regret gathered from round {first:,} to the end than by {others}"
    return f"less cumulative regret than {others} at round {first:,}, every 1,000 rounds from there, and at the end"


def addressed(evidence: Evidence) -> Finding:
    """TS after the first change: behind Beta-SWTS, or still playing at random late in phase 2."""
    span = evidence.read(paper.ADDRESSED)
    if span is None:
        return decisions.never_settles(evidence, [paper.TS], [], paper.PHASES[1:2], share=0.5)
    return decisions.more_after(evidence, paper.TS, paper.BETA, *span)


def addressed_in_words(evidence: Evidence) -> str:
    """The test of :func:`addressed`, in words."""
    span = evidence.read(paper.ADDRESSED)
    if span is None:
        return "in the last third of phase 2, TS gathers more than half of the regret of uniformly random play"
    until = "second" if span == paper.PHASES[1] else "end"
    return f"TS gathers more regret than Beta-SWTS from the first change to the {until}"


def among_worst(evidence: Evidence) -> Finding:
    """Ser4, Rexp3 and SW-KL-UCB: in the worse half, or in the last three places."""
    who = (paper.SER4, paper.REXP3, paper.SW_KL_UCB)
    rule = decisions.among_worst if evidence.read(paper.WORST) == "half" else decisions.last_places
    return rule(evidence, who, rivals(evidence))


def among_worst_in_words(evidence: Evidence) -> str:
    """The test of :func:`among_worst`, in words."""
    if evidence.read(paper.WORST) == "half":
        return "each of the three is in the worse half: at least half of the other algorithms have less final regret"
    return "each of the others has less final regret than all three"


def margin(evidence: Evidence) -> tuple[float, list[str]]:
    """The margin of closeness, and the curves of the figure whose height it is a share of, if it is."""
    share, of = evidence.read(paper.CLOSENESS)
    return share, _both() if of == "axis" else []


def margin_in_words(evidence: Evidence) -> str:
    """The margin of :func:`margin`, in words."""
    share, of = evidence.read(paper.CLOSENESS)
    return f"{share:.0%} of the {'largest final regret of all ten' if of == 'axis' else 'mean of the two'}"


def in_rounds(alphas: tuple[float, ...]) -> str:
    """The windows of several α, as text."""
    return ", ".join(f"{paper.window(alpha):,}" for alpha in alphas)


def low_arms_risen(evidence: Evidence) -> list[range]:
    """The rounds whose best arm was among the lowest before, under the evidence's reading of that."""
    lowest = evidence.read(paper.LOWEST)
    found: list[range] = evidence.once(("risen", lowest), lambda: decisions.risen(evidence.means, lowest))
    return found


def exceptions_in_words(evidence: Evidence) -> str:
    """The number of exceptions that similar experiments may have, in words."""
    return {0: "none", 2: "at most two", 4: "at most four"}[evidence.read(paper.EXCEPTIONS)]


def similar_in_words(evidence: Evidence) -> str:
    """The test of whether windows matter as in the abrupt world, in words."""
    return {
        "there": "as the text says of the abrupt worlds: the smallest window is the worst, Beta-SWTS is best at the "
        "suggested one, and γ-SWGTS at α = 0.8",
        "here": "as the text goes on, “more specifically”: small windows explore too much, and large ones collapse",
        "order": f"of the ten pairs of windows of each sampler, {exceptions_in_words(evidence)} of all twenty are in "
        "opposite order of final regret in this world and in the abrupt one",
    }[evidence.read(paper.SAME_BEHAVIOUR)]


MODERATE = Claim(
    "γ-SWGTS moderate",
    "Similarly to what happened in the generalized abruptly changing environments, the performance of γ-SWGTS displays "
    "moderate performance in this setting",
    lambda e: (
        "some algorithm has less final regret, and some has more"
        if e.read(paper.MIDDLE) == 1
        else "at least two algorithms have less final regret, and at least two have more"
    ),
    lambda e: decisions.moderate(e, paper.GAUSS, rivals(e), e.read(paper.MIDDLE)),
    (paper.MIDDLE, *EVERYBODY),
)

VIABLE = Claim(
    "windowed samplers beat TS",
    "showing how the sliding window approach applied to the TS algorithm is a viable solution to deal with "
    "Non-Stationary settings",
    "Beta-SWTS and γ-SWGTS have less final regret than TS",
    lambda e: decisions.ordered(e, [(sampler, paper.TS) for sampler in paper.SAMPLERS]),
    (paper.GAMMA,),
)

BEST_ARMS = Claim(
    "best arms",
    "In both settings the optimal arm is 10 during the F1 and F3 phases and arm 1 during the F2 and F4 phases.",
    "the best arm of every round, from the means; no runs needed",
    lambda e: decisions.best_arm_by_phase(e, paper.PHASES, (10, 1, 10, 1)),
)

RESULTS = (  # the paragraph "Results", whose conclusions the paper calls similar in both abrupt experiments
    Claim(
        "Rexp3 and Ser4 worst",
        "The algorithms providing the worst performance overall are Rexp3 and Ser4.",
        lambda e: (
            "each of the others has less final regret than both"
            if e.read(paper.OVERALL) == "final"
            else "each of the others has less cumulative regret than both, averaged over the whole horizon"
        ),
        lambda e: decisions.last_places(
            e,
            (paper.REXP3, paper.SER4),
            rivals(e),
            decisions.final if e.read(paper.OVERALL) == "final" else decisions.mean_regret,
        ),
        (paper.OVERALL, *EVERYBODY),
    ),
    Claim(
        "TS best in phase 1",
        "During the first phase F1, the best-performing algorithm is TS",
        lambda e: (
            "less regret than each of the others after round "
            + ", ".join(f"{each:,.0f}" for each in e.read(paper.DURING))
        ),
        lambda e: decisions.best_from(e, paper.TS, rivals(e), e.read(paper.DURING)),
        (paper.DURING, *EVERYBODY),
    ),
    Claim(
        "all worse after a change",
        "As soon as we change phase, and consequently, the optimal arm changes, all the algorithms start accumulating "
        "regret at an increased rate.",
        lambda e: (
            f"each algorithm gathers more regret in the {e.read(paper.SPAN):,} rounds after "
            f"{'each of the three changes' if len(e.read(paper.WHICH_CHANGES)) > 1 else 'the first change'} "
            "than in as many before"
        ),
        lambda e: decisions.faster_after(e, rivals(e), e.read(paper.WHICH_CHANGES), e.read(paper.SPAN)),
        (paper.SPAN, paper.WHICH_CHANGES, *EVERYBODY),
    ),
    Claim(
        "TS cannot address the change",
        "In particular, the TS algorithm cannot address this change",
        addressed_in_words,
        addressed,
        (paper.ADDRESSED,),
    ),
    Claim(
        "TS degrades with changes",
        "its performance degrades as multiple changes occur",
        lambda e: (
            f"TS gathers more regret per round in the later of these: {decisions.in_words(e.read(paper.WORSENING))}"
        ),
        lambda e: decisions.degrades(e, paper.TS, paper.PHASES, e.read(paper.WORSENING)),
        (paper.WORSENING,),
    ),
    Claim(
        "Beta-SWTS best from early in phase 2",
        "Conversely, its sliding window counterpart Beta-SWTS provides the best performances starting from the initial "
        "part of phase F2 (t ≈ 12.000)",
        lambda e: led_in_words(e, "each of the others", e.read(paper.BEGINNING)),
        lambda e: led(e, rivals(e), e.read(paper.BEGINNING)),
        (paper.BEGINNING, paper.MEASURE, *EVERYBODY),
    ),
    Claim(
        "forgetting pays",
        "showing that forgetting the past is an effective strategy in such a scenario",
        "Beta-SWTS has less final regret than TS, which is Beta-SWTS without forgetting",
        lambda e: decisions.ordered(e, [(paper.BETA, paper.TS)]),
    ),
    Claim(
        "most windows beat TS",
        "By the end of the learning horizon, most of the sliding-window-based approaches are able to outperform the TS "
        "algorithm.",
        "at least three of Beta-SWTS, γ-SWGTS, SW-UCB and SW-KL-UCB have less final regret than TS",
        lambda e: decisions.most_beat(e, WINDOWED, paper.TS),
        (paper.GAMMA, paper.SIGMA),
    ),
    Claim(
        "γ-SWGTS not the best",
        "The fact that γ-SWGTS is not the best-performing algorithm in this setting",
        "some other algorithm has less final regret",
        lambda e: decisions.not_best(e, paper.GAUSS, rivals(e)),
        EVERYBODY,
    ),
    Claim(
        "γ-SWGTS explores more",
        "Therefore, in its design, it needs to introduce more exploration",
        lambda e: (
            "γ-SWGTS gathers more regret than Beta-SWTS until the first change"
            if e.read(paper.EXPLORING) == "early"
            else "γ-SWGTS plays arms that are not the best more often than Beta-SWTS does, former best arms included"
        ),
        lambda e: decisions.ordered(
            e,
            [(paper.BETA, paper.GAUSS)],
            decisions.regret_at(paper.CHANGES[0]) if e.read(paper.EXPLORING) == "early" else decisions.suboptimal_pulls,
        ),
        (paper.EXPLORING, paper.GAMMA),
    ),
)

WINDOW_CLAIMS = (  # the paragraph "Sensitivity Analysis"
    Claim(
        "α = 0.2 too explorative",
        "for smaller window sizes, i.e., α = 0.2, the algorithms become too explorative, leading to a larger regret at "
        "the end of the learning horizon",
        "for both samplers, the smallest window has more final regret than each of the four others",
        lambda e: decisions.ordered(e, small_worst((0.2,))),
        (paper.GAMMA,),
    ),
    Claim(
        "α = 0.2 does not converge",
        "we are too aggressive in discarding samples used for the arms' reward estimates, preventing the algorithms "
        "from converging to an optimum when the environment is not changing",
        "in the last third of every phase, both samplers gather more than half of the regret of uniformly random play "
        "with α = 0.2, and less than half of it with the suggested window",
        lambda e: decisions.never_settles(e, _both((0.2,)), _both((paper.SUGGESTED,)), paper.PHASES, share=0.5),
        (paper.GAMMA,),
    ),
    Claim(
        "larger windows better",
        "As the window size increases, the performance for both algorithms improves",
        "each larger window has less final regret than the one before it, up to the window that the paper calls best",
        growing,
        (paper.GROWING, paper.GAMMA),
    ),
    Claim(
        "Beta-SWTS best at the suggested window",
        "achieving the minimum at the suggested window size (i.e., τ = 4√(T log(T))) for Beta-SWTS",
        "less final regret than with each of the four other windows",
        lambda e: decisions.least(e, paper.sensitivity_label(paper.BETA, paper.SUGGESTED), windows(paper.BETA)),
    ),
    Claim(
        "γ-SWGTS best at α = 0.8",
        "while γ-SWGTS reaches its best performance at α = 0.8",
        "less final regret than with each of the four other windows",
        lambda e: decisions.least(e, paper.sensitivity_label(paper.GAUSS, 0.8), windows(paper.GAUSS)),
        (paper.GAMMA,),
    ),
)

ABRUPT_CLAIMS = (BEST_ARMS, *RESULTS, *WINDOW_CLAIMS, VIABLE)

SIMILAR = Claim(
    "both abrupt worlds alike",
    "Since similar conclusions can be drawn from both experiments",
    lambda e: (
        f"of the sentences on results, {exceptions_in_words(e)} hold on one of the two worlds and do not on the other"
        if e.read(paper.ALIKE) == "said"
        else f"of all pairs of algorithms, {exceptions_in_words(e)} are in opposite order of final regret in the two"
    ),
    lambda e: (
        decisions.same_verdicts(e, paper.ABRUPT, paper.GENERAL, RESULTS, e.read(paper.EXCEPTIONS))
        if e.read(paper.ALIKE) == "said"
        else decisions.same_order(e, paper.ABRUPT, paper.GENERAL, [rivals(e)], e.read(paper.EXCEPTIONS))
    ),
    (paper.ALIKE, paper.EXCEPTIONS, *EVERYBODY),
    beside=(paper.ABRUPT,),
)

SENSITIVITY = tuple(
    claim
    for claim in WINDOW_CLAIMS
    if claim.key in ("α = 0.2 too explorative", "Beta-SWTS best at the suggested window", "γ-SWGTS best at α = 0.8")
)


SMALL = Claim(
    "small windows explore too much",
    "for small sliding window sizes, the algorithms tend to explore more than is needed",
    lambda e: (
        f"for both samplers, more final regret with window {in_rounds(e.read(paper.SMALLER))} than with each larger one"
    ),
    lambda e: decisions.ordered(e, small_worst(e.read(paper.SMALLER))),
    (paper.SMALLER, paper.GAMMA),
)

COLLAPSE = Claim(
    "large windows collapse",
    "for larger values of the window size, the performance tends to collapse to almost the same regret curve",
    lambda e: (
        f"for both samplers, windows {in_rounds(e.read(paper.LARGER))} lie within {margin_in_words(e)} of each other "
        "at rounds 20,000, 30,000, 40,000, 50,000"
    ),
    lambda e: decisions.collapse(
        e, [windows(s, e.read(paper.LARGER)) for s in paper.SAMPLERS], (20_000, 30_000, 40_000, LAST), *margin(e)
    ),
    (paper.LARGER, paper.CLOSENESS, paper.GAMMA),
)


def _similar(evidence: Evidence) -> Finding:
    """The finding that windows matter as in the abrupt world: by the words there, the words here, or their order."""
    way = evidence.read(paper.SAME_BEHAVIOUR)
    if way == "order":
        both = [windows(sampler) for sampler in paper.SAMPLERS]
        return decisions.same_order(evidence, evidence.world, paper.ABRUPT, both, evidence.read(paper.EXCEPTIONS))
    return decisions.all_hold(evidence, SENSITIVITY if way == "there" else (SMALL, COLLAPSE))


SMOOTH_CLAIMS = (
    Claim(
        "every arm best at times",
        "each arm is optimal for at least one round over the selected learning horizon",
        "the best arm of every round, from the means; no runs needed",
        decisions.every_arm_best,
    ),
    Claim(
        "Ser4, Rexp3, SW-KL-UCB among the worst",
        "Among the worst performing algorithms we have Ser4, Rexp3, and SW-KL-UCB.",
        among_worst_in_words,
        among_worst,
        (paper.WORST, *EVERYBODY),
    ),
    Claim(
        "Beta-SWTS best late",
        "In this setting Beta-SWTS outperforms all the other algorithms in t ∈ [30.000, 50.000].",
        lambda e: led_in_words(e, "each of the others", 30_000),
        lambda e: led(e, rivals(e), 30_000),
        (paper.MEASURE, *EVERYBODY),
    ),
    Claim(
        "Beta-SWTS best when a low arm rises",
        "it is particularly effective in dealing with cases in which arms whose expected reward was among the lowest "
        "becomes optimal",
        lambda e: (
            "less regret than each of the others in the rounds whose best arm was, since it last was best, "
            f"among the lowest {'three' if e.read(paper.LOWEST) == 3 else 'two'}"
        ),
        lambda e: decisions.least_in(e, paper.BETA, rivals(e), low_arms_risen(e)),
        (paper.LOWEST, *EVERYBODY),
    ),
    Claim(
        "Beta-SWTS lowest slope",
        "For instance, in t ∈ [10.000, 20.000], […] the Beta-SWTS is providing the lowest increase rate among the "
        "analyzed algorithms.",
        "less regret gathered from round 10,000 to 20,000 than by each of the others",
        lambda e: decisions.least(e, paper.BETA, rivals(e), decisions.regret_between(10_000, 20_000)),
        EVERYBODY,
    ),
    Claim(
        "TS behind Beta-SWTS late",
        "Once more, the classical TS algorithm is outperformed by its sliding-window counterpart in t ∈ [30.000, "
        "50.000].",
        lambda e: led_in_words(e, "TS", 30_000),
        lambda e: led(e, (paper.BETA, paper.TS), 30_000),
        (paper.MEASURE,),
    ),
    MODERATE,
    SMALL,
    Claim(
        "sensitivity as in the abrupt world",
        "The behavior is similar to what we presented in the abruptly-changing scenario.",
        similar_in_words,
        _similar,
        (paper.SAME_BEHAVIOUR, paper.EXCEPTIONS, paper.SMALLER, paper.LARGER, paper.CLOSENESS, paper.GAMMA),
        beside=(paper.ABRUPT,),
    ),
    COLLAPSE,
    Claim(
        "α = 1 clearly worse",
        "for α = 1, i.e., using the classical TS, would provide a significantly large regret",
        lambda e: (
            f"TS has more final regret than Beta-SWTS with each of the windows {in_rounds(e.read(paper.LARGER))}, by "
            f"more than {margin_in_words(e)}"
        ),
        lambda e: decisions.clearly_above(e, paper.TS, windows(paper.BETA, e.read(paper.LARGER)), *margin(e)),
        (paper.LARGER, paper.CLOSENESS, paper.GAMMA),
    ),
    VIABLE,
)

TURN = Claim(
    "arm 10 becomes best",
    "For instance, in t ∈ [10.000, 20.000], phase in which arm a10 become optimal",
    "the best arm of every round, from the means; no runs needed",
    lambda e: decisions.turns_best(e, 10, 10_000, 20_000),
)


BOTH = {"best arms", "α = 0.2 too explorative", "α = 0.2 does not converge", "larger windows better"}  # "in both …"
BOTH |= {claim.key for claim in (*SENSITIVITY, VIABLE)}


def _said_of(world: str, claims: Sequence[Claim], elsewhere: Collection[str] = ()) -> tuple[Claim, ...]:
    """The claims as said of a world, but for those that the paper makes of others too."""
    return tuple(claim if claim.key in elsewhere else replace(claim, said_of=world) for claim in claims)


CLAIMS = {
    paper.ABRUPT: ABRUPT_CLAIMS,
    paper.GENERAL: (*_said_of(paper.ABRUPT, ABRUPT_CLAIMS, BOTH), MODERATE, SIMILAR),
    paper.SMOOTH: (SMOOTH_CLAIMS[0], TURN, *SMOOTH_CLAIMS[1:]),
    # The paper's example of a slope is about rounds in which one arm rises here, and in which several do there.
    paper.FAST: _said_of(
        paper.SMOOTH, [claim for claim in SMOOTH_CLAIMS if claim.key != "Beta-SWTS lowest slope"], BOTH
    ),
}
