"""Small results made by hand, texts that try to become markup, reports as the commands write them, and a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from playwright.sync_api import Page as Tab

from ns_mab_gym.claims.judging import Choice, Claim, Evidence, Finding, Reading, Untested, Verdict
from ns_mab_gym.play.simulate import simulate
from ns_mab_gym.report import page as page_module
from ns_mab_gym.report.pipeline import Pipeline
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.study import Experiment, Study

from . import by_hand
from .html_reader import Reader

HOSTILE = (
    "<script>alert(1)</script>",
    "means_of_a_world_" * 5,  # wider than a phone
    "</script><script>window.ran = true</script>",
    "</title></style>",
    '"><img src=x onerror="window.ran = true">',
    "' onmouseover='window.ran = true' x='",
    "{{ 7 * 7 }}{% raw %}",
    "$x^2$ & &lt;b&gt; %{y}",
    "<!--<script>",
)
TOGETHER = " ".join(HOSTILE[:-1])  # without the last, which would hide what the others do
WIDE, PHONE, HEIGHT = 1400, 390, 900  # pixels
CHROMIUM = shutil.which("chromium")
MISSING = "no chromium: apt-get install chromium"
Visit = Callable[..., Tab]
needs_chromium = pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason=MISSING)


@pytest.fixture
def without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out five megabytes that every page has in common."""
    monkeypatch.setattr(page_module, "get_plotlyjs", lambda: "/* plotly */")


@pytest.fixture(scope="session")
def paper_report(paper_folder: Path) -> Path:
    """The paper's experiments at a small size."""
    return paper_folder / "report.html"


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every text that a user can choose is hostile."""
    worlds = tuple(WorldSpec.of("NSBandit-Abrupt-v0", label=text, horizon=by_hand.HORIZON) for text in HOSTILE[:2])
    agents = tuple(AgentSpec.of("random", label=text, note=TOGETHER) for text in HOSTILE)
    family = tuple(AgentSpec.of("random", label=f"{TOGETHER} {text}", group=TOGETHER) for text in HOSTILE)
    experiments = tuple(Experiment(worlds=worlds, agents=entries, runs=2) for entries in (agents, family))
    choice = Choice(TOGETHER, TOGETHER, (Reading(TOGETHER, TOGETHER, 1), Reading(HOSTILE[0], TOGETHER, 2)))

    def decide(evidence: Evidence) -> Finding:
        verdict = Verdict.FAILS if evidence.read(choice) == 1 else Verdict.HOLDS
        return Finding(verdict, TOGETHER, instead=TOGETHER)

    claim = Claim(TOGETHER, TOGETHER, TOGETHER, decide, (choice,))
    pipeline = Pipeline(
        Study(TOGETHER, experiments),
        folder=tmp_path_factory.mktemp("hostile") / "out",
        simulate=simulate,
        claims={world.label: [claim] for world in worlds},
        notes=[TOGETHER],
        warning=TOGETHER,
        untested=[Untested(TOGETHER, TOGETHER)],
        not_taken=[TOGETHER],
    )
    pipeline.run()
    return pipeline.report


@pytest.fixture(scope="session")
def hand_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the small study whose numbers can be checked in one's head."""
    path = tmp_path_factory.mktemp("hand") / "report.html"
    path.write_text(by_hand.page().html(), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def hand_page(hand_report: Path) -> Reader:
    """The same report, read without a browser."""
    return Reader(hand_report.read_text(encoding="utf-8"))


# Not for the whole session: while it is open, an event loop runs in this thread, and other tests may want their own.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    if CHROMIUM is None:
        pytest.fail(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


def listen(page: Tab, complaints: list[str]) -> None:
    """Note errors, dialogs, and requests for anything outside of the page."""
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "assert") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda asked: None if _own(asked.url) else complaints.append(f"asked for {asked.url}"))


def _own(url: str) -> bool:
    """Whether a request is for the report itself, or for something inside of it."""
    return url.startswith(("data:", "blob:")) or (url.startswith("file:") and url.endswith("/report.html"))


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """A function that opens a report with all its charts.

    After the test, nothing may have gone wrong in it, nothing may stick out sideways, and no link may lead nowhere.
    """
    complaints: list[str] = []

    def opened(report: Path, width: int = WIDE) -> Tab:
        page = chromium.new_page(viewport={"width": width, "height": HEIGHT}, is_mobile=width == PHONE)
        listen(page, complaints)
        page.goto(report.as_uri())
        expect(page.locator(":is(.chart, .small-chart):not(:has(.scatterlayer .trace))")).to_have_count(0)
        assert page.evaluate("window.innerWidth") == width
        return page

    yield opened
    for context in chromium.contexts:
        for page in context.pages:
            assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
            nowhere = "[...document.querySelectorAll('a[href]')].filter(a => !document.querySelector(a.hash)).length"
            assert page.evaluate(nowhere) == 0
        context.close()
    assert complaints == []
