"""The door for files of means: read once, hashed as read, and nothing but errors of our own comes out."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple

from ..agents.core.arguments import choice
from ..agents.core.memory_limits import DoesNotFitError, ensure_fits
from ..kept_files import KeptFile
from ..means import BadMeansError, as_means
from .columns import SMALLER, Columns
from .csv_means import read_csv
from .npz_means import read_npz
from .parquet_means import read_parquet
from .world import FloatArray

__all__ = ["MeansFile", "path_in_words", "read_file", "read_means"]

READERS: dict[str, tuple[str, Callable[[bytes, str], Columns]]] = {
    ".csv": ("CSV", read_csv),
    ".parquet": ("Parquet", read_parquet),
    ".npz": ("npz", read_npz),
}
FULL = 200  # characters of a library's error that are repeated


class MeansFile(NamedTuple):
    """What was read from a file of means."""

    means: FloatArray  # (T, K)
    names: tuple[str, ...] | None  # of the arms, if the file has names
    digest: str  # the SHA-256 of the bytes that were read, in hexadecimal


def read_means(path: str | PathLike[str]) -> FloatArray:
    """The (T, K) matrix of means in a ``.csv``, ``.parquet`` or ``.npz`` file."""
    return read_file(path).means


def read_file(path: str | PathLike[str]) -> MeansFile:
    """Read a file of means once: the means, the names of the arms, and the hash of the very bytes that were read."""
    file = Path(path_in_words(path))
    source = repr(str(file))
    size = 0 if isinstance(path, KeptFile) else _size(file, source)
    what, read = READERS[choice("kind of table", file.suffix.lower(), READERS)]
    content = path.content if isinstance(path, KeptFile) else _content(file, size, source)
    try:
        columns = read(content, source)
    except (BadMeansError, DoesNotFitError, ImportError):
        raise
    except Exception as error:  # of the libraries that read it, which have many kinds
        raise BadMeansError(f"{source} cannot be read as {what}: {_first_line(error)}; save it again") from error
    return MeansFile(as_means(columns.values, source), columns.names, hashlib.sha256(content).hexdigest())


def path_in_words(path: object) -> str:
    """The given path as text."""
    words = fspath(path) if isinstance(path, PathLike) else path
    if not isinstance(words, str):
        raise TypeError(f"the path of a file of means must be text, got {path!r}")
    return words


def _size(file: Path, source: str) -> int:
    """How many bytes there are to read, if it is a file at all: a pipe would never end."""
    try:
        about = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"no file of means at {source}") from None
    except (OSError, ValueError) as error:  # a name that no file can have, or a folder that is closed
        raise BadMeansError(f"{source} cannot be opened: {_first_line(error)}; give the path of a file") from error
    if not stat.S_ISREG(about.st_mode):
        kind = "a folder" if stat.S_ISDIR(about.st_mode) else "a pipe or a device"
        raise BadMeansError(f"{source} is {kind}; give a file of means ({', '.join(READERS)})")
    return about.st_size


def _content(file: Path, size: int, source: str) -> bytes:
    ensure_fits(f"reading {source}", size, SMALLER)
    try:
        with file.open("rb") as handle:
            return handle.read(size)
    except FileNotFoundError:
        raise FileNotFoundError(f"no file of means at {source}") from None
    except OSError as error:
        raise BadMeansError(f"{source} cannot be opened: {_first_line(error)}; ask its owner") from error


def _first_line(error: BaseException) -> str:
    """What the error of another library says, in one printable line."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = "".join(sign if sign.isprintable() else " " for sign in (words.strip().splitlines() or [""])[0])
    return line[:FULL].rstrip(" .;") or type(error).__name__
