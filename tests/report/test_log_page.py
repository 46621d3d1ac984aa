"""The page of a log in Chromium: hostile names of arms are shown and run nothing."""

import numpy as np
import pytest
from playwright.sync_api import expect

from ns_mab_gym.logs.log import Log
from ns_mab_gym.logs.page import write_page

from .conftest import HOSTILE, PHONE, TOGETHER, Visit, needs_chromium


@pytest.fixture(scope="module")
def log_page(tmp_path_factory):
    rng = np.random.default_rng(0)
    names = (*HOSTILE, TOGETHER)
    times, arms = np.arange(3_000.0), np.arange(3_000) % len(names)
    rewards = (rng.random(3_000) < np.where((arms < 4) & (times > 1_500), 0.05, 0.5)).astype(float)
    drift = Log(times, arms, rewards, names, notes=(TOGETHER,)).drift(99)
    path = tmp_path_factory.mktemp("log") / "report.html"
    write_page(drift, path, TOGETHER, [TOGETHER], TOGETHER)
    return path


@needs_chromium
def test_hostile_names_are_shown_and_run_nothing(visit: Visit, log_page):
    visit(log_page, PHONE)
    page = visit(log_page)
    assert page.evaluate("typeof window.ran") == "undefined"
    assert page.title() == page.locator("h1").text_content() == TOGETHER
    expect(page.locator("script")).to_have_count(0)
    expect(page.locator("img")).to_have_count(1)
    assert page.evaluate("document.images[0].naturalWidth > 0")
    assert {*HOSTILE, TOGETHER} <= set(page.locator("tbody th").all_text_contents())
    assert page.locator("pre").text_content() == TOGETHER
    fell = [text for text in page.locator("p.found").all_text_contents() if " fell from " in text]
    assert [text.partition(" fell from ")[0] for text in fell] == list(HOSTILE[:4])
