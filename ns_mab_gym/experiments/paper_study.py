"""The paper's experiments as data.

Fiandri, Metelli, Trovò, "Sliding-Window Thompson Sampling for Non-Stationary Settings": eight algorithms on four
worlds, and the window sensitivity of its two samplers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..agents.core.tuning import drift_window
from ..means import best_arm_switches
from ..play.engine import evenly_spaced
from ..play.resolving import as_env
from .paper_names import (
    ALGORITHMS,
    ALPHAS,
    BETA,
    CHANGES,
    HORIZON,
    RUNS,
    SAMPLERS,
    SUGGESTED,
    SW_KL_UCB,
    TS,
    WORLDS,
    sensitivity_label,
    window,
)
from .paper_readings import SPAN
from .paper_tunings import Facts, other_readings
from .study import AgentEntry, Experiment, Study, WorldEntry
from .zoo_study import survey

__all__ = ["NOTES", "comparison", "sensitivity", "study", "surveyed"]

UNSTATED_WINDOW = drift_window(1e-3)  # the window of SW-KL-UCB where the paper gives no σ
UNSTATED = f"window {UNSTATED_WINDOW}, that is σ = 0.001: the paper gives no σ for the abrupt worlds"

NOTES = (
    "SW-KL-UCB's window is σ^(−4/5), and the paper gives no σ for the two abrupt worlds. We use σ = 0.001 there, a "
    "window of 252 rounds, unless another reading is chosen. Its c is 3, as the appendix gives for KL-UCB.",
    "The paper dates the moment from which Beta-SWTS leads, “the initial part of phase F2”, at t ≈ 12,000; by its own "
    "equations phase 2 begins in round 15,000. We read “the initial part” as its first fifth, to round 18,000.",
    "The paper writes the suggested window as α = 0.5, but 4√(T ln T) = 2,942 lies between T^0.6 = 660 and "
    "T^0.8 = 5,744 (T^0.5 is 224). Curves are ordered by window, not by the α they are called.",
    "The paper's text introduces SW-KL-UCB twice, once as “one of the most effective stationary MAB algorithms”, and "
    "its appendix gives a parameter for KL-UCB: we run both. With KL-UCB, TS is not “the only algorithm considering "
    "the entire history”.",
    "Ser4's source could be read in part only: its pseudocode is known from public code and from the paper's appendix, "
    "and the factor 2 before its threshold could not be confirmed.",
    "The paper calls 0.0001 and 0.001 the smoothness parameter σ; no mean moves by more than 0.45 σ in a round. "
    "Windows are tuned with σ as the paper states it.",
    "The appendix introduces its parameters as those of “the algorithms we compared R-less/ed-UCB with”, which it "
    "names nowhere else.",
    "On the world with σ = 0.001 the paper shows figures only, with no sentence about them, and of the general abrupt "
    "world it says that “similar conclusions can be drawn”. The sentences on σ = 0.0001 and on the abrupt world are "
    "put to the test there too, marked as ours.",
)


def worlds(horizon: int = HORIZON) -> dict[str, WorldEntry]:
    """The four worlds by their labels."""
    other: dict[str, Any] = {} if horizon == HORIZON else {"horizon": horizon}
    return {label: WorldEntry.of(env, label=label, **other) for label, env in WORLDS.items()}


def comparison(world: WorldEntry, horizon: int = HORIZON, runs: int = RUNS, seed: int = 0) -> Experiment:
    """The eight algorithms on one world, each tuned by its own paper's formula, and other readings of that tuning."""
    stated = "Smooth" in world.name
    sw_kl_ucb = AgentEntry.of(ALGORITHMS[SW_KL_UCB], label=SW_KL_UCB, note=UNSTATED, window=UNSTATED_WINDOW)
    agents = [
        sw_kl_ucb if label == SW_KL_UCB and not stated else AgentEntry.of(name, label=label)
        for label, name in ALGORITHMS.items()
    ]
    facts = _facts(world)
    agents += [other for agent in tuple(agents) for other in other_readings(world.label, facts, agent)]
    return Experiment(
        worlds=(world,), agents=tuple(agents), runs=runs, seed=seed, reference=BETA, rounds=_rounds(horizon)
    )


@cache
def _facts(world: WorldEntry) -> Facts:
    """What the other readings' parameters are made from, read off the means of a world."""
    means = as_env(world.name, world.kwargs).unwrapped.means  # type: ignore[attr-defined]
    horizon, n_arms = means.shape
    return Facts(horizon, n_arms, len(best_arm_switches(means)))


def _rounds(horizon: int) -> tuple[int, ...]:
    """The rounds of a curve, and those by which a claim looks before and after a change."""
    near = [change + way * reading.value for change in CHANGES for reading in SPAN.readings for way in (-1, 0, 1)]
    scaled = {max(1, round(round_ * horizon / HORIZON)) for round_ in near}
    return tuple(sorted(scaled.union(evenly_spaced(horizon).tolist())))


def sensitivity(world: WorldEntry, horizon: int = HORIZON, runs: int = RUNS, seed: int = 0) -> Experiment:
    """Both samplers with five windows each, and TS as Beta-SWTS without a window; runs of the comparison are reused."""
    windowed = tuple(_sampler(sampler, alpha, horizon) for sampler in SAMPLERS for alpha in ALPHAS)
    unwindowed = AgentEntry.of(ALGORITHMS[TS], label=sensitivity_label(BETA, 1), group=BETA)
    facts = _facts(world)
    others = [other for agent in windowed for other in other_readings(world.label, facts, agent)]
    return Experiment(
        worlds=(world,),
        agents=(*windowed, unwindowed, *others),
        runs=runs,
        seed=seed,
        reference=sensitivity_label(BETA, SUGGESTED),
        rounds=_rounds(horizon),
    )


def _sampler(sampler: str, alpha: float, horizon: int) -> AgentEntry:
    tau: dict[str, Any] = {} if alpha == SUGGESTED else {"window": window(alpha, horizon)}
    return AgentEntry.of(ALGORITHMS[sampler], label=sensitivity_label(sampler, alpha), group=sampler, **tau)


def surveyed() -> tuple[AgentEntry, ...]:
    """Every agent of the zoo, as it plays the paper's worlds: each once, in the order of the registry."""
    entries = (entry for world in worlds().values() for entry in survey(comparison(world)).agents)
    return tuple({entry.label: entry for entry in entries}.values())


def study(runs: int = RUNS, horizon: int = HORIZON, seed: int = 0, *, zoo: bool = False) -> Study:
    """All of the paper's experiments, and on demand the whole zoo on the paper's worlds."""
    title = "Sliding-Window Thompson Sampling for Non-Stationary Settings: the paper's experiments, run again"
    kinds = (comparison, sensitivity)
    places = worlds(horizon).values()
    experiments = [kind(world, horizon, runs, seed) for world in places for kind in kinds]
    surveys = [survey(comparison(world, horizon, runs, seed)) for world in places] if zoo else []
    return Study(title, (*experiments, *surveys))
