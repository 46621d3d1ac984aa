"""The registry, in which agents of users are found as those of the house are; and the types of their parameters."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import pytest
from examples import HOUSE, example_agent
from fuzzing import is_own

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.agents.core.arguments import check_types
from ns_mab_gym.agents.core.registry import AGENTS, Registry, load_path
from ns_mab_gym.specs import as_env

TABLES = {"agents": AGENTS, "worlds": worlds.WORLDS, "laws": rewards.LAWS}
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
        assert agents.kind(name).name == name
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


# No parameter of an agent, a world or a law takes a value of another type than it states.

if TYPE_CHECKING:
    from somewhere import Unknown

STRANGE = [None, True, "no", "", "1", "\0", [], [1, 2], ["a"], (), {}, {"a": 1}, b"x", 1j, object(), 2.5, 10**400]


def allowed(annotation: str, value: Any) -> bool:
    """Whether a value is of a type that an annotation names; by the names alone, as independent of the house."""
    kinds = annotation.replace("PerArm", "float | Sequence[float]").split(" | ")
    numbers = isinstance(value, int | float) and not isinstance(value, bool)
    return (
        (isinstance(value, bool) and "bool" in kinds)
        or (isinstance(value, int) and numbers and value < 2**63 and {"int", "float"} & {*kinds} != set())
        or (isinstance(value, float) and "float" in kinds)
        or (isinstance(value, str) and "str" in kinds)
        or (value is None and "None" in kinds)
        or (isinstance(value, list | tuple) and "[" in annotation)
    )


def parameters(kind: type) -> dict[str, str]:
    """The parameters of a dataclass, and their annotations as texts."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        found |= {
            name: str(text) for name, text in inspect.get_annotations(each).items() if "ClassVar" not in str(text)
        }
    fields = [f for f in dataclasses.fields(kind) if f.init and f.name != "n_arms"]
    return {f.name: found[f.name] + (" | None" if f.default is None else "") for f in fields}


# what is made: its class, and a function that makes it with parameters.
MADE: dict[str, tuple[type, Callable[..., Any]]] = {
    **{name: (agents.kind(name), partial(example_agent, name, 3)) for name in HOUSE},
    **{f"world {name}": (worlds.kind(name), partial(worlds.make, name)) for name in worlds.HOUSE},
    **{f"law {name}": (rewards.kind(name), partial(rewards.make, name)) for name in rewards.names()},
}
OTHERS = {"horizon", "rows", "path", "means"}  # of which the example has its own, or which are read, not set


@pytest.mark.parametrize("title", MADE)
def test_values_of_another_type_are_refused_in_words(title):
    kind, make = MADE[title]
    for name, annotation in parameters(kind).items():
        for value in STRANGE:
            if name in OTHERS or allowed(annotation, value):
                continue
            with pytest.raises((TypeError, ValueError)) as caught:
                make(**{name: value})
            assert is_own(caught.value), (name, value, caught.value)
            assert name in str(caught.value), (name, value, caught.value)


@pytest.mark.parametrize("truth", [np.True_, np.False_, True, False])
def test_truth_values_of_numpy_are_truth_values(truth):
    assert bool(example_agent("ts", 3, binarize=truth).binarize) is bool(truth)


def test_numbers_may_be_written_in_every_way():
    assert example_agent("sw-ucb", 3, window=np.int32(7), xi=Decimal("0.5")).xi == 0.5
    assert example_agent("sw-ucb", 3, window=np.uint8(7), xi=Fraction(1, 2)).window == 7
    assert example_agent("predictive-sampling", 2, phi=np.array([0.5, 0.25])).phi == (0.5, 0.25)
    assert worlds.make("stationary", mu=np.array([0.5, 0.25]), horizon=np.int64(10)).horizon == 10
    assert worlds.make("stationary", mu=range(3), horizon=10).mu == (0.0, 1.0, 2.0)


