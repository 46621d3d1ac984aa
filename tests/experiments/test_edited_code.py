"""A result is kept only under the version of the code that gave it, and every module that plays is part of it."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from ns_mab_gym import sources
from ns_mab_gym.experiments import AgentEntry, Experiment, Store, Study, WorldEntry, code_versions, identity, run
from ns_mab_gym.experiments.identity import EditedCodeError
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.play.episode import seed_pair
from ns_mab_gym.runs import Runs

AGENT = """
ARM = {arm}

class Steady:
    '''{words}'''

    def __init__(self, n_arms):
        pass

    def reset(self, seed=None):
        pass

    def act(self, observation=None):
        return ARM

    def observe(self, arm, reward):
        pass
"""


def engine(edit):
    """A stand-in for the engine that edits something while it computes."""

    def played(env, agent, *, runs, seed, first_run, **_):
        edit()
        pulls = np.full((runs, 10), 2)
        seeds = [seed_pair(seed, run) for run in range(first_run, first_run + runs)]
        return Runs(np.array([20]), np.ones((runs, 1)), pulls, pulls, seeds, [{}] * runs, 0.1)

    return played


@pytest.fixture
def steady(tmp_path, monkeypatch, request):
    """A function that writes the user's own agent, and the study in which it plays."""
    module = f"steady_{abs(hash(request.node.name))}"  # of its own for every test, since modules stay loaded
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("ns_mab_gym.IMPORTED_AT", float("inf"))  # as if Python had been started after it was written
    study = Study("", (Experiment(worlds=(WorldEntry.of("smooth"),), agents=(AgentEntry.of(f"{module}:Steady"),)),))

    def write(arm, words="Plays one arm for ever."):
        (tmp_path / f"{module}.py").write_text(AGENT.format(arm=arm, words=words))

    write(0)
    return write, study, module


def computed(study, folder, progress, edit=lambda: None, told=lambda line: None):
    with Store(folder, code_versions(told), told) as store:
        return len(run(study, store, engine(edit), progress, n_jobs=1).computed)


def test_what_was_computed_while_its_code_was_edited_is_not_stored(tmp_path, progress, steady):
    write, study, _ = steady
    with pytest.raises(EditedCodeError, match=r":Steady on smooth depends on was edited while the run was going on"):
        computed(study, tmp_path / "store", progress, lambda: write(1))
    assert list((tmp_path / "store" / "units").iterdir()) == []
    write(0)
    assert computed(study, tmp_path / "store", progress) == 2
    assert computed(study, tmp_path / "store", progress) == 0


def test_comments_and_docstrings_can_be_edited_at_any_time(tmp_path, progress, steady):
    write, study, _ = steady
    assert computed(study, tmp_path / "store", progress, lambda: write(0, "Plays on.")) == 2
    assert computed(study, tmp_path / "store", progress) == 0


def test_code_that_was_edited_after_it_may_have_been_imported_is_computed_every_time(
    tmp_path, progress, steady, monkeypatch
):
    _, study, module = steady
    assert computed(study, tmp_path / "store", progress) == 2  # which imports it
    monkeypatch.setattr("ns_mab_gym.IMPORTED_AT", 0.0)  # as if every file were younger than what is loaded
    told: list[str] = []
    for _ in range(2):
        assert computed(study, tmp_path / "store", progress, told=told.append) == 2
    assert any(module in line and "start Python anew" in line for line in told)


@pytest.fixture
def versions(steady):
    """The versions of the code, asked for once, and the unit that they are of."""
    _, study, _ = steady
    found = code_versions(lambda line: None)
    unit, *_ = units_of(study)
    found(unit)
    return found, unit


@pytest.mark.parametrize("edited", [False, True])
def test_code_that_nobody_wrote_to_is_not_looked_into_again(versions, steady, edited, monkeypatch):
    found, unit = versions
    if edited:
        steady[0](0, "Plays on.")
        found.confirm(unit)
    monkeypatch.setattr(identity, "digest_of", lambda modules: pytest.fail("read again"))
    found.confirm(unit, unit)
    assert found(unit) == found(unit)


def test_an_edit_after_one_that_did_not_count_is_noticed(versions, steady):
    write, _, _ = steady
    found, unit = versions
    write(0, "Plays on.")
    found.confirm(unit)
    write(1, "Plays on.")
    with pytest.raises(EditedCodeError):
        found.confirm(unit)
    write(0, "Plays on.")
    found.confirm(unit)


def test_code_that_is_gone_is_noticed(versions, tmp_path):
    found, unit = versions
    next(tmp_path.glob("steady_*.py")).unlink()
    with pytest.raises(EditedCodeError):
        found.confirm(unit)


