"""The bandit under its wrappers, with its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import gymnasium as gym

from ..agents.core.arguments import shown
from .bandit import NSBanditEnv

if TYPE_CHECKING:
    from .vector import NSBanditVectorEnv

__all__ = ["bandit_of"]


@overload
def bandit_of(env: gym.Env[Any, Any]) -> NSBanditEnv: ...


@overload
def bandit_of(env: gym.vector.VectorEnv[Any, Any, Any]) -> NSBanditVectorEnv: ...


def bandit_of(env: Any) -> Any:
    """The bandit under the wrappers of an environment: ``env.unwrapped``, with the type that it has.

    Type checkers then know its attributes, such as ``means``, ``world`` and ``law``.

    >>> env = gym.make("NSBandit-Abrupt-v0", horizon=100)
    >>> bandit_of(env).means.shape
    (100, 10)

    Args:
        env: what ``gym.make`` or ``gym.make_vec`` made of an id of this package, wrapped or not.
    """
    from .vector import NSBanditVectorEnv  # imported here, because single environments do not need it

    bare = getattr(env, "unwrapped", None)
    if isinstance(bare, NSBanditEnv | NSBanditVectorEnv):
        return bare
    if isinstance(bare, gym.vector.SyncVectorEnv | gym.vector.AsyncVectorEnv):
        remedy = 'make it with gym.make_vec(id, num_envs=…), or ask its parts: envs.unwrapped.get_attr("means")'
    else:
        remedy = 'make one with gym.make("NSBandit-Abrupt-v0")'
    raise TypeError(f"there is no bandit of this package in {shown(env)}; {remedy}")
