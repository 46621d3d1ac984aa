"""Whether a step costs the same however long an agent plays: ten times the rounds, at most twice the cost."""

from __future__ import annotations

from benchmarks._outcome import Outcome
from benchmarks.growth import FLAT_MARK, nanoseconds

import ns_mab_gym as nsb
from ns_mab_gym import agents

SHORT, LONG = 30_000, 300_000
# The exact forms, the defaults, look back at everything that an arm has paid; their cards say so.
EFFICIENT = {"raw-ucb": {"grid": "geometric"}, "fewa": {"grid": "geometric"}}


def run() -> Outcome:
    """Print the cost of a step at two horizons for every agent, in its efficient form where it has one."""
    ratios = {}
    print(f"flat: ns per step, Abrupt world, T = {SHORT:,} and {LONG:,}")
    for name in agents.names():
        parameters = EFFICIENT.get(name, {})
        short, long = (nanoseconds(nsb.worlds.Abrupt(horizon=t), name, **parameters) for t in (SHORT, LONG))
        ratios[name] = long / short
        print(f"    {name:<20} {short:8,.0f} {long:8,.0f}  × {ratios[name]:.2f} (at most {FLAT_MARK:g})", flush=True)
    return Outcome(max(ratios.values()) <= FLAT_MARK, {"ratios": ratios})
