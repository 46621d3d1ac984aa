"""The rules of the leaderboard, and whom each of them flatters: what a reader must know before the tables."""

from __future__ import annotations

from .standings import SAMPLES

__all__ = ["FLATTERED", "RULES"]

RULES = (
    "Informed: every agent is tuned by its own source's formula from the true facts of the instance that it will meet "
    "(the number of changes, V_T, σ; br-mab reads the means themselves). Blind: the agent is told T and K alone.",
    "Run r has the same instance and the same luck for every agent, so that agents are compared in pairs. On random "
    "worlds every run has an instance of its own, and informed agents are tuned anew for each.",
    "On a world, agents are ranked by their mean regret in round T. An agent's mean rank is the mean over the worlds "
    "of a family, then over the families, so that seven kinds of random phases do not outvote two of rising means.",
    f"Intervals are over worlds: families are drawn with replacement, then worlds within each, {SAMPLES:,} times. They "
    "say what the rank could be on other worlds of these kinds, and not what it would be with other luck.",
    "Only worlds that every agent of the zoo can play count for ranks. Gaussian rewards leave [0, 1], for which many "
    "rules are not defined: these worlds are shown and do not count. Who misses a world that counts has no place.",
    "Agents for rewards of 0 or 1 play Beta rewards by a coin flip with the reward as its chance, which adds noise "
    "that the others do not have.",
    "Each algorithm has one form with a place; further forms are shown without one, because two forms of one algorithm "
    "would push everybody else down by two. raw-ucb and fewa have a place in their geometric forms: the exact ones "
    "take too long.",
    "oracle-restart is told the breakpoints and random plays at random: they are references and have no place. Regret "
    "relative to oracle-restart is shown on worlds that consist of phases alone; where means drift there is no phase "
    "to restart in, and regret is relative to the best agent only.",
    "Regret below 1 counts as 1, so that no ratio is infinite.",
    "On worlds of a kind, an agent counts as told apart from the best if the interval of their ratio does not hold 1; "
    "these intervals hold for all pairs of agents together with 95 %.",
)

FLATTERED = (
    "Mean ranks flatter agents that are never bad, and hide by how much others are better; the geometric mean of "
    "regret divided by the best shows that, and is beside the ranks.",
    "Families have the same weight, which flatters those who are good in small ones: two worlds of rising means weigh "
    "as much as seven of random phases. The table of other rules shows the order with equal weights of worlds.",
    "About half of the worlds consist of phases, as change detectors assume, and nearly all rewards are Bernoulli, "
    "which flatters agents made for them: Beta samplers, KL indices and GLR tests.",
    "The informed division flatters agents that ask for much: it gives them exact numbers that nobody has in practice.",
    "Where means drift, every round changes some of them: an informed agent whose formula is made for few changes is "
    "told of T − 1, which may well hurt it. Being told is not always better than being blind.",
    "Horizons are short (10,000 rounds for most), which flatters agents that explore little; what a theorem says of "
    "long ones may begin later.",
    "On random worlds the mean regret is over instances of their own, so that hard instances weigh more than easy "
    "ones.",
    "The best agent of a topic is chosen by the same runs that show its regret, which flatters it a little.",
    "Bars that join agents are not corrected for the number of pairs: some agents are told apart by chance.",
)
