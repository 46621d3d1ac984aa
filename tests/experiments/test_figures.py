"""Figures: labels do not overlap, files are the same each time, and odd worlds are drawn too."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text
from PIL import Image

from ns_mab_gym.experiments import Store, collect, figures, run
from ns_mab_gym.experiments.figures.means import means_figure
from ns_mab_gym.experiments.figures.style import save, spread
from ns_mab_gym.theory import breakpoints
from ns_mab_gym.worlds import Abrupt, GeneralAbrupt, Piecewise, RandomWalk, Smooth


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12), st.floats(0.1, 50))
def test_spread_keeps_the_order_and_the_distance(heights, gap):
    places = spread(heights, gap)
    order = np.argsort(heights, kind="stable")
    assert all(np.diff(np.array(places)[order]) >= gap * (1 - 1e-9) - 1e-9)
    assert np.mean(places) == pytest.approx(np.mean(heights), abs=1e-6)  # as little as possible: the mean stays


@pytest.fixture
def results(tmp_path, study, engine, progress):
    with Store(tmp_path / "store", "v1") as store:
        return collect(study, run(study, store, engine, progress))


def test_every_world_gets_its_figures_as_png_and_svg(tmp_path, results):
    means = {"abrupt": Abrupt(horizon=1_000).means(), "NSBandit-Smooth-v0:horizon=1000": None}
    written = figures.draw(results, means, tmp_path / "figures")
    assert sorted(path.name for path in written) == [
        "abrupt-means.png",
        "abrupt-means.svg",
        "abrupt-regret.png",
        "abrupt-regret.svg",
        "nsbandit-smooth-v0-horizon-1000-regret.png",
        "nsbandit-smooth-v0-horizon-1000-regret.svg",
    ]
    for path in written:
        if path.suffix == ".png":
            with Image.open(path) as image:
                assert image.width > 1_000
        else:
            assert path.read_text().startswith("<?xml")


def test_the_same_figure_is_the_same_file(tmp_path):
    once, again = (save(means_figure(Abrupt(horizon=500).means(), "twice"), tmp_path, name) for name in "ab")
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]


def test_labels_of_lines_that_meet_do_not_overlap():
    figure = means_figure(np.full((100, 8), 0.5), "eight arms, one mean")
    figure.draw_without_rendering()
    texts = [t for t in figure.findobj(Text) if t.get_text().startswith("arm ")]
    boxes = sorted(t.get_window_extent().extents[[1, 3]].tolist() for t in texts)
    assert len(boxes) == 8
    assert all(above[0] >= below[1] - 0.5 for below, above in itertools.pairwise(boxes))


@pytest.mark.parametrize(
    "means", [RandomWalk(horizon=300, n_arms=40).means(1), np.array([[0.1, 0.9]]), Smooth(horizon=50).means()]
)
def test_odd_worlds_can_be_drawn(tmp_path, means):
    assert len(save(means_figure(means, r"odd & <b> $\frac{ $5"), tmp_path, "odd")) == 2


def test_phases_are_shaded_where_the_means_jump():
    assert figures.phase_starts(Abrupt().means()) == [15_000, 30_001, 40_000]
    assert figures.phase_starts(GeneralAbrupt().means()) == [15_000, 30_001, 40_000]
    assert (
        figures.phase_starts(Piecewise(changes=5, horizon=900).means(3))
        == breakpoints(Piecewise(changes=5, horizon=900).means(3)).tolist()
    )
    assert figures.phase_starts(Smooth().means()) == []
    assert figures.phase_starts(None) == []


def test_the_explanations_are_drawn(tmp_path):
    assert len(figures.draw_explanations(tmp_path)) == 4
