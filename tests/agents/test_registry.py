"""The registry: a new agent needs one line of the table, and agents of users are found in the same way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.agents.core.registry import AGENTS, Registry, load_path

TABLES = {"agents": AGENTS, "worlds": worlds.catalogue.WORLDS, "laws": rewards.LAWS}
FOLDER = Path(agents.__file__).parent


class Greedy:
    """Plays the arm of the last reward, or the first.

    Args:
        n_arms: K.
        patience: how long it waits.
    """

    def __init__(self, n_arms: int, patience: int = 3) -> None:
        self.n_arms, self.patience, self.arm = n_arms, patience, 0

    def reset(self, seed=None):
        self.arm = 0

    def act(self, observation=None):
        return self.arm

    def observe(self, arm, reward):
        self.arm = arm if reward > 0 else (arm + 1) % self.n_arms


@pytest.fixture
def registered():
    agents.register("greedy", Greedy)
    yield
    AGENTS.remove("greedy")


def test_a_line_of_the_table_is_the_only_one_that_names_an_agent():
    """Apart from its own file; the class is an attribute of the package nevertheless."""
    lines = (FOLDER / "__init__.py").read_text().splitlines()
    for name, path in agents.HOUSE.items():
        module, _, kind = path.partition(":")
        assert len([line for line in lines if f'"{name}"' in line]) == 1
        assert len([line for line in lines if re.search(rf"\b{kind}\b", line)]) == 1
        assert getattr(agents, kind) is agents.kind(name)
        assert kind in dir(agents)
        assert (FOLDER / f"{module}.py").is_file()


def test_every_file_of_an_algorithm_is_in_the_table():
    files = {file.stem for file in FOLDER.glob("*.py")} - {"__init__"}
    assert files == {path.partition(":")[0] for path in agents.HOUSE.values()}


def test_an_agent_of_ones_own_by_name(registered):
    assert "greedy" in agents.names()
    assert agents.kind("greedy") is Greedy
    made = agents.make("greedy", n_arms=4, horizon=100, patience=7)
    assert (made.n_arms, made.patience) == (4, 7)
    with pytest.warns(UserWarning, match="has no compiled form"):
        runs = nsb.simulate("NSBandit-Abrupt-v0", "greedy", runs=2, env_kwargs={"horizon": 50})
    assert runs.pulls.sum(axis=1).tolist() == [50, 50]
    with pytest.raises(TypeError, match="agent 'greedy' has no parameter 'patiense'; did you mean 'patience'"):
        nsb.simulate("NSBandit-Abrupt-v0", "greedy", agent_kwargs={"patiense": 1})


def test_the_card_of_an_agent_that_says_little(registered):
    card = agents.card("greedy")
    assert card.summary == "Plays the arm of the last reward, or the first."
    assert card.parameters == {"n_arms": "K.", "patience": "how long it waits."}
    assert card.source == "not stated"


def test_a_class_can_be_played_without_a_name():
    with pytest.warns(UserWarning, match="has no compiled form"):
        runs = nsb.simulate(
            "NSBandit-Abrupt-v0", Greedy, runs=1, env_kwargs={"horizon": 50}, agent_kwargs={"patience": 1}
        )
    assert runs.pulls.sum() == 50
    compiled = nsb.simulate("NSBandit-Abrupt-v0", agents.TS, runs=1, env_kwargs={"horizon": 50})
    assert (compiled.pulls == nsb.simulate("NSBandit-Abrupt-v0", "ts", runs=1, env_kwargs={"horizon": 50}).pulls).all()


def test_an_agent_without_a_rule_is_told_so():
    class Lawless(agents.Agent):
        def _new_state(self):
            return NamedTuple("LawlessState", [])()

    assert Lawless.name == "Lawless"
    with pytest.raises(TypeError, match=r"LawlessState has no rule; .*agents.rule\(LawlessState, act, observe\)"):
        Lawless(3)


def test_registering_the_same_twice_is_fine_and_another_is_refused(registered):
    agents.register("greedy", Greedy)
    with pytest.raises(ValueError, match=r"'greedy' is taken by .*Greedy.*; choose another name"):
        agents.register("greedy", agents.TS)
    with pytest.raises(ValueError, match=r"'ts' is taken by ns_mab_gym.agents.beta_swts:TS; choose another name"):
        agents.register("ts", Greedy)
    assert agents.kind("ts") is agents.TS


@pytest.mark.parametrize(
    ("name", "target", "error", "words"),
    [
        ("Greedy", Greedy, ValueError, "a name is lower-case words joined by hyphens, such as 'my-own', got 'Greedy'"),
        ("a b", Greedy, ValueError, "got 'a b'"),
        ("", Greedy, ValueError, "got ''"),
        (3, Greedy, ValueError, "got 3"),
        ("sb3", Greedy, ValueError, "'sb3' has a meaning of its own already; choose another name"),
        ("mine", "no path", ValueError, "'mine' must be a class or 'package.module:Class', got 'no path'"),
        ("mine", "../evil:Class", ValueError, "must be a class or 'package.module:Class'"),
        ("mine", Greedy(2), TypeError, "is not a class; name the class of the agent itself"),
        ("mine", dict, TypeError, r"builtins:dict is no agent: it has no reset\(\)"),
    ],
)
def test_what_cannot_be_registered(name, target, error, words):
    with pytest.raises(error, match=words):
        agents.register(name, target)
    assert name not in agents.names()


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("no.such.module:Class", ValueError, "cannot import 'no.such.module' of 'no.such.module:Class': .*PYTHONPATH"),
        ("ns_mab_gym.agents.beta_swts:TSS", ValueError, "'ns_mab_gym.agents.beta_swts' has no 'TSS'; did you mean"),
        ("math:pi", TypeError, "3.14.* is not a class"),
        ("collections:OrderedDict", TypeError, "collections:OrderedDict is no agent: it has no reset"),
    ],
)
def test_paths_that_lead_nowhere(path, error, words):
    with pytest.raises(error, match=words):
        agents.make(path, n_arms=3)


def test_what_installed_packages_offer_comes_after_the_house(monkeypatch):
    class Offered:
        name, value = "ts", "no.such.module:Class"

    class Fresh:
        name, value = "offered", "ns_mab_gym.agents.beta_swts:TS"

    table = Registry("agent", "agents", "some.group", needs=("act",))
    table.add("ts", agents.TS)
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [Offered, Fresh] if group == "some.group" else []
    )
    assert table.names() == ["ts", "offered"]
    assert table["ts"] is agents.TS
    assert table["offered"] is agents.TS
    assert "offered" in table
    assert len(table) == 2


@pytest.mark.parametrize("which", ["worlds", "laws"])
def test_every_world_and_law_has_a_card(which):
    for name in TABLES[which]:
        card = {"worlds": worlds.card, "laws": rewards.card}[which](name)
        assert card.name == name
        assert len(card.summary) > 10
        assert set(card.parameters) == set(TABLES[which][name].parameters())
        assert all(fact.strip() for fact in card.facts.values())


@pytest.mark.parametrize("code", ["raise SystemExit('bye')", "import sys; sys.exit(0)", "1 / 0", "def"])
def test_a_module_that_ends_the_program_or_fails_is_an_error_of_one_line(code, tmp_path, monkeypatch):
    (tmp_path / "hostile.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"^cannot import 'hostile' of 'hostile:Agent': ") as error:
        load_path("hostile:Agent")
    assert "\n" not in str(error.value)


def test_a_path_through_something_without_attributes_is_refused():
    with pytest.raises(ValueError, match="'os' has no 'x'"):
        load_path("os:name.x")


def test_a_message_does_not_spill_what_a_path_leads_to(monkeypatch):
    monkeypatch.setenv("MY_SECRET", "swordfish" * 10)
    with pytest.raises(TypeError, match="is not a class; name the class of the agent itself") as error:
        agents.make("os:environ", 2, 10)
    assert len(str(error.value)) < 120


def test_a_class_that_is_defined_again_takes_the_place_of_the_first(registered):
    """As when the cell of a notebook is run twice."""
    again = type("Greedy", (Greedy,), {"__module__": Greedy.__module__, "__qualname__": Greedy.__qualname__})
    agents.register("greedy", again)
    assert agents.kind("greedy") is again
