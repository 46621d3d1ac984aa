"""Tuning: named by held-out runs, the same on every machine if runs are counted, and honest in words."""

import logging
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from foreign_bandit import Lottery

import ns_mab_gym as nsb
from ns_mab_gym.cli import entry
from ns_mab_gym.runs import seed_pair
from ns_mab_gym.tuning import race
from ns_mab_gym.tuning.race import Budget, Candidate, WorldEvaluator, held_out_seed
from ns_mab_gym.tuning.search import START

TWO_PHASES = np.repeat([[0.9, 0.5], [0.5, 0.9]], 300, axis=0)


@pytest.fixture(scope="module")
def tuned():
    return nsb.tune(TWO_PHASES, "beta-swts", runs=400)


def test_it_can_be_passed_as_parameters(tuned):
    assert dict(tuned) == tuned.parameters == {"window": tuned["window"]}
    assert len(tuned) == 1
    assert tuned == {"window": tuned["window"]}
    again = nsb.simulate(TWO_PHASES, "beta-swts", runs=2, agent_kwargs=tuned)
    assert again.parameters[0]["window"] == tuned["window"]
    assert nsb.agents.make("beta-swts", n_arms=2, **tuned).window == tuned["window"]


def test_its_regret_is_that_of_held_out_runs(tuned):
    seed = held_out_seed(0)
    fresh = nsb.simulate(TWO_PHASES, "beta-swts", runs=tuned.regret.runs, seed=seed, agent_kwargs=tuned).final
    assert tuned.regret.mean == pytest.approx(fresh.mean())
    formula = nsb.simulate(TWO_PHASES, "beta-swts", runs=tuned.regret.runs, seed=seed).final
    assert tuned.formula.parameters == {"window": 247}  # 4 √(600 ln 600)
    assert tuned.formula.regret.mean == pytest.approx(formula.mean())
    assert tuned.formula.difference.mean == pytest.approx((formula - fresh).mean())
    assert all(tuned.regret.mean <= each.regret.mean for each in tuned.judged)
    assert tuned.formula in tuned.judged
    assert tuned.within == max(0, *(-each.difference.low for each in tuned.judged)) / tuned.regret.mean


def test_held_out_runs_share_no_seed_with_the_race():
    for seed in (0, 1, 12_345):
        training = {part for run in range(2_000) for part in seed_pair(seed, run)}
        held_out = {part for run in range(200) for part in seed_pair(held_out_seed(seed), run)}
        assert not training & held_out
    evaluator = WorldEvaluator(nsb.worlds.Piecewise(horizon=50), seed=3)
    assert not (evaluator.means(0) == evaluator.held_out().means(0)).all()


def test_the_same_runs_give_the_same_result_with_any_number_of_threads(tuned):
    again = nsb.tune(TWO_PHASES, "beta-swts", runs=400, n_jobs=1)
    assert again.parameters == tuned.parameters
    assert again.regret == tuned.regret
    assert again.judged == tuned.judged
    assert tuned.spent.runs == again.spent.runs <= 400


def test_it_finds_a_window_that_beats_remembering_everything(tuned):
    """A window of all 600 rounds remembers the first phase for ever; the tuned one is ahead by 6 standard errors."""
    whole = nsb.simulate(TWO_PHASES, "beta-swts", runs=100, seed=9, agent_kwargs={"window": 600}).final
    mine = nsb.simulate(TWO_PHASES, "beta-swts", runs=100, seed=9, agent_kwargs=tuned).final
    behind = whole - mine
    assert behind.mean() > 6 * behind.std() / 10


def test_its_words_say_what_was_found(tuned):
    said = str(tuned)
    assert said.startswith(f"beta-swts: window={tuned['window']}")
    assert f"{tuned.regret.runs} held-out runs" in said
    assert "its source's formula, window=247" in said
    assert f"{tuned.spent.candidates} candidates" in said
    assert repr(tuned) == f"Tuned(beta-swts: window={tuned['window']})"


def test_random_play_is_computed_from_the_means(tuned):
    assert tuned.random_play == pytest.approx(600 * 0.2)
    assert tuned.warnings == []


