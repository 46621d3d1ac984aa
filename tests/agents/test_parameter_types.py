"""No parameter of an agent, a world or a law takes a value of another type than it states."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pytest
from examples import HOUSE, example_agent
from fuzzing import is_own

from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.agents.core.arguments import check_types
from ns_mab_gym.specs import as_env
from ns_mab_gym.studies.runner import check_study
from ns_mab_gym.studies.study import Study, experiment

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
    **{f"law {name}": (rewards.kind(name), partial(rewards.make, name)) for name in rewards.HOUSE},
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ts:binarize=no", "binarize must be true or false, got 'no'; write binarize=true or binarize=false"),
        ("ts:binarize=1", "binarize must be true or false, got 1; write"),
        ("ts:binarize=[1,2]", r"binarize must be true or false, got \(1, 2\); write"),
        ("cusum-ucb:forced_warmup=off", "forced_warmup must be true or false, got 'off'; write"),
        ("restarting:growing=on", "growing must be true or false, got 'on'; write"),
        ("sw-ucb:window=500.5", "window must be a positive integer, got 500.5; the paper suggests"),
        ("sw-ucb:xi=wide", "xi must be a finite number above 0, got 'wide'"),
        ("fewa:grid=5", "unknown grid 5"),
    ],
)
def test_a_description_is_refused_when_it_is_read(words, message):
    study = Study("types", (experiment(["abrupt:horizon=100"], [words]),))
    with pytest.raises(ValueError, match=rf"agent '.*' on 'abrupt:horizon=100': {message}"):
        check_study(study)


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
        pair: tuple[int, str] = (1, "a"),
        choice: Literal["a", 2] = "a",
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
        {"table": {"a": 1}}, {"listed": [1, 2.5]}, {"listed": np.arange(3)}, {"listed": range(3)}, {"pair": (2, "b")},
        {"choice": 2}, {"noted": True}, {"later": None}, {"later": 3}, {"own": np.random.default_rng(0)}, {"own": 5},
    ],
)  # fmt: skip
def test_what_an_annotation_does_not_tell_is_not_checked(given):
    assert agents.make(Exotic, 3, **given).n_arms == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"listed": "abc"}, "listed must be a list of numbers, got 'abc'"),
        ({"listed": ["a"]}, r"listed must be a list of numbers, got \['a'\]"),
        ({"choice": "b"}, "choice must be one of 'a', 2, got 'b'"),
        ({"choice": True}, "choice must be one of 'a', 2, got True"),
        ({"noted": "yes"}, "noted must be true or false, got 'yes'; write noted=true or noted=false"),
        ({"later": 3.0}, "later must be an integer, got 3.0; write 3"),
        ({"later": 2**64}, "later must be an integer, got .*; it is too large"),
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
