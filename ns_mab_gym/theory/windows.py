"""Windows for a world: the recommended one, with the reason, and the heuristic that it minimises.

`regret_curve` is a heuristic for the regret of each window, shaped by the theorems' terms; no theorem bounds the regret
by it. Theorems 1 and 2 charge every learnable round with the smallest gap of the whole horizon, and every
unlearnable one as a lost pull. As a curve over τ that is of little use: one small gap anywhere makes (B)
exceed T, and the minimum lies at windows that leave hardly any round learnable. The heuristic spreads the
same terms evenly over the rounds, takes each with the gap Δ_{i,t,τ} of its own round and arm, and weighs a
pull with its regret. That is a guess: the theorems bound the sum of an arm's pulls over the horizon, up to
constants, and no probability of a pull in a single round follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive, positive_int, shown
from ..agents.core.knowledge import Knowledge, MissingKnowledgeError, drift_window, suggested_window
from ..agents.core.registry import make
from ..means import Floats, Ints, as_means
from .sets import as_windows, trailing_at
from .text_tables import number
from .theorems import BERNOULLI, LEARNERS, Learner, as_learner, bounds

CRITERIA = ("regret", "theorem")
FLAT = 1.05  # a curve whose largest and smallest values are within this factor cannot rank windows
NEARLY = 1.25  # another local minimum within this factor of the least is mentioned
TUNED, RECOMMENDED = "tuned", "recommended"
INSTANCES = 8  # of a random world: if an agent is tuned alike for all of them, that value is marked
SAMPLE = 100_000  # sampled rounds times arms; more would change the recommended window by less than a grid step


class RegretCurve(NamedTuple):
    """The heuristic regret of each window, with unit constants: a shape, not a guarantee."""

    windows: list[int]
    unlearnable: Floats  # (W,) the regret of arms with Δ_{i,t,τ} ≤ 0: (A)
    learnable: Floats  # (W,) the regret of the others, forced plays included: (B) and (C)

    @property
    def total(self) -> Floats:
        """The heuristic regret of each window."""
        return self.unlearnable + self.learnable

    @property
    def best(self) -> int:
        """The window with the least heuristic regret; if several tie, the longest, which forgets least."""
        return self.windows[-1 - int(self.total[::-1].argmin())]


def regret_curve(
    means: npt.ArrayLike,
    windows: Sequence[int],
    agent: str = "beta-swts",
    *,
    gamma: float | None = None,
    subgaussian: float = BERNOULLI,
) -> RegretCurve:
    """A heuristic regret for every window, shaped by the theorems' terms; `recommend_window` minimises it.

    It supposes that in round t arm i is played with probability at most p_{i,t}, which no theorem says: 1 if
    Δ_{i,t,τ} ≤ 0, where (A) grants it every pull, and else an even share of (B) and (C),
    min{1, (effort + forced)/τ}, with the effort ln τ/Δ² or ln(τΔ² + e⁶)/(γΔ²) at Δ = Δ_{i,t,τ}. The round's
    regret is the largest that probabilities q_i ≤ p_{i,t} with Σ q_i ≤ 1 can cause. Long horizons are sampled:
    one round, drawn from a fixed seed, in each of 100,000/K equal stretches.
    """
    matrix = as_means(means)
    taus = sorted(as_windows(windows, len(matrix)))
    learner = as_learner(agent, gamma, subgaussian, matrix)
    rounds, size = np.arange(len(matrix)), max(1, SAMPLE // matrix.shape[1])
    if len(matrix) > size:  # random rounds rather than equidistant ones, so as not to align with a period
        edges = np.linspace(0, len(matrix), size + 1).astype(np.intp)
        rounds = np.random.default_rng(0).integers(edges[:-1], edges[1:])
    order = np.argsort(matrix[rounds], axis=1, kind="stable").T  # arms, the largest loss first
    ascending = np.take_along_axis(matrix[rounds].T, order, axis=0)
    loss = ascending[-1] - ascending  # μ* − μ_i of every round
    lows, highs = _extremes(matrix, taus, rounds)
    gaps = (np.take_along_axis(low - high, order, axis=0) for low, high in zip(lows, highs, strict=True))
    parts = np.array([_costs(learner, tau, gap, loss) for tau, gap in zip(taus, gaps, strict=True)])
    missed, learnt = parts.T * (len(matrix) / len(rounds))
    return RegretCurve(taus, missed, learnt)


def _extremes(matrix: Floats, windows: list[int], rounds: Ints) -> tuple[Floats, Floats]:
    """For every window and sampled round, the minimum of i*(t) (W, S) and the maximum of every arm (W, K, S)."""
    best = matrix[rounds].argmax(axis=1)
    lows = np.empty((len(windows), len(rounds)))
    highs = np.empty((len(windows), matrix.shape[1], len(rounds)))
    for arm, column in enumerate(matrix.T):
        mean, own = np.ascontiguousarray(column), best == arm
        for row, high in enumerate(trailing_at(mean, np.maximum, windows, rounds)):
            highs[row, arm] = high
        for row, low in enumerate(trailing_at(mean, np.minimum, windows, rounds[own])):
            lows[row, own] = low
    return lows, highs


def _costs(learner: Learner, window: int, gaps: Floats, loss: Floats) -> tuple[float, float]:
    """The regret of confusable and of distinguishable arms in the sampled rounds; gaps and losses are (K, S)."""
    confusable = (gaps <= 0) | (gaps == np.inf)  # an infinite gap belongs to the empty window of round 1
    effort = learner.effort(window, np.where(confusable, 1.0, gaps)) + learner.forced
    most = np.where(confusable, 1.0, np.minimum(effort / window, 1.0))
    played = np.diff(np.minimum(np.cumsum(most, axis=0), 1.0), axis=0, prepend=0.0)
    cost = played * loss
    return float(cost.sum(where=confusable)), float(cost.sum(where=~confusable))


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
            `ns_mab_gym.theory.windows`.

    >>> print(recommend_window(Knowledge(horizon=50_000)))
    τ = 2,942: nothing but T = 50,000 is known, so the paper's 4√(T ln T)
    """
    choice("criterion", by, CRITERIA)
    if isinstance(world, Knowledge) and world.means is None:
        return _from_facts(world)
    matrix = as_means(world.means if isinstance(world, Knowledge) else world)  # type: ignore[arg-type]
    grid = window_grid(len(matrix))
    if by == "theorem":
        best = min(bounds(matrix, grid, agent, gamma=gamma, subgaussian=subgaussian), key=lambda each: each.total)
        why = f"it minimises the bound of Theorem {best.theorem} with unit constants, {number(best.total)} pulls"
        return Recommendation(best.window, why)
    curve = regret_curve(matrix, grid, agent, gamma=gamma, subgaussian=subgaussian)
    if curve.total.max() <= FLAT * curve.total.min():
        why = "the means differ too little for the heuristic to tell windows apart, so the paper's 4√(T ln T)"
        return Recommendation(min(max(suggested_window(len(matrix)), 1), len(matrix)), why)
    half, twice = np.interp([curve.best / 2, curve.best * 2], curve.windows, curve.total) / curve.total.min() - 1
    last = curve.best == curve.windows[-1]
    beside = ": the heuristic sees no gain in forgetting" if last else f", twice of it {twice:.0%} more"
    why = f"it minimises a heuristic for the regret of {agent}, shaped by the theorems' terms (unit constants)"
    return Recommendation(curve.best, f"{why}; half of it costs {half:.0%} more{beside}{_rival(curve)}")


