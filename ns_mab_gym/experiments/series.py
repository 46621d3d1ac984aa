"""What all blocks of runs of one agent on one world have in common: computed once, however many blocks there are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from ..kept_files import sha256_of
from .pinned_files import files_of, kept_digests
from .study import AgentEntry, Entry, WorldEntry

__all__ = ["Asked", "Series"]

GAP = "\0"  # stands for a number in a JSON text, in which it cannot occur


class Asked(NamedTuple):
    """The JSON text of a unit's description and code, around the two numbers in which the units of a series differ."""

    before: hashlib._Hash  # the hash of the text before the number of the first run
    between: bytes
    after: bytes  # the number of runs

    def identity(self, first_run: int, runs: int) -> str:
        """The hash of the text with these numbers."""
        digest = self.before.copy()
        digest.update(b"%d%b%d%b" % (first_run, self.between, runs, self.after))
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Series:
    """All runs of one agent on one world from one seed.

    Attributes:
        world: the world, without a label.
        agent: the agent, without a label.
        seed: the number from which the seeds of all runs are derived.
        rounds: the rounds after which the regret is kept; about 500, evenly spaced, if there are none.
    """

    world: WorldEntry
    agent: AgentEntry
    seed: int
    rounds: tuple[int, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)
    _files: tuple[tuple[str, ...] | None, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute what is asked for with every unit."""
        object.__setattr__(self, "_hash", hash((self.world, self.agent, self.seed, self.rounds)))
        object.__setattr__(self, "_files", (kept_digests(self.world), kept_digests(self.agent)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the hash, which is another one in every process."""
        return Series, (self.world, self.agent, self.seed, self.rounds)

    def description(self) -> dict[str, Any]:
        """What its units compute, as plain JSON-able values; a file is described by the hash of its content."""
        return {
            "env": self.world.name,
            "env_kwargs": self.world.kwargs,
            "means_sha256": _digest(self.world),
            "agent": self.agent.name,
            "agent_kwargs": self.agent.kwargs,
            "model_sha256": _digest(self.agent),
            "seed": self.seed,
            "rounds": self.rounds,
            **({"files_sha256": others} if (others := self._other_files()) else {}),
        }

    def _other_files(self) -> dict[str, str]:
        """The hashes of the files that parameters other than ``path`` name, such as those of a world of the user's."""
        entries: Mapping[str, Entry] = {"env": self.world, "agent": self.agent}
        return {
            f"{what}.{name}": sha256_of(file)
            for what, entry in entries.items()
            for name, file in files_of(entry).items()
            if name != "path"
        }

    def asked(self, code: str) -> Asked:
        """What the identities of its units are made of; files that are not kept are read every time."""
        return _asked(self, code) if None in self._files else _known(self, code, self._files)


def _asked(series: Series, code: str) -> Asked:
    """``json.dumps(…, sort_keys=True)`` of the description and the code, with gaps for the two numbers."""
    texts = {key: json.dumps(each, sort_keys=True) for key, each in series.description().items()}
    texts |= {"code": json.dumps(code), "first_run": GAP, "runs": GAP}
    whole = "{" + ", ".join(f'"{key}": {texts[key]}' for key in sorted(texts)) + "}"
    before, between, after = whole.encode().split(GAP.encode())
    return Asked(hashlib.sha256(before), between, after)


@lru_cache(maxsize=1024)  # units are asked for series by series
def _known(series: Series, code: str, files: tuple[tuple[str, ...] | None, ...]) -> Asked:
    """The same; series are equal if their files have the same paths, whatever was read there."""
    return _asked(series, code)


def _digest(entry: Entry) -> str | None:
    """The hash of the file from which an entry is read: of what was read for the run, if it was; None without one."""
    path = entry.kwargs.get("path")
    return None if path is None else sha256_of(path)
