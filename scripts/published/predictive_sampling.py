"""Predictive sampling against Thompson sampling on AR(1) bandits.

Source: Liu, Van Roy, Xu, "Nonstationary Bandit Learning via Predictive Sampling", AISTATS 2023, arXiv 2205.01970.
Setting: the mean of each arm is an AR(1) process θ' = φθ + W with stationary variance 1, rewards have noise of variance
1, and both algorithms know the processes; they differ only in what they sample.

Published: curves, whose numbers and φ could not be read; the abstract states that predictive sampling outperforms
Thompson sampling in all non-stationary environments examined, since it explores less where what one learns is soon
worth nothing. The φ here are ours: the same for all arms, from fast to slow; slow arms among fast ones, where the
argument is strongest; and, as a control, processes so slow that both must be almost the same.

python scripts/published/predictive_sampling.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from _common import final_regrets, mean_and_error

from ns_mab_gym import worlds
from ns_mab_gym.means import Floats

ROUNDS, RUNS = 1_000, 300
PROBLEMS = {
    "10 arms, phi = 0.5": (0.5,) * 10,
    "10 arms, phi = 0.9": (0.9,) * 10,
    "10 arms, phi = 0.99": (0.99,) * 10,
    "2 arms with 0.99, 8 with 0.1": (0.99,) * 2 + (0.1,) * 8,
    "10 arms, phi = 0.99999": (0.99999,) * 10,
}


@dataclass(frozen=True, kw_only=True)
class AutoRegressive(worlds.World):
    """Means that follow stationary AR(1) processes with mean 0 and variance 1.

    Attributes:
        phi: φ of each arm.
    """

    random: ClassVar[bool] = True

    phi: tuple[float, ...]

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.phi)

    def _means(self, rng: np.random.Generator) -> Floats:
        phi = np.array(self.phi)
        means = rng.normal(size=(self.horizon, phi.size))
        for t in range(1, self.horizon):
            means[t] = phi * means[t - 1] + np.sqrt(1 - phi**2) * means[t]
        return means


def regret_per_round(phi: tuple[float, ...], variance: str) -> Floats:
    """The final regret per round of each run."""
    drift = tuple(math.sqrt(1 - each**2) for each in phi)
    known = {"phi": phi, "mean": 0.0, "drift": drift, "noise": 1.0, "variance": variance}
    player, world = ("predictive-sampling", known), AutoRegressive(horizon=ROUNDS, phi=phi)
    return final_regrets(world, player, RUNS, reward="gaussian", scale=1.0) / ROUNDS


def main() -> None:
    """Print the regret per round of both on common luck, and how much less predictive sampling has."""
    print(f"regret per round, T = {ROUNDS:,}, {RUNS} runs; stated: predictive sampling has less wherever means change")
    print(f"  {'processes':<30} {'Thompson':>9} {'predictive':>11} {'less by':>9}")
    for title, phi in PROBLEMS.items():
        plain, predictive = regret_per_round(phi, "posterior"), regret_per_round(phi, "predictive")
        gain, error = mean_and_error(plain - predictive)
        print(f"  {title:<30} {plain.mean():>9.4f} {predictive.mean():>11.4f} {gain:>9.4f} ± {error:.4f}")


if __name__ == "__main__":
    main()
