"""Every agent that takes any real reward beside ``random``, on worlds whose rewards have other scales than [0, 1].

python scripts/scales.py             # the regret of each agent divided by that of random on the same runs; two minutes
python scripts/scales.py --write     # and put the figures into docs/figures.json, and write the pages

The figures to compare with are those of commit 0a7a1a5, the last before every agent was told the scale of rewards:

git worktree add ../before 0a7a1a5
PYTHONPATH=../before python scripts/scales.py --write scales-before
"""

from __future__ import annotations

import argparse

import numpy as np
import quoted

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
FORMS = {"informed": {}, "blind": {"blind": True}}
HORIZON, RUNS = 5_000, 30
COMMANDS = {
    "scales": "python scripts/scales.py --write",
    "scales-before": "PYTHONPATH=../before python scripts/scales.py --write scales-before",
}


def instances() -> list[np.ndarray]:
    """(T, 10) means in [0, 1], each of five phases drawn anew."""
    unit = worlds.make("piecewise", horizon=HORIZON, n_arms=10, changes=4, min_gap=0.1)
    return [np.asarray(unit.means(seed)) for seed in range(RUNS)]


def regret(name: str, units: list[np.ndarray], scale: tuple[float, float, float], told: dict[str, bool]) -> float:
    """The mean regret of an agent on these instances, moved to the scale."""
    sd, low, high = scale
    played = []
    for seed, unit in enumerate(units):
        env = NSBanditEnv(worlds.Table(rows=low + (high - low) * unit), reward="gaussian", scale=sd)
        played.append(simulate(env, name, runs=1, seed=seed, agent_kwargs=told).regret[0, -1])
    return float(np.mean(played))


def main() -> None:
    """Print the figures, and write them if the command line asks for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", help="these alone; nothing is written")
    parser.add_argument("--write", nargs="?", choices=COMMANDS, const="scales", help="section of docs/figures.json")
    given = parser.parse_args()
    if given.agents and given.write:
        parser.error("--write needs every agent; leave out --agents")
    real = [name for name in agents.names() if agents.kind(name).accepts == "real" and name not in ("random", "oracle")]
    units = instances()
    by_chance = {scale: regret("random", units, SCALES[scale], {}) for scale in SCALES}
    shares: dict[str, dict[str, list[float]]] = {}
    for name in given.agents or real:
        shares[name] = {}
        for scale, chance in by_chance.items():
            found = [regret(name, units, SCALES[scale], told) / chance for told in FORMS.values()]
            shares[name][scale] = [round(share, 4) for share in found]
        cells = ", ".join(f"{scale}: {' / '.join(map(str, found))}" for scale, found in shares[name].items())
        print(f"{name}: {cells}", flush=True)
    if given.write:
        quoted.put(given.write, COMMANDS[given.write], {"runs": RUNS, "horizon": HORIZON, "agents": shares})
        quoted.rewrite()


if __name__ == "__main__":
    main()