def window_grid(horizon: int, *, least: int = 2, ratio: float = 1.1) -> list[int]:
    """Windows from ``least`` to T, each about ``ratio`` times the one before."""
    first = min(positive_int("least", least), positive_int("horizon", horizon))
    if not positive("ratio", ratio) > 1:
        raise ValueError(f"ratio must be above 1, got {shown(ratio)}")
    count = math.ceil(math.log(horizon / first) / math.log(ratio)) + 1
    return [int(window) for window in np.unique(np.geomspace(first, horizon, count).round())]


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
    return f"; but τ = {curve.windows[at]:,}, far from it, costs only {total[at] / least - 1:.0%} more"


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
        window = drift_window(sigma)
        why = f"means drift by at most σ = {sigma:g} per round, so σ^(−4/5) (Combes and Proutière 2014)"
    elif changes is not None:
        window = suggested_window(horizon, changes)
        why = f"Υ = {changes:,} breakpoints in T = {horizon:,} rounds are known, so 4√(T ln T/Υ)"
    else:
        window, why = suggested_window(horizon), f"nothing but T = {horizon:,} is known, so the paper's 4√(T ln T)"
    return Recommendation(min(max(window, 1), horizon), why)


def marked_values(
    agent: Any, parameter: str, others: Mapping[str, Any], known: Sequence[Knowledge]
) -> dict[str, float]:
    """Values of a parameter worth a mark in a sweep, by the rules that choose them: its own formula, and theory.

    What is known about the world is one record, or one for each of several instances of a random world.
    """
    marks = {}
    tuned = {_tuned(agent, parameter, others, each) for each in known}
    if len(tuned) == 1 and isinstance(value := tuned.pop(), int | float) and not isinstance(value, bool):
        marks[TUNED] = value
    if parameter == "window" and agent in LEARNERS and len(known) == 1 and known[0].means is not None:
        try:
            spread = known[0].subgaussian or BERNOULLI
            marks[RECOMMENDED] = recommend_window(known[0], agent, gamma=others.get("gamma"), subgaussian=spread).window
        except ValueError:  # an assumption does not hold
            pass
    return marks


def _tuned(agent: Any, parameter: str, others: Mapping[str, Any], known: Knowledge) -> Any:
    """The value that the agent's own formula gives the parameter; None if it has none."""
    try:
        made = make(agent, knowledge=known, **others)
    except (TypeError, ValueError):  # without this parameter it cannot be made
        return None
    parameters = getattr(made, "parameters", None)
    return parameters.get(parameter) if isinstance(parameters, Mapping) else getattr(made, parameter, None)
