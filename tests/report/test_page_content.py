"""The page without a browser: its tables say what the results say."""

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ns_mab_gym.experiments.claims import Claim, Finding, Judged, Judgement, Untested, Verdict
from ns_mab_gym.experiments.report import Page

from . import by_hand
from .by_hand import THREE
from .html_reader import Reader

MakePage = Callable[..., Page]
pytestmark = pytest.mark.usefixtures("without_plotly")


def test_final_regrets_and_their_comparison_with_the_reference(make_page: MakePage):
    head, *rows = Reader(make_page(THREE, agent_notes={"third": "said"}).html()).tables[1]
    assert head == [
        "Agent", "Final regret", "95 % interval", "sd", "minus first", "95 % interval", "P(less)", "mean rank",
        "Parameters",
    ]  # fmt: skip
    columns = zip(*rows, strict=True)
    agents, regrets, intervals, sds, differences, their_intervals, improvements, ranks, parameters = columns
    assert set(parameters) == {"τ = 5, γ = 0.25"}
    assert agents == ("second", "first", "third*")  # the least regret first
    # Squared deviations sum to 24,267 and 20,000; sd = √(sum / 2), standard error = sd / √3.
    assert regrets == ("197 ± 63.6", "200 ± 57.7", "250 ± 57.7")
    assert sds == ("110", "100", "100")
    assert differences == ("-3", "–", "+50")
    assert their_intervals[1:] == ("–", "+50 to +50")  # third is always first + 50, which has no spread
    assert improvements == ("67%", "–", "0%")
    assert ranks == ("1.33", "1.67", "3.00")
    low, high = (float(end) for end in intervals[1].split(" to "))
    assert 100 <= low < 200 < high <= 300  # a bootstrap mean lies between the least and the greatest


def test_one_world_has_no_mean_place_and_its_label_is_not_said_twice(make_page: MakePage):
    page = Reader(make_page(THREE).html())
    assert page.tables[0][0] == ["Agent", "here"]
    assert "NSBandit-Abrupt-v0:horizon=100" in page.texts  # which the label does not say
    told = Reader(make_page(THREE, world="NSBandit-Abrupt-v0:horizon=100").html())
    assert told.texts.count("NSBandit-Abrupt-v0:horizon=100") == page.texts.count("here")
    assert "Winner: " in page.texts
    assert any("P(less): in how many of the runs" in text for text in page.texts)


def test_a_star_is_explained_below_the_table(make_page: MakePage):
    page = make_page(THREE, agent_notes={"third": "plays with closed eyes"})
    assert page.footnotes() == ["* third: plays with closed eyes"]
    assert page.footnotes()[0] in Reader(page.html()).texts


def test_other_readings_stand_below_the_agents_ranked_in_the_place_of_theirs():
    page = Reader(by_hand.page().html())
    tables = page.tables
    assert page.elements.count(("tr", "class")) == 1  # in italics, which a note explains
    assert len([text for text in page.texts if text.startswith("Rows in italics")]) == 1
    here = next(table for table in tables if table[0][0] == "Agent" and len(table[0]) == 9)
    # b, boldly, has less regret than a and c in every run: 40, 50, 60 against 100 and more.
    assert [(row[0], row[1], row[7]) for row in here[1:]] == [
        ("c", "160 ± 30.6", "1.17"),  # 100 against 100: a tie in the first run
        ("a", "200 ± 57.7", "1.83"),
        ("b", "250 ± 57.7", "3.00"),
        ("b (boldly)", "50 ± 5.8", "1.00"),
    ]


def test_the_first_table_has_every_agent_on_every_world():
    head, *rows = Reader(by_hand.page().html()).tables[0]
    assert head == ["Agent", "here", "there", "mean place"]
    assert [[" ".join(cell.split()) for cell in row] for row in rows] == [
        ["a", "2200 ± 58τ = 5", "220 ± 5.8τ = 5", "2.0"],  # place, regret, parameters
        ["b", "3250 ± 58τ = 5", "110 ± 2.9τ = 5", "2.0"],
        ["c", "1160 ± 31τ = 5", "330 ± 5.8τ = 5", "2.0"],
    ]


def test_claims_at_a_glance(make_page: MakePage):
    def judged(key: str, world: str, verdict: Verdict, ours: bool = False) -> Judged:
        finding = Finding(verdict, "a 1, b 2", instead="b 2, a 1")
        claim = Claim(key, f"{key} said", f"{key} tested", lambda _: finding, said_of="elsewhere" if ours else "")
        return Judged(claim, world, Judgement((), {(): finding}, {(): f"{key} tested"}, 50))

    claims = [
        judged("one", "here", Verdict.HOLDS),
        judged("one", "there", Verdict.UNDECIDED, ours=True),
        judged("two", "here", Verdict.FAILS),
    ]
    page = Reader(make_page(THREE, judged=claims, warning="beware").html())
    assert [[cell.strip() for cell in row] for row in page.tables[1]] == [
        ["Claim", "here", "there"],
        ["50 runs", "more", "50 runs", "more"],
        ["one", "holds", "–", "open†", "–"],
        ["two", "no", "–", "", ""],
    ]
    said, found = (" ".join(cell.split()) for cell in page.tables[2][2])
    assert said == "two saidTest: two tested."
    assert found == "does not hold here a 1, b 2. Instead: b 2, a 1."
    assert {"Verdicts", "beware"} <= set(page.texts)


