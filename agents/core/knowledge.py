"""Knowledge that an agent may be told about the world it will meet, and formulas of it that algorithms share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .arguments import positive, positive_int, shown


class MissingKnowledgeError(ValueError):
    """An agent's tuning formula needs a piece of knowledge that was not given."""


# What each piece is called in the literature, for messages and tables.
SYMBOLS = {
    "horizon": "T",
    "n_arms": "K",
    "breakpoints": "Υ_T, the number of breakpoints",
    "variation": "V_T, the total variation of the means",
    "lipschitz": "σ, the largest move of a mean in one round",
    "switches": "the number of changes of the best arm",
    "subgaussian": "λ, the subgaussian scale of the rewards",
    "support": "the interval in which rewards lie",
    "means": "the (T, K) matrix of means",
}
LAW = ("subgaussian", "support")  # pieces that say how rewards scatter, and nothing of how the means move


SHORTEST_PHASE = 16  # rounds; of shorter phases the memory of the formulas below, 4√(T/Υ) rounds, would span several
COUNTS = {"horizon": 1, "n_arms": 2, "breakpoints": 0, "switches": 0}  # and the least that each can be


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """Pieces of knowledge about a world; ``None`` where unknown.

    Attributes:
        horizon: T, the number of rounds.
        n_arms: K, the number of arms.
        breakpoints: Υ_T, the number of rounds at which any mean changes.
        variation: V_T = Σ_t max_i |μ_{i,t+1} − μ_{i,t}|.
        lipschitz: σ, the smallest number with |μ_{i,t} − μ_{i,t'}| ≤ σ |t − t'|.
        switches: the number of rounds at which the best arm changes.
        subgaussian: λ, such that rewards are λ²-subgaussian; (b − a)/2 for rewards in [a, b].
        support: the interval in which rewards lie, infinite where they have no bounds.
        means: the (T, K) matrix itself, for agents that know the world.
    """

    horizon: int | None = None
    n_arms: int | None = None
    breakpoints: int | None = None
    variation: float | None = None
    lipschitz: float | None = None
    switches: int | None = None
    subgaussian: float | None = None
    support: tuple[float, float] | None = None
    means: npt.NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the pieces that are given."""
        for count, least in COUNTS.items():
            if (given := getattr(self, count)) is not None:
                object.__setattr__(self, count, positive_int(count, given, least=least))
        for size in ("variation", "lipschitz", "subgaussian"):
            if (given := getattr(self, size)) is not None:
                object.__setattr__(self, size, positive(size, given, allow_zero=True, any_size=True))
        if self.support is not None:
            try:
                low, high = (float(end) for end in self.support)
            except Exception:  # whatever somebody's own class raises
                low, high = math.nan, math.nan
            if not low <= high:
                raise ValueError(f"support must be the lowest and the highest reward, got {shown(self.support)}")
            object.__setattr__(self, "support", (low, high))

    @property
    def scale(self) -> float:
        """λ; that of rewards in [0, 1], ½, where it is unknown, or 0 and so no scale."""
        return self.subgaussian or 0.5

    @property
    def centre(self) -> float | None:
        """The middle of the rewards' interval; ½ where nothing is known of them, None where they have no bounds.

        >>> Knowledge().centre, Knowledge(subgaussian=60.0).centre, Knowledge(support=(-1.0, 3.0)).centre
        (0.5, None, 1.0)
        """
        if self.support is None:
            return 0.5 if self.subgaussian is None else None
        low, high = self.support
        return low / 2 + high / 2 if math.isfinite(high - low) else None

    def need(self, agent: str, *pieces: str) -> tuple[Any, ...]:
        """Returns the named pieces; raises an error that says which are missing and what to do."""
        missing = [piece for piece in pieces if getattr(self, piece) is None]
        if missing:
            wanted = " and ".join(f"`{piece}` ({SYMBOLS[piece]})" for piece in missing)
            raise MissingKnowledgeError(
                f"{agent} is tuned by its paper's formula, which needs {wanted}; give that, or pass "
                f"knowledge=ns_mab_gym.theory.describe(means), or set the agent's own parameters"
            )
        return tuple(getattr(self, piece) for piece in pieces)


def suggested_window(horizon: int, changes: int = 1) -> int:
    """τ = 4√(T ln T / Υ), rounded down, at least 1; with Υ = 1 the window of the paper's experiments.

    Args:
        horizon: T.
        changes: Υ, the number of breakpoints, if it is known.

    >>> suggested_window(50_000)
    2942
    """
    return max(1, math.floor(4 * math.sqrt(horizon * math.log(horizon) / changes)))


def drift_window(lipschitz: float) -> int:
    """τ = σ^(−4/5), rounded up: the window of Combes and Proutière for means that drift.

    Args:
        lipschitz: σ > 0, the largest move of a mean in one round.

    >>> [drift_window(sigma) for sigma in (1e-3, 1e-4, 1e-5)]
    [252, 1585, 10000]
    """
    return math.ceil(math.pow(lipschitz, -0.8) * (1 - 1e-12))  # so that rounding does not lift a whole number


def blind_discount(horizon: int) -> float:
    """γ = 1 − 1/(4√T), which Garivier and Moulines take where the number of breakpoints is unknown.

    >>> round(blind_discount(50_000), 6)
    0.998882
    """
    return 1 - 1 / (4 * math.sqrt(horizon))


def long_phases(knowledge: Knowledge) -> int | None:
    """Υ, if it is known and phases last at least 16 rounds on average; else, as where means drift, None."""
    horizon, changes = knowledge.horizon, knowledge.breakpoints
    if horizon is None or changes is None or changes * SHORTEST_PHASE > horizon:
        return None
    return changes


def assumed_changes(knowledge: Knowledge) -> int:
    """Υ, at least 1; and 1 where it is unknown, or where phases last fewer than 16 rounds on average.

    A world that stands still is tuned for as one with a single change: with Υ = 0 thresholds would be infinite. Where
    means drift in every round the theory of piecewise-stationary worlds has nothing to say: with Υ = T thresholds would
    be 0.
    """
    return max(1, long_phases(knowledge) or 1)
