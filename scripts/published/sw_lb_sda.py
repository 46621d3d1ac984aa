"""SW-LB-SDA against others on three Bernoulli arms with two breakpoints: the second experiment of its authors.

Source: Baudry, Russac, Cappé, "On Limited-Memory Subsampling Strategies for Bandits", ICML 2021; the problem and the
tuning are those of its public code (a notebook, "the second experiment of the paper", 2 000 runs): T = 10 000, means
(0.5, 0.3, 0.4), after round 3 000 (0.3, 0.7, 0.2), after round 5 000 (0.5, 0.3, 0.6); windows ⌊2√(T ln T / 2)⌋ = 429,
discounts 1 − ¼√(2/T), CUSUM with M = 50 and ε = 0.05, M-UCB with w = 800 and γ = √(2 · 3 ln T / T), Exp3.S for three
phases.

Published: curves, whose numbers could not be read. Stated in words: with Bernoulli distributions SW-LB-SDA performs
better than all its competitors, which are Exp3.S, CUSUM-UCB, M-UCB, D-TS, SW-TS, SW-klUCB and D-klUCB.

Differences: the public SW-klUCB has a budget of ln t, ours, with c = 0, one of ln min(t, τ). (ln τ)^(1/2) in place of
(ln τ)^(1/3) for forced play is named in the public code as an alternative, and shown here beside it.
D-klUCB is not in this zoo. Every agent meets the same luck, so that differences between agents are known better than
their regrets.

python scripts/published/sw_lb_sda.py
"""

from __future__ import annotations

import math

import numpy as np
from _common import Player, final_regrets, mean_and_error

from ns_mab_gym import worlds

T, RUNS = 10_000, 2_000
PHASES = [([0.5, 0.3, 0.4], 3_000), ([0.3, 0.7, 0.2], 2_000), ([0.5, 0.3, 0.6], 5_000)]
WINDOW = int(2 * math.sqrt(T * math.log(T) / 2))
DISCOUNT = 1 - math.sqrt(2 / T) / 4
EXP3S = {"gamma": math.sqrt(3 * (3 * math.log(3 * T) + math.e) / ((math.e - 1) * T)), "alpha": 1 / T}
CUSUM = {
    "threshold": math.log(T / 2),
    "alpha": math.sqrt(2 / T * math.log(T / 2)),
    "warmup": 50,
    "epsilon": 0.05,
    "xi": 0.5,
    "forced_warmup": True,
}
M_UCB = {
    "samples": 800,
    "threshold": math.sqrt(400 * math.log(6 * T**2)),
    "gamma": math.sqrt(2 * math.log(T) * 3 / T),
}
PLAYERS: dict[str, Player] = {  # by their names in the source
    "SW-LB-SDA": ("sw-lb-sda", {"window": WINDOW}),
    "SW-LB-SDA, exponent 1/2": ("sw-lb-sda", {"window": WINDOW, "exponent": 0.5}),
    "SW-TS": ("beta-swts", {"window": WINDOW}),
    "SW-klUCB": ("sw-kl-ucb", {"window": WINDOW, "c": 0.0}),
    "D-TS": ("d-ts", {"gamma": DISCOUNT}),
    "EXP3S": ("exp3s", EXP3S),
    "CUSUM": ("cusum-ucb", CUSUM),
    "M-UCB": ("m-ucb", M_UCB),
}


def main() -> None:
    """Print what is stated beside what is measured."""
    means, lengths = zip(*PHASES, strict=True)
    world = worlds.Table(rows=np.repeat(means, lengths, axis=0))
    table = {title: final_regrets(world, player, RUNS) for title, player in PLAYERS.items()}
    print(f"K = 3, T = {T:,}, Υ = 2, {RUNS:,} runs; stated: SW-LB-SDA has the least regret")
    for title, final in sorted(table.items(), key=lambda row: float(row[1].mean())):
        (mean, error), (behind, unsure) = mean_and_error(final), mean_and_error(final - table["SW-LB-SDA"])
        print(f"  {title:<24} {mean:>7.1f} ± {error:.1f}   behind SW-LB-SDA by {behind:>7.1f} ± {unsure:.1f}")


if __name__ == "__main__":
    main()