def test_it_warns_where_nothing_learns():
    """Windows of one or two rounds cannot tell 0.01 from 0.02."""
    means = np.tile([0.01, 0.02, 0.015], (400, 1))
    with pytest.warns(UserWarning, match=r"of the regret of random play") as caught:
        tuned = nsb.tune(means, "beta-swts", runs=150, space={"window": [1, 2]})
    assert str(caught[0].message) == tuned.warnings[0]
    assert f"warning: {tuned.warnings[0]}" in str(tuned)
    assert tuned.regret.mean > 0.95 * tuned.random_play


def test_of_a_random_world_every_run_is_another_instance_and_the_formula_follows_it():
    tuned = nsb.tune(nsb.worlds.Piecewise(horizon=200, n_arms=2), "sw-ucb", runs=120, space={"window": [5, 50, 200]})
    assert tuned.formula.parameters == {"window": 130}  # depends on T alone


def test_random_play_of_a_random_world_is_the_mean_over_twenty_instances():
    evaluator = WorldEvaluator(nsb.worlds.Piecewise(horizon=50, n_arms=3))
    instances = [evaluator.means(run) for run in range(20)]
    assert evaluator.random_play() == pytest.approx(np.mean([50 * (m.max(1) - m.mean(1)).mean() for m in instances]))


def test_parameters_that_are_given_are_not_searched():
    tuned = nsb.tune(TWO_PHASES, "sw-ucb", runs=200, agent_kwargs={"xi": 0.3})
    assert tuned["xi"] == 0.3
    with pytest.raises(ValueError, match="all parameters to search are fixed"):
        nsb.tune(TWO_PHASES, "beta-swts", agent_kwargs={"window": 3})


def test_a_formula_may_be_at_the_end_of_its_scale():
    """Where nothing changes, d-ucb's formula is γ = 1: no distance from other discounts, and no grid has it."""
    tuned = nsb.tune("stationary:horizon=200", "d-ucb:xi=0.1", runs=100)
    assert tuned.formula.parameters == {"gamma": 1.0, "xi": 0.1}
    assert 0 < tuned["gamma"] <= 1


class Greedy:
    """Plays at random with probability epsilon, else the arm with the best mean so far."""

    def __init__(self, n_arms, epsilon=0.1):
        self.n_arms, self.epsilon = n_arms, epsilon

    def reset(self, seed=None):
        self.rng, self.sums, self.pulls = np.random.default_rng(seed), np.zeros(self.n_arms), np.ones(self.n_arms)

    def act(self, observation=None):
        if self.rng.random() < self.epsilon:
            return int(self.rng.integers(self.n_arms))
        return int((self.sums / self.pulls).argmax())

    def observe(self, arm, reward):
        self.sums[arm] += reward
        self.pulls[arm] += 1


def test_an_agent_of_ones_own_is_tuned_without_a_formula():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuned = nsb.tune(TWO_PHASES[:200], Greedy, runs=60, space={"epsilon": [0.05, 1.0]}, n_jobs=1)
    assert dict(tuned) == {"epsilon": 0.05}
    assert tuned.formula is None
    assert "Greedy: epsilon=0.05" in str(tuned)


def test_objects_unknown_names_and_bad_budgets_are_refused():
    with pytest.raises(TypeError, match="must be a name or a class"):
        nsb.tune(TWO_PHASES, nsb.agents.TS(2))
    with pytest.raises(ValueError, match="unknown agent 'beta-swt'"):
        nsb.tune(TWO_PHASES, "beta-swt")
    with pytest.raises(ValueError, match="seconds must be a finite number above 0, got -3; compilation does not count"):
        nsb.tune(TWO_PHASES, "beta-swts", seconds=-3)
    with pytest.raises(ValueError, match="runs must be an integer of at least 20, got 3"):
        nsb.tune(TWO_PHASES, "beta-swts", runs=3)


def test_where_all_arms_are_alike_there_is_nothing_to_warn_of():
    tuned = nsb.tune(np.full((50, 2), 0.4), "beta-swts", runs=60)
    assert tuned.regret.mean == tuned.random_play == 0
    assert tuned.warnings == []


def test_pieces_of_a_block_are_all_of_its_runs():
    evaluator = WorldEvaluator(TWO_PHASES, n_jobs=2)
    (played,) = evaluator.play([Candidate.of("beta-swts", {"window": 50})], 8, 13)
    whole = nsb.simulate(TWO_PHASES, "beta-swts", runs=21, agent_kwargs={"window": 50}).final
    assert (played == whole[8:]).all()
    assert len(evaluator._took["beta-swts"]) == 6  # blocks: three for each thread


