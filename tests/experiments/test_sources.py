"""What counts as the code behind a module: what it imports of its own, of this house and of the user's, and no more."""

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

import ns_mab_gym
from ns_mab_gym import sources

HOUSE = "ns_mab_gym"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that writes modules into a folder of the user's, and gives what is behind the first of them."""
    monkeypatch.syspath_prepend(tmp_path)

    def behind(files: dict[str, str]) -> set[str]:
        for name, source in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        importlib.invalidate_caches()
        first = next(iter(files)).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return {module for module in sources.modules_behind([first]) if not module.startswith(f"{HOUSE}.")}

    return behind


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # Relative imports, from a module and from the package itself, one level up and two.
        ({"a1/b/c.py": "from . import d", "a1/b/d.py": ""}, {"a1.b.c", "a1.b.d"}),
        ({"a2/b/c.py": "from .d import x", "a2/b/d.py": "x = 1"}, {"a2.b.c", "a2.b.d"}),
        ({"a3/b/c.py": "from ..d import x", "a3/d.py": "x = 1"}, {"a3.b.c", "a3.d"}),
        ({"a4/b/c.py": "from .. import d", "a4/d.py": "", "a4/__init__.py": ""}, {"a4.b.c", "a4.d"}),
        ({"a5/__init__.py": "from .d import x", "a5/d.py": "x = 1"}, {"a5", "a5.d"}),
        # import a.b binds a, so that a/__init__.py counts; import a.b as c does not.
        ({"b1.py": "import p1.q", "p1/__init__.py": "", "p1/q.py": ""}, {"b1", "p1", "p1.q"}),
        ({"b2.py": "import p2.q as r", "p2/__init__.py": "", "p2/q.py": ""}, {"b2", "p2.q"}),
        # from package import name: a submodule, a name imported by __init__.py, and one that it defines.
        ({"c1.py": "from p3 import q", "p3/__init__.py": "", "p3/q.py": ""}, {"c1", "p3.q"}),
        ({"c2.py": "from p4 import x", "p4/__init__.py": "from .q import x", "p4/q.py": ""}, {"c2", "p4.q"}),
        ({"c3.py": "from p5 import y", "p5/__init__.py": "from .q import x as y", "p5/q.py": ""}, {"c3", "p5.q"}),
        ({"c4.py": "from p6 import x", "p6/__init__.py": "x = 1"}, {"c4", "p6"}),
        ({"c5.py": "from p7 import f", "p7/__init__.py": "def f(): ..."}, {"c5", "p7"}),
        (
            {"c6.py": "from p8 import x", "p8/__init__.py": "from .q import x\nx = x + 1", "p8/q.py": "x = 1"},
            {"c6", "p8", "p8.q"},
        ),
        ({"c7.py": "from p9 import x", "p9/__init__.py": "from .q import *", "p9/q.py": "x = 1"}, {"c7", "p9", "p9.q"}),
        # Through two packages, and inside of functions.
        (
            {
                "d1.py": "from e1 import x",
                "e1/__init__.py": "from e2 import x",
                "e2/__init__.py": "from .q import x",
                "e2/q.py": "",
            },
            {"d1", "e2.q"},
        ),
        ({"f1.py": "def f():\n    import f2", "f2.py": ""}, {"f1", "f2"}),
        # Chains, rings, folders without __init__.py.
        ({"g1.py": "import g2", "g2.py": "import g3", "g3.py": "import g1"}, {"g1", "g2", "g3"}),
        ({"h1.py": "from h2.h3 import h4", "h2/h3/h4.py": ""}, {"h1", "h2.h3.h4"}),
        # A package that loads its modules on demand stands for all of them.
        (
            {
                "i1.py": "import i2",
                "i2/__init__.py": "def __getattr__(name): ...",
                "i2/x.py": "",
                "i2/y/z.py": "",
                "i2/y/__init__.py": "",
            },
            {"i1", "i2", "i2.x", "i2.y", "i2.y.z"},
        ),
        # What is installed, what Python brings, and what is not there.
        (
            {"j1.py": "import numpy, scipy.stats, json, os.path\nfrom gymnasium import spaces\nimport not_there"},
            {"j1"},
        ),
    ],
    ids=lambda case: next(iter(case)) if isinstance(case, dict) else "",
)
def test_imports_lead_to_where_the_code_is(files, expected, own):
    assert own(files) == expected


