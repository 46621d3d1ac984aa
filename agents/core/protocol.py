"""The agent protocol and what all agents of the zoo have in common."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from .arguments import (
    LARGEST_REWARD,
    MOST,
    DoesNotFitError,
    as_integer,
    check_types,
    checking_types,
    positive_int,
    seed_number,
    shown,
    whole_arm,
)
from .kernel import ALL, RULES, BoolArray, act, forget, observe
from .knowledge import Knowledge
from .saving import load, save


class UnsuitableRewardsError(ValueError):
    """An agent was given, or is about to be given, rewards that its rule is not defined for."""


@runtime_checkable
class AgentProtocol(Protocol):
    """The three methods that the episode loop calls. Anything that has them works everywhere."""

    def reset(self, seed: int | None = None) -> None:
        """Forget everything and restart the agent's own generator from the seed."""

    def act(self, observation: Any = None) -> int:
        """The arm to play, from 0 to K − 1."""

    def observe(self, arm: int, reward: float) -> None:
        """Take in the reward of the arm that was played."""


@dataclass(eq=False)
class Agent(ABC):
    """An algorithm of the zoo: parameters, a state, and a generator of its own.

    Subclasses are dataclasses whose fields are the parameters; they provide :meth:`_new_state`, :meth:`_check` and
    :meth:`tune`, and tie the functions of their state to its class with :func:`ns_mab_gym.agents.rule`.

    Attributes:
        n_arms: K, the number of arms.
        binarize: turn every reward x into a coin flip that shows 1 with probability x (clipped to [0, 1]), so that
            agents for binary rewards can play other laws.
    """

    name: ClassVar[str]
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "real"
    handles_mask: ClassVar[bool] = True
    handles_delay: ClassVar[bool] = True
    assumes: ClassVar[Mapping[str, Any]] = {}  # pieces of knowledge that a blind agent takes for granted, if it must

    n_arms: int
    binarize: bool = dataclasses.field(default=False, kw_only=True)

    def __init_subclass__(cls) -> None:
        """Give an agent without a name the name of its class."""
        super().__init_subclass__()
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    def __post_init__(self) -> None:
        """Check the parameters and get ready to play."""
        self.n_arms = positive_int("n_arms", self.n_arms, least=2)
        try:
            vars(self).update((k, v.item()) for k, v in self.parameters.items() if isinstance(v, np.generic))
            with checking_types(type(self), self.parameters):
                self._check()
                self.reset()  # which makes the parts of an agent: they have checks of their own
            check_types(type(self), self.parameters)
        except ArithmeticError:
            raise ValueError(f"{self.name} cannot compute with numbers this large or small: {self._given()}") from None
        except MemoryError:  # of arrays most of which stay empty: there is room for the rest, but not for the addresses
            raise DoesNotFitError(f"{self.name} needs more memory than it may have with {self._given()}") from None

    def _given(self) -> str:
        return ", ".join(f"{key} = {shown(value)}" for key, value in self.parameters.items())

    def _check(self) -> None:  # noqa: B027 - there is nothing to check in an agent without parameters
        """Check the agent's own parameters."""

    @abstractmethod
    def _new_state(self) -> Any:
        """The state before the first round."""

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that were not given, by the formula of the agent's own paper."""
        return {}

    @classmethod
    def tunable(cls) -> tuple[str, ...]:
        """The names of the agent's parameters other than the number of arms."""
        return tuple(f.name for f in dataclasses.fields(cls) if f.name != "n_arms")

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    def clone(self) -> Agent:
        """A new agent with the same parameters."""
        return type(self)(**self.parameters)

    def reset(self, seed: int | None = None) -> None:
        """Forget everything and restart the agent's own generator from the seed."""
        self.rng = np.random.default_rng(seed_number(seed))
        try:
            self.state = self._new_state()
        except (MemoryError, ValueError) as error:
            sizes = [value for value in self.parameters.values() if isinstance(value, int)]
            if isinstance(error, MemoryError) or self.n_arms * max(sizes) > MOST:  # more than NumPy can count
                raise DoesNotFitError(f"there is no memory for {self.name} with {self._given()}; take less") from error
            raise
        if type(self.state) not in RULES and type(self).act is Agent.act:
            state = type(self.state).__name__
            raise TypeError(f"{state} has no rule; say how it plays: ns_mab_gym.agents.rule({state}, act, observe)")
        self._all_arms: BoolArray = np.ones(self.n_arms, np.bool_)

    def act(self, observation: Any = None, *, mask: BoolArray | None = None) -> int:
        """The arm to play, from 0 to K − 1.

        Args:
            observation: what the environment showed; bandit algorithms need none.
            mask: (K,) which arms can be played in this round; all of them if not given.
        """
        chosen = act(self.state, self._all_arms if mask is None else self._checked_mask(mask), self.rng)
        return whole_arm(self.name, chosen, self.n_arms)

    def observe(self, arm: int, reward: float) -> None:
        """Take in the reward of the arm that was played."""
        arm = self._checked_arm(arm)
        reward = _checked_reward(reward)
        if self.binarize:
            reward = 1.0 if self.rng.random() < reward else 0.0
        else:
            self.check_rewards((reward, reward), reward in (0.0, 1.0))
        observe(self.state, arm, reward)

    def forget(self, arm: int | None = None) -> None:
        """Drop what was learnt about one arm, or about all; the agent's generator continues."""
        forget(self.state, ALL if arm is None else self._checked_arm(arm))

    def check_rewards(self, support: tuple[float, float], binary: bool) -> None:
        """Raise an error if the agent's rule is not defined for rewards of this kind.

        Args:
            support: the interval in which rewards lie.
            binary: whether every reward is 0 or 1.
        """
        low, high = support
        fits = {"binary": binary, "unit": low >= 0 and high <= 1, "real": True}[self.accepts]
        if fits or self.binarize:
            return
        wanted = {"binary": "rewards that are 0 or 1", "unit": "rewards in [0, 1]"}[self.accepts]
        got = f"a reward of {low:g}" if low == high else f"rewards in [{low:g}, {high:g}]"
        raise UnsuitableRewardsError(
            f"{self.name} takes {wanted}, got {got}; use gamma-swgts, which takes any subgaussian reward, or "
            f"binarize=True, which draws a Bernoulli with the reward (clipped to [0, 1]) as its mean"
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything the agent knows, as plain numbers, strings and arrays: ``numpy.savez`` can store it as it is."""
        return save(self.name, self.parameters, self.state, self.rng)

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continue where an agent with the same parameters was when :meth:`state_dict` was called.

        Everything is checked before anything changes: a state of another agent, or one that was damaged since it was
        saved, gives a ValueError that says what is wrong with it, and leaves the agent as it was.
        """
        self.state, self.rng = load(self.state_dict(), self.state, saved)

    def _checked_arm(self, arm: Any) -> int:
        try:
            index = as_integer(arm)
        except TypeError:
            raise TypeError(f"an arm must be an integer from 0 to {self.n_arms - 1}, got {shown(arm)}") from None
        if not 0 <= index < self.n_arms:
            raise ValueError(f"an arm must be an integer from 0 to {self.n_arms - 1}, got {shown(index)}")
        return index

    def _checked_mask(self, mask: Any) -> BoolArray:
        if not self.handles_mask:
            raise ValueError(f"{self.name} has no rule for arms that cannot be played; use beta-swts or sw-ucb")
        try:
            checked = np.asarray(mask, dtype=np.bool_)
        except Exception:  # lists of different lengths, or whatever somebody's own class raises
            checked = np.zeros(0, np.bool_)
        if checked.shape != (self.n_arms,) or not checked.any():
            raise ValueError(f"a mask needs {self.n_arms} truth values, at least one of them true, got {shown(mask)}")
        return checked


def _checked_reward(given: Any) -> float:
    try:
        if isinstance(given, str | bytes):  # which float() reads as numbers
            raise TypeError
        reward = float(given)
    except Exception:  # an integer beyond all floats, a text, or whatever somebody's own class raises
        raise UnsuitableRewardsError(f"a reward must be a finite number, got {shown(given)}") from None
    if not math.isfinite(reward):
        raise UnsuitableRewardsError(f"a reward must be a finite number, got {reward}")
    if abs(reward) > LARGEST_REWARD:
        raise UnsuitableRewardsError(
            f"a reward must lie between {-LARGEST_REWARD:g} and {LARGEST_REWARD:g}, got {reward:g}; rescale the rewards"
        )
    return reward
