"""Folders that belong to this package: how they are recognised, and what they must not hold."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..files import is_plain_file, is_temporary, write_atomically

__all__ = ["MARK", "LostResultError", "StoreError", "guarded", "mark", "own_folder"]

MARK = "README.txt"
SUBFOLDERS = ("units", "aside", "figures")


class StoreError(ValueError):
    """The folder of results cannot be used; the message says why and what to do."""


class LostResultError(StoreError):
    """A stored result turned out to be broken or gone; it is set aside, and the same command computes it again."""


def own_folder(folder: Path, owner: str, remedy: str) -> None:
    """Make the folder; raises a :class:`StoreError` if it holds things, but not the mark of this owner.

    A folder whose owner was killed, or found the disk full, before it could leave its mark is taken up again. The
    folder itself may be a link, which is its user's choice; its subfolders must not lead elsewhere: files are written,
    moved and removed there.

    Args:
        folder: the folder.
        owner: how its mark begins.
        remedy: what to do if it cannot be used.
    """
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{str(folder)!r} is no folder; {remedy}")
    folder.mkdir(parents=True, exist_ok=True)
    if not _is_marked(folder, owner) and not all(map(_is_left_by_a_start, folder.iterdir())):
        raise StoreError(f"{str(folder)!r} holds other things; {remedy}")
    for subfolder in (folder / name for name in SUBFOLDERS):
        if subfolder.is_symlink():
            raise StoreError(f"{str(subfolder)!r} is a link to another place; remove the link, or {remedy}")
        if subfolder.exists() and not subfolder.is_dir():
            raise StoreError(f"{str(subfolder)!r} is no folder; remove it, or {remedy}")


def mark(folder: Path, explanation: str) -> None:
    """Leave the mark in a folder, the first thing in it besides its lock; unless it is there already."""
    path = folder / MARK
    if not is_plain_file(path) or path.read_bytes() != explanation.encode():
        write_atomically(path, explanation.encode())


def _is_marked(folder: Path, owner: str) -> bool:
    path = folder / MARK
    if not is_plain_file(path):
        return False
    with path.open("rb") as handle:
        return handle.read(len(owner.encode())) == owner.encode()


def _is_left_by_a_start(path: Path) -> bool:
    """Whether an interrupted start leaves this: an empty lock, an empty folder of units, or a file half written."""
    if path.name == "units":
        return path.is_dir() and not path.is_symlink() and not any(path.iterdir())
    return is_plain_file(path) and (is_temporary(path.name) or (path.name == ".lock" and path.stat().st_size == 0))


@contextlib.contextmanager
def guarded(folder: Path, purpose: str) -> Iterator[None]:
    """Turn errors of the file system into a :class:`StoreError` of one line."""
    try:
        yield
    except OSError as error:
        place = error.filename2 or error.filename  # the name that a file was to get, rather than the one it had
        where = f": {str(place)!r}" if error.strerror and place else ""
        raise StoreError(
            f"cannot {purpose} {str(folder)!r}: {error.strerror or error}{where}; what is stored there is intact, "
            f"the same command continues when this is fixed"
        ) from error
