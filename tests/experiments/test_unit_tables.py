"""What is written of units: one tidy table for every reader, and details that tell what was asked."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from unit_forging import opened_up, place_of

from ns_mab_gym.experiments import AgentEntry, run
from ns_mab_gym.experiments.footers import DETAILS, INDEX
from ns_mab_gym.experiments.parquet import to_parquet
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import Unit


def test_the_details_tell_what_was_asked(store, keep, unit, block):
    keep(block)
    _, index, details = opened_up(store.path(unit))
    about = details["units"][place_of(index, unit, "v1")]
    assert about["asked"]["env"] == "NSBandit-Abrupt-v0"
    assert about["asked"]["first_run"] == 25
    assert (about["code"], about["seconds"]) == ("v1", 0.25)
    assert details["versions"]["numpy"] == np.__version__
    assert index["rows"][place_of(index, unit, "v1")] == block.regret.size


def test_every_reader_can_read_the_footer(store, keep, unit, block):
    """Which some of them take for text."""
    keep(block)
    metadata = pq.read_metadata(store.path(unit)).metadata
    assert metadata.keys() == {INDEX, DETAILS}
    assert all(value.isascii() for value in metadata.values())


def test_all_units_open_as_one_tidy_table(store, study, engine, progress):
    run(study, store, engine, progress)
    table = pd.read_parquet(store.units)
    assert list(table.columns) == ["world", "agent", "run", "round", "regret"]
    assert len(table) == 2 * 3 * 60 * 20
    assert sorted(table["agent"].unique()) == ["beta-swts:window=50", "ts", "ucb"]
    assert not table.duplicated(["world", "agent", "run", "round"]).any()


def test_the_table_has_the_types_that_it_always_had(store, keep, unit, block):
    keep(block)
    schema = pq.read_schema(store.path(unit))
    assert [str(kind) for kind in schema.types] == ["string", "string", "int32", "int64", "double"]


def test_long_words_are_written_once_and_not_for_every_row(store, unit, engine):
    rng = np.random.default_rng(0)
    agents = [AgentEntry.of("ts", text=rng.bytes(4_900).hex()) for _ in range(200)]
    long = [Unit(world=unit.world, agent=agent, seed=0, first_run=unit.first_run, runs=unit.runs) for agent in agents]
    results = [(each, "v1", compute(unit, engine, None)) for each in long]
    store.take(long, content := to_parquet(results))
    assert len(content) < 3 * 200 * 9_800  # in the column, and in the details
    assert all(store.load(each) is not None for each in (long[0], long[-1]))
