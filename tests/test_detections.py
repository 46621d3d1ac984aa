"""The scorecard of detections: every word of its definition by hand, and against a slow reading of it."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

import ns_mab_gym as nsb
from ns_mab_gym.agents.parts.alarms import ALARM, CAPACITY
from ns_mab_gym.detections import Changes, Scorecard, changes_of, score, scorecard
from ns_mab_gym.runs import Runs, joined
from ns_mab_gym.statistics import Interval

NAN = math.nan
Log = Sequence[tuple[int, int, bool]]

# 200 rounds, 3 arms: arm 0 changes in round 51, arm 1 in round 101, arms 0 and 2 in round 151.
MEANS = np.full((200, 3), 0.5)
MEANS[50:, 0] = 0.9
MEANS[100:, 1] = 0.1
MEANS[150:, [0, 2]] = 0.3


def runs_of(*logs: Log | None, horizon: int = 200, arms: int = 3) -> Runs:
    """Runs that logged these alarms."""
    blank = np.zeros((len(logs), arms), np.int64)
    alarms = [np.array(log, ALARM) for log in logs if log is not None]
    return Runs(
        np.array([horizon]), np.zeros((len(logs), 1)), blank, blank, [(0, 0)] * len(logs), [{}] * len(logs), 0.0,
        alarms=alarms or None,
    )  # fmt: skip


def local(*alarms: tuple[int, int]) -> list[tuple[int, int, bool]]:
    return [(round_, arm, False) for round_, arm in alarms]


def everything(*alarms: tuple[int, int]) -> list[tuple[int, int, bool]]:
    return [(round_, arm, True) for round_, arm in alarms]


# name: the log, whether each alarm is true, the delays of the breakpoints in 51, 101 and 151
BY_HAND: dict[str, tuple[Log, list[bool], list[float]]] = {
    "no alarm": ([], [], [NAN, NAN, NAN]),
    "an earlier false alarm leaves enough to compare": (local((49, 0), (60, 0)), [False, True], [10, NAN, NAN]),
    "right before the breakpoint": (local((50, 0)), [True], [0, NAN, NAN]),
    "nothing old is left": (local((50, 0), (60, 0)), [True, False], [0, NAN, NAN]),
    "two rounds before": (local((49, 0)), [False], [NAN, NAN, NAN]),
    "in the round of the breakpoint": (local((51, 0)), [True], [1, NAN, NAN]),
    "in the last round before the next": (local((100, 0)), [True], [50, NAN, NAN]),
    "too late": (local((101, 0)), [True], [NAN, NAN, NAN]),
    "long ago, and again now": (local((160, 0)), [True], [NAN, NAN, 10]),
    "in the last round": (local((200, 2)), [True], [NAN, NAN, 50]),
    "about an arm that did not change": (local((60, 2), (60, 1)), [False, False], [NAN, NAN, NAN]),
    "another arm's alarm forgets nothing of this one": (local((55, 2), (60, 0)), [False, True], [10, NAN, NAN]),
    "twice for one change": (local((60, 0), (70, 0)), [True, False], [10, NAN, NAN]),
    "two arms, the second in the same round": (local((160, 0), (160, 2)), [True, True], [NAN, NAN, 10]),
    "all changes": (local((60, 0), (103, 1), (151, 2)), [True, True, True], [10, 3, 1]),
    "everything forgotten with the first": (everything((160, 0), (170, 2)), [True, False], [NAN, NAN, 10]),
    "everything forgotten in the same round": (everything((160, 0), (160, 2)), [True, True], [NAN, NAN, 10]),
    "everything forgotten by a false alarm": (everything((52, 2), (60, 0)), [False, False], [NAN, NAN, NAN]),
    "about none in particular": (local((60, -1), (70, -1)), [True, False], [10, NAN, NAN]),
    "about none, then about one": (local((110, -1), (120, 1), (160, 2)), [True, False, True], [NAN, 10, 10]),
    "about none after a local one": (local((60, 0), (70, -1)), [True, True], [10, NAN, NAN]),
    "about none after a global one": ([(60, 0, True), (70, -1, True)], [True, False], [10, NAN, NAN]),
    "by one who knows": (everything((50, -1), (100, -1), (150, -1)), [True, True, True], [0, 0, 0]),
    "late for one and early for the next": (everything((150, -1)), [True], [NAN, 50, 0]),
    "forgotten since, and right before the next": (local((60, 0), (150, 0)), [True, True], [10, NAN, 0]),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_alarms_by_hand(name):
    log, true, delays = BY_HAND[name]
    [run] = scorecard(runs_of(log), MEANS).runs
    assert run.true.tolist() == true
    np.testing.assert_array_equal(run.delays, delays)
    assert run.rounds.tolist() == [51, 101, 151]


def slow(log: Log, means: np.ndarray) -> tuple[list[bool], list[float]]:
    """The definition, read word by word: for each alarm, which changes it covers, by looking at every round."""
    horizon, arms = means.shape
    covers: list[set[int]] = []
    for at, (round_, arm, _) in enumerate(log):
        before = [each for each in log[:at] if each[0] < round_]
        forgot = [r for r, other, all_ in before if all_ or other == -1 or (other == arm and arm != -1)]
        thrown = range(max(forgot, default=0) + 1, round_ + 1)
        looked_at = range(arms) if arm == -1 else [arm]
        rounds = (t for t in range(2, horizon + 1) if t - 1 in thrown)
        covers.append({t for t in rounds if any(means[t - 1, a] != means[t - 2, a] for a in looked_at)})
    changes = [t for t in range(2, horizon + 1) if (means[t - 1] != means[t - 2]).any()]
    delays = []
    for place, change in enumerate(changes):
        until = [*changes, horizon + 1][place + 1]
        found = [r for (r, _, _), covered in zip(log, covers, strict=True) if change in covered and r < until]
        delays.append(found[0] - change + 1 if found else NAN)
    return [bool(covered) for covered in covers], delays


def test_random_logs_are_judged_as_by_the_slow_reading():
    rng = np.random.default_rng(5)
    judged = {True: 0, False: 0}
    for _ in range(400):
        horizon, arms = int(rng.integers(5, 40)), int(rng.integers(2, 5))
        means = rng.random((horizon, arms))
        for t in range(1, horizon):  # each mean stays as it is in most rounds
            stays = rng.random(arms) > 0.06
            means[t, stays] = means[t - 1, stays]
        count = int(rng.integers(0, 12))
        rounds = np.sort(rng.integers(1, horizon + 1, count)).tolist()
        log = [(r, int(rng.integers(-1, arms)), bool(rng.random() < 0.2)) for r in rounds]
        changes = changes_of(means)
        if not changes.scorable:
            continue
        [run] = score(runs_of(log, horizon=horizon, arms=arms), [changes]).runs
        true, delays = slow(log, means)
        assert run.true.tolist() == true
        np.testing.assert_array_equal(run.delays, delays)
        for each in true:
            judged[each] += 1
    assert min(judged.values()) > 300  # both kinds were there


# Delays of breakpoint 51: 10, 20, missed; of 101: all missed; of 151: missed, missed, 4. False alarms: 2, 0, 0.
FEW_RUNS = (local((10, 1), (60, 0), (70, 0)), local((70, 0)), local((154, 2)))


@pytest.fixture
def card() -> Scorecard:
    return nsb.scorecard(runs_of(*FEW_RUNS), MEANS)


def test_the_figures_of_a_scorecard(card):
    assert card.delay.value == pytest.approx((10 + 20 + 4) / 3)
    assert card.missed.value == pytest.approx(6 / 9)
    assert card.false_alarms.value == pytest.approx(2 / 3)
    assert card.false_alarm_rate.value == pytest.approx(2 / 3 / 200 * 10_000)
    assert card.runs_with_false_alarm.value == pytest.approx(1 / 3)
    assert card.true_alarms == Interval(1.0, pytest.approx(NAN, nan_ok=True), pytest.approx(NAN, nan_ok=True))


def test_each_breakpoint(card):
    first, second, third = card.breakpoints
    assert [each.round for each in card.breakpoints] == [51, 101, 151]
    assert [each.arms for each in card.breakpoints] == [(0,), (1,), (0, 2)]
    assert [each.detected for each in card.breakpoints] == [2, 0, 1]
    assert first.delay == Interval(15.0, 10.0, 20.0)
    assert math.isnan(second.delay.value)
    assert third.delay.value == 4.0
    assert math.isnan(third.delay.low)
    for each in card.breakpoints:
        exact = stats.binomtest(3 - each.detected, 3).proportion_ci(0.95, "exact")
        assert each.missed == pytest.approx((1 - each.detected / 3, exact.low, exact.high))


def test_the_table_says_it_all(card):
    lines = pickle.loads(pickle.dumps(card)).table().splitlines()  # as from another process
    assert lines[0] == "| change in round | arms | detected | delay | missed |"
    assert lines[2].startswith("| 51 | 1 | 2 of 3 | 15 (10 to 20) | 33.3 % (")
    assert lines[3].startswith("| 101 | 2 | 0 of 3 | – | 100.0 % (")
    assert lines[4].startswith("| 151 | 1, 3 | 1 of 3 | 4 | 66.7 % (")
    assert lines[5].startswith("| all |  | 3 of 9 | 11.3 (")
    assert lines[7].startswith("False alarms: 0.667 (0 to 2) in a run, 33.3 (0 to 100) in 10,000 rounds; 33.3 % (")
    assert len(lines) == 9


def test_a_world_that_stands_still_has_false_alarms_only():
    card = scorecard(runs_of(local((5, 0), (9, 1)), []), np.full((200, 3), 0.5))
    assert card.false_alarms.value == 1.0
    assert card.breakpoints == ()
    assert all(map(math.isnan, (*card.delay, *card.missed)))
    assert "| all |  | 0 of 0 | – | – |" in card.table()


def test_no_alarm_at_all_bounds_the_share_of_runs_and_claims_nothing_else():
    card = scorecard(runs_of(*[[]] * 50), MEANS)
    assert card.false_alarms.value == 0.0
    assert math.isnan(card.false_alarms.high)
    assert card.runs_with_false_alarm == pytest.approx((0, 0, 1 - 0.025 ** (1 / 50)))
    assert card.missed == pytest.approx((1, 0.025 ** (1 / 50), 1))  # as if the breakpoints of a run always ended alike


def test_worlds_that_differ_from_run_to_run():
    later = np.roll(MEANS, 10, axis=0)  # changes in 11 too, from the last phase to the first
    one, other = local((60, 0)), local((70, 0))
    given = scorecard(runs_of(one, other), [MEANS, later])
    drawn = scorecard(runs_of(one, other), lambda run: (MEANS, later)[run])
    for card in (given, drawn):
        assert [run.rounds.tolist() for run in card.runs] == [[51, 101, 151], [11, 61, 111, 161]]
        np.testing.assert_array_equal(card.runs[0].delays, [10, NAN, NAN])
        np.testing.assert_array_equal(card.runs[1].delays, [NAN, 10, NAN, NAN])
        assert card.breakpoints == ()
        assert card.missed.value == pytest.approx(5 / 7)
        assert "| all |  | 2 of 7 | 10 | " in card.table()
    for second, breakpoints in ((MEANS, 3), (MEANS[:, ::-1], 0), (np.roll(MEANS, 1, axis=0)[[1, *range(1, 200)]], 0)):
        assert len(scorecard(runs_of(one, other), [MEANS, second]).breakpoints) == breakpoints  # arms, rounds differ


@pytest.mark.parametrize(
    ("runs", "means", "message"),
    [
        (runs_of(None), MEANS, "logs no alarms"),
        (runs_of([]), MEANS[:100], "the means have 100 rounds and 3 arms, the runs 200 and 3"),
        (runs_of([]), MEANS[:, :2], "the means have 200 rounds and 2 arms"),
        (runs_of([], []), [MEANS] * 3, "there are 2 runs and 3 matrices of means"),
        (runs_of([], []), [MEANS, MEANS, 0.5], "there are 2 runs and 3 matrices of means"),
        (runs_of([]), np.linspace(0, 1, 600).reshape(200, 3), "the means change in 199 of 200 rounds"),
        (runs_of(local((201, 0))), MEANS, "a round or an arm that is not there; there are 200 and 3"),
        (runs_of(local((0, 0))), MEANS, "a round or an arm that is not there"),
        (runs_of(local((9, 3))), MEANS, "a round or an arm that is not there"),
        (runs_of(local((9, -2))), MEANS, "a round or an arm that is not there"),
        (runs_of(local((9, 0), (8, 0))), MEANS, "not in the order of their rounds"),
    ],
)
def test_what_cannot_be_scored(runs, means, message):
    with pytest.raises(ValueError, match=message):
        scorecard(runs, means)


@pytest.mark.parametrize(("horizon", "most"), [(100, 10), (500, 10), (5_000, 100), (5_049, 100), (5_050, 101)])
def test_one_breakpoint_in_fifty_rounds_or_ten_can_be_scored(horizon, most):
    for count, wanted in ((most, True), (most + 1, False)):
        assert Changes(horizon, np.arange(2, 2 + count), np.ones((count, 2), bool)).scorable is wanted


def test_what_is_no_result_of_simulate_is_refused():
    with pytest.raises(TypeError, match=r"runs are what ns_mab_gym\.simulate returns, got .*Scorecard"):
        scorecard(scorecard(runs_of([]), MEANS), MEANS)


def test_every_run_has_its_own_changes_or_all_have_the_same():
    with pytest.raises(ValueError, match="shorter"):
        score(runs_of([], [], []), [changes_of(MEANS)] * 2)
    with pytest.raises(ValueError, match="means"):
        scorecard(runs_of([]), [])
    assert len(scorecard(runs_of([]), [MEANS]).breakpoints) == 3


def test_scores_stay_as_they_are_and_are_equal_to_themselves_alone(card):
    for record, other in ((card, replace(card)), (card.runs[0], replace(card.runs[0]))):
        assert len({record, record, other}) == 2
        with pytest.raises(FrozenInstanceError):
            record.alarms = None


@pytest.mark.parametrize(
    ("horizon", "count", "scorable"), [(100, 10, True), (100, 11, False), (1000, 20, True), (1000, 21, False)]
)
def test_how_many_breakpoints_are_too_many(horizon, count, scorable):
    changes = Changes(horizon, np.arange(2, 2 + count), np.ones((count, 2), np.bool_))
    assert changes.scorable is scorable


def test_a_full_log_is_told():
    log = local(*[(at // 200 + 1, 1) for at in range(CAPACITY)])
    card = scorecard(runs_of(log, []), MEANS)
    assert card.full_logs == 1
    assert "The log of 1 runs was full after 10,000 alarms" in card.table()
    assert scorecard(runs_of(log[1:], []), MEANS).full_logs == 0


# From the loops to the card.


@pytest.mark.parametrize("restart", ["local", "global"])
def test_alarms_say_whether_everything_was_forgotten(restart):
    world = nsb.worlds.Abrupt(horizon=1_500)
    runs = nsb.simulate(world, "glr-klucb", runs=4, seed=3, agent_kwargs={"restart": restart})
    assert runs.alarms is not None
    assert all((log["everything"] == (restart == "global")).all() for log in runs.alarms)
    assert nsb.scorecard(runs, world.means()).breakpoints[1].detected == 4  # the best arm falls to 0.1


def test_parts_of_runs_keep_their_logs():
    runs = runs_of(local((1, 0)), [], local((2, 0)))
    assert [len(log) for log in runs.first(2).alarms or []] == [1, 0]
    assert [len(log) for log in joined([runs, runs.first(1)]).alarms or []] == [1, 0, 1, 1]
    assert joined([runs, runs_of(None)]).alarms is None
    assert nsb.simulate("NSBandit-Abrupt-v0", "ts", runs=2, env_kwargs={"horizon": 50}).alarms is None  # no detector


def test_one_who_knows_the_world_detects_everything_at_once():
    env = gym.make("NSBandit-Abrupt-v0", horizon=500)
    means = env.unwrapped.means
    agent = nsb.agents.make("oracle-restart", knowledge=nsb.theory.knowledge(means))
    played = nsb.run_episode(env, agent, 0)
    assert played.alarms is not None
    card = nsb.scorecard(runs_of(played.alarms.tolist(), horizon=500, arms=10), means)
    assert len(card.breakpoints) == 3
    assert (card.delay.value, card.missed.value, card.false_alarms.value) == (0.0, 0.0, 0.0)
