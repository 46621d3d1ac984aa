"""What the page says of detections: a scorecard for each agent with a detector, every breakpoint, every alarm."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.experiments import Results
from ns_mab_gym.experiments.report import Page
from ns_mab_gym.experiments.report.sections import Sections

from . import by_hand
from .html_reader import Reader

pytestmark = pytest.mark.usefixtures("without_plotly")

MEANS = np.repeat([[0.9, 0.5], [0.1, 0.5]], by_hand.HORIZON // 2, axis=0)  # arm 1 changes in round 51
# Three runs: a delay of 10 and a false alarm; a delay of 30; nothing.
LOGS = [np.array(log, ALARM) for log in ([(20, 1, False), (60, 0, False)], [(80, 0, False)], [])]
HEAD = ["Agent", "Mean delay", "Missed", "False alarms in a run", "in 10,000 rounds", "Runs with a false alarm",
        "True alarms in a run"]  # fmt: skip


def results(*agents: str, logs: list[np.ndarray] = LOGS) -> Results:
    """The study by hand, in whose first world some agents log these alarms."""
    found = by_hand.results()
    for agent in agents:
        found.curves["here"][agent] = replace(found.curves["here"][agent], alarms=logs)
    return found


def read(found: Results, means: np.ndarray | None = MEANS, **parts: object) -> Reader:
    page = Page(found, {"here": means, "there": None}, "in short", [("seed", 0)], **parts)  # type: ignore[arg-type]
    return Reader(page.html())


def test_without_alarms_there_is_no_section():
    assert "Detections" not in read(results()).texts


def test_agents_with_a_detector_have_a_row():
    page = read(results("b", by_hand.BOLD))
    [scores] = [table for table in page.tables if table[0] == HEAD]
    assert [row[0] for row in scores[1:]] == ["b", by_hand.BOLD]
    assert scores[1][1:4] == ["20 (10 to 30)", "33.3 % (0.8 to 90.6 %)", "0.333 (0 to 1)"]
    assert scores[1][4:] == ["33.3 (0 to 100)", "33.3 % (0.8 to 90.6 %)", "0.667 (0 to 1)"]
    assert page.texts.count("Detections") == 1  # the other world has no such agents


def test_other_readings_are_told_apart():
    found = results("b", by_hand.BOLD)
    cards = Sections(found, {"here": MEANS, "there": None}, ()).of(0, found.study.worlds[0]).detections[0]
    assert [(row.agent, row.other) for row in cards.rows] == [("b", False), (by_hand.BOLD, True)]
    assert [(row.agent, row.other) for row in cards.breakpoints] == [("b", False), (by_hand.BOLD, True)]


def test_each_breakpoint_is_told():
    page = read(results("b"))
    [breakpoints] = [table for table in page.tables if table[0][1:] == ["round 51, arm 1"]]
    assert breakpoints[1] == ["b", "2 of 3, delay 20 (10 to 30)"]


def test_the_picture_is_part_of_the_page(tmp_path: Path):
    found = results("b")
    [here, _] = found.study.experiments
    picture = tmp_path / "alarms.svg"
    picture.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    page = read(found, timelines={(here, here.worlds[0]): picture})
    [image] = page.images
    assert base64.b64decode(image.partition(",")[2]) == picture.read_bytes()
    assert read(found).images == []


@pytest.mark.parametrize("means", [None, np.random.default_rng(0).random((by_hand.HORIZON, 2))])
def test_a_world_without_breakpoints_says_so(means: np.ndarray | None):
    page = read(results("b"), means)
    assert page.texts.count("Detections") == 1
    assert any("Some agents sound alarms, which are not scored here" in text for text in page.texts)
    assert HEAD not in [table[0] for table in page.tables]


def test_a_full_log_is_told():
    full = np.array([(at // 100 + 1, 1, False) for at in range(10_000)], ALARM)
    page = read(results("b", logs=[full, *LOGS[1:]]))
    assert any("b: the log of alarms was full in 1 runs" in text for text in page.texts)
