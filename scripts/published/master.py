"""MASTER's tests of stationarity do not fire at practical horizons, and what is left is random restarts.

Source: Wei, Luo, COLT 2021, arXiv 2102.05406 (Algorithm 3). Gerogiannis, Huang, Veeravalli, "Is Prior-Free Black-Box
Non-Stationary Reinforcement Learning Feasible?", arXiv 2410.13772, state that its "non-stationarity detection mechanism
is not triggered for practical choices of horizon". Their numbers were not at hand; the statement is checked here on the
paper's abrupt world: alarms, and the largest statistic of each test beside a number that no threshold was below.

Both statistics are at most 1 where rewards lie in [0, 1]: until 3 ρ̂(T) ≤ 1, no world whatever can make a test fire. The
horizon from which on that may happen is printed too, and then regret and alarms with lower thresholds, which are ours.

python scripts/published/master.py
"""

from __future__ import annotations

import numpy as np
from _common import final_regrets, mean_and_error
from numba import njit

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.core.kernel import act, observe
from ns_mab_gym.agents.master import thresholds
from ns_mab_gym.agents.parts.alarms import alarms_in
from ns_mab_gym.means import Floats

HORIZONS = (50_000, 1_000_000)
TOLERANCES = (1.0, 1e-3, 3e-4, 1e-4)
RUNS = 20


@njit
def _play(state, means, luck, rng):  # type: ignore[no-untyped-def]
    mask = np.ones(means.shape[1], np.bool_)
    for t in range(means.shape[0]):
        arm = act(state, mask, rng)
        observe(state, arm, 1.0 if luck.random() < means[t, arm] else 0.0)


def played(means: Floats, seed: int) -> agents.Agent:
    """The agent as it stands after a run with Bernoulli rewards."""
    agent: agents.Agent = agents.make("master", means.shape[1], len(means))
    agent.reset(seed=seed)
    _play(agent.state, means, np.random.default_rng([seed, 1]), agent.rng)
    return agent


def first_horizon(n_arms: int) -> float:
    """The power of 2 from which on 3 ρ̂(T) ≤ 1, with δ = 1/T: below it, no world makes a test fire."""
    return next(2.0**n for n in range(10, 200) if thresholds(n_arms, 2**n, 2.0**-n, 2**n)[1] <= 1)


def main() -> None:
    """Print alarms, statistics and thresholds."""
    print("published: the tests are not triggered at practical horizons")
    for horizon in HORIZONS:
        means = worlds.Abrupt(horizon=horizon).means()
        runs = [played(means, seed) for seed in range(RUNS if horizon < 10**6 else 2)]
        alarms = sum(len(found) for run in runs if (found := alarms_in(run.state)) is not None)
        reached = np.max([run.state.levels[4:] for run in runs], axis=0)
        least = thresholds(means.shape[1], horizon, 1 / horizon, horizon)
        print(f"measured, abrupt world, T = {horizon:,}, {len(runs)} runs: {alarms} alarms")
        for number, (statistic, threshold) in enumerate(zip(reached, least, strict=True), start=1):
            print(f"  test {number}: largest statistic {statistic:.3f}, no threshold below {threshold:,.0f}")
    for n_arms in (2, 10):
        print(f"K = {n_arms}: no statistic, at most 1, reaches its threshold until T = {first_horizon(n_arms):.1e}")
    print(f"\nregret at T = 50 000 with lower thresholds, {RUNS} runs, and alarms per run")
    for tolerance in TOLERANCES:
        run = nsb.simulate("NSBandit-Abrupt-v0", "master", runs=RUNS, agent_kwargs={"tolerance": tolerance})
        sounded, (mean, error) = sum(map(len, run.alarms or [])) / RUNS, mean_and_error(run.final)
        print(f"  {tolerance:<9g} {mean:>8.0f} ± {error:.0f}, {sounded:.1f} alarms")
    for name in ("ucb1", "beta-swts"):
        mean, error = mean_and_error(final_regrets("NSBandit-Abrupt-v0", (name, {}), RUNS, seed=0))
        print(f"  {name:<9} {mean:>8.0f} ± {error:.0f}")


if __name__ == "__main__":
    main()
