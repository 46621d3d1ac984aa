"""What the arms of a world are called: by the header of its file of means, if it has one."""

from __future__ import annotations

from pathlib import Path

from ..worlds.means_files import read_file
from .study import WorldEntry

__all__ = ["arm_names", "header_of", "names_in_file"]


def arm_names(world: WorldEntry, n_arms: int) -> list[str]:
    """The names of a world's arms: those of its file, or "arm 1", "arm 2" and so on."""
    return names_in_file(world, n_arms) or _numbered(n_arms)


def names_in_file(world: WorldEntry, n_arms: int) -> list[str] | None:
    """The names of a world's arms in its file of means; None if there is no such file, or if it has no names."""
    header = None if world.file is None else header_of(world.kwargs["path"])
    if header is None or len(header) != n_arms:
        return None
    return [name.strip() or number for name, number in zip(header, _numbered(n_arms), strict=True)]


def _numbered(n_arms: int) -> list[str]:
    return [f"arm {arm + 1}" for arm in range(n_arms)]


def header_of(file: str | Path) -> list[str] | None:
    """The names of the columns of a file of means; None if it has no names, or if there is no such file."""
    try:
        names = read_file(file).names
    except FileNotFoundError:
        return None
    return None if names is None else list(names)
