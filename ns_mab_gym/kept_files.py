"""Files that are read once: what was read is what is hashed, played and drawn, whatever becomes of the file."""

from __future__ import annotations

import hashlib
import os
from os import PathLike, fspath
from typing import Any, Self

from .agents.core.memory_limits import ensure_fits

__all__ = ["ChangedFileError", "KeptFile", "content_of", "kept", "sha256_of"]


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
            content = _read(str(self))
            self._ensure_is(hashlib.sha256(content).hexdigest())
            self._content = content
        return self._content

    def ensure_unchanged(self) -> None:
        """Raise a :class:`ChangedFileError` if the file now holds something else."""
        self._ensure_is(hashlib.sha256(_read(str(self))).hexdigest())

    def _ensure_is(self, found: str) -> None:
        if found != self.digest:
            raise ChangedFileError(
                f"{str(self)!r} was changed while the run was going on; what is stored is intact, start again to play "
                f"the file as it is now"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """The path and the hash, without the content."""
        return type(self)._of, (str(self), self.digest, self.trusted)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The file itself, since it never changes; ``gym.make`` copies its arguments."""
        return self

    def __copy__(self) -> Self:
        return self


def kept(path: str | PathLike[str]) -> str:
    """The file at a path, read now; the path alone if there is no file, and the file as it is if it was kept before."""
    if isinstance(path, KeptFile) or not os.path.isfile(path):
        return fspath(path)
    return KeptFile(path)


def content_of(path: str | PathLike[str]) -> bytes:
    """The bytes of a file: those that were kept, or else those that it holds now."""
    return path.content if isinstance(path, KeptFile) else _read(fspath(path))


def sha256_of(path: str | PathLike[str]) -> str:
    """The SHA-256 of :func:`content_of` the file."""
    return path.digest if isinstance(path, KeptFile) else hashlib.sha256(_read(fspath(path))).hexdigest()


def _read(path: str) -> bytes:
    if not os.path.isfile(path):  # of those that can be read to their end: no folder, no pipe, no device
        raise FileNotFoundError(f"there is no file at {path!r}")
    with open(path, "rb") as file:
        ensure_fits(f"the file {path!r}", os.fstat(file.fileno()).st_size, "give a smaller one")
        return file.read()
