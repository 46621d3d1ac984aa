"""The rewards of many arms at once, equal to the bit to those that a law gives one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..rewards import Bernoulli, Beta, Gaussian, Law

__all__ = ["rewards_of"]

FloatArray = npt.NDArray[np.float64]


def rewards_of(law: Law, mean: FloatArray, luck: FloatArray) -> FloatArray:
    """The rewards of N arms with these means and this luck: ``law.reward``, elementwise and to the same bit."""
    at_once = AT_ONCE.get(type(law).reward)
    if at_once is not None:
        return at_once(law, mean, luck)
    pairs = zip(mean.tolist(), luck.tolist(), strict=True)
    return np.array([law.reward(m, u) for m, u in pairs], dtype=np.float64)


def _bernoulli(law: Bernoulli, mean: FloatArray, luck: FloatArray) -> FloatArray:
    return (luck < mean).astype(np.float64)


def _gaussian(law: Gaussian, mean: FloatArray, luck: FloatArray) -> FloatArray:
    return mean + law.scale * luck


def _beta(law: Beta, mean: FloatArray, luck: FloatArray) -> FloatArray:
    from ..quantile import beta_quantiles  # imported here, because the other laws do not need numba

    return beta_quantiles(luck, law.concentration * mean, law.concentration * (1 - mean))


# By the rule itself, so that a law that is derived from one of these but has a rule of its own is computed by that.
AT_ONCE: dict[Any, Callable[[Any, FloatArray, FloatArray], FloatArray]] = {
    Bernoulli.reward: _bernoulli,
    Gaussian.reward: _gaussian,
    Beta.reward: _beta,
}
