"""Labels that files could take amiss: formulas in CSV, ends of elements in SVG and HTML, what JSON does not know."""

import csv
import io
import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import ns_mab_gym
from ns_mab_gym.agents.core.arguments import escaped
from ns_mab_gym.figures.style import save_as, styled
from ns_mab_gym.figures.worlds import means_figure
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.pictures import planned
from ns_mab_gym.studies.study import Experiment, Study
from ns_mab_gym.studies.tables import csv_table, json_text

from ..support.hostile import LABELS, UNSHOWN

FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")


def test_no_text_of_a_table_is_a_formula_and_every_number_is_a_number():
    texts = [*LABELS, *UNSHOWN, "=1+1", "+x", "-x", "@x", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1x", "＠1"]
    numbers = [-0.5, 5, -7, np.float64(-1e-9), math.nan, -math.inf, None, "", "-0.25", "+3"]
    content = csv_table(["=header is ours", "number"], [[text, number] for text in texts for number in numbers])
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))[1:]
    assert len(rows) == len(texts) * len(numbers)
    for text, row in zip((text for text in texts for _ in numbers), rows, strict=True):
        assert not FORMULA.match(row[0]) or math.isfinite(float(row[0])), row[0]
        if not FORMULA.match(text):
            assert row[0] == escaped(text)  # nothing else is changed
    assert [row[1] for row in rows[: len(numbers)]][:4] == ["-0.5", "5", "-7", "-1e-09"]


def test_every_csv_is_written_there():
    """What holds for ``csv_table`` so holds for summaries, detections and leaderboards, and for what comes next."""
    written = re.compile(r"csv\.(writer|DictWriter)\b|\.to_csv\(")
    modules = Path(ns_mab_gym.__file__).parent.rglob("*.py")
    assert {file.stem for file in modules if written.search(file.read_text(encoding="utf-8"))} == {"tables"}


def test_json_has_no_numbers_that_json_does_not_know():
    content = {"a": [math.nan, {"b": (math.inf, 1.5)}], "c": -math.inf, "d": "NaN", "e": 5, "f": None, "g": True}
    read = json.loads(json_text(content), parse_constant=pytest.fail)
    assert read == {"a": [None, {"b": [None, 1.5]}], "c": None, "d": "NaN", "e": 5, "f": None, "g": True}
    assert json_text({"σ": [1, 2.5]}, separators=(",", ":")) == '{"σ":[1,2.5]}'


@pytest.mark.filterwarnings("ignore:.*Glyph")
def test_every_svg_is_xml_whatever_is_written_in_it(tmp_path):
    with styled():
        figure = Figure(figsize=(2, 1))
        for number, text in enumerate([*LABELS, *(text for text in UNSHOWN if text.isascii())]):
            figure.text(0.1, number / 100, text, label=text, gid=text, url=text)
    save_as(figure, tmp_path / "texts.svg")
    assert ElementTree.parse(tmp_path / "texts.svg").getroot().tag.endswith("svg")
    arms = ["bell\x07", "\x1b[31mred", "</svg>"]  # as the header of a file may call them
    save_as(means_figure(np.full((10, 3), 0.5), "a\x00b", arms), tmp_path / "means.svg")
    ElementTree.parse(tmp_path / "means.svg")


def test_every_label_has_figures_of_its_own():
    worlds = tuple(WorldSpec.of("abrupt", label=label) for label in LABELS)
    agents = (AgentSpec.of("ts", group="g"), AgentSpec.of("random"))
    figures = planned(
        Study("s", (Experiment(worlds=worlds, agents=agents), Experiment(worlds=worlds, agents=agents[:1])))
    )
    names = [f"{figure.name}{rest}" for figure in figures for rest in ("", "-alarms")]
    assert len({name.casefold() for name in names}) == len(names) > 4 * len(LABELS)
    assert all(re.fullmatch(r"[\w.-]+", name) and name[0].isalnum() and len(name.encode()) < 150 for name in names)
