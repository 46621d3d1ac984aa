"""Advice: an agent and its parameters, named by held-out runs, and what was not tried."""

import logging
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym.cli import entry
from ns_mab_gym.tuning import tune as subject
from ns_mab_gym.tuning.race import Budget, Candidate, HeldOut, WorldEvaluator, held_out_seed
from ns_mab_gym.tuning.search import ADVISED, REAL_VALUED, START, advised_space, coarse_grid

AGENTS = ["beta-swts", "sw-ucb", "ts"]
SWITCHING = np.tile(np.repeat([[0.9, 0.2], [0.2, 0.9]], 150, axis=0), (3, 1))


@pytest.fixture(scope="module")
def advice():
    return nsb.recommend(SWITCHING, agents=AGENTS, runs=600)


def test_it_beats_an_agent_that_never_forgets(advice):
    """The best arm changes five times: TS is behind by more than 6 standard errors, on runs of their own."""
    mine = nsb.simulate(SWITCHING, advice.agent, runs=50, seed=77, agent_kwargs=advice.parameters).final
    behind = nsb.simulate(SWITCHING, "ts", runs=50, seed=77).final - mine
    assert behind.mean() > 6 * behind.std() / 50**0.5


def test_its_regret_is_that_of_held_out_runs(advice):
    fresh = nsb.simulate(
        SWITCHING, advice.agent, runs=advice.regret.runs, seed=held_out_seed(0), agent_kwargs=advice.parameters
    ).final
    assert advice.regret.mean == pytest.approx(fresh.mean())
    second = nsb.simulate(
        SWITCHING,
        advice.runner_up.agent,
        runs=advice.regret.runs,
        seed=held_out_seed(0),
        agent_kwargs=advice.runner_up.parameters,
    ).final
    assert advice.runner_up.agent != advice.agent
    assert advice.runner_up.difference.mean == pytest.approx((second - fresh).mean())
    assert advice.runner_up.loss == pytest.approx(second.mean() / fresh.mean() - 1)


def test_it_tells_the_best_window_and_the_one_of_theory(advice):
    assert list(advice.windows) == ["beta-swts"]
    window = advice.windows["beta-swts"].parameters["window"]
    assert 20 <= window < 450
    assert advice.agent != "beta-swts" or advice.parameters["window"] == window
    assert advice.theory.parameters == {"window": nsb.theory.recommend_window(SWITCHING).window}


def test_it_makes_the_agent(advice):
    made = advice.make()
    assert made.name == advice.agent
    assert made.n_arms == 2
    assert {name: made.parameters[name] for name in advice.parameters} == advice.parameters
    assert advice.make(n_arms=5).n_arms == 5
    assert nsb.agents.make(advice.agent, n_arms=2, **advice.parameters).parameters == made.parameters


def test_it_says_so_in_at_most_eight_lines(advice):
    lines = str(advice).splitlines()
    assert len(lines) <= 8
    assert lines[0].startswith(f"play {advice.agent} with ")
    assert lines[1] == advice.sureness
    assert lines[2].startswith("runner-up")
    assert "best window of beta-swts" in str(advice)


def test_the_same_runs_give_the_same_advice(advice):
    again = nsb.recommend(SWITCHING, agents=AGENTS, runs=600, n_jobs=1)
    assert (again.agent, again.parameters, again.regret) == (advice.agent, advice.parameters, advice.regret)


def test_agents_that_cannot_take_the_rewards_are_left_out_and_named():
    able, left_out = subject._entrants(WorldEvaluator(SWITCHING, {"reward": "gaussian"}), None)
    assert {"sw-ucb", "sw-lb-sda", "raw-ucb", "fewa", *REAL_VALUED} <= set(able)
    assert "beta-swts" not in able
    assert "beta-swts" in left_out[0]
    everybody, nothing = subject._entrants(WorldEvaluator(SWITCHING), None)
    assert everybody == list(subject.ADVISED)
    assert nothing == []


class Priced(WorldEvaluator):
    """An evaluator where the price of a run is what the test says."""

    def __init__(self, prices):
        self.prices = prices

    def seconds(self, candidate):
        return self.prices[candidate.agent]


