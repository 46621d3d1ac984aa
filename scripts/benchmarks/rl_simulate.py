"""Many runs of a model at once against one by one: 200 runs of 1,000 rounds, of a network that was not trained.

Each run costs the same when it is played alone, so some of them tell the time of all; both sides in turns.
"""

from __future__ import annotations

import time

import gymnasium as gym
import numpy as np
import torch
from benchmarks._outcome import Outcome
from benchmarks._timing import interleaved
from stable_baselines3 import PPO

import ns_mab_gym
from ns_mab_gym import rl, wrappers

RUNS, ALONE, REPEATS, LIMIT = 200, 3, 3, 20.0
WORLD, SIZE = "NSBandit-Piecewise-v0", {"n_arms": 5, "horizon": 1_000}

gym.register_envs(ns_mab_gym)


class OneByOne(rl.SB3Agent):
    """A model whose runs are not played at once."""

    def runs_at_once(self, env: object) -> int:
        """None."""
        return 0


def seconds_per_run(agent: rl.SB3Agent, runs: int) -> float:
    """The mean time of a run, everything included."""
    began = time.perf_counter()
    ns_mab_gym.simulate(WORLD, agent, runs=runs, env_kwargs=SIZE, n_jobs=1)
    return (time.perf_counter() - began) / runs


def same_regrets(model: PPO) -> bool:
    """Whether both ways of playing give the same regrets, drawn or not."""
    played = [
        ns_mab_gym.simulate(WORLD, kind(model, deterministic=greedy), runs=ALONE, env_kwargs=SIZE).regret
        for greedy in (True, False)
        for kind in (rl.SB3Agent, OneByOne)
    ]
    return np.array_equal(played[0], played[1]) and np.array_equal(played[2], played[3])


def run() -> Outcome:
    """Print the time of a run both ways, and their ratio."""
    torch.set_num_threads(1)
    envs = wrappers.VectorWindowedStatistics(gym.make_vec(WORLD, num_envs=2, **SIZE), window=50)
    model = PPO("MlpPolicy", rl.SB3VecEnv(envs), device="cpu", seed=0)
    at_once, alone, ratio = interleaved(
        lambda: seconds_per_run(rl.SB3Agent(model), RUNS), lambda: seconds_per_run(OneByOne(model), ALONE), REPEATS
    )
    same = same_regrets(model)
    print(
        f"rl_simulate: {RUNS} runs at once {1e3 * at_once:.1f} ms each, one by one {1e3 * alone:.0f} ms each, "
        f"{1 / ratio:.0f} × (at least {LIMIT:g}); the same regrets: {same}"
    )
    figures = {"runs": RUNS, "rounds": SIZE["horizon"], "times": 1 / ratio}
    return Outcome(same and 1 / ratio >= LIMIT, figures)
