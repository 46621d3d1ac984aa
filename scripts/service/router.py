"""Which language model answers a request, where models change without notice: `python scripts/service/router.py`.

An answer passes a check or not, and a call has a price: the reward is 1 if it passes, minus the price. In this world
`large` gets worse silently, `small` becomes cheaper, `large` has an outage, and `new` comes later.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np

import ns_mab_gym as nsb

# After which share of all calls:
EVENTS = {"large gets worse": 0.25, "small is cheaper": 0.45, "outage of large": 0.6, "new arrives": 0.7}
BLOCK, SETTLED = 50, 0.6  # calls; the share of the best model in a block that counts as recovered


def world(at: float) -> dict[str, tuple[float, float]]:
    """The probability that an answer passes and the price of a call, at a share of all calls."""
    large = 0.92 if at < 0.25 else 0.0 if 0.6 <= at < 0.64 else 0.55
    models = {"large": (large, 0.20), "small": (0.62, 0.15 if at < 0.45 else 0.05), "tiny": (0.45, 0.02)}
    return models | ({"new": (0.95, 0.12)} if at >= 0.7 else {})


def route(calls: int, without: str = "", seed: int = 1) -> tuple[np.ndarray, list[str]]:
    """Route all calls between all models but one; the net reward and the model of each."""
    luck, now, net, chosen = np.random.default_rng(seed).random(calls), 0.0, np.zeros(calls), []
    models = [name for name in world(0.0) if name != without]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "router.sqlite")
        live = nsb.Live(arms=models, path=path, reward_range=(-1, 1), seed=seed, clock=lambda: now)
        for call in range(calls):
            now, models_now = 60.0 * call, world(call / calls)
            if "new" in models_now and "new" not in live.arms and without != "new":
                live.add("new")
            [decision] = live.decide()
            passes, price = models_now[decision.arm]
            net[call] = (luck[call] < passes) - price  # whatever is asked of two routers, their luck is one
            live.learn([(decision.id, net[call])])
            chosen.append(decision.arm)
        live.close()
    return net, chosen


def verdict(net: np.ndarray, without: np.ndarray) -> tuple[str, float, float]:
    """Keep or kill, by the 95 % interval of what the model adds to 1,000 calls: paired differences of blocks."""
    blocks = 1_000 * (net - without).reshape(-1, BLOCK).mean(axis=1)
    mean, half = float(blocks.mean()), 1.96 * float(blocks.std(ddof=1)) / math.sqrt(blocks.size)
    return ("keep" if mean > half else "kill" if mean < -half else "undecided"), mean, half


def main(calls: int = 4_000, seed: int = 1) -> dict[str, object]:
    """Route calls; print and return what they earn, how soon the router recovers, and a verdict on each model."""
    net, chosen = route(calls, seed=seed)
    means = [{name: passes - price for name, (passes, price) in world(call / calls).items()} for call in range(calls)]
    ideal = np.mean([max(each.values()) for each in means])
    fixed, name = max((np.mean([each[name] for each in means]), name) for name in world(0.0))
    print(f"net reward of a call: router {net.mean():.3f}, always {name} {fixed:.3f}, always the best {ideal:.3f}")
    for event, at in EVENTS.items():
        first, best = round(at * calls), max(means[round(at * calls)], key=means[round(at * calls)].get)
        blocks = [chosen[begin : begin + BLOCK].count(best) / BLOCK for begin in range(first, calls - BLOCK, 10)]
        after = next((10 * k for k, share in enumerate(blocks) if share >= SETTLED), None)
        print(f"{event} (call {first}): {best} has {SETTLED:.0%} of the calls after {after}")
    verdicts = {name: verdict(net, route(calls, without=name, seed=seed)[0]) for name in world(1.0)}
    for name, (word, mean, half) in verdicts.items():
        print(f"{name}: {word}; it adds {mean:.0f} ± {half:.0f} to 1,000 calls")
    return {"router": net.mean(), "fixed": fixed, "ideal": ideal, "verdicts": verdicts}


if __name__ == "__main__":
    main()
