"""The record beside a report: while all that goes into it stays the same, nothing is judged, drawn or written again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..sources import OURS, code_digest, edited_while_running, versions
from ..studies.study import Unit, identities

RECORD = "written.json"
LIBRARIES = ("scipy", "matplotlib", "plotly", "jinja2")


def basis(
    units: Sequence[Unit], code: Callable[[Unit], str], settings: Any, functions: Iterable[Callable[..., Any]] = ()
) -> str | None:
    """Return the hash of what a report is made from; None if it cannot be known, as with functions of the user's.

    Args:
        units: the units that it shows.
        code: gives the version of the code that computes a unit.
        settings: everything else that it shows, with a ``repr`` that says it all.
        functions: the functions that judge or describe the results.
    """
    behind = (each.func if isinstance(each, partial) else each for each in functions)
    digest = code_digest([OURS])
    if digest is None or edited_while_running([OURS]) or not all(each.__module__.startswith(OURS) for each in behind):
        return None
    templates = sorted(Path(__file__).parents[1].glob("*/templates/*"))
    libraries = [versions(), *map(version, LIBRARIES)]
    parts = [digest, *(_hash(path) for path in templates), *identities(units, code), repr((libraries, settings))]
    return hashlib.sha256("\n".join(parts).encode(errors="backslashreplace")).hexdigest()


def provenance() -> list[tuple[str, str]]:
    """The versions of the packages and the machine, as settings of a page."""
    return [*versions().items(), ("machine", f"{platform.platform()}, {os.cpu_count()} cores")]


@dataclass
class Record:
    """The hashes of all files in the folders of a report, what it was made from, and what was said about it.

    Attributes:
        folders: the folder of the report, in which the record is, and others to which its files were written.
        content: the record of the last time; empty if there is none, or a file, such as the store, was changed.
    """

    folders: Sequence[Path]
    content: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Read the record, before the store is opened."""
        try:
            content = json.loads((self.folders[0] / RECORD).read_bytes())
            self.content = content if content["files"] == self._files() else {}
        except (OSError, ValueError, TypeError, KeyError):
            return

    def said(self, basis: str | None) -> dict[str, Any] | None:
        """Return what was said about the report if it was made from the same, else None."""
        return self.content["said"] if basis is not None and self.content.get("basis") == basis else None

    def keep(self, basis: str | None, said: dict[str, Any]) -> None:
        """Write the record, after the store is closed."""
        if basis is not None:
            content = {"basis": basis, "files": self._files(), "said": said}
            write_atomically(self.folders[0] / RECORD, json.dumps(content, indent=1).encode())

    def _files(self) -> dict[str, str]:
        files = [path for folder in self.folders if folder.is_dir() for path in sorted(folder.iterdir())]
        return {str(path): _hash(path) for path in files if path.is_file() and path.name != RECORD}


def _hash(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
