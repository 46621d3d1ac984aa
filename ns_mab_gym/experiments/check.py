"""Everything in a study is looked at before anything runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from .. import agents
from ..agents.checks import nearest
from ..envs import ENV_IDS, NSBanditEnv
from ..episode import check_match
from ..theory import knowledge
from .results import Results
from .spec import AgentEntry, Study, WorldEntry

__all__ = ["check", "drawn_anew", "instances"]

Env = gym.Env[Any, Any]
MODEL = "sb3"  # the name under which an experiment plays a saved model of Stable-Baselines3


def check(study: Study) -> None:
    """Raise a ValueError that says what is wrong with a study, if something is."""
    envs = {world: _make(world) for world in study.worlds}
    for experiment in study.experiments:
        for world in experiment.worlds:
            for agent in experiment.agents:
                _check_agent(agent, world, envs[world])


def _make(world: WorldEntry) -> Env:
    if ":" not in world.name and world.name not in gym.registry:
        raise ValueError(f"unknown env {world.name!r}; {nearest(world.name, ENV_IDS)}")
    try:
        return gym.make(world.name, **world.kwargs)
    except Exception as error:  # whatever an environment's constructor raises, the reader needs the world's name
        raise ValueError(f"world {world.label!r}: {error}") from error


def _check_agent(agent: AgentEntry, world: WorldEntry, env: Env) -> None:
    if agent.name == MODEL:
        _check_model(agent, world, env)
        return
    if agent.name not in agents.names():
        raise ValueError(f"unknown agent {agent.name!r}; {nearest(agent.name, [*agents.names(), MODEL])}")
    bandit = env.unwrapped
    if not isinstance(bandit, NSBanditEnv):
        return  # played through the generic loop, which checks it
    try:
        known = replace(knowledge(_instance(env, 0)), subgaussian=bandit.law.subgaussian)
        made = agents.make(agent.name, knowledge=known, **agent.kwargs)
        made.check_rewards(bandit.law.support, bandit.law.binary)
    except (TypeError, ValueError) as error:
        raise ValueError(f"agent {agent.label!r} on {world.label!r}: {error}") from error


def _check_model(agent: AgentEntry, world: WorldEntry, env: Env) -> None:
    """A saved model must be there and fit the world."""
    from ..rl import SB3Agent

    try:
        if agent.file is None or not agent.file.is_file():
            raise ValueError(f"no saved model at {str(agent.file)!r}; write sb3:path=model.zip")
        model = SB3Agent.load(**agent.kwargs)
        check_match(model.wrap(env), model)
    except (TypeError, ValueError) as error:
        raise ValueError(f"agent {agent.label!r} on {world.label!r}: {error}") from error


def _instance(env: Env, seed: int) -> npt.NDArray[np.float64]:
    bandit = env.unwrapped
    assert isinstance(bandit, NSBanditEnv)
    if bandit.world.random:
        env.reset(seed=seed)
    return bandit.means


def drawn_anew(study: Study) -> set[str]:
    """The labels of worlds whose means differ from run to run."""
    envs = {world.label: _make(world).unwrapped for world in study.worlds}
    return {label for label, env in envs.items() if isinstance(env, NSBanditEnv) and env.world.random}


def instances(results: Results) -> dict[str, npt.NDArray[np.float64] | None]:
    """The means that the first run met on every world, by label; None where an environment does not tell them."""
    found: dict[str, npt.NDArray[np.float64] | None] = {}
    for world in results.study.worlds:
        env = _make(world)
        seed = next(iter(results.curves[world.label].values())).seeds[0][0]
        found[world.label] = _instance(env, seed) if isinstance(env.unwrapped, NSBanditEnv) else None
    return found