def test_nothing_is_loaded_by_being_looked_at(own):
    files = {"k1.py": "def f():\n    from k2.k3 import x", "k2/__init__.py": "raise SystemError", "k2/k3.py": "x = 1"}
    assert own(files) == {"k1", "k2.k3"}
    assert not {"k1", "k2", "k2.k3"} & set(sys.modules)


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("from ns_mab_gym.agents import Agent, rule", False),
        ("from ns_mab_gym.worlds import World", False),
        ("from ns_mab_gym import agents", True),
        ("import ns_mab_gym as nsb", True),
        ("from ns_mab_gym.agents import make", True),  # which can make any agent by its name
    ],
)
def test_an_own_agent_depends_on_what_it_uses_of_the_house(line, whole, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    name = f"uses_{abs(hash(line))}"
    (tmp_path / f"{name}.py").write_text(line)
    modules = set(sources.modules_behind([name]))
    assert (f"{HOUSE}.agents.beta_swts" in modules) is whole
    assert (f"{HOUSE}.agents" in modules) is whole
    assert f"{HOUSE}.worlds.world" in modules or "World" not in line
    assert f"{HOUSE}.agents.core.protocol" in modules or "Agent" not in line


def test_every_module_of_the_house_can_be_read():
    folder = Path(ns_mab_gym.__file__).parent
    names = [".".join(file.relative_to(folder.parent).with_suffix("").parts) for file in folder.rglob("*.py")]
    modules = [name.removesuffix(".__init__") for name in names]
    assert sources.unreadable(modules) == []
    assert sources.digest_of(modules) is not None


# Edits a copy of the house, one file after the other, and prints which of three units' versions differ from before.
EDITS = """
import json, sys
from pathlib import Path
import ns_mab_gym
from ns_mab_gym import sources
from ns_mab_gym.experiments import AgentEntry, WorldEntry
from ns_mab_gym.experiments.identity import modules_of

folder = Path(ns_mab_gym.__file__).parent
assert folder.parent == Path(sys.argv[1]), folder
units = {(w, a): modules_of(WorldEntry.of(w), AgentEntry.of(a))
         for w, a in (("abrupt", "sw-ucb"), ("piecewise", "sw-ucb"), ("abrupt", "ts"))}

def versions():
    return {f"{world} {agent}": sources.digest_of(modules) for (world, agent), modules in units.items()}

for file, old, new in json.loads(sys.argv[2]):
    before, path = versions(), folder / file
    source = path.read_text() if path.exists() else ""
    assert old in source, (file, old)
    path.write_text(source.replace(old, new) if old else source + new)
    after = versions()
    print(json.dumps([unit for unit in before if before[unit] != after[unit]]))
"""


def test_an_edit_of_the_house_touches_the_units_that_use_it_and_no_others(tmp_path, python):
    copy = tmp_path / "copy" / HOUSE
    shutil.copytree(Path(ns_mab_gym.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    everything = ["abrupt sw-ucb", "piecewise sw-ucb", "abrupt ts"]
    edits = [
        ("worlds/paper.py", "", "\n# a comment at the end\n", []),
        ("worlds/paper.py", "0.99", "0.98", ["abrupt sw-ucb", "abrupt ts"]),
        ("worlds/drawn.py", "", "\nx = 1\n", ["piecewise sw-ucb"]),
        ("agents/sw_ucb.py", "", "\nx = 1\n", ["abrupt sw-ucb", "piecewise sw-ucb"]),
        ("agents/__init__.py", '"ts": "ts:TS",', '"ts": "ts:TS",\n    "new": "new:New",', []),
        ("agents/new.py", "", "class New: ...\n", []),
        ("worlds/__init__.py", "", "\nx = 1\n", []),
        ("envs/bandit.py", "", "\nx = 1\n", everything),
        ("play/engine.py", "", "\nx = 1\n", everything),
        ("experiments/outputs.py", "import dataclasses", "import dataclasses, os", []),
    ]
    run = python("-c", EDITS, copy.parent, json.dumps([edit[:3] for edit in edits]), path=copy.parent)
    assert run.returncode == 0, run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines()]
    for (file, _, new, expected), touched in zip(edits, found, strict=True):
        assert touched == expected, (file, new)


BEHIND = "import json, sys; from ns_mab_gym import sources; print(json.dumps(sources.modules_behind(sys.argv[1:])))"


def test_a_script_counts_with_what_lies_beside_it(tmp_path, python):
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "script.py").write_text(f"import beside\n{BEHIND}\n")
    assert json.loads(python("script.py", "__main__").stdout)[:2] == ["__main__", "beside"]


def test_a_module_run_with_m_counts_under_its_own_name(tmp_path, python):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "beside.py").write_text("")
    (tmp_path / "pack" / "start.py").write_text(f"from . import beside\n{BEHIND}\n")
    found = json.loads(python("-m", "pack.start", "__main__").stdout)
    assert [name for name in found if not name.startswith(HOUSE)] == ["pack.beside", "pack.start"]


