"""Files: written in full or not at all, under names that every file system takes; input files that are read once.

What was read of an input file is what is hashed, played and drawn, whatever becomes of the file during a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain, count
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, Self

TEMPORARY = re.compile(r"\.ns-mab-gym-[0-9a-f]{16}\.part")
RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\.|$)", re.IGNORECASE)  # devices of Windows, any ending
EDGES = re.compile(r"^[\W_]+|[\W_]+$")
LONGEST_NAME = 60  # bytes in UTF-8: a file's name, with its endings and while it is being written, may have 255


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
    try:
        opened = temporary.open("xb")
    except OSError as error:  # of which the user knows the file's own name
        raise OSError(error.errno, error.strerror, str(path)) from None
    with opened as handle:
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
    """True for the name of a file that a process left which was killed while it wrote."""
    return TEMPORARY.fullmatch(name) is not None


def remove_leftovers(*folders: Path) -> None:
    """Remove what processes left that were killed while they wrote; to be called only while no other process writes."""
    for folder in folders:
        if folder.is_dir():
            for path in folder.iterdir():
                if is_temporary(path.name) and path.is_file():
                    path.unlink()


def file_name(words: str, *, instead: str, keep: str = ".") -> str:
    """Words as a file's name, or as the beginning of one: letters of any script, digits and ``_``.

    It begins with a letter or a digit, since files whose names begin with another sign are hidden from some readers,
    and ends with one too. Different words can give the same name: see :func:`distinct_names`.

    >>> file_name("../Été: 1/2", instead="world"), file_name("?!", instead="world"), file_name("con", instead="world")
    ('Été-1-2', 'world', 'world-con')

    Args:
        words: the text to make a name of.
        instead: the name if nothing is left of the words, and before a name that Windows keeps for itself.
        keep: signs that are kept too; a hyphen stands for everything else.
    """
    allowed = re.sub(rf"[^\w{re.escape(keep)}]+", "-", unicodedata.normalize("NFC", words))
    name = EDGES.sub("", EDGES.sub("", allowed).encode()[:LONGEST_NAME].decode(errors="ignore"))
    return f"{instead}-{name}" if RESERVED.match(name) else name or instead


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names, with a number after each that an earlier one has, also where case and accents' forms do not count.

    >>> distinct_names(["smooth", "Smooth", "smooth-2", "abrupt"])
    ['smooth', 'Smooth-2', 'smooth-2-2', 'abrupt']
    """

    def compared(name: str) -> str:  # as by file systems that know neither case nor several forms of a letter
        return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).upper().casefold())

    found: dict[str, str] = {}
    for name in names:
        tried = chain([name], (f"{name}-{number}" for number in count(2)))
        free = next(each for each in tried if compared(each) not in found)
        found[compared(free)] = free
    return list(found.values())


class ChangedFileError(ValueError):
    """A file does not hold any more what it held when a run began."""


class KeptFile(str):
    """The path of a file, with the bytes that the file held when it was read.

    It is a text like any other path. Readers that know it, by :func:`content_of`, take the bytes instead of opening the
    file again. Sent to another process, it is the path and the hash: the file is read there when its content is asked
    for, and refused if it holds anything else.

    Args:
        path: where the file is.
        trusted: whether the user vouches for the file, so that code in it may run.

    Attributes:
        digest: the SHA-256 of the content.
    """

    digest: str
    trusted: bool
    _content: bytes | None

    def __new__(cls, path: str | PathLike[str], *, trusted: bool = False) -> Self:
        """Read the file."""
        content = _read(fspath(path))
        return cls._of(fspath(path), hashlib.sha256(content).hexdigest(), trusted, content)

    @classmethod
    def _of(cls, path: str, digest: str, trusted: bool, content: bytes | None = None) -> Self:
        kept = super().__new__(cls, path)
        kept.digest, kept.trusted, kept._content = digest, trusted, content
        return kept

    @property
    def content(self) -> bytes:
        """The bytes; read here if this came from another process."""
        if self._content is None:
            self._content = self.ensure_unchanged()
        return self._content

    def ensure_unchanged(self) -> bytes:
        """Return the bytes that the file holds now; raise a :class:`ChangedFileError` if they are others."""
        content = _read(self)
        if hashlib.sha256(content).hexdigest() != self.digest:
            raise ChangedFileError(
                f"{str(self)!r} was changed while the run was going on; what is stored is intact, start again to play "
                f"the file as it is now"
            )
        return content

    def __reduce__(self) -> tuple[Any, ...]:
        """The path and the hash, without the content."""
        return type(self)._of, (str(self), self.digest, self.trusted)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The file itself, since it never changes; ``gym.make`` copies its arguments."""
        return self

    def __copy__(self) -> Self:
        return self


def content_of(path: str | PathLike[str]) -> bytes:
    """The bytes of a file: those that were kept, or else those that it holds now."""
    return path.content if isinstance(path, KeptFile) else _read(fspath(path))


def sha256_of(path: str | PathLike[str]) -> str:
    """The SHA-256 of :func:`content_of` the file."""
    return path.digest if isinstance(path, KeptFile) else hashlib.sha256(_read(fspath(path))).hexdigest()


def _read(path: str) -> bytes:
    if not os.path.isfile(path):  # of those that can be read to their end: no folder, no pipe, no device
        raise FileNotFoundError(f"there is no file at {str(path)!r}")
    return Path(path).read_bytes()
