"""Tsallis-INF against others where rewards are drawn, and where an adversary moves all of them up and down.

Source: Zimmert, Seldin, "Tsallis-INF: An Optimal Algorithm for Stochastic and Adversarial Bandits", JMLR 2021, arXiv
1807.07623, its Figures 2 and 3. Stochastic: Bernoulli rewards, one arm Δ better than all others. Stochastically
constrained: the means of the best arm and of the others are 1 and 1 − Δ, then Δ and 0, and so on, in phases whose
lengths grow by a factor of 1.6.

Published: curves, whose numbers could not be read, as could not the text; the second problem was read in a public
program that names Figure 3 as its source. The abstract states that Tsallis-INF significantly outperforms UCB1 and Exp3
in stochastic environments, and that there are adversarial ones in which UCB1 and Thompson sampling have almost linear
regret, Tsallis-INF only logarithmic. Theorem 1: with reduced variance, at most 2√(KT) + 14 K ln T + 16 (10 in the
theorem, 14 in its proof), whatever the rewards.

Differences: K = 8, Δ = 1/8, T = 100 000 and 100 runs are ours. Exp3++ and Broad, also compared there, are not in this
zoo. Growth is the regret at T divided by that at T/10: about 10 if it is linear, √10 = 3.2 for a root, 1.2 for a
logarithm.

python scripts/published/tsallis_inf.py
"""

from __future__ import annotations

import math

import numpy as np
from _common import Player, mean_and_error

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.means import Floats

T, K, GAP, RUNS = 100_000, 8, 0.125, 100
PLAYERS: dict[str, Player] = {
    "Tsallis-INF, RV": ("tsallis-inf", {}),
    "Tsallis-INF, IW": ("tsallis-inf", {"estimator": "iw"}),
    "UCB1": ("ucb1", {}),
    "Thompson sampling": ("ts", {}),
    "EXP3": ("exp3", {}),
    "Exp3-IX": ("exp3-ix", {"eta": 0.0}),
}


def moved() -> Floats:
    """The means of the stochastically constrained adversary: the gaps never change, the level does."""
    behind = np.array([0.0] + [GAP] * (K - 1))
    level, length, levels = 1.0, 1.0, np.empty(T)
    start = 0
    while start < T:
        levels[start : start + math.ceil(length)] = level
        start, length, level = start + math.ceil(length), 1.6 * length, 1.0 + GAP - level
    return np.asarray(levels[:, None] - behind)


def main() -> None:
    """Print what is stated beside what is measured."""
    best = (1 + GAP) / 2
    problems = {
        "stochastic; stated: Tsallis-INF has less than UCB1 and EXP3": worlds.Stationary(
            mu=(best,) + (best - GAP,) * (K - 1), horizon=T
        ),
        "stochastically constrained; stated: UCB1 and TS almost linear": worlds.Table(rows=moved()),
    }
    print(f"K = {K}, gap {GAP}, T = {T:,}, {RUNS} runs; bound {2 * math.sqrt(K * T) + 14 * K * math.log(T) + 16:,.0f}")
    for title, world in problems.items():
        print(f"\n{title}")
        for name, (agent, parameters) in PLAYERS.items():
            runs = nsb.simulate(world, agent, runs=RUNS, seed=1, agent_kwargs=parameters, rounds=[T // 10, T])
            (early, _), (mean, error) = (mean_and_error(each) for each in runs.regret.T)
            print(f"  {name:<20} {mean:>8.0f} ± {error:<4.0f} growth {mean / early:.1f}", flush=True)


if __name__ == "__main__":
    main()