@pytest.mark.parametrize(("price", "look"), [(1e-4, (4, 1.0)), (0.4, (2, 0.5))])
def test_the_first_look_keeps_within_its_share_of_the_budget(price, look):
    spaces = {name: subject.advised_space(name, 10_000, 5) for name in AGENTS}
    names, runs, share, left_out = subject._first_look(Priced(dict.fromkeys(AGENTS, price)), Budget(30.0), spaces)
    assert (runs, share) == look
    candidates = sum(len(subject.coarse_grid(spaces[name], share)[0]) for name in names)
    assert candidates * runs * price <= subject.FIRST_LOOK * subject.RACING * 30
    assert bool(left_out) == (share < 1)


def test_what_is_too_slow_is_not_tried_and_said():
    spaces = {name: subject.advised_space(name, 10_000, 5) for name in AGENTS}
    priced = Priced({"beta-swts": 50.0, "sw-ucb": 0.01, "ts": 0.01})
    names, *_, left_out = subject._first_look(priced, Budget(20.0), spaces)
    assert (names, left_out[0]) == (["sw-ucb", "ts"], "beta-swts (too slow for 20 s)")


def test_the_agent_to_start_with_is_never_too_slow():
    spaces = {name: subject.advised_space(name, 10_000, 5) for name in [*AGENTS, START]}
    names, *_ = subject._first_look(Priced({**dict.fromkeys(AGENTS, 5.0), START: 50.0}), Budget(20.0), spaces)
    assert names == [START]


def test_a_budget_that_is_too_small_for_an_answer_is_told_beforehand():
    """Two candidates with five held-out runs each, after two runs of the race: 14 runs."""
    with pytest.warns(
        UserWarning, match=r"runs of ts take about 0\.5 s each .* about 7 s in all, more than seconds=6$"
    ):
        floor, told = subject._reserved(Priced({"ts": 0.5}), Budget(6.0), Candidate("ts"), 0.4)
    assert floor == 5
    assert len(told) == 1
    assert subject._reserved(Priced({"ts": 0.5}), Budget(30.0), Candidate("ts"), 0.4) == (12, [])
    clock = iter([0.0, 2.0])  # of 8 s, 2 are gone
    with pytest.warns(UserWarning, match="about 9 s in all"):
        subject._reserved(Priced({"ts": 0.5}), Budget(8.0, clock=lambda: next(clock)), Candidate("ts"), 0.4)


def test_the_agent_to_start_with_is_judged_and_wins_where_nothing_beats_it():
    assert ADVISED[0] == START
    advice = nsb.recommend(SWITCHING, agents=["ucb1", START], runs=300)
    assert (advice.agent, advice.parameters, advice.start) == (START, {"blind": True}, None)
    assert f"nothing beats {START} beyond doubt: " in advice.sureness
    assert str(advice).startswith(f"play {START}, told T, K and the law of rewards alone: ")
    blind = nsb.agents.make(START, n_arms=2, horizon=900, blind=True)
    assert advice.make().parameters == blind.parameters


def test_where_it_is_judged_alone_nothing_is_said_of_others():
    advice = nsb.recommend(SWITCHING, agents=[START], runs=50)
    assert advice.sureness == "no other candidate was judged"
    assert (advice.judged, advice.alike, advice.within, advice.runner_up) == ([], [], 0.0, None)


def test_the_agent_to_start_with_is_shown_where_it_is_beaten(monkeypatch):
    monkeypatch.setattr(subject, "START", "random")
    advice = nsb.recommend(SWITCHING, agents=["random", "ts", "sw-ucb"], runs=300)
    assert advice.agent != "random"
    assert advice.start.difference.low > 0
    assert advice.start.regret.mean == pytest.approx(900 * 0.35, rel=0.1)
    assert "the agent to start with: random, told T, K and the law of rewards alone, " in str(advice)


def test_of_those_that_cannot_be_told_apart_the_simplest_is_the_answer():
    """On a still world `ts` and `beta-swts` with a window of all rounds are the same; `ts` has nothing to set."""
    advice = nsb.recommend(np.tile([0.9, 0.5], (500, 1)), agents=["beta-swts", "ts"], runs=300)
    assert (advice.agent, advice.parameters) == ("ts", {})
    assert advice.windows["beta-swts"] in advice.alike
    told = (
        f"these {1 + len(advice.alike)} cannot be told apart on {advice.regret.runs} runs; the simplest of them is ts; "
    )
    assert advice.sureness.startswith(told)
    assert "not told apart" in str(advice)


