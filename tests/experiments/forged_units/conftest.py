"""What the tests of forged files share: units in a store, in a file that is about to be tampered with."""

from dataclasses import replace

import numpy as np
import pytest
from single_version import v1

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.experiments import Store
from ns_mab_gym.experiments.parquet import to_parquet
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of


@pytest.fixture(params=["alone", "shared"])
def units(small_study, request):
    """The units in one file: one, or two of which the second is tampered with."""
    return units_of(small_study)[:1] if request.param == "alone" else units_of(small_study)


@pytest.fixture
def unit(units):
    return units[-1]


@pytest.fixture
def blocks(units, engine):
    log = np.array([(3, 0, False), (9, -1, True)], ALARM)
    return {unit: replace(compute(unit, engine, None), alarms=[log] * unit.runs) for unit in units}


@pytest.fixture
def block(unit, blocks):
    return blocks[unit]


@pytest.fixture
def store(tmp_path, told, units, blocks):
    with Store(tmp_path / "out", v1, told.append) as opened:
        opened.take(units, to_parquet([(unit, "v1", blocks[unit]) for unit in units]))
        yield opened
