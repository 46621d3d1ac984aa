"""What several test modules share: a small example of every world in the table."""

from collections.abc import Callable

import pytest
from hypothesis import settings

from ns_mab_gym import worlds
from ns_mab_gym.worlds import World

# Tests time nothing: a first example may have to wait for a compiler.
settings.register_profile("untimed", settings(), deadline=None)
settings.load_profile("untimed")

# Worlds that mean nothing without a parameter; every other world can be made from its name and a horizon.
NEEDED = {"table": {"rows": [[0.1, 0.9, 0.5], [0.8, 0.2, 0.5]] * 300, "horizon": 600}}


@pytest.fixture(scope="session")
def example_world() -> Callable[[str], World]:
    """A function from a world's name to a small world of that kind."""
    return lambda name: worlds.make(name, **NEEDED.get(name, {"horizon": 600}))
