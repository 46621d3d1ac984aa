"""The command lines, from words to the report: with the stand-in engine, and once with the real one."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from small_paper import SIZE

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


def test_the_paper_at_a_small_size(paper_folder):
    said = json.loads((paper_folder / "written.json").read_text())["said"]["lines"]
    assert "say nothing about the paper" in said[0]  # at another horizon
    assert len(said) <= 9
    for ending in ("png", "svg"):
        names = {path.stem for path in (paper_folder / "figures").glob(f"*.{ending}")}
        assert len([name for name in names if name.endswith("-zoo")]) == 4
        assert len([name for name in names if not name.endswith(("-zoo", "-alarms"))]) == 14
    claims = json.loads((paper_folder / "claims.json").read_text())
    assert len(claims) >= 40
    assert {"quote", "test", "figures", "verdict", "comparisons"} <= claims[0].keys()
    assert (paper_folder / "claims.md").read_text().count("\n## ") == len(claims) + 3  # readings, untested, notes
    page = (paper_folder / "report.html").read_text()
    for must in ("the paper gives no σ for the abrupt worlds", "t ≈ 12,000", "code of the engine", "bootstrap"):
        assert must in page


def test_without_the_zoo_the_verdicts_are_the_same_from_what_is_stored(paper_folder, engine, out, undrawn):
    shutil.copytree(paper_folder, out)
    paper_pipeline(out, engine, **SIZE, zoo=False).run()
    assert engine.calls == []
    assert (out / "claims.json").read_bytes() == (paper_folder / "claims.json").read_bytes()
    assert 'id="zoo"' not in (out / "report.html").read_text()
    table = pd.read_parquet(out / "table.parquet")
    noted = len(set(study.study(horizon=SIZE["horizon"]).experiments[0].rounds))
    assert len(table) == (64 + 19 + 16) * 12 * noted  # 16 agents on 4 worlds, and other readings of their tuning
    summary = pd.read_csv(out / "summary.csv")
    assert len(summary) == 4 * (8 + 11) + 19 + 4 * 5
    differing = summary[summary["sd"] > 1e-9]  # some agents play the arms in turn, whatever they see
    assert (differing["low"] <= differing["final_regret"]).all()


def test_only_the_papers_horizon_or_a_longer_one_is_judged(engine, out):
    assert paper_pipeline(out, engine, horizon=50_000).claims
    assert paper_pipeline(out, engine, horizon=50_000).warning == ""
    assert paper_pipeline(out, engine, horizon=60_000).claims
    assert "say nothing about the paper" in paper_pipeline(out, engine, horizon=60_000).warning
    short = paper_pipeline(out, engine, horizon=49_999)
    assert (short.claims, short.untested, short.not_taken) == (None, (), ())


def test_the_paper_with_the_whole_zoo_adds_to_what_is_stored(engine, out, capsys, undrawn):
    small = ["--runs", "4", "--horizon", "1000", "--out", str(out)]
    assert reproduce([*small, "--paper-only"], simulate=engine) == 0
    warning, *table, _, computed, report = capsys.readouterr().out.strip().splitlines()
    assert "Abrupt: regret after 1,000 rounds, mean ± standard error of 4 runs" in table
    assert "units computed" in computed
    assert report == f"report: {out / 'report.html'}"
    assert warning.startswith("The horizon is 1,000 (the paper's is 50,000")
    assert warning.endswith("what the paper says cannot be tried here, and no verdicts are given.")
    alone = len(engine.calls)
    (out / "claims.json").write_text("the verdicts of another horizon")
    assert reproduce(small, simulate=engine) == 0
    assert not list(out.glob("claims.*"))
    played = {call[1] for call in engine.calls[alone:]}
    left_out = {"oracle", "restarting", "floor", *ALGORITHMS.values()}
    assert played == set(agents.HOUSE) - left_out | {"rexp3", "ser4", "sw-kl-ucb"}
    page = (out / "report.html").read_text()
    assert ('id="zoo"' in page, 'id="verdicts"' in page, "no verdicts are given" in page) == (True, False, True)
    summary = pd.read_csv(out / "summary.csv")
    assert {"glr-ts", "switching-ts, blind", "oracle-restart"} <= set(summary["agent"])


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


def test_what_is_stored_is_computed_again_if_asked_for(described, engine):
    described()
    units = len(engine.calls)
    described()
    assert len(engine.calls) == units
    described("--fresh")
    assert engine.calls[units:] == engine.calls[:units]


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
