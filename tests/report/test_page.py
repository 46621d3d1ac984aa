"""The page without a browser: what is text stays text, and the tables say what the results say."""

import base64
import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from ns_mab_gym.experiments.claims import Claim, Finding, Judged, Verdict
from ns_mab_gym.experiments.report import Page, rendering
from ns_mab_gym.experiments.report.rendering import environment

MakePage = Callable[..., Page]
FINALS = {"first": [100.0, 200.0, 300.0], "second": [90.0, 190.0, 310.0], "third": [150.0, 250.0, 350.0]}


class Reader(HTMLParser):
    """Reads a page: its elements with the names of their attributes, its texts, its tables and its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.scripts: list[str] = []
        self.images: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, *(name for name, _ in attrs)))
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "script":
            self.scripts.append("")
        elif tag == "img":
            self.images.append(str(dict(attrs)["src"]))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass  # elements without an end, such as meta and br

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if "script" in self.open:
            self.scripts[-1] += data
        elif "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data

    @property
    def charts(self) -> dict[str, dict[str, list[dict[str, str]]]]:
        """The data of the charts, from the second of the page's scripts."""
        return dict(json.loads(self.scripts[1]))


@pytest.fixture(autouse=True)
def _without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out five megabytes that every page has in common."""
    monkeypatch.setattr(rendering, "get_plotlyjs", lambda: "/* plotly */")


def page_about(make_page: MakePage, text: str) -> str:
    """A page in which every text is the given one."""
    notes = {text: text}
    texts = {"world": text, "title": text, "agent_notes": notes, "summary": text, "settings": [(text, text)]}
    return make_page({text: [1.0, 2.0], f"{text} too": [2.0, 3.0]}, **texts, notes=[text]).html()


def test_a_hostile_text_adds_no_element_and_no_attribute(make_page: MakePage, hostile: str):
    page = Reader(page_about(make_page, hostile))
    assert page.elements == Reader(page_about(make_page, "harmless")).elements
    assert page.texts.count(hostile) > 5
    assert page.tables[-1][1] == [hostile, hostile]


def test_a_hostile_text_cannot_end_the_data_of_the_charts(make_page: MakePage, hostile: str):
    page = Reader(page_about(make_page, hostile))
    assert len(page.scripts) == 3
    assert not set("<>&") & set(page.scripts[1])
    escaped = hostile.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert {trace["name"] for trace in page.charts["regret-0-0"]["data"]} == {f"{escaped}*", f"{escaped} too"}


@settings(deadline=None, max_examples=30)
@given(text=st.text(alphabet=st.sampled_from("<>/!-&;\"'`=\\{}%#$ \nscript"), min_size=1, max_size=30))
def test_no_text_becomes_an_element(text: str):
    template = environment().from_string('<p title="{{ text }}">{{ text }}</p><script>{{ text | tojson }}</script>')
    page = Reader(template.render(text=text))
    assert page.elements == [("p", "title"), ("script",)]
    assert json.loads(page.scripts[0]) == text


def test_a_name_that_is_not_there_is_an_error():
    for template in ("{{ missing }}", "{% if missing %}{% endif %}", "{{ known.missing }}"):
        with pytest.raises(UndefinedError, match="missing"):
            environment().from_string(template).render(known=object())


def test_a_text_with_braces_is_no_template(make_page: MakePage):
    assert "{{ 7 * 7 }}" in Reader(page_about(make_page, "{{ 7 * 7 }}")).texts


def test_the_same_results_give_the_same_bytes(make_page: MakePage):
    once, again = make_page(FINALS), make_page(FINALS)
    assert once.html() == once.html() == again.html()
    assert once.html() != make_page({**FINALS, "third": [150.0, 250.0, 351.0]}).html()


def test_final_regrets_and_their_comparison_with_the_reference(make_page: MakePage):
    head, *rows = Reader(make_page(FINALS, agent_notes={"third": "said"}).html()).tables[0]
    assert head == [
        "Agent", "Final regret", "95 % interval", "sd", "minus first", "95 % interval", "P(less)", "mean rank",
    ]  # fmt: skip
    agents, regrets, intervals, sds, differences, their_intervals, improvements, ranks = zip(*rows, strict=True)
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


def test_a_star_is_explained_below_the_table(make_page: MakePage):
    page = make_page(FINALS, agent_notes={"third": "plays with closed eyes"})
    assert page.footnotes() == ["* third: plays with closed eyes"]
    assert page.footnotes()[0] in Reader(page.html()).texts


def test_claims_at_a_glance(make_page: MakePage):
    def judged(key: str, world: str, verdict: Verdict, ours: bool = False) -> Judged:
        finding = Finding(verdict, "a 1, b 2", instead="b 2, a 1")
        return Judged(Claim(key, f"{key} said", f"{key} tested", lambda _: finding, ours), world, finding)

    claims = [
        judged("one", "here", Verdict.HOLDS),
        judged("one", "there", Verdict.UNDECIDED, ours=True),
        judged("two", "here", Verdict.FAILS),
    ]
    page = Reader(make_page(FINALS, judged=claims, warning="beware").html())
    assert page.tables[0] == [["Claim", "here", "there"], ["one", "holds", "open†"], ["two", "no", ""]]
    said, found = (" ".join(cell.split()) for cell in page.tables[1][2])
    assert said == "two saidTest: two tested."
    assert found == "does not hold here a 1, b 2. Instead: b 2, a 1."
    assert {"Verdicts", "beware"} <= set(page.texts)


def test_without_claims_there_are_no_verdicts(make_page: MakePage):
    assert "Verdicts" not in Reader(make_page(FINALS).html()).texts


def test_parameters_and_settings_are_shown(make_page: MakePage):
    tables = Reader(make_page(FINALS, settings=[("seed", 7), ("numpy", "2.0")]).html()).tables
    assert tables[-2][1] == ["here", "first", "ts", "window = 5, gamma = 0.25"]
    assert tables[-1] == [["Setting", "Value"], ["seed", "7"], ["numpy", "2.0"]]


def test_a_world_drawn_anew_shows_the_means_of_one_run(make_page: MakePage):
    assert "Means (as in the first run)" in Reader(make_page(FINALS, drawn_anew={"here"}).html()).texts
    assert "Means" in Reader(make_page(FINALS).html()).texts


def test_a_world_without_known_means_has_no_chart_of_them(make_page: MakePage):
    page = make_page(FINALS)
    assert set(Reader(page.html()).charts) == {"means-0", "regret-0-0"}
    page.means = {"here": None}
    assert set(Reader(page.html()).charts) == {"regret-0-0"}


def test_a_picture_is_inside_the_page(make_page: MakePage, tmp_path: Path):
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    (tmp_path / "picture.svg").write_bytes(drawing)
    page = Reader(make_page(FINALS, explanations=[(tmp_path / "picture.svg", "what it shows")]).html())
    kind, _, data = page.images[0].partition(",")
    assert (kind, base64.b64decode(data)) == ("data:image/svg+xml;base64", drawing)
    assert "what it shows" in page.texts
