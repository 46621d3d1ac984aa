"""The agents of a comparison, from whatever a user names them by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..agents.core.arguments import shown
from ..agents.core.registry import looks_like_path
from ..agents.core.zoo import AGENTS, check_parameters, kind, names
from ..kept_files import kept
from ..play.resolving import MODELS
from .labelling import Named, labels_of, named_by, reading
from .sweeps import Sweep

__all__ = ["Competitor", "Family", "competitors_of"]

NEEDS = ("reset", "act", "observe")
ALLOWED = (
    "a name such as 'beta-swts', 'beta-swts:window=500', 'package.module:Class', a class, an agent, "
    "(name or class, parameters), a sweep, a list of these, or {label: one of these}"
)


@dataclass(frozen=True)
class Family:
    """The agents of one sweep: what they are called together, and what varies."""

    label: str
    sweep: Sweep


@dataclass(frozen=True)
class Competitor:
    """An agent that takes part in a comparison.

    Attributes:
        label: what tables and figures call it.
        agent: a name, a class or an agent.
        parameters: those that were given.
        family: the sweep that it is part of, if any.
    """

    label: str
    agent: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    family: Family | None = None

    @property
    def value(self) -> float | None:
        """The value of the swept parameter, if it is part of a sweep."""
        return None if self.family is None else self.parameters[self.family.sweep.parameter]

    @property
    def has_words(self) -> bool:
        """Whether it can be written down: a name with plain parameters."""
        plain = all(isinstance(value, bool | int | float | str) for value in self.parameters.values())
        return isinstance(self.agent, str) and plain


@dataclass(frozen=True)
class Draft:
    """An agent that has no label yet."""

    named: Named
    agent: Any
    parameters: Mapping[str, Any]
    sweep: int = -1  # the place of its sweep among all of them


def competitors_of(given: Any, *, blind: bool = False) -> list[Competitor]:
    """The agents that a user names, each with a label of its own.

    Args:
        given: see :func:`ns_mab_gym.compare`.
        blind: whether agents given by name or as a class are told T and K alone.
    """
    if not isinstance(blind, bool | np.bool_):
        raise TypeError(f"blind must be True or False, got {shown(blind)}")
    sweeps: list[tuple[Named, Sweep]] = []
    drafts = [draft for label, each in _each(given) for draft in _drafts(label, each, sweeps)]
    if not drafts:
        raise ValueError("there is no agent to compare; name at least one, such as agents=['beta-swts', 'ts']")
    labels, families = labels_of([draft.named for draft in drafts], "agent"), _families(sweeps)
    return [
        Competitor(label, draft.agent, _told(draft, blind), families[draft.sweep] if draft.sweep >= 0 else None)
        for label, draft in zip(labels, drafts, strict=True)
    ]


def _families(sweeps: Sequence[tuple[Named, Sweep]]) -> list[Family]:
    """The sweeps with labels; those of one parameter have different ones, because they share a panel."""
    found: dict[int, Family] = {}
    for parameter in dict.fromkeys(sweep.parameter for _, sweep in sweeps):
        places = [place for place, (_, sweep) in enumerate(sweeps) if sweep.parameter == parameter]
        labels = labels_of([sweeps[place][0] for place in places], "sweep")
        found |= {place: Family(label, sweeps[place][1]) for place, label in zip(places, labels, strict=True)}
    return [found[place] for place in range(len(sweeps))]


def _told(draft: Draft, blind: bool) -> dict[str, Any]:
    """The parameters; with ``blind`` for an agent that is still to be made, unless it has one; a model is read now."""
    if isinstance(draft.agent, str) and draft.agent in MODELS and "path" in draft.parameters:
        return {**draft.parameters, "path": kept(draft.parameters["path"])}
    to_be_made = isinstance(draft.agent, str | type) and draft.agent not in MODELS
    return {**({"blind": True} if blind and to_be_made else {}), **draft.parameters}


def _each(given: Any) -> Iterator[tuple[str, Any]]:
    """The agents that a user names, one by one, with the user's own label where there is one."""
    for label, each in named_by(given, _is_one, "an agent", ALLOWED):
        if isinstance(each, str) and each == "all" and not label:
            yield from (("", name) for name in names())
        else:
            yield label, each


