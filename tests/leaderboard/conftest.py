"""The stand-in for the engine, as a fixture."""

import pytest
from fake_engine import FakeEngine

from ns_mab_gym import parallel


@pytest.fixture
def engine():
    return FakeEngine()


@pytest.fixture
def one_by_one(monkeypatch):
    """Every unit is a task of its own, and so has a file of its own."""
    monkeypatch.setattr(parallel, "MOST_ITEMS", 1)
