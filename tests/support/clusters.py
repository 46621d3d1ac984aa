"""Dask clusters that tests start and stop: a scheduler and workers as processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Cluster:
    """A Dask scheduler and its workers as processes of their own, as on a cluster.

    Args:
        folder: where they are started, and write what they have to say.
        certificates: the options that name certificates, if the members are to ask each other for them.
    """

    def __init__(self, folder: Path, certificates: Sequence[str] = ()) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.certificates, self.workers = folder, certificates, []
        self._file = folder / "scheduler.json"
        protocol = "tls" if certificates else "tcp"
        options = ["--port", "0", "--scheduler-file", str(self._file), "--no-dashboard", "--protocol", protocol]
        self.scheduler = self._start("scheduler", *options)
        deadline = time.monotonic() + 60
        while not self._file.exists():
            if time.monotonic() > deadline or self.scheduler.poll() is not None:
                self.close()
                raise AssertionError("the scheduler does not start")
            time.sleep(0.05)

    @property
    def address(self) -> str:
        return json.loads(self._file.read_text())["address"]

    def add_worker(self, path: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a worker with one thread; ``path`` can be imported there before anything else."""
        arguments = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--scheduler-file", str(self._file)]
        worker = self._start("worker", *arguments, path=path)
        self.workers.append(worker)
        return worker

    def _start(self, *arguments: str, path: Path | None = None) -> subprocess.Popen[bytes]:
        roots = [str(path)] if path else []
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([*roots, str(ROOT), str(ROOT / "tests" / "support")])}
        command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:], *self.certificates]
        with (self.folder / f"{arguments[0]}.log").open("ab") as log:
            return subprocess.Popen(command, env=environment, cwd=self.folder, stdout=log, stderr=log)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait(30)
