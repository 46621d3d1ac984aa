"""An agent in service that is killed over and over, beside one that nobody disturbs; and the time of one request.

`python scripts/benchmarks/live.py FILE STEPS AGENT` is the process that is killed: a client who makes one decision in
each step of ten seconds, whose rewards come 1, 7 or 40 steps later, once, twice, or never. It goes on where it was.
"""

from __future__ import annotations

import os
import random
import re
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

import ns_mab_gym as nsb

ARMS = {"blue": 0.05, "green": 0.08, "red": 0.02}
DELAYS = (1, 7, 40)  # steps
LOST, TWICE, AGAIN = 0.2, 0.2, 3  # shares of the rewards; and how many steps later the second copy comes
SETTINGS: dict[str, Any] = {"window": "1d", "per_day": 8_640, "expire": "20m", "holdout": 0.05, "seed": 26}
DECISIONS, KILLS = 200_000, 100
TIMED = 5_000


def due(step: int, arms: dict[int, str]) -> list[tuple[int, float]]:
    """The rewards that come in a step, of decisions whose arms are given."""
    rewards = []
    for delay in DELAYS:
        for later in (0, AGAIN):
            id_ = step - delay - later
            luck = random.Random(id_)
            lost, twice = luck.random() < LOST, luck.random() < TWICE
            if id_ > 0 and luck.choice(DELAYS) == delay and not lost and (twice or not later):
                rewards.append((id_, float(luck.random() < ARMS[arms[id_]])))
    return rewards


