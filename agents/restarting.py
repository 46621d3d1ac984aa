"""Any detector around any agent: the whole grid of which ``glr-klucb``, ``cusum-ucb`` and others are named points."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Literal

from .core.arguments import choice, known_parameters, positive
from .core.kernel import RULES
from .core.knowledge import Knowledge
from .core.parameter_types import typed
from .core.protocol import Agent
from .core.zoo import kind
from .parts.active import RESTARTS, ActiveAgent, Detector, Parts
from .parts.alarms import log_in
from .parts.calls import read_call, spell_call
from .parts.exploration import EXPLORATION, Exploration
from .parts.glr import turn_rate
from .parts.indices import COUNTING

__all__ = ["DETECTORS", "Restarting"]

# name: where the class is, in the folder of parts. Modules are loaded on first use: importing numba takes time.
DETECTORS = {
    "glr": "glr:GLR",
    "cusum": "cusum:Cusum",
    "page-hinkley": "page_hinkley:PageHinkley",
    "halves": "halves:Halves",
    "adwin": "adwin:ADWIN",
}


def detector_kind(name: str) -> type[Any]:
    """The class of the detector with this name."""
    module, _, title = DETECTORS[choice("detector", name, DETECTORS)].partition(":")
    found: type[Any] = getattr(importlib.import_module(f".parts.{module}", __package__), title)
    return found


def base_kind(name: str) -> type[Agent]:
    """The class of the agent with this name, if it can be put into a detector's hands."""
    found = kind(name)
    if not issubclass(found, Agent):
        raise TypeError(f"base must be an agent derived from ns_mab_gym.agents.Agent, got {name!r}")
    if issubclass(found, ActiveAgent):
        raise ValueError(f"base {name!r} has a detector already; take an agent without one, such as 'ts' or 'kl-ucb'")
    if "means" in found.tunable():
        raise ValueError(f"base {name!r} is told the means; take an agent that learns, such as 'ts' or 'kl-ucb'")
    return found


def made(what: str, name: str, kind: type[Any], options: Mapping[str, Any], *before: Any) -> Any:
    """A detector or an agent with these options; an error that names what is missing or unknown."""
    fields = [f for f in dataclasses.fields(kind) if f.name not in ("n_arms", "binarize")]
    known_parameters(f"{what} {name!r}", options, [f.name for f in fields])
    missing = [f.name for f in fields if f.default is dataclasses.MISSING and f.name not in options]
    if missing:
        raise TypeError(
            f"{what} {name!r} needs {' and '.join(missing)}; give it as in '{name}({missing[0]}=…)', or let "
            f"ns_mab_gym.agents.make tune it from the horizon"
        )
    return typed(kind, options, lambda: kind(*before, **options))


def spelled(name: str, of: Any) -> str:
    """The name with all options of a detector or an agent."""
    fields = (f.name for f in dataclasses.fields(of) if f.name not in ("n_arms", "binarize"))
    return spell_call(name, {field: getattr(of, field) for field in fields})


