"""The tables of a study: written world by world, whole or not at all, with every run once."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies import tables
from ns_mab_gym.studies.results import StudyTotals, collect
from ns_mab_gym.studies.runner import Instances, compute
from ns_mab_gym.studies.study import Experiment, Study, blocks_of, runs_in_words, units_of
from ns_mab_gym.studies.tables import write_tables

MEANS = {"abrupt": None, "NSBandit-Smooth-v0:horizon=1000": None, "again": None}


@pytest.fixture
def twice(study):
    """A study in which some entries are the same but for their labels, and some runs are part of others."""
    [experiment] = study.experiments
    again = WorldSpec.of("NSBandit-Abrupt-v0", label="again", horizon=1_000)
    labelled = replace(experiment, agents=(AgentSpec.of("ts", label="another name"),), reference="")
    return Study("twice", (experiment, labelled, replace(experiment, worlds=(again,)), replace(labelled, runs=70)))


def test_the_table_has_a_row_for_each_pair_run_and_round_once(tmp_path, twice, engine, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 700)  # 35 runs of 20 rounds
    write_tables(collect(twice, lambda unit: compute(unit, engine, None)), tmp_path, MEANS)
    table = pd.read_parquet(tmp_path / "table.parquet")
    expected = pd.concat(
        pd.DataFrame(
            {
                "world": world.label,
                "agent": agent.label,
                "world_words": world.text,
                "agent_words": agent.text,
                "run": np.repeat(np.arange(unit.first_run, unit.first_run + unit.runs, dtype=np.int32), 20),
                "round": np.tile(block.rounds, unit.runs),
                "regret": block.regret.ravel(),
            }
        )
        for world in twice.experiments[0].worlds
        for agent in twice.experiments[0].agents
        for unit in blocks_of(twice.experiments[0], world, agent)
        for block in [compute(unit, engine, None)]
    )
    keys = ["world", "agent", "run", "round"]
    pd.testing.assert_frame_equal(
        table.sort_values(keys).reset_index(drop=True), expected.sort_values(keys).reset_index(drop=True)
    )
    groups = pq.ParquetFile(tmp_path / "table.parquet").metadata
    assert groups.num_row_groups > 5
    assert max(groups.row_group(number).num_rows for number in range(groups.num_row_groups)) < 2 * 700


def test_a_table_that_cannot_be_finished_leaves_the_one_before(tmp_path, study, engine):
    results = collect(study, lambda unit: compute(unit, engine, None))
    write_tables(results, tmp_path, MEANS)
    before = (tmp_path / "table.parquet").read_bytes()

    def gone(unit):
        if unit.world.name == "NSBandit-Smooth-v0":
            raise OSError("gone")
        return compute(unit, engine, None)

    with pytest.raises(OSError, match="gone"):
        write_tables(collect(study, gone), tmp_path, MEANS)
    assert (tmp_path / "table.parquet").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"table.parquet", "summary.csv"}


def test_rows_follow_the_experiments_and_then_their_worlds(tmp_path, twice, engine):
    first, second, *_ = twice.experiments
    study = Study("s", (first, replace(second, worlds=second.worlds[::-1])))
    write_tables(collect(study, lambda unit: compute(unit, engine, None)), tmp_path, MEANS)
    rows = pd.read_csv(tmp_path / "summary.csv")
    abrupt, smooth = (world.label for world in first.worlds)
    assert rows.world.tolist() == [abrupt] * 3 + [smooth] * 3 + [smooth, abrupt]


def test_every_unit_counts_once(study, engine):
    """Three blocks of 25, 25 and 10 runs of three agents on two worlds, and one of 20 that 70 runs end with.

    Each takes 0.25 s; the joined record of 70 runs has 0.75 s, of which the last 20 runs have their share.
    """
    [experiment] = study.experiments
    again = replace(experiment, agents=(AgentSpec.of("ts", label="another name"),), reference="")
    longer = replace(
        again, agents=(AgentSpec.of("ts", label="longer"),), worlds=again.worlds[:1], runs=70, reference=""
    )
    twice = Study("twice", (experiment, again, longer))
    results, totals = collect(twice, lambda unit: compute(unit, engine, None)), StudyTotals()
    for world in twice.worlds:
        totals.add(results, world)
    assert len(units_of(twice)) == 19
    assert totals.steps == (3 * 2 * 60 + 20) * 1_000
    assert totals.seconds == pytest.approx(18 * 0.25 + 0.75 * 20 / 70)
    assert totals.horizons == [1_000]
    assert not totals.alarms


def test_means_are_made_when_they_are_asked_for_and_few_are_kept(monkeypatch):
    made = []
    original = WorldSpec.env
    monkeypatch.setattr(WorldSpec, "env", lambda world: made.append(world.label) or original(world))
    worlds = tuple(WorldSpec.of("abrupt", label=f"w{number}", horizon=100 + number) for number in range(10))
    means = Instances(Study("s", (Experiment(worlds=worlds, agents=(AgentSpec.of("ts"),)),)))
    assert (list(means), made) == ([f"w{number}" for number in range(10)], [])
    for label in means:
        assert means[label] is means[label]
        assert len(means[label]) == 100 + int(label[1:])
    assert made == list(means)
    assert len(means["w0"]) == 100
    assert made == [*means, "w0"]


def test_blocks_are_told_from_those_of_other_numbers_of_runs():
    world, agent = WorldSpec.of("abrupt"), AgentSpec.of("ts")
    numbers = (1, 24, 25, 26, 30, 49, 50, 51, 75, 100)
    blocks = {
        runs: blocks_of(Experiment(worlds=(world,), agents=(agent,), runs=runs), world, agent) for runs in numbers
    }
    for runs, several in blocks.items():
        for others in blocks.values():
            assert [unit for unit in others if unit.is_block_of(runs)] == [unit for unit in others if unit in several]
    first, second, third, fourth = blocks[100]
    assert runs_in_words([fourth, first, second]) == "0-49, 75-99"
    assert runs_in_words([third]) == "50-74"
