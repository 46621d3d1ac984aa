"""The native vector environment: N bandits stepped at once, computed with arrays throughout.

Their seeds and streams of luck are those that N single environments would spawn.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, overload

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..agents.core.arguments import by_name, check_memory, known_parameters, positive_int, seed_number, shown
from ..means import Floats, Ints, Mask
from ..rewards import Bernoulli, Beta, Gaussian, Law
from ..worlds.world import World
from .bandit import NSBanditEnv, Observation, checked_means, drawn_means
from .render import EpisodeHistory, ansi_line, arm_names, draw_frame

BLOCK = 256  # steps that are prepared at once, at most; any number gives the same results
BLOCK_BYTES = 1 << 26  # which what is prepared takes, at most
NONE: Floats = np.zeros((0, 0))  # no instance
ENV_BYTES = 1_600  # of a sub-environment and its generator, in what is kept and what is returned
ARM_BYTES = 40  # of each of its arms
AT_A_TIME = 64  # generators, which are made faster one after the other than between other work
SEED_BITS = 128  # of a seed that nobody gave, as in NumPy
MASKS = ("_mu", "_optimal_arm", "_regret", "_total_regret", "_round")  # of the infos


class NSBanditVectorEnv(gym.vector.VectorEnv[Observation, Ints, npt.NDArray[Any]]):
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
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            allowed = ", ".join(f"AutoresetMode.{mode.name} (or {mode.value!r})" for mode in AutoresetMode)
            raise ValueError(f"autoreset_mode must be one of {allowed}, got {shown(autoreset_mode)}") from None
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        single = NSBanditEnv(**arguments)  # checks the arguments and provides the spaces
        self.world, self.law, self.render_mode = single.world, single.law, single.render_mode
        k, horizon = self.world.n_arms, self.world.horizon
        rows = rows_ahead(n, k, horizon, self.world.random)
        each = ENV_BYTES + ARM_BYTES * k + 16 * rows  # luck is drawn one by one and put together afterwards
        if self.world.random:  # each has an instance of its own, and the means of the next rounds beside it
            each += 8 * k * (horizon + rows) + 8 * rows
        what = f"{n:,} environments of {horizon:,} rounds and {k:,} arms"
        check_memory(n * each, what, "choose a smaller num_envs, or a smaller horizon if means are drawn")
        self._last_round = horizon
        if max_episode_steps is not None and max_episode_steps != -1:  # which set no limit, as in ``gym.make``
            limit = positive_int("max_episode_steps", max_episode_steps, hint="or None, to play all T rounds")
            self._last_round = min(horizon, limit)
        if not isinstance(stagger, bool):
            raise TypeError(f"stagger must be True or False, got {shown(stagger)}")
        if stagger and self.render_mode == "rgb_array":
            raise ValueError('pictures show episodes from round 1 on: use render_mode="ansi", or stagger=False')
        self._first_rounds = np.arange(n) * (self._last_round if stagger else 0) // n  # rounds that lie behind at first
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

        self._own_means = None if self.world.random else single.means
        self._seeds = EnvSeeds(n)
        self._buffer = PrefetchBuffer(n, k, horizon, self.law, self.world.random)
        self._offsets = k * np.arange(n)  # where each env begins in a flat (N, K) array
        self._starts = (k + 2) * np.arange(n)  # and in one of observations
        self._times = (np.arange(horizon + 1) / horizon).astype(np.float32)  # as they are observed after each round
        self._everyone = np.ones(n, np.bool_)
        self._begun = False
        self._t = np.zeros(n, np.int64)  # rounds that lie behind each sub-environment
        self._left = 0  # rounds until the next of them ends
        self._total_regret = np.zeros(n)
        self._over: Mask | None = None  # those that have ended and are not reset yet, if there are any
        self._last: list[tuple[int, float, int, float] | None] = [None] * n  # the round before, to be rendered
        self._histories: dict[int, EpisodeHistory] = {}  # of each sub-environment, if pictures are rendered

    @property
    def means(self) -> Floats:
        """A copy of the (N, T, K) means of the instances being played."""
        if not self._begun:
            raise ResetNeeded("the instances are drawn at reset: call reset() first")
        return np.stack(self._buffer.instances)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generators of the sub-environments."""
        return self._seeds.generators

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seeds of the sub-environments: the single environment plays instance i with the i-th of them."""
        return tuple(self._seeds.seeds)

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
        chosen = self._everyone
        if mask is not None:
            if self.autoreset_mode is not AutoresetMode.DISABLED:
                raise ValueError(
                    f"reset_mask needs autoreset_mode=AutoresetMode.DISABLED; with {self.autoreset_mode.name}, "
                    f"sub-environments that end are reset by themselves"
                )
            n, is_mask = self.num_envs, isinstance(mask, np.ndarray) and mask.dtype == np.bool_
            if not is_mask or mask.shape != (n,) or not mask.any():
                raise ValueError(f"reset_mask must be an array of {n} truth values, not all False, got {shown(mask)}")
            if not self._begun:
                raise ResetNeeded("no episode has begun: call reset() without a reset_mask first")
            chosen = mask.copy()
        self._seeds.seed(seeds_of(seed, self.num_envs), chosen)
        self._begin(chosen, given, self._first_rounds if mask is None else None)
        shape = self.num_envs, self.world.n_arms + 2
        observation = np.zeros(shape, np.float32) if mask is None else self._shown.copy()
        infos = self._no_round()
        self._show_beginning(chosen, observation, infos)
        return self._kept(observation), _masked(infos, chosen)

    def _begin(self, chosen: Mask, given: list[Floats] | None = None, first: Ints | None = None) -> None:
        """Start new episodes where the mask is true, in round 1 or after these numbers of rounds."""
        envs = np.flatnonzero(chosen)
        self._begun = False
        seeds, children = self._seeds.next_episode(envs)
        self._t[envs] = 0 if first is None else first
        self._left = self._last_round - int(self._t.max())
        instances: Iterator[Floats]  # each is drawn when it is asked for, so that the old one can make room for it
        if given is not None:
            instances = (given[i] for i in envs.tolist())
        elif self._own_means is not None:
            instances = repeat(self._own_means, len(envs))
        else:
            instances = (drawn_means(self.world, self.law, rng) for rng in spawned(seeds, children))
        self._buffer.begin(envs, instances, spawned(seeds, children + 1), self._t)
        self._total_regret[envs] = 0.0
        if self._over is not None:
            left = self._over & ~chosen
            self._over = left if left.any() else None
        for i in envs.tolist() if self.render_mode is not None else ():
            self._last[i] = None
            if self.render_mode == "rgb_array":
                self._histories[i] = EpisodeHistory(self._buffer.instances[i], arm_names(self.world))
        self._begun = True

    def _show_beginning(self, envs: Mask, observation: Observation, infos: dict[str, Any]) -> None:
        """Put the first observations and infos of new episodes where the mask is true."""
        observation[envs] = 0.0
        observation[envs, -1] = self._times[self._t[envs]]
        for key, values in self._no_round().items():
            infos[key][envs] = values[envs]

    def _no_round(self) -> dict[str, Any]:
        n = self.num_envs
        return self._infos(np.zeros((n, self.world.n_arms)), np.full(n, -1, np.int64), np.zeros(n))

    def _infos(self, mu: Floats, best: Ints, regret: Floats) -> dict[str, Any]:
        total, rounds = self._total_regret.copy(), self._t.copy()
        return {"mu": mu, "optimal_arm": best, "regret": regret, "total_regret": total, "round": rounds}

    def _kept(self, observation: Observation) -> Observation:
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._shown = observation.copy()  # a reset of some shows it for the others
        return observation

    def step(self, actions: npt.ArrayLike) -> tuple[Observation, Floats, Mask, Mask, dict[str, Any]]:
        """Pull one arm in every sub-environment, and begin new episodes as the autoreset mode says."""
        if not self._begun:
            raise ResetNeeded("no episode has begun: call reset() before step()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over is not None:
            ended = np.flatnonzero(self._over).tolist()
            raise ResetNeeded(
                f"{len(ended)} sub-environments have ended, the first of them {ended[0]}: call "
                f'reset(options={{"reset_mask": terminated | truncated}}) before step()'
            )
        arms = checked_arms(actions, self.num_envs, self.world.n_arms, self._over)
        mu, best, luck = self._buffer.step(self._t)
        mean = mu.take(self._offsets + arms)
        regret = mu.take(self._offsets + best) - mean
        reward = rewards_of(self.law, mean, luck)

        self._t += 1
        self._left -= 1
        self._total_regret += regret
        if self.render_mode is not None:
            self._remember(arms, reward, best, regret)
        observation, infos = np.zeros((self.num_envs, self.world.n_arms + 2), np.float32), self._infos(mu, best, regret)
        observation.ravel()[self._starts + arms] = 1.0
        observation[:, -2] = reward
        observation[:, -1] = self._times.take(self._t, mode="clip")
        over, final = np.zeros(self.num_envs, np.bool_), {}
        if (began := self._over) is not None:  # these ended in the step before: this one resets them, and was no round
            reward[began] = 0.0
            self._begin(began)
            self._show_beginning(began, observation, infos)
        if self._left == 0:
            over = self._t == self._last_round
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                final = _finals(over, observation, infos)
                self._begin(over)
                self._show_beginning(over, observation, infos)
            else:
                self._over = over.copy()
        infos = _with_masks(infos, self._everyone)
        infos.update(final)
        return self._kept(observation), reward, np.zeros(self.num_envs, np.bool_), over, infos

    def _remember(self, arms: Ints, reward: Floats, best: Ints, regret: Floats) -> None:
        self._last = list(zip(arms.tolist(), reward.tolist(), best.tolist(), regret.tolist(), strict=True))
        totals = self._total_regret.tolist()
        over = [False] * self.num_envs if self._over is None else self._over.tolist()
        for history, arm, total, ended in zip(self._histories.values(), arms.tolist(), totals, over, strict=False):
            if not ended:
                history.add(arm, total)

    def render(self) -> tuple[Any, ...] | None:
        """The line or the picture that the single environment would render, for every sub-environment."""
        if self.render_mode is None:
            gym.logger.warn('render() needs a render mode: gym.make_vec(..., render_mode="ansi") or "rgb_array"')
            return None
        if not self._begun:
            raise ResetNeeded("nothing to render: call reset() first")
        if self.render_mode == "rgb_array":
            return tuple(draw_frame(history) for history in self._histories.values())
        each = zip(self._t.tolist(), self._last, self._buffer.instances, self._total_regret, strict=True)
        return tuple(ansi_line(self, t, played, means[t - 1], total) for t, played, means, total in each)


def _masked(infos: dict[str, Any], envs: Mask) -> dict[str, Any]:
    """Infos of the sub-environments where the mask is true, zeros elsewhere, with Gymnasium's masks that say so."""
    if not envs.all():
        infos = {key: np.where(envs.reshape(-1, *(1,) * (values.ndim - 1)), values, 0) for key, values in infos.items()}
    return _with_masks(infos, envs)


