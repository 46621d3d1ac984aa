"""Remembers which models were saved on this machine, since loading a saved model can run any code that is in it.

The record is a file of SHA-256 hashes in the user's own folder, ``$XDG_STATE_HOME/ns_mab_gym/models`` or
``~/.local/state/ns_mab_gym/models``. Who can write there can run code as this user anyway.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..agents.core.arguments import shown

__all__ = ["ensure_trusted", "remember", "was_saved_here"]

_saved_now: set[str] = set()  # by this process, also if there is no folder to write to


def remember(digest: str) -> None:
    """Note the hash of a model that was saved here; without a folder to write to, for this process only."""
    _saved_now.add(digest)
    if was_noted(digest) or (file := _record()) is None:
        return
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, f"{digest}\n".encode())  # one write, so that two processes do not mix their lines
        finally:
            os.close(handle)


def was_saved_here(digest: str) -> bool:
    """Whether a model with this hash was saved on this machine, by this user."""
    return digest in _saved_now or was_noted(digest)


def was_noted(digest: str) -> bool:
    """Whether the hash is in the record."""
    file = _record()
    try:
        return file is not None and f"{digest}\n".encode() in file.read_bytes().splitlines(keepends=True)
    except OSError:
        return False


def _record() -> Path | None:
    """The file of hashes; None if this user has no folder."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"))
    return folder / "ns_mab_gym" / "models" if folder.is_absolute() else None


def ensure_trusted(path: str, digest: str, trust: bool) -> None:
    """Raise a ValueError unless the model was saved here or the user vouches for it.

    Args:
        path: where the model is, for the message.
        digest: the hash of what is about to be loaded.
        trust: whether the user vouches for it.
    """
    if not isinstance(trust, bool):
        raise TypeError(f"trust must be True or False, got {shown(trust)}")
    if not trust and not was_saved_here(digest):
        raise ValueError(
            f"{path!r} was not saved on this machine, and loading a model can run any code that is in it; if you trust "
            f"its author, pass trust=True, or --trust-models to a command, else ask for the .npz file that "
            f"SB3Agent.export writes, which runs no code"
        )
