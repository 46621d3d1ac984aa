"""AFF-UCB and AFF-TS against UCB1 and Thompson sampling on Bernoulli arms that jump or drift.

Source: Lu, Adams, Kantas, "On Adaptive Estimation for Dynamic Bernoulli Bandits", Foundations of Data Science 2019,
arXiv 1712.03134.

Published: curves, which could not be read, nor the settings; the abstract states "solid improvements" of the adaptive
algorithms over ε-greedy, UCB and Thompson sampling in dynamic environments. The worlds here are ours: 2, 10 and 50 arms
that jump four times, or walk, in 10 000 rounds, and, as a control, arms that stay.

python scripts/published/adaptive_forgetting.py
"""

from __future__ import annotations

from typing import Any

from _common import final_regrets, mean_and_error

from ns_mab_gym import worlds

ROUNDS, RUNS = 10_000, 100
PAIRS = {"ucb1": "aff-ucb", "ts": "aff-ts"}
CHANGING: dict[str, tuple[Any, dict[str, Any]]] = {
    "jumps": (worlds.Piecewise, {"changes": 4, "min_gap": 0.1}),
    "slow walks": (worlds.RandomWalk, {"step": 0.002}),
    "fast walks": (worlds.RandomWalk, {"step": 0.02}),
    "no change": (worlds.Piecewise, {"changes": 0, "min_gap": 0.1}),
}


def main() -> None:
    """Print the regret of each pair on common luck, and how much less the adaptive one has."""
    print(f"regret, T = {ROUNDS:,}, {RUNS} runs; stated: the adaptive ones have much less wherever means change")
    print(f"  {'world':<22} {'against':<8} {'regret':>7} {'adaptive':>9} {'less by':>8}")
    for title, (kind, given) in CHANGING.items():
        for arms in (2, 10, 50):
            world = kind(horizon=ROUNDS, n_arms=arms, **given)
            for plain, adaptive in PAIRS.items():
                regrets = [final_regrets(world, (name, {}), RUNS) for name in (plain, adaptive)]
                gain, error = mean_and_error(regrets[0] - regrets[1])
                shown = f"{regrets[0].mean():>7.0f} {regrets[1].mean():>9.0f} {gain:>8.0f} ± {error:.0f}"
                print(f"  {title + f', {arms} arms':<22} {plain:<8} {shown}")


if __name__ == "__main__":
    main()
