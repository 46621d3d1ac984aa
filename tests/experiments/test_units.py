"""Units are the same if their description and the version of the code are, whatever their labels."""

import os

import pytest
from asked_units import asked_one_by_one

from ns_mab_gym.agents.core import memory_limits
from ns_mab_gym.agents.core.memory_limits import DoesNotFitError
from ns_mab_gym.experiments import AgentEntry, Experiment, Study, WorldEntry, paper_study
from ns_mab_gym.experiments.units import Unit, blocks_of, units_of


def unit_of(world="NSBandit-Abrupt-v0", agent="ts", runs=10, seed=0, rounds=(), **labels):
    entry = WorldEntry.of(world, **labels)
    experiment = Experiment(worlds=(entry,), agents=(AgentEntry.of(agent),), runs=runs, seed=seed, rounds=rounds)
    return blocks_of(experiment, entry, experiment.agents[0])[0]


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
    ]
    assert len({base, unit_of().identity("v2"), *(unit.identity("v1") for unit in others)}) == 9


def test_more_runs_keep_the_whole_blocks_of_fewer():
    few, many = (units_of(Study("", (experiment_of(runs),))) for runs in (50, 60))
    assert many[:2] == few
    assert [(unit.first_run, unit.runs) for unit in many] == [(0, 25), (25, 25), (50, 10)]


def experiment_of(runs):
    return Experiment(worlds=(WorldEntry.of("a"),), agents=(AgentEntry.of("ts"),), runs=runs)


def test_a_file_of_means_counts_by_its_content(tmp_path):
    file = tmp_path / "means.csv"
    file.write_text("0.1,0.9\n")
    before = unit_of(str(file)).identity("v")
    file.write_text("0.2,0.9\n")
    assert unit_of(str(file)).identity("v") != before


def test_file_names_are_safe_and_differ():
    unit = unit_of("../../etc/passwd means.csv".replace(".csv", "x"))
    assert "/" not in unit.file_name("v")
    assert unit_of(agent="a" * 300).file_name("v") != unit_of(agent="a" * 300 + "b").file_name("v")
    assert len(unit_of("店" * 100, "店" * 100).file_name("v").encode()) < 255  # bytes, which file systems count


def test_the_paper_is_198_units_of_which_none_is_asked_twice():
    study = paper_study.study()
    asked = asked_one_by_one(study)
    # 4 worlds × 16 agents, and 5 + 5 + 5 + 4 other readings of the tuning of four of them, and of γ for 4 more windows
    assert len(units_of(study)) == len(set(asked)) == 2 * (4 * 16 + 19 + 4 * 4)
    assert (
        len(asked) == (4 * (8 + 11) + 19 + 4 * 5) * 2
    )  # α = 0.5 of both samplers and α = 1 are in the comparison already
    assert sum(unit.runs for unit in units_of(study)) * 50_000 == 247_500_000


def test_parameters_are_part_of_the_identity_and_not_only_of_the_readable_name():
    entries = [("abrupt", (), "sw-ucb", (("window", 100),)), ("abrupt", (), "sw-ucb", (("window", 200),))]
    entries += [("abrupt", (("horizon", 50),), "sw-ucb", (("window", 100),))]
    units = [
        Unit(world=WorldEntry(world, a), agent=AgentEntry(agent, b), seed=0, first_run=0, runs=25)
        for world, a, agent, b in entries
    ]
    assert len({unit.identity("v1") for unit in units}) == 3


def test_the_content_of_a_saved_model_is_part_of_the_identity(tmp_path):
    model = tmp_path / "model.zip"
    agent = AgentEntry("sb3", (("path", str(model)),))
    unit = Unit(world=WorldEntry("abrupt"), agent=agent, seed=0, first_run=0, runs=25)
    identities = set()
    for time, content in enumerate((b"one", b"two")):
        model.write_bytes(content)
        os.utime(model, (time, time))
        identities.add(unit.identity("v1"))
    assert len(identities) == 2


@pytest.mark.parametrize("made", [units_of, lambda study: blocks_of(study.experiments[0], *pair_of(study))])
def test_units_whose_results_do_not_fit_are_not_made(monkeypatch, made):
    """Nobody may have looked at the study before: a run takes 8 bytes for each of 500 points, and some more."""
    monkeypatch.setattr(memory_limits, "available_memory", lambda: 100e6)
    worlds, agents = (WorldEntry.of("abrupt"),), (AgentEntry.of("ts"),)
    fits, does_not = (Study("", (Experiment(worlds=worlds, agents=agents, runs=runs),)) for runs in (20_000, 25_000))
    assert sum(unit.runs for unit in made(fits)) == 20_000
    with pytest.raises(DoesNotFitError, match=r"^25,000 runs of each agent on each world would take 110 MB"):
        made(does_not)


def pair_of(study):
    (experiment,) = study.experiments
    return experiment.worlds[0], experiment.agents[0]
