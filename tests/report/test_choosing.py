"""Readings chosen in Chromium: verdicts, figures, curves and the final table follow, and come back."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ns_mab_gym.experiments import paper_readings

from .by_hand import BOLD
from .conftest import PHONE, Visit, needs_chromium

pytestmark = needs_chromium


def choose(page: Page, key: str, reading: str) -> None:
    if not page.get_by_label(key, exact=True).is_visible():
        page.locator("#bar summary").click()
    page.get_by_label(key, exact=True).select_option(label=reading)


def finals(page: Page) -> list[list[str]]:
    """The visible rows of the final table, in words; the best of each world in stars."""
    rows = page.locator("#finals tbody tr").locator("visible=true").all()
    return [[row.locator("th").inner_text().strip(), *map(_cell, row.locator("td:not(.rank)").all())] for row in rows]


def _cell(cell: Any) -> str:
    words = " ".join(cell.locator("span, small").all_text_contents())
    return f"*{words}*" if cell.locator("xpath=self::*[contains(@class, 'best')]").count() else words


def mean_places(page: Page) -> list[str]:
    """The last column of the rows that can be seen."""
    return page.locator("#finals td.rank").locator("visible=true").all_text_contents()


def signs(page: Page) -> list[str]:
    """The verdicts of the matrix that can be seen."""
    return page.locator("#matrix td .badge").locator("visible=true").all_text_contents()


def ends(page: Page, chart: str) -> dict[str, float]:
    """The last value of each line of a chart that is drawn, by its name."""
    lines = "data.filter(line => !line.fill && line.visible !== false)"
    return dict(page.locator(chart).first.evaluate(f"({{data}}) => {lines}.map(line => [line.name, line.y.at(-1)])"))


FIRST = [
    ["a", "2 200 ± 58 τ = 5", "2 20 ± 5.8 τ = 5"],
    ["b", "3 250 ± 58 τ = 5", "*1 10 ± 2.9 τ = 5*"],
    ["c", "*1 160 ± 31 τ = 5*", "3 30 ± 5.8 τ = 5"],
]
ALL = ["depends", "holds", "depends", "depends", "holds"]  # b best here and there, a best, it lasts, by more runs


def assert_all_readings(page: Page) -> None:
    """The page as it was when it was opened."""
    assert signs(page) == ALL
    assert finals(page) == FIRST
    assert mean_places(page) == ["2.0", "2.0", "2.0"]  # 2 and 2, 3 and 1, 1 and 3
    for chart in (".small-chart", "#regret-0-0"):
        assert ends(page, chart) == {"a": 200.0, "b": 250.0, "c": 160.0}
    assert page.locator("[data-now]").all_text_contents() == ["1", "0", "0", "3"]
    expect(page.locator(".deciding").first).to_be_visible()
    expect(page.get_by_role("button", name="Reset to all readings")).to_be_disabled()
    assert page.locator("#bar select").evaluate_all("all => all.map(each => each.value)") == ["", "", ""]
    words = page.locator("[data-now] + span").all_text_contents()
    assert words == ["holds", "do not hold", "are open", "depend on the reading"]


def test_another_tuning_changes_verdict_figures_curve_and_table_and_reset_brings_them_back(
    visit: Visit, hand_report: Path
):
    page = visit(hand_report)
    assert_all_readings(page)
    choose(page, "tuning of b", "boldly")
    assert signs(page) == ["holds", "holds", "no", "holds", "holds"]
    assert page.locator("[data-now]").all_text_contents() == ["3", "1", "0", "0"]
    words = page.locator("[data-now] + span").all_text_contents()
    assert words == ["hold", "does not hold", "are open", "depend on the reading"]
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
    assert mean_places(page) == ["2.5", "1.0", "2.5"]  # 3 and 2, 1 and 1, 2 and 3
    page.get_by_role("button", name="Reset to all readings").click()
    expect(page.locator("#bar output")).to_have_text("All readings")
    assert_all_readings(page)
    choose(page, "tuning of b", "as said")  # the first reading, which can be chosen again
    assert signs(page) == ["no", "holds", "no", "holds", "holds"]


def test_who_is_not_compared_is_not_shown(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    choose(page, "who", "without c")
    assert signs(page) == ["no", "holds", "holds", "holds", "holds"]
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
    assert signs(page) == ["no", "holds", "no", "open", "holds"]  # the others by their first readings
    assert finals(page) == FIRST
    expect(page.get_by_label("who", exact=True)).to_have_value("0")  # which now counts, and is seen to count
    expect(page.locator("#bar output")).to_have_text("how long: long; first reading of the 2 others")
    expect(page.locator(".found[data-judged='2'] .one")).to_contain_text("By 30 runs: holds lasted, with 30.")
    expect(page.locator(".found[data-judged='2'] .one")).to_contain_text("here† said of elsewhere")
    choose(page, "how long", "short")
    expect(page.locator("#bar output")).to_have_text("First reading of every choice")
    assert signs(page) == ["no", "holds", "no", "holds", "holds"]


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


def test_a_curve_that_the_reader_switched_off_stays_off(visit: Visit, hand_report: Path):
    page = visit(hand_report)
    page.locator("#finals button", has_text="a").first.click()
    choose(page, "tuning of b", "boldly")
    assert ends(page, ".small-chart") == {BOLD: 50.0, "c": 160.0}


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
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
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
