"""The plan of the house: which room may look into which, read off the imports of every module.

Imports inside functions count as any other: a cycle that hides behind a lazy import is a cycle. Imports for type
checkers alone (``if TYPE_CHECKING:``) are left out except for the rooms that must know nothing of each other.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "ns_mab_gym"

# room: the rooms that it may import from, beside itself. A room is a folder, or a module of the top level.
DIRECTIONS: dict[str, set[str]] = {
    "agents.core": set(),
    "agents.parts": {"agents.core"},
    "agents": {"agents.core", "agents.parts"},
    "process_locks": set(),
    "compilation": {"process_locks"},
    "quantile": {"compilation"},
    "files": set(),
    "file_names": set(),
    "plain_texts": set(),
    "runs": set(),
    "resampling": set(),
    "module_files": set(),
    "sources": {"module_files"},
    "kept_files": {"agents.core"},
    "means": {"agents.core"},
    "rewards": {"agents.core", "quantile"},
    "worlds": {"agents.core", "kept_files", "means"},
    "envs": {"agents.core", "compilation", "means", "quantile", "rewards", "worlds"},
    "wrappers": {"agents.core"},
    "play": {"agents.core", "agents.parts", "compilation", "envs", "means", "quantile", "rewards", "runs", "worlds"},
    "installed_versions": set(),
    "workforce": {"agents.core", "installed_versions", "kept_files", "play", "sources"},
    "theory": {"agents.core", "means"},
    "student_t": set(),
    "run_intervals": {"means", "quantile", "student_t"},
    "detections": {"agents.core", "agents.parts", "run_intervals", "means", "runs"},
    "figures": {"detections", "files", "means", "plain_texts", "resampling", "runs", "theory"},
    "experiments": {
        "agents", "agents.core", "agents.parts", "detections", "envs", "figures", "file_names", "files", "kept_files",
        "installed_versions", "means", "plain_texts", "play", "resampling", "run_intervals", "runs", "sources",
        "theory", "workforce", "worlds",
    },
    "experiments.claims": {"experiments", "means", "runs"},
    "choosing": {
        "agents.core", "envs", "experiments", "experiments.report", "figures", "files", "kept_files", "means",
        "installed_versions", "plain_texts", "play", "resampling", "run_intervals", "runs", "sources", "student_t",
        "theory", "workforce", "worlds",
    },
    "experiments.report": {"detections", "experiments", "experiments.claims", "figures", "means", "runs"},
    "experiments.leaderboard": {
        "agents", "agents.core", "envs", "experiments", "figures", "files", "installed_versions", "play", "resampling",
        "runs", "workforce", "worlds",
    },
    "rl": {"agents.core", "envs", "files", "kept_files", "play", "wrappers"},
    "deep": {
        "choosing", "experiments", "files", "means", "play", "resampling", "rl", "run_intervals", "runs", "student_t",
        "theory", "worlds",
    },
    "cli": {
        "agents.core", "choosing", "deep", "envs", "experiments", "experiments.leaderboard", "figures", "file_names",
        "files", "means", "module_files", "plain_texts", "play", "rewards", "rl", "runs", "theory", "workforce",
        "worlds",
    },
}  # fmt: skip
# The doors of the package, which open every room, and the two floors of one house: a room and its own subfolders.
DOORS = {"", "__main__"}
WITHIN = {("experiments", "experiments.claims"), ("experiments", "experiments.report")}


def modules() -> dict[str, Path]:
    """Every module of the house by its name without the package."""
    found = {}
    for folder, prefix in ((ROOT / PACKAGE, ""), (ROOT / "agents", "agents")):
        for file in folder.rglob("*.py"):
            if folder.name == PACKAGE and "agents" in file.relative_to(folder).parts:
                continue  # the symlink to agents/
            parts = [*([prefix] if prefix else []), *file.relative_to(folder).with_suffix("").parts]
            found[".".join(parts).removesuffix("__init__").removesuffix(".")] = file
    return found


MODULES = modules()


def room(module: str) -> str:
    """The longest room that the module lies in."""
    rooms = [each for each in DIRECTIONS if module == each or module.startswith(f"{each}.")]
    return max(rooms, key=len, default=module)


def imported(module: str, file: Path, *, for_types: bool) -> set[str]:
    """The modules of the house that a module imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
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


def test_no_room_looks_where_it_may_not():
    wrong = {(one, other) for one, other in edges() if other not in DIRECTIONS.get(one, set())} - WITHIN
    assert wrong - {(one, "") for one in ("cli",)} == set()  # commands print the version, which is at the door


def test_no_direction_is_allowed_that_nobody_takes():
    """Else the table would say less and less."""
    taken = edges() | edges(for_types=True)
    unused = {(one, other) for one, others in DIRECTIONS.items() for other in others if (one, other) not in taken}
    assert unused == set()


def test_there_is_no_cycle_between_rooms():
    """Subfolders count as part of the room above them."""
    tops = {(one.partition(".")[0], other.partition(".")[0]) for one, other in edges()}
    graph = {one: {other for each, other in tops if each == one and other != one} for one, _ in tops}
    done: set[str] = set()

    def visit(each: str, path: tuple[str, ...]) -> None:
        assert each not in path, f"cycle: {' → '.join([*path[path.index(each) :], each])}"
        if each not in done:
            for other in graph.get(each, ()):
                visit(other, (*path, each))
            done.add(each)

    for start in graph:
        visit(start, ())


def test_agents_know_nothing_of_the_house_not_even_for_types():
    seen = {(one, other) for one, other in edges(for_types=True) if one.startswith("agents")}
    assert {other for _, other in seen} <= {"agents", "agents.core", "agents.parts"}


def test_figures_and_experiments_do_not_know_each_other_backwards_not_even_for_types():
    forbidden = {("figures", "experiments"), ("theory", "play"), ("theory", "figures"), ("rl", "experiments"),
                 ("experiments", "rl"), ("play", "theory"), ("play", "experiments")}  # fmt: skip
    assert edges(for_types=True) & forbidden == set()


def test_no_two_modules_share_a_name():
    names = Counter(module.rpartition(".")[2] for module, file in MODULES.items() if not file.name.startswith("__"))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("module", sorted(each for each in MODULES if each != "__main__"))
def test_no_function_has_the_name_of_its_module(module):
    """Neither in the module itself, nor in its package, where the function would hide the module."""
    loaded = importlib.import_module(f"{PACKAGE}.{module}".rstrip("."))
    last = module.rpartition(".")[2]
    assert not inspect.isroutine(getattr(loaded, last, None))
    inside = {each.rpartition(".")[2] for each in MODULES if each.rpartition(".")[0] == module}
    assert [name for name in inside if inspect.isroutine(getattr(loaded, name, None))] == []


def test_the_reader_of_imports_sees_a_lazy_one(tmp_path):
    """The test above would be worth nothing if it overlooked what hides in a function."""
    file = tmp_path / "engine.py"
    file.write_text("def f():\n    from ..theory import sets\n    import ns_mab_gym.rl.recipe\n")
    assert imported("play.engine", file, for_types=False) == {"theory.sets", "rl.recipe"}
