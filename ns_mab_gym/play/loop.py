"""The compiled loop: plays a whole episode with the agents' own functions, as machine code."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.core.kernel import act, functions_of, inlined, observe
from ..compilation import compiled
from ..quantile import beta_quantile
from ..rewards import Bernoulli, Beta, Gaussian, Law
from .fingerprints import fingerprint

__all__ = ["best_means", "law_code", "loop_for"]

BERNOULLI, GAUSSIAN, BETA = range(3)
# A constant of each compiled loop, which drops what it does not need:
QUANTILES = True  # whether rewards are drawn through the quantiles of Beta laws, which take a second to compile


def law_code(law: Law) -> tuple[int, float] | None:
    """The number and the parameter of a reward law in the compiled loop; None if the loop does not know the law."""
    if type(law) is Bernoulli:
        return BERNOULLI, 0.0
    if type(law) is Gaussian:
        return GAUSSIAN, float(law.scale)
    if type(law) is Beta:
        return BETA, float(law.concentration)
    return None


@inlined
def draw(law: int, parameter: float, mu: float, rng: np.random.Generator) -> float:
    """A Bernoulli or Gaussian reward with mean ``mu``, the number that :meth:`ns_mab_gym.rewards.Law.draw` returns."""
    if law == BERNOULLI:
        return 1.0 if rng.random() < mu else 0.0
    return mu + parameter * rng.standard_normal()


@inlined
def draw_beta(parameter: float, mu: float, rng: np.random.Generator) -> float:
    """A Beta reward with mean ``mu``, likewise."""
    return beta_quantile(rng.random(), parameter * mu, parameter * (1.0 - mu))


def _play(
    state: Any,
    law: int,
    parameter: float,
    binarize: bool,
    means: npt.NDArray[np.float64],  # (T, K)
    best: npt.NDArray[np.float64],  # (T,) the largest mean of each round
    mask: npt.NDArray[np.bool_],  # (K,) of ones: every arm is available
    luck: np.random.Generator,
    rng: np.random.Generator,
    rounds: npt.NDArray[np.int64],  # (C,) after which rounds to note the regret
    regret: npt.NDArray[np.float64],  # (C,) out
    pulls: npt.NDArray[np.int64],  # (K,) out
    suboptimal: npt.NDArray[np.int64],  # (K,) out
    arms: npt.NDArray[np.int64],  # (T,) out, or empty
    rewards: npt.NDArray[np.float64],  # (T,) out, or empty
) -> tuple[int, float]:
    """Act, draw a reward and observe it in every round of the means; results go into the arrays marked as out.

    Returns how many rounds were played, and what the agent chose then if it is no arm: fewer than T were played. If it
    chose None, which numba lets a rule return in some rounds only, that is −1 minus this number.
    """
    horizon, n_arms = means.shape
    total = 0.0
    noted = 0
    for t in range(horizon):
        chosen: Any = act(state, mask, rng)
        if chosen is None:
            return -1 - t, 0.0
        if not 0 <= chosen < n_arms or int(chosen) != chosen:
            return t, 1.0 * chosen  # not an arm: compiled code would read and write beyond the arrays
        arm = int(chosen)
        mu = means[t, arm]
        if QUANTILES:  # noqa: SIM108 - numba drops the branch of a statement, but not that of an expression
            reward = draw_beta(parameter, mu, luck)
        else:
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
    return horizon, 0.0


@compiled
def best_means(means: npt.NDArray[np.float64], best: npt.NDArray[np.float64]) -> None:
    """Write the largest mean of each round into ``best``, (T,)."""
    horizon, n_arms = means.shape
    for t in range(horizon):
        largest = means[t, 0]
        for i in range(1, n_arms):
            largest = max(largest, means[t, i])
        best[t] = largest


_LOOPS: dict[tuple[Any, ...], Any] = {}
_MAKING = threading.Lock()


def loop_for(kinds: tuple[type, ...], agent: str, law: int = BERNOULLI) -> Any:
    """The compiled loop for a state whose own class and nested states' classes are these, and for a reward law.

    It is kept on disk under the hash of the code it is made from, so that edits of other agents do not invalidate it.
    If another process could not import the class of the state (one of ``__main__``), it is compiled for this process
    only.

    Args:
        kinds: the classes.
        agent: the agent's name, for the message that the loop is being compiled.
        law: the number of the law; Beta laws have a loop of their own.
    """
    rules = tuple(function for kind in kinds for function in functions_of(kind))
    with _MAKING:
        key = kinds, rules, law == BETA
        if key not in _LOOPS:
            _LOOPS[key] = _loop(*key, agent)
        return _LOOPS[key]


def _loop(kinds: tuple[type, ...], rules: tuple[Callable[..., Any], ...], quantiles: bool, agent: str) -> Any:
    names = hashlib.sha256(" ".join(f"{kind.__module__}:{kind.__qualname__}" for kind in kinds).encode()).hexdigest()
    variant = "beta_" if quantiles else ""
    title = f"play_{variant}{kinds[0].__module__.replace('.', '_')}_{kinds[0].__name__}_{names[:8]}_"
    made_of = fingerprint([_play, beta_quantile, *rules], kinds)
    scope = globals() | {"QUANTILES": quantiles}
    played = FunctionType(_play.__code__, scope, title + made_of[:16])
    played.__qualname__ = played.__name__  # numba names its cache files after it
    played.__module__ = _play.__module__
    kept = not any(kind.__module__ == "__main__" for kind in kinds)
    return compiled(played, kept=kept, called=agent, older=title)
