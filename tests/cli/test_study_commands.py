"""The command lines, from words to the report: with the stand-in engine, and once with the real one."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from ns_mab_gym import agents
from ns_mab_gym.cli.studies import DESCRIPTION
from ns_mab_gym.cli.studies import evaluate as evaluate
from ns_mab_gym.cli.studies import paper as reproduce
from ns_mab_gym.paper import study
from ns_mab_gym.paper.readings import ALGORITHMS
from ns_mab_gym.paper.study import paper_pipeline
from ns_mab_gym.studies.study import read_study

ABRUPT = "NSBandit-Abrupt-v0:horizon=1000"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_ctrl_c_says_how_to_go_on(engine, out, capsys):
    def interrupted(*args, **kwargs):
        if engine.calls:
            raise KeyboardInterrupt
        return engine(*args, **kwargs)

    words = ["--env", ABRUPT, "--agents", "ts", "random", "--jobs", "1", "--out", str(out)]
    assert evaluate(words, simulate=interrupted) == 130
    assert "evaluate: stopped; what is computed is stored: run the same command to go on" in capsys.readouterr().err
    assert evaluate(words, simulate=engine) == 0
    assert len(engine.calls) == 4  # one before Ctrl-C, three after: two agents, two blocks of 25


def test_the_paper_at_a_small_size(engine, out, capsys):
    said = paper_pipeline(out, engine, runs=12, horizon=1000, zoo=False, judged=True).run()
    assert "say nothing about the paper" in said[0]  # at another horizon
    assert len(said) <= 11
    assert said[-1] == f"report: {out / 'report.html'}"
    assert len(list((out / "figures").glob("*.png"))) == len(list((out / "figures").glob("*.svg"))) == 14
    claims = json.loads((out / "claims.json").read_text())
    assert len(claims) >= 40
    assert {"quote", "test", "figures", "verdict", "comparisons"} <= claims[0].keys()
    assert (out / "claims.md").read_text().count("\n## ") == len(claims) + 3  # readings, untested sentences, notes
    table = pd.read_parquet(out / "table.parquet")
    noted = len(set(study.study(horizon=1000).experiments[0].rounds))
    assert len(table) == (64 + 19 + 16) * 12 * noted  # 16 agents on 4 worlds, and other readings of their tuning
    summary = pd.read_csv(out / "summary.csv")
    assert len(summary) == 4 * (8 + 11) + 19 + 4 * 5
    assert (summary["low"] <= summary["final_regret"]).all()
    page = (out / "report.html").read_text()
    for must in ("the paper gives no σ for the abrupt worlds", "t ≈ 12,000", "code of the engine", "bootstrap"):
        assert must in page
    assert 'id="zoo"' not in page
    verdicts = (out / "claims.json").read_bytes()
    paper_pipeline(out, engine, runs=12, horizon=1000, judged=True).run()
    assert (out / "claims.json").read_bytes() == verdicts  # the zoo is beside the paper's claims, and changes none


def test_only_the_papers_horizon_or_a_longer_one_is_judged(engine, out):
    assert paper_pipeline(out, engine, horizon=50_000).claims
    assert paper_pipeline(out, engine, horizon=50_000).warning == ""
    assert paper_pipeline(out, engine, horizon=60_000).claims
    assert "say nothing about the paper" in paper_pipeline(out, engine, horizon=60_000).warning
    short = paper_pipeline(out, engine, horizon=49_999)
    assert (short.claims, short.untested, short.not_taken) == (None, (), ())


def test_the_paper_with_the_whole_zoo_adds_to_what_is_stored(engine, out, capsys):
    small = ["--runs", "12", "--horizon", "1000", "--out", str(out)]
    assert reproduce([*small, "--paper-only"], simulate=engine) == 0
    warning, *rest = capsys.readouterr().out.strip().splitlines()
    assert len(rest) == 2  # what was computed, and where the report is
    assert warning.startswith("The horizon is 1,000 (the paper's is 50,000")
    assert warning.endswith("what the paper says cannot be tried here, and no verdicts are given.")
    alone = len(engine.calls)
    (out / "claims.json").write_text("the verdicts of another horizon")
    assert reproduce(small, simulate=engine) == 0
    assert not list(out.glob("claims.*"))
    played = {call[1] for call in engine.calls[alone:]}
    assert played == set(agents.HOUSE) - {"oracle", "restarting", *ALGORITHMS.values()} | {"rexp3", "ser4", "sw-kl-ucb"}
    page = (out / "report.html").read_text()
    assert ('id="zoo"' in page, 'id="verdicts"' in page, "no verdicts are given" in page) == (True, False, True)
    assert len(list((out / "figures").glob("*-zoo.svg"))) == 4
    summary = pd.read_csv(out / "summary.csv")
    assert {"glr-ts", "switching-ts, blind", "oracle-restart"} <= set(summary["agent"])


def test_the_real_engine_on_a_table_of_your_own(tmp_path, capsys):
    rounds = np.arange(400)
    means = np.column_stack([np.where(rounds < 200, 0.9, 0.1), np.full(400, 0.5)])
    np.savetxt(tmp_path / "means.csv", means, delimiter=",", header="left,right", comments="")
    words = ["--env", str(tmp_path / "means.csv"), "--agents", "beta-swts:window=50", "random", "--runs", "12"]
    for jobs, folder in (("1", "one"), ("2", "two")):
        assert evaluate([*words, "--jobs", jobs, "--out", str(tmp_path / folder)]) == 0
    one, two = (pd.read_parquet(tmp_path / folder / "table.parquet") for folder in ("one", "two"))
    pd.testing.assert_frame_equal(one, two)
    final = one[one["round"] == 400].groupby("agent")["regret"].mean()
    assert final["beta-swts:window=50"] < final["random"] == pytest.approx(80, abs=5)


TOML = """
title = "Which memory?"
runs = 30
seed = 3
reference = "ts"
worlds = [{env = "NSBandit-Abrupt-v0", horizon = 1e3, label = "here"}]
agents = ["ts", {agent = "beta-swts", window = {sweep = [50, 200]}, label = "ours"}]
"""


@pytest.fixture
def described(tmp_path, engine):
    """A function that evaluates a description with more options, and returns its summary and its page."""
    (tmp_path / "mine.toml").write_text(TOML)

    def evaluated(*options):
        assert evaluate([str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out"), *options], simulate=engine) == 0
        return pd.read_csv(tmp_path / "out" / "summary.csv"), (tmp_path / "out" / "report.html").read_text()

    return evaluated


def test_options_have_the_last_word_beside_a_description(described):
    summary, page = described("--jobs", "-1")
    assert (set(summary["runs"]), set(summary["reference"])) == ({30}, {"ts"})
    assert "<h1>Which memory?</h1>" in page
    assert "seed 3" in page
    summary, page = described("--runs", "1e1", "--seed", "0", "--reference", "ours, window=50")
    assert (set(summary["runs"]), set(summary["reference"])) == ({10}, {"ours, window=50"})
    assert "10 runs · 1,000 rounds · seed 0" in page
    assert "1 world, 3 agents, 10 runs each" in page


def test_an_unknown_reference_beside_a_description_is_told(tmp_path, one_error):
    (tmp_path / "mine.toml").write_text(TOML)
    assert evaluate([str(tmp_path / "mine.toml"), "--reference", "ours", "--out", str(tmp_path / "out")]) == 2
    assert "unknown reference agent 'ours'; choose one of 'ts', 'ours, window=50'," in one_error("evaluate")


def charts_in(page):
    """The data of the charts of a page."""
    return json.loads(re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)[1])


def test_a_sweep_has_a_chart_and_a_figure_on_every_world(tmp_path, described):
    summary, page = described()
    assert {path.name for path in (tmp_path / "out" / "figures").iterdir()} == {
        f"here-{kind}.{ending}" for kind in ("means", "regret", "sweep") for ending in ("png", "svg")
    }
    line, tuned, recommended = charts_in(page)["sweep-0-0-0"]["data"]
    assert (line["name"], line["x"]) == ("ours", [50, 200])
    finals = summary.set_index("agent")["final_regret"]
    assert line["y"] == [round(finals[f"ours, window={n}"], 1) for n in (50, 200)]
    assert tuned["name"] == "ours, tuned: 332"  # 4√(1000 ln 1000) = 332.4
    assert recommended["name"].startswith("ours, recommended: ")
    assert "Final regret by window" in page


def test_arms_are_called_as_in_the_header_of_their_file(tmp_path, engine):
    means = np.column_stack([np.linspace(0.1, 0.9, 1000)] + [np.full(1000, 0.5)] * 9)
    header = ",".join(["<b>sale", "", *(f"offer {n}" for n in range(8))])
    np.savetxt(tmp_path / "shop.csv", means, delimiter=",", header=header, comments="")
    words = ["--env", str(tmp_path / "shop.csv"), "--agents", "ts", "random", "--runs", "10"]
    assert evaluate([*words, "--out", str(tmp_path / "out")], simulate=engine) == 0
    page = (tmp_path / "out" / "report.html").read_text()
    names = [trace["name"] for trace in charts_in(page)["means-0"]["data"]]
    assert names == ["&lt;b&gt;sale", "arm 2", *(f"offer {n}" for n in range(8))]
    assert "<b>sale" not in page
    pulls = page[page.index("Pulls of each arm") :]
    assert "&lt;b&gt;sale</th>" in pulls
    assert "offer 7</th>" in pulls


def test_the_description_that_the_help_shows_can_be_read(tmp_path):
    lines = DESCRIPTION.splitlines()
    shown = lines[lines.index('  title = "Which memory?"') :]
    (tmp_path / "mine.toml").write_text("\n".join(shown))
    study = read_study(tmp_path / "mine.toml")
    assert (study.title, len(study.experiments[0].worlds), len(study.experiments[0].agents)) == ("Which memory?", 2, 5)
    assert list(study.experiments[0].sweeps) == [("window", "beta-swts")]
    assert set(study.experiments[0].groups) == {"SW-UCB"}
