"""Environments: a step, many environments at once, and the runs of a model at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from benchmarks._common import Outcome, interleaved, seconds_of
from gymnasium.vector import AutoresetMode

import ns_mab_gym

STEPS, CARTPOLE_LIMIT = 20_000, 1.0

gym.register_envs(ns_mab_gym)


def seconds_of_step(env: gym.Env[Any, Any]) -> float:
    """The mean time of a step, in bursts between resets; actions alternate, which keeps CartPole's pole up a while."""
    spent, done, over = 0.0, 0, True
    while done < STEPS:
        if over:
            env.reset()
        began = perf_counter()
        for action in (0, 1) * 10:
            _, _, terminated, truncated, _ = env.step(action)
            done += 1
            if over := terminated or truncated:
                break
        spent += perf_counter() - began
    return spent / done


def env() -> Outcome:
    """Print the times of a step and of one of CartPole-v1, both as gym.make wraps them; resets are not timed."""
    bandit, pole = gym.make("NSBandit-Abrupt-v0"), gym.make("CartPole-v1")
    bandit.reset(seed=0)
    pole.reset(seed=0)
    ours, theirs, ratio = interleaved(lambda: seconds_of_step(bandit), lambda: seconds_of_step(pole))
    print(f"env: NSBandit-Abrupt-v0 {ours * 1e6:.2f} µs per step, CartPole-v1 {theirs * 1e6:.2f} µs per step, ", end="")
    print(f"ratio {ratio:.2f} (at most {CARTPOLE_LIMIT:g})")
    return Outcome(ratio <= CARTPOLE_LIMIT, {"microseconds": ours * 1e6, "ratio_to_cartpole": ratio})


N, REPEATS = 256, 3
WORLDS: dict[str, tuple[str, dict[str, Any], int, float]] = {  # id, arguments, rounds in a turn, times SyncVectorEnv
    "NSBandit-Abrupt-v0": ("NSBandit-Abrupt-v0", {}, 256, 30.0),
    "NSBandit-Piecewise-v0": ("NSBandit-Piecewise-v0", {"n_arms": 5, "horizon": 1_000}, 1_000, 30.0),
    "NSBandit-Abrupt-v0, reward=beta": ("NSBandit-Abrupt-v0", {"reward": "beta"}, 256, 10.0),
}
DUMMY_LIMIT = 5.0


def seconds_per_step(envs: Any, rounds: int, reading: bool = False) -> float:
    """The mean time of a step of one sub-environment; reading: as learners do, each info for the end of an episode."""
    space = getattr(envs, "single_action_space", envs.action_space)
    arms = np.random.default_rng(0).integers(space.n, size=(rounds, N))

    def play() -> None:
        for actions in arms:
            *_, infos = envs.step(actions)
            for info in infos if reading else ():
                info.get("episode")

    return seconds_of(play) / (rounds * N)


def times_as_fast(what: str, ours: Any, theirs: Any, limit: float, timed: Callable[[Any], float]) -> float:
    """Print steps per second of both, and return how many times as fast ours is."""
    for envs in (ours, theirs):
        envs.reset()
    mine, other, ratio = interleaved(lambda: timed(ours), lambda: timed(theirs), REPEATS)
    print(f"vector: {what}: {1 / mine:,.0f} against {1 / other:,.0f} env steps/s, ", end="")
    print(f"{1 / ratio:.1f} × (at least {limit:g})")
    return 1 / ratio


def compare(name: str, env_id: str, kwargs: dict[str, Any], rounds: int, limit: float) -> dict[str, float]:
    """How many times as fast the native environment and the adapter are on one world."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    from ns_mab_gym import rl

    step, look = (partial(seconds_per_step, rounds=rounds, reading=reading) for reading in (False, True))
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


def vector() -> Outcome:
    """Print how many times as fast 256 environments are at once, native and through the adapter to Stable-Baselines3.

    Arms are random, both sides play in turns, and drawing new instances at the end of episodes is timed too. The first
    world is the paper's, the second a random one with short episodes, where resets cost the most. The third has Beta
    rewards: each is a quantile, which takes longer to compute than all the rest of a step.
    """
    figures = {name: compare(name, *world) for name, world in WORLDS.items()}
    within = all(
        times >= (WORLDS[name][-1] if what == "native_to_sync" else DUMMY_LIMIT)
        for name, measured in figures.items()
        for what, times in measured.items()
    )
    return Outcome(within, figures)


RUNS, ALONE, RUNS_LIMIT = 200, 3, 20.0
WORLD, SIZE = "NSBandit-Piecewise-v0", {"n_arms": 5, "horizon": 1_000}


def seconds_per_run(agent: Any, runs: int) -> float:
    """The mean time of a run, everything included."""
    return seconds_of(lambda: ns_mab_gym.simulate(WORLD, agent, runs=runs, env_kwargs=SIZE, n_jobs=1)) / runs


def rl_simulate() -> Outcome:
    """Print the time of a run of a network that was not trained, of 200 runs at once and one by one.

    Each run costs the same when it is played alone, so some of them give the time of all; both sides play in turns.
    """
    import torch
    from stable_baselines3 import PPO

    from ns_mab_gym import rl, wrappers

    class OneByOne(rl.SB3Agent):
        """A model whose runs are not played at once."""

        def runs_at_once(self, env: object) -> int:
            return 0

    torch.set_num_threads(1)
    envs = wrappers.VectorWindowedStatistics(gym.make_vec(WORLD, num_envs=2, **SIZE), window=50)
    model = PPO("MlpPolicy", rl.SB3VecEnv(envs), device="cpu", seed=0)
    at_once, alone, ratio = interleaved(
        lambda: seconds_per_run(rl.SB3Agent(model), RUNS), lambda: seconds_per_run(OneByOne(model), ALONE), REPEATS
    )
    same = True
    for greedy in (True, False):
        played = (kind(model, deterministic=greedy) for kind in (rl.SB3Agent, OneByOne))
        one, other = (ns_mab_gym.simulate(WORLD, each, runs=ALONE, env_kwargs=SIZE).regret for each in played)
        same &= np.array_equal(one, other)
    print(
        f"rl_simulate: {RUNS} runs at once {1e3 * at_once:.1f} ms each, one by one {1e3 * alone:.0f} ms each, ", end=""
    )
    print(f"{1 / ratio:.0f} × (at least {RUNS_LIMIT:g}); the same regrets: {same}")
    figures = {"runs": RUNS, "rounds": SIZE["horizon"], "times": 1 / ratio}
    return Outcome(same and 1 / ratio >= RUNS_LIMIT, figures)
