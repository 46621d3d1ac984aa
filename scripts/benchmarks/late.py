"""Rewards that come late or in batches: what they cost every agent, with pulls under way counted and not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks._common import Outcome

import ns_mab_gym as nsb
from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import RULES
from ns_mab_gym.specs import as_env
from ns_mab_gym.wrappers import DelayedRewards

T, K, RUNS = 10_000, 10, 20
WORLDS = {
    "stationary": nsb.worlds.Piecewise(horizon=T, n_arms=K, changes=0, min_gap=0.1),
    "piecewise": nsb.worlds.Piecewise(horizon=T, n_arms=K, changes=4, min_gap=0.1),
}
WHEN = {
    "at once": {"delay": 0, "batch": 1},
    "delay 10": {"delay": 10, "batch": 1},
    "delay 500": {"delay": 500, "batch": 1},
    "batch 10": {"delay": 0, "batch": 10},
    "batch 1,000": {"delay": 0, "batch": 1_000},
}
LEARNS, CHANCE = 0.9, 1.05  # shares of the regret of random play: an agent that learns, and the most that is no worse


def share(name: str, when: str) -> float:
    """The regret of a blind agent divided by that of random play on the same runs; the mean over both worlds."""
    shares = []
    for world in WORLDS.values():
        env = DelayedRewards(as_env(world, {}), **WHEN[when])
        asked = {"runs": RUNS, "seed": 1, "rounds": ()}
        told = {"blind": True} if not name.startswith("oracle") else {}
        regret = nsb.simulate(env, name, **asked, agent_kwargs=told).final.mean()
        shares.append(float(regret / nsb.simulate(env, "random", **asked).final.mean()))
    return sum(shares) / len(shares)


@contextmanager
def not_counted() -> Iterator[None]:
    """Take the functions by which rules count pulls under way from them, until the end of the block."""
    taken = {state: functions.pop("expect") for state, functions in RULES.items() if "expect" in functions}
    try:
        yield
    finally:
        for state, expect in taken.items():
            RULES[state]["expect"] = expect


def late() -> Outcome:
    """Print the regret of every agent as a share of that of random play, and that of rules that count no late pulls."""
    table: dict[str, dict[str, Any]] = {}
    for name in agents.names():
        kind = agents.kind(name)
        if name in ("random", "oracle", "floor") or not kind.handles_delay:  # a floor is one under another agent
            continue
        counted = {when: share(name, when) for when in WHEN}
        with not_counted():
            plain = {when: share(name, when) for when in WHEN} if kind.late != "drawn" else counted
        table[name] = {"counted": counted, "not counted": plain}
        cells = (f"{when} {counted[when]:.2f} ({plain[when]:.2f})" for when in WHEN)
        print(f"late: {name}: {', '.join(cells)}", flush=True)
    worse = [
        f"{name} ({when}: {each['counted'][when]:.2f})"
        for name, each in table.items()
        for when in WHEN
        if each["counted"]["at once"] < LEARNS and each["counted"][when] > CHANCE
    ]
    print(f"late: worse than random where they learn without delay: {', '.join(worse) or 'none'}")
    return Outcome(not worse, {"agents": table, "runs": RUNS, "horizon": T, "arms": K})