def test_a_beaten_one_that_is_not_told_apart_from_the_answer_says_so():
    """Run by run the third is behind the second by 1, beyond doubt, and both scatter around the first."""
    wave = np.tile([30.0, -30.0], 10)
    first, second, third = (Candidate(name) for name in ("ts", "sw-ucb", "ucb1"))
    held = HeldOut({first: np.full(20, 99.0), second: 100 + wave, third: 101 + wave})
    assert held.unbeaten() == [first, second]
    assert str(subject._beside(held, second, first)) == "sw-ucb, 100 (+1.0%, not told apart)"
    assert "not told apart, but worse than another one beyond doubt" in str(subject._beside(held, third, first))


def test_where_nothing_can_be_told_apart_the_agent_to_start_with_is_the_answer():
    advice = nsb.recommend(np.full((50, 2), 0.4), agents=[START, "ts", "sw-ucb"], runs=150)
    assert (advice.agent, advice.parameters) == (START, {"blind": True})


def test_without_parameters_the_agent_to_start_with_has_one_form(monkeypatch):
    monkeypatch.setattr(subject, "START", "random")
    assert nsb.recommend(SWITCHING, agents=["random", "ts"], runs=100).spent.candidates == 2


class Judge:
    """Every run of every candidate takes a second, and has a regret of 0."""

    threads = 1

    def __init__(self):
        self.now = 0.0

    def held_out(self):
        return self

    def seconds(self, candidate):
        return 1.0

    def play(self, candidates, first, runs):
        self.now += len(candidates) * runs
        return [np.zeros(runs) for _ in candidates]


@pytest.mark.parametrize(("seconds", "judged", "runs"), [(1, 2, 5), (15, 3, 5), (24, 4, 5), (400, 4, 99)])
def test_the_clock_decides_how_many_held_out_runs_there_are_and_at_least_five(seconds, judged, runs):
    """Four candidates cost 4 s a run: 24 s pay for all four, 15 s for three, and two are judged in any case."""
    judge = Judge()
    budget = Budget(seconds, clock=lambda: judge.now)
    held = subject._judged(judge, budget, [Candidate(name) for name in "abcd"], 0.05)
    assert [each.agent for each in held.finals] == list("abcd")[:judged]
    assert runs - 1 <= held.runs <= runs + 1
    assert budget.left >= 0 or held.runs == 5


@pytest.mark.parametrize("name", ["sw-ucb", "ucb1", "ds-ts"])
def test_spaces_follow_the_scale_of_the_rewards(name):
    """Rewards a hundred times as large, in units of 1/100: the same rounds, and a hundred times the regret."""
    small, large = (advised_space(name, 200, 2, scale) for scale in (0.5, 50.0))
    world, law = SWITCHING[50:250], nsb.rewards.make("gaussian", scale=0.5)
    other = nsb.rewards.make("gaussian", scale=50.0)
    for one, same in zip(coarse_grid(small, 0.3)[0], coarse_grid(large, 0.3)[0], strict=True):
        regret = nsb.simulate(world, name, runs=3, env_kwargs={"reward": law}, agent_kwargs=one).final
        scaled = nsb.simulate(100 * world, name, runs=3, env_kwargs={"reward": other}, agent_kwargs=same).final
        assert scaled == pytest.approx(100 * regret)


def test_real_rewards_are_advised_on():
    advice = nsb.recommend(60 * SWITCHING, reward=nsb.rewards.make("gaussian", scale=30.0), runs=400)
    assert advice.regret.high < advice.random_play
    assert any("not for these rewards" in each for each in advice.left_out)
    assert "\nrewards without bounds, λ = 30; random play: " in str(advice)


def test_a_scale_that_was_not_given_is_told():
    advice = nsb.recommend(SWITCHING, reward="gaussian", agents=["sw-ucb", "ucb1"], runs=50)
    assert "rewards without bounds, λ = 0.5; random play: " in str(advice)
    assert "λ" not in str(nsb.recommend(SWITCHING, agents=["sw-ucb", "ucb1"], runs=50))


