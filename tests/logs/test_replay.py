"""Replay: estimates beside sums by hand and known truths, rejection beside its law, and logs that cannot answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym import agents
from ns_mab_gym.agents.core.protocol import arrays_of, digest_of
from ns_mab_gym.logs import replay as subject
from ns_mab_gym.logs.log import Log
from ns_mab_gym.play.loop import replayed


def logged(n=6_000, seed=0, chances=(0.5, 0.3, 0.2), told=True, drift=0.0):
    """A log of three arms; the mean of the first falls by ``drift``."""
    rng, k = np.random.default_rng(seed), len(chances)
    arms = rng.choice(k, size=n, p=chances)
    means = np.tile([0.6, 0.5, 0.3], (n, 1))[:, :k]
    means[:, 0] -= drift * np.arange(n) / n
    paid = (rng.random(n) < means[np.arange(n), arms]).astype(float)
    return Log(
        np.arange(n, dtype=float),
        arms,
        paid,
        ("a", "b", "c")[:k],
        propensities=np.array(chances)[arms] if told else None,
    )


def test_weights_are_those_of_the_formulas():
    log = logged(40)
    policy = np.random.default_rng(1).dirichlet(np.ones(3), size=40)
    found = log.replay(policies={"mine": policy})
    weight = [policy[t, log.arms[t]] / log.propensities[t] for t in range(40)]
    ips = sum(w * r for w, r in zip(weight, log.rewards, strict=True)) / 40
    assert found.of("mine", "IPS").reward == pytest.approx(ips)
    assert found.of("mine", "SNIPS").reward == pytest.approx(40 * ips / sum(weight))
    assert found.of("mine").effective == pytest.approx(sum(weight) ** 2 / sum(w * w for w in weight))
    assert found.of("what the log did").reward == pytest.approx(log.rewards.mean())
    always = found.of("always b", "SNIPS")
    assert always.reward == pytest.approx(log.rewards[log.arms == 1].mean())
    assert always.decisions == np.sum(log.arms == 1)


def test_the_means_of_a_row_come_from_the_other_half():
    log = logged(400)
    other = log.rewards.copy()
    other[100] += 1_000.0
    both = (subject._expected(replace(log, rewards=each)) for each in (other, log.rewards))
    with_it, without = (means[piece] for means, piece in both)
    changed = np.flatnonzero((with_it != without).any(axis=1))
    assert changed.size > 0
    assert (changed % 2 == 1).all()


@pytest.mark.parametrize("method", ["IPS", "SNIPS", "DR"])
def test_intervals_hold_the_truth_where_means_drift(method):
    """95 % nominal over 300 estimates of 100 logs: at least 90 % (4 standard errors below), of fixed arms."""
    truth = {"always a": 0.6 - 0.2, "always b": 0.5, "always c": 0.3}
    held = [
        row.low <= truth[row.policy] <= row.high
        for seed in range(100)
        for row in logged(2_000, seed, drift=0.4).replay().rows
        if row.method == method
    ]
    assert len(held) == 300
    assert np.mean(held) >= 0.90


class Delegated:
    """An agent of the suite, played through its three methods alone."""

    def __init__(self, agent):
        self.agent, self.n_arms = agent, agent.n_arms

    def reset(self, seed=None):
        self.agent.reset(seed)

    def act(self, observation=None):
        return self.agent.act()

    def observe(self, arm, reward):
        self.agent.observe(arm, reward)


@pytest.mark.parametrize(("name", "kwargs"), [("ts", {}), ("ts", {"binarize": True}), ("sw-ucb", {"window": 50})])
def test_the_compiled_loop_takes_what_the_plain_one_takes(name, kwargs):
    log, kept = logged(2_000), np.random.default_rng(3).random(2_000) < 0.6
    agent = agents.make(name, 3, 1_000, **kwargs)
    found = []
    for player in (agent, Delegated(agent)):
        player.reset(seed=5)
        taken = replayed(player, log.arms, log.rewards, kept)
        found.append((taken, digest_of(arrays_of(agent.state)), agent.rng.bit_generator.state))
    assert found[0] == found[1]
    assert found[0][0][0] > 100


def test_choices_wait_equally_long_whatever_the_arm():
    """Rejection with propensities keeps a share c of the decisions for every arm that is chosen.

    Always playing one arm takes c N = 1 200 of 6 000 decisions, within 4 standard deviations, whichever it is; and
    random play takes all arms equally often (chi-square, p > 0.001).
    """
    log = logged()
    rng = np.random.default_rng(1)
    kept = rng.random(6_000) < 0.2 / log.propensities

    class Always(Delegated):
        def __init__(self, arm):
            self.arm = arm

        def act(self, observation=None):
            return self.arm

        def observe(self, arm, reward):
            pass

    taken = [replayed(Always(arm), log.arms, log.rewards, kept)[0] for arm in range(3)]
    assert np.all(np.abs(np.array(taken) - 1_200) < 4 * np.sqrt(6_000 * 0.2 * 0.8))

    class Counting(Delegated):
        counts = np.zeros(3)

        def observe(self, arm, reward):
            self.counts[arm] += 1

    player = Counting(agents.make("random", 3))
    player.reset(seed=2)
    replayed(player, log.arms, log.rewards, kept)
    assert stats.chisquare(player.counts).pvalue > 1e-3


def test_an_agent_earns_what_it_earns_in_the_world():
    """TS on arms that stand still, given 1 200 decisions: its mean reward there, by 400 games, lies in the interval."""
    import ns_mab_gym as nsb

    runs = nsb.simulate(np.tile([0.6, 0.5, 0.3], (1_200, 1)), "ts", runs=400)
    truth = 0.6 - runs.final.mean() / 1_200
    found = logged().replay("ts").of("ts")
    assert found.method == "rejection"
    assert found.low <= truth <= found.high
    assert found.high - found.low < 0.1
    assert found.decisions == pytest.approx(1_200, rel=0.1)


def test_replays_can_be_repeated():
    one, other = (logged(1_500).replay(["ts", "random"], seed=4) for _ in range(2))
    assert one.rows == other.rows
    assert logged(1_500).replay(["ts", "random"], seed=5).rows != one.rows


def test_the_table_says_what_was_assumed():
    said = str(logged(3_000, chances=(1 / 3, 1 / 3, 1 / 3), told=False).replay("ts"))
    assert "policy" in said.splitlines()[0]
    assert "no propensities: uniform choices are assumed (chi-square test over 50 parts of the time, p = " in said
    assert "of 3,000 decisions are taken; an agent is given one in 3" in said
    few = logged(200, chances=(0.9, 0.05, 0.05)).replay()
    assert "(few)" in str(few)
    with pytest.raises(KeyError, match="no estimate of 'b'; there are always a \\(DR\\)"):
        few.of("b")


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (logged(told=False), "not chosen uniformly .a 5.*b .*p = .*propensity="),
        (replace(logged(), propensities=np.full(6_000, 0.9)), "do not fit the log: 'a' was shown 0.5.* times as often"),
        (replace(logged(), trials=np.full(6_000, 2)), "one row for each decision.*log.world"),
    ],
)
def test_a_log_that_cannot_answer_is_refused(log, words):
    with pytest.raises(ValueError, match=words):
        log.replay("ts")


def test_shares_that_move_over_time_are_not_uniform():
    """As many of each arm over all time, but not in its parts."""
    rng = np.random.default_rng(4)
    first, second = (rng.choice(2, size=2_000, p=p) for p in ((0.7, 0.3), (0.3, 0.7)))
    arms = np.concatenate([first, second])
    log = Log(np.arange(4_000.0), arms, rng.random(4_000), ("a", "b"))
    with pytest.raises(ValueError, match="not chosen uniformly in parts of it"):
        log.replay()


def test_arms_that_were_taken_in_turn_are_said():
    arms = np.arange(4_000) % 2
    found = Log(np.arange(4_000.0), arms, np.random.default_rng(0).random(4_000), ("a", "b")).replay()
    assert "taken in turn" in str(found)


def test_uniform_logs_are_hardly_ever_refused():
    """Of 300 logs at a level of 0.001 at most three, which happens by chance in fewer than 1 of 3 000 tests."""
    refused = 0
    for seed in range(300):
        arms = np.random.default_rng(seed).integers(3, size=2_000)
        try:
            subject._propensities(Log(np.arange(2_000.0), arms, np.zeros(2_000), ("a", "b", "c")))
        except ValueError:
            refused += 1
    assert refused <= 3


@pytest.mark.parametrize(
    ("policy", "words"), [([0.5, 0.5], "shape \\(3,\\) or \\(6000, 3\\), got \\(2,\\)"), ([0.5, 0.5, 0.5], "sum to 1")]
)
def test_bad_policies_are_refused(policy, words):
    with pytest.raises(ValueError, match=words):
        logged().replay(policies={"mine": policy})