def _with_masks(infos: dict[str, Any], envs: Mask) -> dict[str, Any]:
    for mask in MASKS:
        infos[mask] = envs.copy()
    return infos


def _finals(over: Mask, observation: Observation, infos: dict[str, Any]) -> dict[str, Any]:
    """The last observations and infos of the episodes that ended where the mask is true."""
    final_obs = np.full(len(over), None, dtype=object)
    for i in np.flatnonzero(over).tolist():
        final_obs[i] = observation[i].copy()
    final_info = _masked({key: values.copy() for key, values in infos.items()}, over)
    return {"final_obs": final_obs, "final_info": final_info, "_final_obs": over.copy(), "_final_info": over.copy()}


def given_means(means: Any, n_envs: int, world: World, law: Law) -> list[Floats]:
    """The instances given to ``reset``: one matrix for all, or one for each."""
    if not (isinstance(means, list | tuple | np.ndarray) and len(means) and np.ndim(means[0]) == 2):
        return [checked_means(means, world, law)] * n_envs
    if len(means) != n_envs:
        raise ValueError(
            f"means must be one (T, K) matrix or one for each of the {n_envs} sub-environments, "
            f"got {len(means)} of them"
        )
    return [checked_means(matrix, world, law) for matrix in means]


def checked_arms(actions: npt.ArrayLike, n_envs: int, n_arms: int, ignored: Mask | None) -> Ints:
    """The arm to pull in each sub-environment, and 0 where the action is ignored."""
    try:
        given = np.asarray(actions)
    except Exception:  # lists of different lengths, or whatever somebody's own class raises
        raise _invalid(shown(actions), n_envs, n_arms) from None
    if given.shape != (n_envs,) or given.dtype.kind not in "iu":
        raise _invalid(f"{given.dtype} of shape {given.shape}", n_envs, n_arms)
    if ignored is not None:
        given = np.where(ignored, 0, given)
    arms = given.astype(np.int64)
    if int(np.maximum.reduce(arms.view(np.uint64))) >= n_arms:  # without a sign, negative numbers are very large
        bad = int(np.flatnonzero((given < 0) | (given >= n_arms))[0])
        raise _invalid(f"{given[bad]} in sub-environment {bad}", n_envs, n_arms)
    return arms


