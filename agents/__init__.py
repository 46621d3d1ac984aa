"""The agent protocol, the zoo and its registry. A new agent is one file and one line of the table below."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .checks import choice, known_parameters, positive_int
from .knowledge import Knowledge, MissingKnowledgeError

if TYPE_CHECKING:
    from .base import Agent, AgentProtocol, UnsuitableRewardsError
    from .beta_swts import TS, BetaSWTS
    from .cards import Card
    from .checker import AgentCheckError, check_agent
    from .gamma_swgts import GammaSWGTS
    from .kl_ucb import KLUCB, SWKLUCB
    from .references import Oracle, Random
    from .rexp3 import Rexp3
    from .ser4 import Ser4
    from .sw_ucb import SWUCB

__all__ = [
    "KLUCB",
    "SWKLUCB",
    "SWUCB",
    "TS",
    "Agent",
    "AgentCheckError",
    "AgentProtocol",
    "BetaSWTS",
    "GammaSWGTS",
    "Knowledge",
    "MissingKnowledgeError",
    "Oracle",
    "Random",
    "Rexp3",
    "Ser4",
    "UnsuitableRewardsError",
    "card",
    "check_agent",
    "kind",
    "make",
    "names",
]

# name: the module and the class. Modules are loaded when first asked for: numba takes its time.
AGENTS: dict[str, tuple[str, str]] = {
    "beta-swts": ("beta_swts", "BetaSWTS"),
    "gamma-swgts": ("gamma_swgts", "GammaSWGTS"),
    "ts": ("beta_swts", "TS"),
    "sw-ucb": ("sw_ucb", "SWUCB"),
    "kl-ucb": ("kl_ucb", "KLUCB"),
    "sw-kl-ucb": ("kl_ucb", "SWKLUCB"),
    "rexp3": ("rexp3", "Rexp3"),
    "ser4": ("ser4", "Ser4"),
    "random": ("references", "Random"),
    "oracle": ("references", "Oracle"),
}

_LAZY = {class_name: module for module, class_name in AGENTS.values()} | {
    "Agent": "base",
    "AgentProtocol": "base",
    "UnsuitableRewardsError": "base",
    "AgentCheckError": "checker",
    "check_agent": "checker",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def names() -> list[str]:
    """The names that :func:`make` knows."""
    return list(AGENTS)


def kind(name: str) -> type[Agent]:
    """The class of the agent with this name."""
    module, class_name = AGENTS[choice("agent", name, AGENTS)]
    loaded: type[Agent] = getattr(importlib.import_module(f".{module}", __name__), class_name)
    return loaded


def card(name: str) -> Card:
    """What an agent is: source, rule, parameters, tuning, knowledge, deviations. Print it."""
    from .cards import card_of

    return card_of(kind(name))


def make(
    name: str,
    n_arms: int | None = None,
    horizon: int | None = None,
    *,
    knowledge: Knowledge | None = None,
    **parameters: Any,
) -> Agent:
    """An agent by its name, tuned by its own paper's formula from what is known of the world.

    Args:
        name: one of :func:`names`.
        n_arms: K, if the knowledge does not hold it.
        horizon: T, if the knowledge does not hold it.
        knowledge: what the agent may be told, for example ``ns_mab_gym.theory.describe(means)``.
        parameters: parameters of the agent, which then are not derived.
    """
    agent = kind(name)
    known_parameters(f"agent {name!r}", parameters, agent.tunable())
    known = knowledge or Knowledge()
    if n_arms is not None:
        known = replace(known, n_arms=positive_int("n_arms", n_arms, least=2))
    if horizon is not None:
        known = replace(known, horizon=positive_int("horizon", horizon))
    (k,) = known.need(name, "n_arms")
    return agent(k, **(agent.tune(known, parameters) | parameters))
