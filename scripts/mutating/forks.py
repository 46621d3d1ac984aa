"""Runs pytest many times in forks of one process that has done the slow imports already.

It is started by the interpreter that has the project's dependencies, and imports nothing of the project itself: every
fork reads the code as it stands then. Each line of the input is an order, in JSON: the arguments of pytest, the folder,
the seconds that it may take, and a file for what it prints. Each line of the output is what pytest returned, or -9.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from typing import Any, NoReturn

import pytest

SLOW = ("numba.extending", "scipy.stats", "gymnasium.vector", "gymnasium.wrappers", "hypothesis.strategies")


def main() -> None:
    """Do the slow imports, and then whatever is asked."""
    for name in SLOW:
        importlib.import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _obey(order)
        print(_returned(child, order["seconds"]), flush=True)


def _obey(order: dict[str, Any]) -> NoReturn:
    """Run pytest, and end without returning to the parent's loop."""
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


def _returned(child: int, seconds: float) -> int:
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
    main()
