"""Rewards that come late or in batches: the compiled loop plays what the generic one plays, to the last bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from examples import HOUSE
from interpreted_runs import assert_equal_runs

import ns_mab_gym as nsb
from ns_mab_gym import agents, wrappers
from ns_mab_gym.envs import NSBanditEnv

WORLD = nsb.worlds.Abrupt(horizon=700)
LATE = {"late": {"delay": 7}, "batches": {"delay": 0, "batch": 64}, "both": {"delay": (0, 50), "batch": 9}}


def assert_same(name: str, **late) -> None:
    env = wrappers.DelayedRewards(NSBanditEnv(WORLD), **late)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the generic loop would be told
        runs = nsb.simulate(env, name, runs=2, seed=3, record="all", n_jobs=1)
    agent = agents.make(name, knowledge=nsb.theory.describe(WORLD.means()))
    for run, seeds in enumerate(runs.seeds):
        played = nsb.run_episode(env, agent, seeds)
        assert_equal_runs(runs, run, played)
        assert (played.alarms is None) == (runs.alarms is None)
        if played.alarms is not None:
            np.testing.assert_array_equal(runs.alarms[run], played.alarms)


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("name", ["sw-ucb", "glr-ts"])
def test_compiled_equals_interpreted(name, late):
    assert_same(name, **LATE[late])


@pytest.mark.parametrize("name", [name for name in HOUSE if agents.kind(name).handles_delay])
def test_compiled_equals_interpreted_for_every_agent(name):
    assert_same(name, delay=(2, 30), batch=5)


def test_without_delay_it_is_the_env_itself():
    plain, wrapped = (
        nsb.simulate(env, "ts", runs=2, record="all")
        for env in (NSBanditEnv(WORLD), wrappers.DelayedRewards(NSBanditEnv(WORLD), delay=0))
    )
    np.testing.assert_array_equal(plain.arms, wrapped.arms)


def test_a_wrapper_around_it_is_played_in_the_generic_loop():
    env = wrappers.ArmAvailability(wrappers.DelayedRewards(NSBanditEnv(WORLD), delay=3), probability=0.9)
    with pytest.warns(UserWarning, match="wrapped in ArmAvailability"):
        nsb.simulate(env, "ts", runs=1)


@pytest.mark.parametrize(("delay", "batch"), [(0, 1), (0, 4), (3, 4), ((1, 6), 5), (2, 1_000)])
def test_rewards_arrive_at_the_end_of_the_batch_in_which_they_are_due(delay, batch):
    """Whatever arrives does so after a multiple of the batch, the first one that is not before it is due."""
    env = wrappers.DelayedRewards(NSBanditEnv(WORLD), delay=delay, batch=batch)
    low, high = delay if isinstance(delay, tuple) else (delay, delay)
    env.reset(seed=4)
    arrived = {}
    for now in range(1, WORLD.horizon + 1):
        for then, *_ in env.step(0)[-1]["feedback"]:
            arrived[then] = now
    for then, now in arrived.items():
        assert now % batch == 0
        assert low <= now - then < high + batch
    told = dict(enumerate(env.arrivals(4, WORLD.horizon).tolist(), start=1))
    assert arrived == {then: now for then, now in told.items() if now <= WORLD.horizon}


def test_bad_batches_are_refused():
    with pytest.raises(ValueError, match="batch must be a positive integer, got 0"):
        wrappers.DelayedRewards(NSBanditEnv(WORLD), batch=0)