def test_of_several_units_the_one_is_named_whose_code_was_edited(versions, steady):
    write, study, module = steady
    found, unit = versions
    (experiment,) = study.experiments
    other, *_ = units_of(Study("", (replace(experiment, agents=(AgentEntry.of("random"),), reference=""),)))
    found(other)
    write(1)
    found.confirm(other)
    with pytest.raises(EditedCodeError, match=f"code that {module}:Steady on smooth"):
        found.confirm(other, unit, other)


def test_an_edit_that_keeps_the_time_of_the_file_is_noticed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    found = set()
    for arm in (1, 2):
        (tmp_path / "kept_time.py").write_text(f"ARM = {arm}\n")
        os.utime(tmp_path / "kept_time.py", ns=(10**18, 10**18))
        found.add(sources.digest_of(["kept_time"]))
    assert len(found) == 2


# Plays one unit of each kind, and prints the modules of the house of which some function ran, and those that the
# version of its code covers.
PLAY = """
import json, sys, threading, warnings
warnings.simplefilter("ignore")
import gymnasium as gym
from stable_baselines3 import A2C
from ns_mab_gym import rl, simulate, wrappers
from ns_mab_gym.experiments.identity import modules_of
from ns_mab_gym.experiments.parsing import parse
from ns_mab_gym.experiments.pinned_files import pinned
from ns_mab_gym.experiments.study import AgentEntry, Experiment, Study, WorldEntry
from ns_mab_gym.sources import modules_behind

envs = gym.make_vec("NSBandit-Smooth-v0", num_envs=1, horizon=20)
envs = rl.SB3VecEnv(wrappers.VectorWindowedStatistics(envs, window=5))
model = rl.SB3Agent(A2C("MlpPolicy", envs, policy_kwargs={"net_arch": [4]}, device="cpu"))
model.export("model.npz")
model.save("model.zip")
gym.register("Late-v0", lambda: wrappers.DelayedRewards(gym.make("NSBandit-Smooth-v0", horizon=20), delay=2))
ran = set()

def note(frame, event, argument):
    name = frame.f_globals.get("__name__", "")
    if name.startswith("ns_mab_gym.") and frame.f_code.co_flags & 1:  # a function, not the body of a module or a class
        ran.add(name)

def played(world, agent):
    given = {"env_kwargs": world.kwargs, "agent_kwargs": agent.kwargs, "runs": 1, "n_jobs": 1}
    simulate(world.name, agent.name, **given)  # compiles, which would take long if it were watched
    ran.clear()
    sys.setprofile(note)
    threading.setprofile(note)
    simulate(world.name, agent.name, **given)
    sys.setprofile(None)
    threading.setprofile(None)
    return sorted(ran)

found = {}
for words in json.loads(sys.argv[1]):
    world, agent = (parse(kind, each) for kind, each in zip((WorldEntry, AgentEntry), words.split()))
    [experiment] = pinned(Study("", (Experiment(worlds=(world,), agents=(agent,)),))).experiments  # as the runner does
    [world], [agent] = experiment.worlds, experiment.agents
    found[words] = played(world, agent), modules_behind(modules_of(world, agent))
print(json.dumps(found))
"""
SMOOTH = "NSBandit-Smooth-v0:horizon=20"
# a unit: a module that must have run for it, so that the test does not pass by looking at nothing.
UNITS = {
    f"{SMOOTH} random": "play.engine",
    "means.csv random": "kept_files",
    "Late-v0 random": "wrappers.delay",
    f"{SMOOTH} sb3:path=model.npz": "rl.policy_export",
    f"{SMOOTH} sb3:path=model.zip": "rl.own_models",
    f"{SMOOTH} sb3:path=model.npz,deterministic=true": "rl.batched_play",
}
# What only counts, or says that something is compiled, and the tables of names, which affect no result.
NO_PART = {"agents", "envs", "worlds", "wrappers", "rl"}


def test_every_module_that_runs_while_a_unit_is_played_is_part_of_its_version(tmp_path, python):
    pytest.importorskip("stable_baselines3")
    (tmp_path / "means.csv").write_text("0.1,0.9\n" * 20)
    ended = python("-c", PLAY, json.dumps(list(UNITS)))
    assert ended.returncode == 0, ended.stderr
    for words, (ran, covered) in json.loads(ended.stdout).items():
        assert f"ns_mab_gym.{UNITS[words]}" in ran
        assert set(ran) - set(covered) - {f"ns_mab_gym.{name}" for name in NO_PART} == set(), words
