"""The panel of a world: phases, colours and the ribbon of the best arm are those of its means."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ns_mab_gym.figures.style import FAINT
from ns_mab_gym.figures.worlds import PAPER, arm_colours, gallery_figure, kept_rounds, means_figure, phase_starts
from ns_mab_gym.means import breakpoints
from ns_mab_gym.worlds import Abrupt, GeneralAbrupt, Piecewise, Smooth


def test_phases_are_shaded_where_the_means_jump():
    assert phase_starts(Abrupt().means()) == [15_000, 30_001, 40_000]
    assert phase_starts(GeneralAbrupt().means()) == [15_000, 30_001, 40_000]
    piecewise = Piecewise(changes=5, horizon=900).means(3)
    assert phase_starts(piecewise) == breakpoints(piecewise).tolist()
    assert phase_starts(Smooth().means()) == []
    assert phase_starts(None) == []


def test_arms_that_lead_are_coloured_and_the_others_grey():
    colours = arm_colours(Abrupt().means())  # arms 1 and 10 lead in turn
    assert [arm for arm, colour in enumerate(colours) if colour != FAINT] == [0, 9]
    assert colours[0] != colours[9]


def test_arms_that_all_lead_run_from_dark_to_light():
    brightness = [sum(to_rgb(colour)) for colour in arm_colours(Smooth().means())]
    assert brightness == sorted(brightness)
    assert len(set(brightness)) == 10


def test_lines_keep_both_sides_of_every_jump():
    means = np.repeat([[0.1, 0.9], [0.8, 0.2]], 30_000, axis=0)
    kept = kept_rounds(means, points=100)
    assert {0, 29_999, 30_000, 59_999} <= set(kept.tolist())
    assert len(kept) <= 102


def test_the_ribbon_shows_and_names_the_best_arm():
    means = np.repeat([[0.1, 0.9, 0.2], [0.8, 0.2, 0.1]], [300, 100], axis=0)  # arm 2 for 300 rounds, then arm 1
    ribbon, panel = means_figure(means, "two phases").axes
    [image] = ribbon.images
    colours = arm_colours(means)
    shown = [to_rgb(colours[1])] * 300 + [to_rgb(colours[0])] * 100
    np.testing.assert_allclose(np.asarray(image.get_array())[0], shown)
    assert [(text.get_text(), text.get_position()[0]) for text in ribbon.texts] == [("2", 150.5), ("1", 350.5)]
    assert ribbon.get_xlim() == panel.get_xlim() == (0.5, 400.5)


def test_arms_can_have_names():
    means = np.repeat([[0.1, 0.9, 0.2], [0.8, 0.2, 0.1]], [300, 100], axis=0)
    ribbon, panel = means_figure(means, "two phases", ["ads", "mail", "video"]).axes
    assert [text.get_text() for text in ribbon.texts] == ["mail", "ads"]
    assert {"ads", "mail", "video"} <= {text.get_text() for text in panel.texts}


def test_a_gallery_shows_every_world_in_a_panel_of_its_own():
    figure = gallery_figure(
        {"first": Abrupt(horizon=300).means(), "second": 5 * Smooth(horizon=200).means(), "third": [[0, 1]]}
    )
    titles = [axes.get_title("left") for axes in figure.axes if axes.axison and axes.images]
    assert titles == ["first", "second", "third"]
    panels = [axes for axes in figure.axes if axes.axison and not axes.images]
    assert [axes.get_xlim()[1] for axes in panels] == [300.5, 200.5, 1.5]
    assert [len(axes.lines) for axes in panels] == [10, 10, 2]
    assert panels[0].get_ylim() == pytest.approx((-0.02, 1.1))
    assert panels[1].get_ylim()[1] > 4.5  # means beyond 1 are on the axis


def test_the_papers_worlds_have_titles():
    assert list(PAPER) == [f"NSBandit-{name}-v0" for name in ("Abrupt", "GeneralAbrupt", "Smooth", "SmoothFast")]
    assert len(set(PAPER.values())) == 4
