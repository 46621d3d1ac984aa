"""The command lines, from words to the report: with the stand-in engine, and once with the real one."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from ns_mab_gym import agents
from ns_mab_gym.cli.evaluate_command import main as evaluate
from ns_mab_gym.cli.paper_command import main as reproduce
from ns_mab_gym.experiments.paper_names import ALGORITHMS

ABRUPT = "NSBandit-Abrupt-v0:horizon=1000"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--env", "NSBandit-Abrubt-v0", "--agents", "ts"],
            "unknown world 'NSBandit-Abrubt-v0'; did you mean 'NSBandit-Abrupt-v0'?",
        ),
        (["--env", ABRUPT, "--agents", "beta-swtz"], "unknown agent 'beta-swtz'; did you mean 'beta-swts'?"),
        (["--env", ABRUPT, "--agents", "beta-swts:windw=5"], "has no parameter 'windw'; did you mean 'window'?"),
        (["--env", ABRUPT, "--agents", "beta-swts:window=-3"], "window must be a positive integer, got -3"),
        (["--env", f"{ABRUPT},reward=gaussian", "--agents", "beta-swts"], "gamma-swgts"),
        (["--env", "NSBandit-Abrupt-v0:horizon=-1", "--agents", "ts"], "horizon must be a positive integer, got -1"),
        (["--env", "nowhere.csv", "--agents", "ts"], "no file of means at 'nowhere.csv'"),
        (["--env", ABRUPT, "--agents", "ts", "ts"], "2 agents are labelled 'ts'"),
        (["--env", ABRUPT, "--agents", "ts", "--runs", "0"], "--runs: must be a positive integer, got '0'"),
        (["--env", ABRUPT, "--agents", "ts", "--runs", "many"], "--runs: must be a positive integer, got 'many'"),
        (["--env", ABRUPT, "--agents", "ts", "--jobs", "0"], "--jobs: must be a positive integer, got '0'"),
        (["--env", ABRUPT, "--agents", "ts", "--seed", "-1"], "--seed: must be an integer of at least 0, got '-1'"),
        (["--env", ABRUPT, "--agents", "ts", "--reference", "tz"], "unknown reference agent 'tz'; did you mean 'ts'?"),
        (["--env", ABRUPT, "--agents", "sb3:path=none.zip"], "no saved model at 'none.zip'"),
        (["--env", ABRUPT, "--agents", "ts", "--agent", "ts", "--bars"], "unrecognized arguments: --bars"),
        (["--env", ABRUPT], "name at least one world (--env) and one agent (--agents)"),
        (["mine.toml", "--agents", "ts"], "give a description or --agents, not both"),
        (["mine.toml", "--seed", "0"], "give a description or --seed, not both"),
        (["mine.toml"], "cannot read the description 'mine.toml'"),
    ],
)
def test_bad_input_is_one_line_before_anything_runs(arguments, message, engine, out, one_error):
    assert evaluate([*arguments, "--out", str(out)], simulate=engine) == 2
    assert message in one_error("evaluate")
    assert engine.calls == []
    assert not out.exists()


def test_malformed_toml_names_the_line(tmp_path, engine, one_error):
    file = tmp_path / "mine.toml"
    file.write_text("runs = 5\nagents = ['ts\n")
    assert evaluate([str(file), "--out", str(tmp_path / "out")], simulate=engine) == 2
    assert "is not valid TOML" in (said := one_error("evaluate"))
    assert "line 2" in said


def test_a_folder_with_other_things_is_left_alone(tmp_path, engine, one_error):
    (tmp_path / "thesis.tex").write_text("years of work")
    assert evaluate(["--env", ABRUPT, "--agents", "ts", "--out", str(tmp_path)], simulate=engine) == 2
    assert "holds other things" in one_error("evaluate")


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


def test_names_given_by_users_cannot_become_markup(tmp_path, engine):
    label = "<script>alert('x')</script>"
    (tmp_path / "mine.toml").write_text(
        f'runs = 12\nworlds = [{{env = "NSBandit-Abrupt-v0", horizon = 1000, label = "{label}&</title>"}}]\n'
        f'agents = [{{agent = "ts", label = "{label}", note = "{label}"}}, "random"]\n'
    )
    assert evaluate([str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out")], simulate=engine) == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert label not in page
    assert label in html.unescape(page)
    assert page.split("<script>")[0].count("</title>") == 1
    charts = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)
    names = [trace["name"] for chart in json.loads(charts[1]).values() for trace in chart["data"]]
    assert label not in "".join(names)
    assert f"{label}*" in map(html.unescape, names)


def test_the_page_loads_nothing_from_elsewhere(engine, out):
    assert (
        evaluate(["--env", ABRUPT, "--agents", "ts", "random", "--runs", "12", "--out", str(out)], simulate=engine) == 0
    )
    page = (out / "report.html").read_text()
    assert re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?!data:)", page.replace("\n", " ")) == []
    assert "default-src 'none'" in page
    assert page.count('id="regret-0-0"') == 1


def test_the_paper_at_a_small_size(engine, out, capsys):
    small = ["--runs", "12", "--horizon", "1000", "--out", str(out)]
    assert reproduce([*small, "--paper-only"], simulate=engine) == 0
    said = capsys.readouterr().out.strip().splitlines()
    assert "say nothing about the paper" in said[0]  # at another horizon
    assert len(said) <= 11
    assert said[-1] == f"report: {out / 'report.html'}"
    assert len(list((out / "figures").glob("*.png"))) == len(list((out / "figures").glob("*.svg"))) == 14
    claims = json.loads((out / "claims.json").read_text())
    assert len(claims) >= 40
    assert {"quote", "test", "figures", "verdict", "comparisons"} <= claims[0].keys()
    assert (out / "claims.md").read_text().count("\n## ") == len(claims) + 3  # readings, untested sentences, notes
    table = pd.read_parquet(out / "table.parquet")
    assert len(table) == (64 + 19 + 16) * 12 * 20  # 16 agents on 4 worlds, and other readings of their tuning
    summary = pd.read_csv(out / "summary.csv")
    assert len(summary) == 4 * (8 + 11) + 19 + 4 * 5
    assert (summary["low"] <= summary["final_regret"]).all()
    page = (out / "report.html").read_text()
    for must in ("the paper gives no σ for the abrupt worlds", "t ≈ 12,000", "code of the engine", "bootstrap"):
        assert must in page
    assert 'id="zoo"' not in page


def test_the_paper_with_the_whole_zoo_adds_to_what_is_stored(engine, out, capsys):
    small = ["--runs", "12", "--horizon", "1000", "--out", str(out)]
    assert reproduce([*small, "--paper-only"], simulate=engine) == 0
    alone, claims = len(engine.calls), (out / "claims.json").read_bytes()
    assert reproduce(small, simulate=engine) == 0
    played = {call[1] for call in engine.calls[alone:]}
    assert played == set(agents.HOUSE) - {"oracle", "restarting", *ALGORITHMS.values()} | {"rexp3", "ser4", "sw-kl-ucb"}
    assert (out / "claims.json").read_bytes() == claims  # a verdict of the paper's does not hang on other agents
    page = (out / "report.html").read_text()
    assert 'id="zoo"' in page
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
