"""Reward laws: how a reward is drawn around its mean.

Every law takes one draw from the generator per round, whatever the arm, so that agents on the same environment seed
get the same luck and comparisons are paired. A reward is the law's quantile (or location shift) of that draw,
hence never smaller for an arm with a larger mean.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .agents.core.arguments import LARGEST, known_parameters, positive, typed
from .agents.core.registry import Card, Registry, card_of, docstring_of
from .means import Floats

CONCENTRATIONS = 1e-3, 1e9  # for which quantiles are computed to seven digits or more


@dataclass(frozen=True, kw_only=True)
class Law(ABC):
    """A family of reward distributions indexed by the mean.

    Attributes:
        support: the interval in which rewards lie.
        binary: whether every reward is 0 or 1.
        normal: whether a round's luck is a standard normal draw; otherwise it is uniform on [0, 1).
        name: the law's name in :func:`ns_mab_gym.rewards.names`.
    """

    support: ClassVar[tuple[float, float]]
    binary: ClassVar[bool] = False
    normal: ClassVar[bool] = False

    name: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        """Turn NumPy scalars into Python numbers, so that ``repr`` can be pasted back and JSON can hold them."""
        if not self.name:
            object.__setattr__(self, "name", f"{type(self).__module__}:{type(self).__qualname__}")
        for parameter in self.parameters():
            if isinstance(value := getattr(self, parameter), np.generic):
                object.__setattr__(self, parameter, value.item())

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of the parameters that this law takes."""
        return tuple(f.name for f in dataclasses.fields(cls) if f.init)

    @property
    @abstractmethod
    def subgaussian(self) -> float:
        """λ, such that every reward of the law is λ²-subgaussian."""

    @abstractmethod
    def reward(self, mu: float, luck: float) -> float:
        """The reward of an arm with mean ``mu`` in a round with this luck."""

    def draw(self, mu: float, rng: np.random.Generator) -> float:
        """A reward with mean ``mu``: one draw from the generator."""
        return self.reward(mu, rng.standard_normal() if self.normal else rng.random())

    def luck(self, rng: np.random.Generator, rounds: int) -> Floats:
        """The luck of several rounds at once: the same numbers that one draw per round would give."""
        return rng.standard_normal(rounds) if self.normal else rng.random(rounds)

    def check_means(self, means: Floats) -> None:
        """Raise a ValueError if a mean lies outside the law's support."""
        low, high = self.support
        smallest, largest = float(means.min()), float(means.max())
        got = f"got means from {smallest:g} to {largest:g}"
        if not math.isfinite(smallest) or not math.isfinite(largest):
            raise ValueError(f"means must be finite, {got}")
        if max(-smallest, largest) > LARGEST:
            raise ValueError(f"means must be at most {LARGEST:g} in size, {got}; rescale them")
        if smallest < low or largest > high:
            raise ValueError(
                f"{self.name} rewards need means in [{low:g}, {high:g}], {got}; rescale them, or use reward='gaussian'"
            )


@dataclass(frozen=True, kw_only=True)
class Bernoulli(Law):
    """1 with probability μ, else 0. ½-subgaussian (λ² = ¼, Hoeffding)."""

    support: ClassVar[tuple[float, float]] = (0.0, 1.0)
    binary: ClassVar[bool] = True
    name: str = field(init=False, repr=False, default="bernoulli")

    @property
    def subgaussian(self) -> float:
        """λ = ½."""
        return 0.5

    def reward(self, mu: float, luck: float) -> float:
        """1 where the uniform luck falls below the mean."""
        return 1.0 if luck < mu else 0.0


@dataclass(frozen=True, kw_only=True)
class Gaussian(Law):
    """Normal with mean μ and standard deviation ``scale``.

    Attributes:
        scale: λ, the standard deviation.
    """

    support: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    normal: ClassVar[bool] = True

    scale: float = 0.5
    name: str = field(init=False, repr=False, default="gaussian")

    def __post_init__(self) -> None:
        """Check the scale."""
        super().__post_init__()
        positive("scale", self.scale)

    @property
    def subgaussian(self) -> float:
        """λ = scale."""
        return self.scale

    def reward(self, mu: float, luck: float) -> float:
        """The mean plus the scaled normal luck."""
        return mu + self.scale * luck


