"""A stand-in for the engine: fast, deterministic and paired; it keeps a record of what it was asked."""

import numpy as np

from ns_mab_gym.runs import Runs, seed_pair
from ns_mab_gym.specs import WorldSpec
from ns_mab_gym.studies.study import size_of

HORIZON, POINTS = 1_000, 20


class FakeEngine:
    """Regret that grows by an agent's own slope (the number of letters of its name) plus shared and own luck."""

    def __init__(self):
        self.calls = []

    def __call__(self, env, agent, *, runs, seed, env_kwargs, agent_kwargs, n_jobs, first_run, rounds=None):
        self.calls.append((env, agent, tuple(sorted(agent_kwargs.items())), first_run, runs))
        arms, horizon = size_of(WorldSpec.of(env, **env_kwargs))
        grid = np.arange(1, POINTS + 1) * horizon // POINTS
        noted = grid if rounds is None else np.array(sorted({*rounds, horizon}))
        pulls = np.full((runs, arms), horizon // arms)
        pulls[:, 0] += horizon % arms
        slope = len(agent) + len(str(sorted(agent_kwargs.items()))) / 100
        curves = []
        for run in range(first_run, first_run + runs):
            shared = np.random.default_rng((seed, run, 0)).random(POINTS)
            own = np.random.default_rng((seed, run, len(agent))).random(POINTS)
            curves.append(np.interp(noted, grid, np.cumsum(slope * 5 + shared + own)))
        return Runs(
            rounds=noted,
            regret=np.array(curves),
            pulls=pulls,
            suboptimal_pulls=pulls // 2,
            seeds=[seed_pair(seed, run) for run in range(first_run, first_run + runs)],
            parameters=[{"n_arms": arms, **agent_kwargs}] * runs,
            seconds=0.25,
        )
