"""Arms that cannot always be played."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.error import InvalidAction
from gymnasium.utils import RecordConstructorArgs

from ..agents.core.arguments import choice, fraction
from .memory import BoolArray, Features, bandit_space, extended
from .streams import OwnGenerator

__all__ = ["ArmAvailability"]

STREAM = 0xA7A1


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
        self._generator = OwnGenerator(STREAM)

    def action_masks(self) -> BoolArray:
        """Which arms can be played in the coming round."""
        return self._mask.copy()

    def _draw_mask(self) -> None:
        """Draw the mask from K + 1 uniforms: one per arm, and one that picks the arm to open if all are closed."""
        *uniforms, rescue = self._rng.random(self._n_arms + 1)
        self._mask: BoolArray = np.array(uniforms) < self._probability
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
        self._rng = self._generator.reset(seed)
        self._total_regret = 0.0
        self._draw_mask()
        return self._show(observation, info)

    def step(self, action: Any) -> tuple[Features, Any, bool, bool, dict[str, Any]]:
        """Pull an open arm, and draw the mask of the next round."""
        observation, reward, terminated, truncated, info = self.env.step(self._open_arm(action))
        info = info | self._among_open(info["mu"], int(observation[: self._n_arms].argmax()))
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

    def _among_open(self, mu: npt.NDArray[np.float64], arm: int) -> dict[str, Any]:
        """The best of the available arms, and the regret of the one played against it, in this round and in all."""
        best = int(np.where(self._mask, mu, -np.inf).argmax())
        regret = mu.item(best) - mu.item(arm)
        self._total_regret += regret
        return {"optimal_arm": best, "regret": regret, "total_regret": self._total_regret}
