"""Processes that need the same compiled code at once: one of them compiles it, whatever becomes of that one."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from ns_mab_gym import compilation
from ns_mab_gym.compilation import compiled
from ns_mab_gym.process_locks import ProcessLock

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no lock on Windows")

# Says that it is ready, waits to be told to begin, and prints how its loop came to be, and the pulls.
PROGRAM = """
    import ns_mab_gym as nsb
    from ns_mab_gym import worlds
    from ns_mab_gym.play import loop
    world = worlds.Abrupt(horizon=1_000)
    print("ready", flush=True)
    input()
    pulls = nsb.simulate(world, "ts", runs=2, n_jobs=2).pulls
    (made,) = loop._LOOPS.values()
    print(sum(made.stats.cache_misses.values()), sum(made.stats.cache_hits.values()), pulls.tolist())
    """
COMPILING = "compiling ts: some seconds, once on this machine\n"
WAITING = "waiting for another process, which is compiling ts\n"
HOLD = """
    import sys
    from pathlib import Path
    from ns_mab_gym.process_locks import ProcessLock
    lock = ProcessLock(Path(sys.argv[1]))
    print(lock.acquire(), flush=True)
    input()
    """


def started(program: str, *arguments: str | Path, **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=os.environ | env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture
def workers(tmp_path) -> Iterator[list[subprocess.Popen[str]]]:
    """Three processes with an empty cache, ready to play."""
    processes = [started(PROGRAM, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(3)]
    assert [line(each.stdout) for each in processes] == ["ready\n"] * 3
    yield processes
    for each in processes:
        each.kill()
        each.communicate()


def line(stream: Any) -> str:
    return str(stream.readline())


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def ended(process: subprocess.Popen[str]) -> tuple[int, int, str, str]:
    """How often a process compiled its loop and loaded it, its pulls, and what it said."""
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    misses, hits, pulls = said.split(" ", maxsplit=2)
    return int(misses), int(hits), pulls, errors


def test_of_several_processes_that_begin_at_once_one_compiles(workers):
    for each in workers:
        begin(each)
    results = [ended(each) for each in workers]
    assert sorted((misses, hits) for misses, hits, _, _ in results) == [(0, 1), (0, 1), (1, 0)]
    assert len({pulls for *_, pulls, _ in results}) == 1
    for misses, _, _, said in results:
        assert (COMPILING in said) == (misses == 1)
    assert [said.count(WAITING) for *_, said in results if COMPILING in said] == [0]


def test_if_the_one_that_compiles_is_killed_another_one_does(workers):
    first, *others = workers
    begin(first)
    assert line(first.stderr) == COMPILING
    for each in others:
        begin(each)
        assert line(each.stderr) == WAITING
    first.send_signal(signal.SIGKILL)
    results = [ended(each) for each in others]
    assert sorted((misses, hits) for misses, hits, _, _ in results) == [(0, 1), (1, 0)]
    assert results[0][2] == results[1][2]
    assert sorted(said for *_, said in results) == ["", COMPILING]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compilation, "_told", [])
    return tmp_path


def twice(x):
    return 2 * x


def cannot_be_compiled(x):
    return open(x)


@contextmanager
def held_elsewhere(lock: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process has the lock, until it is told that it can go."""
    with started(HOLD, lock) as other:
        assert line(other.stdout) == "True\n"
        try:
            yield other
        finally:
            other.kill()


def lock_of(function: Any) -> Path:
    return Path(function._cache.turn._path)


def test_nobody_waits_for_ever_for_a_process_that_was_stopped(folder, monkeypatch, caplog):
    monkeypatch.setattr(compilation, "PATIENCE", 0.2)
    made = compiled(twice, called="it")
    with held_elsewhere(lock_of(made)) as other:
        other.send_signal(signal.SIGSTOP)
        assert made(21) == 42
    said = [record.getMessage() for record in caplog.records]
    assert said == ["waiting for another process, which is compiling it", COMPILING.strip().replace("ts", "it")]
    assert compiled(twice)(21) == 42


def is_free(lock: Path) -> bool:
    with started(HOLD, lock) as other:
        said, _ = other.communicate("\n")
    return said == "True\n"


@pytest.mark.parametrize("function", [twice, cannot_be_compiled])
def test_the_lock_is_held_while_a_process_compiles_and_not_longer(folder, function, monkeypatch):
    made = compiled(function)
    usual, seen = made._compiler.compile, []

    def watched(*given):
        seen.append(is_free(lock_of(made)))
        return usual(*given)

    monkeypatch.setattr(made._compiler, "compile", watched)
    try:
        assert made(21) == 42
    except Exception:
        assert function is cannot_be_compiled
    assert seen == [False]
    assert is_free(lock_of(made))


def test_code_that_is_on_disk_is_loaded_whoever_has_the_lock(folder):
    compiled(twice)(21)
    made = compiled(twice)
    with held_elsewhere(lock_of(made)):
        assert made(21) == 42
    assert made.stats.cache_hits


def test_code_that_comes_while_the_lock_is_taken_is_loaded(folder, monkeypatch):
    """Another process may be done between the first look at the disk and the lock."""
    made = compiled(twice)
    usual = made._cache.turn.acquire
    monkeypatch.setattr(made._cache.turn, "acquire", lambda: compiled(twice)(21) == 42 and usual())
    assert made(21) == 42
    assert not made.stats.cache_misses
    assert is_free(lock_of(made))


def test_threads_do_not_wait_for_each_other_for_ever(folder):
    functions = [compiled(twice) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: functions[n % 4](n), range(32))) == [2 * n for n in range(32)]
    assert is_free(lock_of(functions[0]))


@pytest.mark.parametrize("damage", ["gone", "a folder", "a link", "no locks"])
def test_without_a_file_for_the_lock_everybody_goes_on(folder, damage, monkeypatch, caplog):
    made = compiled(twice)
    lock = lock_of(made)
    if damage == "gone":
        lock.parent.rmdir()
    elif damage == "a folder":
        lock.mkdir()
    elif damage == "a link":
        lock.symlink_to(folder / "elsewhere")
    else:
        monkeypatch.setattr("fcntl.lockf", lambda *_: (_ for _ in ()).throw(OSError(37, "No locks available")))
    with caplog.at_level(logging.WARNING):
        assert made(21) == 42
    assert not caplog.records
    assert not (folder / "elsewhere").exists()


def test_a_lock_can_be_taken_twice_by_the_process_that_has_it(tmp_path):
    lock = ProcessLock(tmp_path / "lock")
    assert lock.acquire()
    assert lock.acquire()
    assert not is_free(tmp_path / "lock")
    lock.release()
    lock.release()
    assert is_free(tmp_path / "lock")
