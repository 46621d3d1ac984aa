"""The native vector environment in the form that Stable-Baselines3 expects."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from .infos import LazyInfos, split_infos

__all__ = ["SB3VecEnv"]

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
        observations, infos = self.envs.reset(seed=seeds, options=self._options_of_all())  # type: ignore[arg-type]
        self.reset_infos = split_infos(infos, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return np.asarray(observations)

    def _options_of_all(self) -> dict[str, Any] | None:
        first = self._options[0]
        if all(options is first or not (options or first) for options in self._options):
            return first or None
        if all(options.keys() == {"means"} for options in self._options):
            return {"means": [options["means"] for options in self._options]}
        raise ValueError("SB3VecEnv takes the same options for all sub-environments, or means for each of them")

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Store the arms to pull."""
        self._actions = actions

    def step_wait(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], Any]:
        """Pull the stored arms and return what follows."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        over = terminated | truncated
        if over.any():
            first = split_infos({key: infos[key] for key in infos if "final" not in key}, self.num_envs)
            self.reset_infos = [
                new if done else old for new, old, done in zip(first, self.reset_infos, over, strict=True)
            ]
        return observations, rewards.astype(np.float32), over, LazyInfos(infos, terminated, truncated)

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def get_images(self) -> list[Any]:
        """What every sub-environment renders."""
        return list(self.envs.render() or [None] * self.num_envs)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector environment or a wrapper: each sub-environment's entry, or the same for each."""
        value = self._find(attr_name)
        return [value[i] if attr_name in PER_ENV else value for i in self._get_indices(indices)]

    def _find(self, name: str) -> Any:
        layer: Any = self.envs
        while not hasattr(layer, name) and isinstance(layer, gym.vector.VectorWrapper):
            layer = layer.env
        return getattr(layer, name)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible: sub-environments are rows of arrays."""
        raise NotImplementedError(_ROWS.format(f"set {attr_name!r} on"))

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Not possible: sub-environments are rows of arrays."""
        raise NotImplementedError(_ROWS.format(f"call {method_name!r} on"))

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Any = None) -> list[bool]:
        """Whether sub-environments are wrapped one by one: never."""
        return [False for _ in self._get_indices(indices)]


_ROWS = (
    "cannot {} one sub-environment: those of the native vector environment are rows of arrays, not objects; "
    "use stable_baselines3's make_vec_env(id, n_envs=…), whose sub-environments are"
)