def _invalid(got: str, n_envs: int, n_arms: int) -> InvalidAction:
    allowed = f"actions must be {n_envs} integers from 0 to {n_arms - 1}, one per sub-environment"
    return InvalidAction(f"{allowed}; got {got}")


def rewards_of(law: Law, mean: Floats, luck: Floats) -> Floats:
    """The rewards of N arms with these means and this luck: ``law.reward``, elementwise and to the same bit."""
    at_once = AT_ONCE.get(type(law).reward)
    if at_once is not None:
        return at_once(law, mean, luck)
    pairs = zip(mean.tolist(), luck.tolist(), strict=True)
    return np.array([law.reward(m, u) for m, u in pairs], dtype=np.float64)


def _beta(law: Beta, mean: Floats, luck: Floats) -> Floats:
    from ..quantile import beta_quantiles  # imported here, because the other laws do not need numba

    return beta_quantiles(luck, law.concentration * mean, law.concentration * (1 - mean))


# By the rule itself, so that a law that is derived from one of these but has a rule of its own is computed by that.
AT_ONCE: dict[Any, Callable[[Any, Floats, Floats], Floats]] = {
    Bernoulli.reward: lambda law, mean, luck: (luck < mean).astype(np.float64),
    Gaussian.reward: lambda law, mean, luck: mean + law.scale * luck,
    Beta.reward: _beta,
}


