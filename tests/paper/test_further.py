"""Further runs: only of the agents whose first runs leave a claim open, beside the first runs, and found again."""

from dataclasses import replace

import numpy as np
import pytest
from stored_runs import change, save

from ns_mab_gym.claims.judging import Choice, Claim, Finding, Reading, Verdict
from ns_mab_gym.code_version import CodeVersions
from ns_mab_gym.paper import decisions
from ns_mab_gym.report.pipeline import Pipeline
from ns_mab_gym.runs import Runs, seed_pair
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import Experiment, Study, blocks_of

HORIZON = 200
# Mean final regrets: ts and kl-ucb differ by a fifth of the standard deviation of a difference, too little for 50 runs.
MEANS = {"ts": 100.0, "kl-ucb": 102.0, "random": 200.0, "oracle": 50.0}
TUNED = Choice("tuning", "How is kl-ucb tuned?", (Reading("well", ""), Reading("badly", "")), agent="kl-ucb")
CLOSE = Claim("close", "a < b", "a has less", lambda e: decisions.least(e, "ts", ("ts", "kl-ucb")), (TUNED,))
CLEAR = Claim("clear", "a < c", "a has less", lambda e: decisions.least(e, "ts", ("ts", "random")))


@pytest.fixture
def asked():
    """What the engine was asked for: agent, parameters and the numbers of runs."""
    return []


@pytest.fixture
def pipeline(tmp_path, asked):
    def simulate(env, agent, *, runs, seed, env_kwargs, agent_kwargs, n_jobs, first_run, rounds=None):
        asked.append((agent, tuple(agent_kwargs.items()), first_run, runs))
        numbers = range(first_run, first_run + runs)
        noted = np.array(rounds or [HORIZON // 2, HORIZON])
        luck = np.array([np.random.default_rng((run, len(agent), 1)).normal(0, 7) for run in numbers])
        regret = np.outer(MEANS[agent] + luck, noted / HORIZON)
        pulls = np.full((runs, 10), HORIZON // 10)
        return Runs(noted, regret, pulls, pulls, [seed_pair(seed, run) for run in numbers], [{}] * runs, 0.1)

    def made(runs=50, further=0, claims=(CLOSE, CLEAR)):
        world = WorldSpec.of("NSBandit-Abrupt-v0", label="here", horizon=HORIZON)
        agents = [AgentSpec.of(name) for name in MEANS]
        agents.append(replace(AgentSpec.of("kl-ucb", label="kl-ucb (badly)", c=0.0), stands_for="kl-ucb"))
        study = Study("Small", (Experiment(worlds=(world,), agents=tuple(agents), runs=runs),))
        return Pipeline(
            study, folder=tmp_path / "out", simulate=simulate, n_jobs=1, claims={"here": claims}, further_runs=further
        )

    return made


@pytest.fixture
def judged(monkeypatch):
    """The judged claims of a pipeline by their keys, without a report."""

    def of(pipeline):
        seen = []
        monkeypatch.setattr(Pipeline, "_write", lambda self, *given: seen.extend(given[3]))
        pipeline.run()
        return {each.claim.key: each for each in seen}

    return of


def test_only_the_agents_of_open_claims_are_run_further_if_asked_and_the_first_runs_stay_the_headline(
    pipeline, judged, asked
):
    first = judged(pipeline())["close"]
    assert (first.verdict, first.later) == (Verdict.UNDECIDED, None)
    assert max(first_run + runs for *_, first_run, runs in asked) == 50
    found = judged(pipeline(further=500))
    further = {(agent, parameters) for agent, parameters, first_run, _ in asked if first_run >= 50}
    assert further == {("ts", ()), ("kl-ucb", ()), ("kl-ucb", (("c", 0.0),))}  # another reading is an agent too
    assert len(asked) == len(set(asked)) == 5 * 2 + 3 * 18
    assert (found["close"].now.finding, found["close"].now.runs) == (first.now.finding, 50)
    assert (found["close"].later.verdict, found["close"].later.runs) == (Verdict.HOLDS, 500)
    assert found["clear"].later is None  # random was not run further


def test_what_is_stored_is_shown_without_being_asked_for(pipeline, judged, asked, tmp_path, capsys):
    judged(pipeline(further=500))
    played = len(asked)
    found = judged(pipeline())
    assert len(asked) == played
    assert found["close"].later.runs == 500
    assert "computed again" not in capsys.readouterr().out


def test_a_run_that_was_cut_off_counts_as_far_as_all_agents_got(pipeline, judged, asked, tmp_path):
    judged(pipeline(further=200))
    assert change(tmp_path / "out", "DELETE FROM units WHERE agent = 'ts' AND first_run = 150") == 1
    assert judged(pipeline())["close"].later.runs == 150
    before = len(asked)
    assert judged(pipeline(further=200))["close"].later.runs == 200
    assert asked[before:] == [("ts", (), 150, 25)]


def test_further_runs_come_in_whole_blocks(pipeline, judged):
    assert judged(pipeline(further=60))["close"].later.runs == 75


def test_a_study_of_one_block_has_further_runs_too(pipeline, judged):
    judged(pipeline(runs=25, further=75))
    assert judged(pipeline(runs=25))["close"].later.runs == 75


def test_as_many_runs_as_there_are_are_no_further_ones(pipeline, judged, monkeypatch):
    computed, compute = [], Pipeline.compute
    monkeypatch.setattr(Pipeline, "compute", lambda self, *given: computed.append(given) or compute(self, *given))
    judged(pipeline(further=50))
    assert len(computed) == 1


def test_what_needs_no_runs_is_not_judged_again(pipeline, judged):
    given = Claim("given", "a", "the means say so", lambda e: Finding(Verdict.HOLDS, "as said"))
    found = judged(pipeline(further=100, claims=(CLOSE, given)))
    assert (found["close"].later.runs, found["given"].now.runs, found["given"].later) == (100, 0, None)


def test_a_further_block_of_another_horizon_is_reported_and_does_not_count(pipeline, judged, tmp_path, capsys):
    judged(asked := pipeline(further=100))
    [experiment] = asked.study.experiments
    unit = blocks_of(replace(experiment, runs=100), experiment.worlds[0], experiment.agents[0])[-1]
    with Store(tmp_path / "out", CodeVersions(print)) as store:
        block = store.load(unit)
        save(store, unit, replace(block, rounds=block.rounds * 2, pulls=block.pulls * 2))
    assert judged(pipeline())["close"].later.runs == 75
    assert "is damaged (horizon is not that of its world); dropped" in capsys.readouterr().out


def test_runs_that_decide_everything_ask_for_no_more(pipeline, judged, asked):
    judged(pipeline(further=500, claims=(CLEAR,)))
    assert max(first for *_, first, _ in asked) == 25


def test_runs_after_a_broken_block_are_not_paired_with_others(pipeline, judged, tmp_path, capsys):
    """Run 100 of one agent must never stand beside run 75 of another: they do not share their luck."""
    judged(pipeline(further=150))
    assert change(tmp_path / "out", "UPDATE units SET arrays = 'nonsense' WHERE agent = 'ts' AND first_run = 75") == 1
    again = judged(pipeline())["close"].later
    assert "dropped, to be computed again" in capsys.readouterr().out
    assert again.runs == 75
    every = [100.0 + np.random.default_rng((run, len("ts"), 1)).normal(0, 7) for run in range(75)]
    assert again.finding.tests[0].left_mean == pytest.approx(np.mean(every))