WORLDS = nsb.worlds
SMALL = {
    "two arms": SWITCHING,
    "still": WORLDS.Stationary(mu=(0.5, 0.45, 0.4, 0.35), horizon=5_000),
    "few changes": WORLDS.Piecewise(horizon=5_000, n_arms=8, changes=3).means(rng=5),
    "many changes": WORLDS.Piecewise(horizon=5_000, n_arms=5, changes=40).means(rng=5),
    "slow walk": WORLDS.RandomWalk(horizon=5_000, n_arms=6, step=0.002).means(rng=5),
    "rotting": WORLDS.Rotting(horizon=5_000, n_arms=10).means(rng=5),
    "clicks": 0.01 + 0.07 * WORLDS.Piecewise(horizon=50_000, n_arms=6, changes=6).means(rng=5),
    "a family": WORLDS.Piecewise(horizon=1_000, n_arms=5),
}


@pytest.mark.slow
@pytest.mark.parametrize("world", SMALL)
@pytest.mark.filterwarnings("ignore:runs of .* take about")  # where the machine is busy
def test_no_answer_contradicts_its_own_runs_or_takes_longer_than_was_asked_or_said(world):
    nsb.recommend(SWITCHING, runs=100)  # compiles, which is said and not counted
    began = time.perf_counter()
    advice = nsb.recommend(SMALL[world], seconds=3)
    needed = re.findall(r"about (\d+) s in all", " ".join(advice.warnings))
    assert time.perf_counter() - began <= 1.3 * max(3, *map(float, needed), 0)
    assert advice.regret.runs >= 5
    said = str(advice)
    for other in advice.judged:
        assert other.regret.runs == advice.regret.runs
        assert other.difference.high >= 0  # nothing beats the answer beyond doubt
        if other.regret.mean < advice.regret.mean:
            assert other in advice.alike or not other.unbeaten
            assert "cannot be told apart" in said
    for other in (advice.runner_up, advice.start, advice.theory, *advice.windows.values()):
        assert other is None or other in advice.judged or other.difference.mean == 0
    assert advice.agent == START or advice.start in advice.judged


def test_theory_gives_a_window_from_few_facts_where_the_matrix_is_large(monkeypatch):
    monkeypatch.setattr(subject, "LARGE", 100)
    assert subject._theory(WorldEvaluator(SWITCHING), ["beta-swts"]) == Candidate.of(
        "beta-swts", {"window": 139}
    )  # 4 √(900 ln 900/5)
    assert subject._theory(WorldEvaluator(nsb.worlds.Piecewise(horizon=50)), ["beta-swts"]) is None


def test_a_random_world_is_advised_on_as_a_whole():
    advice = nsb.recommend(nsb.worlds.Piecewise(horizon=300, n_arms=2), agents=["sw-ucb", "ts"], runs=250)
    assert advice.theory is None
    assert advice.windows == {}
    assert advice.make().n_arms == 2


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="unknown agent 'beta'"):
        nsb.recommend(SWITCHING, agents=["beta"])
    with pytest.raises(ValueError, match="must be a list of names"):
        nsb.recommend(SWITCHING, agents="ts")
    with pytest.raises(ValueError, match="must be a list of names"):
        nsb.recommend(SWITCHING, agents=[])


def test_the_command_prints_the_advice(capsys, tmp_path):
    file = tmp_path / "means.csv"
    np.savetxt(file, SWITCHING[:300], delimiter=",")
    assert entry.main(["recommend", str(file), "--agents", "sw-ucb", "ts", "--runs", "150"]) == 0
    assert capsys.readouterr().out.startswith("play ")


def test_a_question_counts_the_time_of_compiling_once_however_often_it_is_estimated(script, monkeypatch):
    choosing, log = script("benchmarks.choosing"), logging.getLogger("ns_mab_gym")

    def recommend(**_):
        log.warning("compiling 9 agents takes about %.0f s on an idle machine", 27)
        log.warning("compiling the other 7 takes about %.0f s here, by the last", 35)
        return SimpleNamespace(warnings=["it takes about 4.5 s in all"])

    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(nsb, "recommend", recommend)
    monkeypatch.setattr(choosing, "contradictions", lambda *_: [])
    assert choosing.ask("still", 3.0, 0).said == 4.5 + 35
