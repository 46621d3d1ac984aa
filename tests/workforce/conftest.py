"""A cluster for the tests of workers."""

import pytest
from clusters import Cluster


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed")
    found = Cluster(tmp_path)
    yield found
    found.close()
