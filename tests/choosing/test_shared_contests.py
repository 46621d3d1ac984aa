"""A comparison that processes or a cluster play is the comparison that this process plays."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from own_players import Broken, InTurn

import ns_mab_gym as nsb
from ns_mab_gym.workforce import UnfitWorkerError, WorkforceError, fitness

WORLDS = ["piecewise:horizon=300,n_arms=4", np.tile([[0.2, 0.8], [0.7, 0.1]], (100, 1))]
AGENTS = ["beta-swts", "glr-ts:blind=true", InTurn, ("sw-ucb", {"window": 50})]
pytestmark = pytest.mark.filterwarnings("ignore:.*no compiled form")


@pytest.fixture(scope="module")
def expected():
    return nsb.compare(WORLDS, AGENTS, runs=30, seed=3, progress=False)


def assert_same(found, expected):
    assert found.worlds == expected.worlds
    for world, runs in expected.runs.items():
        assert list(found.runs[world]) == list(runs)
        for agent, each in runs.items():
            other = found.runs[world][agent]
            assert np.array_equal(other.regret, each.regret), (world, agent)
            assert np.array_equal(other.pulls, each.pulls)
            assert (other.seeds, other.parameters) == (each.seeds, each.parameters)
            assert (other.alarms is None) == (each.alarms is None)
            assert all(map(np.array_equal, other.alarms or (), each.alarms or ()))


@pytest.mark.parametrize("executor", ["threads", "processes", "dask"])
def test_whoever_plays_the_runs_are_the_same(executor, expected):
    if executor == "dask":
        pytest.importorskip("distributed")
    told = []
    found = nsb.compare(
        WORLDS,
        AGENTS,
        runs=30,
        seed=3,
        executor=executor,
        n_jobs=2,
        progress=lambda done, total: told.append((done, total)),
    )
    assert_same(found, expected)
    assert told == [(done, 240) for done in range(1, 241)]


def test_an_executor_of_the_users(expected):
    with ThreadPoolExecutor(2) as pool:
        assert_same(nsb.compare(WORLDS, AGENTS, runs=30, seed=3, executor=pool, progress=False), expected)


@pytest.fixture
def registered():
    nsb.agents.register("in-turn-here", InTurn)
    yield
    nsb.agents.AGENTS.remove("in-turn-here")


@pytest.mark.usefixtures("registered")
def test_names_that_only_this_process_knows(expected):
    found = nsb.compare(WORLDS[0], "in-turn-here", runs=30, seed=3, executor="processes", n_jobs=2, progress=False)
    runs = expected.runs[expected.worlds[0]][expected.agents[2]]
    assert np.array_equal(found.runs[found.worlds[0]]["in-turn-here"].regret, runs.regret)


def test_the_rounds_that_are_asked_for():
    options = {"runs": 3, "rounds": [10, 20], "progress": False}
    found = nsb.compare(WORLDS[0], "ts", executor="threads", n_jobs=1, **options)
    assert found.runs[found.worlds[0]]["ts"].rounds.tolist() == [10, 20, 300]


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_an_agent_that_fails_is_named_with_its_traceback(executor):
    with pytest.raises(RuntimeError) as caught:
        nsb.compare(WORLDS[0], ["ts", Broken], runs=2, executor=executor, n_jobs=1, progress=False)
    said = str(caught.value)
    assert said.startswith("Broken on piecewise, runs 0 to 1 failed 3 times")
    assert "LookupError: no idea (own_players.py, line " in said
    assert "Traceback" in caught.value.__notes__[0]


def test_workers_with_other_versions_are_refused(monkeypatch):
    """What this process needs is another version than the workers have."""
    real = fitness.versions()
    monkeypatch.setattr(fitness, "versions", lambda: real | {"numpy": "0.1"})
    with pytest.raises(UnfitWorkerError, match=r"numpy .* instead of 0\.1"):
        nsb.compare(WORLDS[0], "ts", runs=2, executor="processes", n_jobs=1, progress=False)


def test_what_cannot_be_had_is_refused_before_anything_is_played():
    with pytest.raises(ValueError, match="unknown executor 'clouds'"):
        nsb.compare(WORLDS[0], "ts", runs=2, executor="clouds", progress=False)
    with pytest.raises((WorkforceError, ImportError)):
        nsb.compare(WORLDS[0], "ts", runs=2, scheduler="nonsense://", progress=False)
