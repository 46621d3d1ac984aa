"""One step of NSBandit-Abrupt-v0 against one of CartPole-v1, both as gym.make wraps them; resets are not timed."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import gymnasium as gym
from benchmarks._outcome import Outcome
from benchmarks._timing import interleaved

import ns_mab_gym

STEPS, LIMIT = 20_000, 1.0

gym.register_envs(ns_mab_gym)


def seconds_per_step(env: gym.Env[Any, Any]) -> float:
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


def run() -> Outcome:
    """Print both times and their ratio."""
    bandit, pole = gym.make("NSBandit-Abrupt-v0"), gym.make("CartPole-v1")
    bandit.reset(seed=0)
    pole.reset(seed=0)
    ours, theirs, ratio = interleaved(lambda: seconds_per_step(bandit), lambda: seconds_per_step(pole))
    print(
        f"env: NSBandit-Abrupt-v0 {ours * 1e6:.2f} µs per step, CartPole-v1 {theirs * 1e6:.2f} µs per step, "
        f"ratio {ratio:.2f} (at most {LIMIT:g})"
    )
    return Outcome(ratio <= LIMIT, {"microseconds": ours * 1e6, "ratio_to_cartpole": ratio})
