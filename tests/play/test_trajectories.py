"""Every agent of the house on the paper's four worlds: the arms of each round, as they were stored.

The numbers were right when they were stored, by all that the other tests show; this one tells a change that means to
change none from one that does. A change that means to, says so in the changelog and stores them anew:
``python tests/play/test_trajectories.py``. The paper's own agents play 50 000 rounds, the others 5 000.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import ns_mab_gym as nsb

FILE = Path(__file__).parents[1] / "data" / "trajectories.json"
STORED = json.loads(FILE.read_text())


def played(world: str, agent: str, horizon: str) -> list[dict[str, str]]:
    """The final regret and a hash of the arms of three runs."""
    runs = nsb.simulate(world, agent, runs=3, seed=0, record="all", env_kwargs={"horizon": int(horizon)})
    return [
        {"regret": float(regret[-1]).hex(), "arms": hashlib.sha256(arms.astype("<i8").tobytes()).hexdigest()[:32]}
        for regret, arms in zip(runs.regret, runs.arms, strict=True)
    ]


@pytest.mark.parametrize("which", STORED)
def test_the_arms_and_the_regret_are_what_they_were(which):
    assert played(*which.split()) == STORED[which]


if __name__ == "__main__":
    WORLDS = dict.fromkeys(which.split()[0] for which in STORED)
    LONG = {which.split()[1] for which in STORED if which.endswith(" 50000")}
    AGENTS = {agent: 50_000 if agent in LONG else 5_000 for agent in nsb.agents.HOUSE}
    EVERY = [f"{world} {agent} {horizon}" for world in WORLDS for agent, horizon in AGENTS.items()]
    FILE.write_text(json.dumps({which: played(*which.split()) for which in EVERY}, indent=1) + "\n")
