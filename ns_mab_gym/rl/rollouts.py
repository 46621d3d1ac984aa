"""What happens between two rollouts of a training: saving, stopping after Ctrl-C, progress."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from stable_baselines3.common.callbacks import BaseCallback

__all__ = ["BetweenRollouts", "noted_interrupts"]


class BetweenRollouts(BaseCallback):  # type: ignore[misc, unused-ignore]
    """Saves a training every so many steps, and when it is interrupted.

    Args:
        save: saves the training as it is.
        every: after so many steps.
        interrupted: whether Ctrl-C was pressed.
        advance: is told how many steps more were played.
    """

    def __init__(
        self,
        save: Callable[[], None],
        every: int,
        interrupted: Callable[[], bool],
        advance: Callable[[int, int], None],
    ) -> None:
        super().__init__()
        self._save, self._every, self._interrupted, self._advance = save, every, interrupted, advance
        self._saved = self._told = 0

    def _on_training_start(self) -> None:
        self._saved = self._told = self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        steps = self.model.num_timesteps
        if self._interrupted():
            self._save()
            raise KeyboardInterrupt
        if steps - self._saved >= self._every:
            self._save()
            self._saved = steps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        new = self.model.num_timesteps - self._told
        self._told += new
        self._advance(new, new)


@contextmanager
def noted_interrupts() -> Iterator[Callable[[], bool]]:
    """Note Ctrl-C instead of stopping at once; a second one stops. Yields whether it was pressed.

    Elsewhere than in the main thread, and where Ctrl-C is ignored, nothing changes.
    """
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield pressed.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        print("\nstopping after this rollout, to save it; Ctrl-C again stops at once", file=sys.stderr, flush=True)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
