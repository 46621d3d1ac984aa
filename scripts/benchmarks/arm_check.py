"""What it costs that the compiled loop looks at every arm that a rule chooses: at most 2 %.

The same loop is made twice, from its own source, with the check and without it, and both are timed in turns.
"""

from __future__ import annotations

import inspect
import statistics
from time import thread_time
from types import FunctionType
from typing import Any

from benchmarks._outcome import Outcome
from benchmarks._timing import interleaved
from numba import njit

import ns_mab_gym as nsb
from ns_mab_gym.play import loop

CHECK = """        if not 0 <= chosen < n_arms or int(chosen) != chosen:
            return t, 1.0 * chosen  # not an arm: compiled code would read and write beyond the arrays
"""
FAST = ("random", "sw-ucb", "gamma-swgts", "ucb1", "beta-swts", "exp3")  # in which a round takes the least time
WORLD = "NSBandit-Abrupt-v0"
REPEATS, MARK = 101, 1.02


def made(source: str) -> Any:
    """The compiled loop of this source, for agents on binary rewards."""
    scope = vars(loop) | {"QUANTILES": False}
    exec(source, scope)
    return njit(nogil=True)(FunctionType(scope["_play"].__code__, scope, "played"))


def cost(name: str, source: str) -> float:
    """The time of an agent's runs in a loop with the check, divided by that in one without."""
    checked, unchecked = made(source), made(source.replace(CHECK, ""))
    return interleaved(lambda: seconds(checked, name), lambda: seconds(unchecked, name), REPEATS).ratio


def seconds(one: Any, name: str) -> float:
    """The time that one run of an agent takes in a loop, of the processor: other load on the machine does not count."""
    spent = 0.0

    def timed(*arguments: Any) -> Any:
        nonlocal spent
        began = thread_time()
        played = one(*arguments)
        spent = thread_time() - began
        return played

    usual = loop.loop_for
    loop.loop_for = lambda *_: timed
    try:
        nsb.simulate(WORLD, name, runs=1, n_jobs=1)
    finally:
        loop.loop_for = usual
    return spent


def run() -> Outcome:
    """Print the ratio of the times of a loop with and without the check, for agents whose rounds are short."""
    source = inspect.getsource(loop._play)
    assert source.count(CHECK) == 1
    ratios = {}
    print(f"arm check: {WORLD}, medians of {REPEATS}")
    for name in FAST:
        ratios[name] = cost(name, source)
        print(f"  {name:<24} × {ratios[name]:.4f}", flush=True)
    middle = statistics.median(ratios.values())
    print(f"  median × {middle:.4f} (at most {MARK:g})")
    return Outcome(middle <= MARK, {"arm_check": ratios})
