"""One store at a time: the lock ends with its owner, and forked processes do not keep it."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from single_version import v1

from ns_mab_gym.experiments import Store, StoreError, folder_lock, run
from ns_mab_gym.experiments.folder_lock import FolderLock
from ns_mab_gym.workforce import hired

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no lock on Windows")


def is_free(folder):
    """Whether another process can have the folder: asked in one, as this process may hold it by itself."""
    asked = "import fcntl, sys; fcntl.flock(open(sys.argv[1], 'a'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    return subprocess.run([sys.executable, "-c", asked, folder / ".lock"], stderr=subprocess.DEVNULL).returncode == 0


@pytest.fixture
def pool():
    with ProcessPoolExecutor(2, get_context("fork")) as executor:
        yield executor


def test_a_pool_can_be_used_for_several_runs_with_one_folder(tmp_path, small_study, engine, progress, pool):
    """Its processes are forked while the lock is held, and live on."""
    for computed in (2, 0):
        with Store(tmp_path / "out", v1) as store:
            assert len(run(small_study, store, engine, progress, crew=hired(pool)).computed) == computed
    assert is_free(tmp_path / "out")


@pytest.mark.parametrize("end", ["close", "kill"])
def test_processes_that_outlive_the_owner_do_not_keep_the_lock(tmp_path, end):
    code = f"""
import os, sys, time
from pathlib import Path
from ns_mab_gym.experiments.folder_lock import FolderLock
lock = FolderLock(Path({str(tmp_path)!r}))
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
print(child, flush=True)
if {end == "close"}:
    lock.release()
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        orphan = int(owner.stdout.readline())
        if end == "kill":
            assert not is_free(tmp_path)
            owner.kill()
            owner.wait()
        try:
            assert any(is_free(tmp_path) for _ in range(100))
            os.kill(orphan, 0)  # raises an error unless it is alive
        finally:
            os.kill(orphan, signal.SIGKILL)
            owner.kill()


def test_a_forked_process_leaves_the_lock_with_its_owner(tmp_path):
    lock = FolderLock(tmp_path)
    child = os.fork()
    if child == 0:
        lock.release()  # as the end of a `with` block does, in a process that was forked within it
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert not is_free(tmp_path)
    lock.release()
    assert is_free(tmp_path)


def test_processes_forked_by_other_threads_while_locks_are_taken_do_not_keep_them(tmp_path):
    """A fork between the opening of the lock's file and its entry would inherit it; there is no such moment."""
    children, over = [], threading.Event()

    def fork():
        while not over.is_set() and len(children) < 40:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)

    thread = threading.Thread(target=fork)
    thread.start()
    try:
        while thread.is_alive():
            FolderLock(tmp_path).release()  # refused if some child had kept the lock of the time before
    finally:
        over.set()
        thread.join()
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_two_stores_in_one_process_do_not_share_a_folder(tmp_path):
    with Store(tmp_path, v1):
        for _ in range(2):
            with pytest.raises(StoreError, match=r"another process is writing to .*; wait for it, or choose"):
                Store(tmp_path, v1)
        assert not is_free(tmp_path)  # nor does the refused one end the lock of the first
    Store(tmp_path, v1).close()


def test_a_store_that_could_not_be_opened_leaves_the_folder_free(tmp_path):
    (tmp_path / "units").write_text("")
    (tmp_path / "README.txt").write_text("This folder belongs to ns_mab_gym.experiments.")
    with pytest.raises(StoreError, match="units' is no folder; remove it, or choose a new or empty folder"):
        Store(tmp_path, v1)
    (tmp_path / "units").unlink()
    Store(tmp_path, v1).close()


@pytest.mark.parametrize("how", ["closed", "failed"])
def test_the_next_store_has_the_folder_though_somebody_still_holds_the_file_open(tmp_path, monkeypatch, how):
    """As a process does between being forked and letting go, or until it runs another program."""
    usual, opened = folder_lock._opened, []

    def noted(path):
        handle = usual(path)
        opened.append(os.dup(handle.fileno()))
        return handle

    with monkeypatch.context() as patch:
        patch.setattr(folder_lock, "_opened", noted)
        if how == "closed":
            Store(tmp_path, v1).close()
        else:
            patch.setattr(Store, "_prepare", lambda self: [][0])
            with pytest.raises(IndexError):
                Store(tmp_path, v1)
    assert len(opened) == 1
    Store(tmp_path, v1).close()
    os.close(opened[0])


def test_the_lock_of_a_store_that_was_forgotten_ends_with_it(tmp_path):
    with pytest.warns(ResourceWarning):
        FolderLock(tmp_path)
    FolderLock(tmp_path).release()


def test_a_link_that_is_put_there_after_the_look_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / ".lock").symlink_to(tmp_path / "absent")
    monkeypatch.setattr("ns_mab_gym.experiments.folder_lock.os.path.lexists", lambda path: False)
    with pytest.raises(OSError, match="symbolic links"):
        FolderLock(tmp_path)
    assert not (tmp_path / "absent").exists()
