"""A seed decides the luck of a run: whoever plays, in whatever blocks, on however many threads."""

from __future__ import annotations

import numpy as np
import pytest
from interpreted_runs import fitting, is_tried

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.bandit import streams
from ns_mab_gym.play.episode import seed_pair

every_law = pytest.mark.parametrize("law", rewards.names())


@pytest.mark.parametrize("name", ["beta-swts", "ser4", "oracle"])
@pytest.mark.parametrize("world", [worlds.Abrupt(horizon=700), worlds.RandomWalk(horizon=700)], ids=lambda w: w.name)
def test_threads_change_nothing(name, world):
    one = nsb.simulate(world, name, runs=7, seed=2, record="all", n_jobs=1)
    for jobs in (2, 5, None):
        other = nsb.simulate(world, name, runs=7, seed=2, record="all", n_jobs=jobs)
        for field in ("rounds", "regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
        assert one.seeds == other.seeds
        assert one.parameters == other.parameters


def test_blocks_and_prefixes_are_the_same_runs():
    kwargs = {"seed": 9, "record": "all", "env_kwargs": {"horizon": 300}}
    whole = nsb.simulate("NSBandit-Piecewise-v0", "beta-swts", runs=6, **kwargs)
    first = nsb.simulate("NSBandit-Piecewise-v0", "beta-swts", runs=2, **kwargs)
    rest = nsb.simulate("NSBandit-Piecewise-v0", "beta-swts", runs=4, first_run=2, **kwargs)
    for field in ("regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
        np.testing.assert_array_equal(
            getattr(whole, field), np.concatenate([getattr(first, field), getattr(rest, field)])
        )
    assert whole.seeds == first.seeds + rest.seeds == [seed_pair(9, r) for r in range(6)]
    assert whole.parameters == first.parameters + rest.parameters


def test_runs_differ():
    runs = nsb.simulate(worlds.Abrupt(horizon=300), "ts", runs=20, seed=1, record="all")
    assert len({row.tobytes() for row in runs.rewards}) == 20
    assert len({row.tobytes() for row in runs.arms}) == 20


@every_law
def test_agents_that_share_a_seed_share_their_luck(law):
    """In a round in which two agents play the same arm they get the same reward; Gaussian noise is the same anyway."""
    world = worlds.Piecewise(horizon=800, n_arms=3)
    games = [
        nsb.simulate(
            world, name, runs=2, seed=4, env_kwargs={"reward": law}, agent_kwargs=fitting(name, law), record="all"
        )
        for name in agents.names()
        if is_tried(name, law)
    ]
    for one in games:
        for other in games:
            assert one.seeds == other.seeds
            same = one.arms == other.arms
            assert same.any()
            np.testing.assert_array_equal(one.rewards[same], other.rewards[same])
    if law == "gaussian":
        env = NSBanditEnv(world)
        for r, (env_seed, _) in enumerate(games[0].seeds):
            env.reset(seed=env_seed)
            noise = [g.rewards[r] - env.means[np.arange(800), g.arms[r]] for g in games]
            np.testing.assert_allclose(noise, np.broadcast_to(noise[0], (len(games), 800)), atol=1e-12)


def test_the_environments_luck_does_not_depend_on_the_agent():
    """Rewards of the oracle, which draws nothing, equal those recomputed from the world's means and the seed alone."""
    runs = nsb.simulate(worlds.Abrupt(horizon=400), "oracle", runs=3, seed=8, record="all")
    means = worlds.Abrupt(horizon=400).means()
    for r, (env_seed, _) in enumerate(runs.seeds):
        _, luck = streams(np.random.default_rng(env_seed))
        np.testing.assert_array_equal(runs.arms[r], means.argmax(axis=1))
        np.testing.assert_array_equal(runs.rewards[r], luck.random(400) < means.max(axis=1))
    assert not runs.regret.any()
    assert not runs.suboptimal_pulls.any()
