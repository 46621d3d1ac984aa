"""``simulate`` for saved models too, so that experiments and reports can name them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from .. import engine
from ..agents.checks import known_parameters
from ..engine import Runs
from .agent import SB3Agent

__all__ = ["simulate"]


def simulate(
    env: Any, agent: Any, *, env_kwargs: Mapping[str, Any] | None = None, agent_kwargs: Any = None, **settings: Any
) -> Runs:
    """:func:`ns_mab_gym.simulate`, which also knows the agent ``"sb3"`` with the parameters of ``SB3Agent.load``.

    The environment is wrapped as the model was in training. A model has no compiled form: it plays through the generic
    loop, on the same seeds as all other agents.

    Args:
        env: an id, a world, or an environment.
        agent: ``"sb3"``, an :class:`~ns_mab_gym.rl.SB3Agent`, or what ``ns_mab_gym.simulate`` takes.
        env_kwargs: arguments of the environment.
        agent_kwargs: for ``"sb3"``: ``path``, ``algo``, ``deterministic`` and ``name``.
        settings: what else ``ns_mab_gym.simulate`` takes.
    """
    if agent == "sb3":
        known_parameters("agent 'sb3'", agent_kwargs or {}, ("path", "algo", "deterministic", "name"))
        if "path" not in (agent_kwargs or {}):
            raise ValueError("agent 'sb3' needs path=, the file of a saved model, such as sb3:path=ppo.zip")
        agent, agent_kwargs = SB3Agent.load(**agent_kwargs), None
    if not isinstance(agent, SB3Agent):
        return engine.simulate(env, agent, env_kwargs=env_kwargs, agent_kwargs=agent_kwargs, **settings)
    made = engine._make_env(env, dict(env_kwargs or {}))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*generic Python loop")  # there is no other for a model
        return engine.simulate(agent.wrap(made), agent, agent_kwargs=agent_kwargs, **settings)
