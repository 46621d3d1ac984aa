"""Which banner is clicked most, where clicks come hours later and the best banner changes.

Run it with `python scripts/service/clicks.py`.

A visitor who does not click tells nothing: after a day without a click, the decision counts as 0. Every tenth decision
is made by the holdout, at random, so that what the agent is worth can be read from the same days.
"""

from __future__ import annotations

import heapq
import tempfile
from pathlib import Path

import numpy as np

import ns_mab_gym as nsb

HOUR, DAY = 3_600, 86_400
RATES = {"blue": (0.05, 0.05), "green": (0.12, 0.03), "red": (0.03, 0.10)}  # before the change, and after it


def main(days: int = 20, per_day: int = 480, seed: int = 1) -> dict[str, float]:
    """Serve visitors for some days, half of them before the change; print and return clicks in 1,000 decisions."""
    rng, now, underway, clicks = np.random.default_rng(seed), 0.0, list[tuple[float, int]](), list[tuple[bool, bool]]()
    with (
        tempfile.TemporaryDirectory() as folder,
        nsb.Live(
            "beta-swts", RATES, Path(folder, "clicks.sqlite"), window="3d", per_day=per_day, expire="1d", holdout=0.1,
            seed=seed, clock=lambda: now,
        ) as live,
    ):  # fmt: skip
        print(*live.notes, sep="\n")
        for hour in range(24 * days):
            now, changed = hour * HOUR, hour >= 12 * days
            for decision in live.decide(per_day // 24):  # the visitors of an hour
                clicked = rng.random() < RATES[decision.arm][changed]
                clicks.append((decision.holdout, clicked))
                if clicked:
                    heapq.heappush(underway, (now + rng.exponential(2 * HOUR), decision.id))
            arrived = []
            while underway and underway[0][0] <= now:
                arrived.append((heapq.heappop(underway)[1], 1.0))
            live.learn(arrived)
        gain, error = live.gain(f"{days}d")
        days_, shares = live.shares("1d")
    for which, name in ((0, "first"), (len(days_) // 2 + 2, "third after the change"), (-1, "last")):
        said = ", ".join(f"{arm} {share:.0%}" for arm, share in zip(RATES, shares[which], strict=True))
        print(f"shares of the {name} day: {said}")
    best = 1_000 * max(np.mean(rates) for rates in RATES.values())
    agent, holdout = (1_000 * np.mean([clicked for held, clicked in clicks if held == part]) for part in (False, True))
    print(
        f"clicks in 1,000 decisions: agent {agent:.0f}, at random {holdout:.0f}, the best banner all along {best:.0f}"
    )
    print(f"the agent's gain over chance as the file has it: {1_000 * gain:.0f} ± {1_000 * error:.0f}")
    return {"agent": agent, "holdout": holdout, "best": best, "gain": 1_000 * gain, "error": 1_000 * error}


if __name__ == "__main__":
    main()
