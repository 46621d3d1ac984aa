"""The page without a browser: texts stay texts, tables and charts show the results."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.claims.judging import Choice, Claim, Finding, Judged, Judgement, Reading, Untested, Verdict
from ns_mab_gym.figures.regret import POINTS, Swept
from ns_mab_gym.report.charts import charts_of_sweeps, means_chart, other_curves, regret_chart
from ns_mab_gym.report.page import Page, environment
from ns_mab_gym.report.sections import MOST, Share, pulls_table
from ns_mab_gym.runs import Runs
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.pictures import Drawn
from ns_mab_gym.studies.results import Results

from . import by_hand
from .by_hand import HORIZON, THREE
from .conftest import HOSTILE, TOGETHER
from .html_reader import Reader

pytestmark = pytest.mark.usefixtures("without_plotly")


def page_of(
    finals: Mapping[str, Sequence[float]] = THREE,
    world: str = "here",
    title: str = "A study",
    noted: Mapping[str, str] | None = None,
    **parts: Any,
) -> Page:
    """A page about the final regrets of some agents on one world."""
    agents = [AgentSpec.of("ts", label=label, note=note) for label, note in (noted or {}).items()]
    parts = {"means": {world: np.full((HORIZON, 2), 0.5)}, **parts}
    return by_hand.page_of(by_hand.results_of({world: finals}, title, agents), **parts)


def page_about(text: str) -> str:
    """A page in which every text is the given one."""
    texts = {"world": text, "title": text, "noted": {text: text}, "settings": [(text, text)]}
    texts |= {"notes": [text], "warning": text, "command": text, "made": text, "judged": [depending(text)]}
    texts |= {"untested": [Untested(text, text)], "not_taken": [text]}
    return page_of({text: [1.0, 2.0], f"{text} too": [2.0, 3.0]}, **texts).html()


def depending(text: str) -> Judged:
    """A claim whose verdict depends on a choice, both made of the given text."""
    choice = Choice(text, text, (Reading(text, text), Reading(f"{text} too", text)), agent=text)
    verdicts = zip(choice.readings, (Verdict.FAILS, Verdict.HOLDS), strict=True)
    findings = {(reading,): Finding(verdict, text, instead=text) for reading, verdict in verdicts}
    judgement = Judgement((choice,), findings, dict.fromkeys(findings, text), 50)
    return Judged(
        Claim(text, text, text, lambda _: findings[choice.readings[0],], (choice,)), text, judgement, judgement
    )


@pytest.mark.parametrize("hostile", [TOGETHER, HOSTILE[-1]], ids=["together", "comment"])
def test_a_hostile_text_adds_no_element_and_cannot_end_the_data_of_the_charts(hostile: str):
    page = Reader(page_about(hostile))
    harmless = re.sub(r"[^\s,;:.]", "x", hostile)  # figures have one element for each piece, whatever is in it
    assert page.elements == Reader(page_about(harmless)).elements
    assert page.texts.count(hostile) > 5
    assert page.tables[-1][1] == [hostile, hostile]
    assert len(page.scripts) == 4
    assert not set("<>&") & set(page.scripts[1] + page.scripts[2])
    escaped = hostile.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert {trace["name"] for trace in page.charts["regret-0-0"]["data"]} == {f"{escaped}*", f"{escaped} too"}


@settings(deadline=None, max_examples=30)
@given(text=st.text(alphabet=st.sampled_from("<>/!-&;\"'`=\\{}%#$ \nscript"), min_size=1, max_size=30))
def test_no_text_becomes_an_element(text: str):
    template = environment().from_string('<p title="{{ text }}">{{ text }}</p><script>{{ text | tojson }}</script>')
    page = Reader(template.render(text=text))
    assert page.elements == [("p", "title"), ("script",)]
    assert json.loads(page.scripts[0]) == text


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_no_json_never_reaches_the_page(number: float):
    data = {"regret": [1.0, number], "arms": ({"best": number}, 2)}
    written = environment().from_string("{{ data | tojson }}").render(data=data)
    read = json.loads(written, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert read == {"regret": [1.0, None], "arms": [{"best": None}, 2]}


def test_the_page_loads_nothing_from_elsewhere():
    page = page_of().html()
    assert re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?!data:)", page.replace("\n", " ")) == []
    assert "default-src 'none'" in page


def test_a_name_that_is_not_there_is_an_error():
    for template in ("{{ missing }}", "{% if missing %}{% endif %}", "{{ known.missing }}"):
        with pytest.raises(UndefinedError, match="missing"):
            environment().from_string(template).render(known=object())


def test_the_same_results_give_the_same_bytes():
    once, again = page_of(), page_of()
    assert once.html() == once.html() == again.html()
    assert once.html() != page_of({**THREE, "third": [150.0, 250.0, 351.0]}).html()


def test_final_regrets_and_their_comparison_with_the_reference():
    page = page_of(noted={"third": "plays with closed eyes"})
    assert page.footnotes() == ["* third: plays with closed eyes"]
    read = Reader(page.html())
    assert page.footnotes()[0] in read.texts  # below the table
    head, *rows = read.tables[1]
    assert head == [
        "Agent", "Final regret", "95 % interval", "sd", "minus first", "95 % interval", "P(less)", "mean rank",
        "Parameters",
    ]  # fmt: skip
    columns = zip(*rows, strict=True)
    agents, regrets, intervals, sds, differences, their_intervals, improvements, ranks, parameters = columns
    assert set(parameters) == {"τ = 5"}
    assert agents == ("second", "first", "third*")  # the least regret first
    # Squared deviations sum to 24,267 and 20,000; sd = √(sum / 2), standard error = sd / √3.
    assert regrets == ("197 ± 63.6", "200 ± 57.7", "250 ± 57.7")
    assert sds == ("110", "100", "100")
    assert differences == ("-3", "–", "+50")
    assert set(intervals) == set(their_intervals) == {"–"}  # three runs give no interval
    assert improvements == ("67%", "–", "0%")
    assert ranks == ("1.33", "1.67", "3.00")


def test_one_world_has_no_mean_rank_and_its_label_is_not_said_twice():
    page = Reader(page_of().html())
    assert page.tables[0][0] == ["Agent", "here"]
    assert "NSBandit-Abrupt-v0:horizon=100" in page.texts  # which the label does not say
    told = Reader(page_of(world="NSBandit-Abrupt-v0:horizon=100").html())
    assert told.texts.count("NSBandit-Abrupt-v0:horizon=100") == page.texts.count("here")
    assert "Winner: " in page.texts
    assert any("P(less): in how many of the runs" in text for text in page.texts)


def test_other_readings_stand_below_the_agents_ranked_in_the_place_of_theirs(hand_page: Reader):
    assert hand_page.elements.count(("tr", "class")) == 1  # in italics, which a note explains
    assert len([text for text in hand_page.texts if text.startswith("Rows in italics")]) == 1
    here = next(table for table in hand_page.tables if table[0][0] == "Agent" and len(table[0]) == 9)
    # b, boldly, has less regret than a and c in every run: 40, 50, 60 against 100 and more.
    assert [(row[0], row[1], row[7]) for row in here[1:]] == [
        ("c", "160 ± 30.6", "1.17"),  # 100 against 100: a tie in the first run
        ("a", "200 ± 57.7", "1.83"),
        ("b", "250 ± 57.7", "3.00"),
        ("b (boldly)", "50 ± 5.8", "1.00"),
    ]


def test_the_first_table_has_every_agent_on_every_world(hand_page: Reader):
    head, *rows = hand_page.tables[0]
    assert head == ["Agent", "here", "there", "mean rank"]
    assert [[" ".join(cell.split()) for cell in row] for row in rows] == [
        ["a", "2200 ± 58τ = 5", "220 ± 5.8τ = 5", "2.0"],  # place, regret, parameters
        ["b", "3250 ± 58τ = 5", "110 ± 2.9τ = 5", "2.0"],
        ["c", "1160 ± 31τ = 5", "330 ± 5.8τ = 5", "2.0"],
    ]


def test_claims_at_a_glance():
    def judged(key: str, world: str, verdict: Verdict, said_of: str = "") -> Judged:
        finding, test = Finding(verdict, "a 1, b 2", instead="b 2, a 1"), f"tested{' otherwise' if said_of else ''}"
        claim = Claim(key, f"{key} said", test, lambda _: finding, said_of=said_of)
        return Judged(claim, world, Judgement((), {(): finding}, {(): test}, 50))

    claims = [judged("one", "here", Verdict.HOLDS), judged("one", "there", Verdict.UNDECIDED, "elsewhere")]
    claims += [judged("two", world, Verdict.FAILS) for world in ("here", "there")]
    page = Reader(page_of(judged=claims, warning="beware").html())
    assert [[cell.strip() for cell in row] for row in page.tables[1]] == [
        ["Claim", "here", "there"],
        ["50 runs", "50 runs"],
        ["one", "holds", "undecided†"],
        ["two", "does not hold", "does not hold"],
    ]
    counts = " ".join("".join(page.texts).split())
    by_headline = "by the headline reading: 1 holds2 do not hold1 is undecidedof these 0 depend on the reading"
    assert f"4 sentences tested by 50 runs, {by_headline}" in counts
    assert "No algorithm was played further; ns-mab-gym paper --runs 500 plays those" in counts
    # Once for all worlds, unless they differ.
    assert " ".join(page.tables[2][1][0].split()) == "one saidTest: tested; or tested otherwise."
    said, found = (" ".join(cell.split()) for cell in page.tables[2][2])
    assert said == "two saidTest: tested."
    assert found == " ".join(f"does not hold {world} a 1, b 2. Instead: b 2, a 1." for world in ("here", "there"))
    assert {"Verdicts", "beware"} <= set(page.texts)


def test_a_verdict_that_depends_says_on_what_and_what_each_reading_gives(hand_page: Reader):
    tables = hand_page.tables
    rows = [[" ".join(cell.split()) for cell in row] for row in tables[1]]
    assert rows[1] == ["3 runs", "30 runs", "3 runs", "30 runs"]
    assert rows[2:] == [
        ["b best", "does not hold depends on tuning of b", "–", "holds other readings agree", "–"],
        ["a best", "does not hold depends on who, tuning of b", "–", ""],
        ["it lasts", "holds† depends on how long", "holds other readings agree", ""],
    ]
    assert hand_page.titles.count("does not hold; depends on who, tuning of b") == 1
    assert hand_page.titles.count("holds; depends on how long") == 1
    assert " ".join(tables[2][2][0].split()) == (
        "a is the bestTest: a has the least. Headline reading: who: with c; tuning of b: as said."
    )
    found = " ".join(tables[2][2][1].split())
    assert found == (
        "does not hold depends on who, tuning of b here a 200, b 250, c 160. Instead: c is. "
        "Is c compared? does not hold with c figures a 200, b 250, c 160. holds without c figures a 200, b 250. "
        "How is b tuned? holds as said (with who: without c) figures a 200, b 250. "
        "does not hold boldly (with who: without c) figures a 200, b 50."
    )


def test_a_verdict_by_more_runs_that_depends_says_on_what_too():
    judged = [replace(each, later=replace(each.now, runs=30)) for each in by_hand.judged()]
    page = replace(by_hand.page(), judged=judged)
    found = " ".join(Reader(page.html()).tables[2][3][1].split())
    said = "holds depends on how long"
    depends = "lasted. For how long? holds short figures lasted. undecided long figures lasted."
    assert found == f"{said} here† said of elsewhere {depends} By 30 runs: {said} {depends}"


def test_the_readings_with_their_reasons_are_in_the_page():
    page = by_hand.page()
    page = replace(page, not_taken=["not this one"], untested=[Untested("a belief", "no run decides it")])
    tables = {table[0][1]: table for table in Reader(page.html()).tables}
    rows = [[" ".join(cell.split()) for cell in row] for row in tables["Readings, and what speaks for each"][1:]]
    assert rows[0] == ["whoIs c compared?", "with c: it is named without c: it is late"]
    assert [row[0] for row in rows[1:]] == ["tuning of bHow is b tuned?", "how longFor how long?"]
    assert tables["Why it was not tested"][1] == ["a belief", "no run decides it"]
    assert {"not this one", "Not tested"} <= set(Reader(page.html()).texts)  # the latter among the contents


def test_the_first_lines_say_what_was_run(hand_page: Reader):
    texts = hand_page.texts
    assert "Not tested" not in texts
    assert texts[texts.index("typed") + 1] == " · today · 3 runs, further runs to 30 · 100 rounds · seed 0"
    first = texts.index("4 sentences tested by 3 runs, ")
    counts = " ".join("".join(texts[first : texts.index("What the paper says, and what the runs show")]).split())
    assert counts.startswith(
        "4 sentences tested by 3 runs, by the headline reading: 2 hold2 do not hold0 are undecided"
        "of these 3 depend on the reading "
        "1 of them again by 30 runs: 1 holds0 do not hold0 are undecidedof these 0 depend on the reading"
    )


def test_without_claims_there_are_no_verdicts():
    page = Reader(page_of().html())
    assert not {"Verdicts", "Readings", "Not tested"} & set(page.texts)
    assert not [text for text in page.texts if "further runs" in text]
    assert not [attributes for tag, *attributes in page.elements if tag in ("form", "select")]
    assert len(page.tables[0]) == 4  # but the first screen is the same


def test_parameters_and_settings_are_shown():
    tables = Reader(page_of(settings=[("seed", 7), ("numpy", "2.0")]).html()).tables
    assert tables[-2][1] == ["here", "first", "ts", "n_arms = 2, window = 5"]
    assert tables[-1] == [["Setting", "Value"], ["seed", "7"], ["numpy", "2.0"]]


def test_means_are_shown_where_they_are_known_and_said_to_be_of_one_run_where_they_are_drawn_anew(monkeypatch):
    page = Reader(page_of().html())
    assert ("Means" in page.texts, set(page.charts)) == (True, {"means-0", "regret-0-0"})
    assert set(Reader(page_of(means={"here": None}).html()).charts) == {"regret-0-0"}
    monkeypatch.setattr(WorldSpec, "random", True)
    assert "Means (as in the first run)" in Reader(page_of().html()).texts


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


def read(found: Results, means: np.ndarray | None = MEANS, **parts: Any) -> Reader:
    return Reader(by_hand.page_of(found, means={"here": means, "there": None}, **parts).html())


def test_agents_with_a_detector_have_a_row_and_each_breakpoint_is_told():
    page = read(results("b", by_hand.BOLD))
    [scores] = [table for table in page.tables if table[0] == HEAD]
    assert [row[0] for row in scores[1:]] == ["b", by_hand.BOLD]
    assert scores[1][1:4] == ["20 (10 to 30)", "33.3 % (0.8 to 90.6 %)", "0.333 (0 to 1)"]
    assert scores[1][4:] == ["33.3 (0 to 100)", "33.3 % (0.8 to 90.6 %)", "0.667 (0 to 1)"]
    assert page.texts.count("Detections") == 1  # the other world has no such agents
    assert page.elements.count(("tr", "class")) == 3  # of finals, scores and breakpoints: other readings, in italics
    [breakpoints] = [table for table in page.tables if table[0][1:] == ["round 51, arm 1"]]
    assert breakpoints[1] == ["b", "2 of 3, delay 20 (10 to 30)"]
    assert "Detections" not in read(results()).texts


def test_pictures_are_part_of_the_page(tmp_path: Path):
    found, picture = results("b"), tmp_path / "alarms.svg"
    [here, _] = found.study.experiments
    picture.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    page = read(found, drawn=Drawn([], {(here, here.worlds[0]): picture}, {}, [(picture, "what it shows")]))
    assert "what it shows" in page.texts
    assert len(page.images) == 2
    for kind, _, data in (image.partition(",") for image in page.images):
        assert (kind, base64.b64decode(data)) == ("data:image/svg+xml;base64", picture.read_bytes())
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


def runs_of(regret: np.ndarray, pulls: np.ndarray | None = None) -> Runs:
    """Runs with this regret after each of the rounds, and these pulls."""
    count, rounds = regret.shape
    pulls = np.zeros((count, 2), dtype=np.int64) if pulls is None else pulls
    return Runs(np.arange(1, rounds + 1), regret, pulls, pulls, [(0, 0)] * count, [{}] * count, 1.0)


def test_a_line_is_the_mean_and_its_band_one_standard_deviation():
    runs = runs_of(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 60.0]]))  # means 2, 30; sds 1, √700 = 26.5
    band, line = regret_chart({"mine": runs}, [], {})["data"]
    assert (line["x"], line["y"]) == ([1, 2], [2.0, 30.0])
    assert band["x"] == [1, 2, 2, 1]
    assert band["y"] == [3.0, 56.5, 3.5, 1.0]
    assert band["legendgroup"] == line["legendgroup"]


@pytest.mark.parametrize(
    ("finals", "ends"),
    [([0.0, 0.0, 9.0], [8.2, 0.0]), ([4.0], [4.0, 4.0])],  # mean 3, sd 5.2, but no regret below 0; one run has no band
)
def test_a_band_ends_at_zero_and_one_run_has_none(finals: list[float], ends: list[float]):
    band, _ = regret_chart({"mine": runs_of(np.array(finals)[:, None])}, [], {})["data"]
    assert band["y"] == ends


def test_long_curves_are_thinned_to_points_that_keep_both_ends():
    _, line = regret_chart({"mine": runs_of(np.arange(1.0, 5_001.0)[None])}, [], {})["data"]
    assert line["x"] == line["y"]
    assert len(line["x"]) == POINTS
    assert (line["x"][0], line["x"][-1]) == (1, 5_000)
    assert np.diff(line["x"]).max() <= 2 * 5_000 / POINTS


def test_curves_of_other_readings_have_the_rounds_of_their_chart():
    first, other = runs_of(np.array([[1.0, 10.0], [3.0, 30.0]])), runs_of(np.array([[5.0, 50.0], [5.0, 50.0]]))
    chart = regret_chart({"a": first}, [], {})
    curves = other_curves({"a": {"a (<other>)": other}}, {"a (<other>)": "said"})
    # mean 5, 50 without spread; the band goes there and back
    assert curves == {"a (<other>)": {"name": "a (&lt;other&gt;)*", "traces": [[5.0, 50.0, 50.0, 5.0], [5.0, 50.0]]}}
    assert [len(trace["x"]) for trace in chart["data"]] == [4, 2]
    assert chart["agents"] == ["a"]


def test_of_many_arms_the_legend_has_those_that_lead():
    means = np.full((10, 30), 0.1)
    means[:5, 3] = means[5:, 7] = 0.9
    chart = means_chart(means, [], [f"product {arm}" for arm in range(30)])
    assert [trace["name"] for trace in chart["data"] if trace["showlegend"]] == ["product 3", "product 7"]
    assert chart["layout"]["hovermode"] == "closest"
    few = means_chart(means[:, :10], [])
    assert all(trace["showlegend"] for trace in few["data"])
    assert few["data"][9]["name"] == "arm 10"


@pytest.mark.parametrize(
    ("changes", "shaded"), [([], []), ([4], [(1, 4)]), ([4, 8], [(1, 4), (8, 11)]), ([2, 4, 6], [(1, 2), (4, 6)])]
)
def test_every_other_phase_is_shaded(changes: list[int], shaded: list[tuple[int, int]]):
    chart = means_chart(np.full((10, 2), 0.5), changes)
    assert [(shape["x0"], shape["x1"]) for shape in chart["layout"]["shapes"]] == shaded


def test_means_keep_both_sides_of_a_change():
    means = np.where(np.arange(5_000)[:, None] < 2_345, [0.9, 0.2], [0.1, 0.2])
    first, second = means_chart(means, [])["data"]
    shown = dict(zip(first["x"], first["y"], strict=True))
    assert (shown[2_345], shown[2_346]) == (0.9, 0.1)  # rounds are counted from 1
    assert set(second["y"]) == {0.2}
    assert (first["name"], second["name"]) == ("arm 1", "arm 2")


def runs(*pulls: list[int]) -> Runs:
    return runs_of(np.ones((len(pulls), 1)), np.array(pulls))


def test_shares_are_over_all_runs_and_beside_them_the_rounds_of_the_best_arm():
    means = np.array([[0.1, 0.9]] * 7 + [[0.8, 0.2]] * 3)
    curves = {"a": runs([4, 6], [2, 8]), "b": runs([0, 10], [0, 10])}
    table = pulls_table(curves, ["left", "right"], means)
    assert table["arms"] == ["left", "right"]
    assert [(label, *map(str, shares)) for label, shares in table["rows"]] == [
        ("a", "30 %", "70 %"),
        ("b", "0 %", "100 %"),
    ]
    assert [*map(str, table["best"])] == ["30 %", "70 %"]
    assert pulls_table(curves, ["left", "right"], None)["best"] is None


def test_a_share_above_none_is_never_shown_as_none():
    assert [str(Share(each)) for each in (0.0, 0.001, 0.0051, 1.0)] == ["0 %", "<1 %", "1 %", "100 %"]


def test_of_many_arms_the_most_played_have_columns_and_the_rest_one():
    pulls = [1] * 200
    for arm in range(50, 60):
        pulls[arm] = 81  # ten arms with 810 of 1,000 pulls
    names = [f"arm {n + 1}" for n in range(200)]
    table = pulls_table({"a": runs(pulls)}, names, None)
    assert table["arms"] == [*names[50:60], "190 others"]
    [(_, shares)] = table["rows"]
    assert [*map(str, shares)] == ["8 %"] * MOST + ["19 %"]
    assert abs(sum(shares) - 1) < 1e-12
    means = np.zeros((5, 200))
    means[:, 199] = 1.0  # the best arm has a column even if nobody plays it
    assert "arm 200" in pulls_table({"a": runs(pulls)}, names, means)["arms"]


SAME = np.array([10.0, 10.0, 10.0])  # without spread, so that intervals are known


def test_a_line_for_each_family_and_an_upright_line_for_each_mark():
    swept = [
        Swept("a <b>", "window", [100, 1000], [SAME, np.array([20.0, 30.0])], {"tuned": 493.0}),
        Swept("c", "window", [50, 500], [SAME, SAME], {}),
        Swept("c", "xi", [0, 1], [SAME, SAME], {}),
    ]
    charts = charts_of_sweeps(swept)
    assert list(charts) == ["window", "xi"]
    a, tuned, c = charts["window"]["data"]
    assert (a["name"], a["x"], a["y"]) == ("a &lt;b&gt;", [100, 1000], [10.0, 25.0])
    assert a["error_y"]["array"][0] == a["error_y"]["arrayminus"][0] == 0.0
    assert 0 < a["error_y"]["array"][1] <= 5.0  # a bootstrap mean lies between 20 and 30
    assert (tuned["name"], tuned["x"], tuned["y"]) == ("a &lt;b&gt;, tuned: 493", [493.0, 493.0], [0, 30.0])
    assert (c["y"], c["line"]["color"] != a["line"]["color"]) == ([10.0, 10.0], True)
    assert [chart["layout"]["xaxis"]["type"] for chart in charts.values()] == ["log", "linear"]  # 0 has no logarithm
    assert charts["xi"]["layout"]["xaxis"]["title"]["text"] == "xi"
