"""A result is kept under the version of the code that gave it, and computed again when that code changes."""

from __future__ import annotations

import ast
import importlib
import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import ns_mab_gym
from ns_mab_gym import agents, code_version, sources, worlds
from ns_mab_gym.code_version import CodeVersions, EditedCodeError, modules_of
from ns_mab_gym.runs import Runs, seed_pair
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.runner import run
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import Experiment, Study
from ns_mab_gym.wrappers import DelayedRewards

from .conftest import own_agent


@pytest.mark.parametrize(
    ("agent", "file", "line"),
    [
        ("alone:Mine", "helper.py", "from helper import ARM"),  # a number, which does not say where it is from
        ("package.mine:Mine", "package/deep/helper.py", "from .deep.helper import ARM"),
    ],
)
def test_an_edit_of_code_that_an_own_agent_uses_recomputes_it_and_no_other(agent, file, line, tmp_path, play):
    for each in (tmp_path / file, tmp_path / f"{agent.partition(':')[0].replace('.', '/')}.py"):
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_text("ARM = 1\n" if each.name == "helper.py" else own_agent("return ARM", line))
    first = play(agent, "random")
    assert first["computed"] == [agent, "random"]
    (tmp_path / file).write_text("ARM = 0\n")
    edited = play(agent, "random")
    assert edited["computed"] == [agent]
    assert edited["regret"][agent] != first["regret"][agent]
    (tmp_path / file).write_text("ARM = 1\n")
    assert play(agent, "random")["computed"] == []


