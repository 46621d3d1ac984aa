"""Commands that are killed, meet a full disk, or lose a worker of their cluster: nothing stored is lost.

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
import time
from collections.abc import Callable, Iterator
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


def on_cluster(cluster: Cluster, out: Path, stop_after: float | None = None) -> None:
    """Run a command to its end on a cluster, one worker of which is stopped in between."""
    arguments = [*ON_A_CLUSTER.split(), "--scheduler", cluster.address, "--out", str(out)]
    with subprocess.Popen([sys.executable, "-m", "ns_mab_gym", *arguments]) as process:
        if stop_after is not None:
            time.sleep(stop_after)
            cluster.workers[0].send_signal(signal.SIGSTOP)
        assert process.wait(300) == 0


def test_a_worker_that_falls_silent_is_given_up_and_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "10s")
    cluster = Cluster(tmp_path / "cluster")
    try:
        for _ in range(2):
            cluster.add_worker()
        for folder in ("first", "whole"):  # the first one waits for imports and the compiler, too
            began = time.perf_counter()
            on_cluster(cluster, tmp_path / folder)
        on_cluster(cluster, tmp_path / "out", 0.6 * (time.perf_counter() - began))
    finally:
        cluster.close()
    assert_whole(tmp_path / "out", tmp_path / "whole")
