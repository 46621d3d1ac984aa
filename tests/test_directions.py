"""The plan of the package, read off the source of every module: directions of imports, names of classes, docstrings.

Imports inside functions count as any other: a cycle that hides behind a lazy import is a cycle. Imports for type
checkers alone (``if TYPE_CHECKING:``) are left out except for the rooms that must know nothing of each other.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "ns_mab_gym"

# A room is a folder, or a module of the top level; with the other rooms that it may import from.
DIRECTIONS: dict[str, set[str]] = {
    "agents.core": set(),
    "agents.parts": {"agents.core"},
    "agents": {"agents.core", "agents.parts"},
    "files": set(),
    "sources": set(),
    "runs": set(),
    "means": {"agents.core"},
    "compilation": {"sources"},
    "quantile": {"compilation"},
    "rewards": {"agents.core", "means", "quantile"},
    "worlds": {"agents.core", "files", "means"},
    "envs": {"agents.core", "means", "quantile", "rewards", "worlds"},
    "wrappers": {"agents.core", "means"},
    "specs": {"agents.core", "envs", "files", "means", "rewards", "worlds"},
    "parallel": {"agents.core", "files", "sources"},
    "play": {
        "agents.core", "agents.parts", "compilation", "envs", "means", "parallel", "quantile", "rewards", "runs",
        "sources", "specs", "worlds", "wrappers",
    },
    "theory": {"agents.core", "means", "specs"},
    "statistics": {"means"},
    "detections": {"agents.core", "agents.parts", "means", "runs", "statistics"},
    "figures": {"agents.core", "detections", "files", "means", "runs", "statistics", "theory", "tuning"},
    "code_version": {"agents.core", "envs", "files", "sources", "specs", "studies"},
    "studies": {
        "agents.core", "agents.parts", "code_version", "detections", "envs", "figures", "files", "means", "parallel",
        "play", "runs", "sources", "specs", "statistics", "theory", "worlds",
    },
    "claims": {"means", "runs", "specs", "statistics", "studies"},
    "report": {
        "agents.core", "claims", "code_version", "detections", "figures", "files", "means", "parallel", "play",
        "runs", "sources", "specs", "statistics", "studies",
    },
    "paper": {"agents", "agents.core", "claims", "means", "play", "report", "runs", "specs", "statistics", "studies"},
    "leaderboard": {
        "agents", "agents.core", "code_version", "envs", "figures", "files", "means", "parallel", "play", "report",
        "sources", "specs", "statistics", "studies", "worlds",
    },
    "comparison": {
        "agents.core", "envs", "figures", "files", "parallel", "play", "report", "runs", "specs", "statistics",
        "studies",
    },
    "tuning": {
        "agents.core", "envs", "logs", "means", "play", "rewards", "runs", "specs", "statistics", "theory", "worlds",
        "wrappers",
    },
    "logs": {
        "agents.core", "figures", "files", "means", "play", "rewards", "specs", "statistics", "theory", "worlds",
    },
    "live": {"agents.core", "agents.parts", "compilation", "logs"},
    "rl": {"agents.core", "envs", "files", "play", "wrappers"},
    "deep": {
        "comparison", "files", "means", "parallel", "rl", "runs", "specs", "statistics", "studies",
        "theory", "tuning", "worlds",
    },
    "cli": {
        "agents.core", "deep", "envs", "figures", "files", "leaderboard", "live", "logs", "means", "paper", "parallel",
        "play", "report", "rewards", "rl", "sources", "specs", "studies", "theory", "tuning", "worlds",
    },
}  # fmt: skip
DOORS = {"", "__main__"}  # the package itself, through which users reach every room
QUESTIONS = ("what ", "who ", "which ", "how ", "where ", "whether ", "whom ", "whose ", "when ")
MOST_QUESTIONS = 0.005  # of all docstrings


def modules() -> dict[str, Path]:
    """Every module by its name without the package."""
    found = {}
    for folder, prefix in ((ROOT / PACKAGE, ""), (ROOT / "agents", "agents")):
        for file in folder.rglob("*.py"):
            if folder.name == PACKAGE and "agents" in file.relative_to(folder).parts:
                continue  # the symlink to agents/
            parts = [*([prefix] if prefix else []), *file.relative_to(folder).with_suffix("").parts]
            found[".".join(parts).removesuffix("__init__").removesuffix(".")] = file
    return found


MODULES = modules()


@functools.cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def room(module: str) -> str:
    """The longest room that the module lies in."""
    rooms = [each for each in DIRECTIONS if module == each or module.startswith(f"{each}.")]
    return max(rooms, key=len, default=module)


def imported(module: str, file: Path, *, for_types: bool) -> set[str]:
    """The modules of the package that a module imports."""
    tree = tree_of(file)
    hidden = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            hidden |= {id(each) for each in ast.walk(node)}
    package = [PACKAGE, *module.split(".")] if module else [PACKAGE]
    if file.name != "__init__.py":
        package = package[:-1]
    targets = set()
    for node in ast.walk(tree):
        if id(node) in hidden and not for_types:
            continue
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                targets.add(inner if inner.removeprefix(f"{PACKAGE}.") in MODULES else source)
    return {each.removeprefix(PACKAGE).removeprefix(".") for each in targets if each.partition(".")[0] == PACKAGE}


@functools.cache
def edges(*, for_types: bool = False) -> set[tuple[str, str]]:
    """Pairs of rooms: the first imports from the second."""
    pairs = {
        (room(module), room(target))
        for module, file in MODULES.items()
        if module not in DOORS
        for target in imported(module, file, for_types=for_types)
    }
    return {(one, other) for one, other in pairs if one != other}


def test_every_module_lies_in_a_room():
    strangers = {module for module in MODULES if room(module) not in DIRECTIONS} - DOORS
    assert strangers == set()
    assert len(MODULES) > 100


def test_no_room_imports_from_where_it_may_not():
    wrong = {(one, other) for one, other in edges(for_types=True) if other not in DIRECTIONS.get(one, set())}
    assert wrong - {("cli", "")} == set()  # commands print the version, which the package itself holds


def test_no_direction_is_allowed_that_no_module_takes():
    """Else the table would say less and less."""
    taken = edges(for_types=True)
    assert {
        (one, other) for one, others in DIRECTIONS.items() for other in others if (one, other) not in taken
    } == set()


def test_there_is_no_cycle_between_rooms():
    """Raises a CycleError that names the rooms."""
    graph = {one: {other for each, other in edges() if each == one} for one in DIRECTIONS}
    assert set(TopologicalSorter(graph).static_order()) - DOORS == set(DIRECTIONS)


def test_agents_import_nothing_of_the_package_not_even_for_types():
    seen = {other for one, other in edges(for_types=True) if one.startswith("agents")}
    assert seen == {"agents.core", "agents.parts"}


def test_a_class_name_stands_for_one_class():
    nodes = (node for file in MODULES.values() for node in ast.walk(tree_of(file)))
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1] == []
    assert len(names) > 300


def test_docstrings_name_their_subject_and_ask_no_question():
    """A few may begin so: "Where the best arm changes" is the name of a set."""
    places, asked = 0, []
    for module, file in MODULES.items():
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                places += 1
                if text.lower().startswith(QUESTIONS):
                    asked.append(f"{module}: {text.splitlines()[0]}")
    assert len(asked) <= MOST_QUESTIONS * places, "\n".join(asked)


@pytest.mark.parametrize("module", sorted(each for each in MODULES if each != "__main__"))
def test_no_function_of_a_package_hides_one_of_its_modules(module):
    loaded = importlib.import_module(f"{PACKAGE}.{module}".rstrip("."))
    inside = {each.rpartition(".")[2] for each in MODULES if each.rpartition(".")[0] == module}
    assert [name for name in inside if inspect.isroutine(getattr(loaded, name, None))] == []


def test_the_reader_of_imports_sees_a_lazy_one(tmp_path):
    """The tests above would be worth nothing if they overlooked what hides in a function."""
    file = tmp_path / "engine.py"
    file.write_text("def f():\n    from ..theory import sets\n    import ns_mab_gym.rl.observations\n")
    assert imported("play.simulate", file, for_types=False) == {"theory.sets", "rl.observations"}