def test_code_without_a_file_is_played_every_time_and_said_once(tmp_path, play):
    made = "import sys, types\nsys.modules['typed'] = module = types.ModuleType('typed')\nexec({!r}, vars(module))\n"
    text = own_agent() + own_agent("return 1", name="Other")
    (tmp_path / "typing_in.py").write_text(made.format(text) + "Mine, Other = module.Mine, module.Other\n")
    for _ in range(2):
        found = play("typing_in:Mine", "typing_in:Other", "random")
    assert found["computed"] == ["typing_in:Mine", "typing_in:Other"]
    line = "the source of typed cannot be read: what depends on it is computed again every time"
    assert found["told"].count(line) == 1


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package to edit: a function from a file to the units whose version an edit of it changes."""
    folder = tmp_path_factory.mktemp("house")
    copied = folder / "ns_mab_gym"
    shutil.copytree(Path(ns_mab_gym.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "means.csv").write_text("0.1,0.9\n")
    entries = {"abrupt": WorldSpec.of("abrupt"), "table": WorldSpec.of("table", path=str(folder / "means.csv"))}
    players = ("beta-swts", "sb3", "ser4", "sw-kl-ucb")
    units = {f"{w} {a}": modules_of(entries[w], AgentSpec.of(a)) for w in entries for a in players}

    def changed(name):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sources, "PACKAGE", copied)
            before = {unit: sources.code_digest(modules) for unit, modules in units.items()}
            text = (copied / name).read_text()
            (copied / name).write_text(f"{text}\n# edited\n")
            after = {unit: sources.code_digest(modules) for unit, modules in units.items()}
            (copied / name).write_text(text)
            assert before == {unit: sources.code_digest(modules) for unit, modules in units.items()}
        assert None not in before.values()
        return {unit for unit in units if before[unit] != after[unit]}

    return changed


def test_an_edit_of_the_engine_changes_the_version_of_every_unit(house):
    files = ["play/loop.py", "envs/bandit.py", "agents/core/kernel.py", "agents/parts/races.py", "rewards.py"]
    for file in [*files, "means.py", "quantile.py", "worlds/world.py", "wrappers/observations.py", "specs.py"]:
        assert len(house(file)) == 8, file


def test_an_edit_of_an_agent_or_a_world_changes_its_own_units_and_no_others(house):
    assert house("agents/ser4.py") == {"abrupt ser4", "table ser4"}
    assert house("agents/kl_ucb.py") == {"abrupt sw-kl-ucb", "table sw-kl-ucb"}  # whose state and index it has
    assert house("worlds/paper.py") == {"abrupt beta-swts", "abrupt sb3", "abrupt ser4", "abrupt sw-kl-ucb"}
    assert house("worlds/table.py") == {"table beta-swts", "table sb3", "table ser4", "table sw-kl-ucb"}
    assert house("rl/agent.py") == {"abrupt sb3", "table sb3"}
    assert house("figures/style.py") == house("agents/exp3.py") == set()


@pytest.mark.parametrize("package", ["agents", "worlds"])
def test_every_import_of_a_module_of_the_package_is_seen(package):
    """Modules are found by what they hold, so that a number alone, or an import in a function, would go unseen."""
    root = Path(ns_mab_gym.__file__).parent
    for file in (root / package).glob("*.py"):
        if file.name == "__init__.py":
            continue
        name = f"ns_mab_gym.{package}.{file.stem}"
        importlib.import_module(name)
        seen = {name, *sources.modules_behind([name])}
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                parent = f"ns_mab_gym.{package}" if node.level == 1 else "ns_mab_gym"
                target = f"{parent}.{node.module}"
                assert target in seen or sources._is_engine(target), f"{name} imports {target}"


def test_an_agent_a_world_a_wrapper_a_law_and_a_maker_count(tmp_path, monkeypatch):
    for name in agents.names():
        assert agents.kind(name).__module__ in modules_of(WorldSpec.of("smooth"), AgentSpec.of(name))
    for name in set(worlds.names()) - {"table"}:
        assert worlds.kind(name).__module__ in modules_of(WorldSpec.of(name), AgentSpec.of("ts"))
    late = DelayedRewards(gym.make("NSBandit-Smooth-v0", horizon=20), delay=3)
    assert "ns_mab_gym.wrappers.feedback" in sources.sources_of(code_version.modules_of_env(late))
    text = (
        "from ns_mab_gym import envs, rewards, worlds\nclass Fair(rewards.Bernoulli):\n    pass\n"
        "def own_env(**kwargs):\n    return envs.NSBanditEnv(worlds.Abrupt(horizon=50), **kwargs)\n"
    )
    (tmp_path / "own_maker.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    maker = importlib.import_module("own_maker")
    entries = ("own_maker:own_env", maker.own_env, partial(maker.own_env))
    for number, entry in enumerate(entries):
        spec = gym.envs.registration.EnvSpec(f"Own{number}-v0", entry)
        monkeypatch.setitem(gym.registry, spec.id, spec)
        assert "own_maker" in modules_of(WorldSpec(spec.id), AgentSpec("ts"))
    assert "own_maker" in modules_of(WorldSpec("abrupt", (("reward", "own_maker:Fair"),)), AgentSpec("ts"))
    assert "own_maker" not in modules_of(WorldSpec("abrupt"), AgentSpec("ts"))
    del sys.modules["own_maker"]


@pytest.fixture
def steady(tmp_path, monkeypatch, request):
    """A function that writes the user's own agent, the study in which it plays, and its module."""
    module = f"steady_{abs(hash(request.node.name))}"  # of its own for every test, since modules stay loaded
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("ns_mab_gym.IMPORTED_AT", float("inf"))  # as if Python had been started after it was written
    players = (AgentSpec.of("random"), AgentSpec.of(f"{module}:Steady"))
    study = Study("", (Experiment(worlds=(WorldSpec.of("smooth", horizon=20),), agents=players, runs=2),))

    def write(arm):
        (tmp_path / f"{module}.py").write_text(own_agent(f"return {arm}", name="Steady"))

    write(0)
    return write, study, module


def computed(study, folder, progress, edit=bool, told=bool):
    """The number of units that were computed; something is edited meanwhile."""

    def engine(env, agent, *, runs, seed, first_run, **_):
        edit()
        pulls = np.full((runs, 10), 2)  # in the 20 rounds of the world
        seeds = [seed_pair(seed, run) for run in range(first_run, first_run + runs)]
        return Runs(np.array([20]), np.ones((runs, 1)), pulls, pulls, seeds, [{}] * runs, 0.1)

    with Store(folder, CodeVersions(told)) as store:
        return len(run(study, store, engine, progress, n_jobs=1).computed)


