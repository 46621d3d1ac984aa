"""Everything that the theory says about a world, in one record that prints as a table."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..agents.core.arguments import positive
from ..agents.core.knowledge import Knowledge
from ..means import knowledge, leaders
from .sets import general_breakpoints, margins_of, smallest_positive, tie_growth
from .text_tables import number, table
from .theorems import BERNOULLI
from .windows import Recommendation, recommend_window


@dataclass(frozen=True)
class WindowFacts:
    """Facts about a window of τ rounds: the size of F′_τ and the gap Δ_τ."""

    window: int
    unlearnable: int
    gap: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Description(Knowledge):
    """The description of a world: a `Knowledge` that agents accept, with what else the theory says about the means.

    Attributes:
        general_breakpoints: the fewest general breakpoints (Definition 6); None if some round has two best
            arms.
        tied_rounds: the number of rounds with two or more best arms.
        smallest_lead: the smallest positive difference between the best and the second-best mean of a round.
        delta: Δ′, the difference below which two arms nearly tie.
        near_ties: |F_{Δ′,T}|, the number of rounds in which any two arms differ by less than Δ′.
        tie_factor: F of |F_{Δ′,n}| ≤ F n^β.
        tie_power: β of the same inequality.
        windows: facts about a quarter of the recommended window, about itself and about four times it.
        recommended: the recommended window and the reason.
    """

    general_breakpoints: int | None
    tied_rounds: int
    smallest_lead: float
    delta: float
    near_ties: int
    tie_factor: float
    tie_power: float
    windows: tuple[WindowFacts, ...]
    recommended: Recommendation

    def __str__(self) -> str:
        scale = BERNOULLI if self.subgaussian is None else self.subgaussian
        facts = [
            ("rounds", "T", number(self.horizon)),
            ("arms", "K", number(self.n_arms)),
            ("breakpoints", "Υ_T", number(self.breakpoints)),
            ("general breakpoints", "", number(self.general_breakpoints)),
            ("switches of the best arm", "", number(self.switches)),
            *([("scale of the rewards", "λ", number(scale))] if scale != BERNOULLI else []),
            ("rounds with several best arms", "", number(self.tied_rounds)),
            ("smallest lead of a best arm", "", number(self.smallest_lead)),
            ("total variation", "V_T", number(self.variation)),
            ("largest move in one round", "σ", number(self.lipschitz)),
            (f"rounds with two arms within Δ′ = {self.delta:.3g}", "|F_Δ′|", number(self.near_ties)),
            ("and their growth with the horizon n", "F n^β", f"{self.tie_factor:.3g} n^{self.tie_power:.2f}"),
        ]
        seen = [("window τ", "unlearnable |F_τ|", "share", "gap Δ_τ")]
        for each in self.windows:
            share = f"{each.unlearnable / (self.horizon or 1):.1%}"
            seen.append((number(each.window), number(each.unlearnable), share, number(each.gap)))
        return f"{table(facts)}\n\n{table(seen)}\n\nrecommended {self.recommended}"

    __repr__ = __str__


def describe(
    means: Any, *, agent: str | None = None, delta: float | None = None, subgaussian: float | None = None
) -> Description:
    """Describe a world: what tuning formulas need to know, the paper's sets and gaps, and a recommended window.

    The record is a `Knowledge`: ``agents.make("rexp3", knowledge=describe(means))``. If only that is
    needed, `ns_mab_gym.means.knowledge` is faster.

    Args:
        means: the (T, K) matrix of means; or a world in any form that :func:`ns_mab_gym.compare` takes, such as
            ``"NSBandit-Abrupt-v0:horizon=2000"``, of which a random one is described by its instance of seed 0.
        agent: whose window to recommend, "beta-swts" or "gamma-swgts"; None for the former if rewards are those of a
            world that draws 0 or 1, or nothing is said of them and all means lie in [0, 1]; else the latter.
        delta: Δ′, the difference below which two arms nearly tie; None for a twentieth of the spread of all means.
        subgaussian: λ of the rewards; None for that of the world's law, or ½ if means are given alone.
    """
    from ..specs import means_and_law

    matrix, law = means_and_law(means)
    lead = leaders(matrix)
    spread = float(matrix.max() - matrix.min())
    threshold = positive("delta (Δ′)", delta, any_size=True) if delta is not None else spread / 20 or 1.0
    growth = tie_growth(matrix, threshold)
    scale = subgaussian if law is None or subgaussian is not None else law.subgaussian
    bernoulli = scale in (None, BERNOULLI) and matrix.min() >= 0 and matrix.max() <= 1 if law is None else law.binary
    learner = agent or ("beta-swts" if bernoulli else "gamma-swgts")
    recommended = recommend_window(matrix, learner, subgaussian=BERNOULLI if scale is None else scale)
    window, ahead = recommended.window, lead.best - lead.rival
    tied = int(np.count_nonzero(ahead == 0))
    chosen = sorted({max(1, window // 4), window, min(4 * window, len(matrix))})
    known = replace(knowledge(matrix), subgaussian=scale, support=None if law is None else law.support)
    seen = margins_of(
        lead, chosen, lambda tau, margin: WindowFacts(tau, int((margin == 0).sum()), smallest_positive(margin))
    )
    return Description(
        **{each.name: getattr(known, each.name) for each in fields(known)},
        general_breakpoints=None if tied else len(general_breakpoints(matrix)),
        tied_rounds=tied,
        smallest_lead=smallest_positive(ahead),
        delta=threshold,
        near_ties=int(growth.counts[-1]),
        tie_factor=growth.F,
        tie_power=growth.beta,
        windows=tuple(seen),
        recommended=recommended,
    )
