"""The environment: one class that plays any world with any reward law."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction, ResetNeeded

from .. import rewards
from ..agents.core.arguments import as_integer, by_name, known_keywords, known_parameters, shown
from ..means import Floats, as_means, block_size
from ..rewards import Law
from ..worlds.world import World, make
from .render import EpisodeHistory, ansi_line, arm_names, check_mode, draw_frame, render_modes

Observation = npt.NDArray[np.float32]

CHANGING = (
    "the means of {} are not the same each time they are made from one seed, so that no run can be repeated; return a "
    "new array, and draw from the generator alone that _means is given, with random = True"
)
BLOCK = 1_024  # rounds, of ten arms, whose best arms are found at once


def streams(rng: np.random.Generator) -> tuple[np.random.Generator, np.random.Generator]:
    """Two generators: one for the means of an instance and one for the luck of its rounds.

    They are separate so that a seed gives the same luck whether the means are drawn or given.
    """
    means, luck = rng.spawn(2)
    return means, luck


def checked_means(means: Any, world: World, law: Law) -> Floats:
    """A read-only copy of a (T, K) matrix of means that fits the world's shape and the law's support."""
    matrix = np.array(as_means(means))
    if matrix.shape != (world.horizon, world.n_arms):
        raise ValueError(
            f"means must have shape (horizon, n_arms) = ({world.horizon}, {world.n_arms}), got {matrix.shape}; "
            f'to play another shape, use gym.make("NSBandit-v0", world="table", rows=means)'
        )
    law.check_means(matrix)
    matrix.setflags(write=False)
    return matrix


def drawn_means(world: World, law: Law, rng: np.random.Generator | None = None) -> Floats:
    """The read-only (T, K) means of an instance of the world, within the law's support."""
    means = world.instance(rng)
    law.check_means(means)
    return means


