"""D-UCB and SW-UCB on the first problem of Garivier and Moulines: three arms, one of which is best for a while.

Source: Garivier, Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011 (arXiv
0805.3415), its simulations. Bernoulli arms of 0.5, 0.3 and 0.4, the last of which is 0.9 in rounds 3 000 to 4 999;
T = 10 000. γ = 1 − 1/(4√T), τ = 4√(T ln T), ξ = ½. Setting and outcome, D-UCB and SW-UCB ahead of UCB-1 and Exp3.S, are
given as we remember them: the source's text and its figures, which show curves, were not at hand to confirm them.

Measured: SW-UCB loses less than both (282 against 603 and 459). D-UCB as its analysis has it, with the factor 2, loses
as much as UCB-1 (597); with half of that bound 357.

python scripts/published/d_ucb.py
"""

from __future__ import annotations

import numpy as np
from _common import Player, final_regrets, mean_and_error

import ns_mab_gym as nsb

RUNS, HORIZON = 200, 10_000
AGENTS: dict[str, Player] = {
    "D-UCB": ("d-ucb", {"xi": 0.5, "blind": True}),
    "D-UCB, half its bound": ("d-ucb", {"xi": 0.125, "blind": True}),
    "SW-UCB": ("sw-ucb", {"xi": 0.5}),
    "UCB-1": ("ucb1", {}),
    "UCB-1, ξ = ½": ("ucb1", {"xi": 0.5}),
    "Exp3.S": ("exp3s", {}),
}


def main() -> None:
    """Print the regret of every agent."""
    means = np.tile([0.5, 0.3, 0.4], (HORIZON, 1))
    means[2_999:4_999, 2] = 0.9
    print(f"T = {HORIZON:,}, {RUNS} runs")
    for title, player in AGENTS.items():
        mean, error = mean_and_error(final_regrets(nsb.worlds.Table(rows=means), player, RUNS))
        print(f"  {title:<22} {mean:>7.1f} ± {error:.1f}", flush=True)


if __name__ == "__main__":
    main()
