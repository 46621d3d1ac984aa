"""Every agent of the house on the paper's four worlds: the arms of each round, kept from before the house was rebuilt.

The numbers were right when they were stored, by all that the other tests show; this one tells a change that means to
change none from one that does. A change that means to, says so in the changelog and stores them anew:
``python tests/play/test_trajectories.py``.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import ns_mab_gym as nsb

FILE = Path(__file__).parents[1] / "data" / "trajectories.json"
STORED = json.loads(FILE.read_text())


def played(world: str, agent: str) -> list[dict[str, str]]:
    """The final regret and a hash of the arms of three runs."""
    runs = nsb.simulate(world, agent, runs=3, seed=0, record="all")
    return [
        {"regret": float(regret[-1]).hex(), "arms": hashlib.sha256(arms.astype("<i8").tobytes()).hexdigest()[:32]}
        for regret, arms in zip(runs.regret, runs.arms, strict=True)
    ]


@pytest.mark.parametrize("which", STORED)
def test_the_arms_and_the_regret_are_what_they_were(which):
    assert played(*which.split()) == STORED[which]


if __name__ == "__main__":
    WORLDS = dict.fromkeys(which.split()[0] for which in STORED)
    EVERY = [f"{world} {agent}" for world in WORLDS for agent in nsb.agents.HOUSE]
    FILE.write_text(json.dumps({which: played(*which.split()) for which in EVERY}, indent=1) + "\n")
