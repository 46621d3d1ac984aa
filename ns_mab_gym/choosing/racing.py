"""A race: candidates play the same runs in growing blocks, and leave when they are clearly behind the leader.

Run r has the same luck for every candidate, so that differences are taken run by run. A candidate leaves when the lower
bound of its mean difference to the leader is above zero. The bounds are Student's, one-sided, and hold together at the
stated level: look l over M candidates so far takes the tail level/(l (l + 1) M) for each, and these tails sum to the
level at most (Bonferroni, over the leaders that could throw the best one out). They assume that mean differences are
nearly normal. Half of the level is for these bounds, the other half for what is said at the end (`Race.doubt`).

Where the budget does not allow everybody another block, the worse half leaves without proof (successive halving:
Karnin, Koren, Somekh 2013); what such a candidate might still be worth is part of `Race.doubt`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..student_t import lower_bound
from .purse import Purse

__all__ = ["Candidate", "Race", "Stage"]

Floats = npt.NDArray[np.float64]

FIRST, MOST = 8, 2_000  # runs of a candidate: in its first block, and in all
FEWEST = 4  # runs from which a bound is trusted


@dataclass(frozen=True)
class Candidate:
    """An agent, by name or class, with the parameters that are searched."""

    agent: Any
    parameters: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, agent: Any, parameters: Mapping[str, Any]) -> Candidate:
        """A candidate from a mapping of parameters."""
        return cls(agent, tuple(parameters.items()))

    @property
    def kwargs(self) -> dict[str, Any]:
        """The parameters as keyword arguments."""
        return dict(self.parameters)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent if isinstance(self.agent, str) else str(self.agent.__name__)

    @property
    def settings(self) -> str:
        """The parameters in words."""
        return ", ".join(f"{key}={_value(value)}" for key, value in self.parameters) or "its source's formula"


class Stage(Protocol):
    """Where candidates play."""

    def play(self, candidates: Sequence[Candidate], first: int, runs: int) -> list[Floats]:
        """The final regrets of each candidate in the runs from number ``first`` on."""

    def seconds(self, candidate: Candidate) -> float:
        """How long one of its runs is expected to keep the machine busy."""


class Race:
    """Candidates that play on one stage until one is left, or the rest cannot be told apart, or the budget is spent.

    Args:
        stage: where they play.
        purse: what may be spent.
        level: the probability with which the best candidate may be thrown out by a bound.
        tolerance: the race is over when no candidate can be better than the leader by more than this share.
        first: the runs of the first block.
    """

    def __init__(
        self, stage: Stage, purse: Purse, *, level: float = 0.05, tolerance: float = 0.01, first: int = FIRST
    ) -> None:
        self.stage, self.purse = stage, purse
        self.level, self.tolerance, self.first = level, tolerance, first
        self.finals: dict[Candidate, Floats] = {}  # of everybody who entered
        self.alive: list[Candidate] = []
        self.halved: set[Candidate] = set()
        self.looks = 0

    def enter(self, candidates: Sequence[Candidate], known: Mapping[Candidate, Floats] | None = None) -> None:
        """Let candidates join, each once; those of ``known`` bring the regrets of their first runs along."""
        for candidate in candidates:
            if candidate not in self.finals:
                self.finals[candidate] = (known or {}).get(candidate, np.zeros(0))
                self.alive.append(candidate)

    def narrow(self, floor: float = 0.0, keep: int = 1) -> None:
        """Race until ``keep`` candidates are left, or all are settled, or the purse holds ``floor``."""
        while len(self.alive) > keep and not self.settled() and not self._played_out():
            movers, target, limited = self._next_block(floor, keep)
            if target > 0:
                self._advance(movers, target)
                self.looks += 1
                self._drop_worse()
            if limited:
                self._halve(keep)

    @property
    def runs(self) -> int:
        """The runs that the leader has played."""
        return max((len(self.finals[each]) for each in self.alive), default=0)

    @property
    def leader(self) -> Candidate:
        """The candidate with the least mean regret among those who are left and have played most."""
        fullest = [each for each in self.alive if len(self.finals[each]) == self.runs]
        return min(fullest, key=lambda each: float(self.finals[each].mean()) if self.runs else 0.0)

    def behind(self, candidate: Candidate) -> Floats:
        """Its regret minus the leader's, in the runs that both have played."""
        mine, best = self.finals[candidate], self.finals[self.leader]
        common = min(len(mine), len(best))
        return np.asarray(mine[:common] - best[:common])

    def ranked(self) -> list[Candidate]:
        """Those who are left, in ascending order of their mean difference to the leader."""
        return sorted(self.alive, key=self._mean_behind)

    def settled(self) -> bool:
        """Whether nobody who is left can be better than the leader by more than the tolerance."""
        return self._level() and self.runs >= self.first and self._most_better(self.alive, self._tail) <= self.tolerance

    def doubt(self) -> float:
        """The share of the leader's regret by which anybody who entered might be better, at the level of the race.

        Whoever left by a bound is not the best; the others are compared with the leader once more.
        """
        return max(self._most_better(self.alive, self._tail), self._most_better(list(self.halved), self._last_tail))

    def unproved(self) -> list[Candidate]:
        """Those who entered and are not proved worse than the leader."""
        others = [each for each in self.alive if each != self.leader]
        return others + [each for each in self.halved if lower_bound(self.behind(each), self._last_tail) <= 0]

    @property
    def _last_tail(self) -> float:
        return self.level / 2 / len(self.finals)

    def _most_better(self, candidates: Sequence[Candidate], tail: float) -> float:
        mean = float(self.finals[self.leader].mean()) if self.runs else math.nan
        others = [each for each in candidates if each != self.leader]
        most = max((-lower_bound(self.behind(each), tail) for each in others), default=0.0)
        if most <= 0:
            return 0.0
        return most / mean if mean > 0 else math.inf

    @property
    def _tail(self) -> float:
        looks = max(self.looks, 1)
        return self.level / 2 / (looks * (looks + 1) * max(len(self.finals), 1))

    def _level(self) -> bool:
        """Whether all who are left have played equally often."""
        return len({len(self.finals[each]) for each in self.alive}) == 1

    def _played_out(self) -> bool:
        return self._level() and self.runs >= MOST

    def _mean_behind(self, candidate: Candidate) -> float:
        behind = self.behind(candidate)
        return float(behind.mean()) if len(behind) else math.inf

    def _next_block(self, floor: float, keep: int) -> tuple[list[Candidate], int, bool]:
        """Who plays next, up to which number of runs (0 if nobody can), and whether the budget limits it.

        Those with the fewest runs double them first: who joins late catches up, or leaves before that.
        """
        fewest = min(len(self.finals[each]) for each in self.alive)
        movers = [each for each in self.alive if len(self.finals[each]) == fewest]
        wanted = max(self.first, 2 * fewest)
        target = min(wanted, MOST if self._level() else self.runs) if fewest else min(wanted, self.runs or wanted)
        halvings = max(1, math.ceil(math.log2(len(self.alive) / keep)))
        blocks = halvings if self.runs else min(halvings, 2)  # the first look at everybody is worth more
        price = sum(self.purse.price(self.stage.seconds(each)) for each in movers)
        affordable = fewest + math.floor(max(0.0, self.purse.left - floor) / blocks / price) if price else target
        if affordable >= target:
            return movers, target, False
        if fewest == 0 and self.runs == 0:
            affordable = max(affordable, 2)  # a race needs a first look; the caller enters no more than it can pay
        return movers, affordable if affordable > fewest else 0, True

    def _advance(self, movers: list[Candidate], target: int) -> None:
        done = len(self.finals[movers[0]])
        played = self.stage.play(movers, done, target - done)
        self.purse.played += len(movers) * (target - done)
        for candidate, finals in zip(movers, played, strict=True):
            self.finals[candidate] = np.concatenate([self.finals[candidate], finals])

    def _drop_worse(self) -> None:
        leader, tail = self.leader, self._tail
        self.alive = [each for each in self.alive if each == leader or not self._is_worse(each, tail)]

    def _is_worse(self, candidate: Candidate, tail: float) -> bool:
        behind = self.behind(candidate)
        return len(behind) >= FEWEST and lower_bound(behind, tail) > 0

    def _halve(self, keep: int) -> None:
        ranked = self.ranked()
        left = max(keep, math.ceil(len(ranked) / 2))
        self.alive = ranked[:left]
        self.halved |= set(ranked[left:])
        for untried in [each for each in ranked[left:] if not len(self.finals[each])]:
            self.halved.remove(untried)
            del self.finals[untried]


def _value(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) and not 0.99 < value < 1 else str(value)
