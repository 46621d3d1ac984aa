"""What an agent may be told about the world it will meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .arguments import positive, positive_int

__all__ = ["Knowledge", "MissingKnowledgeError"]


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
    "means": "the (T, K) matrix of means",
}


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
        subgaussian: λ, such that rewards are λ²-subgaussian.
        means: the (T, K) matrix itself, for agents that know the world.
    """

    horizon: int | None = None
    n_arms: int | None = None
    breakpoints: int | None = None
    variation: float | None = None
    lipschitz: float | None = None
    switches: int | None = None
    subgaussian: float | None = None
    means: npt.NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the pieces that are given."""
        for count, least in COUNTS.items():
            if (given := getattr(self, count)) is not None:
                object.__setattr__(self, count, positive_int(count, given, least=least))
        for size in ("variation", "lipschitz", "subgaussian"):
            if (given := getattr(self, size)) is not None:
                object.__setattr__(self, size, positive(size, given, allow_zero=True, any_size=True))

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