def test_a_space_of_the_users_is_not_left_and_a_better_formula_is_named():
    """Of windows of 2 and 3 rounds both are hopeless; the formula's, 247, is better beyond doubt."""
    tuned = nsb.tune(TWO_PHASES, "beta-swts", runs=150, space={"window": [2, 3]})
    assert tuned["window"] in (2, 3)
    assert tuned.formula.difference.high < 0
    assert "it is better, but not in the space" in str(tuned)


def test_one_slow_timing_makes_no_agent_slow(monkeypatch):
    """Short runs of 0.1 s, one of which took 50 s, and blocks of whole runs, one of which took 100 s each."""
    seconds = iter([9.0, 0.1, 50.0, 0.1])  # the first compiles
    monkeypatch.setattr(race, "simulate", lambda *_, **__: SimpleNamespace(seconds=next(seconds)))
    evaluator = WorldEvaluator(TWO_PHASES, n_jobs=2)
    candidate = Candidate.of("ts", {})
    evaluator.warm_up([candidate], Budget(5.0))
    assert evaluator.seconds(candidate) == pytest.approx(0.05, abs=0.02)  # two threads, and what else a run takes
    evaluator._took["ts"] = [0.4, 0.4, 100.0, 0.4]
    assert evaluator.seconds(candidate) == 0.2


def test_a_world_of_others_is_timed_once(monkeypatch):
    """Its runs cannot be shortened, and nothing of it is to be compiled."""
    played = []
    monkeypatch.setattr(race, "simulate", lambda *_, **__: played.append(1) or SimpleNamespace(seconds=0.1))
    evaluator = WorldEvaluator(Lottery(), n_jobs=1)
    evaluator.warm_up([Candidate.of("ts", {})], Budget(5.0))
    assert len(played) == 1


def test_prices_of_short_runs_are_corrected_by_what_whole_runs_took():
    """The runs of one agent took three times what was expected: so will those of others, which have not played."""
    evaluator = WorldEvaluator(TWO_PHASES, n_jobs=1)
    evaluator._expected = {"ts": 1.0, "ucb1": 2.0}
    evaluator._slower += [3.0] * 4
    assert evaluator.seconds(Candidate("ucb1")) == 6
    evaluator._took["ucb1"] = [500.0, 5.0]
    assert evaluator.seconds(Candidate("ucb1")) == 6  # of two blocks either may have been unlucky
    evaluator._took["ucb1"] += [5.0]
    assert evaluator.seconds(Candidate("ucb1")) == 5
    other = WorldEvaluator(TWO_PHASES, n_jobs=1)
    other._expected = {"ts": 1e-6, "ucb1": 2e-6}
    other.play([Candidate("ts")], 0, 3)
    assert other.seconds(Candidate("ucb1")) == pytest.approx(2 * other.seconds(Candidate("ts")))


def test_a_block_prices_one_of_its_runs(monkeypatch):
    """A block of four runs took 8 s, 2 s a run, where short runs had promised half a second."""
    now = [0.0]

    def simulate(*_, **__):
        now[0] += 8
        return SimpleNamespace(regret=np.arange(4.0)[:, None])

    monkeypatch.setattr(race, "simulate", simulate)
    monkeypatch.setattr(race.time, "perf_counter", lambda: now[0])
    evaluator = WorldEvaluator(TWO_PHASES, n_jobs=1)
    evaluator._expected = {"ts": 0.5}
    assert evaluator._block(Candidate("ts"), 0, 4).tolist() == [0, 1, 2, 3]
    assert (evaluator._took, evaluator._slower) == ({"ts": [2.0]}, [4.0])


@pytest.fixture
def now(monkeypatch):
    """The time, alone in a list; every simulation takes 10 s."""
    time = [0.0]

    def simulate(*_, **__):
        time[0] += 10
        return SimpleNamespace(seconds=0.1)

    monkeypatch.setattr(race, "simulate", simulate)
    return time


