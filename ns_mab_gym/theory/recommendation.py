"""Which window fits a world, and why, from all of its means or from the horizon alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive, positive_int, shown
from ..agents.core.knowledge import Knowledge, MissingKnowledgeError
from ..agents.core.tuning import drift_window, suggested_window
from ..means import Floats, as_means
from .learners import BERNOULLI
from .regret_curves import RegretCurve, regret_curve
from .text_tables import number
from .theorems import bounds

__all__ = ["CRITERIA", "Recommendation", "recommend_window", "window_grid"]

CRITERIA = ("regret", "theorem")
FLAT = 1.05  # a curve whose largest and smallest values are within this factor cannot rank windows
NEARLY = 1.25  # another local minimum within this factor of the least is mentioned
TOO_CLOSE = "the means differ too little for the heuristic to tell windows apart, so the paper's 4√(T ln T)"


@dataclass(frozen=True)
class Recommendation:
    """A window and the reason for it; usable wherever an integer is, as in ``window=recommendation``."""

    window: int
    reason: str

    def __index__(self) -> int:
        return self.window

    def __str__(self) -> str:
        return f"τ = {self.window:,}: {self.reason}"


def recommend_window(
    world: npt.ArrayLike | Knowledge,
    agent: str = "beta-swts",
    *,
    gamma: float | None = None,
    subgaussian: float = BERNOULLI,
    by: str = "regret",
) -> Recommendation:
    """A window for Beta-SWTS or γ-SWGTS in this world, with the reason in words.

    Where the means are known, it minimises `regret_curve`, a heuristic shaped by the theorems' terms: no theorem
    says that this window is the best one. Where they are not known, it follows the paper:
    4√(T ln T/Υ) with the number of breakpoints Υ ≥ 1, the whole horizon for Υ = 0, ⌈σ^(−4/5)⌉ for drifting means
    of known Lipschitz constant (Combes and Proutière 2014), and 4√(T ln T) if nothing but T is known. The paper
    says τ ∝ √(T ln T/Υ); the factor 4 makes one breakpoint give the paper's own 4√(T ln T).

    Args:
        world: the (T, K) matrix of means, or what is known about it.
        agent: "beta-swts" or "gamma-swgts".
        gamma: γ of gamma-swgts; None for the largest allowed.
        subgaussian: λ of the rewards; ½ for Bernoulli.
        by: what to minimise: "regret" for the heuristic `regret_curve`, "theorem" for the total of Theorem 1 or
            2 as it stands, with unit constants. The latter is often smallest where hardly any round is learnable; see
            `ns_mab_gym.theory.regret_curves`.

    >>> print(recommend_window(Knowledge(horizon=50_000)))
    τ = 2,942: nothing but T = 50,000 is known, so the paper's 4√(T ln T)
    """
    choice("criterion", by, CRITERIA)
    if isinstance(world, Knowledge) and world.means is None:
        return _from_facts(world)
    matrix = as_means(world.means if isinstance(world, Knowledge) else world)  # type: ignore[arg-type]
    return _from_means(matrix, agent, gamma, subgaussian, by)


def window_grid(horizon: int, *, least: int = 2, ratio: float = 1.1) -> list[int]:
    """Windows from ``least`` to T, each about ``ratio`` times the one before."""
    first = min(positive_int("least", least), positive_int("horizon", horizon))
    if not positive("ratio", ratio) > 1:
        raise ValueError(f"ratio must be above 1, got {shown(ratio)}")
    count = math.ceil(math.log(horizon / first) / math.log(ratio)) + 1
    return [int(window) for window in np.unique(np.geomspace(first, horizon, count).round())]


def _from_means(matrix: Floats, agent: str, gamma: float | None, subgaussian: float, by: str) -> Recommendation:
    grid = window_grid(len(matrix))
    if by == "theorem":
        best = min(bounds(matrix, grid, agent, gamma=gamma, subgaussian=subgaussian), key=lambda each: each.total)
        why = f"it minimises the bound of Theorem {best.theorem} with unit constants, {number(best.total)} pulls"
        return Recommendation(best.window, why)
    curve = regret_curve(matrix, grid, agent, gamma=gamma, subgaussian=subgaussian)
    if curve.total.max() <= FLAT * curve.total.min():
        return _held(suggested_window(len(matrix)), len(matrix), TOO_CLOSE)
    why = f"it minimises a heuristic for the regret of {agent}, shaped by the theorems' terms (unit constants)"
    return Recommendation(curve.best, f"{why}; {_beside(curve)}")


def _beside(curve: RegretCurve) -> str:
    """A text that says what half and twice the best window would cost, and whether another window is nearly as good."""
    least, best = curve.total.min(), curve.best
    half, twice = np.interp([best / 2, best * 2], curve.windows, curve.total) / least - 1
    if best == curve.windows[-1]:
        return f"half of it costs {half:.0%} more: the heuristic sees no gain in forgetting{_rival(curve)}"
    return f"half of it costs {half:.0%} more, twice of it {twice:.0%} more{_rival(curve)}"


def _rival(curve: RegretCurve) -> str:
    """A text that names another local minimum of the curve that is nearly as low; empty if there is none."""
    total = curve.total
    least = total.min()
    falls, rises = np.diff(total, prepend=-np.inf) < 0, np.diff(total, append=np.inf) >= 0
    far = np.abs(np.log(np.array(curve.windows) / curve.best)) > math.log(4)
    valleys = np.flatnonzero(falls & rises & far & (total <= NEARLY * least))
    if not len(valleys):
        return ""
    at = min(valleys.tolist(), key=total.__getitem__)
    return f"; but τ = {curve.windows[at]:,}, another valley of the curve, costs only {total[at] / least - 1:.0%} more"


def _from_facts(known: Knowledge) -> Recommendation:
    if known.horizon is None:
        raise MissingKnowledgeError(
            "recommend_window needs at least the horizon T: pass Knowledge(horizon=…), or the (T, K) matrix of means"
        )
    horizon = positive_int("horizon", known.horizon)
    changes, sigma = known.breakpoints, known.lipschitz
    if changes == 0:
        return Recommendation(horizon, "no mean ever changes, so nothing need be forgotten: τ = T")
    if sigma and (changes is None or changes > horizon / 10):
        why = f"means drift by at most σ = {sigma:g} per round, so σ^(−4/5) (Combes and Proutière 2014)"
        return _held(drift_window(sigma), horizon, why)
    if changes is not None:
        why = f"Υ = {changes:,} breakpoints in T = {horizon:,} rounds are known, so 4√(T ln T/Υ)"
        return _held(suggested_window(horizon, changes), horizon, why)
    return _held(suggested_window(horizon), horizon, f"nothing but T = {horizon:,} is known, so the paper's 4√(T ln T)")


def _held(window: int, horizon: int, reason: str) -> Recommendation:
    """The recommendation, with the window limited to 1..T."""
    return Recommendation(min(max(window, 1), horizon), reason)