def _is_one(given: Any) -> bool:
    return isinstance(given, str | type | Sweep) or _is_pair(given) or _is_choice(given) or _is_agent(given)


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)


def _is_agent(given: Any) -> bool:
    return all(callable(getattr(given, method, None)) for method in NEEDS)


def _is_choice(given: Any) -> bool:
    """Whether it is an agent and its parameters, as :func:`ns_mab_gym.tune` and others choose them."""
    chosen = isinstance(getattr(given, "agent", None), str | type)
    return chosen and isinstance(getattr(given, "parameters", None), Mapping) and not _is_agent(given)


def _drafts(label: str, given: Any, sweeps: list[tuple[Named, Sweep]]) -> list[Draft]:
    if isinstance(given, str) and not _is_name(given):
        given = _read(given)
    if isinstance(given, Sweep):
        return _swept(label, given, sweeps)
    if _is_choice(given):
        given = given.agent, given.parameters
    agent, parameters = given if _is_pair(given) else (given, {})
    if not isinstance(agent, str | type) and not _is_agent(agent):
        raise TypeError(f"cannot compare {shown(agent)}; an agent is {ALLOWED}")
    _check(agent, parameters)
    long = agent if isinstance(agent, str) else ""
    return [Draft(Named(_short(agent), _telling(agent, parameters), (), label, long), agent, dict(parameters))]


def _is_name(given: str) -> bool:
    return given in AGENTS or given in MODELS or looks_like_path(given) or "=" not in given


def _read(words: str) -> Any:
    """What a text with parameters means, as on the command line."""
    with reading(words):
        from ..experiments.parsing import agents_of

    entries = agents_of(words)
    if len(entries) == 1:
        return entries[0].name, entries[0].kwargs
    first = entries[0]
    fixed = {key: value for key, value in first.parameters if key != first.swept}
    return Sweep(first.name, first.swept, tuple(entry.kwargs[first.swept] for entry in entries), fixed)


def _swept(label: str, given: Sweep, sweeps: list[tuple[Named, Sweep]]) -> list[Draft]:
    _check(given.agent, {**given.fixed, given.parameter: None})
    short = label or _short(given.agent)
    sweeps.append((Named(short, given.fixed), given))
    return [
        Draft(Named(short, parameters, shown=(given.parameter,)), agent, parameters, len(sweeps) - 1)
        for agent, parameters in given.entries()
    ]


def _check(agent: Any, parameters: Mapping[str, Any]) -> None:
    """Raise an error for a name that nobody has, a class that is no agent, or a parameter that it does not take."""
    if isinstance(agent, str) and agent in MODELS:
        return
    if not isinstance(agent, str | type):
        if parameters:
            raise TypeError(f"parameters go with a name or a class; set those of {shown(agent)} when it is made")
        return
    found = kind(agent) if isinstance(agent, str) else agent
    if missing := [method for method in NEEDS if not callable(getattr(found, method, None))]:
        raise TypeError(f"{found.__name__} is no agent: it has no {missing[0]}()")
    check_parameters(f"agent {_short(agent)!r}", found, parameters)


def _short(agent: Any) -> str:
    if isinstance(agent, str):
        return agent.rpartition(":")[2] if looks_like_path(agent) else agent
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) and name else (agent if isinstance(agent, type) else type(agent)).__name__


def _telling(agent: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that may tell an agent from another of its name."""
    own = {} if isinstance(agent, str | type) else getattr(agent, "parameters", {})
    return dict(own) if isinstance(own, Mapping) and not parameters else dict(parameters)
