"""No number is stale: every way in which the code of an own agent or world changes is noticed, or told as a limit.

Each way is tried by a script in processes of its own: it is played, changed, and played again from the same store.
"""

import os
from pathlib import Path

import pytest

import ns_mab_gym
from ns_mab_gym import sources

from .conftest import own_agent

pytestmark = pytest.mark.usefixtures("bytecode")

WORLD = """{head}
import numpy as np
from dataclasses import dataclass
from ns_mab_gym.worlds import World

@dataclass(frozen=True)
class Tide(World):
    name: str = "tide"
    horizon: int = 20
    n_arms: int = 2

    def _means(self, rng):
        {body}
"""
MINE = "mine:Mine"
FOUND = "noticed"  # the new number is computed
ALWAYS = "computed every time"  # and a line says why
LIMIT = "a limit"  # of which docs/experiments.md tells; --fresh computes the new number
# The head and the body of the agent, files (and environment variables, in capitals) that change, what becomes of it.
AGENTS = {
    "its own module": ("", "return {}", {}, FOUND),
    "a helper beside it": ("from helper import ARM", "return ARM", {"helper.py": "ARM = {}\n"}, FOUND),
    "a module of its package": (
        "from inner.helper import ARM", "return ARM", {"inner/__init__.py": "", "inner/helper.py": "ARM = {}\n"}, FOUND,
    ),
    "a function from another folder": (
        "import os, sys; sys.path.append(os.path.abspath('../far'))\nfrom other import arm", "return arm()",
        {"../far/other.py": "def arm():\n    return {}\n"}, FOUND,
    ),
    "importlib at the top": (
        "import importlib\nARM = importlib.import_module('helper').ARM", "return ARM",
        {"helper.py": "ARM = {}\n"}, FOUND,
    ),
    "a module that changes another one": (
        "import changes", "return 0",
        {"changes.py": "import builtins\ndef change(kind):\n    kind.act = lambda self, observation=None: {}\n"}, FOUND,
    ),
    "an import while it plays": ("", "from helper import ARM; return ARM", {"helper.py": "ARM = {}\n"}, ALWAYS),
    "importlib while it plays": (
        "import importlib", "return importlib.import_module('helper').ARM", {"helper.py": "ARM = {}\n"}, ALWAYS,
    ),
    "a number from another folder": (
        "import os, sys; sys.path.append(os.path.abspath('../further'))\nfrom other import ARM", "return ARM",
        {"../further/other.py": "ARM = {}\n"}, LIMIT,
    ),
    "a data file": ("ARM = int(open('arm.txt').read())", "return ARM", {"arm.txt": "{}"}, LIMIT),
    "an environment variable": ("import os\nARM = int(os.environ['ARM'])", "return ARM", {"ARM": "{}"}, LIMIT),
}  # fmt: skip
WORLDS = {
    "a data file": ("", "return np.loadtxt('means.csv', delimiter=',') * np.ones((20, 1))", {"means.csv": "0.{},0.5"}),
    "an environment variable": (
        "import os", "return np.array([float(os.environ['MEAN']), 0.5]) * np.ones((20, 1))", {"MEAN": "0.{}"},
    ),
    "a data file of a random one": (
        "", "return np.loadtxt('means.csv', delimiter=',') * rng.uniform(0.5, 1, (20, 2))", {"means.csv": "0.{},0.5"},
    ),
}  # fmt: skip


