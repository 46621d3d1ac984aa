"""Names at lines: apart from each other, near their lines, as wide as they are taken to be."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from ns_mab_gym.figures.line_labels import Label, label_lines, spread, text_width
from ns_mab_gym.figures.style import styled
from ns_mab_gym.figures.world_means import means_figure

HEIGHTS = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12)


@given(HEIGHTS, st.floats(0.1, 50))
def test_spread_keeps_the_order_and_the_distance(heights, gap):
    places = spread(heights, gap)
    order = np.argsort(heights, kind="stable")
    assert all(np.diff(np.array(places)[order]) >= gap * (1 - 1e-9) - 1e-9)
    assert np.mean(places) == pytest.approx(np.mean(heights), abs=1e-6)  # as little as possible: the mean stays


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


@pytest.mark.parametrize(
    "text", ["Beta-SWTS  14,465", "γ-SWGTS (τ = 2,942)", "WWWWWWWWWW", "iiiiii  iiii", "Жук ש ↑", "", "a\nbbb"]
)
def test_the_width_of_a_text_is_that_of_its_drawing(text):
    with styled():
        figure = Figure()
        drawn = figure.text(0.1, 0.1, text, fontsize=9)
        extent = drawn.get_window_extent(FigureCanvasAgg(figure).get_renderer())
    assert text_width(text, 9) == pytest.approx(extent.width / figure.dpi, rel=0.04, abs=0.02)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_label_stands_where_its_line_ends(scale):
    figure = Figure()
    axes = figure.add_axes((0.1, 0.1, 0.5, 0.8))
    axes.set(yscale=scale, ylim=(1, 1_000))
    label_lines(axes, [Label("inside", 200.0, "red"), Label("above", 5_000.0, "red"), Label("below", 0.5, "red")], 3, 4)
    inside, above, below = axes.texts
    end = axes.transAxes.inverted().transform(axes.transData.transform((0, 200.0)))[1]
    assert inside.get_position()[1] == pytest.approx(end)
    assert [text.get_text() for text in (inside, above, below)] == ["inside", "above ↑", "below ↓"]
    assert (above.get_position()[1], below.get_position()[1]) == (1.0, 0.0)


def test_a_long_name_loses_its_middle_and_keeps_its_number():
    axes = Figure().add_axes((0.1, 0.1, 0.5, 0.8))
    label_lines(axes, [Label("x" * 90 + "  14,465", 0.5, "red")], 3, 4)
    [text] = axes.texts
    assert len(text.get_text()) == 40
    assert text.get_text().endswith("x  14,465")


def test_labels_of_lines_that_meet_do_not_overlap():
    figure = means_figure(np.full((100, 8), 0.5), "eight arms, one mean")
    figure.draw_without_rendering()
    texts = [t for t in figure.findobj(Text) if t.get_text().startswith("arm ")]
    boxes = sorted(t.get_window_extent().extents[[1, 3]].tolist() for t in texts)
    assert len(boxes) == 8
    assert all(above[0] >= below[1] - 0.5 for below, above in itertools.pairwise(boxes))
