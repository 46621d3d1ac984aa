"""The agent protocol, what all agents of the zoo have in common, how they are saved, and a check of one's own agents.

A saved agent is a flat dictionary of plain arrays, without pickle: its name, its parameters, the arrays of its state,
its generator, and a digest of these arrays. It is loaded whole or not at all: if name and parameters are the agent's
own, every array has its shape and its type, and the digest is that of the arrays.
"""

from __future__ import annotations

import copy
import dataclasses
import dis
import hashlib
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from . import arguments
from .arguments import DoesNotFitError, check_types, checking_types, positive_int, shown
from .kernel import ALL, RULES, BoolArray, FloatArray, act, copied, forget, imagine, observe
from .knowledge import Knowledge
from .probabilities import next_choice

Arrays = dict[str, npt.NDArray[Any]]

NOT_ASKED = -1  # stands for the arm of the last act where a reward was observed since
WORD = (1 << 64) - 1
PLAIN = "biufUS"  # kinds of arrays that hold truth values, numbers or text; nothing pickled


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
        binarize: turn every reward x, which must lie in [0, 1], into a coin flip that shows 1 with probability x, so
            that agents for binary rewards can play other laws.
    """

    name: ClassVar[str]
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "real"
    handles_mask: ClassVar[bool] = True
    handles_delay: ClassVar[bool] = True
    probability: ClassVar[str] = "draws"  # how its probabilities are had: a key of PROBABILITY in ``registry.py``
    late: ClassVar[str] = "drawn"  # what pulls whose rewards are under way mean to it: a key of LATE there
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
        self.rng = np.random.default_rng(arguments.seed_number(seed))
        try:
            self.state, self._all_arms = self._new_state(), np.ones(self.n_arms, np.bool_)
            self.pending, self._asked = np.zeros(self.n_arms, np.int64), NOT_ASKED
        except (MemoryError, ValueError) as error:
            sizes = [value for value in self.parameters.values() if isinstance(value, int)]
            if isinstance(error, MemoryError) or self.n_arms * max(sizes) > arguments.MOST:  # more than NumPy can count
                raise DoesNotFitError(f"there is no memory for {self.name} with {self._given()}; take less") from error
            raise
        if "act" not in RULES.get(type(self.state), ()) and type(self).act is Agent.act:
            state = type(self.state).__name__
            raise TypeError(f"{state} has no rule; say how it plays: ns_mab_gym.agents.rule({state}, act, observe)")

    def act(self, observation: Any = None, *, mask: BoolArray | None = None) -> int:
        """The arm to play, from 0 to K − 1.

        Until its reward is observed, the pull is under way (``pending``). Rules that need counts take such pulls for
        pulls that showed what the arm showed on average: several acts without a reward between them are a batch. If
        the reward observed next is of an arm without a pull under way, that arm was played instead.

        Args:
            observation: what the environment showed; bandit algorithms need none.
            mask: (K,) which arms can be played in this round; all of them if not given.
        """
        chosen = act(self._supposed(), self._all_arms if mask is None else self._checked_mask(mask), self.rng)
        arm = arguments.whole_arm(self.name, chosen, self.n_arms)
        self.pending[arm] += 1
        self._asked = arm
        return arm

    def _supposed(self) -> Any:
        """The state, or a copy of it in which pulls under way count, if there are any and the rule needs counts."""
        if "expect" not in RULES.get(type(self.state), ()) or not self.pending.any():
            return self.state
        view = copied(self.state, self.n_arms, but_decided=True)
        imagine(view, self.state, self.pending)
        return view

    def pulled(self, arm: int) -> None:
        """Tell of a pull that is under way and was not this agent's choice."""
        self.pending[self._checked_arm(arm)] += 1

    def lost(self, arm: int) -> None:
        """Tell that the reward of a pull of the arm will never come."""
        arm = self._checked_arm(arm)
        self.pending[arm] = max(0, self.pending[arm] - 1)

    def probabilities(self, mask: BoolArray | None = None) -> FloatArray:
        """(K,) the probabilities with which the next :meth:`act` plays each arm; state and generator stay as they are.

        The agent's card says how they are had: exactly, by quadrature (errors below 10^-6), or by 10,000 draws, with a
        standard error of at most 0.005.

        Args:
            mask: (K,) which arms can be played in this round; all of them if not given.
        """
        return next_choice(self._supposed(), self._all_arms if mask is None else self._checked_mask(mask))

    def observe(self, arm: int, reward: float) -> None:
        """Take in the reward of the arm that was played."""
        arm = self._checked_arm(arm)
        reward = _checked_reward(reward)
        self.check_rewards((reward, reward), reward in (0.0, 1.0))
        if self.binarize:
            reward = 1.0 if self.rng.random() < reward else 0.0
        observe(self.state, arm, reward)
        pulled = arm if self.pending[arm] > 0 else self._asked  # another arm was played than the agent had chosen
        if pulled != NOT_ASKED and self.pending[pulled] > 0:
            self.pending[pulled] -= 1
        self._asked = NOT_ASKED

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
        within = low >= 0 and high <= 1
        if within if self.binarize else {"binary": binary, "unit": within, "real": True}[self.accepts]:
            return
        short = f"{low:g}"
        one = short if float(short) == low else str(low)  # 1.0000001 is not shown as 1
        got = f"a reward of {one}" if low == high else f"rewards in [{low:g}, {high:g}]"
        if self.binarize:
            raise UnsuitableRewardsError(
                f"{self.name} with binarize=True draws a Bernoulli with the reward as its mean, which must lie in "
                f"[0, 1], got {got}; rescale the rewards, or use gamma-swgts, which takes any subgaussian reward"
            )
        wanted = {"binary": "rewards that are 0 or 1", "unit": "rewards in [0, 1]"}[self.accepts]
        coins = ", or binarize=True, which draws a Bernoulli with the reward as its mean" if within else ""
        raise UnsuitableRewardsError(
            f"{self.name} takes {wanted}, got {got}; use gamma-swgts, which takes any subgaussian reward{coins}"
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything the agent knows, as plain numbers, strings and arrays: ``numpy.savez`` can store it as it is."""
        arrays = {key: array.copy() for key, array in arrays_of(self.state).items()}
        arrays["pending"], arrays["asked"] = self.pending.copy(), np.array([self._asked])
        arrays["generator"] = generator_state(self.rng)
        given = {f"parameter.{key}": value for key, value in self.parameters.items() if value is not None}
        return {"agent": self.name, **given, **arrays, "digest": digest_of(arrays)}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continue where an agent with the same parameters was when :meth:`state_dict` was called.

        Everything is checked before anything changes: a state of another agent, or one that was damaged since it was
        saved, gives a ValueError that says what is wrong with it, and leaves the agent as it was.
        """
        if not isinstance(saved, Mapping):
            raise TypeError(
                f"a saved {self.name} is a dictionary as state_dict() returns it, got {type(saved).__name__}"
            )
        mine, given = self.state_dict(), list(saved)
        missing, unknown = [key for key in mine if key not in given], [key for key in given if key not in mine]
        if missing or unknown:
            lacks = [f"it has no {_few(missing)}"] if missing else []
            knows = [f"a {self.name} has no {_few(unknown)}"] if unknown else []
            whose = " ".join(f"{plain_value(saved, 'agent')!s:.60}".split()) if "agent" in given else self.name
            but = f" but a saved {whose}" if whose != self.name else ""
            raise ValueError(f"not a saved {self.name}{but}: {', and '.join(lacks + knows)}; save it with state_dict()")
        arrays: Arrays = {}
        for key, own in mine.items():
            if isinstance(saved, dict) and saved[key] is own:
                continue  # a parameter of any type
            value = plain_value(saved, key)
            if key == "digest":
                if str(value) != digest_of(arrays):
                    raise ValueError(
                        f"the saved {self.name} is damaged: its arrays do not have its digest; save it again"
                    )
            elif key.startswith(("agent", "parameter.")):
                if not np.array_equal(value, own):
                    theirs, ours = (" ".join(f"{each!s:.200}".split()) for each in (value, own))
                    raise ValueError(f"saved with {key} = {theirs}, this agent has {ours}; make it the same first")
            elif value.shape != own.shape or value.dtype != own.dtype:
                theirs, ours = (f"{each.dtype}{list(each.shape)}" for each in (value, own))
                raise ValueError(f"saved {key} is {theirs}, this agent's is {ours}")
            else:
                arrays[key] = value
        for key, own in arrays_of(self.state).items():
            arrays[key].flags.writeable = own.flags.writeable  # compiled code has another type for constant arrays
        self.state, self.rng = with_arrays(self.state, arrays), generator_from(arrays["generator"])
        self.pending, self._asked = arrays["pending"], int(arrays["asked"][0])

    def _checked_arm(self, arm: Any) -> int:
        try:
            index = arguments.as_integer(arm)
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
    if abs(reward) > (most := arguments.LARGEST_REWARD):
        words = f"a reward must lie between {-most:g} and {most:g}, got {reward:g}; rescale the rewards"
        raise UnsuitableRewardsError(words)
    return reward


def _few(keys: list[Any]) -> str:
    shown = ", ".join(f"{key!r:.60}" for key in keys[:3])
    return f"{shown} and {len(keys) - 3} more" if len(keys) > 3 else shown


def plain_value(saved: Mapping[str, Any], key: str) -> npt.NDArray[Any]:
    """A copy of the value under a key as an array; a ValueError if it does not hold plain values."""
    try:
        value = np.array(saved[key], order="C")
    except Exception as error:  # a damaged file, lists of different lengths
        raise ValueError(f"saved {key} cannot be read as an array: {type(error).__name__}: {error}") from error
    if value.dtype.kind not in PLAIN:
        raise ValueError(f"saved {key} holds {value.dtype} values; it must hold numbers, truth values or text alone")
    return value


def digest_of(arrays: Arrays) -> str:
    """SHA-256 of arrays and their names.

    >>> digest_of({"state.pulls": np.arange(3)}) == digest_of({"state.pulls": np.arange(3)[::-1]})
    False
    """
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def arrays_of(state: Any, prefix: str = "state.") -> Arrays:
    """The arrays of a state; those of a nested state, or of a tuple of them, under a dotted name."""
    arrays: Arrays = {}
    names = getattr(state, "_fields", map(str, range(len(state))))
    for name, value in zip(names, state, strict=True):
        if isinstance(value, tuple):
            arrays |= arrays_of(value, f"{prefix}{name}.")
        elif isinstance(value, np.ndarray):
            arrays[prefix + name] = value
    return arrays


def with_arrays(state: Any, arrays: Arrays, prefix: str = "state.") -> Any:
    """The state with these arrays in the place of its own; other values stay."""
    names = getattr(state, "_fields", map(str, range(len(state))))
    values = [
        with_arrays(value, arrays, f"{prefix}{name}.") if isinstance(value, tuple) else arrays.get(prefix + name, value)
        for name, value in zip(names, state, strict=True)
    ]
    return type(state)(*values) if hasattr(state, "_fields") else type(state)(values)


def generator_state(rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    """The state of a PCG64 generator as six 64-bit words."""
    state: Any = rng.bit_generator.state
    value, increment = state["state"]["state"], state["state"]["inc"]
    words = [value >> 64, value & WORD, increment >> 64, increment & WORD, state["has_uint32"], state["uinteger"]]
    return np.array(words, dtype=np.uint64)


def generator_from(words: npt.NDArray[Any]) -> np.random.Generator:
    """A PCG64 generator in a state that :func:`generator_state` returned."""
    value_high, value_low, inc_high, inc_low, has_uint32, uinteger = (int(w) for w in words)
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": value_high << 64 | value_low, "inc": inc_high << 64 | inc_low},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)


class AgentCheckError(AssertionError):
    """An agent breaks the protocol; the message lists how."""


def check_agent(agent: AgentProtocol, n_arms: int, *, rounds: int = 200) -> None:
    """Play an agent on a small Bernoulli bandit and raise an error that lists what it gets wrong.

    Args:
        agent: an object with ``reset(seed)``, ``act(observation=None)`` and ``observe(arm, reward)``.
        n_arms: the number of arms that it was made for.
        rounds: how long to play.
    """
    n_arms = positive_int("n_arms", n_arms, least=2)
    rounds = positive_int("rounds", rounds)
    missing = [name for name in ("reset", "act", "observe") if not callable(getattr(agent, name, None))]
    if missing:
        raise AgentCheckError(
            f"{shown(agent)} has no method {', '.join(f'{m}()' for m in missing)}; it needs all three"
        )
    problems: list[str] = []
    try:
        if _play(agent, n_arms, rounds, problems) != _play(agent, n_arms, rounds, problems):
            problems.append(
                "reset(seed=1) twice gave two different games: draw only from a generator made in reset(seed)"
            )
        _check_saving(agent, n_arms, rounds, problems)
    except AgentCheckError:
        raise
    except Exception as error:
        field, name = _assigned_field(error), getattr(agent, "name", type(agent).__name__)
        problems.append(fixed_field(name, field) if field else f"it raised {type(error).__name__}: {error}")
    if problems:
        raise AgentCheckError("\n".join([f"{shown(agent)}:", *(f"- {p}" for p in dict.fromkeys(problems))]))


def fixed_field(agent: str, field: str) -> str:
    """Return the message about the rule of an agent that assigns to a field of its state."""
    return (
        f"the rule of {agent} assigns to state.{field}, but the fields of a state stay what they are: make "
        f"{field} an array, and write to its elements, state.{field}[0] = …"
    )


def _assigned_field(error: Exception) -> str | None:
    """Return the field of a named tuple in whose assignment an error was raised."""
    last = error.__traceback__
    if last is None or str(error) != "can't set attribute":  # what a named tuple says
        return None
    while last.tb_next is not None:
        last = last.tb_next
    place = next(each for each in dis.get_instructions(last.tb_frame.f_code) if each.offset == last.tb_lasti)
    return str(place.argval) if place.opname == "STORE_ATTR" else None


def _play(agent: AgentProtocol, n_arms: int, rounds: int, problems: list[str]) -> list[int]:
    """Play a short game and return its arms; mistakes are added to ``problems``."""
    luck = np.random.default_rng(1)
    means = np.linspace(0.1, 0.9, n_arms)
    before = _global_generators()
    agent.reset(seed=1)
    arms: list[int] = []
    for t in range(rounds):
        observation: npt.NDArray[np.float32] | None = None if t % 2 else np.zeros(n_arms + 2, np.float32)
        arm = agent.act(observation) if observation is not None else agent.act()
        try:
            arms.append(arguments.playable("", arm, n_arms, t + 1))
        except arguments.UnplayableArmError:
            wanted = f"it must return an integer from 0 to {n_arms - 1}"
            raise AgentCheckError(f"act() returned {shown(arm)}; {wanted}") from None
        if agent.observe(arms[-1], float(luck.random() < means[arms[-1]])) is not None:  # type: ignore[func-returns-value]
            problems.append("observe() returned something; it should return None")
    if _global_generators() != before:
        problems.append(
            "it draws from the global generator of numpy or random: use one of its own, made in reset(seed)"
        )
    return arms


def _global_generators() -> tuple[object, ...]:
    """The states of numpy's and Python's global generators; a few draws change numpy's position, but not its key."""
    numpys = np.random.get_state(legacy=False)  # noqa: NPY002
    words = numpys["state"]
    return words["key"].tobytes(), words["pos"], numpys["has_gauss"], numpys["gauss"], random.getstate()


def _check_saving(agent: Any, n_arms: int, rounds: int, problems: list[str]) -> None:
    """If the agent can be saved, check that a copy loaded from its saved state plays on exactly as it does."""
    if not hasattr(agent, "state_dict"):
        return
    other = copy.deepcopy(agent)
    agent.reset(seed=2)
    for t in range(rounds // 2):
        agent.observe(agent.act(), float(t % 2))
    saved = copy.deepcopy(agent.state_dict())
    for key, value in saved.items():
        if not isinstance(value, str | int | float | np.ndarray) or getattr(value, "dtype", None) == np.dtype(object):
            problems.append(f"state_dict()[{key!r}] is {type(value).__name__}: save only numbers, strings and arrays")
    other.reset(seed=3)
    other.load_state_dict(saved)
    for t in range(rounds // 2):
        arm, twin = agent.act(), other.act()
        if arm != twin:
            problems.append("after load_state_dict(state_dict()) it plays differently: save the generator too")
            return
        agent.observe(arm, float(t % 3 == 0))
        other.observe(arm, float(t % 3 == 0))
