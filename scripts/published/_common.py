"""What these scripts share: final regrets of an agent, their mean with its error, and worlds of constant phases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import ns_mab_gym as nsb
from ns_mab_gym.means import Floats

Player = tuple[str, dict[str, Any]]  # the name of an agent, and its parameters

# Problems 1 and 2 of Besson and Kaufmann 2019: the means of three arms in five phases.
PROBLEMS = {
    1: [[0.3, 0.5, 0.9], [0.3, 0.2, 0.9], [0.3, 0.2, 0.1], [0.7, 0.2, 0.1], [0.7, 0.5, 0.1]],
    2: [[0.4, 0.5, 0.9], [0.5, 0.4, 0.7], [0.6, 0.3, 0.5], [0.7, 0.2, 0.3], [0.8, 0.1, 0.1]],
}


def final_regrets(world: Any, player: Player, runs: int, seed: int = 1, **law: Any) -> Floats:
    """The final regret of every run; agents with the same seed meet the same luck."""
    name, parameters = player
    return nsb.simulate(world, name, runs=runs, seed=seed, env_kwargs=law, agent_kwargs=parameters).final


def mean_and_error(samples: Floats) -> tuple[float, float]:
    """The mean of samples, and its standard error."""
    return float(samples.mean()), float(samples.std(ddof=1)) / math.sqrt(len(samples))


def in_phases(phases: Sequence[Sequence[float]], horizon: int) -> nsb.worlds.Table:
    """The world of phases of equal length, each with the means of its arms."""
    return nsb.worlds.Table(rows=np.repeat(phases, horizon // len(phases), axis=0))