class PrefetchBuffer:
    """The means, the best arms and the luck of the next steps of N bandits, prepared for several steps at once.

    A bandit's luck comes from a stream of its own, one draw per round, so that it does not matter how far ahead it is
    drawn. Bandits may be in different rounds of their episodes. Where all play one instance, means are looked up;
    otherwise, as in a world that is ``random``, those of the next rounds are copied side by side.

    Attributes:
        instances: N matrices (T, K); N references to the same one if all share it.
    """

    def __init__(self, n_envs: int, n_arms: int, horizon: int, law: Law, random: bool) -> None:
        self._shape, self._law, self._random = (n_envs, n_arms), law, random
        self._streams: dict[int, np.random.Generator] = {}  # of luck, one draw per round
        self._rows = rows_ahead(n_envs, n_arms, horizon, random)
        self._row = self._rows  # the next to be played; none is prepared yet
        self._every = np.arange(n_envs)
        self.instances = [NONE] * n_envs
        self._shared = False  # whether all play one instance; if so:
        self._common, self._common_best = NONE, np.zeros(0, np.int64)  # that one, and its best arms
        self._mu, self._best = np.zeros((0, *self._shape)), np.zeros((0, n_envs), np.int64)

    def begin(self, envs: Ints, instances: Iterator[Floats], luck: Iterator[np.random.Generator], rounds: Ints) -> None:
        """Begin episodes in these bandits, in ascending order, with an instance and a generator of luck for each.

        The (N,) rounds lie behind each of the N bandits, these and the others.
        """
        whole = len(envs) == len(rounds)
        for i, generator, behind in zip(envs.tolist(), luck, rounds[envs].tolist(), strict=True):
            self._streams[i] = generator
            if behind:
                self._law.luck(generator, behind)
        if whole and self._random:
            self._common = NONE
        for i in envs.tolist():
            self.instances[i] = NONE  # leaves its memory to the next, which is drawn only now
            self.instances[i] = next(instances)
        if whole:
            self._row = self._rows
            first = self.instances[0]
            self._shared = all(means is first for means in self.instances)
            if self._shared and first is not self._common:
                self._common, self._common_best = first, first.argmax(axis=1)
            return
        if self._shared and any(self.instances[i] is not self._common for i in envs.tolist()):
            self._shared = False
            self._prepare_means(self._every, rounds)
        self._prepare(envs, rounds)

    def step(self, rounds: Ints) -> tuple[Floats, Ints, Floats]:
        """The (N, K) means, the (N,) best arms and the (N,) luck of the coming round of each bandit.

        The (N,) rounds lie behind each; what is returned where an episode is over has no meaning.
        """
        if self._row == self._rows:
            self._row = 0
            self._prepare(self._every, rounds)
        row = self._row
        self._row += 1
        if self._shared:
            mu, best = self._common.take(rounds, axis=0, mode="clip"), self._common_best.take(rounds, mode="clip")
        else:
            mu, best = self._mu[row].copy(), self._best[row].copy()
        return mu, best, self._luck[row]

    def _prepare(self, envs: Ints, rounds: Ints) -> None:
        """Fill what is left of the block, for some bandits or for all."""
        if not self._shared:
            self._prepare_means(envs, rounds)
        ahead = self._rows - self._row
        if not ahead:
            return
        if len(envs) == self._shape[0]:
            self._luck = np.zeros((0, 0))  # the old makes room for the new
            self._luck = self._draw(envs, ahead)
        else:
            self._luck[self._row :, envs] = self._draw(envs, ahead)

    def _draw(self, envs: Ints, rounds: int) -> Floats:
        """The luck of the next rounds, (rounds, n)."""
        return np.stack([self._law.luck(self._streams[i], rounds) for i in envs.tolist()], axis=1)

    def _prepare_means(self, envs: Ints, rounds: Ints) -> None:
        """Put the means of the coming rounds side by side; what follows the end of an episode has no meaning."""
        first, ahead, whole = self._row, self._rows - self._row, len(envs) == self._shape[0]
        if self._mu.shape[0] == 0:
            self._mu = np.zeros((self._rows, *self._shape))
            self._best = np.zeros((self._rows, self._shape[0]), np.int64)
        if whole and (rounds == rounds[0]).all():
            t = rounds.item(0)
            coming = [means[t : t + ahead] for means in self.instances]
            np.stack(coming, axis=1, out=self._mu[first : first + len(coming[0])])
        else:
            for i, t in zip(envs.tolist(), rounds[envs].tolist(), strict=True):
                rows = self.instances[i][t : t + ahead]
                self._mu[first : first + len(rows), i] = rows
        if whole:
            self._mu[first:].argmax(axis=2, out=self._best[first:])
        else:
            self._best[first:, envs] = self._mu[first:, envs].argmax(axis=2)


