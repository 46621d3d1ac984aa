"""Reads the means of a world that is named on a command line."""

from __future__ import annotations

from ..envs.bandit import NSBanditEnv
from ..experiments.arm_headers import header_of
from ..experiments.parsing import parse
from ..experiments.pinned_files import pinned_world
from ..experiments.preflight import env_of
from ..experiments.study import WorldEntry
from ..file_names import file_name
from ..means import Floats

__all__ = ["means_of"]


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
        return file_name(world.file.stem, instead="means", keep=".=,-"), bandit.means, header_of(world.kwargs["path"])
    return file_name(world.words, instead="world", keep=".=,-"), bandit.means, None
