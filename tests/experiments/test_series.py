"""What is computed once for all blocks of a series is what would have been computed for each of them."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
from dataclasses import FrozenInstanceError, replace
from itertools import product

import pytest
from asked_units import asked_one_by_one

from ns_mab_gym.experiments import AgentEntry, Experiment, Study, WorldEntry, identity
from ns_mab_gym.experiments.pinned_files import pinned
from ns_mab_gym.experiments.units import Unit, units_of

LAW = {"name": "beta", "first_run": 7, "runs": [1, 2.5, {"z": None, "a": True}]}
QUOTED = {"runs": '", "runs": 25', "first_run": 0}
# a world, an agent, their parameters, the seed and the rounds
TABLE = {
    "plain": ("NSBandit-Abrupt-v0", {}, "ts", {}, 0, ()),
    "parameters": ("NSBandit-Smooth-v0", {"sigma": 1e-3, "horizon": 100}, "beta-swts", {"window": 50}, 3, ()),
    "nested": ("piecewise", {"reward": LAW, "mu": [[0.1, 0.25], [1, 0.0]]}, "restarting", {"base": {"b": 1}}, 0, ()),
    "rounds": ("NSBandit-Abrupt-v0", {}, "ts", {}, 2**127, (1, 10, 100)),
    "letters": ("Wörld 世界 🎲", {"näme": "Ünïcode é"}, 'quoted "first_run": 0, ', QUOTED, 0, ()),
}
CODES = ("v1", "unknown-ä", '"\\')
BLOCKS = ((0, 25), (25, 25), (50, 10), (10**6, 7))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plain_identity(code, env, env_kwargs, agent, agent_kwargs, seed, rounds, block, **files):
    """The definition: the hash of the sorted JSON of everything that a unit asks for, and of the code."""
    asked = {
        "code": code, "env": env, "env_kwargs": env_kwargs, "agent": agent, "agent_kwargs": agent_kwargs, "seed": seed,
        "rounds": rounds, "first_run": block[0], "runs": block[1], "means_sha256": None, "model_sha256": None, **files,
    }  # fmt: skip
    return sha256(json.dumps(asked, sort_keys=True))


@pytest.mark.parametrize("row", TABLE)
def test_identities_are_the_hashes_of_the_sorted_json(row):
    env, env_kwargs, agent, agent_kwargs, seed, rounds = TABLE[row]
    world, player = WorldEntry.of(env, **env_kwargs), AgentEntry.of(agent, **agent_kwargs)
    for (first, runs), code in product(BLOCKS, CODES):
        unit = Unit(world=world, agent=player, seed=seed, first_run=first, runs=runs, rounds=rounds)
        plain = plain_identity(code, env, env_kwargs, agent, agent_kwargs, seed, rounds, (first, runs))
        assert unit.identity(code) == unit.identity(code) == plain
        assert plain == sha256(json.dumps({"code": code, **unit.description()}, sort_keys=True))


@pytest.mark.parametrize("kept", [False, True])
def test_identities_with_files(tmp_path, kept):
    means, level, model, prior = (tmp_path / name for name in ("means.csv", "level.txt", "model.zip", "prior.txt"))
    for file in (means, level, model, prior):
        file.write_text(f"{file.name},0.5\n")
    world = WorldEntry.of(str(means), reward={"name": "own:Law", "source": str(level)})
    agent = AgentEntry.of("sb3", path=str(model), prior=str(prior))
    study = Study("", (Experiment(worlds=(world,), agents=(agent,), runs=60, rounds=(5,)),))
    units = units_of(pinned(study) if kept else study)
    env_kwargs = {"path": str(means), "world": "table", "reward": {"name": "own:Law", "source": str(level)}}
    for number, unit in enumerate(units):
        assert unit.identity("v") == plain_identity(
            "v", "NSBandit-v0", env_kwargs, "sb3", {"path": str(model), "prior": str(prior)}, 0, [5], BLOCKS[number],
            means_sha256=sha256("means.csv,0.5\n"), model_sha256=sha256("model.zip,0.5\n"),
            files_sha256={
                "env.reward.source": sha256("level.txt,0.5\n"), "agent.prior": sha256("prior.txt,0.5\n"),
            },
        )  # fmt: skip
    before = [unit.identity("v") for unit in units]
    level.write_text("another level")
    assert ([unit.identity("v") for unit in units] == before) == kept


def test_a_file_that_comes_to_be_there_counts_from_then_on(tmp_path):
    """Whoever asks before the files were read may be told something else afterwards."""
    level = tmp_path / "level.txt"
    unit = Unit(world=WorldEntry.of("abrupt", source=str(level)), agent=AgentEntry("ts"), seed=0, first_run=0, runs=1)
    before = unit.identity("v")
    level.write_text("here now")
    assert unit.identity("v") != before


def test_what_was_read_counts_and_not_where(tmp_path):
    """Units are equal if they name the same file, also if it was changed between two runs."""
    level = tmp_path / "level.txt"
    study = Study("", (Experiment(worlds=(WorldEntry.of("abrupt", source=str(level)),), agents=(AgentEntry("ts"),)),))
    units = []
    for words in ("one", "two", "one"):
        level.write_text(words)
        units.append(units_of(pinned(study))[0])
    assert units[0] == units[1]
    first, second, third = (unit.identity("v") for unit in units)
    assert first == third != second


def experiments(*runs, agents=("ts", "ser4")):
    worlds = tuple(WorldEntry.of("abrupt", label=f"{n}", horizon=100 + n % 2) for n in range(4))  # each of them twice
    entries = tuple(AgentEntry.of(agent) for agent in agents)
    return tuple(Experiment(worlds=worlds, agents=entries, runs=each) for each in runs)


@pytest.mark.parametrize(
    "runs", [(1,), (25,), (60,), (60, 60), (50, 60), (60, 50), (60, 70, 50), (10, 25, 26, 24, 100)]
)
def test_every_unit_is_listed_once_in_the_order_in_which_it_is_first_asked_for(runs):
    study = Study("", experiments(*runs))
    assert units_of(study) == list(dict.fromkeys(asked_one_by_one(study)))


def test_units_of_one_seed_and_rounds_alone_are_the_same():
    base, *_ = experiments(25)
    others = [base, replace(base, seed=1), replace(base, rounds=(5,)), replace(base, rounds=(5, 6))]
    assert len(units_of(Study("", tuple(others)))) == len(others) * 2 * 2


def test_units_can_be_compared_hashed_and_not_changed():
    units = units_of(Study("", experiments(60)))
    again = [
        Unit(world=u.world, agent=u.agent, seed=u.seed, first_run=u.first_run, runs=u.runs, rounds=u.rounds)
        for u in units
    ]
    assert units == again
    assert set(units) == set(again)
    assert len(set(units)) == len(units)
    with pytest.raises(FrozenInstanceError):
        units[0].runs = 3  # type: ignore[misc]


THERE = """
import pickle, sys
from ns_mab_gym.experiments import AgentEntry, WorldEntry
from ns_mab_gym.experiments.units import Unit
one, _ = pickle.load(sys.stdin.buffer)
world, agent = WorldEntry.of("abrupt", horizon=100), AgentEntry("ts")
same = Unit(world=world, agent=agent, seed=0, first_run=0, runs=25)
print(hash(one) == hash(same), {same: "found"}.get(one), one.identity("v"))
"""


def test_units_can_be_sent_to_processes_that_hash_otherwise():
    unit, *_ = units_of(Study("", experiments(60)))
    sent = pickle.dumps([unit, unit])
    assert pickle.loads(sent) == [unit, unit]
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed}
        ran = subprocess.run([sys.executable, "-c", THERE], input=sent, capture_output=True, env=env)
        assert ran.stdout.decode().split() == ["True", "found", unit.identity("v")], ran.stderr.decode()


def test_a_million_units_fit_into_150_megabytes():
    study = Study("", experiments(100_000))
    units_of(study)  # so that what is computed once is there already
    tracemalloc.start()
    try:
        units = units_of(study)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size / len(units) < 150


def test_what_a_world_is_made_of_is_found_out_once_however_many_worlds_there_are(monkeypatch):
    made = []
    usual = identity.as_env
    monkeypatch.setattr(identity, "as_env", lambda name, kwargs: (made.append(kwargs), usual(name, kwargs))[1])
    agents = tuple(map(AgentEntry, ("ts", "random", "ser4")))
    worlds = tuple(WorldEntry.of("stationary", horizon=7_000 + n) for n in range(1_500))
    study = Study("", (Experiment(worlds=worlds, agents=agents, runs=30),))
    found = identity.code_versions(lambda line: None)
    versions = [{found(unit) for unit in units_of(study)} for _ in range(2)]
    assert len(made) == 1_500
    assert versions[0] == versions[1]
    assert len(versions[0]) == 3  # one for each agent
