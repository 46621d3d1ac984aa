"""The command ``log`` on logs as people have them, and ``diagnose`` on tables of rates."""

import numpy as np
import pytest

from ns_mab_gym.cli.entry import main


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    """A log of 2,000 decisions and a table of 200 rates, in which one arm falls half-way."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    times, arms = np.sort(rng.integers(86_400, size=2_000)), rng.integers(2, size=2_000)
    won = rng.random(2_000) < np.where((arms == 1) & (times > 43_200), 0.1, 0.4)
    rows = [
        f"{1_767_225_600 + at},{('blue', 'green')[arm]},{int(w)}" for at, arm, w in zip(times, arms, won, strict=True)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["ts,variant,clicked", *rows]))
    means = np.where(np.arange(200) < 100, 0.3, 0.1)[:, None] * [1, 0] + [0, 0.2]
    counts = rng.binomial(50, means)
    lines = [",".join(map(str, row)) for row in (counts / 50).tolist()]
    (tmp_path / "rates.csv").write_text("\n".join(["blue,green", *lines]))
    (tmp_path / "counts.csv").write_text("\n".join(["blue,green", *(f"{a},{b}" for a, b in counts)]))


def test_a_log_is_read_told_and_written(capsys, tmp_path):
    assert main(["log", "log.csv", "--permutations", "99"]) == 0
    said = capsys.readouterr().out
    assert "Guessed: time from 'ts', arm from 'variant', reward from 'clicked'." in said
    assert "Times were read as seconds since 1970." in said
    assert "green fell from " in said
    assert "blue does not move beyond noise." in said
    assert said.endswith("page: results/log-log.html\n")
    page = (tmp_path / "results" / "log-log.html").read_text()
    assert "<code>ns-mab-gym log log.csv --permutations 99</code>" in page
    assert "data:image/svg+xml;base64," in page


def test_columns_can_be_named_and_the_page_put_elsewhere(capsys, tmp_path):
    words = "--time ts --arm variant --reward clicked --fold day --out here/page.html --permutations 19"
    assert main(["log", "log.csv", *words.split()]) == 0
    said = capsys.readouterr().out
    assert "Guessed" not in said
    assert "Times are hours of the day" in said
    assert (tmp_path / "here" / "page.html").exists()


def test_a_table_of_successes_with_trials_is_a_log(capsys):
    assert main(["log", "counts.csv", "--trials", "50", "--permutations", "99"]) == 0
    said = capsys.readouterr().out
    assert "2 arms, 20,000 decisions from 1 to 200" in said
    assert "blue fell from " in said


def test_diagnose_says_that_rates_are_estimates_and_takes_trials(capsys):
    assert main(["diagnose", "rates.csv"]) == 0
    plain = capsys.readouterr().out
    assert plain.startswith("note: 19")
    assert "of 199 rounds differ from the one before. If these are measured rates, they are estimates" in plain
    assert main(["diagnose", "rates.csv", "--trials", "50"]) == 0
    told = capsys.readouterr().out
    assert "blue fell from " in told
    assert "green does not move beyond noise." in told
    rows = [line.split() for text in (plain, told) for line in text.splitlines()]
    switches = [int(row[5]) for row in rows if row[:1] == ["switches"] and len(row) == 6]  # of theory's descriptions
    assert switches[0] > 5  # of rates as they were measured
    assert switches[1] == 1


def test_diagnose_leaves_exact_means_alone(capsys, tmp_path):
    (tmp_path / "means.csv").write_text("a,b\n" + "0.1,0.5\n" * 60 + "0.9,0.5\n" * 60)
    assert main(["diagnose", "means.csv"]) == 0
    assert "measured" not in capsys.readouterr().out