class Exotic:
    """An agent of somebody else's, with annotations of all kinds and of none."""

    def __init__(
        self,
        n_arms: int,
        plain=1,
        call: Callable[[int], int] = abs,
        table: Mapping[str, int] = {},
        listed: Sequence[float] = (),
        noted: Annotated[bool, "a note"] = False,
        later: int = None,  # type: ignore[assignment]  # noqa: RUF013
        own: np.random.Generator | None = None,
        **others: Any,
    ) -> None:
        self.n_arms = n_arms

    def reset(self, seed=None):
        """Nothing to forget."""

    def act(self, observation=None):
        """The first arm."""
        return 0

    def observe(self, arm, reward):
        """Learn nothing."""


@pytest.mark.parametrize(
    "given",
    [
        {"plain": "anything"}, {"plain": None}, {"table": 5}, {"call": print}, {"call": 3},
        {"extra": []},
        {"table": {"a": 1}}, {"listed": [1, 2.5]}, {"listed": np.arange(3)},
        {"noted": True}, {"later": None}, {"later": 3}, {"own": np.random.default_rng(0)}, {"own": 5},
    ],
)  # fmt: skip
def test_what_an_annotation_does_not_tell_is_not_checked(given):
    assert agents.make(Exotic, 3, **given).n_arms == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"noted": "yes"}, "noted must be true or false, got 'yes'; write noted=true or noted=false"),
        ({"later": 3.0}, "later must be an integer or none, got 3.0; write 3"),
        ({"later": 2**64}, "later must be an integer or none, got .*; it is too large"),
    ],
)
def test_what_it_tells_is(given, message):
    with pytest.raises(TypeError, match=message):
        agents.make(Exotic, 3, **given)


class Unresolved:
    """A class with a type that is known to type checkers alone."""

    def __init__(self, unknown: Unknown | None = None, plain: int = 1) -> None: ...


@pytest.mark.parametrize("kind", [dict, Unresolved])
def test_classes_that_python_cannot_look_into(kind):
    check_types(kind, {"anything": 1, "plain": "x", "unknown": 2})


def test_an_agent_without_checks_of_its_own_is_checked_all_the_same():
    @dataclasses.dataclass(eq=False)
    class Careless(agents.TS):
        steps: int = dataclasses.field(default=3, kw_only=True)
        share: float = dataclasses.field(default=0.5, kw_only=True)

        def _check(self) -> None:
            self.half = self.share / 2

    assert Careless(3, steps=4).steps == 4
    with pytest.raises(TypeError, match=r"steps must be an integer, got 2.5"):
        Careless(3, steps=2.5)
    with pytest.raises(TypeError, match=r"share must be a number, got 'half'"):
        Careless(3, share="half")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CarelessWorld(worlds.Stationary):
    """A world of a user's, who checks nothing."""

    mirrored: bool = False
    steps: int = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class CarelessLaw(rewards.Gaussian):
    """A law of a user's, who checks nothing."""

    mirrored: bool = False
    steps: int = 3


# how a world or a law of one's own is made or changed.
CARELESS: dict[str, Callable[..., Any]] = {
    "a world by its path": partial(worlds.make, f"{__name__}:CarelessWorld"),
    "a world as a table": lambda **given: worlds.make({"name": f"{__name__}:CarelessWorld", **given}),
    "a world from another": partial(worlds.make, CarelessWorld()),
    "a world with changes": CarelessWorld().with_parameters,
    "a world by its class": lambda **given: as_env(CarelessWorld, {"horizon": 9, **given}).unwrapped.world,
    "a law by its path": partial(rewards.make, f"{__name__}:CarelessLaw"),
    "a law as a table": lambda **given: rewards.make({"name": f"{__name__}:CarelessLaw", **given}),
    "a law from another": partial(rewards.make, CarelessLaw()),
}


@pytest.mark.parametrize("door", CARELESS)
def test_worlds_and_laws_without_checks_of_their_own_are_checked_all_the_same(door):
    made = CARELESS[door](mirrored=True, steps=np.int64(4))
    assert (made.mirrored, made.steps) == (True, 4)
    for value in ("no", 1, None, [True], 0.0):
        with pytest.raises(TypeError, match=r"^mirrored must be true or false, got .*; write mirrored=true or"):
            CARELESS[door](mirrored=value)
    for value in ("3", 3.0, True, None, [3], 2**64):
        with pytest.raises(TypeError, match=r"^steps must be an integer, got "):
            CARELESS[door](steps=value)
