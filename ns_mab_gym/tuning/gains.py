"""Rewards that come late or in batches, and what an agent earns more than a fixed arm, on histories made from a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from ..agents.core.arguments import positive_int
from ..envs.bandit import NSBanditEnv
from ..logs.durations import decisions_of, in_words
from ..logs.world import LogWorld
from ..means import Floats
from ..statistics import t_quantile
from ..theory.text_tables import signed
from ..wrappers.feedback import DelayedRewards
from .race import WorldEvaluator

BELIEVED = 0.05  # the share of a regret up to which histories made from a log tell nobody apart
HISTORIES, FEWEST = 200, 40  # on which a gain is measured, at most; and from which on quantiles are its interval
CONFIDENCE = 0.95
MEMORIES = ("window", "batch", "block")  # parameters that are numbers of decisions


class Gain(NamedTuple):
    """The reward that an agent earns more a decision than something else, on histories that a log leaves plausible.

    Attributes:
        over: what it is compared with.
        reward: the mean reward of that.
        difference: by how much the agent's mean reward is larger.
        low: the lower end of the interval in which the difference lies in 95 % of the histories.
        high: the upper end.
        histories: how many were played.
    """

    over: str
    reward: float
    difference: float
    low: float
    high: float
    histories: int

    @property
    def clear(self) -> bool:
        """True if 95 % of the histories agree which of the two earns more."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        scale = self.reward if self.reward > 0 else 1.0
        by, low, high = (
            signed(each / scale, 1) if self.reward > 0 else f"{each:+.3g}"
            for each in (self.difference, self.low, self.high)
        )
        verdict = "clear" if self.clear else "not clear"
        if self.high < 0:
            verdict = "clear: it earns less"
        interval = f"{CONFIDENCE:.0%} of {self.histories} plausible histories: {low} to {high}"
        return f"reward against {self.over} ({self.reward:.3g} a decision): {by} ({interval}), {verdict}"


def late(env: gym.Env[Any, Any], batch: int | str, delay: int | str | Sequence[int]) -> gym.Env[Any, Any]:
    """Return the environment with rewards that come after a delay and in batches; as it is if they come at once."""
    world = getattr(env.unwrapped, "world", None)
    rate = world.rate if isinstance(world, LogWorld) else None
    sizes: list[Any] = []
    for what, given, least in (("batch", batch, 1), ("delay", delay, 0)):
        if isinstance(given, str) and rate is None:
            raise ValueError(f"{what}={given!r} is a time, and only a log has times; give {what} in decisions")
        if isinstance(given, list | tuple):
            sizes.append(given)
        else:
            sizes.append(
                positive_int(what, given, least=least) if rate is None else decisions_of(what, given, rate, least=least)
            )
    return env if sizes == [1, 0] else DelayedRewards(env, delay=sizes[1], batch=sizes[0])


def gains_of(evaluator: WorldEvaluator, regrets: Floats) -> list[Gain]:
    """Return what an agent earns more than the best fixed arm and than the log's own choices.

    The fixed arm is the one that earns most on average over the histories: what one would choose who knows the log,
    and the agent does not.

    Args:
        evaluator: plays histories of a log; those of the held-out runs are taken.
        regrets: (R,) the agent's regrets in these.
    """
    assert isinstance(evaluator.bandit, NSBanditEnv)
    world, held_out = evaluator.bandit.world, evaluator.held_out()
    assert isinstance(world, LogWorld)
    histories = min(len(regrets), HISTORIES)
    played, fixed, logged = np.empty(histories), np.empty((histories, world.n_arms)), np.empty(histories)
    cells = np.arange(world.horizon) * len(world.shares) // world.horizon
    for run in range(histories):
        means = held_out.means(run)
        played[run] = means.max(axis=1).mean() - regrets[run] / world.horizon
        fixed[run] = means.mean(axis=0)
        logged[run] = np.einsum("tk,tk->", means, world.shares[cells]) / world.horizon
    best = int(fixed.mean(axis=0).argmax())
    always = f"always {world.arm_names[best]!r}, the best fixed arm"
    return [_gain(over, played, other) for over, other in ((always, fixed[:, best]), ("what the log did", logged))]


def _gain(over: str, played: Floats, other: Floats) -> Gain:
    difference = played - other
    mean, histories = float(difference.mean()), len(difference)
    if histories >= FEWEST:
        low, high = np.quantile(difference, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
    else:  # where another history would lie, if differences are normal
        reach = (
            t_quantile((1 - CONFIDENCE) / 2, histories - 1) * float(difference.std(ddof=1)) * (1 + 1 / histories) ** 0.5
        )
        low, high = mean - reach, mean + reach
    return Gain(over, float(other.mean()), mean, low, high, histories)


def remarks(env: gym.Env[Any, Any], parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return for a log what numbers of decisions are in its time."""
    world = getattr(env.unwrapped, "world", None)
    if not isinstance(world, LogWorld):
        return []
    told = [f"{world.horizon:,} decisions in {in_words(world.seconds)}"]
    if isinstance(env, DelayedRewards):
        told.append(f"rewards are shown {env.shown}")
    sizes = {each[name] for each in parameters for name in MEMORIES if isinstance(each.get(name), int)}
    told += [f"{size:,} decisions are {in_words(size / world.rate)}" for size in sorted(sizes)]
    return ["; ".join(told)]
