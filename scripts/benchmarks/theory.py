"""Theory: the time of the unlearnable set, and the losses of the recommended window."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from benchmarks._common import Outcome, interleaved, seconds_of
from scipy.ndimage import minimum_filter1d

from ns_mab_gym import theory as of_theory
from ns_mab_gym import worlds
from ns_mab_gym.agents.core.knowledge import suggested_window
from ns_mab_gym.means import Floats
from ns_mab_gym.theory.theorems import LEARNERS
from ns_mab_gym.tuning.diagnosis import compare_windows, measure

ROUNDS, WINDOW, RATIO_LIMIT = 10**6, 2942, 6.0
PAPER = (worlds.Abrupt(), worlds.GeneralAbrupt(), worlds.Smooth(sigma=1e-4), worlds.Smooth(sigma=1e-3))
HORIZON, RUNS, OTHER_RUNS = 20_000, 50, 20
LOSS_LIMIT = 0.05  # the most that Beta-SWTS may lose on any of the paper's worlds
DRAWN = (worlds.Piecewise, worlds.RandomWalk, worlds.Rising, worlds.Rotting, worlds.Mixed)
# Worlds that are not drawn at random: three settings of each.
FIXED: tuple[tuple[Any, tuple[dict[str, Any], ...]], ...] = (
    (worlds.Stationary, ({"mu": (0.4, 0.6)}, {"mu": (0.1, 0.2, 0.3, 0.4, 0.5)}, {})),
    (worlds.Variation, ({"budget": 3.0}, {"budget": 10.0}, {"budget": 30.0})),
    (worlds.Periodic, ({"period": 1_000}, {"period": 5_000}, {"period": 20_000})),
)


def theory() -> Outcome:
    """Print the times of the unlearnable set at T = 10^6, K = 10, of one pass of SciPy's filter, and of twenty gaps."""
    means = np.random.default_rng(0).random((ROUNDS, 10))
    means[:, 0] += 0.5
    ours = partial(of_theory.unlearnable_set, means, WINDOW)
    theirs = partial(minimum_filter1d, means, WINDOW, axis=0)
    mine, filtered, ratio = interleaved(partial(seconds_of, ours), partial(seconds_of, theirs), repeats=3)
    print(f"theory: unlearnable_set {mine:.2f} s, minimum_filter1d {filtered:.2f} s, ", end="")
    print(f"ratio {ratio:.2f} (at most {RATIO_LIMIT:g})")
    twenty = seconds_of(lambda: of_theory.gap(means, np.linspace(100, 20_000, 20, dtype=int).tolist()))
    print(f"  the gaps of twenty windows at once: {twenty:.1f} s")
    figures = {"seconds": mine, "ratio_to_minimum_filter": ratio, "seconds_of_twenty_gaps": twenty}
    return Outcome(ratio <= RATIO_LIMIT, figures)


def instances() -> Iterator[Floats]:
    """The means of the 24 instances."""
    for kind in DRAWN:
        yield from (kind(horizon=HORIZON).means(rng=seed) for seed in range(3))
    for kind, settings in FIXED:
        yield from (kind(horizon=HORIZON, **each).means() for each in settings)


def losses(means: Floats, agent: str, runs: int) -> tuple[float, float]:
    """What the recommended window and what 4√(T ln T) lose, as shares of the best window's regret."""
    comparison = compare_windows(means, agent, runs=runs)
    best = comparison.measured.of(comparison.best).mean()
    suggested = measure(means, [suggested_window(len(means))], agent, runs=runs).regret.mean()
    return comparison.loss, float(suggested / best - 1)


def of_agent(agent: str) -> dict[str, float]:
    """The losses of one sampler: the least and the most on the paper's worlds, the median and the worst elsewhere."""
    paper = [losses(world.means(), agent, RUNS)[0] for world in PAPER]
    others = np.array([losses(means, agent, OTHER_RUNS) for means in instances()])
    return {
        "paper_least": min(paper),
        "paper_most": max(paper),
        "median": statistics.median(others[:, 0].tolist()),
        "worst": float(others[:, 0].max()),
        "median_of_suggested": statistics.median(others[:, 1].tolist()),
    }


def windows() -> Outcome:
    """Print the losses of the recommended window and of 4√(T ln T) against the best of a measured grid.

    Both samplers play on the paper's four worlds, and on three instances of each of eight others. Every window gets the
    same instances and the same luck; the figures do not depend on the machine.
    """
    figures = {agent: of_agent(agent) for agent in LEARNERS}
    for agent, lost in figures.items():
        print(f"windows: {agent} loses {lost['paper_least']:.0%} to {lost['paper_most']:.0%} on the paper's worlds,")
        print(f"  on others {lost['median']:.0%} (median), {lost['worst']:.0%} (worst); ", end="")
        print(f"with 4√(T ln T) {lost['median_of_suggested']:.0%} (median)")
    return Outcome(figures["beta-swts"]["paper_most"] <= LOSS_LIMIT, figures)