@dataclass(eq=False)
class Restarting(ActiveAgent):
    """A detector of changes around any agent that can forget.

    Source:
        The framework of Liu, Lee, Shroff, "A Change-Detection based Framework for Piecewise-stationary Multi-Armed
        Bandit Problem", AAAI 2018, with more detectors, agents and kinds of exploration. Each part has its own source.
    Rule:
        Play what the base plays, but for exploration. Every reward is shown to the base and to the detector; after an
        alarm both forget the arm (local restarts) or all arms (global ones).
    Tuning:
        Base and detector by their own formulas, informed or blind. The rate is √(K ln T/T), at most 1, that of
        ``glr-klucb``; 0 without exploration, and 1 where it diminishes (ours).
    Knowledge:
        T and K, and what base and detector use.
    Deviations:
        Turns are counted from the first round, as in ``glr-klucb``; ``m-ucb`` counts them from the last restart. The
        rewards are those of the base, within [0, 1]; the card shows those of the default base.

    >>> agent = Restarting(2, base="kl-ucb(c=0)", detector="glr(delta=0.01)", rate=0.05)
    >>> agent.base, agent.detector
    ('kl-ucb(c=0.0)', 'glr(delta=0.01, factor=1.0, every=10, splits=10, memory=1024)')
    >>> for t in range(200):  # arm 1 pays always, then never
    ...     agent.observe(0, float(t < 150))
    >>> agent.state.inner.window.pulls  # since the alarm after round 160
    array([40,  0])

    Attributes:
        base: the agent within, one that can forget, with options if it has any: "ts", "kl-ucb(c=0)".
        detector: "glr", "cusum", "page-hinkley", "halves" or "adwin", with options: "cusum(threshold=5)".
        restart: "global", an alarm about an arm makes all arms forgotten; or "local", that arm alone.
        exploration: "none"; "in turn", in every max(K + 1, ⌊K/rate⌋) rounds the first K play arms 1 to K; "uniform",
            with probability rate a random arm; or "diminishing", turns that grow rarer with the time since the restart.
        rate: how much is explored.
        growing: whether the rate of turns grows with the root of the number of restarts so far + 1.
        counting: what the t of an index counts: "rounds", as the base does it alone; "samples" in memory; or rounds
            since the "arm" was forgotten.
    """

    name: ClassVar[str] = "restarting"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"  # of the default base; each agent has its own

    base: str = field(default="ts", kw_only=True)
    detector: str = field(default="glr", kw_only=True)
    restart: str = field(default="global", kw_only=True)
    exploration: str = field(default="in turn", kw_only=True)
    rate: float = field(kw_only=True)
    growing: bool = field(default=False, kw_only=True)
    counting: str = field(default="rounds", kw_only=True)
    tuned: InitVar[Mapping[str, str] | None] = field(default=None, kw_only=True)  # base and detector with all options

    def __post_init__(self, tuned: Mapping[str, str] | None) -> None:
        """Fill in what was tuned, check the parameters and get ready to play."""
        for part, text in (tuned or {}).items():
            setattr(self, part, text)
        super().__post_init__()

    def _check(self) -> None:
        choice("restart", self.restart, RESTARTS)
        choice("exploration", self.exploration, EXPLORATION)
        choice("counting", self.counting, COUNTING)
        self.rate = positive("rate", self.rate, allow_zero=True)
        base, detector = self._base(), self._detector()
        self.base = spelled(read_call("base", self.base)[0], base)
        self.detector = spelled(read_call("detector", self.detector)[0], detector)
        accepts = "unit" if base.accepts == "real" else base.accepts  # detectors are for rewards in [0, 1]
        vars(self).update(accepts=accepts, handles_mask=base.handles_mask, handles_delay=base.handles_delay)

    def _base(self) -> Agent:
        name, options = read_call("base", self.base)
        base: Agent = made("base", name, base_kind(name), options, self.n_arms)
        if log_in(base.state) is not None:
            raise ValueError(f"base {name!r} restarts by itself; take an agent that does not, such as 'ts' or 'kl-ucb'")
        if RULES[type(base.state)].forget is None:
            raise ValueError(f"base {name!r} cannot forget; take an agent that learns, such as 'ts' or 'kl-ucb'")
        return base

    def _detector(self) -> Detector:
        name, options = read_call("detector", self.detector)
        detector: Detector = made("detector", name, detector_kind(name), options)
        return detector

    def _inner(self) -> Any:
        state = self._base().state
        if self.counting == "rounds":
            return state
        if not hasattr(state, "counting"):
            raise ValueError(
                f"base {self.base!r} has no index that counts {self.counting!r}; leave counting at 'rounds', or take "
                f"'kl-ucb' or 'ucb1'"
            )
        return state._replace(counting=COUNTING[self.counting])

    def _parts(self) -> Parts:
        since_restart = self.exploration == "diminishing"
        exploration = Exploration(self.exploration, self.rate, growing=self.growing, since_restart=since_restart)
        return Parts(self._inner(), self._detector(), exploration, self.restart)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of base and detector that were not given, and the rate."""
        base, options = read_call("base", given.get("base", cls.base))
        detector, settings = read_call("detector", given.get("detector", cls.detector))
        known = _assuming(knowledge, base_kind(base).assumes)
        tuned = {
            "base": spell_call(base, base_kind(base).tune(known, options) | options),
            "detector": spell_call(detector, detector_kind(detector).tune(knowledge, settings) | settings),
        }
        return {"rate": _rate(given, knowledge), "tuned": tuned}


def _assuming(knowledge: Knowledge, assumed: Mapping[str, Any]) -> Knowledge:
    """The knowledge, with what a blind agent takes for granted in the place of what is missing."""
    return dataclasses.replace(knowledge, **{k: v for k, v in assumed.items() if getattr(knowledge, k) is None})


def _rate(given: Mapping[str, Any], knowledge: Knowledge) -> float:
    if "rate" in given:
        return given["rate"]  # type: ignore[no-any-return]
    exploration = given.get("exploration", Restarting.exploration)
    if exploration in ("none", "diminishing"):
        return float(exploration == "diminishing")
    return turn_rate(knowledge, Restarting.name)
