"""Imperfect feedback: rewards that arrive late, and arms that cannot always be played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction
from gymnasium.spaces import Box
from gymnasium.utils import RecordConstructorArgs

from ..agents.core.arguments import choice, fraction, positive_int, shown
from ..means import Ints, Mask
from .observations import Features, bandit_space, extended


def next_generator(current: np.random.Generator, seed: int | None, key: int) -> np.random.Generator:
    """The generator of the next episode: the current one, or for a seed of ``reset`` a new one.

    It shares no stream with the environment, nor with a wrapper that has the same seed but another key.
    """
    return current if seed is None else np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key, 0)))


DELAYS = 0xDE1A


class DelayedRewards(gym.Wrapper[Features, Any, Features, Any], RecordConstructorArgs):
    """Every reward arrives some rounds after its arm was pulled, or at the end of a batch of rounds.

    ``info["feedback"]`` lists the rewards that arrive with a step, as (round, arm, reward), oldest round first; it is
    empty after a reset and whenever nothing arrives, and its length varies: recorders that keep infos in arrays of one
    shape have to leave it out. The step's own reward, and the reward in the observation, is the
    sum of what arrives, which does not say to which arms it belongs;
    :class:`~ns_mab_gym.wrappers.WindowedStatistics` around this wrapper credits late rewards to their arms. Rewards due
    after the last round never arrive. ``mu``, ``optimal_arm`` and ``regret`` are about the round just played, as
    without the wrapper.

    The delays have a generator of their own: for a seed, means and luck are those of the undelayed environment, and the
    delay of a round is the same whatever is played. So ``simulate`` plays this wrapper in its compiled loop.

    Args:
        env: an NSBandit environment, wrapped or not.
        delay: d ≥ 0, the number of rounds; or (low, high), to draw each from low, …, high uniformly.
        batch: b ≥ 1: what arrives is held back until the end of its batch of b rounds, after which the player chooses
            for b rounds from the same rewards; with ``delay=0`` it knows all rewards of the batches before.
    """

    delays_rewards: ClassVar[bool] = True  # read by the episode loop before it begins

    def __init__(self, env: gym.Env[Features, Any], delay: int | Sequence[int] = 10, batch: int = 1) -> None:
        RecordConstructorArgs.__init__(self, delay=delay, batch=batch)
        gym.Wrapper.__init__(self, env)
        space, self._n_arms = bandit_space(env, env.observation_space, env.action_space)
        pair = delay if isinstance(delay, list | tuple) else (delay, delay)
        if len(pair) != 2:
            raise ValueError(f"delay must be a number of rounds or a pair (low, high), got {shown(delay)}")
        hint = "a number of rounds, or a pair (low, high)"
        self._shortest, self._longest = (positive_int("delay", each, least=0, hint=hint) for each in pair)
        if self._shortest > self._longest:
            raise ValueError(f"delay must be a pair (low, high) with low <= high, got {shown(delay)}; swap them")
        self._batch = positive_int("batch", batch)
        low, high, most = space.low.copy(), space.high.copy(), self._longest - self._shortest + self._batch
        k = self._n_arms  # where the reward is: the sum of all that can arrive at once, or 0
        low[k], high[k] = min(most * low[k], 0.0), max(most * high[k], 0.0)
        self.observation_space = Box(low, high, dtype=np.float32)
        self._rng = np.random.default_rng()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Begin an episode with no reward pending."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._rng = next_generator(self._rng, seed, DELAYS)
        self._under_way: defaultdict[int, list[tuple[int, int, float]]] = defaultdict(list)
        self._round = 0
        return observation, info | {"feedback": []}

    def step(self, action: Any) -> tuple[Features, float, bool, bool, dict[str, Any]]:
        """Pull an arm, and receive the rewards that are due."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._round += 1
        arm = int(observation[: self._n_arms].argmax())
        delay = int(self._rng.integers(self._shortest, self._longest + 1))
        arrival = -(-(self._round + delay) // self._batch) * self._batch
        self._under_way[arrival].append((self._round, arm, float(reward)))
        arrived = self._under_way.pop(self._round, [])
        total = sum((late for _, _, late in arrived), 0.0)
        observation = observation.copy()
        observation[self._n_arms] = total
        return observation, total, terminated, truncated, info | {"feedback": arrived}

    @property
    def shown(self) -> str:
        """The delay of rewards in words."""
        delays = (
            f"{self._shortest:,}" if self._shortest == self._longest else f"{self._shortest:,} to {self._longest:,}"
        )
        return f"{delays} decisions late" + (f", in batches of {self._batch:,}" if self._batch > 1 else "")

    def arrivals(self, seed: int, rounds: int) -> Ints:
        """The rounds, counted from 1, after which the rewards of so many rounds arrive if ``reset`` is given a seed."""
        delays = next_generator(self._rng, seed, DELAYS).integers(self._shortest, self._longest + 1, size=rounds)
        return np.asarray(-(-(np.arange(1, rounds + 1) + delays) // self._batch) * self._batch)


MASKS = 0xA7A1


class ArmAvailability(gym.Wrapper[Features, Any, Features, Any], RecordConstructorArgs):
    """In every round each arm is available with a given probability, independently; at least one arm always is.

    ``info["mask"]`` says which arms can be played in the *coming* round, as a (K,) array of truth values, also
    after a reset; the observation has it appended, as K numbers 0 or 1. If chance closes all arms, one of them, drawn
    uniformly, is opened. The masks have a generator of their own: for a seed, means and luck are those of the
    unwrapped environment, and the masks are the same whatever is played.

    ``info["optimal_arm"]``, ``info["regret"]`` and ``info["total_regret"]`` are about the available arms: the best of
    them, how far its mean exceeds that of the arm played, and the sum of that over the episode so far. (A rendered
    picture shows the regret against all arms.)

    Args:
        env: an NSBandit environment, wrapped or not.
        probability: the probability that an arm is available in a round.
        if_masked: what to do if a closed arm is played: ``"raise"`` an error, or ``"substitute"`` the open arm
            with the next higher index, cyclically, for learners that do not support masks. The observation and the
            regret are about the arm really played. Learners that support masks, such as sb3-contrib's MaskablePPO,
            call ``action_masks()``.
    """

    masks_arms: ClassVar[bool] = True  # read by the episode loop before it begins

    def __init__(self, env: gym.Env[Features, Any], probability: float = 0.7, if_masked: str = "raise") -> None:
        RecordConstructorArgs.__init__(self, probability=probability, if_masked=if_masked)
        gym.Wrapper.__init__(self, env)
        space, self._n_arms = bandit_space(env, env.observation_space, env.action_space)
        self._probability = fraction("probability", probability, hint="that an arm is available in a round")
        self._substitutes = choice("if_masked", if_masked, ("raise", "substitute")) == "substitute"
        nothing, everything = np.zeros(self._n_arms, np.float32), np.ones(self._n_arms, np.float32)
        self.observation_space = extended(space, nothing, everything)
        self._rng = np.random.default_rng()

    def action_masks(self) -> Mask:
        """The mask of the arms that can be played in the coming round."""
        return self._mask.copy()

    def _draw_mask(self) -> None:
        """Draw the mask from K + 1 uniforms: one per arm, and one that picks the arm to open if all are closed."""
        *uniforms, rescue = self._rng.random(self._n_arms + 1)
        self._mask: Mask = np.array(uniforms) < self._probability
        if not self._mask.any():
            self._mask[int(rescue * self._n_arms)] = True

    def _show(self, observation: Features, info: dict[str, Any]) -> tuple[Features, dict[str, Any]]:
        shown = np.concatenate([observation, self._mask.astype(np.float32)])
        return shown, info | {"mask": self._mask.copy()}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Begin an episode and draw the mask of its first round."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._rng = next_generator(self._rng, seed, MASKS)
        self._total_regret = 0.0
        self._draw_mask()
        return self._show(observation, info)

    def step(self, action: Any) -> tuple[Features, Any, bool, bool, dict[str, Any]]:
        """Pull an open arm, and draw the mask of the next round."""
        observation, reward, terminated, truncated, info = self.env.step(self._open_arm(action))
        mu, arm = info["mu"], int(observation[: self._n_arms].argmax())
        best = int(np.where(self._mask, mu, -np.inf).argmax())
        regret = mu.item(best) - mu.item(arm)
        self._total_regret += regret
        info = info | {"optimal_arm": best, "regret": regret, "total_regret": self._total_regret}
        self._draw_mask()
        observation, info = self._show(observation, info)
        return observation, reward, terminated, truncated, info

    def _open_arm(self, action: Any) -> Any:
        if action not in self.action_space or self._mask[action]:
            return action  # the environment itself rejects an action outside its space
        open_arms = np.flatnonzero(self._mask)
        if not self._substitutes:
            raise InvalidAction(
                f"arm {int(action)} cannot be played in this round, only {open_arms.tolist()} can; look at "
                f'info["mask"], or use ArmAvailability(env, if_masked="substitute")'
            )
        return int(open_arms[(open_arms > action).argmax()])  # the first open arm above it, or else the first open arm
