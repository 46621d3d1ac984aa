"""One look: files hold what was drawn, panels and names stand where they should, nothing else is touched."""

import concurrent.futures
import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from ns_mab_gym.figures import style
from ns_mab_gym.figures.style import Sheet, save, save_as, spread, styled
from ns_mab_gym.figures.worlds import means_figure
from ns_mab_gym.worlds import Abrupt


@pytest.fixture
def figure():
    return means_figure(Abrupt(horizon=500).means(), "a world")


def test_a_png_holds_the_pixels_that_were_drawn_whatever_was_saved_before(figure, tmp_path):
    for name in ("first.PNG", "between.svg", "last.png"):
        save_as(figure, tmp_path / name)
    with styled():
        drawn = FigureCanvasAgg(figure)
        drawn.draw()
    for name in ("first.PNG", "last.png"):
        with Image.open(tmp_path / name) as image:
            assert image.info["dpi"] == pytest.approx((160, 160), abs=0.1)
            np.testing.assert_array_equal(np.asarray(image), np.asarray(drawn.buffer_rgba()))


@pytest.mark.parametrize("name", ["figure.jpg", "figure"])
def test_other_kinds_of_files_are_refused(figure, tmp_path, name):
    with pytest.raises(ValueError, match=rf"written as \.png, \.svg or \.pdf, got .*{name}"):
        save_as(figure, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_written_as_people_write_them():
    values = {15_000.0: "15,000", 0.1 + 0.2: "0.3", 0.0: "0", -2.5: "−2.5", 1e6: "1,000,000", 1e-4: "0.0001"}
    assert {value: style.NUMBERS(value) for value in values} == values


def test_sixteen_lines_can_be_distinct_names():
    assert len({str(style.line_style(index)) for index in range(16)}) == 16
    assert len(set(style.sequence(50))) == 50


def test_every_other_phase_is_shaded():
    [[axes]] = Sheet(5, [3]).rows
    style.shade_phases(axes, [11, 31], 40)  # rounds 1 to 10, 11 to 30 and 31 to 40
    assert [(each.get_x(), each.get_x() + each.get_width()) for each in axes.patches] == [(0.5, 10.5), (30.5, 40.5)]


def test_panels_have_the_heights_asked_for_and_share_their_columns():
    sheet = Sheet(10, [0.5, 2.0, 1.0], [2, 2, 1])
    for axes in sheet.figure.axes:
        axes.set(xlabel="x", ylabel="y")
    sheet.rows[0][0].set_ylim(0, 1e9)  # long numbers
    sheet.rows[1][0].plot([0, 1], label="a long name beside the line")
    figure = sheet.settle(["a note"], "a heading")
    width, height = figure.get_size_inches()
    (first, second), (third, fourth), (alone,) = [[axes.get_position() for axes in row] for row in sheet.rows]
    tall = [box.height * height for box in (first, second, third, fourth, alone)]
    assert tall == pytest.approx([0.5, 0.5, 2, 2, 1], abs=0.01)
    columns = (third.x0, third.x1, fourth.x0, fourth.x1)
    assert (first.x0, first.x1, second.x0, second.x1) == pytest.approx(columns, abs=0.001)
    assert alone.width > first.width
    assert width == 10


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12),
    st.floats(0.1, 50),
    st.floats(-500, 0),
    st.integers(0, 2**32 - 1),
)
def test_spread_between_limits_is_the_nearest_of_all_arrangements(heights, gap, low, seed):
    high = low + gap * (len(heights) + 3)
    places = np.sort(spread(heights, gap, low, high))
    assert low - 1e-6 <= places[0]
    assert places[-1] <= high + 1e-6
    assert all(np.diff(places) >= gap - 1e-6)
    # Of a convex set, p is the point nearest to h if and only if no point q has (h - p)·(q - p) > 0.
    slack = np.sort(np.random.default_rng(seed).uniform(0, high - low - gap * (len(heights) - 1), (50, len(heights))))
    others = low + slack + gap * np.arange(len(heights))
    assert ((others - places) @ (np.sort(heights) - places)).max() <= 1e-4 * (1 + np.abs(heights).max())


def test_labels_that_have_no_room_keep_their_distance():
    assert spread([5.0, 5.0, 5.0], 2.0, 0.0, 3.0) == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_label_stands_where_its_line_ends(scale):
    with styled():
        sheet = Sheet(5, [3])
        [[axes]] = sheet.rows
        ends = {"inside": 200.0, "above": 5_000.0, "below": 0.5, "x" * 90 + "  14,465": 20.0, "_under": 30.0}
        for text, value in ends.items():
            axes.plot([1, 2, 3], [10, value, np.nan], color="red", label=text)
        axes.plot([1, 2], [np.nan, np.nan], label="nowhere")
        axes.plot([1, 2], [3, 4])  # without a name
        axes.set(yscale=scale, ylim=(1, 1_000))
        sheet.settle()
    inside, above, below, long, under = axes.texts
    end = axes.transAxes.inverted().transform(axes.transData.transform((0, 200.0)))[1]
    assert inside.xyann[1] == pytest.approx(end)
    assert [text.get_text() for text in (inside, above, below, under)] == ["inside", "above ↑", "below ↓", "_under"]
    assert inside.get_color() == "red"
    assert (above.xyann[1], below.xyann[1]) == (1.0, 0.0)
    assert re.fullmatch(r"x+…x+  14,465", long.get_text())
    assert style.text_width(long.get_text(), 8.5) <= 2.6


def test_no_global_state_is_used():
    """Neither pyplot nor anything of the studies is imported, and the settings of the user stay."""
    script = """
import importlib, pkgutil, sys
import matplotlib
from ns_mab_gym import figures
before = matplotlib.rcParams.copy()
for each in pkgutil.iter_modules(figures.__path__):
    importlib.import_module(f"{figures.__name__}.{each.name}")
importlib.import_module("ns_mab_gym.figures.theory").learnable_figure()
assert matplotlib.rcParams.copy() == before
found = [name for name in sys.modules if name.startswith(("matplotlib.pyplot", "ns_mab_gym.studies"))]
assert not found, found
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_threads_that_draw_at_once_do_not_disturb_each_other(tmp_path):
    before = mpl.rcParams.copy()
    means = Abrupt(horizon=500).means()
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        drawn = threads.map(lambda number: save(means_figure(means, "a world"), tmp_path, f"{number}"), range(4))
        files = [png.read_bytes() for png, _ in drawn]
    assert len(set(files)) == 1
    assert mpl.rcParams.copy() == before
