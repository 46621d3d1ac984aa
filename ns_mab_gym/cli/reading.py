"""Reads the means of a world that is named on a command line."""

from __future__ import annotations

import re

from ..envs.bandit import NSBanditEnv
from ..experiments.arm_headers import header_of
from ..experiments.parsing import parse
from ..experiments.pinned_files import pinned_world
from ..experiments.preflight import env_of
from ..experiments.study import WorldEntry
from ..files import shortened
from ..means import Floats

__all__ = ["means_of"]

LONGEST = 150  # bytes of a name, to which the names of pictures add theirs


def means_of(words: str, seed: int) -> tuple[str, Floats, list[str] | None]:
    """A name for files, the means of an instance, and the arms' names where a file has them.

    Args:
        words: an id, a world's name, or a file of means, and optionally parameter=value,… after a colon.
        seed: the seed of the instance, if the world is random.
    """
    world = pinned_world(parse(WorldEntry, words))
    env = env_of(world)
    bandit = env.unwrapped
    if not isinstance(bandit, NSBanditEnv):
        raise ValueError(f"{words!r} does not tell its means; name a world of this suite or a file of means")
    env.reset(seed=seed)
    if world.file is not None:
        return shortened(world.file.stem, LONGEST), bandit.means, header_of(world.kwargs["path"])
    return shortened(re.sub(r"[^\w.=,-]+", "-", world.words), LONGEST), bandit.means, None