@pytest.fixture
def bytecode(monkeypatch):
    """Processes write what they compile beside the modules."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


def write(folder: Path, monkeypatch, files, number):
    """Write files, and set variables, with a number in them."""
    for name, text in files.items():
        if name.isupper():
            monkeypatch.setenv(name, text.format(number))
        else:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text.format(number))


@pytest.mark.slow
@pytest.mark.parametrize("way", AGENTS)
def test_a_change_of_what_an_own_agent_depends_on(way, play, tmp_path, monkeypatch):
    head, body, files, outcome = AGENTS[way]
    end = "changes.change(Mine)\n" if "import changes" in head else ""
    numbers = {}
    for arm in (0, 1):
        (tmp_path / "mine.py").write_text(own_agent(body.format(arm), head) + end)
        write(tmp_path, monkeypatch, files, arm)
        numbers[arm] = play(MINE)
        if outcome != LIMIT or arm == 0:
            assert numbers[arm]["computed"] == [MINE]
        again = play(MINE)
        assert again["computed"] == [MINE] * (outcome == ALWAYS)
        assert again["regret"] == numbers[arm]["regret"]
        assert any("was imported only while mine:Mine played" in line for line in again["told"]) == (outcome == ALWAYS)
    if outcome == LIMIT:
        assert numbers[0]["regret"] == numbers[1]["regret"]
        numbers[1] = play(MINE, fresh=True)
    assert numbers[0]["regret"] != numbers[1]["regret"]


@pytest.mark.slow
@pytest.mark.parametrize("way", WORLDS)
def test_a_change_of_what_an_own_world_depends_on_is_noticed(way, play, tmp_path, monkeypatch):
    head, body, files = WORLDS[way]
    text = WORLD.format(head=head, body=body)
    random = "\n    random = True\n" if "rng." in body else ""
    (tmp_path / "mine.py").write_text(text.replace('    name: str = "tide"\n', f'    name: str = "tide"\n{random}'))
    found = []
    for number in (1, 3):
        write(tmp_path, monkeypatch, files, number)
        found += [play("random", world="mine:Tide"), play("random", world="mine:Tide")]
    assert [each["computed"] for each in found] == [["random"], [], ["random"], []]
    assert found[0]["regret"] == found[1]["regret"] != found[2]["regret"]


@pytest.mark.slow
def test_a_pyc_of_an_older_text_with_the_same_time_and_size_is_refused(play, tmp_path):
    file = tmp_path / "mine.py"
    for arm in (0, 1):
        file.write_text(own_agent(f"return {arm}"))
        os.utime(file, ns=(10**18, 10**18))
        if arm == 0:
            first = play(MINE)
    said = play(MINE, fails=True)
    assert "Python plays an older text of" in said
    assert "and start again" in said
    for each in (tmp_path / "__pycache__").glob("mine.*.pyc"):
        each.unlink()
    assert play(MINE)["regret"] != first["regret"]


@pytest.mark.slow
def test_a_module_that_is_edited_while_it_plays_is_not_stored(play, tmp_path):
    edit = "open(__file__, 'a').write('# edited'); return 0"
    (tmp_path / "mine.py").write_text(own_agent(edit))
    assert "was edited while the run was going on" in play(MINE, fails=True)
    (tmp_path / "mine.py").write_text(own_agent())
    assert play(MINE)["computed"] == [MINE]


@pytest.mark.slow
def test_a_name_that_an_installed_package_gives_to_another_class_is_noticed(play, tmp_path):
    (tmp_path / "mine.py").write_text(own_agent() + own_agent("return 1", name="Other"))
    package = tmp_path / "mine-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    found = []
    for kind in ("Mine", "Other"):
        (package / "entry_points.txt").write_text(f"[ns_mab_gym.agents]\nmine = mine:{kind}\n")
        found.append(play("mine"))
    assert [each["computed"] for each in found] == [["mine"], ["mine"]]
    assert found[0]["regret"] != found[1]["regret"]


@pytest.mark.parametrize("package", ["numpy", "numba"])
def test_another_version_of_numpy_or_numba_is_another_code(package, monkeypatch):
    before, installed = sources.code_digest(), sources.versions()
    monkeypatch.setattr(sources, "versions", lambda: installed | {package: "99.0"})
    assert sources.code_digest() != before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["threads", "processes"])
@pytest.mark.parametrize(
    "body",
    ["TIDE[0, 0] += 0.01; return TIDE.copy()", "return np.random.default_rng().random((20, 2))"],
    ids=["changes its array", "draws without random"],
)
def test_a_world_whose_means_are_not_the_same_each_time_is_refused(body, kind, play, tmp_path):
    text = WORLD.format(head="", body=body)
    (tmp_path / "mine.py").write_text(text.replace("@dataclass", "TIDE = np.full((20, 2), 0.5)\n\n@dataclass"))
    said = play("random", world="mine:Tide", kind=kind, fails=True)
    assert "are not the same each time they are made from one seed" in said


@pytest.mark.slow
def test_an_own_world_and_agent_give_the_same_numbers_with_every_executor(play, tmp_path):
    (tmp_path / "mine.py").write_text(own_agent())
    (tmp_path / "tides.py").write_text(WORLD.format(head="", body="return np.random.default_rng(1).random((20, 2))"))
    found = [play(MINE, world="tides:Tide", kind=kind, fresh=True) for kind in ("threads", "processes")]
    assert found[0] == found[1]


def test_the_page_tells_every_limit():
    page = (Path(ns_mab_gym.__file__).parent.parent / "docs" / "experiments.md").read_text()
    section = page.partition("## When results are computed again")[2].partition("\n## ")[0]
    limits = ("file that your agent reads", "environment variable", "number imported from another folder")
    for words in (*limits, "an installed package", "`--fresh`"):
        assert words in section
