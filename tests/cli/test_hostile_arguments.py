"""Command lines that nobody should type: each does its work, or ends in one line of our own and the exit code 2."""

from __future__ import annotations

import importlib

import pytest

from ns_mab_gym import agents, worlds
from ns_mab_gym.cli import parser
from ns_mab_gym.cli.entry import main
from ns_mab_gym.tuning.race import WorldEvaluator

from ..support.fuzzing import guest
from ..support.hostile import TYPED, foreign, one_of

WORLD, OTHER = "piecewise:n_arms=3,horizon=50", "stationary:mu=0.1,0.5,0.9,horizon=40"
NUMBERS = [
    "0", "-1", "1", "2", "7", "1e3", "2.5", "nan", "inf", "-inf", "1e308", "1e400", "-0.0", "1e-320", "9" * 400,
    "9" * 5_000, str(2**31), str(2**63 - 1), str(2**63), str(2**64), str(2**128), "1e12", "1e18", "", "x", "true",
    "[1,2]", "0.5", "é", "\0",
]  # fmt: skip
SPACES = [
    "window=10:20", "window=", "window=nan:inf", "window=20:10", "window=1:2:3:4", "window=1e400:2", "window=-1:5",
    "x=1", "window=0:9:log", "window=5:9:memory", "window=a,b", "window=9,9", "window=1e18,2", "xi=1:2", "=1:2",
    "window=5:9:x",
]  # fmt: skip
PATHS = [
    "out", "", "\0", "taken", "taken/x", "x" * 300, "/dev/null", "/proc/nowhere", "a/b/c", "é", "out.svg",
    "\udcff.png",
]  # fmt: skip
# command: words with what each of them is; what is tried in its place depends on that.
SEEDED = "--seed number:1 --jobs number:1"
STUDY = f"--out path:out --executor word:threads --retries number:1 {SEEDED}"
GOOD = {
    "paper": f"--runs number:2 --horizon number:100 {STUDY}",
    "evaluate": f"--env world:{WORLD} world:{OTHER} --agents agent:ts agent:beta-swts:window=5|9 --runs number:2 "
    f"--reference word:ts {STUDY}",
    "leaderboard": "--worlds word:Abrupt --quick --agents agent:ts:binarize=true --division word:blind "
    f"--runs number:2 --snapshot path:shot {STUDY}",
    "tune": f"world:{WORLD} agent:sw-ucb:xi=0.6 --seconds number:1 --runs number:30 "
    f"--space space:window=10:20 {SEEDED}",
    "recommend": f"world:{WORLD} --seconds number:1 --runs number:30 --agents word:ts {SEEDED}",
    "diagnose": f"world:{OTHER} --agent word:beta-swts --windows number:9 --out path:out --measure --runs number:2",
    "log": "path:log.csv --time word:timestamp --arm word:variant --reward word:clicked "
    "--fold word:day --out path:out --permutations number:19 --seed number:1",
    "train": f"--env world:{WORLD} --algo word:ppo:n_steps=16 --timesteps number:6400 --windows number:5 "
    "--runs number:2 --agents agent:random --device word:cpu --checkpoint-every number:9 --tuning-runs number:20 "
    "--threads number:1 --seed number:1 number:2 --out path:out",
    "serve": "path:out.sqlite --arms word:a word:b --agent agent:ts --window word:1d --per-day number:10 "
    "--reward-range number:0 number:1 --expire word:1h --holdout number:0.1 --seed number:1 --port number:80",
    "plot": f"world:{WORLD} world:{OTHER} --out path:out.png --seed number:1",
    "agents": "word:ts",
    "worlds": "word:piecewise",
    "cite": "",
}
ANSWERED = ("agents", "worlds", "cite")  # without any work
COMMANDS = [*GOOD, *("evaluate", "tune", "diagnose", "plot") * 3]


class EnoughError(ValueError):
    """Everything was checked, and the work would begin."""


def enough(*_, **__):
    raise EnoughError


