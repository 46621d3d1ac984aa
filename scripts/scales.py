"""Every agent that takes any real reward beside ``random``, on worlds whose rewards have other scales than [0, 1].

``python scripts/scales.py`` prints a table: the regret of each agent divided by that of ``random`` on the same runs,
informed / blind, and a ``!`` where an agent is not better. A few minutes on one core.
"""

from __future__ import annotations

import argparse

import numpy as np

from ns_mab_gym import agents, simulate, worlds
from ns_mab_gym.envs.bandit import NSBanditEnv

# name: the standard deviation of rewards, the lowest and the highest mean
SCALES = {
    "sd 0.05": (0.05, 0.07 / 1.2, 0.16 / 1.2),
    "sd 1": (1.0, 7 / 6, 16 / 6),
    "sd 60": (60.0, 70.0, 160.0),
    "sd 500": (500.0, 70 / 0.12, 160 / 0.12),
    "sd 0.05, large gaps": (0.05, 0.1, 0.9),
    "sd 1, from 1,000": (1.0, 1_000.0, 1_001.5),
}


def instances(runs: int, horizon: int) -> list[np.ndarray]:
    """(T, 10) means in [0, 1], each of five phases drawn anew."""
    unit = worlds.make("piecewise", horizon=horizon, n_arms=10, changes=4, min_gap=0.1)
    return [np.asarray(unit.means(seed)) for seed in range(runs)]


def regret(name: str, units: list[np.ndarray], scale: tuple[float, float, float], **told: bool) -> float:
    """The mean regret of an agent on these instances, moved to the scale."""
    sd, low, high = scale
    played = []
    for seed, unit in enumerate(units):
        env = NSBanditEnv(worlds.Table(rows=low + (high - low) * unit), reward="gaussian", scale=sd)
        played.append(simulate(env, name, runs=1, seed=seed, agent_kwargs=told).regret[0, -1])
    return float(np.mean(played))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--horizon", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--agents", nargs="*")
    given = parser.parse_args()
    real = [name for name in agents.names() if agents.kind(name).accepts == "real" and name not in ("random", "oracle")]
    print("| agent | " + " | ".join(SCALES) + " |\n|---|" + "---|" * len(SCALES))
    units = instances(given.runs, given.horizon)
    by_chance = [regret("random", units, scale) for scale in SCALES.values()]
    for name in given.agents or real:
        cells = []
        for scale, chance in zip(SCALES.values(), by_chance, strict=True):
            shares = [regret(name, units, scale, **told) / chance for told in ({}, {"blind": True})]
            cells.append(" / ".join(f"{share:.2f}{'!' if share >= 1 else ''}" for share in shares))
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
