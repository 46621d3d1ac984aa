"""The regret of episodes while a model learns: in the logs of Stable-Baselines3, and as a learning curve."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.callbacks import BaseCallback

from ..agents.core.arguments import positive_int

__all__ = ["LearningCurve", "RegretCallback"]


@dataclass(frozen=True)
class LearningCurve:
    """The mean regret of finished episodes, and the number of steps taken until then."""

    steps: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]


class RegretCallback(BaseCallback):  # type: ignore[misc, unused-ignore]
    """Logs ``rollout/regret``: the mean regret of the last finished episodes, beside ``rollout/ep_rew_mean``.

    It works with every vector environment whose infos have ``total_regret``, and with every algorithm but ARS, which
    does not tell callbacks what happens::

        model.learn(100_000, callback=rl.RegretCallback())

    Only whole episodes count. Where an environment begins in the middle of one, as those of ``make_vec(…,
    stagger=True)`` do, the regret until the end of that first episode is left out.

    It can be pickled in the middle of a training, and goes on in the ``learn`` that goes on with the model.

    Args:
        window: the number of finished episodes over which the mean is taken.
        verbose: Stable-Baselines3's verbosity.

    Attributes:
        regrets: the regret of the last finished episodes, the latest at the end.
    """

    def __init__(self, window: int = 100, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.regrets: deque[float] = deque(maxlen=positive_int("window", window, hint="the number of episodes"))
        self._finished = 0
        self._points: list[tuple[int, float]] = []
        self._begun_late = np.zeros(0, np.bool_)  # environments whose episode did not begin in round 1

    @property
    def curve(self) -> LearningCurve:
        """The learning curve so far: a point for every ``window`` episodes, which is their mean."""
        steps, regret = zip(*self._points, strict=True) if self._points else ((), ())
        return LearningCurve(np.array(steps, np.int64), np.array(regret, np.float64))

    def __getstate__(self) -> Mapping[str, Any]:
        """What was recorded, without the training in which it was."""
        return {**vars(self), "model": None, "locals": {}, "globals": {}, "parent": None}

    def _on_training_start(self) -> None:
        """Begin anew where the count of steps does; see which environments are in an episode that began late."""
        if self.model.num_timesteps == 0:
            self.regrets.clear()
            self._points.clear()
            self._finished = 0
        firsts = self.training_env.unwrapped.reset_infos
        self._begun_late = np.array([info.get("round", 0) > 0 for info in firsts], np.bool_)

    def _on_step(self) -> bool:
        """Remember the regret of the episodes that ended in this step."""
        if "dones" not in self.locals:
            raise ValueError(
                f"{type(self.model).__name__} does not tell callbacks what happens in a step, so that no regret can be "
                f"logged; wrap its environment in ns_mab_gym.wrappers.RecordRegret, which remembers it"
            )
        ended = np.asarray(self.locals["dones"], np.bool_)
        if ended.any():
            for i in np.flatnonzero(ended & ~self._begun_late).tolist():
                self._remember(self.locals["infos"][i])
            self._begun_late &= ~ended
            self._log()  # DQN and its like write the log within this step
        return True

    def _remember(self, info: Mapping[str, Any]) -> None:
        if "total_regret" not in info:
            raise ValueError(
                f'RegretCallback needs info["total_regret"], got {sorted(info)}; environments of this package '
                f'report it, and ns_mab_gym.wrappers.RecordRegret adds it to others that report info["regret"]'
            )
        self.regrets.append(float(info["total_regret"]))
        self._finished += 1
        if self._finished % self.regrets.maxlen == 0:  # type: ignore[operator]  # it has one
            self._points.append((self.num_timesteps, float(np.mean(self.regrets))))

    def _on_rollout_end(self) -> None:
        """Log the mean also for rollouts in which no episode ended."""
        self._log()

    def _log(self) -> None:
        if self.regrets:
            self.logger.record("rollout/regret", float(np.mean(self.regrets)))
