"""The base class of worlds, a frozen description that yields a (T, K) matrix of means, and their registry."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..agents.core.arguments import by_name, known_keywords, positive_int, typed
from ..agents.core.registry import Card, Registry, card_of, check_single, docstring_of, unpacked
from ..means import Floats, block_size

ROUNDS, ARMS = 50_000, 10  # the usual size
# Rounds of ten arms at a time. A block is a multiple of a processor's vectors, which so begin where they would in one
# long array, and give the same bits.
BLOCK = 16_384
LARGEST_STEP = 0.25  # of a walk: beyond it, a mean has little to do with the one before


def derived(words: str, rule: Callable[[Any], Any]) -> Any:
    """A parameter whose default is None, and then follows a rule: an episode is of the same kind at every T and K.

    At T = 50 000 and K = 10 each formula gives the number that the README states.

    Args:
        words: the formula, as cards show it.
        rule: from the world, with its other parameters up to this one, to the value.
    """
    return field(default=None, metadata={"default": words, "rule": rule})


def shorter_steps(step: float, horizon: int) -> float:
    """A walk's step ∝ 1/√T, with which it wanders as far in an episode as with this step in the usual one."""
    return min(step * math.sqrt(ROUNDS / horizon), LARGEST_STEP)


def as_many_changes(changes: int, horizon: int, spacing: int = 1) -> int:
    """The given number of changes, or as many as fit between phases of at least ``spacing`` rounds."""
    return max(0, min(changes, horizon // spacing - 1))


@dataclass(frozen=True, kw_only=True)
class World(ABC):
    """A rule by which the means of K arms move over T rounds.

    A world is plain data: its ``repr`` can be pasted back, :meth:`to_dict` is JSON-able, and two worlds with
    equal parameters are equal. ``worlds.make(world.to_dict())`` returns an equal world.

    Parameters that were left out, or are None, may follow from T and K (:func:`derived`).
    :attr:`derived` names those that do, and :meth:`with_parameters` derives them again.

    Attributes:
        horizon: T, the number of rounds.
        random: whether :meth:`means` draws a new instance from the generator each time.
        name: the world's name in :func:`ns_mab_gym.worlds.names`; its ``package.module:Class`` if it is not registered.
    """

    random: ClassVar[bool] = False

    horizon: int = 50_000
    name: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not self.name:
            object.__setattr__(self, "name", f"{type(self).__module__}:{type(self).__qualname__}")
        for parameter in self.parameters():
            value = getattr(self, parameter)
            if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:  # keeps repr and JSON plain
                object.__setattr__(self, parameter, value.item())
        positive_int("horizon", self.horizon)
        found: dict[str, str] = {}  # parameters that are None and have a rule are filled in, one after the other
        for each in dataclasses.fields(self):
            if "rule" in each.metadata and getattr(self, each.name) is None:
                object.__setattr__(self, each.name, each.metadata["rule"](self))
                found[each.name] = each.metadata["default"]
        object.__setattr__(self, "_derived", found)

    @property
    def derived(self) -> dict[str, str]:
        """The parameters that were not given but follow from the world's size, each with its formula."""
        found: dict[str, str] = getattr(self, "_derived", {})  # a world of one's own may not call __post_init__
        return dict(found)

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """K, the number of arms."""

    @abstractmethod
    def _means(self, rng: np.random.Generator) -> Floats:
        """The (T, K) means of one instance."""

    def means(self, rng: np.random.Generator | int | None = None) -> Floats:
        """The (T, K) float64 matrix of means of one instance.

        Args:
            rng: a generator or a seed, which a world that is not :attr:`random` ignores.
        """
        if self.random and rng is None:
            raise ValueError(f"{self.name!r} draws its means at random: pass a numpy Generator or a seed")
        generator = np.random.default_rng(rng if self.random else 0)
        before = generator.bit_generator.state
        means = np.asarray(self._means(generator), dtype=np.float64)
        if not self.random and generator.bit_generator.state != before:
            raise ValueError(
                f"{type(self).__name__}._means draws from rng, but the world says that its means are the same in every "
                f"run: write random = True in the class, or draw from a generator of its own, np.random.default_rng(7)"
            )
        if means.shape != (wanted := (self.horizon, self.n_arms)):
            raise ValueError(
                f"{type(self).__name__}._means must return shape (horizon, n_arms) = {wanted}, got {means.shape}"
            )
        return means

    def instance(self, rng: np.random.Generator | int | None = None) -> Floats:
        """The matrix of :meth:`means` to be read only; a world that keeps one need not copy it."""
        means = self.means(rng)
        means.setflags(write=False)
        return means

    @property
    def lipschitz(self) -> float | None:
        """σ as stated by the world's author (the paper, for its smooth worlds); None if it is not stated."""
        return None

    @property
    def own_law(self) -> Any:
        """The reward law with which it is played if no other is given; None if it comes with none."""
        return None

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        """The world itself, since it never changes; ``gym.make`` copies its arguments."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The world's name and parameters as plain JSON-able values, and under ``derived`` the formulas, if any."""
        return dataclasses.asdict(self) | ({"derived": self.derived} if self.derived else {})

    def with_parameters(self, **parameters: Any) -> World:
        """This world with some parameters changed; those that follow from its size are derived again."""
        known_keywords(f"world {self.name!r}", parameters, type(self).parameters())
        anew: dict[str, Any] = dict.fromkeys(self.derived)
        return typed(type(self), parameters, lambda: dataclasses.replace(self, **(anew | parameters)))

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of the parameters that this kind of world takes."""
        return tuple(f.name for f in dataclasses.fields(cls) if f.init)

    def _rounds(self, start: int = 0, stop: int | None = None) -> Floats:
        """Return the paper's 1-based numbers of these rows, of all by default; worlds of users may use it."""
        return np.arange(start + 1, (self.horizon if stop is None else stop) + 1, dtype=np.float64)

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rounds, as rows and as the paper's 1-based numbers."""
        size = block_size(self.n_arms, BLOCK)
        for start in range(0, self.horizon, size):
            stop = min(start + size, self.horizon)
            yield slice(start, stop), self._rounds(start, stop)

    def _by_blocks(self, formula: Callable[[Floats], Floats]) -> Floats:
        """The (T, K) means by a formula for the (B, K) means of the (B,) rounds of a block.

        So nothing else takes as much memory as they do.
        """
        means = np.empty((self.horizon, self.n_arms))
        for rows, t in self._blocks():
            means[rows] = formula(t)
        return means


NEEDS = ("means", "with_parameters", "parameters", "to_dict")
WORLDS: Registry[World] = Registry("world", "worlds", "ns_mab_gym.worlds", NEEDS)
register, names, kind = WORLDS.add, WORLDS.names, WORLDS.find


def card(name: str | World) -> Card:
    """The card of a world: how its means move, whether they are random, its parameters; ``print`` shows it.

    Args:
        name: the name of a world; or a world, whose card also says what was derived from its size, by which formulas.
    """
    world = type(name) if isinstance(name, World) else kind(name)
    doc = docstring_of(world).split("Attributes:")[0].split(">>>")[0].split("\n\n", 1)
    facts = {"more": " ".join(doc[1].replace("``", "").split())} if len(doc) > 1 and doc[1].strip() else {}
    facts["means"] = "drawn anew at each reset" if world.random else "the same in every run"
    if isinstance(name, World):
        facts["this one"] = repr(name)
        if name.derived:
            each = (f"{key} = {getattr(name, key)} ({formula})" for key, formula in name.derived.items())
            facts["derived"] = "; ".join(each)
    return card_of(name.name if isinstance(name, World) else name, world, facts)


def make(world: Any, **parameters: Any) -> World:
    """A world from its name or class, from what :meth:`World.to_dict` returned, or from another world.

    Args:
        world: a name, a ``"package.module:Class"``, a class, a mapping with a ``name`` and parameters, or a world; also
            with parameters, as a text (``"piecewise:n_arms=3"``) or in a pair (``("piecewise", {"n_arms": 3})``).
        parameters: parameters to set or to change.
    """
    given, (world, settings) = world, unpacked(world)
    check_single(given, settings, "agents")
    parameters = settings | parameters
    if isinstance(world, World):
        return world.with_parameters(**parameters) if parameters else world
    if isinstance(world, Mapping):
        described = dict(world)
        name, derived = described.pop("name", None), by_name("derived", described.pop("derived", None))
        made = make(name, **({key: value for key, value in described.items() if key not in derived} | parameters))
        if parameters or made == (stored := make(name, **described)):
            return made
        return stored  # by formulas of another version
    found = kind(world)
    known_keywords(f"world {world if isinstance(world, str) else world.__name__!r}", parameters, found.parameters())
    return typed(found, parameters, lambda: found(**parameters))
