"""The rounds after which the regret is kept: evenly spaced ones, or those that are asked for."""

import gymnasium as gym
import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds

WORLD = {"env_kwargs": {"horizon": 600}, "runs": 2, "seed": 3}


def test_the_regret_after_a_round_is_that_of_the_curve_of_all_rounds():
    asked = [7, 8, 599, 300, 8]
    runs = nsb.simulate("NSBandit-Abrupt-v0", "ts", rounds=asked, **WORLD)
    assert runs.rounds.tolist() == [7, 8, 300, 599, 600]
    env = gym.make("NSBandit-Abrupt-v0", horizon=600)
    for run, seeds in enumerate(runs.seeds):
        episode = nsb.run_episode(env, agents.TS(10), seed=seeds)
        assert np.array_equal(episode.regret[runs.rounds - 1], runs.regret[run])


def test_evenly_spaced_rounds_end_with_the_last_one():
    runs = nsb.simulate("NSBandit-Abrupt-v0", "ts", env_kwargs={"horizon": 1_250}, runs=1)
    assert len(runs.rounds) == 500
    assert runs.rounds[-1] == 1_250
    assert set(np.diff(runs.rounds)) == {2, 3}


@pytest.mark.filterwarnings("ignore:.*generic Python loop")
def test_the_generic_loop_keeps_the_same_rounds():
    class Mine(agents.TS):
        """Without a compiled form of its own."""

        def act(self, *args, **kwargs):
            return super().act(*args, **kwargs)

    slow = nsb.simulate("NSBandit-Abrupt-v0", Mine(10), rounds=[50, 123], **WORLD)
    fast = nsb.simulate("NSBandit-Abrupt-v0", agents.TS(10), rounds=[50, 123], **WORLD)
    assert np.array_equal(slow.rounds, fast.rounds)
    assert np.array_equal(slow.regret, fast.regret)


@pytest.mark.parametrize(
    ("rounds", "said"),
    [([601], "between 1 and the horizon, 600; got 601"), ([0], "each of rounds must be .*got 0"), ([1.5], "got 1.5")],
)
def test_rounds_that_are_not_there_are_refused(rounds, said):
    with pytest.raises((ValueError, TypeError), match=said):
        nsb.simulate("NSBandit-Abrupt-v0", "ts", rounds=rounds, **WORLD)


@pytest.mark.parametrize("horizon", [1, 2, 499, 500, 501, 1_234])
def test_the_rounds_of_a_curve(horizon):
    """At most 500, rising, the last of them T; all of them where T is no more."""
    runs = nsb.simulate(worlds.Stationary(mu=(0.2, 0.5), horizon=horizon), "random", runs=2)
    assert runs.rounds[-1] == horizon
    assert len(runs.rounds) == min(horizon, 500)
    assert (np.diff(runs.rounds) > 0).all()
    assert runs.rounds[0] >= 1
    assert runs.regret.shape == (2, len(runs.rounds))
    np.testing.assert_allclose(runs.regret[:, -1], 0.3 * runs.pulls[:, 0], rtol=1e-12)
    np.testing.assert_array_equal(runs.pulls[:, 0], runs.suboptimal_pulls[:, 0])
    assert runs.seconds > 0
