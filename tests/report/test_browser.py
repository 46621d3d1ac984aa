"""The report in Chromium, as a reader opens and uses it."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .conftest import PHONE, WIDE, Visit, listen, needs_chromium

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


def test_a_click_in_the_legend_hides_an_agent_with_its_band(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    chart = page.locator("#regret-0-0")
    chart.locator(".legendtoggle").first.click()
    expect(chart.locator(".scatterlayer .trace")).to_have_count(2 * (8 - 1))
    hidden = chart.evaluate("chart => chart.data.filter(t => t.visible === 'legendonly').map(t => t.name)")
    assert hidden == [chart.locator(".legendtext").first.text_content()] * 2


def test_the_buttons_switch_one_axis_there_and_back(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    buttons = page.locator("button[data-chart='regret-0-0']")
    for scale in ("log", "linear"):
        buttons.filter(has_text=scale).click()
        expect(page.locator("#regret-0-0")).to_have_js_property("_fullLayout.yaxis.type", scale)
        expect(buttons.and_(page.locator("[aria-pressed=true]"))).to_have_text([scale])
        expect(page.locator("#family-0-1-0")).to_have_js_property("_fullLayout.yaxis.type", "linear")


def test_values_appear_under_the_mouse(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    page.locator("#regret-0-0 .nsewdrag").hover()
    values = page.locator("#regret-0-0 .hoverlayer .legendtext")
    expect(values.filter(has_text=re.compile(r"^Beta-SWTS : [\d,]+$"))).to_have_count(1)


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("report", ["paper_report", "hostile_report"])
def test_nothing_sticks_out_sideways(visit: Visit, report: str, width: int, request: pytest.FixtureRequest):
    page = visit(request.getfixturevalue(report), width)
    assert page.evaluate("window.innerWidth") == width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_links_lead_to_their_sections(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    contents = page.locator("nav a")
    assert contents.all_text_contents() == [
        "Verdicts",
        "Readings",
        "Not tested",
        "The whole zoo",
        "Worlds",
        "Notes",
        "Settings and provenance",
    ]
    worlds = page.locator("figcaption a")
    expect(worlds).to_have_count(4)
    for link in (*contents.all(), *worlds.all()):
        link.click()
        expect(page.locator(":target")).to_be_in_viewport()
        if (words := link.text_content()) not in ("Verdicts", "Not tested", "The whole zoo", "Worlds"):
            expect(page.locator(":target")).to_have_text(str(words))
    nowhere = "[...document.querySelectorAll('a[href]')].filter(a => !document.getElementById(a.hash.slice(1))).length"
    assert page.evaluate(nowhere) == 0
    twice = "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(each => each.id))"
    assert page.evaluate(twice) == 0


def test_a_link_to_a_claim_leaves_its_verdict_in_view(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    page.locator("#matrix tbody th a").nth(3).click()
    badge = page.locator("tr:has(:target) .found .badge").first
    expect(badge).to_be_in_viewport(ratio=1)


def test_on_a_phone_the_table_of_parameters_scrolls_in_its_own_box(visit: Visit, paper_report: Path):
    page = visit(paper_report, PHONE)
    assert page.locator("table.wide").evaluate("table => table.offsetWidth") >= 600  # four columns need it
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE


def test_hostile_texts_are_shown_and_run_nothing(
    visit: Visit, hostile_report: Path, hostile_texts: Sequence[str], hostile_together: str
):
    page = visit(hostile_report)
    assert page.evaluate("typeof window.ran") == "undefined"
    expect(page.locator("img")).to_have_count(0)
    expect(page.locator("script")).to_have_count(4)  # plotly, the charts, the readings, the page's own
    assert page.title() == page.locator("h1").text_content() == hostile_together
    assert page.locator("figcaption").all_text_contents() == list(hostile_texts[:2])
    assert page.locator(".warning").text_content() == hostile_together
    starred = {f"{text}*" for text in hostile_texts}
    assert starred <= set(page.locator("td").all_text_contents())
    assert starred <= {text.strip() for text in page.locator("#finals tbody th").all_text_contents()}
    assert set(page.locator("#regret-0-0 .legendtext").all_text_contents()) == starred
    page.locator("#regret-0-0 .nsewdrag").hover()
    under_mouse = page.locator("#regret-0-0 .hoverlayer .legendtext")
    expect(under_mouse.filter(has_text="%{y}")).to_have_count(1)
    page.locator("#bar summary").click()
    page.locator("#bar select").select_option(index=2)
    expect(page.locator("#matrix .one .badge")).to_have_text(["holds", "holds"])
    assert page.locator(".found .one").first.text_content() == f"holds {hostile_texts[0]}{hostile_together}. "
    expect(page.locator("img")).to_have_count(0)
    assert page.evaluate("typeof window.ran") == "undefined"
