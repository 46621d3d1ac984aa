"""Whether a file that cannot be believed is set aside, and its units are computed again."""

from __future__ import annotations

from collections.abc import Sequence

from single_version import v1

from ns_mab_gym.experiments import Store
from ns_mab_gym.experiments.units import Unit


def assert_set_aside(store: Store, units: Sequence[Unit], unit: Unit, told: list[str]) -> None:
    """Some unit is found not to be there, with all that are in its file; and nobody looks into the file again."""
    assert None in [store.load(each) for each in units]
    assert store.load(unit) is None
    assert len(told) == 1
    assert "set aside, to be computed again" in told[0]
    assert len(told[0]) < 500
    assert store.missing(units) == units
    assert list(store.units.iterdir()) == []
    assert len(list(store.aside.iterdir())) == 1
    store.close()
    with Store(store.folder, v1, told.append) as again:
        again.tidy(units)
        assert again.missing(units) == units
    assert len(told) == 1
