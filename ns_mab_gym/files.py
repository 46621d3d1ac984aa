"""Writing files so that they exist in full or not at all, and so that nothing outside of a folder is touched."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = [
    "is_plain_file",
    "is_temporary",
    "refuse_links",
    "remove_leftovers",
    "write_atomically",
    "written_atomically",
]

TEMPORARY = re.compile(r"\.ns-mab-gym-[0-9a-f]{16}\.part|\..+\.[0-9]+\.part")  # the latter as earlier versions wrote


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it exists in full or not at all; see :func:`written_atomically`."""
    with written_atomically(path) as handle:
        handle.write(content)


@contextlib.contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file to write piece by piece, under a temporary name; synced and renamed at the end, removed if anything fails.

    The temporary name is short, whatever the file is called, and new: a link that lies there is not followed. A link
    that has the file's own name is replaced; what it leads to stays as it is.
    """
    temporary = path.with_name(f".ns-mab-gym-{os.urandom(8).hex()}.part")
    with temporary.open("xb") as handle:
        try:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
            handle.close()
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def is_temporary(name: str) -> bool:
    """Whether a file of this name was left by a process that was killed while it wrote."""
    return TEMPORARY.fullmatch(name) is not None


def remove_leftovers(*folders: Path) -> None:
    """Remove what processes left that were killed while they wrote; to be called only while no other process writes."""
    for folder in folders:
        if folder.is_dir():
            for path in folder.iterdir():
                if is_temporary(path.name) and is_plain_file(path):
                    path.unlink()


def is_plain_file(path: Path) -> bool:
    """Whether there is a file itself: no link to one, no pipe, no folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def refuse_links(*paths: Path) -> None:
    """Raise a ValueError if one of these is a link, through which something elsewhere would be written."""
    for path in paths:
        if path.is_symlink():
            raise ValueError(f"{str(path)!r} is a link to another place; remove the link, or choose another folder")
