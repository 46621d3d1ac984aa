"""The base class of worlds: a frozen description that yields a (T, K) matrix of means."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import known_parameters, positive_int
from ..agents.core.parameter_types import typed

__all__ = ["FloatArray", "World"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class World(ABC):
    """How the means of K arms move over T rounds.

    A world is plain data: its ``repr`` can be pasted back, :meth:`to_dict` is JSON-able, and two worlds with
    equal parameters are equal. ``worlds.make(world.to_dict())`` returns an equal world.

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
            if isinstance(value := getattr(self, parameter), np.generic):  # keeps repr and JSON plain
                object.__setattr__(self, parameter, value.item())
        positive_int("horizon", self.horizon)

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """K, the number of arms."""

    @abstractmethod
    def _means(self, rng: np.random.Generator) -> FloatArray:
        """The (T, K) means of one instance."""

    def means(self, rng: np.random.Generator | int | None = None) -> FloatArray:
        """The (T, K) float64 matrix of means of one instance.

        Args:
            rng: a generator or a seed, which a world that is not :attr:`random` ignores.
        """
        if self.random and rng is None:
            raise ValueError(f"{self.name!r} draws its means at random: pass a numpy Generator or a seed")
        means = np.asarray(self._means(np.random.default_rng(rng)), dtype=np.float64)
        if means.shape != (wanted := (self.horizon, self.n_arms)):
            raise ValueError(
                f"{type(self).__name__}._means must return shape (horizon, n_arms) = {wanted}, got {means.shape}"
            )
        return means

    @property
    def lipschitz(self) -> float | None:
        """σ as stated by the world's author (the paper, for its smooth worlds); None if it is not stated."""
        return None

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        """The world itself, since it never changes; ``gym.make`` copies its arguments."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The world's name and parameters as plain JSON-able values."""
        return dataclasses.asdict(self)

    def with_parameters(self, **parameters: Any) -> World:
        """This world with some parameters changed."""
        known_parameters(f"world {self.name!r}", parameters, type(self).parameters())
        return typed(type(self), parameters, lambda: dataclasses.replace(self, **parameters))

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of the parameters that this kind of world takes."""
        return tuple(f.name for f in dataclasses.fields(cls) if f.init)

    def _rounds(self) -> FloatArray:
        """The round numbers 1, …, T: the one place that converts to the paper's 1-based rounds."""
        return np.arange(1, self.horizon + 1, dtype=np.float64)
