"""A log of decisions, read from files, frames and tables of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..means import Floats, Ints

if TYPE_CHECKING:
    from .replay import Replay
    from .world import LogWorld


@dataclass(frozen=True, eq=False)
class Log:
    """Decisions in the order of their times, N rows.

    A row is one decision, or with ``trials`` several of one arm at one time.

    Attributes:
        times: (N,) when each was made, in seconds, ascending; since 1970 (UTC) if the log holds dates.
        arms: (N,) the arm of each, from 0 to K − 1.
        rewards: (N,) its reward; of several decisions, their mean.
        names: the K names of the arms.
        trials: (N,) how many decisions a row stands for; None if each is one.
        propensities: (N,) the probability with which the arm was chosen; None if the log does not say.
        delays: (N,) seconds from the decision to its reward; None if the log does not say.
        dated: whether times are dates; plain numbers otherwise.
        notes: what was guessed when the log was read, as sentences.
    """

    times: Floats
    arms: Ints
    rewards: Floats
    names: tuple[str, ...]
    trials: Ints | None = None
    propensities: Floats | None = None
    delays: Floats | None = None
    dated: bool = False
    notes: tuple[str, ...] = ()

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.names)

    @property
    def counts(self) -> Ints:
        """(N,) decisions of each row."""
        return np.ones(len(self.times), np.int64) if self.trials is None else self.trials

    @property
    def decisions(self) -> int:
        """How many decisions the log holds."""
        return int(self.counts.sum())

    @property
    def span(self) -> float:
        """Seconds from the first decision to the last."""
        return float(self.times[-1] - self.times[0])

    @property
    def rate(self) -> float:
        """Decisions a second, on average."""
        return self.decisions / self.span

    @property
    def binary(self) -> bool:
        """Whether the reward of every decision is 0 or 1; of several, if their sum is a whole number within range."""
        sums = self.rewards * self.counts
        whole: npt.NDArray[np.bool_] = np.isclose(sums, np.round(sums), rtol=0, atol=1e-6)
        return bool(np.all(whole & (self.rewards >= 0) & (self.rewards <= 1)))

    def in_decisions(self, duration: int | str) -> int:
        """Return the decisions in a duration such as "7d", at the log's rate; for windows, delays and batches.

        Args:
            duration: a number and s, min, h, d or w; a whole number is decisions already.
        """
        from .durations import decisions_of

        return decisions_of("duration", duration, self.rate)

    def world(self, horizon: int | None = None, *, decisions_per_day: float | None = None) -> LogWorld:
        """Return a random world of the histories that the log leaves plausible, with its reward law.

        ``simulate``, ``compare``, ``tune`` and ``recommend`` play it, and take a log itself in its place.

        Args:
            horizon: T, the decisions with which the span of the log is played; as many as it holds if not given. With
                fewer decisions, more moves between one and the next.
            decisions_per_day: the same as a rate.
        """
        from .world import world_of

        return world_of(self, horizon, decisions_per_day)

    def replay(self, agents: Any = (), *, policies: Mapping[str, npt.ArrayLike] | None = None, seed: int = 0) -> Replay:
        """Estimate what agents and fixed policies would have earned, from the log's own rewards.

        Learning agents are replayed by rejection; always playing an arm, and policies, which do not learn, are weighted
        (:mod:`ns_mab_gym.logs.replay`). A log without propensities must have been collected uniformly at random.

        Args:
            agents: an agent in any form that ``compare`` takes, or several; agents given by name are told how many
                decisions they will get, and the law of rewards.
            policies: of each policy its name, and (K,) or (N, K) probabilities of the arms, in all or in each decision.
            seed: from which all draws are derived.
        """
        from .replay import replay_of

        return replay_of(self, agents, policies or {}, seed)
