"""What several test modules share: small worlds, a stand-in for the engine, a small paper, and hostile guests."""

import fcntl
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine
from hypothesis import settings
from small_paper import play_paper

from ns_mab_gym import worlds
from ns_mab_gym.agents.core.registry import AGENTS
from ns_mab_gym.parallel import Pool, executor
from ns_mab_gym.rewards import LAWS
from ns_mab_gym.studies import pictures
from ns_mab_gym.worlds import World
from ns_mab_gym.worlds.world import WORLDS

# These check by themselves; their failures are to say as much as those of a test.
pytest.register_assert_rewrite("index_rules", "stored_runs")

# Tests time nothing: a first example may have to wait for a compiler.
settings.register_profile("untimed", settings(), deadline=None, max_examples=60)
settings.load_profile("untimed")
os.environ["COLUMNS"] = "80"  # help is wrapped at the width of the terminal, of which CI has none
TABLES = (AGENTS, WORLDS, LAWS)
SCRIPTS = Path(__file__).parent.parent / "scripts"
GUESTS, MANY_GUESTS = 50, 2_500  # how many hostile inputs a door is tried with, in the suite and by hand


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz-long", action="store_true", help=f"try every door with {MANY_GUESTS:,} hostile inputs")


@pytest.fixture(autouse=True)
def names_left() -> Iterator[None]:
    """Fails a test that leaves a name of its own in a table: tests that iterate the tables would meet it later."""
    before = [list(table._targets) for table in TABLES]
    yield
    left = [(table, name) for table, old in zip(TABLES, before, strict=True) for name in set(table._targets) - set(old)]
    for table, name in left:
        table.remove(name)
    assert not left, f"remove what was registered: {', '.join(name for _, name in left)}"


@pytest.fixture(scope="session")
def dask_pool() -> Iterator[Pool]:
    """The two workers of a Dask cluster on this machine, which all tests share; a worker that is killed comes back."""
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    with executor("dask", 2) as pool:
        yield pool


@pytest.fixture
def engine() -> FakeEngine:
    """The stand-in for the engine."""
    return FakeEngine()


@pytest.fixture(scope="session")
def paper_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the paper's study at a small size, which all tests share: they read it, and change nothing.

    Of several workers of xdist, whose folders lie in one, the first plays it, and the others wait.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "paper"
    with open(shared / "paper.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "report.html").exists():
            play_paper(folder)
    return folder


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports and leaderboards without the figures, most of the time that they take."""
    monkeypatch.setattr(pictures, "draw", lambda *_: pictures.Drawn())
    monkeypatch.setattr("ns_mab_gym.leaderboard.page.draw_board", lambda *_: {})


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """A function that imports a module of ``scripts/``; what came from there is forgotten after the test."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module
    for name, module in list(sys.modules.items()):
        if str(vars(module).get("__file__")).startswith(str(SCRIPTS)):
            del sys.modules[name]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C has its usual effect, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def guests(request: pytest.FixtureRequest) -> list[np.random.Generator]:
    """A generator for each hostile input that a door is to be tried with; few, or with ``--fuzz-long`` many.

    They are new for every test, so that no test depends on which others ran before it.
    """
    number = MANY_GUESTS if request.config.getoption("--fuzz-long") else GUESTS
    return [np.random.default_rng((20_261_117, guest)) for guest in range(number)]


# Worlds that mean nothing without a parameter; every other world can be made from its name and a horizon.
NEEDED = {"table": {"rows": [[0.1, 0.9, 0.5], [0.8, 0.2, 0.5]] * 300, "horizon": 600}}


@pytest.fixture(scope="session")
def example_world() -> Callable[[str], World]:
    """A function from a world's name to a small world of that kind."""
    return lambda name: worlds.make(name, **NEEDED.get(name, {"horizon": 600}))
