"""When the generic loop goes to other processes, and what becomes of what they send; none is started here."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.play import generic_runs, processes
from ns_mab_gym.play.match import Match
from ns_mab_gym.play.processes import Caught, Row, workers

pytestmark = pytest.mark.filterwarnings("ignore:.*playing through the generic Python loop")
WORLD = worlds.Abrupt(horizon=120)


def stand_in(played: Callable[[int, tuple[int, int]], Row]) -> Callable[..., Iterator[Row]]:
    """In the place of the processes: a function of a run's number and its seeds."""

    def rows(work: bytes, seeds: list[tuple[int, int]], number: int) -> Iterator[Row]:
        yield from (played(run, pair) for run, pair in enumerate(seeds))

    return rows


def played_here(seeds: tuple[int, int]) -> nsb.Runs:
    """The run with these seeds as another process would send it, played by ``run_episode`` with a new agent."""
    episode = nsb.run_episode(NSBanditEnv(WORLD), Fixed(), seeds)
    assert episode.regret is not None
    assert episode.suboptimal_pulls is not None
    rounds, rows = np.arange(1, 121), [each[None] for each in (episode.regret, episode.pulls, episode.suboptimal_pulls)]
    return nsb.Runs(rounds, *rows, [seeds], [{"seconds": 0.5}], 0.5)


class Fixed:
    """Plays an arm that depends on its seed."""

    def reset(self, seed: int | None = None) -> None:
        self.arm = (seed or 0) % 10

    def act(self, observation: Any = None) -> int:
        return self.arm

    def observe(self, arm: int, reward: float) -> None:
        """Learn nothing."""


class Holding(Fixed):
    """Holds something that cannot be pickled, but can be copied."""

    def __init__(self) -> None:
        self.steps = iter(lambda: 0, 1)
        self.numbers = (number for number in range(3))

    def __deepcopy__(self, memo: dict[int, Any]) -> Holding:
        return Holding()


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (Holding(), r"the agent or the environment cannot be pickled \(TypeError: .*: playing 4 runs in this process"),
        (
            Fixed(),
            r"need loky, pip install 'ns-mab-gym\[experiments\]': playing 4 runs in this process, one .*n_jobs=1",
        ),
    ],
    ids=["cannot be pickled", "no loky"],
)
def test_what_cannot_go_elsewhere_is_played_here_with_a_warning(agent, words, monkeypatch):
    monkeypatch.setattr(generic_runs, "rows", stand_in(lambda run, seeds: pytest.fail("a process was started")))
    if isinstance(agent, Fixed) and not isinstance(agent, Holding):
        monkeypatch.setattr(generic_runs, "find_spec", lambda name: None)
    expected = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=1)
    with pytest.warns(UserWarning, match=words) as told:
        played = nsb.simulate(WORLD, agent, runs=5, n_jobs=2)
    assert len([each for each in told if "generic Python loop" not in str(each.message)]) == 1
    np.testing.assert_array_equal(played.regret, expected.regret)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("failing", [0, 1, 3])
def test_a_run_that_fails_elsewhere_alone_is_played_here(failing, monkeypatch):
    """The first run is played again there, so that this is found before any other run counts."""
    sent = lambda run, seeds: Row(None, failure="OSError: no disk") if run == failing else Row(played_here(seeds))  # noqa: E731
    monkeypatch.setattr(generic_runs, "rows", stand_in(sent))
    expected = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=1)
    left = 4 - failing
    with pytest.warns(UserWarning, match=rf"failed .*\(OSError: no disk\).*: playing {left} runs in this process"):
        played = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)
    np.testing.assert_array_equal(played.regret, expected.regret)
    np.testing.assert_array_equal(played.pulls, expected.pulls)


@pytest.mark.usefixtures("eager")
def test_the_seconds_and_parameters_of_runs_played_elsewhere_are_those_sent(monkeypatch):
    monkeypatch.setattr(generic_runs, "rows", stand_in(lambda run, seeds: Row(played_here(seeds))))
    runs = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)
    assert 2.0 < runs.seconds < 3.0  # half a second each, and the first one, which was played here
    assert runs.parameters == [{}] + [{"seconds": 0.5}] * 4


@pytest.mark.usefixtures("eager")
def test_a_warning_of_another_process_obeys_the_filters_of_this_one(monkeypatch):
    caught = Caught("division by zero", RuntimeWarning, "theirs.py", 3)
    sent = lambda run, seeds: Row(played_here(seeds), (caught,) if run else ())  # noqa: E731
    monkeypatch.setattr(generic_runs, "rows", stand_in(sent))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)
    assert [(str(each.message), each.filename, each.lineno) for each in told[1:]] == [
        ("division by zero", "theirs.py", 3)
    ]
    with pytest.raises(RuntimeWarning, match="division by zero"):  # an error, as these tests say of all warnings
        nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)


@pytest.mark.parametrize(
    ("jobs", "runs", "seconds", "expected"),
    [
        (8, 50, 1.0, 4),  # four cores
        (2, 50, 1.0, 2),
        (8, 4, 10.0, 3),  # no more than runs that are left
        (1, 50, 1.0, 1),
        (8, 1, 1e6, 1),
        (8, 2, 1e6, 1),  # one run is left, which this process plays as fast
        (8, 50, 0.08, 1),  # 49 · 0.08 − 13 · 0.08 = 2.88 seconds
        (8, 50, 0.09, 4),  # 3.24 seconds
        (2, 3, 1e6, 1),  # two runs here, or with the first one again two in a row there
    ],
)
def test_processes_must_save_three_seconds(jobs, runs, seconds, expected, monkeypatch):
    monkeypatch.setattr(processes, "usable_cores", lambda: 4)
    assert workers(Match(NSBanditEnv(WORLD), Fixed(), {}), jobs, runs, seconds) == expected


def test_who_stays_in_this_process(monkeypatch):
    """Networks, windows and pictures, and whoever plays in a process that shares work with others already."""
    monkeypatch.setattr(processes, "usable_cores", lambda: 4)
    plain = Match(NSBanditEnv(WORLD), Fixed(), {})
    network = type("Network", (Fixed,), {"only_generic": True})
    assert workers(plain, 4, 50, 10.0) == 4
    assert workers(Match(NSBanditEnv(WORLD), network(), {}), 4, 50, 10.0) == 1
    assert workers(Match(NSBanditEnv(WORLD, render_mode="ansi"), Fixed(), {}), 4, 50, 10.0) == 1
    monkeypatch.setattr(processes, "_packed", b"")  # as in a process that plays runs
    assert workers(plain, 4, 50, 10.0) == 1
    monkeypatch.undo()
    monkeypatch.setattr(processes, "usable_cores", lambda: 4)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())  # as in a pool of the user
    assert workers(plain, 4, 50, 10.0) == 1


def test_short_work_starts_no_process(monkeypatch):
    monkeypatch.setattr(generic_runs, "rows", stand_in(lambda run, seeds: pytest.fail("a process was started")))
    assert len(nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)) == 5
