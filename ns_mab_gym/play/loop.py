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
from ..sources import modules_behind

BERNOULLI, GAUSSIAN, BETA = range(3)
# A constant of each compiled loop, which drops what it does not need:
QUANTILES = True  # whether rewards are drawn through the quantiles of Beta laws, which take a second to compile


def law_code(law: Law) -> tuple[int, float] | None:
    """Return the number and the parameter of a reward law in the compiled loop; None for any other law."""
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
    """Return the compiled loop for a state whose own class and nested states' classes are these, and for a reward law.

    It is cached on disk under the hash of all sources; see :mod:`ns_mab_gym.compilation`. If those do not determine the
    rule (it was defined in ``__main__`` or within a function), the loop is compiled for this process only.

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
    made_from: tuple[Any, ...] = (*kinds, *rules)
    names = [f"{each.__module__}:{each.__qualname__}" for each in made_from]
    title = f"{kinds[0].__module__.replace('.', '_')}_{kinds[0].__name__}"
    digest = hashlib.sha256(" ".join(names).encode()).hexdigest()[:16]
    scope = globals() | {"QUANTILES": quantiles}
    played = FunctionType(_play.__code__, scope, f"play_{'beta_' if quantiles else ''}{title}_{digest}")
    played.__qualname__ = played.__name__  # numba names its cache files after it
    played.__module__ = _play.__module__
    others = [name for name in names if not name.startswith("ns_mab_gym.")]
    kept = not any(name.startswith("__main__:") or "<locals>" in name for name in others)
    modules = modules_behind({name.partition(":")[0] for name in others}) if kept else ()
    return compiled(played, kept=kept, called=agent, modules=modules)
