"""Commands that are killed, meet a full disk or each other, or lose parts of their cluster: nothing stored is lost.

``pytest -m slow tests/studies/test_faults.py`` kills each command 3 times; ``FAULT_KILLS=70`` has each killed 70 times.
Everything goes through the command line, and the tables at the end are compared with those of an undisturbed command.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from clusters import Cluster

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("FAULT_KILLS", "3"))
COMMANDS = {
    "evaluate": "evaluate --env NSBandit-Abrupt-v0:horizon=300 --agents ts random sw-ucb --runs 75",
    "paper": "paper --paper-only --horizon 200 --runs 3",
    "leaderboard": "leaderboard --quick --runs 2 --division blind --worlds rising",
}
ON_A_CLUSTER = "evaluate --env NSBandit-Abrupt-v0:horizon=2000 --agents beta-swts ts sw-ucb --runs 500 --executor dask"
SERVER = """
# Forks a process for each line that it reads, after the first command has imported and compiled everything.
import json, os, runpy, signal, sys, time

def command(arguments):
    sys.argv = ["ns-mab-gym", *arguments]
    try:
        runpy.run_module("ns_mab_gym", run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)

for number, line in enumerate(sys.stdin):
    order = json.loads(line)
    if number == 0:
        sys.stdout, stdout = sys.stderr, sys.stdout
        code = command(order["arguments"])
        sys.stdout = stdout
        print(code, flush=True)
        continue
    child = os.fork()
    if child == 0:
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(log, stream)
        os._exit(command(order["arguments"]))
    if order["kill_after"] is not None:
        time.sleep(order["kill_after"])
        os.kill(child, signal.SIGKILL)  # until it is waited for, its number is its own
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Server:
    """A process that has run a command once, and forks others that begin at once.

    Attributes:
        whole: the folder of the first command.
        seconds: the time of an undisturbed command.
    """

    def __init__(self, command: str, scratch: Path) -> None:
        self.command, self.scratch, self.whole = command.split(), scratch, scratch / "whole"
        with (scratch / "server.log").open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    def begin(self) -> None:
        """Run the command twice without any fault, once here and once in a fork."""
        self._order(self.whole)
        assert self._answer() == 0, (self.scratch / "server.log").read_text()
        began = time.perf_counter()
        assert self.run(self.scratch / "again")[0] == 0
        self.seconds = time.perf_counter() - began

    def run(self, folder: Path, kill_after: float | None = None) -> tuple[int, str]:
        """Run the command into a folder, killed after some seconds or not; its exit code and its last line."""
        self._order(folder, kill_after)
        code = self._answer()
        lines = (self.scratch / "log").read_text(errors="replace").split("\n")
        return code, next((line for line in reversed(lines) if line.strip()), "")

    def _order(self, folder: Path, kill_after: float | None = None) -> None:
        assert self.process.stdin is not None
        order = {"arguments": [*self.command, "--out", str(folder)], "log": str(self.scratch / "log")}
        print(json.dumps(order | {"kill_after": kill_after}), file=self.process.stdin, flush=True)

    def _answer(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate(timeout=60)


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """All tables that a command wrote, without measured seconds."""
    read = {".csv": pd.read_csv, ".parquet": pd.read_parquet}
    files = [file for file in sorted(folder.iterdir()) if file.suffix in read]
    found = {file.name: read[file.suffix](file) for file in files}
    assert found
    return {name: table.drop(columns="engine_seconds", errors="ignore") for name, table in found.items()}


def assert_whole(folder: Path, whole: Path) -> None:
    """Assert that a folder has the tables of another, and nothing half written."""
    assert list(folder.rglob("*.part")) == []
    found, wanted = tables(folder), tables(whole)
    assert found.keys() == wanted.keys()
    for name, table in wanted.items():
        pd.testing.assert_frame_equal(found[name], table, obj=name)


def assert_refused(code: int, line: str) -> None:
    """Assert that a command ended with an error of ours, in one line at the end."""
    assert code == 2
    assert ": error: " in line


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[str], Server]]:
    servers: list[Server] = []

    def start(command: str) -> Server:
        servers.append(Server(command, tmp_path))
        servers[-1].begin()
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_any_moment_the_same_command_ends_with_the_whole_tables(
    name: str, serve: Callable[[str], Server], tmp_path: Path
) -> None:
    server, dice = serve(COMMANDS[name]), random.Random(14)
    for number in range(KILLS):
        folder = tmp_path / f"killed-{number}"
        for _ in range(2):  # the second kill meets what the first has left
            server.run(folder, kill_after=dice.uniform(0, server.seconds))
        code, line = server.run(folder)
        assert code == 0, line
        assert_whole(folder, server.whole)


