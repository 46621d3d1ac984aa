"""Change the code on purpose, one small change at a time, and list the changes that no test notices.

python -m venv /tmp/cosmic-ray; /tmp/cosmic-ray/bin/pip install cosmic-ray
/tmp/cosmic-ray/bin/python scripts/mutation.py agents/ser4.py                 # every mutant of a file
/tmp/cosmic-ray/bin/python scripts/mutation.py agents ns_mab_gym/play --sample 10 --out before.json
/tmp/cosmic-ray/bin/python scripts/mutation.py --again before.json --out after.json

The project's own environment runs the tests, on copies in a temporary folder: the checkout is never touched. The tests
of each file are in a table, ``scripts/mutation.toml``. ``--sample`` draws some mutants of each file, always the same
ones for a seed; the share that survives then has a standard error, which is printed.

Operators, numbers, conditions and loops are changed by cosmic-ray; this script adds statements left out, and leaves out
changes that no test should notice: those of annotations, error messages, type-checking imports and compiler hints.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import repeat
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parents[1]
SELECTIONS = Path(__file__).with_suffix(".toml")
LEFT_BEHIND = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "results", "build", "*.egg-info")
PATIENCE, LEAST = 5.0, 60.0  # a trial may take this many times as long as without a change, and this many seconds
LONGEST = 1_800.0  # seconds that tests may take without a change
OPTIONS = ("-x", "-p", "no:cacheprovider", "-p", "no:playwright", "--tb=no", "-W", "ignore:Module already imported")
PASSED, NO_TESTS = 0, 5  # what pytest returns; anything else is a failure, or code that cannot even be imported
SLOW = ("pytest", "numba.extending", "scipy.stats", "gymnasium.vector", "gymnasium.wrappers", "hypothesis.strategies")
# One or two replacements for each operator: the others (a shift for a sum, say) fail in any test that runs the line.
BINARY = {"Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul", "BitOr_BitAnd",
          "BitAnd_BitOr", "RShift_LShift", "LShift_RShift"}  # fmt: skip
COMPARISONS = {"Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt", "Eq_NotEq", "NotEq_Eq",
               "Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In"}  # fmt: skip
OTHERS = {"ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "AddNot", "ReplaceTrueWithFalse",
          "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue",
          "ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop"}  # fmt: skip
KINDS = (
    {f"ReplaceBinaryOperator_{pair}" for pair in BINARY}
    | {f"ReplaceComparisonOperator_{pair}" for pair in COMPARISONS}
    | OTHERS
)
COMPILER_HINTS = {"register_jitable", "helper", "inlined", "njit", "overload", "lru_cache"}

Position = tuple[int, int]  # a line, counted from 1, and a column, counted in characters from 0


def main() -> int:
    """Try the mutants that the command line asks for; returns 1 if one of them survives, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders, relative to the checkout")
    parser.add_argument("--sample", type=int, help="how many mutants of each file; all if not given")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--out", type=Path, help="a JSON file for the outcome of each mutant")
    parser.add_argument("--again", type=Path, help="such a file: try those again that survived")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv/bin/python", help="what runs the tests")
    options = parser.parse_args()
    root = options.root.resolve()
    chosen = asked_again(options.again, root) if options.again else drawn(options, root)
    print(f"{len(chosen)} mutants of {len({mutant.path for mutant in chosen})} files", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        places = [Place(Path(folder) / str(number), options.python) for number in range(options.jobs)]
        rows = tried(chosen, places, root)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    summarise(rows)
    return int(any(row["how"] == "survived" for row in rows))


def drawn(options: argparse.Namespace, root: Path) -> list[Mutant]:
    """The mutants of the sample, or all of them."""
    chosen: list[Mutant] = []
    files = [file for path in options.paths for file in (sorted((root / path).rglob("*.py")) or [root / path])]
    for path in (file.relative_to(root) for file in files if file.name != "__init__.py"):
        mutants = mutants_of(root, path)
        size = min(options.sample or len(mutants), len(mutants))
        print(f"{path}: {size} of {len(mutants)} mutants", flush=True)
        chosen += random.Random(f"{options.seed} {path}").sample(mutants, size)
    return chosen


def asked_again(file: Path, root: Path) -> list[Mutant]:
    """The survivors of an earlier run, found by their kind and their change, wherever they stand by now."""
    rows = [row for row in json.loads(file.read_text(encoding="utf-8")) if row["how"] == "survived"]
    wanted = {(row["path"], row["kind"], row["change"]) for row in rows}
    paths = sorted({Path(row["path"]) for row in rows if (root / row["path"]).exists()})
    mutants = [mutant for path in paths for mutant in mutants_of(root, path)]
    return [mutant for mutant in mutants if (str(mutant.path), mutant.kind, mutant.change) in wanted]


# Mutants.


class Mutant(NamedTuple):
    """A module with one change.

    Attributes:
        path: the module's file.
        line: where the change is, counted from 1.
        kind: what kind of change it is.
        change: the line before and after.
        source: the whole module after the change.
    """

    path: Path
    line: int
    kind: str
    change: str
    source: str


def mutants_of(root: Path, path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of their kinds and places; ``path`` is relative to ``root``."""
    source = (root / path).read_text(encoding="utf-8")
    whole, seen = _meaning(source), set[str]()
    found: list[Mutant] = []
    for kind, line, mutated in (*_of_cosmic_ray(source), *_without_statements(source)):
        meaning = _meaning(mutated)
        if meaning is not None and meaning != whole and meaning not in seen:
            seen.add(meaning)
            found.append(Mutant(path, line, kind, _change(source, mutated), mutated))
    return found


def _meaning(source: str) -> str | None:
    """The syntax tree as text, without comments; None if the change broke the syntax."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return None


def _of_cosmic_ray(source: str) -> Iterator[tuple[str, int, str]]:
    # Imported here: neither --help nor the process that runs the tests needs cosmic-ray.
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    tree, ignored, lines = get_ast(source), _ignored(source), source.splitlines()
    for name in sorted(operator_names()):
        kind = name.partition("/")[2]
        if kind not in KINDS:
            continue
        operator = get_operator(name)()
        places = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, place in enumerate(places):
            bare_star = lines[place[0] - 1].startswith("*,", place[1])  # before keyword-only parameters: no product
            if not bare_star and not any(start <= place < end for start, end in ignored):
                mutated = mutate_code(source, operator, occurrence)
                if mutated is not None:
                    yield kind, place[0], mutated


def _without_statements(source: str) -> Iterator[tuple[str, int, str]]:
    """The source without one statement of a function: a call, an error raised, or a change of something that stays."""
    lines = source.splitlines(keepends=True)
    for function in ast.walk(ast.parse(source)):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.stmt) and _can_be_left_out(node):
                (first, begin), (last, end) = _span(source, node)
                kept = [*lines[: first - 1], lines[first - 1][:begin], "pass", lines[last - 1][end:], *lines[last:]]
                yield "LeftOut", node.lineno, "".join(kept)


def _can_be_left_out(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom)
    return isinstance(node, ast.AugAssign | ast.Raise)


def _ignored(source: str) -> list[tuple[Position, Position]]:
    """The parts of a source whose changes say nothing about the tests."""
    parts: list[ast.AST | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise | ast.Assert):
            parts.append(node)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            parts += [node.returns, *(each for each in node.decorator_list if _name(each) in COMPILER_HINTS)]
        elif isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            parts.append(node)
        elif isinstance(node, ast.Assign) and "|" in ast.unparse(node) and "NDArray" in ast.unparse(node):
            parts.append(node)  # a name for a type
    return [_span(source, part) for part in parts if part is not None]


def _name(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.id if isinstance(called, ast.Name) else ""


def _span(source: str, node: ast.AST) -> tuple[Position, Position]:
    """Where a node begins and ends; the parser counts columns in bytes."""
    lines = source.splitlines()

    def place(line: int, column: int) -> Position:
        return line, len(lines[line - 1].encode()[:column].decode())

    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _change(source: str, mutated: str) -> str:
    pairs = zip(source.splitlines(), mutated.splitlines(), strict=False)
    old, new = next((one, other) for one, other in pairs if one != other)
    return f"{old.strip()}  →  {new.strip()}"


# Trials.


class Selection(NamedTuple):
    """The arguments of pytest for a file, and whether the tests need numba; without it kernels run interpreted."""

    tests: list[str]
    compiled: bool


def selection_for(path: Path) -> Selection:
    """The first selection of the table whose pattern fits the file; raises a ValueError if there is none."""
    package = path.parts[1] if len(path.parts) > 2 else f"test_{path.name}"
    listed = re.findall(rf'"([\w-]+)": "{path.stem}:', (ROOT / "agents/__init__.py").read_text(encoding="utf-8"))
    spellings = (name.replace(*marks) for name in (path.stem, *listed) if name != "ts" for marks in ("-_", "_-"))
    names = {"file": path, "package": package, "names": " or ".join(dict.fromkeys(spellings))}
    for row in tomllib.loads(SELECTIONS.read_text(encoding="utf-8"))["selection"]:
        if any(fnmatch(str(path), pattern) for pattern in row["files"]):
            return Selection([test.format(**names) for test in row["tests"]], row.get("compiled", False))
    raise ValueError(f"no tests are listed for {path}; add a row to scripts/{SELECTIONS.name}")


class Outcome(NamedTuple):
    """The outcome of a mutant: "killed", "timeout" or "survived", and the test that failed."""

    how: str
    by: str
    seconds: float


@dataclass
class Place:
    """A copy of the project in which mutants are tried, one after another.

    Attributes:
        folder: where the copy is made.
        python: the interpreter that runs the tests.
        limit: the seconds that the tests of a mutant may take.
        servers: the processes that run them, with the compiler or without.
    """

    folder: Path
    python: Path
    limit: float = math.inf
    servers: dict[bool, subprocess.Popen[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tree, self.cache, self.kept = (self.folder / name for name in ("tree", "numba", "numba-kept"))

    def warm_up(self, chosen: Selection) -> Outcome:
        """Run the tests without any change: they must pass, and what they compile is kept for the trials."""
        self.limit = LONGEST
        passed = self._run(chosen)
        if passed.how == "survived":
            self.limit = max(LEAST, PATIENCE * passed.seconds)
            shutil.rmtree(self.kept, ignore_errors=True)
            if self.cache.exists():
                shutil.copytree(self.cache, self.kept)
        return passed

    def outcome(self, mutant: Mutant, chosen: Selection) -> Outcome:
        """Run the tests of a file with a change in it."""
        file = self.tree / mutant.path
        untouched = file.with_suffix(".untouched")
        shutil.copy2(file, untouched)
        try:
            file.write_text(mutant.source, encoding="utf-8")
            return self._run(chosen)
        finally:
            untouched.replace(file)  # with the time of the original, by which Python and numba know what they have read
            shutil.rmtree(self.cache, ignore_errors=True)  # what a mutant compiled must not serve the next one
            if self.kept.exists():
                shutil.copytree(self.kept, self.cache)

    def _run(self, chosen: Selection) -> Outcome:
        log, limit = self.folder / "log", self.limit
        order = {"arguments": [*OPTIONS, *chosen.tests], "folder": str(self.tree), "seconds": limit, "log": str(log)}
        began = time.perf_counter()
        returned = self._ask(chosen.compiled, json.dumps(order))
        if returned == -signal.SIGKILL:
            return Outcome("timeout", "", limit)
        said = log.read_text(encoding="utf-8", errors="replace")
        if returned == NO_TESTS:
            raise RuntimeError(f"no tests are selected by: {' '.join(chosen.tests)}\n{said}")
        named = re.search(r"^(?:FAILED|ERROR|ImportError while loading conftest) (\S+)", said, re.M)
        how = "survived" if returned == PASSED else "killed"
        return Outcome(how, named.group(1) if named else "", time.perf_counter() - began)

    def _ask(self, compiled: bool, order: str) -> int:
        """What pytest returned in a fork of the process with or without the compiler, which is started if need be."""
        if started := compiled not in self.servers:
            env = {**os.environ, "PYTHONPATH": str(self.tree), "NUMBA_CACHE_DIR": str(self.cache)}
            env |= {"NUMBA_DISABLE_JIT": "0" if compiled else "1"}
            command, pipe = [str(self.python), __file__, SERVE], subprocess.PIPE
            self.servers[compiled] = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True)
        asked, answers = self.servers[compiled].stdin, self.servers[compiled].stdout
        assert asked is not None
        assert answers is not None
        if started:
            answers.readline()
        print(order, file=asked, flush=True)
        return int(answers.readline())

    def close(self) -> None:
        """End the processes that ran the tests."""
        for server in self.servers.values():
            server.communicate()
        self.servers.clear()


def tried(chosen: list[Mutant], places: list[Place], root: Path) -> list[dict[str, Any]]:
    """The outcomes of all mutants, file by file: each place warms up for a file, and then they share its mutants."""
    free: SimpleQueue[Place] = SimpleQueue()
    rows: list[dict[str, Any]] = []

    def one(mutant: Mutant) -> dict[str, Any]:
        place = free.get()
        try:
            outcome = place.outcome(mutant, selection_for(mutant.path))
        finally:
            free.put(place)
        print(f"{outcome.how:8} {mutant.path}:{mutant.line} {mutant.change}  {outcome.by}", flush=True)
        return {key: str(value) for key, value in mutant._asdict().items() if key != "source"} | outcome._asdict()

    with ThreadPoolExecutor(len(places)) as pool:
        for place in places:
            shutil.copytree(root, place.tree, symlinks=True, ignore=LEFT_BEHIND)
            free.put(place)
        for path in dict.fromkeys(mutant.path for mutant in chosen):
            selection = selection_for(path)
            for place, before in zip(places, pool.map(Place.warm_up, places, repeat(selection)), strict=False):
                if before.how != "survived":
                    raise SystemExit(f"{path}: its tests fail without any change, in {place.folder}: {before.by}")
            rows += pool.map(one, [mutant for mutant in chosen if mutant.path == path])
        list(pool.map(Place.close, places))
    return rows


def summarise(rows: list[dict[str, Any]]) -> None:
    """Print the survivors, and the share of mutants that were noticed in each file and in all."""
    for row in rows:
        if row["how"] == "survived":
            print(f"SURVIVED {row['path']}:{row['line']} {row['kind']}: {row['change']}")
    for title in (*dict.fromkeys(row["path"] for row in rows), "all"):
        own = [row for row in rows if title in (row["path"], "all")]
        share = sum(row["how"] != "survived" for row in own) / len(own)
        error = math.sqrt(share * (1 - share) / len(own))
        print(f"{title}: {share:.0%} of {len(own)} noticed, standard error {error:.1%}")


# The process that runs pytest: started by the interpreter that has the project's dependencies.

SERVE = "--serve"


def serve() -> None:
    """Do the slow imports once, and run pytest in a fork for each order that is read.

    Nothing of the project is imported: every fork reads the code as it stands then. Each line of the input is an order,
    in JSON: the arguments of pytest, the folder, the seconds that it may take, and a file for what it prints. Each line
    of the output is what pytest returned, or -9.
    """
    for name in SLOW:
        importlib.import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            run_tests(order)
        print(returned(child, order["seconds"]), flush=True)


def run_tests(order: dict[str, Any]) -> NoReturn:
    """Run pytest, and end without returning to the parent's loop."""
    import pytest

    os.setpgid(0, 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((nothing, log, log)):
        os.dup2(source, target)
    os.chdir(order["folder"])
    sys.path[0] = order["folder"]
    sys.dont_write_bytecode = True  # else a mutant's bytecode could serve the next one, written in the same second
    code = pytest.main(order["arguments"])
    sys.stdout.flush()
    os._exit(int(code))


def returned(child: int, seconds: float) -> int:
    """Wait for a child; if it takes too long, end it and all that it started."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


if __name__ == "__main__":
    if sys.argv[1:] == [SERVE]:
        serve()
    else:
        sys.exit(main())