@pytest.fixture
def idle(monkeypatch, tmp_path):
    """Commands that stop where their work begins; the fixture is a list of the errors that they end in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(WorldEvaluator, "warm_up", enough)
    monkeypatch.setattr("ns_mab_gym.parallel.map_unordered", enough)
    monkeypatch.setattr("ns_mab_gym.tuning.diagnosis.compare_windows", enough)
    monkeypatch.setattr("ns_mab_gym.figures.theory.diagnosis_figure", enough)
    monkeypatch.setattr("ns_mab_gym.studies.pictures.save", lambda figure, folder, name: [])
    monkeypatch.setattr("ns_mab_gym.figures.worlds.gallery_figure", enough)
    monkeypatch.setattr("ns_mab_gym.logs.drift.drift_of", enough)
    (tmp_path / "log.csv").write_text("timestamp,variant,clicked\n2026-01-01,a,1\n2026-01-02,b,0\n")
    monkeypatch.setattr("ns_mab_gym.live.live.Live.compile", enough)
    if importlib.util.find_spec("stable_baselines3"):
        monkeypatch.setattr("ns_mab_gym.deep.folder.train", enough)
    ended = []
    told = parser.in_one_line
    monkeypatch.setattr(parser, "in_one_line", lambda error: ended.append(error) or told(error))
    return ended


def run(command, arguments):
    try:
        return main([command, *arguments])
    except parser.HelpShown:
        return 0


def hostile(rng, kind):
    """Something that may be typed in the place of a good word of this kind."""
    if kind == "world":
        name = one_of(rng, list(worlds.names()))
        return settings(rng, name, worlds.kind(name).parameters(), ",horizon=50" if name != "table" else "")
    if kind == "agent":
        name = one_of(rng, list(agents.HOUSE))
        return settings(rng, name, agents.kind(name).tunable(), "")
    return one_of(rng, {"number": NUMBERS, "space": SPACES, "path": PATHS}.get(kind, TYPED))


def settings(rng, name, parameters, rest):
    if not parameters:
        return f"{name}:x={one_of(rng, NUMBERS)}"
    key = one_of(rng, list(parameters))
    return f"{name}:{key}={one_of(rng, NUMBERS)}{'' if key == 'horizon' else rest}"


def good(command):
    """Arguments with which nothing is wrong."""
    return [word.partition(":")[2] or word for word in GOOD[command].split()]


def typed(rng):
    """A command and arguments of which one to three are amiss."""
    command = one_of(rng, COMMANDS)
    words = []
    for word in GOOD[command].split():
        kind, colon, good = word.partition(":")
        amiss = colon and rng.random() < 0.2
        any_kind = rng.random() < 0.2
        words.append((one_of(rng, TYPED) if any_kind else hostile(rng, kind)) if amiss else good or word)
    if words and rng.random() < 0.1:
        words.pop(int(rng.integers(len(words))))
    return command, words


@pytest.mark.parametrize("command", GOOD)
def test_good_arguments_lead_to_the_work(idle, command):
    """Else hostile ones would meet little of what stands before it."""
    for extra in {"train": ["stable_baselines3"], "serve": ["uvicorn", "starlette"]}.get(command, []):
        pytest.importorskip(extra)
    run(command, good(command))
    assert [type(error) for error in idle] == ([] if command in ANSWERED else [EnoughError])


def test_hostile_arguments(guests, idle, capsys, tmp_path):
    (tmp_path / "taken").write_text("a file is in the way")
    for rng in guests:
        command, words = typed(rng)
        with guest():
            code = run(command, words)
        said = capsys.readouterr().err
        assert code in (0, 2), (command, words, said)
        assert said.count(": error: ") <= 1, (command, words, said)
        assert "Traceback" not in said, (command, words, said)
        for error in idle:
            stopped = isinstance(error, EnoughError) or isinstance(error.__cause__, EnoughError)
            assert stopped or foreign(error) is None, (command, words, said)
        idle.clear()
