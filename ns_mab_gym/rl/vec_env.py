"""The native vector environment as a ``VecEnv`` of Stable-Baselines3, with infos that are built when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

Info = dict[str, Any]
BoolArray = npt.NDArray[np.bool_]


def split_infos(infos: Info, n: int) -> list[Info]:
    """Return one dictionary per environment, of Python numbers and rows of arrays; column by column, which is fast."""
    masks: dict[str, Any] = {key: infos.get(f"_{key}") for key in infos if not key.startswith("_")}
    everywhere = dict.fromkeys([key for key, mask in masks.items() if mask is None or mask.all()])
    split: list[Info] = [everywhere.copy() for _ in range(n)]  # a copy has room for its values: it need not grow
    for key, mask in masks.items():
        values: Any = infos[key]
        if isinstance(values, dict):
            column = split_infos(values, n)
        else:
            column = values.tolist() if isinstance(values, np.ndarray) and values.ndim == 1 else list(values)
        if key in everywhere:
            for info, value in zip(split, column, strict=True):
                info[key] = value
        else:
            for i in np.flatnonzero(mask).tolist():
                split[i][key] = column[i]
    return split


def without_final(infos: Info) -> Info:
    """Return the infos of the present round, without those of episodes that ended with it."""
    return {key: value for key, value in infos.items() if "final" not in key}


class LazyInfos(Sequence[Info]):
    """The infos of a vector environment with ``SAME_STEP`` autoreset, as a list that is built when it is first read."""

    def __init__(self, infos: Info, terminated: BoolArray, truncated: BoolArray) -> None:
        self._infos, self._terminated, self._truncated = infos, terminated, truncated

    @cached_property
    def _list(self) -> list[Info]:
        infos, n = self._infos, len(self)
        timed_out = {"TimeLimit.truncated": self._truncated & ~self._terminated}
        split = split_infos(without_final(infos) | timed_out, n)
        if "final_info" in infos:
            for info, last in zip(split, split_infos(infos["final_info"] | timed_out, n), strict=True):
                info |= last  # what a wrapper recorded about the episode, such as its return, stays
        for i in np.flatnonzero(self._terminated | self._truncated).tolist():
            split[i]["terminal_observation"] = infos["final_obs"][i]
        return split

    def __len__(self) -> int:
        return len(self._truncated)

    def __getitem__(self, index: Any) -> Any:
        return self._list[index]

    def __iter__(self) -> Iterator[Info]:
        return iter(self._list)

    def __repr__(self) -> str:
        return repr(self._list)


PER_ENV = ("means", "np_random", "np_random_seed")  # attributes with one entry per sub-environment


class SB3VecEnv(VecEnv):  # type: ignore[misc, unused-ignore]
    """A Stable-Baselines3 ``VecEnv`` over a Gymnasium vector environment, wrapped or not, with the speed of arrays.

    It returns what ``DummyVecEnv`` over the single environments returns, to the bit: ``terminal_observation`` and
    ``TimeLimit.truncated`` in the infos, a list of dictionaries that is built only when it is read.

    >>> import gymnasium as gym, ns_mab_gym
    >>> envs = SB3VecEnv(gym.make_vec("NSBandit-Abrupt-v0", num_envs=4))
    >>> envs.reset().shape
    (4, 12)

    Args:
        envs: a vector environment with ``SAME_STEP`` autoreset, as ``gym.make_vec(id, num_envs=N)`` makes them.
    """

    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        if not isinstance(envs, gym.vector.VectorEnv):
            raise TypeError(
                f"SB3VecEnv takes a Gymnasium vector environment, got {envs!r}; make one with "
                f"gym.make_vec(id, num_envs=…), or use stable_baselines3's make_vec_env for single environments"
            )
        if (mode := envs.metadata.get("autoreset_mode")) is not AutoresetMode.SAME_STEP:
            raise ValueError(
                f"{envs} resets with {mode}, Stable-Baselines3 expects SAME_STEP; make it with "
                f'gym.make_vec(id, num_envs=…), or vector_kwargs={{"autoreset_mode": AutoresetMode.SAME_STEP}}'
            )
        self.envs = envs
        self._actions: Any = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> npt.NDArray[Any]:
        """Begin an episode everywhere, with the seeds and options that were set since the last reset."""
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        first = self._options[0]
        if all(options is first or not (options or first) for options in self._options):
            shared = first or None
        elif all(options.keys() == {"means"} for options in self._options):
            shared = {"means": [options["means"] for options in self._options]}
        else:
            raise ValueError("SB3VecEnv takes the same options for all sub-environments, or means for each of them")
        observations, infos = self.envs.reset(seed=seeds, options=shared)  # type: ignore[arg-type]
        self.reset_infos = split_infos(infos, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return np.asarray(observations)

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Store the arms to pull."""
        self._actions = actions

    def step_wait(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], Any]:
        """Pull the stored arms and return what follows."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        over = terminated | truncated
        if over.any():
            first = split_infos(without_final(infos), self.num_envs)
            self.reset_infos = [
                new if done else old for new, old, done in zip(first, self.reset_infos, over, strict=True)
            ]
        return observations, rewards.astype(np.float32), over, LazyInfos(infos, terminated, truncated)

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def get_images(self) -> list[Any]:
        """Return the picture of every sub-environment."""
        return list(self.envs.render() or [None] * self.num_envs)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the vector environment or a wrapper: each one's entry, or the same for each."""
        layer: Any = self.envs
        while not hasattr(layer, attr_name) and isinstance(layer, gym.vector.VectorWrapper):
            layer = layer.env
        value = getattr(layer, attr_name)
        return [value[i] if attr_name in PER_ENV else value for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible: sub-environments are rows of arrays."""
        raise NotImplementedError(_ROWS.format(f"set {attr_name!r} on"))

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Not possible: sub-environments are rows of arrays."""
        raise NotImplementedError(_ROWS.format(f"call {method_name!r} on"))

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        """Return False for each: sub-environments are never wrapped one by one."""
        return [False for _ in self._get_indices(indices)]


_ROWS = (
    "cannot {} one sub-environment: those of the native vector environment are rows of arrays, not objects; "
    "use stable_baselines3's make_vec_env(id, n_envs=…), whose sub-environments are"
)
