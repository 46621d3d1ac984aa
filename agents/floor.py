"""A floor: any agent, with a least probability for every arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import positive, read_call, spell_call
from .core.kernel import BoolArray, FloatArray, act, expect, forget, observe, rule
from .core.knowledge import Knowledge
from .core.probabilities import equal, next_choice
from .core.protocol import Agent
from .core.registry import AGENTS
from .core.registry import kind as agent_kind
from .detecting import made, spelled
from .parts.exploration import open_arm


class FloorState(NamedTuple):
    """The agent within, and the share of the rounds in which any arm is played."""

    inner: Any
    share: float  # s


def act_above_floor(state: FloorState, mask: BoolArray, rng: np.random.Generator) -> int:
    """With probability s play any available arm, else what the agent within plays."""
    u = rng.random()
    return open_arm(u / state.share, mask) if u < state.share else act(state.inner, mask, rng)  # u/s is uniform too


def observe_above_floor(state: FloorState, arm: int, reward: float) -> None:
    """Show the reward to the agent within."""
    observe(state.inner, arm, reward)


def forget_above_floor(state: FloorState, arm: int) -> None:
    """Make the agent within forget."""
    forget(state.inner, arm)


def expect_above_floor(state: FloorState, arm: int, pulls: int) -> None:
    """Let the agent within count the pulls."""
    expect(state.inner, arm, pulls)


def probabilities(state: FloorState, mask: BoolArray) -> FloatArray:
    """(1 − s) p_i of the agent within, and s in equal shares."""
    return (1.0 - state.share) * next_choice(state.inner, mask) + state.share * equal(mask)


rule(
    FloorState,
    act_above_floor,
    observe_above_floor,
    forget_above_floor,
    expect_above_floor,
    probabilities=probabilities,
)


@dataclass(eq=False)
class Floor(Agent):
    """A least probability for every arm, and for the rest any agent.

    Source:
        The mixture with a uniform choice that every textbook has; in no paper as an agent of its own.
    Rule:
        With probability s = K m play any available arm, each with the same probability, else what the base plays:
        p_i = (1 − s) b_i + s/k, where b_i is the base's probability and k ≤ K arms are available. Every reward is
        shown to the base. Nothing is clipped, so the base's choices keep their proportions.
    Tuning:
        The base by its own formula, informed or blind; m = 0.1/K, a tenth of all rounds (ours).
    Knowledge:
        What the base uses.
    Deviations:
        None. Agents that learn from the probability or the place of their own choice (``exp3`` and its kin, ``ser4``,
        ``master``) are refused as a base. Rewards are those of the base; the card shows those of the default base.

    >>> agent = Floor(2, base="ucb1", share=0.1)
    >>> for arm, reward in [(0, 0.0), (1, 1.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.probabilities()
    array([0.1, 0.9])

    Attributes:
        n_arms: K; or an agent, which is the base then.
        base: the agent within, with options if it has any: "ts", "kl-ucb(c=0)".
        share: m, the least probability of each arm, at most 1/K; all floors together take s = K m of the rounds.
    """

    name: ClassVar[str] = "floor"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"  # of the default base; each agent has its own
    probability: ClassVar[str] = "base"
    late: ClassVar[str] = "base"

    n_arms: Any
    base: str = field(default="ts", kw_only=True)
    share: float = field(kw_only=True)
    tuned: InitVar[str | None] = field(default=None, kw_only=True)  # the base with all options

    def __post_init__(self, tuned: str | None) -> None:
        """Fill in what was tuned, check the parameters and get ready to play."""
        if tuned is not None:
            self.base = tuned
        if isinstance(self.n_arms, Agent):
            given = self.n_arms
            registered = given.name in AGENTS and agent_kind(given.name) is type(given)
            name = given.name if registered else f"{type(given).__module__}:{type(given).__qualname__}"
            self.n_arms, self.base, self.binarize = given.n_arms, spelled(name, given), given.binarize
        super().__post_init__()

    def _check(self) -> None:
        hint = f"it is the least probability of each arm, at most 1/{self.n_arms} for {self.n_arms} arms"
        self.share = positive("share", self.share, hint=hint)
        if self.share * self.n_arms > 1.0 + 1e-12:
            raise ValueError(f"share must be at most 1/{self.n_arms}, got {self.share:g}; {hint}")
        name, options = read_call("base", self.base)
        self._within: Agent = made("base", name, base_of_floor(name), options, self.n_arms)
        self.base = spelled(name, self._within)
        vars(self).update(accepts=self._within.accepts, handles_mask=self._within.handles_mask)

    def check_rewards(self, support: tuple[float, float], binary: bool) -> None:
        """Raise an error if the base's rule is not defined for rewards of this kind.

        Args:
            support: the interval in which rewards lie.
            binary: whether every reward is 0 or 1.
        """
        super().check_rewards(support, binary)
        if not self.binarize:
            self._within.check_rewards(support, binary)

    def _new_state(self) -> FloorState:
        self._within.reset()
        return FloorState(self._within.state, min(1.0, self.share * self.n_arms))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the base that were not given, and m."""
        name, options = read_call("base", given.get("base", cls.base))
        kind = base_of_floor(name)
        assumed = {piece: value for piece, value in kind.assumes.items() if getattr(knowledge, piece) is None}
        tuned = kind.tune(replace(knowledge, **assumed), options) | options
        share = {} if "share" in given else {"share": 0.1 / knowledge.need(cls.name, "n_arms")[0]}
        return share | {"tuned": spell_call(name, tuned)}


def base_of_floor(name: str) -> type[Agent]:
    """The class of the agent with this name, if it can be mixed with other choices than its own."""
    found = agent_kind(name)
    if not issubclass(found, Agent):
        raise TypeError(f"base must be an agent derived from ns_mab_gym.agents.Agent, got {name!r}")
    if issubclass(found, Floor):
        raise ValueError("base 'floor' has a floor already; take an agent without one, such as 'ts'")
    if "means" in found.tunable():
        raise ValueError(f"base {name!r} is told the means; take an agent that learns, such as 'ts'")
    if not found.handles_delay:
        raise ValueError(f"base {name!r} learns from the probability of its own choice; take another, such as 'ts'")
    return found
