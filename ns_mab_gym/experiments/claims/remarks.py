"""What the runs show where the paper says nothing."""

from __future__ import annotations

import math
from contextlib import suppress

from ...runs import Runs
from .. import paper_names as paper
from ..kept_runs import MissingRunsError
from ..results import Results
from .decisions import mean_se

__all__ = ["observations"]


def observations(results: Results) -> list[str]:
    """Notes on the results that no sentence of the paper claims; none where runs are missing."""
    notes: list[str] = []
    for remark in (_fast_world, _round_robin):
        with suppress(MissingRunsError):
            notes += remark(results)
    return notes


def _fast_world(results: Results) -> list[str]:
    """A note on the results for σ = 0.001."""
    curves = results.curves[paper.FAST]
    ascending = sorted(paper.ALGORITHMS, key=lambda label: float(curves[label].final.mean()))
    order = ", ".join(f"{label} {mean_se(curves[label].final)}" for label in ascending)
    period = 2 * math.pi / 0.001
    suggested = paper.window(paper.SUGGESTED, curves[paper.TS].horizon)
    worlds = (paper.SMOOTH, paper.FAST)
    windows = "; ".join(_best_window(results, world, sampler) for world in worlds for sampler in paper.SAMPLERS)
    return [
        f"What σ = 0.001 shows, of which the paper says nothing: final regrets {order}. The world repeats itself every "
        f"2π/σ = {period:,.0f} rounds, and the suggested window of {suggested:,} rounds looks back over "
        f"{suggested / period:.0%} of that. The best of the five windows: {windows}."
    ]


def _best_window(results: Results, world: str, sampler: str) -> str:
    members = [results.curves[world][paper.sensitivity_label(sampler, alpha)] for alpha in paper.ALPHAS]
    best: Runs = min(members, key=lambda member: float(member.final.mean()))
    return f"{sampler} on {world}: τ = {best.parameters[0].get('window', 0):,} ({mean_se(best.final)})"


def _round_robin(results: Results) -> list[str]:
    """A note that γ-SWGTS with a window shorter than the number of arms never samples; none if it does sample."""
    curve = results.curves[paper.ABRUPT][paper.sensitivity_label(paper.GAUSS, paper.ALPHAS[0])]
    if curve.final.std() > 1e-9 * curve.final.mean():
        return []
    window, arms = curve.parameters[0].get("window", 0), curve.pulls.shape[1]
    return [
        f"γ-SWGTS with α = 0.2 has a window of {window} rounds and {arms} arms: in every round some arm is unseen and "
        f"is forced, so that it plays the arms in turn all the time. Its regret is not random: "
        f"{curve.final.mean():,.0f} on the abrupt world, in every run."
    ]
