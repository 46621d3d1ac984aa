"""Runs are read when they are asked for, once by whoever goes world by world, and few of them are held."""

import gc
import weakref
from collections import Counter

import numpy as np
import pytest

from ns_mab_gym.leaderboard import page as board
from ns_mab_gym.leaderboard.plan import chosen_worlds, plan_of, zoo_and
from ns_mab_gym.leaderboard.ranks import divisions_of
from ns_mab_gym.report import pipeline as pipelines
from ns_mab_gym.report.pipeline import Pipeline
from ns_mab_gym.runs import Runs
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies import runner
from ns_mab_gym.studies.results import KeptRuns, Labelled, MissingRunsError, collect
from ns_mab_gym.studies.runner import compute, load
from ns_mab_gym.studies.study import Experiment, Study, units_of


class Reader:
    """Makes runs of about 100 kB each; knows what was asked for, and how many of them somebody holds."""

    def __init__(self):
        self.asked, self.alive, self.most = Counter(), weakref.WeakSet(), 0

    def __call__(self, world, agent):
        self.asked[world, agent] += 1
        found = Runs(np.array([1]), np.zeros((100, 1)), *[np.zeros((100, 1), int)] * 2, [(0, 0)] * 100, [{}] * 100, 0.1)
        self.alive.add(found)
        self.most = max(self.most, len(self.alive))
        return found


LABELS = {f"world {number}": ["a", "b", "c"] for number in range(10)}


@pytest.mark.parametrize(("room", "held"), [(0, 3), (350_000, 6), (10**9, 30)])
def test_whoever_goes_world_by_world_reads_everything_once_and_holds_what_there_is_room_for(room, held):
    """Of 10 worlds with 3 times 100 kB: the world in hand, and one more in 350 kB."""
    reader = Reader()
    kept = KeptRuns(LABELS, reader, room)
    for world in kept:
        for _ in range(3):
            assert len([runs.final for runs in kept[world].values()]) == 3
    assert set(reader.asked.values()) == {1}
    assert len(reader.asked) == 30
    assert held <= reader.most <= held + 3  # the worlds that make room go while the next one is read


def test_the_world_that_was_asked_for_longest_ago_makes_room():
    reader = Reader()
    kept = KeptRuns(LABELS, reader, 350_000)
    for world in ("world 0", "world 1", "world 0", "world 2", "world 0"):
        list(kept[world].values())
    assert all(reader.asked["world 0", agent] == 1 for agent in "abc")
    list(kept["world 1"].values())
    assert all(reader.asked["world 1", agent] == 2 for agent in "abc")


def test_labels_are_known_without_reading():
    reader = Reader()
    kept = KeptRuns(LABELS, reader)
    assert list(kept) == list(LABELS)
    assert (len(kept), len(kept["world 1"]), list(kept["world 1"])) == (10, 3, ["a", "b", "c"])
    assert "a" in kept["world 1"]
    assert "d" not in kept["world 1"]
    gaps = Labelled(["a", "b", "d"], kept["world 1"].__getitem__)
    assert "d" in gaps
    assert reader.asked == {}
    assert len(gaps["a"]) == 100
    for missing in (lambda: kept["nowhere"], lambda: kept["world 1"]["d"], lambda: gaps["d"]):
        with pytest.raises(MissingRunsError):
            missing()


@pytest.fixture
def loaded(monkeypatch):
    """Counts the blocks that a pipeline or a leaderboard loads, and how many of them are held at once."""
    alive, most = weakref.WeakSet(), [0, 0]

    def noting(store, unit, simulate):
        block = load(store, unit, simulate)
        alive.add(block)
        most[:] = max(most[0], len(alive)), most[1] + 1
        return block

    monkeypatch.setattr(runner, "load", noting)
    return most


def test_a_pipeline_holds_the_runs_of_few_units(tmp_path, engine, loaded, monkeypatch):
    """12 worlds, 2 agents, 3 blocks each. Of joined runs, those of one world are held here, and some by a figure."""
    joined, most = weakref.WeakSet(), [0]
    read = pipelines.collect

    def noting(study, *arguments):
        found = read(study, *arguments)
        inner = found.curves._read

        def counted(world, agent):
            runs = inner(world, agent)
            joined.add(runs)
            most[0] = max(most[0], len(joined))
            return runs

        found.curves._read, found.curves._room = counted, 0
        return found

    monkeypatch.setattr(pipelines, "collect", noting)
    worlds = tuple(WorldSpec.of("NSBandit-Abrupt-v0", label=f"w{n}", horizon=1_000 + n) for n in range(12))
    agents = (AgentSpec.of("ts"), AgentSpec.of("random"))
    study = Study("many", (Experiment(worlds=worlds, agents=agents, runs=60),))
    Pipeline(study, folder=tmp_path / "out", simulate=engine, n_jobs=1).run()
    gc.collect()
    assert loaded[1] >= 2 * 72  # the tables and the figures at least
    assert loaded[0] <= 12  # blocks being joined, here and in the thread of the figures
    assert most[0] <= 12  # of 24
    assert not joined


def test_a_leaderboard_holds_final_regrets_alone(tmp_path, engine, loaded, undrawn):
    contestants = [each for each in zoo_and() if each.label in ("ts", "ucb1", "sw-ucb", "random", "oracle-restart")]
    plan = plan_of(chosen_worlds(["random phases", "random walks"], quick=True), contestants)
    board.Leaderboard(plan, folder=tmp_path / "out", simulate=engine, n_jobs=1).run()
    assert loaded[1] == len(units_of(plan.study()))  # one pass
    assert loaded[0] <= 4
    divisions, totals = divisions_of(plan, collect(plan.study(), lambda unit: compute(unit, engine, None)))
    assert {each.name for each in divisions} == {"informed", "blind"}
    assert all(final.base is None for each in divisions for final in (*each.finals.values(), *each.references.values()))
    assert totals.steps == sum(1_000 * unit.runs for unit in units_of(plan.study()))
