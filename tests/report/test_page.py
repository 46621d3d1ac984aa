"""The page without a browser: what is text stays text."""

import json
import math
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from ns_mab_gym.experiments.claims import Claim, Finding, Judged, Judgement, Untested, Verdict
from ns_mab_gym.experiments.readings import Choice, Reading
from ns_mab_gym.experiments.report import Page
from ns_mab_gym.experiments.report.rendering import environment

from .by_hand import THREE
from .html_reader import Reader

MakePage = Callable[..., Page]
pytestmark = pytest.mark.usefixtures("without_plotly")


def page_about(make_page: MakePage, text: str) -> str:
    """A page in which every text is the given one."""
    notes = {text: text}
    texts = {"world": text, "title": text, "agent_notes": notes, "summary": text, "settings": [(text, text)]}
    texts |= {"notes": [text], "warning": text, "command": text, "made": text, "judged": [depending(text)]}
    texts |= {"untested": [Untested(text, text)], "not_taken": [text]}
    return make_page({text: [1.0, 2.0], f"{text} too": [2.0, 3.0]}, **texts).html()


def depending(text: str) -> Judged:
    """A claim whose verdict depends on a choice, both made of the given text."""
    choice = Choice(text, text, (Reading(text, text), Reading(f"{text} too", text)), agent=text)
    verdicts = zip(choice.readings, (Verdict.FAILS, Verdict.HOLDS), strict=True)
    findings = {(reading,): Finding(verdict, text, instead=text) for reading, verdict in verdicts}
    judgement = Judgement((choice,), findings, dict.fromkeys(findings, text), 50)
    return Judged(
        Claim(text, text, text, lambda _: findings[choice.readings[0],], (choice,)), text, judgement, judgement
    )


def test_a_hostile_text_adds_no_element_and_no_attribute(make_page: MakePage, hostile: str):
    page = Reader(page_about(make_page, hostile))
    harmless = re.sub(r"[^\s,;:.]", "x", hostile)  # figures have one element for each piece, whatever is in it
    assert page.elements == Reader(page_about(make_page, harmless)).elements
    assert page.texts.count(hostile) > 5
    assert page.tables[-1][1] == [hostile, hostile]


def test_a_hostile_text_cannot_end_the_data_of_the_charts(make_page: MakePage, hostile: str):
    page = Reader(page_about(make_page, hostile))
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


def test_a_name_that_is_not_there_is_an_error():
    for template in ("{{ missing }}", "{% if missing %}{% endif %}", "{{ known.missing }}"):
        with pytest.raises(UndefinedError, match="missing"):
            environment().from_string(template).render(known=object())


def test_a_text_with_braces_is_no_template(make_page: MakePage):
    assert "{{ 7 * 7 }}" in Reader(page_about(make_page, "{{ 7 * 7 }}")).texts


def test_the_same_results_give_the_same_bytes(make_page: MakePage):
    once, again = make_page(THREE), make_page(THREE)
    assert once.html() == once.html() == again.html()
    assert once.html() != make_page({**THREE, "third": [150.0, 250.0, 351.0]}).html()
