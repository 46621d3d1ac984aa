"""The names of the paper's worlds and algorithms, and the fair readings of what its sentences leave open.

The first reading of a choice decides the headline. It is chosen by one rule, whatever the verdict: what the paper says
of it elsewhere, or the source or code to which it refers for it; else the plain sense of the sentence, with nothing
added and nothing left out; else, where words leave a size open, the middle one of three.
"""

from __future__ import annotations

import math

from ..agents.core.knowledge import suggested_window
from ..claims.judging import Choice, Reading

HORIZON, RUNS = 50_000, 50

ABRUPT, GENERAL, SMOOTH, FAST = "Abrupt", "General abrupt", "Smooth, σ = 0.0001", "Smooth, σ = 0.001"
WORLDS = {
    ABRUPT: "NSBandit-Abrupt-v0",
    GENERAL: "NSBandit-GeneralAbrupt-v0",
    SMOOTH: "NSBandit-Smooth-v0",
    FAST: "NSBandit-SmoothFast-v0",
}

BETA, GAUSS, TS = "Beta-SWTS", "γ-SWGTS", "TS"
SW_UCB, KL_UCB, SW_KL_UCB, REXP3, SER4 = "SW-UCB", "KL-UCB", "SW-KL-UCB", "Rexp3", "Ser4"
ALGORITHMS = {
    BETA: "beta-swts",
    GAUSS: "gamma-swgts",
    TS: "ts",
    SW_UCB: "sw-ucb",
    KL_UCB: "kl-ucb",
    SW_KL_UCB: "sw-kl-ucb",
    REXP3: "rexp3",
    SER4: "ser4",
}
SAMPLERS = (BETA, GAUSS)
ALPHAS = (0.2, 0.4, 0.6, 0.5, 0.8)  # in ascending order of their windows: 0.5 means 4√(T ln T)
SUGGESTED = 0.5

PHASES = ((0, 14_999), (14_999, 30_000), (30_000, 39_999), (39_999, 50_000))  # the last round before, and the last of
CHANGES = tuple(last for _, last in PHASES[:-1])


def window(alpha: float, horizon: int = HORIZON) -> int:
    """τ for α: T^α rounded up, and 4√(T ln T) rounded down for what the paper calls α = 0.5.

    >>> [window(alpha) for alpha in ALPHAS]
    [9, 76, 660, 2942, 5744]
    """
    if alpha == SUGGESTED:
        return suggested_window(horizon)
    return math.ceil(math.pow(horizon, alpha))


def sensitivity_label(sampler: str, alpha: float) -> str:
    """The label of a sampler with the window of α."""
    return f"{sampler} (α = {alpha:g})"


LINKED = "the code that the paper links, though that is of an earlier paper and has none of these worlds"

ALL = tuple(ALGORITHMS)

RIVALS = Choice(
    "KL-UCB",
    "Is KL-UCB among the algorithms that are compared?",
    (
        Reading(
            "not among them",
            "the paper's own list: the Experiments section introduces SW-KL-UCB twice and KL-UCB never, includes “an "
            "algorithm meant for stationary bandits, i.e., TS”, and calls TS “the only algorithm considering the "
            "entire history”",
            tuple(label for label in ALL if label != KL_UCB),
        ),
        Reading(
            "among them",
            "the appendix gives a parameter for KL-UCB, and the first “SW-KL-UCB” of the text has KL-UCB's reference "
            "and is “one of the most effective stationary MAB algorithms”",
            ALL,
        ),
    ),
    compares=True,
)
GAMMA = Choice(
    "γ of γ-SWGTS",
    "Which γ does γ-SWGTS play with?",
    (
        Reading(
            "γ = 1",
            "the paper's theorems for its own rewards: the largest that they allow, min{1/(4λ²), 1}, with λ = ½, which "
            "fits rewards in [0, 1]",
        ),
        Reading("γ = ¼", "λ = 1: “designed for generic subgaussian rewards”; the text never sets γ"),
    ),
    agent=GAUSS,
)
VARIATION = Choice(
    "V_T of Rexp3",
    "Which total variation is Rexp3 told?",
    (
        Reading("the world's own", "the formula of the paper's appendix with the V_T of these means"),
        Reading("0.001 T", f"the constant in {LINKED}"),
    ),
    agent=REXP3,
)
SIGMA = Choice(
    "σ of SW-KL-UCB",
    "Which σ gives SW-KL-UCB its window σ^(−4/5)?",
    (
        Reading(
            "as stated, else 0.001",
            "the paper's σ in the smooth worlds; of the abrupt ones it says none, and the code that it links has 0.001",
        ),
        Reading("0.001", f"the constant in {LINKED}: a window of 252 rounds in every world"),
        Reading("as stated, else 0.0001", "in the abrupt worlds the σ of the main text: a window of 1,585 rounds"),
    ),
    agent=SW_KL_UCB,
)
SER4_TUNING = Choice(
    "tuning of Ser4",
    "What are N and the factor before the threshold of Ser4?",
    (
        Reading(
            "N = switches + 1",
            "as in the source to which the paper refers: its optimal policy has N − 1 switches; factor 2; δ = 1/T",
        ),
        Reading("N = switches", "“Ser4, which considers best arm switches”: N counts them"),
        Reading(
            "factor 1", "a public code has it; two Hoeffding radii give 2, as has the linked code, before another root"
        ),
    ),
    agent=SER4,
)

