"""The bar of switches in Chromium: every switch has a name, and what was chosen can be read."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from ns_mab_gym.experiments import paper_readings

from .conftest import PHONE, WIDE, Visit, needs_chromium

pytestmark = needs_chromium


def test_every_switch_has_a_name_and_a_question(visit: Visit, paper_report: Path):
    page = visit(paper_report)
    page.locator("#bar summary").click()
    boxes = page.get_by_role("form", name="Readings").get_by_role("combobox")
    expect(boxes).to_have_count(page.locator("[id^=choice-]").count())
    for box in boxes.all():
        assert box.evaluate("each => each.labels[0].textContent.length > 2 && each.title.endsWith('?')")
    about = [choice.key for choice in (paper_readings.RIVALS, *paper_readings.TUNINGS)]
    expect(page.locator("#bar .agents label")).to_have_text(about)


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
    assert page.evaluate("document.documentElement.scrollWidth") <= width
