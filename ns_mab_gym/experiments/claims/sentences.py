"""The sentences of the paper's Experiments section, by the worlds on which they are tested."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..paper_names import (
    ABRUPT,
    FAST,
    GENERAL,
    SMOOTH,
)
from .abrupt_sentences import ABRUPT_CLAIMS, MODERATE, SENSITIVITY, SIMILAR, VIABLE
from .judging import Claim
from .smooth_sentences import SMOOTH_CLAIMS, TURN

__all__ = ["CLAIMS"]

BOTH = {"best arms", "α = 0.2 too explorative", "α = 0.2 does not converge", "larger windows better"}  # "in both …"
BOTH |= {claim.key for claim in (*SENSITIVITY, VIABLE)}


def _said_of(world: str, claims: Sequence[Claim], elsewhere: Collection[str] = ()) -> tuple[Claim, ...]:
    """The claims as said of a world, but for those that the paper makes of others too."""
    return tuple(claim if claim.key in elsewhere else replace(claim, said_of=world) for claim in claims)


CLAIMS = {
    ABRUPT: ABRUPT_CLAIMS,
    GENERAL: (*_said_of(ABRUPT, ABRUPT_CLAIMS, BOTH), MODERATE, SIMILAR),
    SMOOTH: (SMOOTH_CLAIMS[0], TURN, *SMOOTH_CLAIMS[1:]),
    # The paper's example of a slope is about rounds in which one arm rises here, and in which several do there.
    FAST: _said_of(SMOOTH, [claim for claim in SMOOTH_CLAIMS if claim.key != "Beta-SWTS lowest slope"], BOTH),
}