@dataclass(frozen=True, kw_only=True)
class Beta(Law):
    """Beta(cμ, c(1−μ)) on [0, 1]: mean μ, variance μ(1−μ)/(c+1); always 0 for μ = 0, always 1 for μ = 1.

    Attributes:
        concentration: c, from 0.001 to 1e9; the larger, the closer rewards stay to their mean.
    """

    support: ClassVar[tuple[float, float]] = (0.0, 1.0)

    concentration: float = 10.0
    name: str = field(init=False, repr=False, default="beta")

    def __post_init__(self) -> None:
        """Check the concentration."""
        super().__post_init__()
        low, high = CONCENTRATIONS
        if not low <= positive("concentration", self.concentration) <= high:
            raise ValueError(f"concentration must lie between {low:g} and {high:g}, got {self.concentration!r}")

    @property
    def subgaussian(self) -> float:
        """λ² = 1/(4(c+1)) (Marchal and Arbel, "On the sub-Gaussianity of the Beta and Dirichlet", 2017)."""
        return 0.5 / math.sqrt(self.concentration + 1)

    def reward(self, mu: float, luck: float) -> float:
        """The Beta quantile at the uniform luck."""
        from .quantile import beta_quantile  # imported here, because the other laws do not need numba

        return float(beta_quantile(luck, self.concentration * mu, self.concentration * (1 - mu)))


@dataclass(frozen=True, kw_only=True)
class Empirical(Law):
    """Rewards that were seen, moved to each mean: multiplied if none of them is negative, else shifted.

    So revenues that are mostly 0 stay so: an arm of twice the mean pays twice as much, as often.

    >>> law = Empirical(values=(0.0, 0.0, 0.0, 8.0))
    >>> [law.reward(3.0, luck) for luck in (0.1, 0.74, 0.75)]
    [0.0, 0.0, 12.0]

    Attributes:
        values: the rewards, two or more, not all of them equal.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check and sort the values."""
        super().__post_init__()
        values = np.sort(np.asarray(self.values, dtype=np.float64).ravel())
        if len(values) < 2 or not np.isfinite(values).all() or values[0] == values[-1]:
            raise ValueError(
                f"values must be two or more finite rewards, not all of them equal, got {self.values!r:.60}"
            )
        object.__setattr__(self, "values", tuple(values.tolist()))

    @property
    def scaled(self) -> bool:
        """True if rewards are multiplied, because none is negative."""
        return self.values[0] >= 0

    @property
    def support(self) -> tuple[float, float]:  # type: ignore[override]
        """[0, ∞) if rewards are multiplied, else all numbers."""
        return (0.0 if self.scaled else -math.inf, math.inf)

    @cached_property
    def shape(self) -> Floats:
        """The sorted values with mean 1, or if they are shifted with mean 0."""
        values = np.array(self.values)
        return np.asarray(values / values.mean() if self.scaled else values - values.mean())

    @property
    def subgaussian(self) -> float:
        """λ is the standard deviation of the values: a measure of their scatter, no bound on their tails."""
        return float(np.std(self.values))

    def reward(self, mu: float, luck: float) -> float:
        """The quantile at the uniform luck."""
        value = self.shape.item(int(luck * len(self.values)))
        return mu * value if self.scaled else mu + value


LAWS: Registry[Law] = Registry("reward law", "rewards", "ns_mab_gym.laws", ("reward", "check_means", "parameters"))
register, names, kind = LAWS.add, LAWS.names, LAWS.find
for _kind in (Bernoulli, Gaussian, Beta):
    LAWS.add(_kind.name, _kind)


def card(name: str) -> Card:
    """The card of a reward law: its support, its scatter and its parameters; ``print`` shows it."""
    law = kind(name)
    low, high = law.support
    rewards = "0 or 1" if law.binary else f"in [{low:g}, {high:g}]"
    scale = " ".join(docstring_of(law.subgaussian).split())
    return card_of(name, law, {"rewards": rewards, "scatter": f"λ²-subgaussian with {scale or 'λ not stated'}"})


def make(law: Law | str | Mapping[str, Any], **parameters: Any) -> Law:
    """A reward law, from its name, from ``dataclasses.asdict`` of a law, or from a law.

    Args:
        law: a name, a mapping with a ``name`` and parameters, or a law.
        parameters: parameters to set or to change, such as ``scale``.
    """
    if isinstance(law, Mapping):
        described = dict(law)
        return make(described.pop("name", None), **(described | parameters))
    found = type(law) if isinstance(law, Law) else kind(law)
    known_parameters(f"reward law {found.name or found.__name__!r}", parameters, found.parameters())
    return typed(found, parameters, lambda: replace(law, **parameters) if isinstance(law, Law) else found(**parameters))
