"""The wrappers of the suite, found by what the package offers: a new one is tested by being there."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from ns_mab_gym import wrappers
from ns_mab_gym.wrappers.observations import MemoryObservation

# Arguments beside the defaults, with which every wrapper is tried.
MORE: dict[str, list[dict[str, Any]]] = {
    "WindowedStatistics": [{"window": 6}],
    "LastRounds": [{"n": 3}],
    "RecordRegret": [{"buffer_length": 2}],
    "DelayedRewards": [{"delay": 2}, {"delay": [0, 3]}],
    "ArmAvailability": [{"probability": 0.5, "if_masked": "substitute"}],
}
# Wrappers whose defaults refuse what a blind walk over the arms plays.
WITHOUT_DEFAULTS = {"ArmAvailability"}

KINDS: dict[str, Any] = {name: getattr(wrappers, name) for name in wrappers.__all__}
SINGLE_KINDS = {name: kind for name, kind in KINDS.items() if issubclass(kind, gym.Wrapper)}
VECTOR_KINDS = {name: kind for name, kind in KINDS.items() if issubclass(kind, gym.vector.VectorWrapper)}


def variants(name: str) -> list[dict[str, Any]]:
    """The arguments with which a wrapper is tried."""
    return [*([] if name in WITHOUT_DEFAULTS else [{}]), *MORE.get(name, [])]


SINGLE = [(kind, arguments) for name, kind in SINGLE_KINDS.items() for arguments in variants(name)]
# Those that show a memory, with their twins for vector environments.
PAIRS = [
    (SINGLE_KINDS[name.removeprefix("Vector")], kind, arguments)
    for name, kind in VECTOR_KINDS.items()
    for arguments in variants(name.removeprefix("Vector"))
    if issubclass(SINGLE_KINDS[name.removeprefix("Vector")], MemoryObservation)
]
