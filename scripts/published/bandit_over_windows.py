"""Bandit over windows on two drifting arms: its regret beside its bound, and beside windows that know the variation.

Source: Cheung, Simchi-Levi, Zhu, "Hedging the Drift: Learning to Optimize under Non-Stationarity", Management Science
2022, arXiv 1903.01461, and AISTATS 2019. Two arms, ½ ± 0.3 sin(5 B π t/T), Gaussian noise of scale 0.1, T from 30 000
to 240 000, B = 1 or B = T^(1/3): the numerical experiments as we know them; their text and figures were not at hand.

Published, as rates and up to logarithms: K^(1/3) B^(1/3) T^(2/3) for SW-UCB on the window ⌊(K T²)^(1/3) B^(−2/3)⌋,
which knows B, so that ln(regret) grows 2/3 as fast as ln T where B = 1 and 7/9 as fast where B = T^(1/3), at most; and
K^(1/4) T^(3/4) in addition for not knowing B, the regret of Exp3, 2.63 H √(|J| ln |J| T/H), printed as the bound.

Measured: SW-UCB grows no faster than published. Bandit over windows stays far below its bound, but grows almost as fast
as T: the bound exceeds T/2 at these horizons, and Exp3, with some hundred blocks, has hardly begun to prefer a window.
It loses to both fixed windows, and its regret does not depend on B yet.

Differences: SW-UCB has the bonus of Garivier and Moulines, 2λ √(0.6 ln(min(t, τ))/N) with λ = 0.1, not the source's.

python scripts/published/bandit_over_windows.py
"""

from __future__ import annotations

import math

import numpy as np
from _common import Player, final_regrets, mean_and_error

from ns_mab_gym import agents, worlds

HORIZONS = (30_000, 60_000, 120_000, 240_000)
RUNS = 20
# title: the exponent e of B = T^e, and the published slope of SW-UCB with B known
BUDGETS = {"B = 1": (0.0, "0.67"), "B = T^(1/3)": (1 / 3, "0.78")}


def players(horizon: int, budget: float) -> dict[str, Player]:
    """The agents, by what they know."""
    longest = (2 * horizon**2) ** (1 / 3)
    return {
        "bandit over windows": ("bandit-over-windows", {}),
        "SW-UCB, B known": ("sw-ucb", {"window": int(longest * budget ** (-2 / 3))}),
        "SW-UCB, B unknown": ("sw-ucb", {"window": int(longest)}),
    }


def measured(exponent: float) -> dict[str, list[tuple[float, float]]]:
    """The mean final regret of each agent and its standard error, at every horizon."""
    table: dict[str, list[tuple[float, float]]] = {}
    for horizon in HORIZONS:
        budget = horizon**exponent
        world = worlds.Periodic(horizon=horizon, n_arms=2, period=round(2 * horizon / (5 * budget)), amplitude=0.3)
        for title, player in players(horizon, budget).items():
            final = final_regrets(world, player, RUNS, seed=0, reward="gaussian", scale=0.1)
            table.setdefault(title, []).append(mean_and_error(final))
    return table


def bound(horizon: int) -> float:
    """The regret of Exp3 over blocks: 2.63 H √(|J| ln |J| T/H)."""
    agent = agents.make("bandit-over-windows", 2, horizon)
    windows = len(agent.state.windows)
    return float(2.63 * math.sqrt(windows * math.log(windows) * horizon * agent.block))


def main() -> None:
    """Print regret at every horizon, and the slope of its logarithm beside the published rate."""
    for title, (exponent, published) in BUDGETS.items():
        print(f"\n{title}, {RUNS} runs: regret at T = {', '.join(f'{horizon:,}' for horizon in HORIZONS)}")
        for player, row in measured(exponent).items():
            slope = np.polyfit(np.log(HORIZONS), np.log([mean for mean, _ in row]), 1)[0]
            shown = "  ".join(f"{mean:>7.0f} ± {error:<3.0f}" for mean, error in row)
            beside = f", published {published}" if player == "SW-UCB, B known" else ""
            print(f"  {player:<20} {shown}  slope {slope:.2f}{beside}")
        print(f"  {'its bound':<20} {'  '.join(f'{bound(horizon):>7.0f}      ' for horizon in HORIZONS)}")


if __name__ == "__main__":
    main()
