"""Advice: an agent and its parameters, judged on runs that chose nothing, and what was not tried."""

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym.cli import entry
from ns_mab_gym.tuning import tune as subject
from ns_mab_gym.tuning.race import Budget, Candidate, WorldEvaluator, held_out_seed

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


def test_its_regret_is_that_of_runs_that_chose_nothing(advice):
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
    for other in (advice, advice.runner_up):  # one answer to "which window", wherever it is told
        assert other.agent != "beta-swts" or other.parameters["window"] == window
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
    assert lines[1].startswith("runner-up: ")
    assert "best window of beta-swts" in str(advice)


def test_the_same_runs_give_the_same_advice(advice):
    again = nsb.recommend(SWITCHING, agents=AGENTS, runs=600, n_jobs=1)
    assert (again.agent, again.parameters, again.regret) == (advice.agent, advice.parameters, advice.regret)


def test_agents_that_cannot_take_the_rewards_are_left_out_and_named():
    able, left_out = subject._entrants(WorldEvaluator(SWITCHING, {"reward": "gaussian"}), None)
    assert "sw-ucb" in able
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
    assert (names, left_out[0]) == (["sw-ucb", "ts"], "beta-swts (too slow)")


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
