"""The native vector environment: N bandits stepped at once, computed with arrays throughout."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..agents.core.arguments import by_name, known_parameters, positive_int, seed_number, shown
from ..agents.core.memory_limits import ensure_fits, grouped
from ..rewards import Bernoulli, Gaussian, Law
from .bandit import NSBanditEnv, Observation, checked_means, drawn_means, streams
from .render import EpisodeSoFar, ansi_line, draw_frame

__all__ = ["NSBanditVectorEnv", "rewards_of"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BLOCK = 256  # rounds whose luck is drawn at once; any number gives the same results
ENV_BYTES, ARM_BYTES = 8_000, 32  # of the generators and the luck of a sub-environment, and of each of its arms


@singledispatch
def rewards_of(law: Law, mean: FloatArray, luck: FloatArray) -> FloatArray:
    """The rewards of N arms with these means and this luck: ``law.reward``, elementwise and to the same bit."""
    pairs = zip(mean.tolist(), luck.tolist(), strict=True)
    return np.array([law.reward(m, u) for m, u in pairs], dtype=np.float64)


@rewards_of.register
def _(law: Bernoulli, mean: FloatArray, luck: FloatArray) -> FloatArray:
    return (luck < mean).astype(np.float64)


@rewards_of.register
def _(law: Gaussian, mean: FloatArray, luck: FloatArray) -> FloatArray:
    return mean + law.scale * luck


class NSBanditVectorEnv(gym.vector.VectorEnv[Observation, IntArray, npt.NDArray[Any]]):
    """N independent non-stationary bandits, stepped together.

    ``gym.make_vec(id, num_envs=N)`` makes one for every id of the suite; the arguments are those of
    :class:`~ns_mab_gym.envs.bandit.NSBanditEnv`, which describes actions, observations and rewards.

    ## Instances
    Every sub-environment of a random world draws its own instance at every reset (8 N T K bytes in all: 1 GB for 256
    of the default size, 10 MB for T = 1000 and K = 5); in other worlds, all share one instance.
    ``envs.unwrapped.means`` is the (N, T, K) array of the instances being played. ``reset(options={"means": matrix})``
    plays a given (T, K) matrix in all, or one matrix of an (N, T, K) array in each.

    ## Seeding
    ``reset(seed=s)`` seeds sub-environment i with s + i, as Gymnasium's ``SyncVectorEnv`` does; a list gives each its
    own. Sub-environment i then plays exactly what the single environment plays after ``reset(seed=s + i)``:
    same means, same luck, bit for bit, over all the episodes that follow.

    ## Episode End
    All sub-environments end together, in round T, and are reset within that step (``AutoresetMode.SAME_STEP``). The
    observation is then the first of the new episode; the last of the old one is ``infos["final_obs"][i]`` and the
    information about its round is in ``infos["final_info"]``.

    ## Information
    ``mu`` (N, K), ``optimal_arm``, ``regret``, ``total_regret`` and ``round`` (N,), each with its mask ``_mu``, … as in
    Gymnasium. After a reset the same keys hold what they hold after a reset of the single environment: zeros, and −1
    for ``optimal_arm``. So it is in the step that ends an episode, whose own round is in ``infos["final_info"]``:
    ``infos["final_info"]["total_regret"]`` is the regret of the whole episode, ``infos["regret"]`` is 0 there.
    """

    metadata: dict[str, Any] = {**NSBanditEnv.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1, **arguments: Any) -> None:
        self.num_envs = positive_int("num_envs", num_envs)
        single = NSBanditEnv(**arguments)  # checks the arguments and provides the spaces
        self.world, self.law, self.render_mode = single.world, single.law, single.render_mode
        self._ensure_room()
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

        self._own_means = None if self.world.random else single.means
        self._instances: list[FloatArray] = []  # N matrices (T, K); N references to the same one if all share it
        self._generators: list[tuple[np.random.Generator, int]] = []  # N generators and their seeds
        self._histories: list[EpisodeSoFar] = []
        self.autoreset_mode = AutoresetMode.SAME_STEP
        self._every = np.ones(self.num_envs, np.bool_)
        self._offsets = self.world.n_arms * np.arange(self.num_envs)  # where each env begins in a flat (N, K) array
        self._starts = (self.world.n_arms + 2) * np.arange(self.num_envs)  # and in one of observations
        self._t = -1  # rounds played; -1 before the first reset

    def _ensure_room(self) -> None:
        k, horizon = self.world.n_arms, self.world.horizon
        each = ENV_BYTES + ARM_BYTES * k
        if self.world.random:  # each has an instance of its own, and the means of the next rounds beside it
            each += 8 * k * (horizon + min(horizon, BLOCK))
        what = f"{grouped(self.num_envs)} environments of {grouped(horizon)} rounds and {grouped(k)} arms"
        ensure_fits(what, self.num_envs * each, "choose a smaller num_envs, or a smaller horizon if means are drawn")

    @property
    def means(self) -> FloatArray:
        """A copy of the (N, T, K) means of the instances being played."""
        if not self._instances:
            raise ResetNeeded("the instances are drawn at reset: call reset() first")
        return np.stack(self._instances)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generators of the sub-environments."""
        return tuple(generator for generator, _ in self._generators)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seeds of the sub-environments: the single environment plays instance i with the i-th of them."""
        return tuple(seed for _, seed in self._generators)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every sub-environment; ``options={"means": …}`` plays the given instances."""
        options = by_name("reset's options", options)
        known_parameters("reset's options", options, ("means",))
        given = None if (means := options.get("means")) is None else self._given(means)
        self._seed(seed)
        return self._begin(given)

    def _given(self, means: Any) -> list[FloatArray]:
        if not (isinstance(means, list | tuple | np.ndarray) and len(means) and np.ndim(means[0]) == 2):
            return [checked_means(means, self.world, self.law)] * self.num_envs
        if len(means) != self.num_envs:
            raise ValueError(
                f"means must be one (T, K) matrix or one for each of the {self.num_envs} sub-environments, "
                f"got {len(means)} of them"
            )
        return [checked_means(matrix, self.world, self.law) for matrix in means]

    def _seeds(self, given: Any) -> list[int | None]:
        if given is None:
            return [None] * self.num_envs
        if isinstance(given, list | tuple | range) or (isinstance(given, np.ndarray) and given.ndim > 0):
            return [seed_number(each, "each of the seeds") for each in given]
        first = positive_int("seed", given, least=0, most=None, hint="or give a list, one for each sub-environment")
        return [first + i for i in range(self.num_envs)]

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        seeds = self._seeds(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"a list of seeds must have one for each of the {self.num_envs} envs, got {len(seeds)}")
        if not self._generators:
            self._generators = [seeding.np_random(s) for s in seeds]
        else:
            old = self._generators
            self._generators = [old[i] if s is None else seeding.np_random(s) for i, s in enumerate(seeds)]

    def _begin(self, given: list[FloatArray] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start a new episode everywhere: the streams are split as the single environment splits them."""
        self._instances, self._luck_streams, self._t = [], [], -1  # the old ones make room for the new
        pairs = [streams(generator) for generator, _ in self._generators]
        self._luck_streams = [luck for _, luck in pairs]
        if given is not None:
            self._instances = given
        elif self._own_means is not None:
            self._instances = [self._own_means] * self.num_envs
        else:
            self._instances = [drawn_means(self.world, self.law, rng) for rng, _ in pairs]
        self._t = 0
        self._total_regret = np.zeros(self.num_envs)
        self._histories = [EpisodeSoFar.of(m) for m in self._instances] if self.render_mode == "rgb_array" else []
        self._draw_block()
        return np.zeros((self.num_envs, self.world.n_arms + 2), np.float32), self._no_round()

    def _no_round(self) -> dict[str, Any]:
        n = self.num_envs
        mu, regret, best = np.zeros((n, self.world.n_arms)), np.zeros(n), np.full(n, -1, np.int64)
        return self._infos(mu, best, regret)

    def _infos(self, mu: FloatArray, best: IntArray, regret: FloatArray) -> dict[str, Any]:
        total, rounds = self._total_regret.copy(), np.full(self.num_envs, self._t, np.int64)
        return self._masked({"mu": mu, "optimal_arm": best, "regret": regret, "total_regret": total, "round": rounds})

    def _draw_block(self) -> None:
        """Arrange the means of the next rounds round by round, and draw their luck."""
        self._start, stop = self._t, min(self._t + BLOCK, self.world.horizon)
        rounds = stop - self._start
        if all(means is self._instances[0] for means in self._instances):
            means = self._instances[0][self._start : stop, None]
            self._mu = np.broadcast_to(means, (rounds, self.num_envs, self.world.n_arms))
            self._best = np.broadcast_to(means.argmax(axis=2), (rounds, self.num_envs))
        else:
            self._mu = np.stack([means[self._start : stop] for means in self._instances], axis=1)  # (rounds, N, K)
            self._best = self._mu.argmax(axis=2)  # (rounds, N)
        self._luck = np.stack([self.law.luck(rng, rounds) for rng in self._luck_streams], axis=1)  # (rounds, N)

    def step(self, actions: npt.ArrayLike) -> tuple[Observation, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Pull one arm in every sub-environment; in round T, begin new episodes."""
        arms = self._checked(actions)
        row = self._t - self._start
        mu, best = self._mu[row].copy(), self._best[row].copy()
        mean = mu.ravel().take(self._offsets + arms)
        regret = mu.ravel().take(self._offsets + best) - mean
        reward = rewards_of(self.law, mean, self._luck[row])

        self._t += 1
        self._total_regret += regret
        if self.render_mode is not None:
            self._remember(arms, reward, best, regret)
        observation = self._observe(arms, reward)
        infos = self._infos(mu, best, regret)
        over = self._t == self.world.horizon
        if over:
            observation, infos = self._begin_again(observation, infos)
        elif row + 1 == len(self._mu):
            self._draw_block()
        return observation, reward, np.zeros(self.num_envs, np.bool_), np.full(self.num_envs, over), infos

    def _checked(self, actions: npt.ArrayLike) -> IntArray:
        if self._t < 0:
            raise ResetNeeded("no episode has begun: call reset() before step()")
        k = self.world.n_arms
        wanted = f"actions must be {self.num_envs} integers from 0 to {k - 1}, one per sub-environment"
        try:
            arms = np.asarray(actions)
        except Exception:  # lists of different lengths, or whatever somebody's own class raises
            raise InvalidAction(f"{wanted}; got {shown(actions)}") from None
        if arms.shape != (self.num_envs,) or arms.dtype.kind not in "iu":
            raise InvalidAction(f"{wanted}; got {arms.dtype} of shape {arms.shape}")
        if arms.min() < 0 or arms.max() >= k:
            bad = int(np.flatnonzero((arms < 0) | (arms >= k))[0])
            raise InvalidAction(f"{wanted}; got {arms[bad]} in sub-environment {bad}")
        return arms.astype(np.int64)

    def _observe(self, arms: IntArray, reward: FloatArray) -> Observation:
        k = self.world.n_arms
        observation = np.zeros((self.num_envs, k + 2), np.float32)
        observation.ravel()[self._starts + arms] = 1.0
        observation[:, k] = reward
        observation[:, k + 1] = self._t / self.world.horizon
        return observation

    def _masked(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Add to every key Gymnasium's mask of the sub-environments that have it, which here are all."""
        return infos | {f"_{key}": self._every.copy() for key in infos}

    def _begin_again(self, last: Observation, infos: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        final_obs = np.empty(self.num_envs, dtype=object)
        final_obs[:] = list(last)
        observation, first_infos = self._begin()
        return observation, first_infos | self._masked({"final_obs": final_obs, "final_info": infos})

    def _remember(self, arms: IntArray, reward: FloatArray, best: IntArray, regret: FloatArray) -> None:
        self._last = list(zip(arms.tolist(), reward.tolist(), best.tolist(), regret.tolist(), strict=True))
        for history, arm, total in zip(self._histories, arms.tolist(), self._total_regret.tolist(), strict=False):
            history.add(arm, total)

    def render(self) -> tuple[Any, ...] | None:
        """What the single environment would render, for every sub-environment."""
        if self.render_mode is None:
            gym.logger.warn('render() needs a render mode: gym.make_vec(..., render_mode="ansi") or "rgb_array"')
            return None
        if self._t < 0:
            raise ResetNeeded("nothing to render: call reset() first")
        if self.render_mode == "rgb_array":
            return tuple(draw_frame(history) for history in self._histories)
        if self._t == 0:
            world = f"world {self.world.name!r}, {self.world.n_arms} arms, {self.law!r}"
            return (f"round 0 of {self.world.horizon:,}: {world}",) * self.num_envs
        return tuple(
            ansi_line(self._t, arm, reward, self._instances[i][self._t - 1], best, regret, self._total_regret[i])
            for i, (arm, reward, best, regret) in enumerate(self._last)
        )
