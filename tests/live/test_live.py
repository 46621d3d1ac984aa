"""An agent in service does what the agent itself would do, whatever becomes of the processes that it runs in."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError
from ns_mab_gym.live.file import LiveFileError
from ns_mab_gym.live.live import ConflictingRewardError, LiveError, UnknownDecisionError
from ns_mab_gym.logs.durations import seconds_of

ARMS = ("blue", "green", "red")
AGENTS = ("ts", "sw-ucb:window=50", "epsilon-greedy", "changepoint-ucb")


def state_of(agent):
    return {key: np.asarray(value) for key, value in agent.state_dict().items()}


def assert_same_agent(one, other):
    assert one.state_dict().keys() == other.state_dict().keys()
    for key, value in state_of(one).items():
        np.testing.assert_array_equal(value, state_of(other)[key], err_msg=key)


def rows(file):
    """Everything that a file says, but for the state that was saved last."""
    with closing(sqlite3.connect(file)) as db:
        return {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in ("decisions", "journal", "arms")}


def twin_of(agent, n_arms=3, seed=1, **told):
    twin = agents.make(agent, n_arms=n_arms, blind=True, **told)
    twin.reset(seed=seed)
    return twin


def serve(live, clock, rounds, seed=0, twin=None, low=0.0, high=1.0):
    """Ask for batches, and give rewards late, in another order, or never; the twin is asked and told likewise."""
    rng, waiting, chosen = np.random.default_rng(seed), [], []
    for _ in range(rounds):
        clock.now += 10
        for decision in live.decide(int(rng.integers(1, 4))):
            chosen.append(decision.arm)
            if twin is not None:
                assert ARMS[twin.act()] == decision.arm
            waiting.append(decision)
        rng.shuffle(waiting)
        told, waiting = waiting[:2], waiting[2:]
        rewards = [(each.id, float(rng.choice([low, high], p=[0.7, 0.3]))) for each in told]
        live.learn(rewards)
        if twin is not None:
            for each, (_, reward) in zip(told, rewards, strict=True):
                twin.observe(ARMS.index(each.arm), (reward - low) / (high - low))
    return chosen


# The agent, its decisions and its rewards.


@pytest.mark.parametrize("agent", AGENTS)
def test_decisions_are_those_of_the_agent_itself(agent, opened, clock):
    live, twin = opened(agent), twin_of(agent)
    serve(live, clock, 40, twin=twin)
    assert_same_agent(live._agent, twin)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_was_not_closed_goes_on_where_it_was(agent, opened, clock):
    """Nothing of the first one is left but its file."""
    first = opened(agent, arms=ARMS)
    serve(first, clock, 30)
    again = opened(agent, arms=None)
    assert_same_agent(first._agent, again._agent)
    assert serve(again, clock, 10, seed=5) == serve(opened_twin(opened, agent, clock), clock, 10, seed=5)


def opened_twin(opened, agent, clock):
    """The same beginning in another file, without an interruption."""
    import pathlib
    import tempfile

    path = pathlib.Path(tempfile.mkdtemp()) / "other.sqlite"
    live = nsb.Live(agent, ARMS, path, seed=1, clock=type(clock)())
    serve(live, live.clock, 30)
    return live


def test_rewards_are_scaled_and_estimates_are_scaled_back(opened, clock):
    live, twin = opened("changepoint-ucb", reward_range=(-10, 500)), twin_of("changepoint-ucb")
    serve(live, clock, 30, twin=twin, low=-10.0, high=500.0)
    assert_same_agent(live._agent, twin)
    believed = [each.believed for each in live.estimates()]
    np.testing.assert_allclose(believed, -10 + 510 * twin.estimates()[0])
    for each in live.estimates():
        assert -10 <= each.mean <= 500


def test_an_agent_for_binary_rewards_sees_coins_where_the_range_is_another(opened):
    live = opened("ts", reward_range=(0, 5))
    assert live._agent.binarize
    assert "coin" in live.notes[0]


def test_the_same_reward_twice_is_one(opened, file):
    live = opened()
    ids = [each.id for each in live.decide(3)]
    assert live.learn([(ids[0], 1.0), (ids[0], 1.0), (str(ids[1]), 0.0)]) == (2, 1, 0)
    before = rows(file), state_of(live._agent)
    assert live.learn([(ids[0], 1), (ids[1], 0)]) == (0, 2, 0)
    assert rows(file) == before[0]
    assert [each.rewards for each in live.estimates()] == [each.decisions - each.waiting for each in live.estimates()]


@pytest.mark.parametrize(
    ("rewards", "error", "message"),
    [
        ([(1, 0.0), (2, 1.0)], ConflictingRewardError, "decision 1 has the reward 1 already, got 0"),
        ([(2, 1.0), (2, 0.0)], ConflictingRewardError, "decision 2 has the reward 1 already"),
        ([(2, 1.0), (77, 1.0), (78, 0.0)], UnknownDecisionError, "no decision 77, 78; nothing of this call"),
        ([(2, 1.0), ("x", 1.0)], UnknownDecisionError, "no decision 'x'"),
        ([(2, 1.0), (-1, 1.0)], UnknownDecisionError, "no decision -1"),
        ([(2, 1.0), (2**70, 1.0)], UnknownDecisionError, "no decision 1180591620717411303424"),
        ([(2, 1.0), (3, 1.5)], LiveError, "reward_range, from 0 to 1, got 1.5"),
        ([(2, 1.0), (3, math.nan)], ValueError, "must be a finite number, got nan"),
        ([(2, 1.0), (3, "1")], TypeError, "must be a finite number, got '1'"),
        ([(2, 1.0), (3, 0.5)], UnsuitableRewardsError, "rewards that are 0 or 1"),
        ([(2, 1.0), 3], TypeError, "pairs of an id and a reward"),
    ],
)
def test_what_cannot_be_learnt_changes_nothing(rewards, error, message, opened, file):
    live = opened()
    live.decide(3)
    live.learn([(1, 1.0)])
    before = rows(file), state_of(live._agent)
    with pytest.raises(error, match=message):
        live.learn(rewards)
    assert rows(file) == before[0]
    for key, value in state_of(live._agent).items():
        np.testing.assert_array_equal(value, before[1][key])
    assert live.learn([(2, 0.0)]) == (1, 0, 0)


@pytest.mark.parametrize("expired_reward", [0.0, 1.0, None])
def test_rewards_that_never_come_expire(expired_reward, opened, clock):
    live, twin = opened(expire="1h", expired_reward=expired_reward), twin_of("ts")
    arms = [ARMS.index(each.arm) for each in live.decide(3)]
    assert [twin.act() for _ in range(3)] == arms
    live.learn([(2, 1.0)])
    twin.observe(arms[1], 1.0)
    clock.now += 3_599
    live.estimates()
    assert_same_agent(live._agent, twin)
    clock.now += 1
    counted = sum(each.rewards for each in live.estimates())
    for arm in (arms[0], arms[2]):
        if expired_reward is None:
            twin.lost(arm)
        else:
            twin.observe(arm, expired_reward)
    assert_same_agent(live._agent, twin)
    assert counted == (1 if expired_reward is None else 3)
    assert live.learn([(1, 0.0), (2, 1.0)]) == (0, 1, 1)  # too late: noted, and nothing else
    assert live.learn([(1, 0.0)]) == (0, 1, 0)
    with pytest.raises(ConflictingRewardError):
        live.learn([(1, 1.0)])
    assert_same_agent(live._agent, twin)
    assert_same_agent(opened(expire="1h", expired_reward=expired_reward)._agent, twin)


# The holdout.


@pytest.mark.parametrize("arm", [None, "green"])
def test_the_holdout_takes_its_share_and_its_rewards_are_not_shown(arm, opened, clock):
    """The index of sw-ucb is deterministic, so that the mixture is known in closed form."""
    live, twin = opened("sw-ucb:window=50", holdout=0.3, holdout_arm=arm), twin_of("sw-ucb:window=50")
    law = np.full(3, 1 / 3) if arm is None else np.array([0.0, 1.0, 0.0])
    held, rng = [], np.random.default_rng(0)
    for _ in range(600):
        [decision] = live.decide()
        probabilities = 0.3 * law
        probabilities[np.flatnonzero(twin.probabilities())[0]] += 0.7
        assert decision.probability == pytest.approx(probabilities[ARMS.index(decision.arm)], abs=1e-15)
        reward = float(rng.random() < 0.4)
        live.learn([(decision.id, reward)])
        if decision.holdout:
            held.append(decision.arm)
        else:
            assert twin.act() == ARMS.index(decision.arm)
            twin.observe(ARMS.index(decision.arm), reward)
    assert_same_agent(live._agent, twin)
    assert abs(len(held) - 180) < 4 * math.sqrt(600 * 0.3 * 0.7)  # four standard errors
    for name, share in zip(ARMS, law, strict=True):
        assert abs(held.count(name) - share * len(held)) <= 4 * math.sqrt(len(held) * share * (1 - share))


def test_a_holdout_whose_arm_another_process_retired_is_uniform(opened):
    live = opened("random", holdout=1.0, holdout_arm="green")
    assert {each.arm for each in live.decide(20)} == {"green"}
    opened("random").retire("green")
    made = live.decide(40)
    assert {each.arm for each in made} == {"blue", "red"}
    assert {each.probability for each in made} == {0.5}


def test_gain_is_the_difference_of_two_means(opened, clock):
    live = opened(holdout=0.5)
    assert np.isnan(live.gain()).all()
    rewards, rng = {True: [], False: []}, np.random.default_rng(1)
    for decision in live.decide(200):
        reward = float(rng.random() < 0.5)
        rewards[decision.holdout].append(reward)
        live.learn([(decision.id, reward)])
    own, other = np.array(rewards[False]), np.array(rewards[True])
    difference, error = live.gain()
    assert difference == pytest.approx(own.mean() - other.mean())
    assert error == pytest.approx(math.sqrt(own.var(ddof=1) / own.size + other.var(ddof=1) / other.size))


# Arms that come and go.


def test_a_new_arm_makes_the_agent_anew_from_all_rewards(opened, clock):
    live = opened("sw-ucb:window=50")
    serve(live, clock, 30)
    order = live._rewards(live._file.db, "1")
    waiting = live._file.read("SELECT arm FROM decisions WHERE reward IS NULL")
    assert len(order) == 60
    live.add("video")
    twin = twin_of("sw-ucb:window=50", n_arms=4)
    for arm, reward in order:
        twin.observe(arm, reward)
    for (arm,) in waiting:
        twin.pulled(arm)
    twin.rng = live._agent.rng
    assert_same_agent(live._agent, twin)
    assert live.arms == (*ARMS, "video")
    assert live.decide()[0].arm == "video"  # never seen, it is forced
    again = opened("sw-ucb:window=50")  # the arms of the beginning will do
    assert again.arms == live.arms
    assert_same_agent(again._agent, live._agent)


def test_a_retired_arm_is_played_no_more_until_it_is_added_again(opened, clock):
    live = opened("random")
    live.retire("green")
    assert "green" not in {each.arm for each in live.decide(60)}
    assert live.estimates()[1].retired
    again = opened("random", arms=["blue", "red"])
    assert again.arms == ("blue", "red")
    again.add("green")
    assert live.decide(1)[0].probability == pytest.approx(1 / 3)  # it hears of it
    assert live.arms == ARMS
    for name, message in (("green", "there is an arm 'green' already"), ("", "is empty")):
        with pytest.raises(ValueError, match=message):
            live.add(name)
    with pytest.raises(LiveError, match="no open arm 'video'; there are blue, green, red"):
        live.retire("video")
    live.retire("blue")
    live.retire("red")
    with pytest.raises(LiveError, match="the last open arm"):
        live.retire("green")


def test_what_is_read_has_arms_that_another_process_added(opened, clock):
    live, other = opened("random"), opened("random")
    for name in ("video", *map(str, range(46))):
        other.add(name)
    for decision in other.decide(500):
        other.learn([(decision.id, 1.0)])
    names = (*ARMS, "video", *map(str, range(46)))
    assert live.shares("1d")[1].shape == (1, 50)
    assert live.log().names == names
    assert [each.arm for each in live.estimates()] == list(names)


# Windows of time.


def test_a_window_of_time_is_so_many_decisions(opened):
    live = opened("sw-ucb", window="7d", per_day=1_000)
    assert live._agent.window == 7_000
    assert live.notes == ("sw-ucb remembers 7,000 decisions, which the window comes to",)


def test_formulas_take_what_a_window_comes_to(opened):
    live = opened("d-ucb", window="2d", per_day=5_000)
    assert live._agent.gamma == agents.make("d-ucb", n_arms=3, horizon=10_000, blind=True).gamma
    assert live.notes == ("the formulas of d-ucb take T = 10,000 decisions",)


@pytest.mark.parametrize("settings", [{}, {"window": "7d"}, {"per_day": 100}])
def test_an_agent_that_must_be_told_a_time_is_refused_without(settings, opened, file):
    with pytest.raises(LiveError, match=r"window='7d', per_day=5000; or take changepoint-ucb, which needs neither"):
        opened("sw-ucb", **settings)
    assert not file.exists()


def test_an_agent_without_use_for_a_window_says_so(opened):
    assert opened("changepoint-ucb", window="7d").notes[0].startswith("changepoint-ucb has no use for a window")


def test_rebuilding_takes_the_measured_rate(opened, clock):
    live = opened("sw-ucb", window="1d", per_day=100)
    serve(live, clock, 100)
    measured = live.per_day
    made = live._file.read("SELECT count(*) FROM decisions")[0][0]
    assert measured == pytest.approx(made / 990 * 86_400)
    again = opened("sw-ucb", window="1d", rebuild=True)
    assert again._agent.window == round(measured)
    assert opened("sw-ucb", window="1d")._agent.window == round(measured)
    live.decide()
    assert_same_agent(live._agent, opened("sw-ucb", window="1d")._agent)  # it follows what another process did


def test_another_agent_can_be_made_of_what_is_remembered(opened, clock):
    live = opened("ts")
    serve(live, clock, 20)
    order = live._rewards(live._file.db, "1")
    with pytest.raises(LiveError, match="was made with agent = ts, not ucb1; give what it was made with, or rebuild"):
        opened("ucb1")
    again, twin = opened("ucb1", rebuild=True), twin_of("ucb1")
    for arm, reward in order:
        twin.observe(arm, reward)
    np.testing.assert_array_equal(again._agent.state.window.pulls, twin.state.window.pulls)
    with pytest.raises(LiveFileError, match="another process made another agent of it"):
        live.decide()


def test_an_agent_is_not_made_anew_of_rewards_that_it_cannot_take(opened):
    live = opened("ucb1", reward_range=(0, 5))
    live.learn([(each.id, reward) for each, reward in zip(live.decide(2), (0, 5), strict=True)])
    with pytest.raises(LiveError, match="reward_range, from 0 to 1, got 5"):
        opened("ucb1", rebuild=True)
    live.retire("green")
    with pytest.raises(LiveError, match="sw-lb-sda has no rule for arms that cannot be played; add the retired arms"):
        opened("sw-lb-sda", window="1d", per_day=500, reward_range=(0, 5), rebuild=True)
    again = opened("ucb1", reward_range=(0, 5))
    assert_same_agent(live._agent, again._agent)


def test_a_process_does_not_go_on_with_rewards_on_another_scale(opened):
    """The agent is the same, so that its state could be loaded."""
    live = opened("ucb1")
    opened("ucb1", reward_range=(0, 5), rebuild=True)
    with pytest.raises(LiveFileError, match=r"reward_range = \[0.0, 5.0\], here \[0.0, 1.0\].*another process made"):
        live.decide()


# What is read.


def test_estimates_and_shares_are_counted_over_windows_of_time(opened, clock):
    live = opened("random", window="1h")
    chosen, rng = [], np.random.default_rng(3)
    for _ in range(300):
        clock.now += 60
        [decision] = live.decide()
        reward = float(rng.random() < 0.5)
        live.learn([(decision.id, reward)])
        chosen.append((clock.now, decision.arm, reward))
    for window, span in ((None, 3_600), ("2h", 7_200), ("30d", math.inf)):
        for each in live.estimates(window):
            rewards = np.array([reward for at, arm, reward in chosen if arm == each.arm and at >= clock.now - span])
            assert (each.decisions, each.waiting) == (rewards.size, 0)
            assert each.mean == pytest.approx(rewards.mean())
            assert each.error == pytest.approx(rewards.std(ddof=1) / math.sqrt(rewards.size))
    spans, shares = live.shares("1h")
    for begin, row in zip(spans, shares, strict=True):
        arms = [arm for at, arm, _ in chosen if begin <= at < begin + 3_600]
        np.testing.assert_allclose(row, [arms.count(name) / len(arms) for name in ARMS])
    log = live.log()
    np.testing.assert_array_equal(log.times, [at for at, _, _ in chosen])
    assert [log.names[arm] for arm in log.arms] == [arm for _, arm, _ in chosen]
    np.testing.assert_allclose(log.propensities, 1 / 3)


def test_alarms_are_kept_with_their_times_and_arms(opened, clock):
    live = opened("cusum-ucb", window="1d", per_day=500)
    for t in range(400):
        clock.now += 10
        for decision in live.decide():
            live.learn([(decision.id, float((decision.arm == "blue") == (t < 200)))])
    found = live.alarms()
    assert found
    assert {name for _, name in found} <= set(ARMS)
    assert 1_000_000 + 2_000 < found[0][0] <= clock.now
    assert opened("cusum-ucb", window="1d", per_day=500).alarms() == found


# Crashes, several processes, damage.


def test_nothing_is_lost_when_the_process_is_killed(script):
    outcome = script("benchmarks.live").killed(600, 3)
    assert outcome.within, outcome.figures
    assert outcome.figures["kills"] == 3


WORKER = """
import sys, ns_mab_gym as nsb
with nsb.Live("ts", ["blue", "green", "red"], sys.argv[1], seed=1) as live:
    for _ in range(60):
        for decision in live.decide(2):
            print(decision.id, decision.arm)
            live.learn([(decision.id, float(decision.id % 3 == 0))])
