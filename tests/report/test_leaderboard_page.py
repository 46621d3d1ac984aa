"""The page of the leaderboard in Chromium, wide and on a phone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns_mab_gym.experiments.leaderboard.board_page import BoardPage
from ns_mab_gym.experiments.leaderboard.board_pictures import draw_board
from ns_mab_gym.experiments.leaderboard.board_table import Division
from ns_mab_gym.experiments.leaderboard.board_worlds import chosen_worlds
from ns_mab_gym.experiments.leaderboard.findings import findings_of
from ns_mab_gym.experiments.leaderboard.standings import standings_of

from .conftest import PHONE, WIDE, Visit, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A leaderboard of made-up regrets, with one agent that has a long name and one that misses a world."""
    worlds = chosen_worlds(["random phases", "rising", "Gaussian rewards"])
    labels = [
        "ts",
        "an agent with a name that is too long for any column of any table on a phone",
        "a variant",
        "absent",
    ]
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
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].map(image => image.naturalWidth > 0)") == [True] * 5
    nowhere = "[...document.querySelectorAll('a[href]')].filter(a => !document.getElementById(a.hash.slice(1))).length"
    assert page.evaluate(nowhere) == 0
    places = page.locator("#informed ~ .scroll table.board-table").first.locator("tbody tr td:first-child")
    assert places.all_text_contents() == ["1", "2", "–", "–"]
    assert "plays 8 of 9 worlds that count" in page.locator("tr.other").all_text_contents()[1]
