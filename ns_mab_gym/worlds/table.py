"""A world given by a table of means: one column per arm, one row per round."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import positive_int
from ..means import Floats, as_means
from .files import MeansFile, checked_path, read_file
from .world import World


@dataclass(frozen=True, kw_only=True)
class Table(World):
    """Means from an array or from a file (``.csv``, ``.parquet``, ``.npz``).

    The first row of a CSV file is a header if it holds names; the numbers 0, 1, … there are refused, since they may be
    those of columns, or means. A column that counts the rounds is refused, pandas' index in a Parquet file is left out.
    An ``.npz`` file holds one array, or one called ``means``. A file is read once, when the world is made.

    >>> Table(rows=[[0.1, 0.9], [0.8, 0.2], [0.8, 0.3]])
    Table(horizon=3, rows=((0.1, 0.9), (0.8, 0.2), (0.8, 0.3)), path=None, n_arms=2)

    Attributes:
        rows: the means, T rows of K numbers; or
        path: the file that holds them.
        horizon: T; taken from the table, which it must match if given.
        n_arms: K; taken from the table, which it must match if given.
    """

    rows: tuple[tuple[float, ...], ...] | npt.ArrayLike | None = None
    path: str | Path | None = None
    horizon: int = None  # type: ignore[assignment]  # always an int after __post_init__
    n_arms: int = None  # type: ignore[assignment]
    name: str = field(init=False, repr=False, default="table")

    def __post_init__(self) -> None:
        """Read the table and check it, so that every world that was made can be played."""
        if (self.rows is None) == (self.path is None):
            raise ValueError("a table world takes either rows= (an array of means) or path= (a file)")
        if self._file is not None:  # what was read is kept, the path is a plain text
            object.__setattr__(self, "path", checked_path(self.path))
        for what, has in zip(("horizon", "n_arms"), self._values.shape, strict=True):
            given = getattr(self, what)
            if given is not None and positive_int(what, given) != has:
                raise ValueError(f"{what} is {given} but the table has {has}; leave {what} out to take the table's")
            object.__setattr__(self, what, has)
        if self.rows is not None:
            object.__setattr__(self, "rows", tuple(map(tuple, self._values.tolist())))

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the bytes that these means were read from, in hexadecimal; None if they came as rows."""
        return None if self._file is None else self._file.digest

    @property
    def arm_names(self) -> tuple[str, ...] | None:
        """The names of the arms in the file, blank where one has none; None if there are no names."""
        return None if self._file is None else self._file.names

    @cached_property
    def _file(self) -> MeansFile | None:
        return None if self.path is None else read_file(self.path)

    @cached_property
    def _values(self) -> Floats:
        if self._file is not None:
            return self._file.means
        assert self.rows is not None
        return np.array(as_means(self.rows, "rows"))

    def _means(self, rng: np.random.Generator) -> Floats:
        return np.array(self._values)

    def instance(self, rng: np.random.Generator | int | None = None) -> Floats:
        """The table itself, read-only."""
        values = self._values.view()
        values.setflags(write=False)
        return values
