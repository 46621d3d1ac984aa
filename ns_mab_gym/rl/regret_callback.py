"""The regret of episodes in the logs of Stable-Baselines3, and so in TensorBoard."""

from __future__ import annotations

from collections import deque

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from ..agents.core.arguments import positive_int

__all__ = ["RegretCallback"]


class RegretCallback(BaseCallback):  # type: ignore[misc, unused-ignore]
    """Logs ``rollout/regret``: the mean regret of the last finished episodes, beside ``rollout/ep_rew_mean``.

    It works with every vector environment whose infos have ``total_regret``, and with every algorithm but ARS, which
    does not tell callbacks what happens::

        model.learn(100_000, callback=rl.RegretCallback())

    Args:
        window: the number of finished episodes over which the mean is taken.
        verbose: Stable-Baselines3's verbosity.

    Attributes:
        regrets: the regret of the last finished episodes, the latest at the end.
    """

    def __init__(self, window: int = 100, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.regrets: deque[float] = deque(maxlen=positive_int("window", window, hint="the number of episodes"))

    def _on_step(self) -> bool:
        """Remember the regret of the episodes that ended in this step."""
        if "dones" not in self.locals:
            raise ValueError(
                f"{type(self.model).__name__} does not tell callbacks what happens in a step, so that no regret can be "
                f"logged; wrap its environment in ns_mab_gym.wrappers.RecordRegret, which remembers it"
            )
        for i in np.flatnonzero(self.locals["dones"]).tolist():
            info = self.locals["infos"][i]
            if "total_regret" not in info:
                raise ValueError(
                    f'RegretCallback needs info["total_regret"], got {sorted(info)}; environments of this package '
                    f'report it, and ns_mab_gym.wrappers.RecordRegret adds it to others that report info["regret"]'
                )
            self.regrets.append(float(info["total_regret"]))
            self._log()  # DQN and its like write the log within this step
        return True

    def _on_rollout_end(self) -> None:
        """Log the mean also for rollouts in which no episode ended."""
        self._log()

    def _log(self) -> None:
        if self.regrets:
            self.logger.record("rollout/regret", float(np.mean(self.regrets)))
