"""The sentences of the paper's Experiments section that runs cannot decide, each with the reason."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["UNTESTED", "Untested"]


class Untested(NamedTuple):
    """A sentence that is not put to the test."""

    quote: str
    reason: str


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
