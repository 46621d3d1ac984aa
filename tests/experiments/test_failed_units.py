"""Units that fail: the rest is computed and shown without the agents that lack runs, and everybody is told."""

import csv
import html
import json
import re
from dataclasses import replace

import pandas as pd
import pytest

from ns_mab_gym.experiments import AgentEntry, Experiment, Study, WorldEntry
from ns_mab_gym.experiments.claims import Claim, decisions
from ns_mab_gym.experiments.failure_texts import Gap, failures_in_words, write_failures
from ns_mab_gym.experiments.leaderboard import board
from ns_mab_gym.experiments.leaderboard.board_plan import plan_of
from ns_mab_gym.experiments.leaderboard.board_worlds import chosen_worlds
from ns_mab_gym.experiments.leaderboard.contestants import zoo_and
from ns_mab_gym.experiments.pipeline import Pipeline
from ns_mab_gym.experiments.readings import Choice, Reading
from ns_mab_gym.experiments.remaining_study import remains_of
from ns_mab_gym.experiments.runner import Failure
from ns_mab_gym.experiments.units import Unit, units_of
from ns_mab_gym.experiments.zoo_study import BLIND

HOSTILE = "<script>alert(1)</script> \x1b[31mred\x07\u202e\ud800 two\nlines"


class Failing:
    """The stand-in for the engine, which raises for some pairs of agent and world; None stands for any."""

    def __init__(self, engine, *pairs, first_run=0, words="it broke"):
        self.engine, self.pairs, self.first_run, self.words = engine, pairs, first_run, words

    def __call__(self, env, agent, **asked):
        given = {agent, ",".join([agent, *map(str, asked["agent_kwargs"].values())])}
        for who, where in self.pairs:
            if (who is None or who in given) and where in (None, env) and asked["first_run"] >= self.first_run:
                raise ValueError(self.words)
        return self.engine(env, agent, **asked)


ABRUPT, SMOOTH = "NSBandit-Abrupt-v0", "NSBandit-Smooth-v0"


@pytest.fixture
def study():
    """Two worlds, three agents, 60 runs: blocks of 25, 25 and 10."""
    worlds = (WorldEntry.of(ABRUPT, label="abrupt", horizon=1_000), WorldEntry.of(SMOOTH, horizon=1_000))
    agents = (AgentEntry.of("ts"), AgentEntry.of("beta-swts", label="short", window=50), AgentEntry.of("ucb1"))
    return Study("test", (Experiment(worlds=worlds, agents=agents, runs=60),))