@pytest.mark.parametrize("gone", [False, True])
def test_what_was_computed_while_its_code_was_edited_or_removed_is_not_stored(tmp_path, progress, steady, gone):
    write, study, module = steady
    edit = partial((tmp_path / f"{module}.py").unlink, missing_ok=True) if gone else partial(write, 1)
    words = f"code that {module}:Steady on smooth:horizon=20 depends on was edited while the"
    with pytest.raises(EditedCodeError, match=words):
        computed(study, tmp_path / "store", progress, edit)
    write(0)
    assert computed(study, tmp_path / "store", progress) == 1  # the other agent's code was not edited
    assert computed(study, tmp_path / "store", progress) == 0


def test_code_that_was_edited_after_it_may_have_been_imported_is_computed_every_time(
    tmp_path, progress, steady, monkeypatch
):
    _, study, module = steady
    assert computed(study, tmp_path / "store", progress) == 2  # which imports it
    newest = 1e-3 + max(os.stat(file).st_ctime for file in sources.sources_of(sources.MADE_BY_NAME).values())
    monkeypatch.setattr("ns_mab_gym.IMPORTED_AT", newest)  # when every file was there, except for the agent's
    told: list[str] = []
    for _ in range(2):
        assert computed(study, tmp_path / "store", progress, told=told.append) == 1
    assert f"{module} was edited while Python was running" in told[0]
    assert "start Python anew" in told[0]


def test_an_edit_that_keeps_the_time_of_the_file_is_noticed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    found = set()
    for arm in (1, 2):
        (tmp_path / "kept_time.py").write_text(f"ARM = {arm}\n")
        os.utime(tmp_path / "kept_time.py", ns=(10**18, 10**18))
        found.add(sources.code_digest(["kept_time"]))
    assert len(found) == 2


# Plays one unit of each kind, and prints the modules of the package of which some function ran, and those that the
# version of its code covers.
PLAY = """
import json, sys, threading, warnings
warnings.simplefilter("ignore")
import gymnasium as gym
from stable_baselines3 import A2C
from ns_mab_gym import rl, simulate, wrappers
from ns_mab_gym.code_version import modules_of
from ns_mab_gym.studies import AgentSpec, Experiment, Study, WorldSpec
from ns_mab_gym.studies.study import pinned
from ns_mab_gym.sources import sources_of

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
    world, agent = (kind.read(each) for kind, each in zip((WorldSpec, AgentSpec), words.split()))
    [experiment] = pinned(Study("", (Experiment(worlds=(world,), agents=(agent,)),)), trust_models=True).experiments
    [world], [agent] = experiment.worlds, experiment.agents
    found[words] = played(world, agent), list(sources_of(modules_of(world, agent)))
print(json.dumps(found))
"""
SMOOTH = "NSBandit-Smooth-v0:horizon=20"
# a unit: a module that must have run for it, so that the test does not pass by looking at nothing.
UNITS = {
    f"{SMOOTH} random": "play.simulate",
    "means.csv random": "files",
    "Late-v0 random": "wrappers.feedback",
    f"{SMOOTH} sb3:path=model.npz": "rl.agent",
    f"{SMOOTH} sb3:path=model.zip": "rl.agent",
    f"{SMOOTH} sb3:path=model.npz,deterministic=true": "rl.batched",
}
# The tables of names, which affect no result, and what finds sources.
NO_PART = {"agents", "worlds", "sources"}


def test_every_module_that_runs_while_a_unit_is_played_is_part_of_its_version(tmp_path, python):
    pytest.importorskip("stable_baselines3")
    (tmp_path / "means.csv").write_text("0.1,0.9\n" * 20)
    ended = python("-c", PLAY, json.dumps(list(UNITS)))
    assert ended.returncode == 0, ended.stderr
    for words, (ran, covered) in json.loads(ended.stdout).items():
        assert f"ns_mab_gym.{UNITS[words]}" in ran
        assert set(ran) - set(covered) - {f"ns_mab_gym.{name}" for name in NO_PART} == set(), words