def test_compilation_is_told_beforehand_and_not_counted(monkeypatch, caplog, now):
    monkeypatch.setattr(race.Pairing, "is_compiled", lambda self: self.agent == "ucb1")
    monkeypatch.setattr(race.time, "perf_counter", lambda: now[0])
    budget = Budget(500.0, clock=lambda: now[0])
    with caplog.at_level(logging.WARNING, "ns_mab_gym"):
        names = ("ts", "ucb1", "sw-ucb", "d-ts", "d-ucb")
        assert WorldEvaluator(TWO_PHASES).warm_up(map(Candidate, names), budget) == []
    assert [record.getMessage() for record in caplog.records] == [
        "compiling 4 agents takes about 12 s on an idle machine, once; not counted in seconds",
        "compiling the other 2 takes about 20 s here, by the last",  # each takes 10 s
    ]
    assert budget.elapsed == 16 * 10  # three short runs of each, and the loading of the one that was compiled before
    caplog.clear()
    for number, lines in ((1, 0), (2, 1)):  # one alone is told by who compiles it; of two there are no others
        WorldEvaluator(TWO_PHASES).warm_up(map(Candidate, names[2 : 2 + number]), budget)
        assert len(caplog.records) == lines


def test_the_price_of_a_run_has_what_begins_it_too(monkeypatch):
    """A short run of 500 rounds takes 1 s, so one of 10,000 takes 20 s; finding out how to play it took 3 s more."""
    now, asked = [0.0], []

    def simulate(*_, **given):
        asked.append(given["runs"])
        return SimpleNamespace(seconds=1.0)

    def why_generic(self):
        now[0] += 3

    monkeypatch.setattr(race, "simulate", simulate)
    monkeypatch.setattr(race, "WARM_UP_ROUNDS", 500)
    monkeypatch.setattr(race.Pairing, "why_generic", why_generic)
    monkeypatch.setattr(race.time, "perf_counter", lambda: now[0])
    evaluator = WorldEvaluator(nsb.worlds.Stationary(mu=(0.1, 0.5), horizon=10_000), n_jobs=1)
    assert evaluator.seconds(Candidate("ts")) == 0  # nothing is known yet
    evaluator.warm_up([Candidate("ts")], Budget(100.0))
    assert evaluator.seconds(Candidate("ts")) == 23
    assert set(asked) == {1}


def test_no_more_agents_are_loaded_than_there_is_time_for_and_never_fewer_than_two(monkeypatch, now):
    """Loading and three short runs take 40 s: of 100 s the first one and 30 s, of 160 s the first one and 48 s."""
    monkeypatch.setattr(race.Pairing, "is_compiled", lambda self: True)
    left_out = {}
    for seconds in (100.0, 160.0):
        budget = Budget(seconds, clock=lambda: now[0])
        candidates = map(Candidate, ("ts", "sw-ucb", "ucb1", "d-ts"))
        left_out[seconds] = WorldEvaluator(TWO_PHASES).warm_up(candidates, budget)
    assert left_out == {100.0: ["ucb1", "d-ts"], 160.0: ["d-ts"]}
    assert WorldEvaluator(TWO_PHASES).warm_up(map(Candidate, ("ts", "sw-ucb", "ucb1")), Budget(runs=20)) == []


def test_advice_names_the_agents_that_there_was_no_time_to_load(monkeypatch):
    """The agent to start with is loaded first, wherever it stands in the list."""
    loaded = []

    def warm_up(self, candidates, budget):
        loaded.extend(each.agent for each in candidates)
        return ["ucb1", "sw-ucb"]

    monkeypatch.setattr(WorldEvaluator, "warm_up", warm_up)
    advice = nsb.recommend(TWO_PHASES, agents=["ts", "ucb1", "sw-ucb", START], runs=60)
    assert loaded == [START, "ts", "ucb1", "sw-ucb"]
    assert {advice.agent, *(each.agent for each in advice.judged)} == {"ts", START}
    assert advice.left_out[0] == "ucb1, sw-ucb (no time to load in 20 s)"


def test_what_was_compiled_is_known():
    pairing = race.Pairing(WorldEvaluator(TWO_PHASES).env, "beta-swts", {"window": 9})
    nsb.simulate(TWO_PHASES, "beta-swts", runs=1)
    assert pairing.is_compiled()


def test_the_command_prints_the_result(capsys):
    assert (
        entry.main(["tune", "stationary:horizon=200", "sw-ucb:xi=0.5", "--runs", "60", "--space", "window=20,200"]) == 0
    )
    assert capsys.readouterr().out.startswith("sw-ucb: window=")
