"""The native vector environment against SyncVectorEnv, and through Stable-Baselines3's adapter against DummyVecEnv.

256 environments, random arms, both sides in turns; what is timed includes drawing new instances at the end of episodes.
The first world is the paper's, the second a random one with short episodes, where resets cost the most. The third has
Beta rewards: each is a quantile, which takes longer to compute than all the rest of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from benchmarks._outcome import Outcome
from benchmarks._timing import interleaved
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import DummyVecEnv

import ns_mab_gym
from ns_mab_gym import rl

N, REPEATS = 256, 3
WORLDS: dict[str, tuple[str, dict[str, Any], int, float]] = {  # id, arguments, rounds in a turn, times SyncVectorEnv
    "NSBandit-Abrupt-v0": ("NSBandit-Abrupt-v0", {}, 256, 30.0),
    "NSBandit-Piecewise-v0": ("NSBandit-Piecewise-v0", {"n_arms": 5, "horizon": 1_000}, 1_000, 30.0),
    "NSBandit-Abrupt-v0, reward=beta": ("NSBandit-Abrupt-v0", {"reward": "beta"}, 256, 10.0),
}
DUMMY_LIMIT = 5.0

gym.register_envs(ns_mab_gym)


def seconds_per_step(envs: Any, rounds: int) -> float:
    """The mean time of a step of one sub-environment."""
    space = getattr(envs, "single_action_space", envs.action_space)
    arms = np.random.default_rng(0).integers(space.n, size=(rounds, N))
    began = perf_counter()
    for actions in arms:
        envs.step(actions)
    return (perf_counter() - began) / (rounds * N)


def seconds_per_learners_step(envs: Any, rounds: int) -> float:
    """The same, including what every algorithm of Stable-Baselines3 does: read each info for the end of an episode."""
    arms = np.random.default_rng(0).integers(envs.action_space.n, size=(rounds, N))
    began = perf_counter()
    for actions in arms:
        *_, infos = envs.step(actions)
        for info in infos:
            info.get("episode")
    return (perf_counter() - began) / (rounds * N)


def times_as_fast(what: str, ours: Any, theirs: Any, limit: float, timed: Callable[[Any], float]) -> float:
    """Print steps per second of both, and return how many times as fast ours is."""
    for envs in (ours, theirs):
        envs.reset()
    mine, other, ratio = interleaved(lambda: timed(ours), lambda: timed(theirs), REPEATS)
    print(
        f"vector: {what}: {1 / mine:,.0f} against {1 / other:,.0f} env steps/s, {1 / ratio:.1f} × (at least {limit:g})"
    )
    return 1 / ratio


def compare(name: str, env_id: str, kwargs: dict[str, Any], rounds: int, limit: float) -> dict[str, float]:
    """How many times as fast the native environment and the adapter are on one world."""
    step, look = partial(seconds_per_step, rounds=rounds), partial(seconds_per_learners_step, rounds=rounds)
    native = gym.make_vec(env_id, num_envs=N, vectorization_mode="vector_entry_point", **kwargs)
    mode = {"autoreset_mode": AutoresetMode.SAME_STEP}
    sync = gym.make_vec(env_id, num_envs=N, vectorization_mode="sync", vector_kwargs=mode, **kwargs)
    adapter, dummy = rl.SB3VecEnv(native), DummyVecEnv([partial(gym.make, env_id, **kwargs)] * N)
    what = f"{name}, SB3 adapter / DummyVecEnv"
    return {
        "native_to_sync": times_as_fast(f"{name}, native / SyncVectorEnv", native, sync, limit, step),
        "adapter_to_dummy": times_as_fast(f"{what}, step", adapter, dummy, DUMMY_LIMIT, step),
        "adapter_to_dummy_reading_infos": times_as_fast(f"{what}, every info read", adapter, dummy, DUMMY_LIMIT, look),
    }


def run() -> Outcome:
    """Print every figure."""
    figures = {name: compare(name, *world) for name, world in WORLDS.items()}
    within = all(
        times >= (WORLDS[name][-1] if what == "native_to_sync" else DUMMY_LIMIT)
        for name, measured in figures.items()
        for what, times in measured.items()
    )
    return Outcome(within, figures)
