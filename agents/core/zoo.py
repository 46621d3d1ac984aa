"""Agents by their names: looked up, described and tuned. The table of names is in ``agents/__init__.py``."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from dataclasses import fields, replace
from typing import Any

from .arguments import known_parameters, positive_int, shown
from .cards import Card, agent_card
from .knowledge import Knowledge
from .parameter_types import check_types, checking_types
from .registry import Registry

__all__ = ["AGENTS", "card", "check_parameters", "kind", "make", "names", "register"]

AGENTS = Registry("agent", "agents", "ns_mab_gym.agents", needs=("reset", "act", "observe"), reserved=("sb3",))


def register(name: str, agent: type | str) -> None:
    """Register an agent of your own under a name that ``make``, ``simulate``, descriptions and commands then accept.

    Args:
        name: lower-case words joined by hyphens.
        agent: a class with ``reset``, ``act`` and ``observe``, or where it is found, ``"package.module:Class"``.
    """
    AGENTS.add(name, agent)


def names() -> list[str]:
    """The names that :func:`make` knows."""
    return AGENTS.names()


def kind(name: str) -> type[Any]:
    """The class of the agent with this name, or at this ``package.module:Class``."""
    return AGENTS.find(name)


def card(name: str) -> Card:
    """The card of an agent: source, rule, parameters, tuning, knowledge, deviations; ``print`` shows it."""
    return agent_card(name, kind(name))


def tunable(agent: type[Any]) -> Collection[str] | None:
    """The names of an agent's parameters other than pieces of knowledge about the world; None if it takes any."""
    if hasattr(agent, "tunable"):
        return tuple(agent.tunable())
    parameters = inspect.signature(agent).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


def check_parameters(title: str, agent: type[Any], given: Iterable[str]) -> None:
    """Raise a TypeError that names the nearest parameter if an agent does not take one of these; all take ``blind``."""
    if (allowed := tunable(agent)) is not None:
        known_parameters(title, (name for name in given if name != "blind"), allowed)


def make(
    name: str | type,
    n_arms: int | None = None,
    horizon: int | None = None,
    *,
    knowledge: Knowledge | None = None,
    blind: bool = False,
    **parameters: Any,
) -> Any:
    """An agent by its name, tuned by its own paper's formula from what is known about the world.

    An agent that is not derived from :class:`~ns_mab_gym.agents.Agent` has no such formula: its constructor is given
    those pieces of the knowledge that it names (``n_arms``, ``horizon``, …).

    Args:
        name: one of :func:`names`, a ``"package.module:Class"``, or a class.
        n_arms: K, if the knowledge does not hold it.
        horizon: T, if the knowledge does not hold it.
        knowledge: what the agent may be told, for example ``ns_mab_gym.theory.describe(means)``.
        blind: whether the agent is told T and K alone, whatever the knowledge holds; its card says what it then does.
        parameters: parameters of the agent, which are then not tuned.
    """
    agent = AGENTS.checked(name) if isinstance(name, type) else kind(name)
    title = name if isinstance(name, str) else agent.__name__
    check_parameters(f"agent {title!r}", agent, parameters)
    if not isinstance(blind, bool):
        raise TypeError(f"blind must be True or False, got {shown(blind)}; on the command line, write blind=true")
    if knowledge is not None and not isinstance(knowledge, Knowledge):
        raise TypeError(
            f"knowledge must be a Knowledge, as ns_mab_gym.theory.describe(means) returns it, got {shown(knowledge)}"
        )
    known = knowledge or Knowledge()
    if n_arms is not None:
        known = replace(known, n_arms=positive_int("n_arms", n_arms, least=2))
    if horizon is not None:
        known = replace(known, horizon=positive_int("horizon", horizon))
    if blind and "means" in (tunable(agent) or ()) and "means" not in parameters:
        raise ValueError(f"{title} plays by the means and cannot be blind; leave out blind, or take another agent")
    if blind:
        known = Knowledge(n_arms=known.n_arms, horizon=known.horizon, **getattr(agent, "assumes", {}))
    with checking_types(agent, parameters):
        if not hasattr(agent, "tune"):
            check_types(agent, parameters)
            return agent(**(_asked_for(agent, known) | parameters))
        (k,) = known.need(title, "n_arms")
        return agent(k, **(_tuned(agent, title, known, parameters) | parameters))


def _tuned(agent: Any, title: str, known: Knowledge, parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(agent.tune(known, parameters))
    except ArithmeticError:  # of whole numbers that are too long for a float, for instance
        told = f"{title} cannot be tuned for numbers this large or small, {known}"
        raise ValueError(f"{told}; give its parameters instead") from None


def _asked_for(agent: type[Any], known: Knowledge) -> dict[str, Any]:
    """The pieces of knowledge that are arguments of the agent's constructor."""
    asked = inspect.signature(agent).parameters
    told = {piece.name: getattr(known, piece.name) for piece in fields(Knowledge) if piece.name in asked}
    return {piece: value for piece, value in told.items() if value is not None}
