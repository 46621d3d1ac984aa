"""Plays many runs of a model at once: one pass through its network for each round of all of them.

Each run is the one that the model plays alone. Two things could tell them apart:

- A product of matrices adds up in another order than one of a matrix and a vector, so that scores differ in their last
  bits. Where the two best arms of a run are that close, its network is asked again, for this run alone.
- A policy that draws its arm takes from a stream of the run's own exactly the numbers that it takes when it plays
  alone: torch draws from K probabilities by dividing them by K exponential variables, and taking the largest.

The memory of a recurrent policy goes on from what it was in the batch. Torch's recurrent layers give every row of a
batch the bits that it has alone, at least on the machines tried; elsewhere it may differ in the last bits, and a run
would then have to come to a close call for it to matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..play.batched_runs import Round
from .arm_scores import Scores, States
from .batched_envs import Batch

__all__ = ["draws_are_known", "play_rounds"]

CLOSE = 1e-4  # scores that differ by less, in units of the largest, are computed again; float32 has errors of 1e-7


class Streams:
    """The random numbers of N policies that draw their arms.

    Args:
        seeds: their seeds.
        n_arms: K.
    """

    def __init__(self, seeds: list[int], n_arms: int) -> None:
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._drawn = torch.empty(len(seeds), n_arms)
        self._rows = list(self._drawn)

    def exponentials(self) -> torch.Tensor:
        """(N, K) exponential variables, each row from its own stream; overwritten by the next."""
        for row, generator in zip(self._rows, self._generators, strict=True):
            row.exponential_(1.0, generator=generator)
        return self._drawn


@cache
def draws_are_known() -> bool:
    """Whether this version of torch draws from probabilities as described above."""
    probabilities = torch.softmax(torch.arange(7.0) / 3, dim=0)
    alone, streams = torch.Generator().manual_seed(0), Streams([0], 7)
    return all(
        int(torch.multinomial(probabilities, 1, True, generator=alone))
        == int((probabilities / streams.exponentials()[0]).argmax())
        for _ in range(50)
    )


def play_rounds(
    model: Any, scores: Scores, batch: Batch, seeds: list[tuple[int, int]], deterministic: bool
) -> Iterator[Round]:
    """The rounds of runs with these pairs of seeds.

    Args:
        model: the model.
        scores: what it thinks of the arms.
        batch: the environments, one for each run.
        seeds: the pair of seeds of each run.
        deterministic: whether the arm with the highest score is played, or one is drawn.
    """
    policy = model.policy
    policy.set_training_mode(False)
    streams = None if deterministic else Streams([own for _, own in seeds], int(model.action_space.n))
    observations, states = batch.begin([env for env, _ in seeds]), None
    for t in range(batch.horizon):
        shown = policy.obs_to_tensor(observations)[0]
        arms, states = _chosen(scores, shown, states, t == 0, None if streams is None else streams.exponentials())
        seen = batch.play(arms)
        observations = seen.observations
        yield Round(arms, seen.rewards, seen.gaps)


@torch.no_grad()
def _chosen(
    scores: Scores, shown: torch.Tensor, states: States, begins: bool, noise: torch.Tensor | None
) -> tuple[npt.NDArray[np.int64], States]:
    """The arms of one round, and the next memories."""
    found, following = scores(shown, states, begins)
    ranked = found if noise is None else found / noise
    arms = ranked.argmax(dim=1)
    for run in _close_calls(ranked):
        only = slice(run, run + 1)
        memory = None if states is None else (states[0][:, only].contiguous(), states[1][:, only].contiguous())
        alone, _ = scores(shown[only], memory, begins)
        arms[run] = (alone if noise is None else alone / noise[only]).argmax(dim=1)[0]
    return arms.numpy(), following


def _close_calls(ranked: torch.Tensor) -> list[int]:
    """The runs whose two best scores are so close that their order may differ when computed alone."""
    if ranked.shape[1] < 2:
        return []
    best = ranked.topk(2, dim=1).values
    sure = best[:, 0] - best[:, 1] > CLOSE * ranked.abs().amax(dim=1)
    return torch.nonzero(~sure).ravel().tolist()
