"""The report of a comparison: the page of ``evaluate``, also for worlds and agents that have no words."""

from __future__ import annotations

import csv
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.experiments import StoreError


@pytest.fixture(scope="module")
def found():
    """Objects without words, labels that differ in case alone, a sweep, a pair that cannot be played."""
    array = np.random.default_rng(0).random((80, 3))
    players = [
        agents.BetaSWTS(3, window=9),
        {"a/b": "random", "A/B": "ts"},
        nsb.sweep(agents.BetaSWTS, window=[5, 20]),
    ]
    settings = {"runs": 5, "progress": False, "on_misfit": "skip"}
    return nsb.compare([array, worlds.RandomWalk(horizon=60, n_arms=4)], players, **settings)


def test_a_folder_holds_the_page_and_everything_behind_it(found, tmp_path):
    page = found.report(tmp_path / "new" / "report")
    assert page == tmp_path / "new" / "report" / "report.html"
    text = page.read_text()
    for label in ("array", "random-walk", "a/b", "A/B", "beta-swts:window=20", "made for 3 arms"):
        assert label in text
    assert "<script src=" not in text
    with (page.parent / "summary.csv").open() as lines:
        rows = {(row["world"], row["agent"]): float(row["final_regret"]) for row in csv.DictReader(lines)}
    assert rows == {
        (world, agent): pytest.approx(runs.final.mean())
        for world, played in found.runs.items()
        for agent, runs in played.items()
    }
    assert pq.read_table(page.parent / "table.parquet").num_rows == len(found.curves())
    assert len(list((page.parent / "figures").glob("*.png"))) == 6  # means, regret and sweep of two worlds
    assert found.report(page.parent) == page  # again into its own folder


def test_a_file_is_the_page_alone(found, tmp_path):
    assert found.report(tmp_path / "sub" / "mine.html") == tmp_path / "sub" / "mine.html"
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["mine.html"]


def test_a_folder_with_other_things_is_refused(found, tmp_path):
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(StoreError, match="holds other things; choose a new or empty folder"):
        found.report(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_readme_that_is_no_text_is_another_thing(found, tmp_path):
    (tmp_path / "README.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StoreError, match="holds other things"):
        found.report(tmp_path)


def test_figures_that_lead_elsewhere_are_left_alone(found, tmp_path):
    page = found.report(tmp_path / "report")
    elsewhere = tmp_path / "holiday"
    elsewhere.mkdir()
    (elsewhere / "sea.png").write_bytes(b"blue")
    shutil.rmtree(page.parent / "figures")
    (page.parent / "figures").symlink_to(elsewhere)
    with pytest.raises(StoreError, match=r"figures' is a link to another place; remove the link, or choose"):
        found.report(page.parent)
    assert [path.name for path in elsewhere.iterdir()] == ["sea.png"]
