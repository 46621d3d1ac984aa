"""Stand-ins for results: runs made of plain numbers, without playing."""

from collections.abc import Callable

import numpy as np
import pytest

from ns_mab_gym.runs import Runs


def _runs(final: float, *, count: int = 4, horizon: int = 1_000, window: int | None = None) -> Runs:
    """Runs whose regret rises to about ``final``, with some scatter from run to run."""
    rounds = np.unique(np.linspace(1, horizon, min(horizon, 500)).astype(np.int64))
    scatter = np.random.default_rng(count).uniform(0.8, 1.2, (count, 1))
    return Runs(
        rounds=rounds,
        regret=final * scatter * np.sqrt(rounds / horizon),
        pulls=np.full((count, 2), horizon),
        suboptimal_pulls=np.zeros((count, 2), dtype=np.int64),
        seeds=[(run, run) for run in range(count)],
        parameters=[{} if window is None else {"window": window}] * count,
        seconds=0.0,
    )


@pytest.fixture(scope="session")
def make_runs() -> Callable[..., Runs]:
    """A function that makes runs whose regret rises to about a given value."""
    return _runs