class NSBanditEnv(gym.Env[Observation, np.int64]):
    """A non-stationary multi-armed bandit.

    ## Description
    In every round the player pulls one of K arms and receives a reward whose mean depends on the arm *and on the
    round*. The world (:mod:`ns_mab_gym.worlds`) says how the means move, whatever the player does; the reward law
    (:mod:`ns_mab_gym.rewards`) says how rewards scatter around them.

    ## Action Space
    ``Discrete(K)``: the arm to pull. Action ``i`` is the arm that the paper calls ``i + 1``.

    ## Observation Space
    ``Box`` of K + 2 float32 numbers: the last arm, one-hot (zeros before the first round); the last reward; and t/T.
    It contains what a player may know, never the means.

    ## Rewards
    A Python float, drawn around the mean that the arm has in this round. The law takes one draw per round from the
    environment's generator, whatever the arm: players on the same seed get the same luck.

    ## Starting State
    A world that is random draws a new instance at every reset; the others always play the same means. The instance
    is ``env.unwrapped.means``, a read-only (T, K) array. ``reset(options={"means": matrix})`` plays a given one.

    ## Episode End
    ``truncated`` is set in round T, the world's horizon. ``terminated`` never is.

    ## Information
    After a step, about the round just played: ``mu``, the (K,) means that generated the reward; ``optimal_arm``, the
    first arm with the largest mean; ``regret``, μ* − μ_arm ≥ 0; ``total_regret``, the sum of ``regret`` over the
    episode so far; ``round``, from 1 to T. After a reset the same keys, of the same types and shapes, say that no round
    was played yet and nothing about the means: ``mu`` zeros, ``optimal_arm`` −1, ``regret`` and ``total_regret`` 0.0,
    ``round`` 0.

    ## Arguments
    ``world``: a world, its name or what its ``to_dict()`` returned. ``reward``: ``"bernoulli"``, ``"gaussian"``,
    ``"beta"`` or a law; if left out, that which comes with the world, else Bernoulli. ``scale``: the standard deviation
    of Gaussian rewards. ``concentration``: that of Beta rewards. ``render_mode``: ``"ansi"`` or, with the extra
    ``render``, ``"rgb_array"``, and ``"human"`` through ``gym.make``. Everything else is a parameter of the world, such
    as ``horizon``, ``n_arms`` or ``sigma``::

        gym.make("NSBandit-Smooth-v0", horizon=10_000, sigma=1e-3, reward="gaussian", scale=0.3)

    ## References
    Fiandri, Metelli, Trovò, "Sliding-Window Thompson Sampling for Non-Stationary Settings".

    ## Version History
    * v0: initial version.
    """

    metadata: dict[str, Any] = {"render_modes": render_modes(), "render_fps": 30}  # noqa: RUF012

    def __init__(
        self,
        world: World | str | Mapping[str, Any] = "abrupt",
        *,
        reward: Law | str | Mapping[str, Any] | None = None,
        scale: float | None = None,
        concentration: float | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        law_parameters = {"scale": scale, "concentration": concentration}
        given = {name: value for name, value in law_parameters.items() if value is not None}
        self.law = rewards.make("bernoulli" if reward is None else reward, **given)
        try:
            self.world = make(world, **parameters)
        except TypeError as error:
            unknown = next((name for name in parameters if f"has no parameter {name!r}" in str(error)), None)
            allowed = self.law.parameters()
            if unknown is None or not allowed:
                raise
            of_world = re.findall(r"did you mean '(\w+)'", str(error))
            close = difflib.get_close_matches(unknown, [*allowed, *of_world], n=1, cutoff=0.5)
            if not close:
                known_parameters(f"{error}; and reward law {self.law.name!r}", [unknown], allowed)
            if close[0] in allowed:
                known_keywords(f"reward law {self.law.name!r}", [unknown], allowed)
            raise
        if reward is None and self.world.own_law is not None:
            self.law = rewards.make(self.world.own_law, **given)
        if render_mode is not None:
            check_mode(render_mode)
        self.render_mode = render_mode

        k = self.world.n_arms
        low, high = np.zeros(k + 2, np.float32), np.ones(k + 2, np.float32)
        low[k], high[k] = self.law.support
        low[k] = min(low[k], 0.0)  # the reward shown before the first round is 0
        self.observation_space = gym.spaces.Box(low, high, dtype=np.float32)
        self.action_space = gym.spaces.Discrete(k)

        self._block = block_size(k, BLOCK)
        self._means: Floats | None = None
        self._given = False  # whether the means came with reset's options
        if not self.world.random:
            self._means = drawn_means(self.world, self.law)
        self._t = -1  # rounds played; -1 before the first reset
        self._total_regret = 0.0
        self._history: EpisodeHistory | None = None

    @property
    def means(self) -> Floats:
        """The (T, K) means of the instance being played, read-only."""
        if self._means is None:
            raise ResetNeeded(f"world {self.world.name!r} draws its means at reset: call reset() first")
        self._means.setflags(write=False)  # pickling and deep copies lose the flag
        return self._means

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; ``options={"means": matrix}`` plays the given (T, K) instance."""
        options = by_name("reset's options", options)
        known_parameters("reset's options", options, ("means",))
        given = options.get("means")
        if given is not None:  # checked first, so that a bad matrix leaves the running episode as it was
            given = checked_means(given, self.world, self.law)
        super().reset(seed=seed)
        means_rng, self._luck = streams(self.np_random)
        if given is not None:
            self._means = given
        elif self.world.random or self._given:
            self._means, self._t = None, -1  # the last instance makes room for the next
            self._means = drawn_means(self.world, self.law, means_rng)
        self._given = given is not None
        self._t = 0
        self._total_regret = 0.0
        drawn = self.render_mode == "rgb_array"
        self._history = EpisodeHistory(self.means, arm_names(self.world)) if drawn else None
        k = self.world.n_arms
        no_round = {"mu": np.zeros(k), "optimal_arm": -1, "regret": 0.0, "total_regret": 0.0, "round": 0}
        return np.zeros(k + 2, np.float32), no_round

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pull an arm and return its reward."""
        k, horizon, t = self.world.n_arms, self.world.horizon, self._t
        try:
            arm = as_integer(action)
        except TypeError:
            raise InvalidAction(f"an action must be an integer from 0 to {k - 1}, got {shown(action)}") from None
        if not 0 <= arm < k:
            raise InvalidAction(f"an action must be an integer from 0 to {k - 1}, got {shown(arm)}")
        if not 0 <= t < horizon:
            over = f"the episode ended with round {horizon}" if t > 0 else "no episode has begun"
            raise ResetNeeded(f"{over}: call reset() before step()")

        means = self.means
        row = t % self._block
        if row == 0:
            self._best_arms = means[t : t + self._block].argmax(axis=1)
        mu = means[t].copy()
        mean = mu.item(arm)
        best = self._best_arms.item(row)
        regret = mu.item(best) - mean
        reward = self.law.draw(mean, self._luck)

        self._t = t = t + 1
        self._total_regret += regret
        self._last = (arm, reward, best, regret)
        if self._history is not None:
            self._history.add(arm, self._total_regret)

        observation = np.zeros(k + 2, np.float32)
        observation[arm] = 1.0
        observation[k] = reward
        observation[k + 1] = t / horizon
        info = {"mu": mu, "optimal_arm": best, "regret": regret, "total_regret": self._total_regret, "round": t}
        return observation, reward, False, t == horizon, info

    def render(self) -> Any:
        """One line on the round just played (``ansi``), or a picture of the episode so far (``rgb_array``)."""
        if self.render_mode is None:
            gym.logger.warn('render() needs a render mode: gym.make(..., render_mode="ansi") or "rgb_array"')
            return None
        if self._t < 0:
            raise ResetNeeded("nothing to render: call reset() first")
        if self._history is not None:
            return draw_frame(self._history)
        played = self._last if self._t > 0 else None
        return ansi_line(self, self._t, played, self.means[self._t - 1], self._total_regret)
