"""The first screen in Chromium: everything that matters, without scrolling, whatever was compared."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect
from playwright.sync_api import Page as Tab

from ns_mab_gym.experiments import AgentEntry, Experiment, Results, Study, WorldEntry
from ns_mab_gym.experiments.report import Page

from . import by_hand
from .conftest import HOSTILE, PHONE, WIDE, Visit, needs_chromium

pytestmark = needs_chromium
HEIGHT = 900


def written(folder: Path, worlds: list[str], agents: list[str]) -> Path:
    """A report without claims about these worlds and agents; the n-th agent ends with a regret of n + 1."""
    entries = tuple(WorldEntry.of("NSBandit-Abrupt-v0", label=world, horizon=by_hand.HORIZON) for world in worlds)
    players = {label: AgentEntry.of("ts", label=label) for label in agents}
    study = Study("Many", (Experiment(worlds=entries, agents=tuple(players.values()), runs=2),))
    curves = {label: by_hand.runs_with([place + 1, place + 1], window=7) for place, label in enumerate(agents)}
    results = Results(study, dict.fromkeys(worlds, curves), dict.fromkeys(worlds, players))
    path = folder / "report.html"
    path.write_text(Page(results, dict.fromkeys(worlds), "in short", []).html(), encoding="utf-8")
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
    page.locator(".count").first.click()
    expect(page.locator("#matrix")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("worlds", "agents"),
    [
        (["one"], ["a", "b"]),
        ([f"world {n}" for n in range(6)], [f"agent {n}" for n in range(8)]),
        (["one", "two"], [f"agent {n}" for n in range(30)]),
        (list(HOSTILE[:4]), list(HOSTILE)),
    ],
    ids=["one world", "six worlds", "thirty agents", "hostile labels"],
)
def test_it_works_for_any_number_of_worlds_and_agents(
    visit: Visit, tmp_path: Path, worlds: list[str], agents: list[str]
):
    page = visit(written(tmp_path, worlds, agents))
    expect(page.locator("#finals tbody tr")).to_have_count(len(agents))
    expect(page.locator("#finals .best .regret")).to_have_text(["1 ± 0"] * len(worlds))
    assert page.locator("#finals small").first.text_content() == "τ = 7"
    expect(page.locator(".small-chart")).to_have_count(len(worlds))
    expect(page.locator(".counts, #bar")).to_have_count(0)
    assert inside(page, page.locator(".small-chart"), page.locator(".finals"))
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDE
    if page.locator(".finals").evaluate("box => box.scrollHeight > box.clientHeight + 1"):
        page.locator(".finals").hover()
        page.mouse.wheel(0, 2_000)
    expect(page.locator("#finals tbody tr").last).to_be_in_viewport()
    assert page.evaluate("window.scrollY") == 0  # the table scrolls, not the page


LONG = ["beta-swts:window=1000", "Thompson sampling, short memory", "ts"]


def lines_of(page: Tab) -> list[float]:
    """How many lines each name in the table takes."""
    lines = (
        "all => all.map(each => each.getBoundingClientRect().height / parseFloat(getComputedStyle(each).lineHeight))"
    )
    found: list[float] = page.locator("#finals button span").evaluate_all(lines)
    return [round(each) for each in found]


def test_long_names_stand_in_one_line_and_on_a_phone_break_where_words_end(visit: Visit, tmp_path: Path):
    report = written(tmp_path, ["one", "two", "three"], LONG)
    assert lines_of(visit(report)) == [1, 1, 1]
    page = visit(report, PHONE)
    first = page.locator("#finals tbody th").first
    assert first.evaluate("each => each.getBoundingClientRect().width") <= 0.45 * PHONE
    assert lines_of(page)[0] == 2  # "beta-swts:" and "window=1000"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE


def test_on_a_phone_the_chart_of_a_single_world_has_the_whole_width(visit: Visit, tmp_path: Path):
    page = visit(written(tmp_path, ["one"], LONG), PHONE)
    assert page.locator(".small-chart").evaluate("each => each.clientWidth") >= 0.9 * PHONE - 28  # between the margins
    expect(page.locator(".lead")).to_have_text(
        "Winner: beta-swts:window=1000, 1 less than Thompson sampling, short memory (95 % interval 1 to 1)"
    )


def test_small_charts_stand_above_the_columns_of_their_worlds(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    charts = [chart.bounding_box() for chart in page.locator(".small-chart").all()]
    cells = [cell.bounding_box() for cell in page.locator("#finals tbody tr").first.locator("td:not(.rank)").all()]
    for chart, cell in zip(charts, cells, strict=True):
        assert chart is not None
        assert cell is not None
        assert abs(chart["x"] - cell["x"]) < 12


def test_small_charts_share_the_data_of_the_large_ones(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    shared = "(small, large) => small.data.every((trace, n) => trace.y === large.data[2 * n + 1].y)"
    chart = "document.querySelector"
    assert page.evaluate(f"({shared})({chart}('.small-chart'), {chart}('#regret-0-0'))")


def test_a_name_in_the_table_switches_its_curve_off_and_on(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    button = page.locator("#finals button", has_text="b")
    lines = page.locator(".small-chart >> nth=0 >> .scatterlayer .trace")
    for pressed, count in (("false", 2), ("true", 3)):
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-pressed", pressed)
        expect(lines).to_have_count(count)


def test_without_scripts_the_page_can_be_read(chromium: Browser, hand_report: Path):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(hand_report.as_uri())
    expect(page.locator("#bar, .chart, .small-chart").locator("visible=true")).to_have_count(0)
    expect(page.locator("#matrix .all .badge").locator("visible=true")).to_have_text(
        ["depends", "holds", "depends", "depends", "holds"]
    )
    expect(page.locator("#finals .best .regret")).to_have_text(["10 ± 2.9", "160 ± 31"])  # b there, c here
    expect(page.locator(".found .one").locator("visible=true")).to_have_count(0)
    page.context.close()


def test_on_a_phone_the_bar_is_one_line_until_it_is_opened(visit: Visit, paper_report: Path):
    page = visit(paper_report, PHONE)
    bar = page.locator("#bar")
    assert (box := bar.bounding_box()) is not None
    assert box["height"] <= 60
    expect(bar.locator("select").locator("visible=true")).to_have_count(0)
    bar.locator("summary").click()
    expect(bar.locator("select").locator("visible=true")).to_have_count(page.locator("[id^=choice-]").count())
    panel = bar.locator(".panel").bounding_box()
    assert panel is not None
    assert panel["height"] <= 0.75 * HEIGHT
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
