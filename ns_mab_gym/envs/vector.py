"""The native vector environment: N bandits stepped at once, computed with arrays throughout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..agents.core.arguments import by_name, known_parameters, positive_int
from ..agents.core.memory_limits import ensure_fits, grouped
from .bandit import NSBanditEnv, Observation, drawn_means
from .batched_rewards import rewards_of
from .luck import luck_of, packs
from .origins import Children, Origins, seeds_of
from .render import EpisodeSoFar, ansi_line, draw_frame
from .rounds_ahead import RoundsAhead, rows_ahead
from .vector_arguments import checked_arms, checked_mask, checked_mode, first_rounds, given_means, last_round

__all__ = ["NSBanditVectorEnv"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

ENV_BYTES, ARM_BYTES = 500, 40  # of a sub-environment and of each of its arms, in what is kept and what is returned
GENERATOR_BYTES = 1_100  # of a stream of luck that is not packed
MASKS = ("_mu", "_optimal_arm", "_regret", "_total_regret", "_round")  # of the infos


class NSBanditVectorEnv(gym.vector.VectorEnv[Observation, IntArray, npt.NDArray[Any]]):
    """N independent non-stationary bandits, stepped together.

    ``gym.make_vec(id, num_envs=N)`` makes one for every id of the suite; the arguments are those of
    :class:`~ns_mab_gym.envs.bandit.NSBanditEnv`, which describes actions, observations and rewards, and those below.

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
    All sub-environments end together, in round T. With ``AutoresetMode.SAME_STEP``, the default, they are reset within
    that step: the observation is then the first of the new episode; the last of the old one is
    ``infos["final_obs"][i]`` and the information about its round is in ``infos["final_info"]``. With ``NEXT_STEP``, the
    next step resets them, ignores the actions and returns rewards of 0, which learners have to leave out. With
    ``DISABLED``, ``reset(options={"reset_mask": mask})`` resets those where the mask is true.

    ## Information
    ``mu`` (N, K), ``optimal_arm``, ``regret``, ``total_regret`` and ``round`` (N,), each with its mask ``_mu``, … as in
    Gymnasium. After a reset the same keys hold what they hold after a reset of the single environment: zeros, and −1
    for ``optimal_arm``. So it is in the step that ends an episode with ``SAME_STEP``, whose own round is in
    ``infos["final_info"]``: ``infos["final_info"]["total_regret"]`` is the regret of the whole episode,
    ``infos["regret"]`` is 0 there.

    ## Arguments
    ``autoreset_mode``: a mode of :class:`gymnasium.vector.AutoresetMode`, or its value, such as ``"NextStep"``.
    ``max_episode_steps``: end episodes in this round if it comes before round T, as ``gym.make`` does with it; the
    worlds stay as they are. ``stagger``: after ``reset``, sub-environment i begins in round 1 + ⌊iT/N⌋ of its first
    episode, so that a batch shows all parts of an episode and resets do not come together. From there on it plays what
    the single environment plays from that round on; its regret is that of the rounds played.
    """

    metadata: dict[str, Any] = {**NSBanditEnv.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        max_episode_steps: int | None = None,
        stagger: bool = False,
        **arguments: Any,
    ) -> None:
        self.num_envs = n = positive_int("num_envs", num_envs)
        self.autoreset_mode = checked_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        single = NSBanditEnv(**arguments)  # checks the arguments and provides the spaces
        self.world, self.law, self.render_mode = single.world, single.law, single.render_mode
        self._ensure_room()
        k, horizon = self.world.n_arms, self.world.horizon
        self._last_round = last_round(max_episode_steps, horizon)
        self._first_rounds = first_rounds(stagger, n, self._last_round, self.render_mode)
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

        self._own_means = None if self.world.random else single.means
        self._origins, self._luck = Origins(n), luck_of(n, self.law)
        self._ahead = RoundsAhead(n, k, horizon, self._luck, self.world.random)
        self._offsets = k * np.arange(n)  # where each env begins in a flat (N, K) array
        self._starts = (k + 2) * np.arange(n)  # and in one of observations
        self._times = (np.arange(horizon + 1) / horizon).astype(np.float32)  # as they are observed after each round
        self._everyone = np.ones(n, np.bool_)
        self._begun = False
        self._t = np.zeros(n, np.int64)  # rounds that lie behind each sub-environment
        self._left = 0  # rounds until the next of them ends
        self._total_regret = np.zeros(n)
        self._over: BoolArray | None = None  # those that have ended and are not reset yet, if there are any
        self._last: list[tuple[int, float, int, float] | None] = [None] * n  # the round before, to be rendered
        self._histories: dict[int, EpisodeSoFar] = {}  # of each sub-environment, if pictures are rendered

    def _ensure_room(self) -> None:
        k, horizon = self.world.n_arms, self.world.horizon
        rows = rows_ahead(self.num_envs, k, horizon, self.world.random)
        each = ENV_BYTES + ARM_BYTES * k + 8 * rows
        if not packs(self.num_envs, self.law):  # what is drawn one by one is put together afterwards
            each += GENERATOR_BYTES + 8 * rows
        if self.world.random:  # each has an instance of its own, and the means of the next rounds beside it
            each += 8 * k * (horizon + rows) + 8 * rows
        what = f"{grouped(self.num_envs)} environments of {grouped(horizon)} rounds and {grouped(k)} arms"
        ensure_fits(what, self.num_envs * each, "choose a smaller num_envs, or a smaller horizon if means are drawn")

    @property
    def means(self) -> FloatArray:
        """A copy of the (N, T, K) means of the instances being played."""
        if not self._begun:
            raise ResetNeeded("the instances are drawn at reset: call reset() first")
        return np.stack(self._ahead.instances)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generators of the sub-environments."""
        return self._origins.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seeds of the sub-environments: the single environment plays instance i with the i-th of them."""
        return self._origins.seeds

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every sub-environment.

        Args:
            seed: a number s, for s + i in sub-environment i; or one for each.
            options: ``{"means": …}`` plays the given instances; ``{"reset_mask": mask}``, with ``DISABLED`` autoreset,
                begins only where the mask is true.
        """
        options = by_name("reset's options", options)
        known_parameters("reset's options", options, ("means", "reset_mask"))
        means, mask = options.get("means"), options.get("reset_mask")
        given = None if means is None else given_means(means, self.num_envs, self.world, self.law)
        if mask is not None:
            return self._reset_some(checked_mask(mask, self.num_envs, self.autoreset_mode), seed, given)
        self._origins.seed(seeds_of(seed, self.num_envs), self._everyone)
        self._begin(self._everyone, given, self._first_rounds)
        observation, infos = np.zeros((self.num_envs, self.world.n_arms + 2), np.float32), self._no_round()
        self._show_beginning(self._everyone, observation, infos)
        return self._kept(observation), _masked(infos, self._everyone)

    def _reset_some(self, some: BoolArray, seed: Any, given: list[FloatArray] | None) -> tuple[Observation, Any]:
        if not self._begun:
            raise ResetNeeded("no episode has begun: call reset() without a reset_mask first")
        self._origins.seed(seeds_of(seed, self.num_envs), some)
        self._begin(some, given)
        observation, infos = self._shown.copy(), self._no_round()
        self._show_beginning(some, observation, infos)
        return self._kept(observation), _masked(infos, some)

    def _begin(self, chosen: BoolArray, given: list[FloatArray] | None = None, first: IntArray | None = None) -> None:
        """Start new episodes where the mask is true, in round 1 or after these numbers of rounds."""
        envs = np.flatnonzero(chosen)
        self._begun = False
        children = self._origins.next_episode(envs)
        self._t[envs] = 0 if first is None else first
        self._left = self._last_round - int(self._t.max())
        self._luck.begin(envs, children.next(), self._t[envs])
        self._ahead.begin(envs, self._instances(envs, children, given), self._t)
        self._total_regret[envs] = 0.0
        if self._over is not None:
            left = self._over & ~chosen
            self._over = left if left.any() else None
        if self.render_mode is not None:
            self._open_histories(envs.tolist())
        self._begun = True

    def _instances(self, envs: IntArray, children: Children, given: list[FloatArray] | None) -> Iterator[FloatArray]:
        """The instances of new episodes, each drawn when it is asked for, so that the old one can make room for it."""
        if given is not None:
            return (given[i] for i in envs.tolist())
        if self._own_means is not None:
            return repeat(self._own_means, len(envs))
        return (drawn_means(self.world, self.law, rng) for rng in children.generators())

    def _show_beginning(self, envs: BoolArray, observation: Observation, infos: dict[str, Any]) -> None:
        """Put the first observations and infos of new episodes where the mask is true."""
        observation[envs] = 0.0
        observation[envs, -1] = self._times[self._t[envs]]
        for key, values in self._no_round().items():
            infos[key][envs] = values[envs]

    def _no_round(self) -> dict[str, Any]:
        n = self.num_envs
        return self._infos(np.zeros((n, self.world.n_arms)), np.full(n, -1, np.int64), np.zeros(n))

    def _infos(self, mu: FloatArray, best: IntArray, regret: FloatArray) -> dict[str, Any]:
        total, rounds = self._total_regret.copy(), self._t.copy()
        return {"mu": mu, "optimal_arm": best, "regret": regret, "total_regret": total, "round": rounds}

    def _kept(self, observation: Observation) -> Observation:
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._shown = observation.copy()  # a reset of some shows it for the others
        return observation

    def step(self, actions: npt.ArrayLike) -> tuple[Observation, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Pull one arm in every sub-environment, and begin new episodes as the autoreset mode says."""
        self._ensure_playing()
        arms = checked_arms(actions, self.num_envs, self.world.n_arms, self._over)
        mu, best, luck = self._ahead.step(self._t)
        mean = mu.take(self._offsets + arms)
        regret = mu.take(self._offsets + best) - mean
        reward = rewards_of(self.law, mean, luck)

        self._t += 1
        self._left -= 1
        self._total_regret += regret
        if self.render_mode is not None:
            self._remember(arms, reward, best, regret)
        observation, infos = self._observe(arms, reward), self._infos(mu, best, regret)
        over, final = np.zeros(self.num_envs, np.bool_), {}
        if (began := self._over) is not None:  # these ended in the step before: this one resets them, and was no round
            reward[began] = 0.0
            self._begin(began)
            self._show_beginning(began, observation, infos)
        if self._left == 0:
            over = self._t == self._last_round
            final = self._end(over, observation, infos)
        infos = _with_masks(infos, self._everyone)
        infos.update(final)
        return self._kept(observation), reward, np.zeros(self.num_envs, np.bool_), over, infos

    def _end(self, over: BoolArray, observation: Observation, infos: dict[str, Any]) -> dict[str, Any]:
        """End episodes where the mask is true; with ``SAME_STEP``, begin others and return the final infos."""
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._over = over.copy()
            return {}
        final = _finals(over, observation, infos)
        self._begin(over)
        self._show_beginning(over, observation, infos)
        return final

    def _ensure_playing(self) -> None:
        if not self._begun:
            raise ResetNeeded("no episode has begun: call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over is not None:
            ended = np.flatnonzero(self._over).tolist()
            raise ResetNeeded(
                f"{len(ended)} sub-environments have ended, the first of them {ended[0]}: call "
                f'reset(options={{"reset_mask": terminated | truncated}}) before step()'
            )

    def _observe(self, arms: IntArray, reward: FloatArray) -> Observation:
        observation = np.zeros((self.num_envs, self.world.n_arms + 2), np.float32)
        observation.ravel()[self._starts + arms] = 1.0
        observation[:, -2] = reward
        observation[:, -1] = self._times.take(self._t, mode="clip")
        return observation

    def _open_histories(self, envs: list[int]) -> None:
        for i in envs:
            self._last[i] = None
            if self.render_mode == "rgb_array":
                self._histories[i] = EpisodeSoFar.of(self._ahead.instances[i])

    def _remember(self, arms: IntArray, reward: FloatArray, best: IntArray, regret: FloatArray) -> None:
        self._last = list(zip(arms.tolist(), reward.tolist(), best.tolist(), regret.tolist(), strict=True))
        totals = self._total_regret.tolist()
        over = [False] * self.num_envs if self._over is None else self._over.tolist()
        for history, arm, total, ended in zip(self._histories.values(), arms.tolist(), totals, over, strict=False):
            if not ended:
                history.add(arm, total)

    def render(self) -> tuple[Any, ...] | None:
        """What the single environment would render, for every sub-environment."""
        if self.render_mode is None:
            gym.logger.warn('render() needs a render mode: gym.make_vec(..., render_mode="ansi") or "rgb_array"')
            return None
        if not self._begun:
            raise ResetNeeded("nothing to render: call reset() first")
        if self.render_mode == "rgb_array":
            return tuple(draw_frame(history) for history in self._histories.values())
        return tuple(self._line(i, t) for i, t in enumerate(self._t.tolist()))

    def _line(self, i: int, t: int) -> str:
        played = self._last[i]
        if played is None:
            world = f"world {self.world.name!r}, {self.world.n_arms} arms, {self.law!r}"
            return f"round {t:,} of {self.world.horizon:,}: {world}"
        arm, reward, best, regret = played
        return ansi_line(t, arm, reward, self._ahead.instances[i][t - 1], best, regret, self._total_regret[i])


def _masked(infos: dict[str, Any], envs: BoolArray) -> dict[str, Any]:
    """Infos of the sub-environments where the mask is true, zeros elsewhere, with Gymnasium's masks that say so."""
    if not envs.all():
        infos = {key: np.where(envs.reshape(-1, *(1,) * (values.ndim - 1)), values, 0) for key, values in infos.items()}
    return _with_masks(infos, envs)


def _with_masks(infos: dict[str, Any], envs: BoolArray) -> dict[str, Any]:
    for mask in MASKS:
        infos[mask] = envs.copy()
    return infos


def _finals(over: BoolArray, observation: Observation, infos: dict[str, Any]) -> dict[str, Any]:
    """The last observations and infos of the episodes that ended where the mask is true."""
    final_obs = np.full(len(over), None, dtype=object)
    for i in np.flatnonzero(over).tolist():
        final_obs[i] = observation[i].copy()
    final_info = _masked({key: values.copy() for key, values in infos.items()}, over)
    return {"final_obs": final_obs, "final_info": final_info, "_final_obs": over.copy(), "_final_info": over.copy()}