"""


def test_processes_and_threads_share_a_file(file, opened):
    live, told = opened(clock=lambda: 0.0), []

    def ask():
        for _ in range(40):
            for decision in live.decide():
                told.append(f"{decision.id} {decision.arm}")
                live.learn([(decision.id, 1.0)])

    command = [sys.executable, "-c", WORKER, str(file)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers:
        said, _ = worker.communicate(timeout=60)
        assert worker.returncode == 0
        told += said.splitlines()
    kept = [f"{id_} {ARMS[arm]}" for id_, arm in live._file.read("SELECT id, arm FROM decisions")]
    assert sorted(told) == sorted(kept)
    assert len(kept) == 3 * 40 + 2 * 120
    assert sum(each.rewards for each in live.estimates()) == len(kept)
    assert_same_agent(live._agent, opened()._agent)  # which repeats all that the journal has


def test_a_full_disk_loses_nothing(opened, clock):
    live, twin = opened(), twin_of("ts")
    serve(live, clock, 20, twin=twin)
    pages = live._file.db.execute("PRAGMA page_count").fetchone()[0]
    live._file.db.execute(f"PRAGMA max_page_count = {pages}")
    before = rows(live._file.path)
    with pytest.raises(LiveFileError, match="database or disk is full; what was answered before is intact"):
        live.decide(1_000)
    assert rows(live._file.path) == before
    live._file.db.execute(f"PRAGMA max_page_count = {pages + 1_000}")
    serve(live, clock, 20, seed=1, twin=twin)
    assert_same_agent(live._agent, twin)


def test_no_thread_takes_the_agent_of_a_decision_that_failed(opened, clock, monkeypatch):
    """The other thread comes at the first moment at which it can."""
    live, twin, told = opened(), twin_of("ts"), []
    serve(live, clock, 20, twin=twin)
    pages = live._file.db.execute("PRAGMA page_count").fetchone()[0]
    own = live._file.turn

    class Turn:
        depth = 0

        def __enter__(self):
            own.acquire()
            self.depth += 1

        def __exit__(self, *_):
            self.depth -= 1
            own.release()
            if not self.depth and not told:
                told.append("")
                live._file.db.execute(f"PRAGMA max_page_count = {pages + 1_000}")
                told[:] = [ARMS.index(each.arm) for each in live.decide(9)]

    live._file.db.execute(f"PRAGMA max_page_count = {pages}")
    monkeypatch.setattr(live._file, "turn", Turn())
    with pytest.raises(LiveFileError, match="disk is full"):
        live.decide(1_000)
    assert told == [twin.act() for _ in range(9)]
    assert_same_agent(live._agent, twin)
    assert_same_agent(opened()._agent, twin)


def test_a_file_of_something_else_is_refused_and_left_as_it_is(opened, file):
    file.write_bytes(b"a thesis, years of work\n" * 100)
    before = file.read_bytes()
    with pytest.raises(LiveFileError, match="damaged, or no file of ns-mab-gym"):
        opened()
    assert file.read_bytes() == before
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE thesis (chapter TEXT)")
    before = file.read_bytes()
    with pytest.raises(LiveFileError, match="a database of something else; name a new file"):
        opened()
    assert file.read_bytes() == before


def edited(file, statement, *values):
    with closing(sqlite3.connect(file)) as db, db:
        db.execute(statement, values)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE state SET arrays = x'00'", "cannot be loaded"),
        ("UPDATE state SET arrays = substr(arrays, 1, length(arrays) - 9)", "cannot be loaded"),
        ("UPDATE state SET about = '{}'", "cannot be loaded"),
        ("UPDATE decisions SET arm = (arm + 1) % 3", "was written by other code, by which the agent chose otherwise"),
    ],
)
def test_damage_is_told_and_the_agent_can_be_made_anew(statement, message, opened, clock, file):
    live = opened()
    serve(live, clock, 20)
    live._file.close()
    edited(file, statement)
    with pytest.raises(LiveFileError, match=rf"{message}.*rebuild=True makes it anew"):
        opened()
    again = opened(rebuild=True)
    assert sum(each.rewards for each in again.estimates()) == 40
    assert again._agent.state.window.pulls.sum() == 40


def test_a_truncated_file_is_told(opened, clock, file):
    live = opened()
    serve(live, clock, 300)
    live.close()
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(LiveFileError, match="it is damaged"):
        opened()
    file.write_bytes(content)
    edited(file, "PRAGMA user_version = 9")
    with pytest.raises(LiveFileError, match="another version of ns-mab-gym"):
        opened()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arms": ["blue", "green"]}, "has the arms blue, green, red, not blue, green; use add"),
        ({"arms": ["green", "blue", "red"]}, "has the arms"),
        ({"agent": "ts:binarize=true"}, "made with agent = ts, not ts:binarize=true"),
        ({"seed": 2}, "made with seed = 1, not 2"),
        ({"reward_range": (0, 2)}, "made with reward_range"),
        ({"window": "1d"}, "made with window = None, not 86400.0"),
    ],
)
def test_a_file_of_another_agent_is_refused(settings, message, opened):
    opened().close()
    with pytest.raises(LiveError, match=message):
        opened(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"agent": "tss"}, "unknown agent 'tss'"),
        ({"agent": "exp3s"}, "exp3s has no rule for rewards that arrive late; use changepoint-ucb"),
        ({"agent": "oracle"}, "cannot be blind"),
        ({"agent": "kl-ucb", "reward_range": None}, r"kl-ucb takes rewards in \[0, 1\]"),
        ({"arms": None}, "a new file needs the names of the arms"),
        ({"arms": "blue"}, "must be a list of two or more different names, got 'blue'"),
        ({"arms": 5}, "must be a list of two or more different names, got 5"),
        ({"reward_range": 5}, "the lowest and the highest reward, got 5"),
        ({"arms": ["blue"]}, "two or more different names"),
        ({"arms": ["blue", "blue"]}, "two or more different names"),
        ({"arms": ["blue", "a\x07"]}, "cannot be shown"),
        ({"reward_range": (1, 1)}, "the lowest and the highest reward"),
        ({"expire": "soon"}, "expire must be a duration such as '90s'"),
        ({"expire": "1d", "expired_reward": 3}, "from 0 to 1, got 3"),
        ({"expire": "1d", "expired_reward": 0.5}, "ts takes rewards that are 0 or 1"),
        ({"holdout": 1.5}, "must lie in"),
        ({"holdout": 0.1, "holdout_arm": "pink"}, "holdout_arm must be one of blue, green, red"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_wrong_settings_are_told(settings, message, opened, file):
    with pytest.raises((ValueError, TypeError), match=message):
        opened(**settings)


def test_a_forked_process_must_open_the_file_itself(opened):
    live = opened()
    live._file._pid -= 1
    with pytest.raises(RuntimeError, match="open it in each process"):
        live.decide()


def test_compiled_rules_learn_the_same(opened, clock):
    live, twin = opened("sw-ucb:window=50"), twin_of("sw-ucb:window=50")
    live.compile()
    serve(live, clock, 40, twin=twin)
    assert_same_agent(live._agent, twin)


@pytest.mark.parametrize("given", ["", "7", "d", "-1d", "0s", "nand", True, None, math.nan, math.inf, 0, "1y"])
def test_a_duration_that_is_none(given):
    with pytest.raises((ValueError, TypeError), match="window must be"):
        seconds_of("window", given)


@pytest.mark.parametrize("name", agents.names())
def test_every_agent_goes_on_where_it_was_or_is_refused_by_name(name, opened, clock):
    """With late rewards, an arm that goes and one that comes."""
    told = {"window": "1d", "per_day": 500, "reward_range": (0, 20), "expire": "10m"}
    if name.startswith("oracle") or not agents.kind(name).handles_delay:
        with pytest.raises(ValueError, match=rf"^{name} (has no rule for|plays by the means)"):
            opened(name, **told)
        return
    options = {"floor": ":share=0.1"}.get(name, "")
    live = opened(f"{name}{options}", **told)
    serve(live, clock, 6, high=20.0)
    if live._agent.handles_mask:
        live.retire("green")
        live.decide(2)
    live.add("video")
    clock.now += 700
    serve(live, clock, 2, high=20.0)
    assert_same_agent(live._agent, opened(f"{name}{options}", arms=None, **told)._agent)