def test_code_that_was_typed_in_cannot_be_read(python):
    code = "from ns_mab_gym import sources; print(sources.digest_of(['__main__']), sources.unreadable(['__main__']))"
    assert python("-c", code).stdout == "None ['__main__']\n"


def test_of_installed_packages_only_the_agents_own_distribution_counts(tmp_path, python):
    folder = tmp_path / "installed"
    for distribution, modules in {"mine": ("mine", "_mine_tools"), "theirs": ("theirs",)}.items():
        about = folder / f"{distribution}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (about / "RECORD").write_text("".join(f"{module}.py,,\n" for module in modules))
        for module in modules:
            (folder / f"{module}.py").write_text("")
    (folder / "mine.py").write_text("import _mine_tools, theirs, numpy\n")
    assert json.loads(python("-c", BEHIND, "mine", path=folder).stdout) == ["_mine_tools", "mine"]


def test_a_compiled_extension_counts_by_its_bytes(tmp_path, monkeypatch):
    from importlib.machinery import EXTENSION_SUFFIXES

    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / f"swift{EXTENSION_SUFFIXES[0]}"
    file.write_bytes(b"machine code")
    before = sources.digest_of(["swift"])
    assert before is not None
    file.write_bytes(b"other machine code")
    assert sources.digest_of(["swift"]) != before


def test_classes_of_others_are_no_part_of_an_own_agent(tmp_path, monkeypatch):
    from ns_mab_gym.experiments.identity import modules_of
    from ns_mab_gym.experiments.study import AgentEntry, WorldEntry

    monkeypatch.syspath_prepend(tmp_path)
    methods = "\n".join(f"    def {name}(self, *_): ..." for name in ("reset", "act", "observe"))
    (tmp_path / "base_of_mine.py").write_text("class Base: ...\n")
    (tmp_path / "derived.py").write_text(
        f"import tqdm\nfrom base_of_mine import Base\nclass Mine(Base, tqdm.tqdm):\n{methods}\n"
    )
    modules = modules_of(WorldEntry.of("smooth"), AgentEntry.of("derived:Mine"))
    assert {"derived", "base_of_mine"} <= set(modules)
    assert [module for module in modules if module.startswith("tqdm") or module == "builtins"] == []
