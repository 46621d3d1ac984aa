"""A command on a cluster, in which things go wrong in mid-run: what the user sees, and whether anything is lost."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from ns_mab_gym.cli.evaluate_command import main
from ns_mab_gym.workforce import dispatching

from .forked_command import Ended, ForkedCommand, units_in, without_report

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from clusters import Cluster

__all__ = ["KINDS", "try_cluster"]

AGENTS = ("beta-swts", "ts", "sw-ucb", "faulting.faulty:Faulty")
ARGUMENTS = ["--env", "NSBandit-Abrupt-v0:horizon=2000", "--agents", *AGENTS, "--runs", "500"]
SCRIPTS = Path(__file__).parents[1]
PATIENCE = 2.0  # seconds after which others are given a copy of a task; ten for users


class Trial:
    """One command into one folder, on a cluster of two workers."""

    def __init__(self, scratch: Path, number: int) -> None:
        self.folder, self.fault = scratch / f"out-{number}", scratch / "fault"
        self.cluster = _cluster(scratch)

    def begin(self) -> ForkedCommand:
        """Start the command in a process of its own."""
        given = [*ARGUMENTS, "--scheduler", self.cluster.address, "--out", str(self.folder)]
        return ForkedCommand(given, _hasten)

    def whole(self) -> Ended:
        """The same command once more, to its end."""
        return self.begin().ended()


def _hasten() -> None:
    """Leave out the report, and wait less for workers that say nothing."""
    without_report()
    dispatching.PATIENCE = PATIENCE


def _cluster(scratch: Path) -> Cluster:
    found = Cluster(Path(tempfile.mkdtemp(prefix="cluster-", dir=scratch)))
    for _ in range(2):
        found.add_worker(SCRIPTS)
    return found


Fault = Callable[[Trial, int, float], None]


def _kill_worker(trial: Trial, child: int, moment: float) -> None:
    time.sleep(moment)
    trial.cluster.workers[0].kill()
    trial.cluster.add_worker(SCRIPTS)


def _stop_worker(trial: Trial, child: int, moment: float) -> None:
    time.sleep(moment)
    trial.cluster.workers[0].send_signal(signal.SIGSTOP)


def _kill_coordinator(trial: Trial, child: int, moment: float) -> None:
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)


def _kill_scheduler(trial: Trial, child: int, moment: float) -> None:
    time.sleep(moment)
    trial.cluster.scheduler.kill()


def _nothing(trial: Trial, child: int, moment: float) -> None:
    """The fault was there before."""


KINDS: dict[str, Fault] = {
    "worker killed": _kill_worker,
    "worker stopped": _stop_worker,
    "coordinator killed": _kill_coordinator,
    "scheduler killed": _kill_scheduler,
    "unit fails": _nothing,
    "disk full": _nothing,
}


def try_cluster(scratch: Path, times: int, kinds: list[str]) -> bool:
    """Try every kind of fault so many times; prints a table, and returns whether nothing was lost."""
    os.environ["FAULT"] = str(scratch / "fault")
    reference, seconds = _reference(scratch)
    print(f"an undisturbed command takes {seconds:.1f} s, of which the work begins after about {seconds / 3:.1f} s")
    dice, well = random.Random(15), True
    for kind in kinds:
        seen: Counter[str] = Counter()
        lost = 0
        for number in range(times):
            what, alike = _tried(scratch, kind, number, dice.uniform(0.3, 1.0) * seconds, reference)
            seen[what] += 1
            lost += not alike
        print(f"{kind}: {times} injected, {lost} with anything lost", flush=True)
        for what, often in seen.most_common():
            print(f"  {often:3d} × {what}", flush=True)
        well &= lost == 0
    return well


def _reference(scratch: Path) -> tuple[pd.DataFrame, float]:
    main([*ARGUMENTS, "--out", str(scratch / "reference")])  # also imports and compiles everything, before any fork
    trial = Trial(scratch, 10**6)
    try:
        began = time.perf_counter()
        assert trial.whole().status == 0
        return units_in(scratch / "reference"), time.perf_counter() - began
    finally:
        trial.cluster.close()


def _tried(scratch: Path, kind: str, number: int, moment: float, reference: pd.DataFrame) -> tuple[str, bool]:
    """Inject one fault; returns what the user saw, and whether the results are whole in the end."""
    trial = Trial(scratch, number)
    if kind == "unit fails":
        trial.fault.touch()
    if kind == "disk full":
        _mount(trial.folder, int(60_000 + 300_000 * moment))
    try:
        command = trial.begin()
        KINDS[kind](trial, command.process, moment)
        ended = command.ended()
        trial.fault.unlink(missing_ok=True)
        if kind == "disk full":
            subprocess.run(["mount", "-o", "remount,size=100m", str(trial.folder)], check=True)
        if ended.status != 0:
            trial.cluster.close()
            trial.cluster = _cluster(scratch)
            again = trial.whole()
            if again.status != 0:
                return f"{_seen(ended, trial)}; and again: {_seen(again, trial)}", False
        return _seen(ended, trial), units_in(trial.folder).equals(reference)
    finally:
        trial.cluster.close()
        if kind == "disk full":
            subprocess.run(["umount", str(trial.folder)], check=True)
        shutil.rmtree(trial.folder, ignore_errors=True)


def _mount(folder: Path, size: int) -> None:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)


def _seen(ended: Ended, trial: Trial) -> str:
    """The end of a command in words that are the same for every trial."""
    line = ended.last.replace(str(trial.folder), "FOLDER").replace(trial.cluster.address, "ADDRESS")
    numberless = "".join("0" if letter.isdigit() else letter for letter in line)
    while "00" in numberless:
        numberless = numberless.replace("00", "0")
    return f"exit code {ended.status}: {numberless[:230]}"