def test_a_verdict_that_depends_says_on_what_and_what_each_reading_gives():
    tables = Reader(by_hand.page().html()).tables
    rows = [[" ".join(cell.split()) for cell in row] for row in tables[1]]
    assert rows[1] == ["3 runs", "30 runs", "3 runs", "30 runs"]
    assert rows[2:] == [
        ["b best", "depends on tuning of b", "–", "holds", "–"],
        ["a best", "depends on who, tuning of b", "–", "", ""],
        ["it lasts", "depends† on how long", "holds", "", ""],
    ]
    found = " ".join(tables[2][2][1].split())
    assert found == (
        "depends on the reading here Is c compared? no with c figures a 200, b 250, c 160. "
        "holds without c figures a 200, b 250. "
        "How is b tuned? holds as said (with who: without c) figures a 200, b 250. "
        "no boldly (with who: without c) figures a 200, b 50. "
        "Under the first readings (does not hold): a 200, b 250, c 160. Instead: c is."
    )


def test_a_verdict_by_more_runs_that_depends_says_on_what_too():
    page = by_hand.page()
    page.judged = [replace(each, later=replace(each.now, runs=30)) for each in by_hand.judged()]
    found = " ".join(Reader(page.html()).tables[2][3][1].split())
    said = "holds or undecided, depending on the reading"
    depends = (
        "For how long? holds short figures lasted. open long figures lasted. Under the first readings (holds): lasted."
    )
    assert found == f"{said} here† said of elsewhere {depends} By 30 runs: {said} {depends}"


def test_the_readings_with_their_reasons_are_in_the_page():
    page = by_hand.page()
    page.not_taken, page.untested = ["not this one"], [Untested("a belief", "no run decides it")]
    tables = {table[0][1]: table for table in Reader(page.html()).tables}
    rows = [[" ".join(cell.split()) for cell in row] for row in tables["Readings, and what speaks for each"][1:]]
    assert rows[0] == ["whoIs c compared?", "with c: it is named without c: it is late"]
    assert [row[0] for row in rows[1:]] == ["tuning of bHow is b tuned?", "how longFor how long?"]
    assert tables["Why it was not tested"][1] == ["a belief", "no run decides it"]
    assert "not this one" in Reader(page.html()).texts


def test_the_first_lines_say_what_was_run():
    texts = Reader(by_hand.page().html()).texts
    assert texts[texts.index("typed") + 1] == " · today · 3 runs, further runs to 30 · 100 rounds · seed 0"
    first = texts.index("4 sentences tested by 3 runs:")
    counts = " ".join("".join(texts[first : texts.index("What the paper says, and what the runs show")]).split())
    assert counts.startswith(
        "4 sentences tested by 3 runs: 1 holds0 do not hold0 are open3 depend on the reading "
        "1 of them again by 30 runs: 1 holds0 do not hold0 are open0 depend on the reading"
    )


def test_without_further_runs_the_first_lines_name_none(make_page: MakePage):
    assert not [text for text in Reader(make_page(THREE).html()).texts if "further runs" in text]


def test_the_contents_name_the_sentences_that_were_not_tested_if_there_are_any():
    page = by_hand.page()
    assert "Not tested" not in Reader(page.html()).texts
    page.untested = [Untested("a belief", "no run decides it")]
    assert "Not tested" in Reader(page.html()).texts


def test_without_claims_there_are_no_verdicts(make_page: MakePage):
    page = Reader(make_page(THREE).html())
    assert not {"Verdicts", "Readings"} & set(page.texts)
    assert not [attributes for tag, *attributes in page.elements if tag in ("form", "select")]
    assert [[cell.strip() for cell in row] for row in page.tables[0][1:]] == [  # but the first screen is the same
        ["first", "2200 ± 58τ = 5, γ = 0.25"],
        ["second", "1197 ± 64τ = 5, γ = 0.25"],
        ["third", "3250 ± 58τ = 5, γ = 0.25"],
    ]


def test_parameters_and_settings_are_shown(make_page: MakePage):
    tables = Reader(make_page(THREE, settings=[("seed", 7), ("numpy", "2.0")]).html()).tables
    assert tables[-2][1] == ["here", "first", "ts", "window = 5, gamma = 0.25"]
    assert tables[-1] == [["Setting", "Value"], ["seed", "7"], ["numpy", "2.0"]]


def test_a_world_drawn_anew_shows_the_means_of_one_run(make_page: MakePage):
    assert "Means (as in the first run)" in Reader(make_page(THREE, drawn_anew={"here"}).html()).texts
    assert "Means" in Reader(make_page(THREE).html()).texts


def test_a_world_without_known_means_has_no_chart_of_them(make_page: MakePage):
    page = make_page(THREE)
    assert set(Reader(page.html()).charts) == {"means-0", "regret-0-0"}
    page.means = {"here": None}
    assert set(Reader(page.html()).charts) == {"regret-0-0"}


def test_a_picture_is_inside_the_page(make_page: MakePage, tmp_path: Path):
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    (tmp_path / "picture.svg").write_bytes(drawing)
    page = Reader(make_page(THREE, explanations=[(tmp_path / "picture.svg", "what it shows")]).html())
    kind, _, data = page.images[0].partition(",")
    assert (kind, base64.b64decode(data)) == ("data:image/svg+xml;base64", drawing)
    assert "what it shows" in page.texts
