"""Exp3-IX and Exp3 with rates of learning that are too low, right and too high: the experiment of Neu.

Source: Neu, "Explore no more: Improved high-probability regret bounds for non-stochastic bandits", NeurIPS 2015, arXiv
1506.03271. Ten arms, Bernoulli losses, Δ = 0.1, T = 10⁶: the losses of arms 1 to 8 have the mean ½, those of arm 9
½ − Δ, those of arm 10 ½ + Δ in the first half and ½ − 4Δ in the second. Every rate of learning is multiplied by
numbers from 0.01 to 100; regret is against the best single arm, at T/2 arm 9, at T arm 10, and can be below 0.

Published: curves, whose numbers could not be read, as could not the text; the setting was read in two public programs
that repeat the experiment. The abstract says that it illustrates the robustness of implicit exploration.

Differences: ``exp3`` is that of Auer and others, which explores uniformly too, so that its rate is γ/K, at most 1/K;
the Exp3 of the source is for losses, and is not in this zoo, nor is Exp3.P. The source's number of runs is unknown.

python scripts/published/exp3_ix.py
"""

from __future__ import annotations

import math

import numpy as np
from _common import mean_and_error

import ns_mab_gym as nsb
from ns_mab_gym import worlds

T, K, GAP, RUNS = 1_000_000, 10, 0.1, 20
MULTIPLIERS = (0.01, 0.1, 1.0, 10.0, 100.0)


def main() -> None:
    """Print what is stated beside what is measured."""
    first = [0.5] * 8 + [0.5 + GAP, 0.5 - GAP]
    world = worlds.Table(rows=np.repeat([first, [*first[:9], 0.5 + 4 * GAP]], T // 2, axis=0))
    eta = math.sqrt(2 * math.log(K) / (K * T))
    gamma = math.sqrt(K * math.log(K) / ((math.e - 1) * T))
    print(f"Neu: K = {K}, T = {T:,}, {RUNS} runs, regret against the best single arm in thousands; stated: robust")
    print(f"  {'multiplier':<12} {'exp3-ix, T/2':>15} {'T':>15} {'exp3, T/2':>18} {'T':>15}")
    for multiplier in MULTIPLIERS:
        cells = []
        for name, given in (("exp3-ix", {"eta": multiplier * eta}), ("exp3", {"gamma": min(1.0, multiplier * gamma)})):
            runs = nsb.simulate(world, name, runs=RUNS, seed=1, agent_kwargs=given, rounds=[T // 2, T])
            half, end = runs.regret.T / 1_000  # against the best arm of each round, which arm 10 is not at first
            cells += [mean_and_error(half), mean_and_error(end - 2 * GAP * (T // 2) / 1_000)]
        print(f"  {multiplier:<12g}" + "".join(f" {mean:>9.2f} ± {error:.2f}" for mean, error in cells), flush=True)


if __name__ == "__main__":
    main()