def rows_ahead(n_envs: int, n_arms: int, horizon: int, random: bool) -> int:
    """The number of steps to prepare: fewer for many bandits, so that what is prepared takes bounded memory."""
    each = 8 * (n_arms + 2) if random else 8
    return max(1, min(BLOCK, horizon, BLOCK_BYTES // (n_envs * each)))


def seeds_of(given: Any, n_envs: int) -> list[int | None]:
    """The seed of each sub-environment: s + i for a number s, as Gymnasium has it; one each from a list."""
    if given is None:
        return [None] * n_envs
    if isinstance(given, list | tuple | range) or (isinstance(given, np.ndarray) and given.ndim > 0):
        seeds = [seed_number(each, "each of the seeds") for each in given]
        if len(seeds) != n_envs:
            raise ValueError(f"a list of seeds must have one for each of the {n_envs} envs, got {len(seeds)}")
        return seeds
    first = positive_int("seed", given, least=0, most=None, hint="or give a list, one for each sub-environment")
    return list(range(first, first + n_envs))


class EnvSeeds:
    """Seeds of N sub-environments, and the number of streams that each has spawned.

    The single environment has a generator that spawns two children in each episode: one for the means, one for luck.
    The children follow from the seed and their number alone, so that no generator is made for them until it is asked
    for.

    Attributes:
        seeds: the N seeds; none before the first reset.
    """

    def __init__(self, n_envs: int) -> None:
        self.seeds: list[int] = []
        self._spawned = np.zeros(n_envs, np.int64)
        self._generators: list[np.random.Generator] = []  # empty until they are asked for

    def seed(self, seeds: list[int | None], envs: Mask) -> None:
        """Seed the sub-environments where the mask is true; None lets one go on, or draws its first seed."""
        if not self.seeds:
            self.seeds = [secrets.randbits(SEED_BITS) if seed is None else seed for seed in seeds]
            return
        for i in np.flatnonzero(envs).tolist():
            if (seed := seeds[i]) is not None:
                self.seeds[i], self._spawned[i] = seed, 0
                if self._generators:
                    self._generators[i] = self._generator(i)

    def _generator(self, i: int) -> np.random.Generator:
        sequence = np.random.SeedSequence(self.seeds[i], n_children_spawned=self._spawned.item(i))
        return np.random.Generator(np.random.PCG64(sequence))

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """The N generators; from now on, children that others spawn from them count too."""
        if not self._generators:
            self._generators = [self._generator(i) for i in range(len(self.seeds))]
        return tuple(self._generators)

    def next_episode(self, envs: Ints) -> tuple[list[int], Ints]:
        """The seeds, and the children that draw the means of the next episode; the ones after these draw its luck."""
        for i in envs.tolist() if self._generators else ():
            sequence: Any = self._generators[i].bit_generator.seed_seq
            self._spawned[i] = sequence.n_children_spawned
            sequence.spawn(2)
        keys = self._spawned[envs]
        self._spawned[envs] += 2
        return [self.seeds[i] for i in envs.tolist()], keys


def spawned(seeds: list[int], children: Ints) -> Iterator[np.random.Generator]:
    """The generators that sub-environments with these seeds spawn as children with these numbers."""
    for start in range(0, len(seeds), AT_A_TIME):
        some = slice(start, start + AT_A_TIME)
        pairs = zip(seeds[some], children[some].tolist(), strict=True)
        sequences = [np.random.SeedSequence(seed, spawn_key=(child,)) for seed, child in pairs]
        yield from [np.random.Generator(np.random.PCG64(sequence)) for sequence in sequences]


@overload
def bandit_of(env: gym.Env[Any, Any]) -> NSBanditEnv: ...


@overload
def bandit_of(env: gym.vector.VectorEnv[Any, Any, Any]) -> NSBanditVectorEnv: ...


def bandit_of(env: Any) -> Any:
    """The bandit under the wrappers of an environment: ``env.unwrapped``, with the type that it has.

    Type checkers then know its attributes, such as ``means``, ``world`` and ``law``.

    >>> env = gym.make("NSBandit-Abrupt-v0", horizon=100)
    >>> bandit_of(env).means.shape
    (100, 10)

    Args:
        env: what ``gym.make`` or ``gym.make_vec`` made of an id of this package, wrapped or not.
    """
    bare = getattr(env, "unwrapped", None)
    if isinstance(bare, NSBanditEnv | NSBanditVectorEnv):
        return bare
    if isinstance(bare, gym.vector.SyncVectorEnv | gym.vector.AsyncVectorEnv):
        remedy = 'make it with gym.make_vec(id, num_envs=…), or ask its parts: envs.unwrapped.get_attr("means")'
    else:
        remedy = 'make one with gym.make("NSBandit-Abrupt-v0")'
    raise TypeError(f"there is no bandit of this package in {shown(env)}; {remedy}")
