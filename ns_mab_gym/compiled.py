"""The compiled loop: plays a whole episode with the agents' own definitions, at the speed of the hardware."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import register_jitable

from . import quantile
from .agents import kernel
from .agents.kernel import RULES, act, observe
from .quantile import beta_quantile
from .rewards import Bernoulli, Beta, Gaussian, Law

__all__ = ["best_means", "law_code", "loop_for", "play"]

BERNOULLI, GAUSSIAN, BETA = range(3)


def law_code(law: Law) -> tuple[int, float] | None:
    """The number and the parameter by which the compiled loop knows a reward law; None if it does not."""
    if type(law) is Bernoulli:
        return BERNOULLI, 0.0
    if type(law) is Gaussian:
        return GAUSSIAN, law.scale
    if type(law) is Beta:
        return BETA, law.concentration
    return None


@register_jitable(forceinline=True)
def draw(law: int, parameter: float, mu: float, rng: np.random.Generator) -> float:
    """A reward with mean ``mu``: the same number that :meth:`ns_mab_gym.rewards.Law.draw` gives."""
    if law == BERNOULLI:
        return 1.0 if rng.random() < mu else 0.0
    if law == GAUSSIAN:
        return mu + parameter * rng.standard_normal()
    return beta_quantile(rng.random(), parameter * mu, parameter * (1.0 - mu))


def _play(
    state: Any,
    law: int,
    parameter: float,
    binarize: bool,
    means: npt.NDArray[np.float64],  # (T, K)
    best: npt.NDArray[np.float64],  # (T,) the largest mean of each round
    luck: np.random.Generator,
    rng: np.random.Generator,
    rounds: npt.NDArray[np.int64],  # (C,) after which rounds to note the regret
    regret: npt.NDArray[np.float64],  # (C,) out
    pulls: npt.NDArray[np.int64],  # (K,) out
    suboptimal: npt.NDArray[np.int64],  # (K,) out
    arms: npt.NDArray[np.int64],  # (T,) out, or empty
    rewards: npt.NDArray[np.float64],  # (T,) out, or empty
) -> None:
    """Act, draw, observe, until the means end."""
    horizon, n_arms = means.shape
    mask = np.ones(n_arms, np.bool_)
    total = 0.0
    noted = 0
    for t in range(horizon):
        arm = act(state, mask, rng)
        mu = means[t, arm]
        reward = draw(law, parameter, mu, luck)
        if arms.size > 0:
            arms[t] = arm
            rewards[t] = reward
        if binarize:
            reward = 1.0 if rng.random() < reward else 0.0
        observe(state, arm, reward)
        total += best[t] - mu
        pulls[arm] += 1
        if mu < best[t]:
            suboptimal[arm] += 1
        if rounds[noted] == t + 1:
            regret[noted] = total
            noted += 1


def _sources() -> bytes:
    """A digest of every file that the loop is compiled from."""
    files = {Path(__file__), Path(quantile.__file__), *Path(kernel.__file__).parent.glob("*.py")}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.digest()


@njit(cache=True, nogil=True)
def best_means(means: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The largest mean of each round, (T,)."""
    horizon, n_arms = means.shape
    best = np.empty(horizon)
    for t in range(horizon):
        largest = means[t, 0]
        for i in range(1, n_arms):
            largest = max(largest, means[t, i])
        best[t] = largest
    return best


play = njit(cache=True, nogil=True)(_play)
play_uncached = njit(nogil=True)(_play)


def loop_for(state: Any) -> Any:
    """The compiled loop for this kind of state; kept on disk only if all it is compiled from is the suite's own.

    The stamp below does not cover rules that were defined elsewhere: an edited one would be served as it was. And
    numba's index names the classes of all states: one from elsewhere makes it unreadable where that is not installed.
    """
    kind = type(state)
    homes = {part.__module__.rpartition(".")[0] for part in (kind, *RULES[kind])}
    return play if homes == {kernel.__package__} else play_uncached


def _refresh(cache_file: Any) -> None:
    """Stamp the cache with all sources (numba knows of this file alone), and empty it if its index cannot be read."""
    cache_file._source_stamp = _sources()
    try:
        cache_file._load_index()
    except (ImportError, AttributeError):  # it names a state that is gone
        cache_file.flush()


if hasattr(play, "_cache"):
    _refresh(play._cache._cache_file)
