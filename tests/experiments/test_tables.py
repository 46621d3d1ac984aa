"""The tables of a study: written world by world, whole or not at all, with every run once."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ns_mab_gym.agents.core import memory_limits
from ns_mab_gym.experiments import AgentEntry, Experiment, Study, WorldEntry, collect, preflight, tables
from ns_mab_gym.experiments.preflight import Instances, check_size
from ns_mab_gym.experiments.run_totals import Totals
from ns_mab_gym.experiments.tables import write_tables
from ns_mab_gym.experiments.unit_blocks import is_block_of, runs_in_words
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import blocks_of, units_of

MEANS = {"abrupt": None, "NSBandit-Smooth-v0:horizon=1000": None, "again": None}


@pytest.fixture
def twice(study):
    """A study in which some entries are the same but for their labels, and some runs are part of others."""
    [experiment] = study.experiments
    again = WorldEntry.of("NSBandit-Abrupt-v0", label="again", horizon=1_000)
    labelled = replace(experiment, agents=(AgentEntry.of("ts", label="another name"),), reference="")
    return Study("twice", (experiment, labelled, replace(experiment, worlds=(again,)), replace(labelled, runs=70)))


def test_the_table_has_a_row_for_each_pair_run_and_round_once(tmp_path, twice, engine, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 700)  # 35 runs of 20 rounds
    write_tables(collect(twice, lambda unit: compute(unit, engine, None)), tmp_path, MEANS, ())
    table = pd.read_parquet(tmp_path / "table.parquet")
    expected = pd.concat(
        pd.DataFrame(
            {
                "world": world.words,
                "agent": agent.words,
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
    write_tables(results, tmp_path, MEANS, ())
    before = (tmp_path / "table.parquet").read_bytes()

    def gone(unit):
        if unit.world.name == "NSBandit-Smooth-v0":
            raise OSError("gone")
        return compute(unit, engine, None)

    with pytest.raises(OSError, match="gone"):
        write_tables(collect(study, gone), tmp_path, MEANS, ())
    assert (tmp_path / "table.parquet").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"table.parquet", "summary.csv"}


def test_rows_follow_the_experiments_and_then_their_worlds(tmp_path, twice, engine):
    first, second, *_ = twice.experiments
    study = Study("s", (first, replace(second, worlds=second.worlds[::-1])))
    write_tables(collect(study, lambda unit: compute(unit, engine, None)), tmp_path, MEANS, ())
    rows = pd.read_csv(tmp_path / "summary.csv")
    abrupt, smooth = (world.label for world in first.worlds)
    assert rows.world.tolist() == [abrupt] * 3 + [smooth] * 3 + [smooth, abrupt]


def test_every_unit_counts_once(study, engine):
    """Three blocks of 25, 25 and 10 runs of three agents on two worlds, and one of 20 that 70 runs end with.

    Each takes 0.25 s; the joined record of 70 runs has 0.75 s, of which the last 20 runs have their share.
    """
    [experiment] = study.experiments
    again = replace(experiment, agents=(AgentEntry.of("ts", label="another name"),), reference="")
    longer = replace(
        again, agents=(AgentEntry.of("ts", label="longer"),), worlds=again.worlds[:1], runs=70, reference=""
    )
    twice = Study("twice", (experiment, again, longer))
    results, totals = collect(twice, lambda unit: compute(unit, engine, None)), Totals()
    for world in twice.worlds:
        totals.add(results, world)
    assert len(units_of(twice)) == 19
    assert totals.steps == (3 * 2 * 60 + 20) * 1_000
    assert totals.seconds == pytest.approx(18 * 0.25 + 0.75 * 20 / 70)
    assert totals.horizons == [1_000]
    assert not totals.alarms


def test_what_must_fit_are_the_runs_on_one_world(monkeypatch):
    """100 worlds, 10 agents, 100 runs of 500 rounds: 5 MB on each world, 500 MB in all."""
    monkeypatch.setattr(memory_limits, "SMALL", 0)
    monkeypatch.setattr(memory_limits, "available_memory", lambda: 6e6)
    worlds = tuple(WorldEntry.of("abrupt", label=f"w{number}") for number in range(100))
    agents = tuple(AgentEntry.of("ts", label=f"a{number}", window=number + 1) for number in range(10))
    experiment = Experiment(worlds=worlds, agents=agents, runs=100)
    check_size(Study("s", (experiment,)))
    for more in (Study("s", (replace(experiment, runs=130),)), Study("s", (experiment, replace(experiment, seed=1)))):
        with pytest.raises(ValueError, match=r"runs of every agent on a world would take .*; ask for fewer runs"):
            check_size(more)
    with pytest.raises(ValueError, match="2,000 runs of every agent on a world"):
        check_size(Study("s", (experiment,)), further_runs=2_000)


def test_means_are_made_when_they_are_asked_for_and_few_are_kept(monkeypatch):
    made = []
    original = preflight.env_of
    monkeypatch.setattr(preflight, "env_of", lambda world: made.append(world.label) or original(world))
    worlds = tuple(WorldEntry.of("abrupt", label=f"w{number}", horizon=100 + number) for number in range(10))
    means = Instances(Study("s", (Experiment(worlds=worlds, agents=(AgentEntry.of("ts"),)),)))
    assert (list(means), made) == ([f"w{number}" for number in range(10)], [])
    for label in means:
        assert means[label] is means[label]
        assert len(means[label]) == 100 + int(label[1:])
    assert made == list(means)
    assert len(means["w0"]) == 100
    assert made == [*means, "w0"]


def test_blocks_are_told_from_those_of_other_numbers_of_runs():
    world, agent = WorldEntry.of("abrupt"), AgentEntry.of("ts")
    numbers = (1, 24, 25, 26, 30, 49, 50, 51, 75, 100)
    blocks = {
        runs: blocks_of(Experiment(worlds=(world,), agents=(agent,), runs=runs), world, agent) for runs in numbers
    }
    for runs, several in blocks.items():
        for others in blocks.values():
            assert [unit for unit in others if is_block_of(unit, runs)] == [unit for unit in others if unit in several]
    first, second, third, fourth = blocks[100]
    assert runs_in_words([fourth, first, second]) == "0-49, 75-99"
    assert runs_in_words([third]) == "50-74"
