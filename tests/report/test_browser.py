"""The report in Chromium, as a reader opens and uses it."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

WIDE, PHONE = 1400, 390  # pixels
CHROMIUM = shutil.which("chromium")
MISSING = "no chromium: apt-get install chromium"
Visit = Callable[..., Page]

pytestmark = pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason=MISSING)


# Not for the whole session: while it is open, an event loop runs in this thread, and other tests may want their own.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


def listen(page: Page, complaints: list[str]) -> None:
    """Note errors, dialogs, and requests for anything outside of the page."""
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "assert") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda asked: None if _own(asked.url, page) else complaints.append(f"asked for {asked.url}"))


def _own(url: str, page: Page) -> bool:
    """Whether a request is for the report itself, or for something inside of it."""
    return url.startswith(("data:", "blob:")) or (url.startswith("file:") and url.endswith("/report.html"))


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """A function that opens a report with all its charts; after the test, nothing may have gone wrong in it."""
    complaints: list[str] = []

    def opened(report: Path, width: int = WIDE) -> Page:
        page = chromium.new_page(viewport={"width": width, "height": 900}, is_mobile=width == PHONE)
        listen(page, complaints)
        page.goto(report.as_uri())
        expect(page.locator(".chart:not(:has(.scatterlayer .trace))")).to_have_count(0)
        return page

    yield opened
    for context in chromium.contexts:
        context.close()
    assert complaints == []


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
    expect(page.locator(".chart")).to_have_count(4 * (1 + 1 + 2))  # means, regret, and two samplers' windows
    expect(page.locator("#regret-0-0 .legendtext")).to_have_count(8)
    traces = "chart => chart.data.length - chart.querySelectorAll('.scatterlayer .trace').length"
    assert page.evaluate(f"[...document.querySelectorAll('.chart')].filter({traces}).length") == 0
    assert page.evaluate("[...document.images].map(image => image.naturalWidth > 0)") == [True, True]


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
    assert contents.all_text_contents()[::5] == ["Verdicts", "Settings and provenance"]
    for link in contents.all():
        link.click()
        expect(page.locator(":target")).to_be_in_viewport()
        if (words := link.text_content()) != "Verdicts":
            expect(page.locator(":target")).to_have_text(str(words))
    nowhere = "[...document.querySelectorAll('a[href]')].filter(a => !document.getElementById(a.hash.slice(1))).length"
    assert page.evaluate(nowhere) == 0
    twice = "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(each => each.id))"
    assert page.evaluate(twice) == 0


def test_hostile_texts_are_shown_and_run_nothing(
    visit: Visit, hostile_report: Path, hostile_texts: Sequence[str], hostile_together: str
):
    page = visit(hostile_report)
    assert page.evaluate("typeof window.ran") == "undefined"
    expect(page.locator("img")).to_have_count(0)
    expect(page.locator("script")).to_have_count(3)  # plotly, the charts, the page's own
    assert page.title() == page.locator("h1").text_content() == hostile_together
    assert page.locator("nav a").all_text_contents()[1:3] == list(hostile_texts[:2])
    assert page.locator(".warning").text_content() == hostile_together
    starred = {f"{text}*" for text in hostile_texts}
    assert starred <= set(page.locator("td").all_text_contents())
    assert set(page.locator("#regret-0-0 .legendtext").all_text_contents()) == starred
    page.locator("#regret-0-0 .nsewdrag").hover()
    under_mouse = page.locator("#regret-0-0 .hoverlayer .legendtext")
    expect(under_mouse.filter(has_text="%{y}")).to_have_count(1)
