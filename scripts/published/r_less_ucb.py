"""R-less-UCB on its authors' 15 rising arms: with the authors' σ, with a smaller one, and beside other agents.

Source: Metelli, Trovò, Pirola, Restelli, "Stochastic Rising Bandits", ICML 2022, and the authors' public code,
albertometelli/stochastic-rising-bandits: the restless experiment with "bandit 0", K = 15, T = 50 000, Gaussian noise of
scale 0.1; 500 runs there. The figures show curves; no number could be read. Stated in the abstract: the proposed
algorithms are effective beside the state of the art for non-stationary bandits.

Measured: by its rule R-less-UCB is hardly better than random play here (23 805 against 24 716): after even play each of
15 arms has 3 300 pulls at T, h = 833, and the bonus, 0.1 · 47 500 · √(40 ln T/h³), is still 4. What the public code
does is another matter, rebuilt apart from this package: an arm with h = 0 keeps the index 1 there, while the bonus of
the first arms with four pulls grows with t, so that it stays with those, whichever they are: regrets of 4 214, 11 622
and 25 058 in three runs. The arms and their formulas are those of its file ``src/model.py``.

python scripts/published/r_less_ucb.py
"""

from __future__ import annotations

import numpy as np
from _common import Player, final_regrets, mean_and_error

import ns_mab_gym as nsb
from ns_mab_gym.means import Floats

RUNS, HORIZON, SIGMA = 20, 50_000, 0.1
# of c (1 − exp(−a x/b)): c, a and b; of c (1 − b/(x + d^(1/p))^p): c, b, d and p
EXPONENTIAL = {2: (0.73, 3, 162), 3: (0.16, 3, 949), 7: (0.62, 1, 271), 8: (0.23, 1, 849), 9: (0.39, 5, 457)}
POLYNOMIAL = {
    0: (1.0, 177, 177, 0.8), 1: (0.91, 571, 571, 0.9), 4: (0.48, 144, 144, 1.0), 5: (0.43, 195, 199, 0.9),
    6: (0.79, 695, 695, 0.9), 10: (0.37, 290, 290, 1.0), 11: (0.17, 223, 223, 1.0), 12: (1.08, 85, 85, 0.8),
    13: (0.84, 219, 219, 1.0), 14: (0.26, 124, 124, 0.9),
}  # fmt: skip
AGENTS: dict[str, Player] = {
    "R-less-UCB, σ = 0.1": ("r-less-ucb", {}),
    "R-less-UCB, σ = 0.01": ("r-less-ucb", {"subgaussian": 0.01}),
    "SW-UCB": ("sw-ucb", {}),
    "SW-UCB, as for [0, 1]": ("sw-ucb", {"subgaussian": 0.5}),
    "UCB1": ("ucb1", {}),
    "SER4": ("ser4", {}),
    "γ-SWGTS": ("gamma-swgts", {}),
    "random": ("random", {}),
}


def rising() -> Floats:
    """The (T, 15) means."""
    x = np.arange(HORIZON)
    means = np.empty((HORIZON, 15))
    for arm, (c, a, b) in EXPONENTIAL.items():
        means[:, arm] = c * (1 - np.exp(-a * x / b))
    for arm, (c, b, d, p) in POLYNOMIAL.items():
        means[:, arm] = c * (1 - b / (x + d ** (1 / p)) ** p)
    return means


def main() -> None:
    """Print the regret of every agent."""
    world = nsb.worlds.Table(rows=rising())
    print(f"15 rising arms, T = {HORIZON:,}, noise of scale {SIGMA}, {RUNS} runs; published: curves")
    for title, player in AGENTS.items():
        mean, error = mean_and_error(final_regrets(world, player, RUNS, reward="gaussian", scale=SIGMA))
        print(f"  {title:<24} {mean:>8.0f} ± {error:.0f}", flush=True)


if __name__ == "__main__":
    main()
