"""Folders of results: those of others are refused, and what an interrupted start left is taken up again."""

import os
import signal
import subprocess
import sys

import pytest
from stored_runs import v1

from ns_mab_gym.comparison import OWNER
from ns_mab_gym.studies.runner import run
from ns_mab_gym.studies.store import FolderLock, Store, own_folder
from ns_mab_gym.studies.study import StoreError

LEFT = {
    "nothing": [],
    "the lock": [".lock"],
    "the lock and half of the mark": [".lock", ".ns-mab-gym-0123456789abcdef.part"],
}
OTHERS = {
    "work": ["thesis.tex"],
    "a lock that says something": [".lock=4711"],
    "a readme of somebody else": ["README.txt=Read me first."],
    "hidden work": [".thesis.tex.part"],
    "results of somebody else": ["results.sqlite"],
    "a folder called like a lock": [".lock/"],
}


def furnish(folder, names):
    folder.mkdir()
    for name in names:
        path, _, text = name.partition("=")
        if path.endswith("/"):
            (folder / path).mkdir()
        else:
            (folder / path).write_text(text)


def listing(folder):
    return sorted((str(path.relative_to(folder)), path.is_file() and path.read_text()) for path in folder.rglob("*"))


@pytest.mark.parametrize("names", LEFT.values(), ids=LEFT)
def test_what_an_interrupted_start_leaves_is_taken_up_again(tmp_path, names):
    furnish(tmp_path / "out", names)
    own_folder(tmp_path / "out", OWNER, "choose another")  # of a comparison
    Store(tmp_path / "out", v1).close()
    assert {path.name for path in (tmp_path / "out").iterdir()} - {".lock"} == {"README.txt", "results.sqlite"}


def test_a_folder_of_an_earlier_version_is_taken_up_and_says_what_it_holds_now(tmp_path):
    furnish(tmp_path / "out", ["README.txt=This folder belongs to ns_mab_gym.experiments.\n\nunits/    every result"])
    Store(tmp_path / "out", v1).close()
    told = (tmp_path / "out" / "README.txt").read_text()
    assert all(name in told for name in ("results.sqlite", "summary.csv", "table.parquet", "docs/experiments.md"))
    assert "units/" not in told


@pytest.mark.parametrize("names", OTHERS.values(), ids=OTHERS)
def test_what_somebody_else_keeps_there_is_not(tmp_path, names):
    furnish(tmp_path / "out", names)
    before = listing(tmp_path)
    with pytest.raises(StoreError, match="holds other things; choose a new or empty folder"):
        Store(tmp_path / "out", v1)
    assert listing(tmp_path) == before


def test_a_folder_that_cannot_be_written_to_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot use the folder .*Not a directory"):
        Store(tmp_path / "file" / "out", v1)
    with pytest.raises(StoreError, match=r"file' is no folder; choose a new or empty folder for the results"):
        Store(tmp_path / "file", v1)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is read-only for an administrator")
@pytest.mark.parametrize("place", [".", "results.sqlite"])
def test_a_read_only_folder_is_one_clear_line(tmp_path, place):
    Store(tmp_path / "out", v1).close()
    (tmp_path / "out" / place).chmod(0o500 if place == "." else 0o400)
    try:
        with pytest.raises(StoreError, match=r"^cannot use the folder .*; what is stored there is intact.*$"):
            Store(tmp_path / "out", v1)
    finally:
        (tmp_path / "out" / place).chmod(0o700)


def test_the_folder_itself_may_be_a_link_to_another_disk(tmp_path, study, engine, progress):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    with Store(tmp_path / "out", v1) as store:
        assert len(run(study, store, engine, progress).computed) == 18
    assert (tmp_path / "disk" / "results.sqlite").is_file()


@pytest.mark.parametrize("where", [".", "figures"])
def test_leftovers_are_removed_wherever_files_are_written(tmp_path, where):
    Store(tmp_path / "out", v1).close()
    (tmp_path / "out" / where).mkdir(exist_ok=True)
    left = tmp_path / "out" / where / ".ns-mab-gym-0123456789abcdef.part"
    left.write_bytes(b"half")
    with Store(tmp_path / "out", v1):
        assert not left.exists()
        left.write_bytes(b"being written")
        with pytest.raises(StoreError, match="another process is writing"):
            Store(tmp_path / "out", v1)
        assert left.exists()  # of the store that is open


@pytest.mark.skipif(os.name == "nt", reason="there is no lock on Windows")
@pytest.mark.parametrize("end", ["close", "kill"])
def test_processes_that_outlive_the_owner_do_not_keep_the_lock(tmp_path, end):
    code = f"""
import os, time
from pathlib import Path
from ns_mab_gym.studies.store import FolderLock
lock = FolderLock(Path({str(tmp_path)!r}))
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
if {end == "close"}:
    lock.release()
print(child, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        orphan = int(owner.stdout.readline())
        try:
            if end == "kill":
                with pytest.raises(StoreError, match="another process is writing"):
                    FolderLock(tmp_path)
                owner.kill()
                owner.wait()
            FolderLock(tmp_path).release()
            os.kill(orphan, 0)  # raises an error unless it is alive
        finally:
            os.kill(orphan, signal.SIGKILL)
            owner.kill()
