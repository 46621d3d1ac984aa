"""Many runs at once, of agents that choose the arms of all of them together.

An agent takes part by having two methods, those of :class:`PlaysTogether`. What they play is what the generic loop
plays, run by run; only the time differs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ..runs import Runs
from .match import Match, without_arrays
from .recording import Recording, finished

__all__ = ["PlaysTogether", "Round", "play_batched_runs", "runs_at_once"]


class Round(NamedTuple):
    """One round of N runs.

    Attributes:
        arms: (N,) the arm that was played in each.
        rewards: (N,) its reward.
        gaps: (N,) μ* − μ_arm, what the arm adds to the regret.
    """

    arms: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]


class PlaysTogether(Protocol):
    """What an agent needs to play many runs at once."""

    def runs_at_once(self, env: gym.Env[Any, Any]) -> int:
        """How many runs on this environment the memory has room for; 0 if they can be played only one by one."""

    def play_at_once(self, env: gym.Env[Any, Any], seeds: list[tuple[int, int]]) -> Iterator[Round]:
        """The rounds of runs with these pairs of seeds, of the environment and of the agent, from the first to T."""


def runs_at_once(match: Match) -> int:
    """How many runs the agent can play at once; 0 if it cannot."""
    ask: Callable[[gym.Env[Any, Any]], int] | None = getattr(match.agent, "runs_at_once", None)
    return 0 if ask is None or match.to_be_made or match.bandit is None else ask(match.env)


def play_batched_runs(
    match: Match, seeds: list[tuple[int, int]], recording: Recording, at_once: int, tick: Callable[[int], None]
) -> Runs:
    """Play runs in batches.

    Args:
        match: the pairing, of an agent that plays together.
        seeds: the pair of seeds of each run.
        recording: what to keep of each run.
        at_once: how many runs a batch has at most.
        tick: called with the number of rounds whenever a run was played.
    """
    assert match.bandit is not None
    agent: PlaysTogether = match.agent
    world = match.bandit.world
    runs = recording.blank(world.horizon, world.n_arms, seeds)
    seconds = 0.0
    for first in range(0, len(seeds), at_once):
        batch = slice(first, first + at_once)
        began = time.perf_counter()
        _note_rounds(runs, batch, agent.play_at_once(match.env, seeds[batch]))
        seconds += time.perf_counter() - began
        for run in range(*batch.indices(len(seeds))):
            runs.parameters[run] = without_arrays(getattr(agent, "parameters", {}))
            tick(world.horizon)
    return finished(runs, seconds)


def _note_rounds(runs: Runs, batch: slice, rounds: Iterator[Round]) -> None:
    """Write the rounds of a batch into its rows of the record."""
    regret, pulls, suboptimal = runs.regret[batch], runs.pulls[batch], runs.suboptimal_pulls[batch]
    total, row, noted = np.zeros(len(pulls)), np.arange(len(pulls)), 0
    for t, played in enumerate(rounds):
        total += played.gaps
        pulls[row, played.arms] += 1
        suboptimal[row, played.arms] += played.gaps > 0
        if runs.rounds[noted] == t + 1:
            regret[:, noted] = total
            noted += 1
        if runs.arms is not None and runs.rewards is not None:
            runs.arms[batch, t], runs.rewards[batch, t] = played.arms, played.rewards
