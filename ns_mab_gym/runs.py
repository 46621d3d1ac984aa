"""The record of results that every part of the package uses: many runs of one agent on one world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

POINTS = 500  # points of a regret curve

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Runs:
    """R runs of one agent on one world.

    Attributes:
        rounds: (C,) the rounds, counted from 1, after which the regret was recorded; the last is T.
        regret: (R, C) the cumulative dynamic pseudo-regret after these rounds.
        pulls: (R, K) how often each arm was played.
        suboptimal_pulls: (R, K) N_{i,T}, how often each arm was played while its mean was below the best.
        seeds: R pairs of the environment's and the agent's seed; ``run_episode`` with such a pair plays that run again.
        parameters: the agent's parameters in each of the R runs, without arrays (the oracle's means).
        seconds: the time spent in the loop, summed over the threads or processes.
        arms: (R, T) every arm, if ``record="all"``.
        rewards: (R, T) every reward, if ``record="all"``.
        alarms: the alarms of each run, if the agent has a detector: arrays with the fields ``round`` (after which it
            was sounded, counted from 1), ``arm`` (-1 if about none in particular) and ``everything`` (whether all arms
            were forgotten); at most the first 10,000 of a run.
    """

    rounds: Ints
    regret: Floats
    pulls: Ints
    suboptimal_pulls: Ints
    seeds: list[tuple[int, int]]
    parameters: list[dict[str, Any]]
    seconds: float
    arms: Ints | None = None
    rewards: Floats | None = None
    alarms: list[npt.NDArray[np.void]] | None = None

    def __len__(self) -> int:
        return len(self.regret)

    @property
    def horizon(self) -> int:
        """T."""
        return int(self.rounds[-1])

    @property
    def steps(self) -> int:
        """The number of steps that the agent took in all runs together."""
        return len(self) * self.horizon

    @property
    def final(self) -> Floats:
        """(R,) the cumulative regret of each run in round T."""
        return self.regret[:, -1]

    def first(self, runs: int) -> Runs:
        """The first runs, as many as ``runs`` says, without the single arms and rewards."""
        return Runs(
            self.rounds,
            self.regret[:runs],
            self.pulls[:runs],
            self.suboptimal_pulls[:runs],
            self.seeds[:runs],
            self.parameters[:runs],
            self.seconds * min(runs, len(self)) / len(self),
            alarms=None if self.alarms is None else self.alarms[:runs],
        )

    def at(self, round_: float) -> Floats:
        """(R,) the cumulative regret after a round, interpolated linearly between the recorded rounds."""
        if round_ not in self._known:
            after = min(int(self.rounds.searchsorted(round_)), len(self.rounds) - 1)
            if after == 0:
                regret = round_ / self.rounds[0] * self.regret[:, 0]
            else:
                (earlier, later), before = self.rounds[after - 1 : after + 1], self.regret[:, after - 1]
                regret = before + (round_ - earlier) / (later - earlier) * (self.regret[:, after] - before)
            regret.flags.writeable = False
            self._known[round_] = regret
        return self._known[round_]

    @cached_property
    def _known(self) -> dict[float, Floats]:
        """The regret after rounds that were asked for before: tests of claims ask for the same few many times."""
        return {}

    def between(self, first: float, last: float) -> Floats:
        """(R,) the regret of the rounds after ``first`` up to ``last``."""
        return self.at(last) - self.at(first)


def joined(blocks: Sequence[Runs]) -> Runs:
    """Blocks of runs of one agent on one world, joined into one record without the single arms and rewards."""
    if len({(block.rounds.tobytes(), block.pulls.shape[1]) for block in blocks}) > 1:
        raise ValueError("blocks of runs differ in rounds or arms; the episodes of a world must have one length")
    alarms = [block.alarms for block in blocks if block.alarms is not None]
    return Runs(
        rounds=blocks[0].rounds,
        regret=np.concatenate([block.regret for block in blocks]),
        pulls=np.concatenate([block.pulls for block in blocks]),
        suboptimal_pulls=np.concatenate([block.suboptimal_pulls for block in blocks]),
        seeds=list(chain.from_iterable(block.seeds for block in blocks)),
        parameters=list(chain.from_iterable(block.parameters for block in blocks)),
        seconds=sum(block.seconds for block in blocks),
        alarms=list(chain.from_iterable(alarms)) if len(alarms) == len(blocks) else None,
    )


@lru_cache(maxsize=2**14, typed=True)  # all agents on all worlds play the same seeds
def seed_pair(seed: int, run: int = 0) -> tuple[int, int]:
    """Return the environment's and the agent's seed of a run: independent of each other and of all other runs."""
    words = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(2, np.uint64)
    return int(words[0] >> 1), int(words[1] >> 1)  # 63 bits, so that any table can hold them
