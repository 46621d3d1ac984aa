"""The values of a parameter that are worth a mark where it is swept: by the agent's own formula, and by theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..agents.core.knowledge import Knowledge
from ..agents.core.zoo import make
from .learners import BERNOULLI, LEARNERS
from .recommendation import recommend_window

__all__ = ["INSTANCES", "RECOMMENDED", "TUNED", "marked_values"]

TUNED, RECOMMENDED = "tuned", "recommended"
INSTANCES = 8  # of a random world: if an agent is tuned alike for all of them, that value is marked


def marked_values(
    agent: Any, parameter: str, others: Mapping[str, Any], known: Sequence[Knowledge]
) -> dict[str, float]:
    """The values, by the names of the rules that choose them; fewer where a rule gives none.

    Args:
        agent: a name or a class.
        parameter: which parameter.
        others: the agent's other parameters.
        known: what is known about the world: one record, or one for each of several instances of a random world.
    """
    marks = {}
    tuned = {_tuned(agent, parameter, others, each) for each in known}
    if len(tuned) == 1 and isinstance(value := tuned.pop(), int | float) and not isinstance(value, bool):
        marks[TUNED] = value
    if parameter == "window" and agent in LEARNERS and len(known) == 1:
        window = _recommended(agent, others, known[0])
        marks |= {} if window is None else {RECOMMENDED: window}
    return marks


def _tuned(agent: Any, parameter: str, others: Mapping[str, Any], known: Knowledge) -> Any:
    """The value that the agent's own formula gives the parameter; None if it has none."""
    try:
        made = make(agent, knowledge=known, **others)
    except (TypeError, ValueError):  # without this parameter it cannot be made
        return None
    parameters = getattr(made, "parameters", None)
    return parameters.get(parameter) if isinstance(parameters, Mapping) else getattr(made, parameter, None)


def _recommended(agent: str, others: Mapping[str, Any], known: Knowledge) -> int | None:
    """The window that the theory's heuristic recommends; None where its assumptions do not hold."""
    if known.means is None:
        return None
    spread = known.subgaussian or BERNOULLI
    try:
        return recommend_window(known.means, agent, gamma=others.get("gamma"), subgaussian=spread).window
    except ValueError:
        return None
