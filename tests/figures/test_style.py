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

from ns_mab_gym.figures.style import (
    NUMBERS,
    Label,
    canvas,
    line_style,
    phase_name,
    save,
    save_as,
    sequence,
    shade_phases,
    spread,
    styled,
    text_width,
)
from ns_mab_gym.figures.worlds import means_figure
from ns_mab_gym.worlds import Abrupt


@pytest.fixture
def figure():
    return means_figure(Abrupt(horizon=500).means(), "a world")


def test_a_png_holds_the_pixels_that_were_drawn(figure, tmp_path):
    save_as(figure, tmp_path / "file.PNG")
    with styled():
        drawn = FigureCanvasAgg(figure)
        drawn.draw()
    with Image.open(tmp_path / "file.PNG") as image:
        image.verify()  # the sums of all parts
    with Image.open(tmp_path / "file.PNG") as image:
        assert image.info["dpi"] == pytest.approx((160, 160), abs=0.1)
        np.testing.assert_array_equal(np.asarray(image), np.asarray(drawn.buffer_rgba()))


def test_saving_leaves_a_figure_as_it_was(figure, tmp_path):
    save_as(figure, tmp_path / "first.png")
    save_as(figure, tmp_path / "between.svg")
    save_as(figure, tmp_path / "last.png")
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "last.png").read_bytes()


@pytest.mark.parametrize("name", ["figure.jpg", "figure"])
def test_other_kinds_of_files_are_refused(figure, tmp_path, name):
    with pytest.raises(ValueError, match=rf"written as \.png or \.svg, got .*{name}"):
        save_as(figure, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_written_as_people_write_them():
    values = {15_000.0: "15,000", 0.1 + 0.2: "0.3", 0.0: "0", -2.5: "−2.5", 1e6: "1,000,000", 1e-4: "0.0001"}
    assert {value: NUMBERS(value) for value in values} == values


def test_sixteen_lines_can_be_distinct_names():
    assert len({str(line_style(index)) for index in range(16)}) == 16
    assert len(set(sequence(50))) == 50


def test_every_other_phase_is_shaded():
    sheet = canvas(5, [3])
    [[axes]] = sheet.rows
    shade_phases(axes, [11, 31], 40)  # rounds 1 to 10, 11 to 30 and 31 to 40
    assert [(each.get_x(), each.get_x() + each.get_width()) for each in axes.patches] == [(0.5, 10.5), (30.5, 40.5)]
    assert phase_name(10) == "ℱ₁₀"


def test_panels_have_the_heights_asked_for_and_share_their_columns():
    sheet = canvas(10, [0.5, 2.0, 1.0], [2, 2, 1])
    for axes in (axes for row in sheet.rows for axes in row):
        axes.set(xlabel="x", ylabel="y")
    sheet.rows[0][0].set_ylim(0, 1e9)  # long numbers
    figure = sheet.settle({sheet.rows[1][0]: [Label("a long name beside the line", 0.5, "red")]}, ["a note"])
    width, height = figure.get_size_inches()
    (first, second), (third, fourth), (alone,) = [[axes.get_position() for axes in row] for row in sheet.rows]
    tall = [box.height * height for box in (first, second, third, fourth, alone)]
    assert tall == pytest.approx([0.5, 0.5, 2, 2, 1], abs=0.01)
    columns = (third.x0, third.x1, fourth.x0, fourth.x1)
    assert (first.x0, first.x1, second.x0, second.x1) == pytest.approx(columns, abs=0.001)
    assert alone.width > first.width
    assert width == 10


HEIGHTS = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12)


@given(HEIGHTS, st.floats(0.1, 50), st.floats(-500, 0), st.integers(0, 2**32 - 1))
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
        sheet = canvas(5, [3])
        [[axes]] = sheet.rows
        axes.set(yscale=scale, ylim=(1, 1_000))
        ends = {"inside": 200.0, "above": 5_000.0, "below": 0.5, "x" * 90 + "  14,465": 20.0}
        sheet.settle({axes: [Label(text, value, "red") for text, value in ends.items()]})
    inside, above, below, long = axes.texts
    end = axes.transAxes.inverted().transform(axes.transData.transform((0, 200.0)))[1]
    assert inside.xyann[1] == pytest.approx(end)
    assert [text.get_text() for text in (inside, above, below)] == ["inside", "above ↑", "below ↓"]
    assert (above.xyann[1], below.xyann[1]) == (1.0, 0.0)
    assert re.fullmatch(r"x+…x+  14,465", long.get_text())
    assert text_width(long.get_text(), 8.5) <= 2.6


def test_no_global_state_is_used():
    """Neither pyplot nor anything of the experiments is imported, and the settings of the user stay."""
    script = """
import importlib, pkgutil, sys
import matplotlib
from ns_mab_gym import figures
before = matplotlib.rcParams.copy()
for each in pkgutil.iter_modules(figures.__path__):
    importlib.import_module(f"{figures.__name__}.{each.name}")
importlib.import_module("ns_mab_gym.figures.theory").learnable_figure()
assert matplotlib.rcParams.copy() == before
found = [name for name in sys.modules if name.startswith(("matplotlib.pyplot", "ns_mab_gym.experiments"))]
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
