"""The means and the luck of the coming rounds of N bandits, prepared for several steps at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .luck import Luck

__all__ = ["RoundsAhead", "rows_ahead"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BLOCK = 256  # steps that are prepared at once, at most; any number gives the same results
BLOCK_BYTES = 1 << 26  # which what is prepared takes, at most
NONE: FloatArray = np.zeros((0, 0))  # no instance


class RoundsAhead:
    """What the next steps of N bandits bring, whatever is played: means, best arms and luck.

    A bandit's luck comes from a stream of its own, one draw per round, so that it does not matter how far ahead it is
    drawn. Bandits may be in different rounds of their episodes. Where all play one instance, means are looked up;
    otherwise those of the next rounds are copied side by side.

    Args:
        n_envs: N.
        n_arms: K.
        horizon: T.
        luck: their streams of luck.
        random: whether each bandit has an instance of its own.

    Attributes:
        instances: N matrices (T, K); N references to the same one if all share it.
    """

    def __init__(self, n_envs: int, n_arms: int, horizon: int, luck: Luck, random: bool) -> None:
        self._shape, self._streams, self._random = (n_envs, n_arms), luck, random
        self._rows = rows_ahead(n_envs, n_arms, horizon, random)
        self._row = self._rows  # the next to be played; none is prepared yet
        self._every = np.arange(n_envs)
        self.instances = [NONE] * n_envs
        self._shared = False  # whether all play one instance; if so:
        self._common, self._common_best = NONE, np.zeros(0, np.int64)  # that one, and its best arms
        self._mu, self._best = np.zeros((0, *self._shape)), np.zeros((0, n_envs), np.int64)

    def begin(self, envs: IntArray, instances: Iterator[FloatArray], rounds: IntArray) -> None:
        """Begin episodes in some bandits, or in all.

        Args:
            envs: which, in ascending order.
            instances: of each of them.
            rounds: (N,) rounds that lie behind each of the N bandits, these and the others.
        """
        whole = len(envs) == len(rounds)
        if whole and self._random:
            self._common = NONE
        for i in envs.tolist():
            self.instances[i] = NONE  # leaves its memory to the next, which is drawn only now
            self.instances[i] = next(instances)
        if whole:
            self._row = self._rows
            self._share()
            return
        if self._shared and any(self.instances[i] is not self._common for i in envs.tolist()):
            self._shared = False
            self._prepare_means(self._every, rounds)
        self._prepare(envs, rounds)

    def _share(self) -> None:
        """Find out whether all play one instance."""
        first = self.instances[0]
        self._shared = all(means is first for means in self.instances)
        if self._shared and first is not self._common:
            self._common, self._common_best = first, first.argmax(axis=1)

    def step(self, rounds: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
        """The (N, K) means, the (N,) best arms and the (N,) luck of the coming round of each bandit.

        Args:
            rounds: (N,) rounds that lie behind each; what is returned where an episode is over has no meaning.
        """
        if self._row == self._rows:
            self._row = 0
            self._prepare(self._every, rounds)
        row = self._row
        self._row += 1
        return *self._means(row, rounds), self._luck[row]

    def _means(self, row: int, rounds: IntArray) -> tuple[FloatArray, IntArray]:
        if self._shared:
            return self._common.take(rounds, axis=0, mode="clip"), self._common_best.take(rounds, mode="clip")
        return self._mu[row].copy(), self._best[row].copy()

    def _prepare(self, envs: IntArray, rounds: IntArray) -> None:
        """Fill what is left of the block, for some bandits or for all."""
        if not self._shared:
            self._prepare_means(envs, rounds)
        ahead = self._rows - self._row
        if not ahead:
            return
        if len(envs) == self._shape[0]:
            self._luck = np.zeros((0, 0))  # the old makes room for the new
            self._luck = self._streams.draw(envs, ahead)
        else:
            self._luck[self._row :, envs] = self._streams.draw(envs, ahead)

    def _prepare_means(self, envs: IntArray, rounds: IntArray) -> None:
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
    """For how many steps to prepare: fewer for many bandits, so that what is prepared takes bounded memory."""
    each = 8 * (n_arms + 2) if random else 8
    return max(1, min(BLOCK, horizon, BLOCK_BYTES // (n_envs * each)))
