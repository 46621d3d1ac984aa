"""Advice from a log: what an agent earns more than others, rewards that come late, and whom histories tell apart."""

from __future__ import annotations

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym.logs.log import Log
from ns_mab_gym.specs import as_env
from ns_mab_gym.tuning.gains import Gain, gains_of, late
from ns_mab_gym.tuning.race import WorldEvaluator
from ns_mab_gym.wrappers import DelayedRewards


def log_of(means, seed=0, chances=None):
    rng, (horizon, k) = np.random.default_rng(seed), means.shape
    arms = rng.choice(k, size=horizon, p=chances)
    paid = (rng.random(horizon) < means[np.arange(horizon), arms]).astype(float)
    return Log(np.arange(horizon) * 60.0, arms, paid, tuple("abcdef"[:k]))


SWITCHING = np.tile(np.repeat([[0.9, 0.2], [0.2, 0.9]], 750, axis=0), (2, 1))


@pytest.fixture(scope="module")
def log():
    return log_of(SWITCHING)


@pytest.fixture(scope="module")
def advice(log):
    return nsb.recommend(log, agents=["changepoint-ucb", "sw-ucb", "ts"], runs=400)


def test_learning_pays_where_the_best_arm_changes(advice):
    """An agent that is never wrong earns 0.9, always one arm about 0.55, and so did the log.

    So no gain is above 0.35, but for what the log leaves open: three standard errors of 0.3/√1 500.
    """
    fixed, logged = advice.gains
    assert fixed.over.startswith("always")
    assert fixed.reward == pytest.approx(0.55, abs=0.04)
    assert logged.reward == pytest.approx(0.55, abs=0.04)
    assert fixed.clear
    assert logged.clear
    assert 0.2 < fixed.low < fixed.difference < fixed.high < 0.35 + 0.025
    assert "the best fixed arm (0.5" in str(advice)
    assert ", clear" in str(advice)
    assert "3,000 decisions in 2.1 days" in str(advice)


def test_gains_are_those_of_the_histories_that_were_played(log):
    """Against sums by hand over the held-out histories."""
    evaluator = WorldEvaluator(log)
    regrets = np.array([10.0, 30.0, 20.0])
    world = log.world()
    fixed, logged = gains_of(evaluator, regrets)
    means = [evaluator.held_out().means(run) for run in range(3)]
    earned = [each.max(axis=1).sum() - regret for each, regret in zip(means, regrets, strict=True)]
    best = int(np.argmax(sum(each.sum(axis=0) for each in means)))
    more = [(e - each[:, best].sum()) / 3_000 for e, each in zip(earned, means, strict=True)]
    assert fixed.difference == pytest.approx(np.mean(more))
    cells = [np.array_split(each, len(world.shares)) for each in means]
    shown = [
        np.mean([part.mean(axis=0) @ share for part, share in zip(each, world.shares, strict=True)]) for each in cells
    ]
    assert logged.reward == pytest.approx(np.mean(shown))
    assert fixed.histories == 3


def test_a_fixed_arm_that_earns_more_is_said():
    worse = Gain("always 'a'", 0.5, -0.01, -0.02, -0.005, 100)
    assert worse.clear
    assert "−2.0%" in str(worse)
    assert str(worse).endswith("clear: it earns less")
    assert str(worse._replace(high=0.1)).endswith("not clear")
    assert "-0.01 (" in str(worse._replace(reward=-3.0))


def test_where_nothing_moves_a_fixed_arm_earns_as_much_or_more():
    found = nsb.recommend(log_of(np.tile([0.6, 0.4], (3_000, 1))), agents=["ts", "ucb1"], runs=100)
    assert found.gains[0].high <= 0.01
    assert found.gains[1].low > 0  # the log played both arms


def test_durations_are_converted_with_the_rate(log):
    """One decision a minute."""
    env = late(as_env(log), "30min", "2h")
    assert isinstance(env, DelayedRewards)
    assert env.shown == "120 decisions late, in batches of 30"
    assert late(as_env(log), 1, 0) is not env
    assert not isinstance(late(as_env(log), 1, 0), DelayedRewards)
    assert late(as_env(log.world(horizon=300)), 10, "2h").shown == "12 decisions late, in batches of 10"
    assert late(as_env("abrupt"), 1, (3, 9)).shown == "3 to 9 decisions late"
    with pytest.raises(ValueError, match="only a log has times; give delay in decisions"):
        late(as_env("abrupt"), 1, "2h")
    with pytest.raises(ValueError, match="batch must be a duration such as"):
        late(as_env(log), "2 fortnights", 0)


def test_advice_for_late_rewards_is_that_of_late_games(log):
    found = nsb.recommend(log, agents=["sw-ucb", "ts"], runs=60, delay="5h", batch=50)
    env = DelayedRewards(as_env(log), delay=300, batch=50)
    from ns_mab_gym.tuning.race import held_out_seed

    again = nsb.simulate(env, found.agent, runs=found.regret.runs, seed=held_out_seed(0), agent_kwargs=found.parameters)
    assert found.regret.mean == pytest.approx(again.final.mean())
    assert "rewards are shown 300 decisions late, in batches of 50" in str(found)