def play(path: Path, steps: int, agent: str) -> None:
    """Make the decisions that are missing; each one is written down, as a client would, once it is answered."""
    step = 0
    with nsb.Live(agent, ARMS, path, clock=lambda: 10.0 * step, **SETTINGS) as live:
        with closing(sqlite3.connect(path)) as db:
            query = "SELECT d.id, a.name FROM decisions d JOIN arms a ON a.place = d.arm ORDER BY d.id DESC LIMIT 100"
            arms = dict(db.execute(query).fetchall())
        done = max(arms, default=0)
        notes = os.open(f"{path}.client", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for step in range(max(1, done), steps + 1):
            if step > done:
                [made] = live.decide()
                os.write(notes, f"{made.id} {made.arm}\n".encode())
                arms[made.id] = made.arm
                arms.pop(made.id - 100, None)
            live.learn(due(step, arms))
        os.close(notes)


def interrupted(path: Path, steps: int, agent: str, kills: int) -> int:
    """Play in processes that are killed when they reach random steps; returns how often one was."""
    targets, killed = sorted(random.Random(1).sample(range(1, steps), kills)), 0
    while True:
        child = subprocess.Popen([sys.executable, __file__, str(path), str(steps), agent])
        while child.poll() is None:
            time.sleep(0.002)
            if targets and made(path) >= targets[0]:
                child.kill()
                killed += child.wait() != 0
                while targets and made(path) >= targets[0]:
                    targets.pop(0)
        if child.returncode == 0:
            return killed


def made(path: Path) -> int:
    """How many decisions the file has."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT max(id) FROM decisions").fetchone()[0] or 0)
    return 0


def differences(path: Path, other: Path, agent: str) -> dict[str, int]:
    """What the killed one forgot or counted twice, and what differs from the one that nobody disturbed."""
    with closing(sqlite3.connect(path)) as mine, closing(sqlite3.connect(other)) as theirs:
        names = dict(mine.execute("SELECT place, name FROM arms"))
        told = [line.split() for line in Path(f"{path}.client").read_text().splitlines()]
        known = {str(id_): names[arm] for id_, arm in mine.execute("SELECT id, arm FROM decisions")}
        shown = "SELECT e.value FROM journal j, json_each(j.about) e WHERE j.what IN ('learn', 'expire')"
        ids = [id_ for (id_,) in mine.execute(shown)]
        rows = "SELECT * FROM decisions ORDER BY id"
        different = sum(a != b for a, b in zip(mine.execute(rows), theirs.execute(rows), strict=True))
    states, estimates = [], []
    for each in (path, other):
        with nsb.Live(agent, None, each, clock=lambda: 0.0, **SETTINGS) as live:
            states.append([np.asarray(each).tobytes() for each in live._agent.state_dict().values()])
            estimates.append(repr(live.estimates()))
    return {
        "forgotten": sum(known.get(id_) != arm for id_, arm in told),
        "counted twice": len(ids) - len(set(ids)),
        "rows that differ": different,
        "arrays that differ": sum(one != other for one, other in zip(*states, strict=True)),
        "estimates that differ": int(estimates[0] != estimates[1]),
    }


def killed(steps: int = DECISIONS, kills: int = KILLS, agent: str = "sw-ucb") -> Any:
    """Print what is lost by kill -9, and the time of a request meanwhile."""
    from benchmarks._common import Outcome

    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder, "killed.sqlite"), Path(folder, "undisturbed.sqlite")
        times = interrupted(path, steps, agent, kills)
        began = time.perf_counter()
        play(other, steps, agent)
        seconds = time.perf_counter() - began
        found = differences(path, other, agent)
        size = other.stat().st_size
    said = ", ".join(f"{count} {what}" for what, count in found.items())
    print(f"killed: {steps:,} decisions of {agent}, killed {times} times: {said}; {size / 2**20:.0f} MiB, ", end="")
    print(f"{seconds / steps * 1e6:.0f} µs for a decision with its rewards", flush=True)
    return Outcome(not any(found.values()), {**found, "decisions": steps, "kills": times, "bytes": size})


def requests() -> Any:
    """Print the time of one decision and of one reward, for some agents."""
    from benchmarks._common import Outcome

    figures = {}
    for agent in ("changepoint-ucb", "sw-ucb", "beta-swts"):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"window": "7d", "per_day": 5_000, "seed": 1}
            with nsb.Live(agent, ARMS, Path(folder, "state.sqlite"), **settings) as live:
                live.compile()
                times = np.zeros((TIMED, 2))
                for row in times:
                    began = time.perf_counter()
                    [decision] = live.decide()
                    between = time.perf_counter()
                    live.learn([(decision.id, float(random.random() < ARMS[decision.arm]))])
                    row[:] = between - began, time.perf_counter() - between
        found = {}
        for name, column in zip(("decide", "learn"), times.T * 1e6, strict=True):
            found[name] = {"p50": float(np.median(column)), "p99": float(np.quantile(column, 0.99))}
        figures[agent] = found
        said = ", ".join(f"{name} {each['p50']:.0f} µs (p99 {each['p99']:.0f})" for name, each in found.items())
        print(f"requests: {agent}: {said}", flush=True)
    return Outcome(True, figures)


def served(seconds: int = 10) -> Any:
    """Print how many decisions a second the service makes under load, with wrk (a Debian package) at 127.0.0.1."""
    from benchmarks._common import Outcome

    if shutil.which("wrk") is None:
        print("served: not measured: wrk is not installed")
        return Outcome(True, {})
    token, figures = secrets.token_hex(16), {}
    for agent in ("changepoint-ucb", "sw-ucb:window=5000"):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            taken.close()
            words = [f"{folder}/state.sqlite", "--arms", *ARMS, "--agent", agent, "--port", str(port)]
            command = [sys.executable, "-m", "ns_mab_gym", "serve", *words]
            server = subprocess.Popen(command, env=os.environ | {"NS_MAB_GYM_TOKEN": token}, stdout=subprocess.DEVNULL)
            while server.poll() is None:
                with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz"):
                    break
                time.sleep(0.1)
            Path(folder, "ask.lua").write_text(
                'wrk.method = "POST"\nwrk.body = "{}"\nwrk.headers["Content-Type"] = "application/json"\n'
                f'wrk.headers["Authorization"] = "Bearer {token}"\n'
            )
            load = ["wrk", "-t1", "-c8", f"-d{seconds}s", "--latency", "-s", f"{folder}/ask.lua"]
            said = subprocess.run([*load, f"http://127.0.0.1:{port}/decide"], capture_output=True, text=True).stdout
            server.terminate()
            server.wait()
        if "Non-2xx" in said:
            raise RuntimeError(said)
        rate = float(re.findall(r"Requests/sec: +([\d.]+)", said)[0])
        value, unit = re.findall(r"99% +([\d.]+)(us|ms|s)", said)[0]
        figures[agent] = {"a second": rate, "p99": float(value) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]}
        print(f"served: {agent}: {rate:.0f} decisions a second, p99 {figures[agent]['p99']:.1f} ms", flush=True)
    return Outcome(True, figures)


if __name__ == "__main__":
    play(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
