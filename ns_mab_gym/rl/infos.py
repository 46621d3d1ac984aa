"""Turns Gymnasium's dictionary of arrays into Stable-Baselines3's list of dictionaries, when it is first read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__all__ = ["LazyInfos", "split_infos"]

Info = dict[str, Any]
BoolArray = npt.NDArray[np.bool_]


def split_infos(infos: Info, n: int) -> list[Info]:
    """One dictionary per environment, of Python numbers and rows of arrays; built column by column, which is fast."""
    masks: dict[str, Any] = {key: infos.get(f"_{key}") for key in infos if not key.startswith("_")}
    everywhere = dict.fromkeys([key for key, mask in masks.items() if mask is None or mask.all()])
    split: list[Info] = [everywhere.copy() for _ in range(n)]  # a copy has room for its values: it need not grow
    for key, mask in masks.items():
        column = _column(infos[key], n)
        if key in everywhere:
            for info, value in zip(split, column, strict=True):
                info[key] = value
        else:
            for i in np.flatnonzero(mask).tolist():
                split[i][key] = column[i]
    return split


def _column(values: Any, n: int) -> list[Any]:
    if isinstance(values, dict):
        return split_infos(values, n)
    return values.tolist() if isinstance(values, np.ndarray) and values.ndim == 1 else list(values)


class LazyInfos(Sequence[Info]):
    """A list of dictionaries that is built when it is first read.

    Args:
        infos: the infos of a vector environment with ``SAME_STEP`` autoreset.
        terminated: (N,)
        truncated: (N,)
    """

    def __init__(self, infos: Info, terminated: BoolArray, truncated: BoolArray) -> None:
        self._infos = infos
        self._terminated = terminated
        self._truncated = truncated

    @cached_property
    def _list(self) -> list[Info]:
        infos, n = dict(self._infos), len(self._truncated)
        final_obs, final_info = infos.pop("final_obs", None), infos.pop("final_info", None)
        infos.pop("_final_obs", None)
        infos.pop("_final_info", None)
        timed_out = {"TimeLimit.truncated": self._truncated & ~self._terminated}
        split = split_infos(infos | timed_out, n)
        if final_info is not None:
            for info, last in zip(split, split_infos(final_info | timed_out, n), strict=True):
                info |= last  # what a wrapper recorded about the episode, such as its return, stays
        for i in np.flatnonzero(self._terminated | self._truncated).tolist():
            split[i]["terminal_observation"] = final_obs[i]
        return split

    def __len__(self) -> int:
        return len(self._truncated)

    @overload
    def __getitem__(self, index: int) -> Info: ...

    @overload
    def __getitem__(self, index: slice) -> list[Info]: ...

    def __getitem__(self, index: int | slice) -> Info | list[Info]:
        return self._list[index]

    def __iter__(self) -> Iterator[Info]:
        return iter(self._list)

    def __repr__(self) -> str:
        return repr(self._list)