SPAN = Choice(
    "after a change",
    "How long after a change is “an increased rate” looked for?",
    (
        Reading("100 rounds", "“as soon as we change phase”; no number is given, and this is the middle of three", 100),
        Reading("50 rounds", "“as soon as”, taken strictly", 50),
        Reading("1,000 rounds", "a rate that lasts: four windows of 252 rounds", 1_000),
    ),
)
WHICH_CHANGES = Choice(
    "which changes",
    "At which changes do all algorithms speed up?",
    (
        Reading("the first", "the paper's “this change”, after “the first phase”, is one change", CHANGES[:1]),
        Reading("every change", "“as soon as we change phase” can be said of any", CHANGES),
    ),
)
ADDRESSED = Choice(
    "addressing a change",
    "When does an algorithm “not address this change”?",
    (
        Reading(
            "lags in phase 2",
            "the paper's own contrast, “conversely, its sliding window counterpart Beta-SWTS”, until the next change: "
            "it gathers more regret than Beta-SWTS",
            PHASES[1],
        ),
        Reading(
            "has not settled",
            "a standard of ours: in the last third of phase 2 it still has half of the regret of random play",
            None,
        ),
        Reading("lags to the end", "it gathers more regret than Beta-SWTS from then on", (PHASES[1][0], PHASES[-1][1])),
    ),
)
OVERALL = Choice(
    "overall",
    "What is the “performance overall”?",
    (
        Reading("final regret", "the paper's definition of the regret, which is of all T rounds", "final"),
        Reading("the whole curve", "the cumulative regret averaged over the horizon, as a figure shows it", "curve"),
    ),
)
WORSENING = Choice(
    "how TS degrades",
    "Between which phases does the performance of TS degrade?",
    (
        Reading(
            "from each phase to the next",
            "the plain sense of “as multiple changes occur”: with each of them",
            (((1, 1), (2, 2)), ((2, 2), (3, 3)), ((3, 3), (4, 4))),
        ),
        Reading("after against before", "phases 2 to 4, after changes, against phase 1", (((1, 1), (2, 4)),)),
        Reading(
            "each against the first",
            "each phase after a change is worse than the one before any",
            (((1, 1), (2, 2)), ((1, 1), (3, 3)), ((1, 1), (4, 4))),
        ),
        Reading(
            "same best arm",
            "phases 3 and 4 repeat the best arms of phases 1 and 2: like against like",
            (((1, 1), (3, 3)), ((2, 2), (4, 4))),
        ),
    ),
)
BEGINNING = Choice(
    "start of the lead",
    "When is “the initial part of phase F2”?",
    (
        Reading(
            "round 18,000",
            "the first fifth of phase 2, which begins in round 15,000: nearest to the paper's “t ≈ 12.000”",
            18_000,
        ),
        Reading("round 22,500", "the first half of phase 2", 22_500),
    ),
)
MEASURE = Choice(
    "performance in a stretch",
    "What is the performance of an algorithm in a stretch of rounds?",
    (
        Reading("cumulative regret", "what the paper's figures show", "cumulative"),
        Reading("regret gathered there", "what happened before the stretch is not counted", "gathered"),
    ),
)
DURING = Choice(
    "during a phase",
    "When is an algorithm the best “during” a phase?",
    (
        Reading(
            "at its end", "the plain sense: the regret of the phase, which is that of its last round", (PHASES[0][1],)
        ),
        Reading("all along", "at each fifth of the phase", tuple(PHASES[0][1] * k / 5 for k in range(1, 6))),
    ),
)
WORST = Choice(
    "among the worst",
    "Who is “among the worst performing algorithms”?",
    (
        Reading(
            "the worse half",
            "at least half of the others have less regret: where the paper means the last places it writes “the worst” "
            "without “among”",
            "half",
        ),
        Reading("the last three", "three are named, so they are the last three", "last"),
    ),
)
MIDDLE = Choice(
    "moderate",
    "What is a “moderate performance”?",
    (
        Reading(
            "two on either side",
            "at least two are better, and at least two worse: more than “not the best-performing”, which the paper "
            "says elsewhere",
            2,
        ),
        Reading("neither first nor last", "some algorithm is better, and some is worse", 1),
    ),
)
SMALLER = Choice(
    "small windows",
    "Which are the “small sliding window sizes”?",
    (
        Reading("9", "the paper's own “smaller window sizes, i.e., α = 0.2” of the abrupt worlds", (0.2,)),
        Reading("9, 76", "sizes, of which there are several", (0.2, 0.4)),
    ),
)
LARGER = Choice(
    "larger windows",
    "Which are the “larger values of the window size”?",
    (
        Reading(
            "660, 2,942, 5,744",
            "the larger three of five, the same three by rounds and by the paper's name α; the larger two are not",
            (0.6, 0.5, 0.8),
        ),
        Reading("2,942, 5,744", "the largest two", (0.5, 0.8)),
        Reading("α = 0.6, 0.8", "the largest two by the name α, which calls 2,942 rounds α = 0.5", (0.6, 0.8)),
    ),
)
CLOSENESS = Choice(
    "almost the same",
    "How close is “almost the same regret curve”, and how far “significantly large”?",
    (
        Reading("25 % of the curves", "no number is given; for low curves, the middle of three", (0.25, "curve")),
        Reading("10 % of the curves", "a strict one", (0.10, "curve")),
        Reading("5 % of the figure", "what the eye sees in a figure of all ten curves", (0.05, "axis")),
    ),
)
GROWING = Choice(
    "order of windows",
    "In which order does “the window size” increase?",
    (
        Reading("by rounds", "the plain sense of “size”: 9, 76, 660, 2,942, 5,744", (0.2, 0.4, 0.6, 0.5, 0.8)),
        Reading(
            "by the name α", "0.2, 0.4, 0.5, 0.6, 0.8, where α = 0.5 means 2,942 rounds", (0.2, 0.4, 0.5, 0.6, 0.8)
        ),
    ),
)
LOWEST = Choice(
    "among the lowest",
    "Which arms were “among the lowest”?",
    (
        Reading("the lowest two", "the paper's own example, arm 10, is the second lowest at the start", 2),
        Reading("the lowest three", "of ten arms", 3),
    ),
)
ALIKE = Choice(
    "similar conclusions",
    "When are conclusions from two experiments similar?",
    (
        Reading(
            "in what is said",
            "the plain sense of “conclusions”: what the text says of the one is as true of the other",
            "said",
        ),
        Reading("in the order", "the algorithms come in the same order of final regret", "order"),
    ),
)
EXCEPTIONS = Choice(
    "exceptions",
    "With how many exceptions are two experiments still “similar”?",
    (
        Reading("at most two", "similar is not the same; no number is given, and this is the middle of three", 2),
        Reading("none", "taken strictly", 0),
        Reading("at most four", "a generous one", 4),
    ),
)
EXPLORING = Choice(
    "more exploration",
    "What shows that an algorithm explores more?",
    (
        Reading(
            "regret before any change",
            "the plain sense of exploring, for want of a count of its plays: in phase 1 no estimate is of a former "
            "phase, so that no regret comes from an arm that was the best before",
            "early",
        ),
        Reading(
            "pulls of other arms than the best",
            "a count of plays in all rounds, in which plays of an arm that was the best before a change count too",
            "pulls",
        ),
    ),
)
SAME_BEHAVIOUR = Choice(
    "similar behavior",
    "When is the behavior of windows “similar” to that in the abrupt scenario?",
    (
        Reading(
            "in what was said there",
            "the plain sense of “similar to what we presented”: what the text says of windows in the abrupt worlds is "
            "true here",
            "there",
        ),
        Reading("in what is said here", "the text goes on with “more specifically”", "here"),
        Reading("in the order", "windows come in the same order of final regret", "order"),
    ),
)

TUNINGS = (GAMMA, VARIATION, SIGMA, SER4_TUNING)

NOT_TAKEN = (
    "The largest move of a mean as σ in the abrupt worlds, 0.89 and 0.87: a jump has no smoothness, and a window of 2 "
    "rounds plays 10 arms in turn.",
    "The largest move of a mean as σ in the smooth worlds, 0.45 σ: the paper states their σ.",
    "t ≈ 12.000 as the start of Beta-SWTS's lead: it lies in phase 1, of which the paper says that TS is the best.",
    "α = 0.5 as T^0.5 = 224 rounds: the paper says that it stands for 4√(T ln T).",
    "Another c of SW-KL-UCB: the appendix gives c = 3 for KL-UCB, of which it is a window.",
    "Another δ of Ser4 than 1/T: the appendix states it.",
    "φ = √(1/(K √(KT))) of Ser4, which the linked code has: the appendix prints another φ.",
    "The linked code's own algorithms: its mistakes (Rexp3's probabilities normalised without the arm's own weight, "
    "Ser4's arms that are never dropped and its threshold without 1/τ, KL-UCB's bound with t for N_i, windows that "
    "forget for the wrong arm) are no reading of the paper.",
)
