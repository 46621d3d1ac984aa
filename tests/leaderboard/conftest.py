"""The stand-in for the engine, as a fixture."""

import pytest
from fake_engine import FakeEngine


@pytest.fixture
def engine():
    return FakeEngine()
