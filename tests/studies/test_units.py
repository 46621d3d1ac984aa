"""Units are the same if their description and the version of the code are, whatever their labels."""

import os
import pickle
import subprocess
import sys
import tracemalloc
from dataclasses import replace

import pytest
from stored_runs import v1

from ns_mab_gym.paper import study as paper
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.study import Experiment, Series, Study, Unit, blocks_of, identities, pinned, units_of


def unit_of(world="NSBandit-Abrupt-v0", agent="ts", runs=10, seed=0, rounds=(), **labels):
    entry = WorldSpec.of(world, **labels)
    experiment = Experiment(worlds=(entry,), agents=(AgentSpec.of(agent),), runs=runs, seed=seed, rounds=rounds)
    return blocks_of(experiment, entry, experiment.agents[0])[0]


def asked_one_by_one(study):
    """The units of every agent on every world of every experiment, in turn; some may be there several times."""
    return [
        unit
        for experiment in study.experiments
        for world in experiment.worlds
        for agent in experiment.agents
        for unit in blocks_of(experiment, world, agent)
    ]


def test_labels_are_no_part_of_a_unit():
    assert unit_of(label="one") == unit_of(label="another", note="said", group="family")


def test_everything_else_is():
    base = unit_of().identity("v1")
    others = [
        unit_of("NSBandit-Smooth-v0"),
        unit_of(agent="ser4"),
        unit_of(runs=11),
        unit_of(seed=1),
        unit_of(horizon=9),
        unit_of(rounds=(5,)),
        unit_of(rounds=(5, 6)),
        Unit(Series(WorldSpec("NSBandit-Abrupt-v0"), AgentSpec.of("ts", binarize=True), 0), 0, 10),
    ]
    assert len({base, unit_of().identity("v2"), *(unit.identity("v1") for unit in others)}) == 10


def test_more_runs_keep_the_whole_blocks_of_fewer():
    few, many = (units_of(Study("", (experiment_of(runs),))) for runs in (50, 60))
    assert many[:2] == few
    assert [(unit.first_run, unit.runs) for unit in many] == [(0, 25), (25, 25), (50, 10)]


def experiment_of(runs):
    return Experiment(worlds=(WorldSpec.of("a"),), agents=(AgentSpec.of("ts"),), runs=runs)


def test_the_paper_is_198_units_of_which_none_is_asked_twice():
    study = paper.study()
    asked = asked_one_by_one(study)
    # 4 worlds × 16 agents, and 5 + 5 + 5 + 4 other readings of the tuning of four of them, and of γ for 4 more windows
    assert len(units_of(study)) == len(set(asked)) == 2 * (4 * 16 + 19 + 4 * 4)
    # α = 0.5 of both samplers and α = 1 are in the comparison already
    assert len(asked) == (4 * (8 + 11) + 19 + 4 * 5) * 2
    assert sum(unit.runs for unit in units_of(study)) * 50_000 == 247_500_000


@pytest.mark.parametrize("kept", [False, True])
def test_every_file_that_is_named_counts_by_its_content(tmp_path, kept):
    means, level, model, prior = files = [tmp_path / name for name in ("m.csv", "level.txt", "model.zip", "prior.txt")]
    for file in files:
        file.write_text("0.5\n")
    world = WorldSpec.of(str(means), reward={"name": "own:Law", "source": str(level)})
    agent = AgentSpec.of("sb3", path=str(model), prior=str(prior))
    study = Study("", (Experiment(worlds=(world,), agents=(agent,), runs=60, rounds=(5,)),))
    units = units_of(pinned(study) if kept else study)
    found = {tuple(identities(units, v1))}
    for file in files:
        file.write_text("0.25\n")
        found.add(tuple(identities(units, v1)))
    assert len(found) == (1 if kept else 5)  # what was read is what counts


def test_a_file_that_comes_to_be_there_counts_from_then_on(tmp_path):
    level = tmp_path / "level.txt"
    unit = Unit(Series(WorldSpec.of("abrupt", source=str(level)), AgentSpec("ts"), 0), 0, 1)
    before = unit.identity("v")
    level.write_text("here now")
    assert unit.identity("v") != before


def test_keys_of_many_units_are_those_of_each(study):
    units = units_of(study)
    assert identities(units, lambda unit: unit.agent.name) == [unit.identity(unit.agent.name) for unit in units]
    assert len(set(identities(units, v1))) == len(units)


def experiments(*runs):
    worlds = tuple(WorldSpec.of("abrupt", label=f"{n}", horizon=100 + n % 2) for n in range(4))  # each of them twice
    return tuple(Experiment(worlds=worlds, agents=(AgentSpec("ts"), AgentSpec("ser4")), runs=each) for each in runs)


@pytest.mark.parametrize("runs", [(1,), (60,), (60, 60), (50, 60), (60, 50), (10, 25, 26, 24, 100)])
def test_every_unit_is_listed_once_in_the_order_in_which_it_is_first_asked_for(runs):
    study = Study("", experiments(*runs))
    assert units_of(study) == list(dict.fromkeys(asked_one_by_one(study)))


def test_units_of_one_seed_and_rounds_alone_are_the_same():
    base, *_ = experiments(25)
    others = [base, replace(base, seed=1), replace(base, rounds=(5,)), replace(base, rounds=(5, 6))]
    assert len(units_of(Study("", tuple(others)))) == len(others) * 2 * 2


def test_units_can_be_sent_to_processes_that_hash_otherwise():
    unit, *_ = units_of(Study("", experiments(60)))
    code = """import pickle, sys
one = pickle.load(sys.stdin.buffer)
same = type(one)(type(one.series)(one.world, one.agent, 0), 0, 25)
print({same: "found"}.get(one), one.identity("v"))"""
    env = os.environ | {"PYTHONHASHSEED": "1"}
    ran = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(unit), capture_output=True, env=env)
    assert ran.stdout.decode().split() == ["found", unit.identity("v")], ran.stderr.decode()


def test_a_million_units_fit_into_150_megabytes():
    study = Study("", experiments(100_000))
    tracemalloc.start()
    try:
        units = units_of(study)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size / len(units) < 150