def test_two_commands_into_one_folder_one_of_which_is_refused(serve: Callable[[str], Server], tmp_path: Path) -> None:
    server = serve(COMMANDS["evaluate"])
    arguments = [*server.command, "--out", str(tmp_path / "shared")]
    command = [sys.executable, "-m", "ns_mab_gym", *arguments]
    slow = [*command, "--runs", "20000", "--agents", "sw-ucb"]  # has the folder while the other one comes
    with subprocess.Popen(slow, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        deadline = time.monotonic() + 60
        while not (tmp_path / "shared").is_dir() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        assert first.poll() is None
        assert_refused(*server.run(tmp_path / "shared"))
        first.kill()
    assert server.run(tmp_path / "shared")[0] == 0
    assert_whole(tmp_path / "shared", server.whole)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 MB, where one may mount it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_on_a_full_disk_it_stops_in_one_line_and_goes_on_when_there_is_room(
    serve: Callable[[str], Server], disk: Path
) -> None:
    server = serve(COMMANDS["evaluate"])
    needed = sum(file.stat().st_size for file in server.whole.rglob("*") if file.is_file())
    for number in range(KILLS):
        free = needed * number**3 // KILLS**3  # most of what is written is the page, at the end
        (disk / "ballast").write_bytes(bytes((32 << 20) - free // 4096 * 4096))
        folder = disk / f"out-{number}"
        assert_refused(*server.run(folder))
        (disk / "ballast").unlink()
        code, line = server.run(folder)
        assert code == 0, line
        assert_whole(folder, server.whole)
        subprocess.run(["rm", "-r", str(folder)], check=True)


def kill_worker(cluster: Cluster) -> None:
    cluster.workers[0].kill()
    cluster.add_worker()


def stop_worker(cluster: Cluster) -> None:
    cluster.workers[0].send_signal(signal.SIGSTOP)


def kill_scheduler(cluster: Cluster) -> None:
    cluster.scheduler.kill()


def on_cluster(
    cluster: Cluster, out: Path, after: float = 0, fault: Callable[[], None] | None = None
) -> tuple[int, str]:
    """Run a command on a cluster in which something happens in between; its exit code and its last line."""
    arguments = [*ON_A_CLUSTER.split(), "--scheduler", cluster.address, "--out", str(out)]
    command = [sys.executable, "-m", "ns_mab_gym", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        time.sleep(after)
        if fault is not None:
            fault()
        elif after:
            process.kill()
        said = process.communicate(timeout=300)[0]
    return process.returncode, next((line for line in reversed(said.split("\n")) if line.strip()), "")


@pytest.mark.parametrize("fault", [kill_worker, stop_worker, kill_scheduler, None])
def test_a_study_survives_the_loss_of_a_part_of_its_cluster(
    fault: Callable[[Cluster], None] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a fault of the cluster, the command itself is killed."""
    pytest.importorskip("distributed")
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "10s")  # after which a silent worker is given up
    expected = 0 if fault in (kill_worker, stop_worker) else 2 if fault else -signal.SIGKILL
    whole, clusters = tmp_path / "whole", ExitStack()

    def cluster() -> Cluster:
        found = Cluster(Path(tempfile.mkdtemp(prefix="cluster-", dir=tmp_path)))
        clusters.callback(found.close)
        for _ in range(2):
            found.add_worker()
        return found

    with clusters:
        undisturbed = cluster()
        for folder in (tmp_path / "first", whole):  # the first one waits for imports and the compiler, too
            began = time.perf_counter()
            assert on_cluster(undisturbed, folder)[0] == 0
        moment = random.Random(15).uniform(0.4, 0.8) * (time.perf_counter() - began)
        for attempt in range(3):
            out, disturbed = tmp_path / f"out-{attempt}", cluster()
            code, line = on_cluster(disturbed, out, moment, partial(fault, disturbed) if fault is not None else None)
            if code == expected:
                break
            assert code == 0, line  # it had ended before
            moment *= 0.7
        assert code == expected, line
        if code != 0:
            code, line = on_cluster(cluster(), out)
            assert code == 0, line
        assert_whole(out, whole)
