"""Arms that an agent chose: the one refusal of those that do not exist, interpreted and compiled."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .arguments import shown

__all__ = ["UnplayableArmError", "playable", "spelled_arm", "whole_arm"]


class UnplayableArmError(ValueError):
    """An agent chose something that is no arm."""

    def __init__(self, agent: str, chosen: str, n_arms: int, round_: int | None = None) -> None:
        """Say what is wrong.

        Args:
            agent: the agent's name.
            chosen: what it chose, in words.
            n_arms: K.
            round_: in which round, counted from 1; None if that is not known.
        """
        when = "" if round_ is None else f" in round {round_:,}"
        super().__init__(
            f"{agent} chose {chosen}{when}; an arm is an integer from 0 to {n_arms - 1}, so mend the agent's act"
        )
        self.given = agent, chosen, n_arms

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it come back from other processes, as its only argument is the message."""
        return _remade, (str(self), *self.given)

    def in_round(self, round_: int) -> UnplayableArmError:
        """The same error, with the round."""
        return UnplayableArmError(*self.given, round_)


def _remade(message: str, agent: str, chosen: str, n_arms: int) -> UnplayableArmError:
    error = UnplayableArmError(agent, chosen, n_arms)
    error.args = (message,)
    return error


def whole_arm(agent: str, chosen: Any, n_arms: int) -> int:
    """The arm that a rule chose: a whole number from 0 to K − 1, of any type, since numba may make floats of integers.

    >>> whole_arm("mine", 2.0, 3)
    2
    """
    try:
        if 0 <= chosen < n_arms and (arm := int(chosen)) == chosen:
            return arm
    except Exception:  # whatever comes of comparing something that is no number
        pass
    raise UnplayableArmError(agent, spelled_arm(chosen), n_arms)


def playable(agent: str, chosen: Any, n_arms: int, round_: int) -> int:
    """The arm that an agent chose in a round, counted from 1, if it is an integer from 0 to K − 1."""
    if not isinstance(chosen, bool | np.bool_):
        try:
            if 0 <= (arm := operator.index(chosen)) < n_arms:
                return arm
        except TypeError:
            pass
    raise UnplayableArmError(agent, spelled_arm(chosen), n_arms, round_)


def spelled_arm(chosen: Any) -> str:
    """What was chosen, in words: 10 for NumPy's 10 and for a compiled rule's 10.0."""
    value = chosen.item() if isinstance(chosen, np.generic) else chosen
    return shown(int(value) if isinstance(value, float) and value.is_integer() else value)
