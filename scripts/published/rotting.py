"""FEWA and RAW-UCB on two rested rotting arms: Figure 1 of Seznec and others 2019, and the rate of their theorem.

Source: Seznec, Locatelli, Carpentier, Lazaric, Valko, "Rotting bandits are not harder than stochastic ones", AISTATS
2019, and the authors' public script for its Figure 1, which also lists RAW-UCB (AISTATS 2020): two arms with Gaussian
noise of scale 1; arm 1 pays μ = L/2 in its first T/4 pulls and −μ afterwards, arm 2 pays 0; T = 10 000. The arms are
rested: what an arm pays depends on how often it was pulled. Regret is measured against the greedy oracle, which is
optimal here: T/4 pulls of arm 1 and then arm 2. μ = 0.01 · 1.25^i; every third of the 30 values is played here.

Published: curves, whose numbers could not be read. Stated in the abstract: the regret of FEWA is Õ(√(KT)) whatever the
decay. So the largest regret over all μ should grow by 4, or 4.6 with the root of a logarithm, when T grows sixteenfold
(the theorems are for α ≥ 4; the figure's α are 0.03, 0.06 and 0.1, and 4 should cost more). The efficient variants
should cost somewhat more than the exact ones, as their windows are late and few.

Differences: 40 runs for each μ, 100 for the rate. The public script compares with wSWA, GLR-klUCB and Exp3.S too,
which are left out.

python scripts/published/rotting.py
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from _common import Player, mean_and_error
from numba import njit

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import act, observe
from ns_mab_gym.means import Floats

T, RUNS = 10_000, 40
HEIGHTS = [0.01 * 1.25**i for i in range(0, 30, 3)]
PLAYERS: dict[str, Player] = {
    "FEWA 0.03": ("fewa", {"alpha": 0.03}),
    "FEWA 0.06": ("fewa", {"alpha": 0.06}),
    "FEWA 0.1": ("fewa", {"alpha": 0.1}),
    "EFF-FEWA 0.06": ("fewa", {"alpha": 0.06, "grid": "geometric"}),
    "FEWA 4": ("fewa", {"alpha": 4.0}),
    "RAW-UCB 1.4": ("raw-ucb", {"alpha": 1.4}),
    "EFF-RAW-UCB 1.4": ("raw-ucb", {"alpha": 1.4, "grid": "geometric"}),
}


@njit(nogil=True)
def pulls_of_the_first_arm(state, height, horizon, noise, rng):  # type: ignore[no-untyped-def]
    """Play one game; returns how often the arm that rots was pulled."""
    mask = np.ones(2, np.bool_)
    pulls = 0
    for t in range(horizon):
        arm = act(state, mask, rng)
        mean = 0.0
        if arm == 0:
            mean = height if pulls < horizon // 4 else -height
            pulls += 1
        observe(state, arm, mean + noise[t])
    return pulls


def regrets(title: str, height: float, horizon: int = T, runs: int = RUNS) -> Floats:
    """The regret in every run: μ for each pull of arm 1 too few or too many."""
    name, parameters = PLAYERS[title]

    def lost(run: int) -> float:
        agent = agents.make(name, 2, horizon, sigma=1.0, **parameters)
        noise = np.random.default_rng(run).standard_normal(horizon)
        pulls = pulls_of_the_first_arm(agent.state, height, horizon, noise, np.random.default_rng(0))
        return height * abs(int(pulls) - horizon // 4)

    with ThreadPoolExecutor() as pool:
        return np.array([lost(0), *pool.map(lost, range(1, runs))])  # the first alone: it compiles the loop


def worst(title: str, horizon: int, runs: int = 100) -> tuple[float, float]:
    """The largest mean regret over all μ, and its standard error."""
    cells = [regrets(title, height, horizon, runs) for height in HEIGHTS]
    return max(map(mean_and_error, cells))


def main() -> None:
    """Print the figure as a table, and the growth of the largest regret."""
    print(f"mean regret at T = {T:,}, {RUNS} runs, standard errors in brackets; columns: μ")
    print(" " * 16 + "".join(f"{height:>14.3f}" for height in HEIGHTS))
    for title in PLAYERS:
        cells = [mean_and_error(regrets(title, height)) for height in HEIGHTS]
        shown = (f"{mean:.1f} ({error:.1f})" for mean, error in cells)
        print(f"{title:<16}" + "".join(f"{cell:>14}" for cell in shown), flush=True)
    print("\nlargest mean regret over μ at T = 2 500 and 40 000, and its growth; stated: 4, up to logarithms (4.6)")
    for title in ("FEWA 0.06", "EFF-FEWA 0.06", "EFF-RAW-UCB 1.4"):
        (small, one), (large, two) = (worst(title, horizon) for horizon in (2_500, 40_000))
        growth = large / small
        error = growth * math.hypot(one / small, two / large)
        print(f"{title:<16}{small:>8.1f} ({one:.1f}){large:>8.1f} ({two:.1f})   × {growth:.2f} ({error:.2f})")


if __name__ == "__main__":
    main()
