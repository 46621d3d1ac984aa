"""Compiled functions give the right numbers whatever happened to the folder in which they are kept."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import config

from ns_mab_gym import compilation
from ns_mab_gym.compilation import compiled


def twice(x):
    return 2 * x


def thrice(x):
    return 3 * x


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache that holds both functions, one of them for two types."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "CACHE_DIR", str(folder))
        for function, given in ((twice, 1), (twice, 1.0), (thrice, 1)):
            compiled(function)(given)
    return folder


@pytest.fixture
def folder(filled, tmp_path, monkeypatch):
    """A copy of it to be damaged."""
    shutil.copytree(filled, tmp_path / "cache")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compilation, "_told", [])
    return tmp_path / "cache"


def files(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.rglob(pattern))


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)


def make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "full").touch()


def mix_up(file: Path) -> None:
    """Put the file of the other function, or of other types, in its place."""
    others = [each for each in files(file.parent, f"*{file.suffix}") if each != file]
    shutil.copy(others[-1], file)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "truncated": truncate,
    "a byte flipped": flip,
    "noise": lambda file: file.write_bytes(os.urandom(500)),
    "text": lambda file: file.write_text("not what it was"),
    "a pickle of something else": lambda file: file.write_bytes(b"\x80\x04K\x01."),
    "a folder": make_folder,
    "of another function": mix_up,
}


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_not_used_and_one_line_says_so(folder, damage, pattern, caplog):
    for file in files(folder, f"*twice*{pattern[1:]}"):
        DAMAGES[damage](file)
    with caplog.at_level(logging.WARNING, "ns_mab_gym"):
        assert compiled(twice)(21) == 42
    said = [record.getMessage() for record in caplog.records]
    other_version = damage == "a pickle of something else" and pattern == "*.nbi"  # which numba passes over by itself
    assert len(said) == (not other_version)
    assert all("NUMBA_CACHE_DIR" in line and "\n" not in line for line in said)
    assert compiled(thrice)(2) == 6


@pytest.mark.parametrize("damage", ["empty", "truncated", "a byte flipped", "noise", "of another function"])
@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_what_was_damaged_is_replaced(folder, damage, pattern):
    for file in files(folder, f"*twice*{pattern[1:]}"):
        DAMAGES[damage](file)
    compiled(twice)(21)
    again = compiled(twice)
    assert again(21) == 42
    assert again.stats.cache_hits  # loaded: another process need not compile


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
@pytest.mark.parametrize("method", ["_save_index", "_save_data", "_load_index", "_load_data"])
def test_disks_that_are_full_or_forbidden(folder, error, method, monkeypatch, caplog):
    def fails(*_):
        raise error

    if method.startswith("_save"):
        shutil.rmtree(folder)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile." + method, fails)
    assert compiled(twice)(21) == 42
    assert len(caplog.records) == (method != "_load_data")  # which numba takes for a file that was removed


def test_no_folder_to_write_to_when_a_function_is_defined(monkeypatch, caplog):
    monkeypatch.setattr(compilation, "_told", [])
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    functions = [compiled(twice), compiled(thrice)]
    assert [made(7) for made in functions] == [14, 21]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("compiled code cannot be kept on disk (RuntimeError: cannot cache function")


def test_whoever_needs_no_disk_is_told_nothing(folder, caplog):
    assert compiled(twice, kept=False)(4) == 8
    assert compiled(twice).stats.cache_path is not None
    assert not caplog.records


PLAY = """
    import ns_mab_gym as nsb
    from ns_mab_gym import worlds
    print(*nsb.simulate(worlds.Abrupt(horizon=500), "random", runs=1).pulls[0])
    """
NO_FOLDER = """
    from numba.core.caching import CompileResultCacheImpl
    CompileResultCacheImpl._locator_classes = []
    """


def test_a_program_without_a_cache_gives_the_same_numbers():
    """From import on, where functions are defined."""
    plain, without = (
        subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
        for program in (PLAY, NO_FOLDER + PLAY)
    )
    assert (without.returncode, without.stdout) == (0, plain.stdout), without.stderr
    (line,) = without.stderr.splitlines()
    assert line.startswith("compiled code cannot be kept on disk (RuntimeError")


def test_every_function_that_is_kept_on_disk_goes_through_here():
    root = Path(compilation.__file__).parent
    sources = [*root.rglob("*.py"), *(root / "agents").resolve().rglob("*.py")]
    texts = {file.name: file.read_text() for file in sources if file.name != "compilation.py"}
    assert len(texts) > 200
    assert not [name for name, text in texts.items() if "njit" in text or "cache=True" in text or "import jit" in text]
