"""The report and the leaderboard in Chromium, as a reader opens and uses them; all tests share one browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect
from playwright.sync_api import Page as Tab

from ns_mab_gym.leaderboard.page import BoardPage, draw_board
from ns_mab_gym.leaderboard.plan import chosen_worlds
from ns_mab_gym.leaderboard.ranks import Division, findings_of, standings_of
from ns_mab_gym.paper import readings as paper_readings

from . import by_hand
from .by_hand import BOLD
from .conftest import HEIGHT, HOSTILE, PHONE, TOGETHER, WIDE, Visit, listen, needs_chromium

pytestmark = needs_chromium


def test_the_watch_notices_what_it_is_for(chromium: Browser, tmp_path: Path):
    bad = tmp_path / "report.html"
    bad.write_text(
        "<script>alert('boo'); console.error('wrong'); setTimeout(() => { throw Error('thrown'); })</script>"
        "<img src='http://127.0.0.1:9/away.png'><img src='beside.png'>"
    )
    page, complaints = chromium.new_page(), []
    listen(page, complaints)
    page.goto(bad.as_uri())
    page.wait_for_timeout(200)
    page.context.close()
    for expected in ("dialog boo", "wrong", "thrown", "asked for http://127.0.0.1:9/away.png", "beside.png"):
        assert any(expected in complaint for complaint in complaints), expected


def test_every_chart_of_the_paper_is_drawn(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    expect(page.locator(".chart")).to_have_count(4 * (1 + 1 + 2 + 1))  # means, regret, two samplers' windows, the zoo
    expect(page.locator("#regret-0-0 .legendtext")).to_have_count(8)
    traces = "chart => chart.data.length - chart.querySelectorAll('.scatterlayer .trace').length"
    assert page.evaluate(f"[...document.querySelectorAll('.chart')].filter({traces}).length") == 0
    expect(page.locator(".small-chart")).to_have_count(4)
    expect(page.locator(".small-chart >> nth=0 >> .scatterlayer .trace")).to_have_count(8)  # lines without bands
    drawn = page.evaluate("[...document.images].map(image => image.naturalWidth > 0)")
    assert drawn == [True] * 3  # the alarms on the abrupt world, and the two that explain the theory


def test_a_click_in_the_legend_hides_an_agent_with_its_band_and_buttons_switch_one_axis(
    visit: Visit, paper_report: Path
):
    page = visit(paper_report)
    chart = page.locator("#regret-0-0")
    chart.locator(".legendtoggle").first.click()
    expect(chart.locator(".scatterlayer .trace")).to_have_count(2 * (8 - 1))
    hidden = chart.evaluate("chart => chart.data.filter(t => t.visible === 'legendonly').map(t => t.name)")
    assert hidden == [chart.locator(".legendtext").first.text_content()] * 2
    buttons = page.locator("button[data-chart='regret-0-0']")
    for scale in ("log", "linear"):
        buttons.filter(has_text=scale).click()
        expect(chart).to_have_js_property("_fullLayout.yaxis.type", scale)
        expect(buttons.and_(page.locator("[aria-pressed=true]"))).to_have_text([scale])
        expect(page.locator("#family-0-1-0")).to_have_js_property("_fullLayout.yaxis.type", "linear")


def test_links_lead_to_their_sections(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    contents = page.locator("nav a")
    assert " | ".join(contents.all_text_contents()) == (
        "Verdicts | Readings | Not tested | The whole zoo | Worlds | Notes | Settings and provenance"
    )
    worlds = page.locator("figcaption a")
    expect(worlds).to_have_count(4)
    for link in (*contents.all(), *worlds.all()):
        link.click()
        expect(page.locator(":target")).to_be_in_viewport()
        if (words := link.text_content()) not in ("Verdicts", "Not tested", "The whole zoo", "Worlds"):
            expect(page.locator(":target")).to_have_text(str(words))
    twice = "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(each => each.id))"
    assert page.evaluate(twice) == 0


def test_hostile_texts_are_shown_and_run_nothing(visit: Visit, hostile_report: Path):
    visit(hostile_report, PHONE)
    page = visit(hostile_report)
    assert page.evaluate("typeof window.ran") == "undefined"
    expect(page.locator("img")).to_have_count(0)
    expect(page.locator("script")).to_have_count(4)  # plotly, the charts, the readings, the page's own
    assert page.title() == page.locator("h1").text_content() == TOGETHER
    assert page.locator("figcaption").all_text_contents() == list(HOSTILE[:2])
    assert page.locator(".warning").text_content() == TOGETHER
    starred = {f"{text}*" for text in HOSTILE}
    assert starred <= set(page.locator("td").all_text_contents())
    assert starred <= {text.strip() for text in page.locator("#finals tbody th").all_text_contents()}
    assert set(page.locator("#regret-0-0 .legendtext").all_text_contents()) == starred
    page.locator("#regret-0-0 .nsewdrag").hover()
    under_mouse = page.locator("#regret-0-0 .hoverlayer .legendtext")
    expect(under_mouse.filter(has_text="%{y}")).to_have_count(1)
    page.locator("#bar summary").click()
    page.locator("#bar select").select_option(index=2)
    expect(page.locator("#matrix .one .badge")).to_have_text(["holds", "holds"])
    assert page.locator(".found .one").first.text_content() == f"holds {HOSTILE[0]}{TOGETHER}. "
    expect(page.locator("img")).to_have_count(0)
    assert page.evaluate("typeof window.ran") == "undefined"


def written(folder: Path, worlds: list[str], agents: list[str]) -> Path:
    """A report without claims about these worlds and agents; the n-th agent ends with a regret of n + 1."""
    finals = {label: [place + 1, place + 1] for place, label in enumerate(agents)}
    path = folder / "report.html"
    path.write_text(by_hand.page_of(by_hand.results_of(dict.fromkeys(worlds, finals))).html(), encoding="utf-8")
    return path


def inside(page: Tab, *locators: Locator) -> bool:
    """Whether all these elements lie on the first screen as a whole, above the bar of switches if there is one."""
    bar = page.locator("#bar").bounding_box() if page.locator("#bar").count() else None
    floor = bar["y"] if bar else HEIGHT
    boxes = [box for locator in locators for each in locator.all() if (box := each.bounding_box()) is not None]
    assert len(boxes) == sum(locator.count() for locator in locators)
    return all(
        box["y"] >= 0 and box["x"] >= 0 and box["x"] + box["width"] <= WIDE and box["y"] + box["height"] <= floor
        for box in boxes
    )


def test_charts_table_and_counts_fit_on_one_screen(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    assert page.evaluate("[window.innerWidth, window.innerHeight]") == [WIDE, HEIGHT]
    expect(page.locator("#finals tbody tr")).to_have_count(8)
    expect(page.locator(".count")).to_have_count(4)
    parts = (page.locator("h1"), page.locator(".meta"), page.locator(".small-chart"), page.locator(".count"))
    assert inside(page, *parts, page.locator("#finals tbody td"))
    assert page.evaluate("(box => box.scrollHeight <= box.clientHeight + 1)(document.querySelector('.finals'))")
    heights = page.locator(".small-chart .main-svg").evaluate_all("all => all.map(each => each.clientHeight)")
    assert min(heights) >= 180
    charts = [chart.bounding_box() for chart in page.locator(".small-chart").all()]
    cells = [cell.bounding_box() for cell in page.locator("#finals tbody tr").first.locator("td:not(.rank)").all()]
    for chart, cell in zip(charts, cells, strict=True):  # each above the column of its world
        assert abs(chart["x"] - cell["x"]) < 12
    page.locator(".count").first.click()
    expect(page.locator("#matrix")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("worlds", "agents"),
    [
        (["one"], ["a", "b"]),
        ([f"world {n}" for n in range(6)], [f"agent {n}" for n in range(8)]),
        (["one", "two"], [f"agent {n}" for n in range(30)]),
    ],
    ids=["one world", "six worlds", "thirty agents"],
)
def test_it_works_for_any_number_of_worlds_and_agents(
    visit: Visit, tmp_path: Path, worlds: list[str], agents: list[str]
):
    page = visit(written(tmp_path, worlds, agents))
    expect(page.locator("#finals tbody tr")).to_have_count(len(agents))
    expect(page.locator("#finals .best .regret")).to_have_text(["1 ± 0"] * len(worlds))
    assert page.locator("#finals small").first.text_content() == "τ = 5"
    expect(page.locator(".small-chart")).to_have_count(len(worlds))
    expect(page.locator(".counts, #bar")).to_have_count(0)
    assert inside(page, page.locator(".small-chart"), page.locator(".finals"))
    if page.locator(".finals").evaluate("box => box.scrollHeight > box.clientHeight + 1"):
        page.locator(".finals").hover()
        page.mouse.wheel(0, 2_000)
    expect(page.locator("#finals tbody tr").last).to_be_in_viewport()
    assert page.evaluate("window.scrollY") == 0  # the table scrolls, not the page


LONG = ["beta-swts:window=1000", "Thompson sampling, short memory", "ts"]


def lines_of(page: Tab) -> list[int]:
    """How many lines each name in the table takes."""
    lines = "each => each.getBoundingClientRect().height / parseFloat(getComputedStyle(each).lineHeight)"
    return [round(name.evaluate(lines)) for name in page.locator("#finals button span").all()]


def test_long_names_stand_in_one_line_and_on_a_phone_break_where_words_end(visit: Visit, tmp_path: Path):
    report = written(tmp_path, ["one", "two", "three"], LONG)
    assert lines_of(visit(report)) == [1, 1, 1]
    page = visit(report, PHONE)
    first = page.locator("#finals tbody th").first
    assert first.evaluate("each => each.getBoundingClientRect().width") <= 0.45 * PHONE
    assert lines_of(page)[0] == 2  # "beta-swts:" and "window=1000"


def test_a_name_in_the_table_switches_its_curve_off_and_on_whatever_the_reading(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    button = page.locator("#finals button", has_text="a").first
    lines = page.locator(".small-chart >> nth=0 >> .scatterlayer .trace")
    for pressed, count in (("false", 2), ("true", 3), ("false", 2)):
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-pressed", pressed)
        expect(lines).to_have_count(count)
    choose(page, "tuning of b", "boldly")
    assert ends(page, ".small-chart") == {BOLD: 50.0, "c": 160.0}


def test_without_scripts_the_page_can_be_read(chromium: Browser, hand_report: Path):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(hand_report.as_uri())
    expect(page.locator("#bar, .chart, .small-chart").locator("visible=true")).to_have_count(0)
    assert signs(page) == ALL
    expect(page.locator("#finals .best .regret")).to_have_text(["10 ± 2.9", "160 ± 31"])  # b there, c here
    expect(page.locator(".found .one").locator("visible=true")).to_have_count(0)
    page.context.close()


def test_on_a_phone_the_bar_is_one_line_until_it_is_opened(visit: Visit, paper_report: Path):
    page = visit(paper_report, PHONE)
    bar = page.locator("#bar")
    assert bar.bounding_box()["height"] <= 60
    expect(bar.locator("select").locator("visible=true")).to_have_count(0)
    bar.locator("summary").click()
    expect(bar.locator("select").locator("visible=true")).to_have_count(page.locator("[id^=choice-]").count())
    assert bar.locator(".panel").bounding_box()["height"] <= 0.75 * HEIGHT


def choose(page: Tab, key: str, reading: str) -> None:
    if not page.get_by_label(key, exact=True).is_visible():
        page.locator("#bar summary").click()
    page.get_by_label(key, exact=True).select_option(label=reading)


def finals(page: Tab) -> list[list[str]]:
    """The visible rows of the final table, in words; the best of each world in stars."""
    rows = page.locator("#finals tbody tr").locator("visible=true").all()
    return [[row.locator("th").inner_text().strip(), *map(_cell, row.locator("td:not(.rank)").all())] for row in rows]


def _cell(cell: Any) -> str:
    words = " ".join(cell.locator("span, small").all_text_contents())
    return f"*{words}*" if cell.locator("xpath=self::*[contains(@class, 'best')]").count() else words


def signs(page: Tab) -> list[str]:
    """The verdicts of the matrix that can be seen."""
    return page.locator("#matrix td .badge").locator("visible=true").all_text_contents()


def ends(page: Tab, chart: str) -> dict[str, float]:
    """The last value of each line of a chart that is drawn, by its name."""
    lines = "data.filter(line => !line.fill && line.visible !== false)"
    return dict(page.locator(chart).first.evaluate(f"({{data}}) => {lines}.map(line => [line.name, line.y.at(-1)])"))


FIRST = [
    ["a", "2 200 ± 58 τ = 5", "2 20 ± 5.8 τ = 5"],
    ["b", "3 250 ± 58 τ = 5", "*1 10 ± 2.9 τ = 5*"],
    ["c", "*1 160 ± 31 τ = 5*", "3 30 ± 5.8 τ = 5"],
]
ALL = ["does not hold", "holds", "does not hold", "holds", "holds"]  # b best here and there, a best, it lasts, by more


def assert_all_readings(page: Tab) -> None:
    """The page as it was when it was opened."""
    assert signs(page) == ALL
    assert finals(page) == FIRST
    ranks = page.locator("#finals td.rank:visible").all_text_contents()
    assert ranks == ["2.0", "2.0", "2.0"]  # 2 and 2, 3 and 1, 1 and 3
    for chart in (".small-chart", "#regret-0-0"):
        assert ends(page, chart) == {"a": 200.0, "b": 250.0, "c": 160.0}
    assert page.locator("[data-now]").all_text_contents() == ["2", "2", "0", "3"]
    expect(page.locator(".counts .by")).to_have_text("by the headline reading")
    expect(page.locator(".deciding").first).to_be_visible()
    expect(page.get_by_role("button", name="Reset to all readings")).to_be_disabled()
    assert page.locator("#bar select").evaluate_all("all => all.map(each => each.value)") == ["", "", ""]
    words = page.locator("[data-now] + span").all_text_contents()
    assert words == ["hold", "do not hold", "are undecided", "depend on the reading"]


def test_another_tuning_changes_verdict_figures_curve_and_table_and_reset_brings_them_back(
    visit: Visit, hand_report: Path
):
    page = visit(hand_report)
    assert_all_readings(page)
    choose(page, "tuning of b", "boldly")
    assert signs(page) == ["holds", "holds", "does not hold", "holds", "holds"]
    assert page.locator("[data-now]").all_text_contents() == ["3", "1", "0", "0"]
    expect(page.locator(".counts .by")).to_have_text("by the chosen readings")
    words = page.locator("[data-now] + span").all_text_contents()
    assert words == ["hold", "does not hold", "are undecided", "depend on the reading"]
    expect(page.locator(".found[data-judged='0']")).to_have_text(
        re.compile(r"^holds here\s+a 200, b 50, c 160\.\s*$"), use_inner_text=True
    )
    expect(page.locator(".found[data-judged='1'] .one")).to_contain_text("Instead: b is.")
    for chart in (".small-chart", "#regret-0-0"):
        assert ends(page, chart) == {"a": 200.0, BOLD: 50.0, "c": 160.0}
    assert ends(page, "#regret-1-1") == {"a": 20.0, "b": 10.0, "c": 30.0}  # there, b has one tuning only
    assert finals(page) == [
        ["a", "3 200 ± 58 τ = 5", FIRST[0][2]],
        ["b", "*1 50 ± 5.8 τ = 9,000*", FIRST[1][2]],
        ["c", "2 160 ± 31 τ = 5", FIRST[2][2]],
    ]
    ranks = page.locator("#finals td.rank:visible").all_text_contents()
    assert ranks == ["2.5", "1.0", "2.5"]  # 3 and 2, 1 and 1, 2 and 3
    page.get_by_role("button", name="Reset to all readings").click()
    expect(page.locator("#bar output")).to_have_text("All readings")
    assert_all_readings(page)
    choose(page, "tuning of b", "as said")  # the first reading, which can be chosen again
    assert signs(page) == ["does not hold", "holds", "does not hold", "holds", "holds"]


def test_who_is_not_compared_is_not_shown(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    choose(page, "who", "without c")
    assert signs(page) == ["does not hold", "holds", "holds", "holds", "holds"]
    assert finals(page) == [["a", "*1 200 ± 58 τ = 5*", FIRST[0][2]], ["b", "2 250 ± 58 τ = 5", FIRST[1][2]]]
    for chart in (".small-chart", "#regret-0-0"):
        assert ends(page, chart) == {"a": 200.0, "b": 250.0}
    choose(page, "tuning of b", "boldly")  # both at once
    assert finals(page)[1][1] == "*1 50 ± 5.8 τ = 9,000*"
    expect(page.locator(".found[data-judged='0'] .one")).to_contain_text("a 200, b 50.")
    choose(page, "who", "with c")
    assert ends(page, "#regret-0-0") == {"a": 200.0, BOLD: 50.0, "c": 160.0}


def test_the_meaning_of_a_sentence_changes_its_test_and_its_verdict(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    test = page.locator(".test").nth(2)
    expect(test).to_have_text("Test: for 1 rounds.")
    choose(page, "how long", "long")
    expect(test).to_have_text("Test: for 2 rounds.")
    # The others by their first readings.
    assert signs(page) == ["does not hold", "holds", "does not hold", "undecided", "holds"]
    assert finals(page) == FIRST
    expect(page.get_by_label("who", exact=True)).to_have_value("0")  # which now counts, and is seen to count
    expect(page.locator("#bar output")).to_have_text("how long: long; first reading of the 2 others")
    expect(page.locator(".found[data-judged='2'] .one")).to_contain_text("By 30 runs: holds lasted, with 30.")
    expect(page.locator(".found[data-judged='2'] .one")).to_contain_text("here† said of elsewhere")
    choose(page, "how long", "short")
    expect(page.locator("#bar output")).to_have_text("First reading of every choice")
    assert signs(page) == ["does not hold", "holds", "does not hold", "holds", "holds"]


def test_readings_are_chosen_from_the_keyboard(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    page.get_by_label("who", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert [row[0] for row in finals(page)] == ["a", "b"]
    page.keyboard.press("Tab")
    expect(page.get_by_label("tuning of b", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # opens the panel
    page.keyboard.press("Tab")
    expect(page.get_by_label("how long", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("how long", exact=True)).not_to_be_visible()
    expect(page.locator("#bar summary")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # resets
    expect(page.locator("#bar output")).to_have_text("All readings")
    expect(page.get_by_label("who", exact=True)).to_be_focused()
    assert_all_readings(page)


@pytest.mark.parametrize("key", ["KL-UCB", "tuning of Ser4"])
def test_the_papers_readings_change_its_curves_on_a_phone_too(visit: Visit, paper_report: Path, key: str):
    page = visit(paper_report, PHONE)
    everybody = ends(page, "#regret-0-0")
    assert len(everybody) == 8
    page.locator("#bar summary").click()
    switch = page.get_by_label(key, exact=True)
    switch.select_option(index=1)
    first = ends(page, "#regret-0-0")
    switch.select_option(index=2)
    changed = set(first.items()) ^ set(ends(page, "#regret-0-0").items())
    assert changed
    assert all(name.startswith(key.removeprefix("tuning of ")) for name, _ in changed)
    expect(page.locator("#matrix .all").locator("visible=true")).to_have_count(0)
    page.get_by_role("button", name="Reset to all readings").click()
    expect(page.locator("#bar output")).to_have_text("All readings")
    assert ends(page, "#regret-0-0") == everybody  # also those who are not compared under the first readings


def test_curves_of_other_windows_follow_the_tuning_too(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    charts = ("#family-0-1-0", "#family-0-1-1")  # Beta-SWTS and γ-SWGTS
    beta, gauss = (ends(page, chart) for chart in charts)
    page.get_by_label(paper_readings.GAMMA.key, exact=True).select_option(index=2)
    assert ends(page, charts[0]) == beta
    after = ends(page, charts[1])
    name = paper_readings.GAMMA.readings[1].name
    assert list(after) == [f"{each} ({name})" for each in gauss]
    # The smallest window has fewer rounds than there are arms, so that the arms are played in turn whatever γ is.
    assert not set(list(after.values())[1:]) & set(list(gauss.values())[1:])


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_what_was_chosen_can_be_read_in_full(visit: Visit, paper_report: Path, width: int):
    page = visit(paper_report, width)
    if width == PHONE:
        page.locator("#bar summary").click()
    count = page.locator("#bar select").count()
    for other, key in enumerate(("tuning of Ser4", paper_readings.GAMMA.key), start=1):
        page.get_by_label(key, exact=True).select_option(index=2)
        expect(page.locator("#bar output")).to_contain_text(f"first reading of the {count - other} others")
    page.locator("#bar details").evaluate("panel => { panel.open = false; }")
    whole = "each => each.scrollWidth <= each.clientWidth && each.scrollHeight <= each.clientHeight"
    assert page.locator("#bar output").evaluate(whole)
    expect(page.locator("#bar output")).to_be_in_viewport(ratio=1)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A leaderboard of made-up regrets, with one agent that has a long name and one that misses a world."""
    worlds = chosen_worlds(["random phases", "rising", "Gaussian rewards"])
    long = "an agent with a name that is too long for any column of any table on a phone"
    labels = ["ts", long, "a variant", "absent"]
    rng = np.random.default_rng(3)
    finals = {(label, world.label): rng.uniform(20, 90, 10) for label in labels for world in worlds}
    del finals["absent", worlds[0].label]
    known = {(name, world.label): np.full(10, 15.0) for name in ("oracle-restart", "random") for world in worlds}
    phased = frozenset(world.label for world in worlds[:7])
    competes = [True, True, False, True]
    orders = [
        standings_of(Division(name, worlds, labels, competes, finals, known, phased)) for name in ("informed", "blind")
    ]
    folder = tmp_path_factory.mktemp("board")
    page = BoardPage(findings_of(orders), draw_board(orders, folder), "a command", "today", [("seed", 0)])
    (folder / "report.html").write_text(page.html(), encoding="utf-8")
    return folder / "report.html"


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_nothing_sticks_out_and_all_is_drawn(visit: Visit, board: Path, width: int) -> None:
    page = visit(board, width)
    assert page.evaluate("[...document.images].map(image => image.naturalWidth > 0)") == [True] * 5
    places = page.locator("#informed ~ .scroll table.board-table").first.locator("tbody tr td:first-child")
    assert places.all_text_contents() == ["1", "2", "–", "–"]
    assert "plays 8 of 9 worlds that count" in page.locator("tr.other").all_text_contents()[1]