def ran(study, folder, simulate, **options):
    pipeline = Pipeline(study, folder, simulate, 1, **options)
    return pipeline, pipeline.run()


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def page_of(folder):
    """The page and what stands at its head as a warning."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    [warning] = re.findall(r'<p class="warning">(.*?)</p>', page, re.DOTALL) or [""]
    return page, html.unescape(warning)


def test_an_agent_that_failed_on_one_world_is_left_out_of_all_and_named(tmp_path, study, engine):
    out = tmp_path / "out"
    pipeline, said = ran(study, out, Failing(engine, ("ucb1", ABRUPT), first_run=25))
    assert {(each.unit.agent.name, each.unit.world.name, each.unit.first_run) for each in pipeline.failures} == {
        ("ucb1", ABRUPT, 25), ("ucb1", ABRUPT, 50),
    }  # fmt: skip
    page, warning = page_of(out)
    for text in ("\n".join(said), warning):
        assert "2 of 18 units failed" in text
        assert "ucb1 on abrupt, runs 25-59 (ValueError: it broke (test_failed_units.py, line " in text
        assert "for want of these runs: ucb1." in text
    for table in (rows_of(out / "summary.csv"), pd.read_parquet(out / "table.parquet").to_dict("records")):
        assert {(row["agent"], row["world"]) for row in table} == {
            (agent, world) for agent in {row["agent"] for row in table} for world in {row["world"] for row in table}
        }
        assert len({row["agent"] for row in table}) == len({row["world"] for row in table}) == 2
    assert {row["runs"] for row in rows_of(out / "summary.csv")} == {"60"}
    assert page.count("ucb1") == warning.count("ucb1")
    assert not any("ucb1" in path.read_text() for path in (out / "figures").glob("*.svg"))
    assert said[-1] == f"report: {out / 'report.html'}"
    assert "16 of 18 units computed" in said[-2]


def test_once_nothing_fails_the_same_command_makes_the_whole_report(tmp_path, study, engine):
    ran(study, tmp_path / "out", Failing(engine, ("ucb1", ABRUPT)))
    engine.calls.clear()
    pipeline, said = ran(study, tmp_path / "out", engine)
    assert {call[:2] for call in engine.calls} == {(ABRUPT, "ucb1")}
    ran(study, tmp_path / "whole", engine)
    assert pipeline.failures == ()
    assert not (tmp_path / "out" / "failures.txt").exists()
    assert not any("failed" in line for line in said)
    for name in ("summary.csv", *(f"figures/{each.name}" for each in (tmp_path / "whole" / "figures").iterdir())):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_what_is_left_is_the_same_as_without_the_agent(tmp_path, study, engine):
    [experiment] = study.experiments
    without = Study("test", (replace(experiment, agents=experiment.agents[1:], reference=""),))
    ran(study, tmp_path / "failed", Failing(engine, ("ts", SMOOTH)))
    ran(without, tmp_path / "without", engine)
    for name in ("summary.csv", "figures/abrupt-regret.svg", "figures/abrupt-regret.png"):
        assert (tmp_path / "failed" / name).read_bytes() == (tmp_path / "without" / name).read_bytes(), name
    assert "Others are compared with short instead of ts." in page_of(tmp_path / "failed")[1]


def test_the_file_has_every_unit_its_words_and_its_traceback(tmp_path, study, engine):
    ran(study, tmp_path / "out", Failing(engine, ("beta-swts", None)))
    text = (tmp_path / "out" / "failures.txt").read_text(encoding="utf-8")
    heads = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert sorted(heads) == sorted(
        f"beta-swts:window=50 on {env}:horizon=1000, runs {runs}, seed 0"
        for env in (ABRUPT, SMOOTH)
        for runs in ("0-24", "25-49", "50-59")
    )
    assert text.count("Traceback (most recent call last)") == 6
    assert text.count("raise ValueError(self.words)") == 6


def test_nothing_that_strangers_write_reaches_the_terminal_the_page_or_the_file_as_it_is(tmp_path, study, engine):
    _, said = ran(study, tmp_path / "out", Failing(engine, ("ucb1", None), words=HOSTILE))
    page, warning = page_of(tmp_path / "out")
    text = (tmp_path / "out" / "failures.txt").read_bytes().decode()
    assert "<script>alert" not in page
    for shown in ("\n".join(said), warning, text):
        assert "<script>alert(1)" in shown
        assert not set(shown) & set("\x1b\x07\u202e\ud800\r")
    assert "\\x1b[31m" in text


def test_a_long_error_and_many_failures_leave_the_page_readable(study):
    unit = units_of(study)[0]
    failures = [Failure(Unit.of(unit.series, 25 * n, 25), 3, "x" * 10_000, "", "tcp://1.2.3.4") for n in range(100)]
    gaps = [Gap(f"agent {n}", "world", (failure,)) for n, failure in enumerate(failures)]
    said = failures_in_words(failures, gaps, 1_000)
    assert said[0].startswith("100 of 1,000 units failed")
    assert said[-1] == "And 92 more pairs of agent and world."
    assert len(said) == 10
    assert len(" ".join(said)) < 3_000


def test_the_file_names_the_worker_and_goes_when_nothing_fails(tmp_path, study):
    write_failures(tmp_path, [Failure(units_of(study)[0], 3, "it broke", "one\ntwo", "tcp://1.2.3.4")])
    text = (tmp_path / "failures.txt").read_text()
    assert "tried 3 times, the last time by tcp://1.2.3.4" in text
    assert "    | one\n    | two\n" in text
    write_failures(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_nothing_left_is_no_report_and_none_of_an_earlier_run(tmp_path, study, engine):
    out = tmp_path / "out"
    ran(study, out, engine)
    [experiment] = study.experiments
    other = Study("test", (replace(experiment, seed=1),))
    pipeline, said = ran(other, out, Failing(engine, (None, ABRUPT)))
    assert len(pipeline.failures) == 9
    assert said[-1].startswith("no report: ")
    assert "Nothing is left on abrupt, NSBandit-Smooth-v0:horizon=1000." in said
    assert {path.name for path in out.iterdir() if path.is_file()} == {"README.txt", "failures.txt", ".lock"}
    pipeline, said = ran(other, out, engine)
    assert (out / "report.html").exists()
    assert pipeline.failures == ()


# What is left of a study.


def of(study, *pairs, first_run=0):
    """What is left if these pairs of the labels of agent and world fail."""
    failed = [
        Failure(unit, 3, "it broke", "")
        for experiment in study.experiments
        for unit in units_of(Study("", (experiment,)))
        for agent in experiment.agents
        for world in experiment.worlds
        if (agent.label, world.label) in pairs
        and (unit.agent.words, unit.world.words, unit.first_run) == (agent.words, world.words, first_run)
    ]
    return remains_of(study, failed)


A, B = (WorldEntry.of(name, label=name) for name in ("abrupt", "smooth"))


def experiment_of(*labels, worlds=(A, B), **options):
    entries = [AgentEntry.of("ts", label=label, window=number) for number, label in enumerate(labels)]
    return Experiment(worlds=worlds, agents=tuple(entries), runs=50, **options)


def labels_of(study):
    return [[agent.label for agent in each.agents] for each in study.experiments]


def test_without_failures_the_study_is_the_same():
    study = Study("s", (experiment_of("a", "b"),))
    assert remains_of(study, []).study is study


def test_every_experiment_loses_the_agents_that_failed_in_it_and_no_others():
    study = Study("s", (experiment_of("a", "b", worlds=(A,)), experiment_of("a", "b", worlds=(B,))))
    found = of(study, ("a", "abrupt"))
    assert labels_of(found.study) == [["b"], ["a", "b"]]
    assert [experiment.reference for experiment in found.study.experiments] == ["b", "a"]
    assert (found.left_out, found.references, found.dropped) == (["a"], {"a": "b"}, [])
    assert [str(gap) for gap in found.gaps] == ["a on abrupt, runs 0-24 (it broke)"]


def test_the_reference_stays_unless_it_failed_itself():
    study = Study("s", (experiment_of("a", "b", "c", reference="c"),))
    assert [of(study, (failed, "abrupt")).study.experiments[0].reference for failed in "abc"] == ["c", "c", "a"]


def test_who_needs_no_such_unit_loses_nothing():
    few = experiment_of("a", "b")
    study = Study("s", (few, replace(few, runs=75)))
    assert labels_of(of(study, ("a", "abrupt"), first_run=50).study) == [["a", "b"], ["b"]]
    assert labels_of(of(study, ("a", "abrupt"), first_run=25).study) == [["b"], ["b"]]


def test_a_unit_that_two_entries_share_takes_both_with_it():
    first, second = experiment_of("a", "b"), experiment_of("a again", "c", worlds=(A,))
    found = of(Study("s", (first, second)), ("a", "abrupt"))
    assert labels_of(found.study) == [["b"], ["c"]]
    assert found.left_out == ["a", "a again"]


def test_other_readings_go_with_their_agent_but_not_the_agent_with_them():
    a, b, other = experiment_of("a", "b", "a, read otherwise").agents
    study = Study("s", (Experiment(worlds=(A,), agents=(a, b, other.standing_for("a")), runs=50),))
    assert labels_of(of(study, ("a", "abrupt")).study) == [["b"]]
    assert labels_of(of(study, ("a, read otherwise", "abrupt")).study) == [["a", "b"]]


def test_a_survey_loses_both_forms_of_an_agent():
    """A blind form that is not there would be taken for one that makes no difference."""
    survey = experiment_of("a", "a" + BLIND, "b", worlds=(A,), survey=True)
    beside = experiment_of("x", "y", "z", "c", worlds=(A,))
    study = Study("s", (replace(beside, agents=beside.agents[3:], reference=""), survey))
    for failed in ("a", "a" + BLIND):
        assert labels_of(of(study, (failed, "abrupt")).study) == [["c"], ["b"]]


def test_an_experiment_without_agents_goes_and_a_survey_with_what_it_stands_beside():
    two, survey = experiment_of("a", "b", worlds=(A,)), experiment_of("a", "b", "c", worlds=(B,), survey=True)
    others = [replace(each, agents=each.agents[-1:], reference="") for each in (two, survey)]
    study = Study("s", (experiment_of("a"), *others))
    found = of(study, ("a", "smooth"))
    assert labels_of(found.study) == [["b"]]
    assert found.dropped == ["smooth"]
    assert "Nothing is left on smooth." in found.in_words()


# Claims.

TUNED = Choice("tuning", "How is kl-ucb tuned?", (Reading("well", ""), Reading("badly", "")), agent="kl-ucb")
CLEAR = Claim("clear", "a < c", "a has less", decisions.least("ts", ("ts", "random")))
READ = Claim("read", "a < b", "a has less", decisions.least("ts", ("ts", "kl-ucb")), (TUNED,))


@pytest.fixture
def claimed():
    world = WorldEntry.of("NSBandit-Abrupt-v0", label="here", horizon=1_000)
    agents = [AgentEntry.of(name) for name in ("ts", "random", "kl-ucb")]
    agents.append(AgentEntry.of("kl-ucb", label="kl-ucb (badly)", c=0.0).standing_for("kl-ucb"))
    return Study("Small", (Experiment(worlds=(world,), agents=tuple(agents), runs=50),))


@pytest.mark.parametrize(
    ("who", "judged"), [("random", ["read"]), ("kl-ucb", ["clear"]), ("kl-ucb,0.0", ["clear"]), ("ts", [])]
)
def test_there_is_no_verdict_where_runs_are_missing_not_even_under_one_reading(tmp_path, claimed, engine, who, judged):
    """The runs of another reading would else be taken for those of the first."""
    out, options = tmp_path / "out", {"claims": {"here": (CLEAR, READ)}}
    _, said = ran(claimed, out, Failing(engine, (who, None)), **options)
    ran(claimed, tmp_path / "whole", engine, **options)
    whole = {row["claim"]: row for row in json.loads((tmp_path / "whole" / "claims.json").read_text())}
    found = json.loads((out / "claims.json").read_text()) if judged else []
    assert (out / "claims.json").exists() == bool(judged)
    assert found == [whole[key] for key in judged]
    missing = [f"{key} (here)" for key in ("clear", "read") if key not in judged]
    line = f"No verdict, for want of these runs, on {len(missing)} sentences: {'; '.join(missing)}."
    assert line in said
    assert line in page_of(out)[1]
    if judged:
        assert line in (out / "claims.md").read_text(encoding="utf-8")


def test_further_runs_that_fail_leave_the_first_ones_whole(tmp_path, claimed, engine):
    close = Claim("close", "a < b", "a has less", decisions.least("short", ("short", "ts")))
    world, agents = claimed.experiments[0].worlds, (AgentEntry.of("ts"), AgentEntry.of("ts", label="short"))
    study = Study("s", (Experiment(worlds=world, agents=agents, runs=50),))  # the same runs twice: never decided
    options = {"claims": {"here": (close,)}, "further_runs": 150}
    pipeline, said = ran(study, tmp_path / "out", Failing(engine, ("ts", None), first_run=100), **options)
    assert [each.unit.first_run for each in pipeline.failures] == [100, 125]
    [row] = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert (row["runs"], row["more_runs"]["runs"]) == (50, 100)
    assert any("Failed: ts on here, runs 100-149 (ValueError: it broke (" in line for line in said)
    assert "Further runs count up to the first that some agent concerned lacks." in said
    assert {row["agent"] for row in rows_of(tmp_path / "out" / "summary.csv")} == {"ts", "short"}


# The leaderboard.

LABELS = ("ts", "ucb1", "sw-ucb", "rexp3", "random", "oracle-restart", "glr-klucb (global)")
WORLDS = {world.label: world for world in chosen_worlds(["4 changes", "16 changes", "walk, step 0.008"], quick=True)}


def ranked(folder, simulate, labels=LABELS, **options):
    contestants = [each for each in zoo_and() if each.label in labels]
    made = board.Leaderboard(plan_of(list(WORLDS.values()), contestants), folder, simulate, 1, **options)
    return made, made.run()


class Broken:
    """The stand-in for the engine, which raises for some agents on some worlds."""

    def __init__(self, engine, agents, worlds, blind=None):
        self.engine, self.agents, self.blind = engine, agents, blind
        self.worlds = [WORLDS[label].entry.kwargs for label in worlds]

    def __call__(self, env, agent, **asked):
        blind = bool(asked["agent_kwargs"].get("blind"))
        if agent in self.agents and asked["env_kwargs"] in self.worlds and self.blind in (None, blind):
            raise ZeroDivisionError("division by zero")
        return self.engine(env, agent, **asked)


def test_who_fails_on_a_world_has_no_place_and_the_others_keep_theirs(tmp_path, engine):
    made, said = ranked(tmp_path / "out", Broken(engine, ["rexp3"], ["4 changes"], blind=True))
    assert {each.unit.agent.name for each in made.failures} == {"rexp3"}
    written = json.loads((tmp_path / "out" / "leaderboard.json").read_text())
    places = {name: [row["label"] for row in rows] for name, rows in written["divisions"].items()}
    assert "rexp3" in places["informed"]
    assert set(places["blind"]) == {"ts", "ucb1", "sw-ucb"}
    rows = rows_of(tmp_path / "out" / "leaderboard.csv")
    played = {(row["division"], row["world"]) for row in rows if row["agent"] == "rexp3"}
    assert ("blind", "4 changes") not in played
    assert len(played) == 5
    page = (tmp_path / "out" / "leaderboard.html").read_text()
    for text in (html.unescape(page), "\n".join(said)):
        assert (
            "rexp3, blind on 4 changes, runs 0-3 (ZeroDivisionError: division by zero (test_failed_units.py, line "
            in text
        )
        assert "has no result there, and no place if the world counts" in text
    assert "ZeroDivisionError" in (tmp_path / "out" / "failures.txt").read_text()


@pytest.mark.parametrize("agents", [("random",), ("oracle-restart",), ("random", "oracle-restart")])
def test_the_references_may_fail(tmp_path, engine, agents):
    ranked(tmp_path / "out", Broken(engine, agents, WORLDS))
    page = (tmp_path / "out" / "leaderboard.html").read_text()
    assert not re.search(r"\bnan\b", re.sub(r"base64,[^\"]*", "", page))


ZOO = ("ts", "ucb1", "sw-ucb", "rexp3", "glr-klucb")


@pytest.mark.parametrize(
    ("agents", "worlds"),
    [
        (ZOO, ["4 changes"]),  # a world on which nobody is left
        (ZOO[1:], ["4 changes"]),  # one agent has a place
        (ZOO[:2], ["4 changes", "16 changes"]),
        (ZOO[:4], list(WORLDS)),  # nobody competes, but a further form plays
        (("random", "oracle-restart", *ZOO[1:]), ["16 changes"]),
    ],
)
def test_whoever_fails_there_is_a_page_as_long_as_somebody_competes(tmp_path, engine, agents, worlds):
    made, said = ranked(tmp_path / "out", Broken(engine, agents, worlds))
    competing = not (set(agents) >= set(ZOO[:4]) and set(worlds) == set(WORLDS))
    assert (tmp_path / "out" / "leaderboard.html").exists() == competing
    assert said[-1].startswith("page: " if competing else "no page: ")
    assert made.failures


def test_nobody_has_a_place_where_everybody_failed_somewhere(tmp_path, engine):
    ranked(tmp_path / "out", Broken(Broken(engine, ZOO[:2], ["4 changes"]), ZOO[2:], ["16 changes"]))
    written = json.loads((tmp_path / "out" / "leaderboard.json").read_text())
    assert all(rows == [] for rows in written["divisions"].values())


def test_a_snapshot_never_lacks_runs(tmp_path, engine):
    _, said = ranked(tmp_path / "out", Broken(engine, ["ts"], WORLDS), snapshot=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
    assert "no snapshot: runs are missing" in said
    _, said = ranked(tmp_path / "out", engine, snapshot=tmp_path / "kept")
    assert (tmp_path / "kept" / "README.md").exists()
    assert not (tmp_path / "out" / "failures.txt").exists()


def test_nothing_left_is_no_page_and_none_of_an_earlier_run(tmp_path, engine):
    ranked(tmp_path / "out", engine, labels=("ts", "random"))
    ranked(tmp_path / "out", Broken(engine, ["ucb1"], WORLDS), labels=("ucb1", "random"))
    assert not (tmp_path / "out" / "leaderboard.html").exists()
    assert not (tmp_path / "out" / "leaderboard.csv").exists()
