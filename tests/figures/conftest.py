"""Stand-ins for results: runs and a study made of plain numbers, without playing."""

from collections.abc import Callable

import numpy as np
import pytest

from ns_mab_gym.experiments import AgentEntry, Experiment, Study, WorldEntry
from ns_mab_gym.experiments.results import Results
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


@pytest.fixture
def results() -> Results:
    """Three agents on two worlds, and two families of two on the first of them."""
    abrupt = WorldEntry.of("NSBandit-Abrupt-v0", label="abrupt", horizon=1_000)
    smooth = WorldEntry.of("NSBandit-Smooth-v0", horizon=1_000)
    plain = tuple(AgentEntry.of(name) for name in ("ts", "ucb", "oracle"))
    grouped = tuple(
        AgentEntry.of(name, label=f"{name} {window}", group=name, window=window)
        for name in ("beta-swts", "gamma-swgts")
        for window in (10, 100)
    )
    agents = {agent.label: agent for agent in (*plain, *grouped)}
    runs = {label: _runs(10.0 * place, window=agents[label].kwargs.get("window")) for place, label in enumerate(agents)}
    experiments = (
        Experiment(worlds=(abrupt, smooth), agents=plain, runs=4),
        Experiment(worlds=(abrupt,), agents=grouped, runs=4),
    )
    worlds = (abrupt.label, smooth.label)
    return Results(Study("test", experiments), dict.fromkeys(worlds, runs), dict.fromkeys(worlds, agents))
