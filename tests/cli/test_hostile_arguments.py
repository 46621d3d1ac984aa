"""Command lines that nobody should type: each does its work, or ends in one line of our own and the exit code 2."""

from __future__ import annotations

import importlib

import pytest

from ns_mab_gym.choosing.arena import Arena
from ns_mab_gym.cli import door, entry
from tests.support.fuzzing import guest
from tests.support.hostile import TYPED, foreign, one_of

WORLD, OTHER = "piecewise:n_arms=3,horizon=50", "stationary:mu=0.1,0.5,0.9,horizon=40"
# command: what it needs, and its options with values that are good.
GOOD = {
    "paper": ([], {"--runs": "2", "--horizon": "100", "--seed": "1", "--jobs": "1", "--out": "out", "--paper-only": None}),
    "evaluate": (
        ["--env", WORLD, "--agents", "ts", "beta-swts:window=5|9"],
        {"--runs": "2", "--seed": "1", "--jobs": "1", "--out": "out", "--reference": "ts"},
    ),
    "leaderboard": (
        ["--worlds", "stationary", "--quick"],
        {"--agents": "ts:binarize=true", "--division": "blind", "--runs": "2", "--seed": "1", "--jobs": "1", "--out": "out",
         "--snapshot": "shot"},
    ),
    "tune": ([WORLD, "sw-ucb:xi=0.6"], {"--budget": "1", "--runs": "30", "--space": "window=10:20", "--seed": "1", "--jobs": "1"}),
    "recommend": ([WORLD], {"--seconds": "1", "--runs": "30", "--agents": "ts", "--seed": "1", "--jobs": "1"}),
    "diagnose": ([OTHER], {"--agent": "beta-swts", "--windows": "9", "--out": "out", "--runs": "2", "--seed": "1", "--measure": None}),
    "train": (["--env", WORLD], {"--algo": "ppo", "--timesteps": "100", "--windows": "5", "--runs": "2", "--seed": "1",
                                 "--threads": "1", "--out": "out"}),
    "plot": ([WORLD, OTHER], {"--out": "out.png", "--seed": "1"}),
    "agents": (["ts"], {}),
    "worlds": (["piecewise"], {}),
    "cite": ([], {}),
}  # fmt: skip


class EnoughError(ValueError):
    """Everything was checked, and the work would begin."""


def enough(*_, **__):
    raise EnoughError


@pytest.fixture
def idle(monkeypatch, tmp_path):
    """Commands that stop where their work begins; the fixture is a list of the errors that they end in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Arena, "warm_up", enough)
    monkeypatch.setattr("ns_mab_gym.experiments.measurement.compare", enough)
    monkeypatch.setattr("ns_mab_gym.figures.diagnosis.diagnosis_figure", enough)
    monkeypatch.setattr("ns_mab_gym.figures.gallery.gallery_figure", enough)
    if importlib.util.find_spec("stable_baselines3"):
        monkeypatch.setattr("ns_mab_gym.rl.training.train", enough)
    ended = []
    told = door.in_one_line
    monkeypatch.setattr(door, "in_one_line", lambda error: ended.append(error) or told(error))
    return ended


def run(command, arguments):
    module = importlib.import_module(f"ns_mab_gym.cli.{command}_command")
    stub = {"simulate": enough} if command in ("paper", "evaluate", "leaderboard") else {}
    try:
        return module.main(arguments, command, **stub)
    except door.HelpShown:
        return 0


def typed(rng):
    """A command and arguments of which one to three are amiss."""
    command = one_of(rng, list(GOOD))
    needed, options = GOOD[command]
    words = list(needed)
    for option, value in options.items():
        if rng.random() < 0.5:
            words += [option] if value is None else [option, value]
    for _ in range(int(rng.integers(1, 3))):
        kind = rng.random()
        if kind < 0.75 and words:
            place = int(rng.integers(len(words)))
            words[place] = one_of(rng, TYPED)
        elif kind < 0.9:
            words.insert(int(rng.integers(len(words) + 1)), one_of(rng, TYPED))
        elif words:
            words.pop(int(rng.integers(len(words))))
    return command, words
