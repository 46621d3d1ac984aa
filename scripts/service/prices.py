"""Which price earns most, where a rival's offer makes buyers careful for a while: `python scripts/service/prices.py`.

A visitor buys at 9.99, 14.99 or 19.99, or not; the reward is the revenue. Nobody tells the agent when demand changes,
how often, or what unit revenues have: it is told their range alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import ns_mab_gym as nsb

PRICES = (9.99, 14.99, 19.99)
USUAL, CAREFUL = (0.30, 0.24, 0.21), (0.28, 0.08, 0.03)  # the shares of visitors who buy


def demand(visitor: int, visitors: int) -> tuple[float, ...]:
    """The shares of buyers: careful in the middle third."""
    return CAREFUL if visitors // 3 <= visitor < 2 * visitors // 3 else USUAL


def main(visitors: int = 6_000, seed: int = 1) -> dict[str, float]:
    """Sell to visitors; print and return the revenue of a visitor."""
    rng, now, revenues, chosen = np.random.default_rng(seed), 0.0, [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "prices.sqlite")
        live = nsb.Live(arms=PRICES, path=path, reward_range=(0, 20), seed=seed, clock=lambda: now)
        for visitor in range(visitors):
            now += 60.0
            [decision] = live.decide()
            place = live.arms.index(decision.arm)
            revenue = PRICES[place] if rng.random() < demand(visitor, visitors)[place] else 0.0
            live.learn([(decision.id, revenue)])
            revenues.append(revenue)
            chosen.append(place)
        alarms = [int(at // 60) for at, _ in live.alarms()]
        believed = {each.arm: each.believed for each in live.estimates()}
        live.close()
    for third, name in enumerate(("usual demand", "a rival's offer", "usual demand again")):
        part = chosen[third * visitors // 3 : (third + 1) * visitors // 3]
        shares = ", ".join(f"{price} {part.count(place) / len(part):.0%}" for place, price in enumerate(PRICES))
        print(f"{name}: {shares}")
    means = np.array([demand(visitor, visitors) for visitor in range(visitors)]) * PRICES
    earned = {
        "agent": float(np.mean(revenues)),
        "random": float(means.mean()),
        "best price": float(means.mean(axis=0).max()),
        "best at any time": float(means.max(axis=1).mean()),
    }
    print("revenue of a visitor: " + ", ".join(f"{name} {value:.2f}" for name, value in earned.items()))
    print(
        f"changes that the agent noticed, after visitors {alarms}; there were two, after {visitors // 3} and ", end=""
    )
    print(f"{2 * visitors // 3}. It now expects " + ", ".join(f"{x:.2f} at {arm}" for arm, x in believed.items()))
    return earned


if __name__ == "__main__":
    main()
