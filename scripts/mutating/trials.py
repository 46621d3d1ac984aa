"""Trials: runs the tests that concern a file on copies of the project in which one thing is changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from .mutants import Mutant

__all__ = ["Outcome", "Place", "Selection", "selection_for"]

SELECTIONS, FORKS = (Path(__file__).with_name(name) for name in ("selections.toml", "forks.py"))
LEFT_BEHIND = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "results", "build", "*.egg-info")
PATIENCE, LEAST = 5.0, 60.0  # a trial may take this many times as long as without a change, and this many seconds
OPTIONS = ("-x", "-p", "no:cacheprovider", "-p", "no:playwright", "--tb=no", "-W", "ignore:Module already imported")
PASSED, NO_TESTS = 0, 5  # what pytest returns; anything else is a failure, or code that cannot even be imported


@dataclass(frozen=True)
class Selection:
    """The tests of a file.

    Attributes:
        tests: what pytest is given, quick tests first: it stops at the first that fails.
        compiled: whether the tests need numba; without it, tests of kernels run interpreted and nothing is compiled.
    """

    tests: list[str]
    compiled: bool


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: "killed", "timeout" or "survived", and which test failed."""

    how: str
    by: str
    seconds: float


def selection_for(path: Path) -> Selection:
    """The first selection of the table whose pattern fits the file; raises a ValueError if there is none."""
    for row in tomllib.loads(SELECTIONS.read_text(encoding="utf-8"))["selection"]:
        if any(fnmatch(str(path), pattern) for pattern in row["files"]):
            return Selection([test.format(file=path) for test in row["tests"]], row.get("compiled", False))
    raise ValueError(f"no tests are listed for {path}; add a row to scripts/mutating/{SELECTIONS.name}")


@dataclass
class Place:
    """A copy of the project in which mutants are tried, one after another.

    Attributes:
        folder: where the copy is made.
        python: the interpreter that runs the tests.
    """

    folder: Path
    python: Path
    limits: dict[str, float] = field(default_factory=dict)  # how long the tests of a file may take, in seconds
    servers: dict[bool, subprocess.Popen[str]] = field(default_factory=dict)  # which run them, with the compiler or not

    def fill(self, root: Path) -> None:
        """Copy the project, without what was built, installed or computed in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(root, self.folder / "tree", symlinks=True, ignore=LEFT_BEHIND)

    def warm_up(self, path: Path, chosen: Selection) -> Outcome:
        """Run the tests without any change: they must pass, and what they compile is kept for the trials."""
        passed = self._run(chosen, 1_800.0)
        if passed.how == "survived":
            self.limits[str(path)] = max(LEAST, PATIENCE * passed.seconds)
            shutil.rmtree(self._kept, ignore_errors=True)
            if self._cache.exists():
                shutil.copytree(self._cache, self._kept)
        return passed

    def outcome(self, mutant: Mutant, chosen: Selection) -> Outcome:
        """Run the tests of a file with a change in it."""
        file = self.folder / "tree" / mutant.path
        untouched = file.with_suffix(".untouched")
        shutil.copy2(file, untouched)
        try:
            file.write_text(mutant.source, encoding="utf-8")
            return self._run(chosen, self.limits[str(mutant.path)])
        finally:
            untouched.replace(file)  # with the time of the original, by which Python and numba know what they have read
            self._restore_cache()

    @property
    def _cache(self) -> Path:
        return self.folder / "numba"

    @property
    def _kept(self) -> Path:
        return self.folder / "numba-kept"

    def _restore_cache(self) -> None:
        """What a mutant compiled must not serve the next one."""
        shutil.rmtree(self._cache, ignore_errors=True)
        if self._kept.exists():
            shutil.copytree(self._kept, self._cache)

    def _run(self, chosen: Selection, limit: float) -> Outcome:
        log, tree = self.folder / "log", self.folder / "tree"
        order = {"arguments": [*OPTIONS, *chosen.tests], "folder": str(tree), "seconds": limit, "log": str(log)}
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
        if compiled not in self.servers:
            env = {**os.environ, "PYTHONPATH": str(self.folder / "tree"), "NUMBA_CACHE_DIR": str(self._cache)}
            env |= {"NUMBA_DISABLE_JIT": "0" if compiled else "1"}
            command, pipe = [str(self.python), str(FORKS)], subprocess.PIPE
            self.servers[compiled] = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True)
            self._answer(compiled)
        asked = self.servers[compiled].stdin
        assert asked is not None
        print(order, file=asked, flush=True)
        return int(self._answer(compiled))

    def _answer(self, compiled: bool) -> str:
        answers = self.servers[compiled].stdout
        assert answers is not None
        return answers.readline()

    def close(self) -> None:
        """End the processes that ran the tests."""
        for server in self.servers.values():
            server.communicate()
        self.servers.clear()
