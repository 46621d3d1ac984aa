"""Checks everything in a study before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import gymnasium as gym

from ..agents.core.arguments import nearest
from ..agents.core.knowledge import Knowledge
from ..agents.core.memory_limits import ensure_fits
from ..agents.core.registry import looks_like_path
from ..agents.core.zoo import AGENTS, check_parameters, kind, make
from ..envs import ENV_IDS
from ..envs.bandit import NSBanditEnv
from ..kept_files import KeptFile
from ..means import Floats
from ..play.episode import check_match, seed_pair
from ..play.match import known_of
from ..play.resolving import MODELS, as_agent, as_env, names_a_world
from ..worlds import catalogue as worlds
from .study import AgentEntry, Study, WorldEntry

__all__ = ["Instances", "check_size", "check_study", "drawn_anew", "env_of"]

Env = gym.Env[Any, Any]
LAST = 4  # worlds whose means are kept
CHECKPOINTS, RECORD = 500, 1_000  # rounds at which a run's regret is kept, if not told; bytes of what else is kept


def check_study(study: Study) -> None:
    """Raise a ValueError if something is wrong with a study; the message says what."""
    check_size(study)
    for world in study.worlds:
        env = env_of(world)
        for experiment in study.experiments:
            for agent in experiment.agents if world in experiment.worlds else ():
                _check_agent(agent, world, env)


def check_size(study: Study, further_runs: int = 0) -> None:
    """Raise an error if the runs on some world, which are held together, take more memory than there is.

    Args:
        study: what will be run.
        further_runs: how many runs there may be in the end, of one agent on one world at least.
    """
    played: Counter[WorldEntry] = Counter()
    for each in study.experiments:
        played.update(dict.fromkeys(each.worlds, each.runs * len(each.agents)))
    points = max((len(each.rounds) or CHECKPOINTS for each in study.experiments), default=0)
    most = max([further_runs, *(each.runs for each in study.experiments)])
    needed = max([further_runs, *played.values()]) * (8 * points + RECORD)
    ensure_fits(f"{most:,} runs of every agent on a world", needed, "ask for fewer runs")


def env_of(world: WorldEntry) -> Env:
    """The environment of a world; raises a ValueError that says why if it cannot be made."""
    if not names_a_world(world.name) and ":" not in world.name and world.name not in gym.registry:
        raise ValueError(f"unknown world {world.name!r}; {nearest(world.name, [*worlds.names(), *ENV_IDS])}")
    try:
        return as_env(world.name, world.kwargs)
    except (
        Exception,
        SystemExit,
    ) as error:  # whatever a constructor raises, the reader needs its name
        bare = _bare(error)
        raise ValueError(f"world {world.label!r}: {_said(bare)}") from bare


def _bare(error: BaseException) -> BaseException:
    """An error without the words that Gymnasium adds to a TypeError: the id and all arguments once more."""
    cause = error.__cause__
    return cause if isinstance(cause, TypeError) and str(error).startswith(str(cause)) else error


def _check_agent(agent: AgentEntry, world: WorldEntry, env: Env) -> None:
    if agent.name not in MODELS and agent.name not in AGENTS and not looks_like_path(agent.name):
        raise ValueError(f"unknown agent {agent.name!r}; {nearest(agent.name, [*AGENTS, *MODELS])}")
    try:
        _check_player(agent, env)
    except (
        Exception,
        SystemExit,
    ) as error:  # as above
        said = f"agent {agent.label!r} on {world.label!r}: {_said(error)}"
        lists = [key for key, value in agent.parameters if isinstance(value, tuple)]
        hint = f"; several values to compare are written {lists[0]}=100|1000" if lists else ""
        raise ValueError(said + hint) from error


def _said(error: BaseException) -> str:
    """The message of an error, with its type if the message was not written for users."""
    if isinstance(error, MemoryError):
        return f"it does not fit into memory ({error}); ask for fewer rounds or arms"
    return str(error) if isinstance(error, TypeError | ValueError | OSError) else f"{type(error).__name__}: {error}"


def _check_player(agent: AgentEntry, env: Env) -> None:
    """Make the agent and check that it can play the environment."""
    if agent.name in MODELS and not isinstance(agent.kwargs.get("path"), KeptFile) and not _is_file(agent.file):
        raise ValueError(f"no saved model at {str(agent.file)!r}; write {agent.name}:path=model.zip or model.npz")
    player, parameters = as_agent(agent.name, agent.kwargs)
    if isinstance(player, str):
        if not isinstance(env.unwrapped, NSBanditEnv):
            return  # played through the generic loop, which checks it
        check_parameters(f"agent {player!r}", kind(player), parameters)
        player = make(player, knowledge=_known(env), **parameters)
    check_match(player.wrap(env) if hasattr(player, "wrap") else env, player)


@lru_cache(maxsize=1)  # all agents are checked on one world after the other
def _known(env: Env) -> Knowledge:
    """The facts about an instance."""
    bandit = env.unwrapped
    assert isinstance(bandit, NSBanditEnv)
    return known_of(_instance(env, 0), bandit.world, bandit.law)


def _is_file(file: Path | None) -> bool:
    return file is not None and file.is_file()


def _instance(env: Env, seed: int) -> Floats:
    bandit = env.unwrapped
    assert isinstance(bandit, NSBanditEnv)
    if bandit.world.random:
        env.reset(seed=seed)
    return bandit.means


def drawn_anew(study: Study) -> set[str]:
    """The labels of worlds whose means differ from run to run."""
    return {world.label for world in study.worlds if _is_random(env_of(world))}


def _is_random(env: Env) -> bool:
    bandit = env.unwrapped
    return isinstance(bandit, NSBanditEnv) and bandit.world.random


class Instances(Mapping[str, Floats | None]):
    """The means of the first run on every world, by label; None if an environment does not provide them.

    They are made when they are asked for, and those of the last few worlds are kept: a figure may be drawn of one world
    while the page is made of another.
    """

    def __init__(self, study: Study) -> None:
        self._worlds: dict[str, tuple[WorldEntry, int]] = {}
        for experiment in study.experiments:
            seed, _ = seed_pair(experiment.seed)
            for world in experiment.worlds:
                self._worlds.setdefault(world.label, (world, seed))
        self._made = lru_cache(maxsize=LAST)(_means_of)

    def __getitem__(self, label: str) -> Floats | None:
        return self._made(*self._worlds[label])

    def __iter__(self) -> Iterator[str]:
        return iter(self._worlds)

    def __len__(self) -> int:
        return len(self._worlds)


def _means_of(world: WorldEntry, seed: int) -> Floats | None:
    env = env_of(world)
    return _instance(env, seed) if isinstance(env.unwrapped, NSBanditEnv) else None
