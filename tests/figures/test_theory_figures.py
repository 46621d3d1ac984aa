"""Pictures of the theory show what its functions say, and the measurement what was played."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ns_mab_gym import theory
from ns_mab_gym.figures.style import MUTED
from ns_mab_gym.figures.theory import diagnosis_figure, learnable_figure, measured_figure, two_arms
from ns_mab_gym.tuning import windows


@pytest.fixture(scope="module")
def means():
    calm = np.tile([0.9, 0.2, 0.1], (300, 1))
    return np.concatenate([calm, calm[:, ::-1]])


@pytest.fixture(scope="module")
def comparison(means):
    return windows.compare_windows(means, runs=3, ratio=4)


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def panel(figure, words):
    [found] = [axes for axes in figure.axes if axes.get_title("left").startswith(words)]
    return found


def test_the_picture_names_arms_and_shares(means):
    figure = diagnosis_figure(means, windows=[10, 50, 200], names=["ads", "mail", "video"])
    ribbon = panel(figure, "Means of the 3 arms")
    assert [text.get_text() for text in ribbon.texts] == ["ads", "video"]  # the best in turn
    ink = {text.get_text(): to_hex(text.get_color()) for text in figure.axes[1].texts}
    assert ink["mail"] == MUTED  # never the best
    assert len({ink[name] for name in ("ads", "mail", "video")}) == 3
    for tau in (10, 50, 200):
        assert f"{theory.learnable_set(means, tau).mean():.0%}" in texts(figure)
    assert f"recommended τ = {theory.recommend_window(means).window:,}" in texts(figure)


def test_strips_are_in_the_order_of_their_labels(means):
    strips = panel(diagnosis_figure(means, windows=[10, 200]), "Learnable")
    assert [label.get_text() for label in strips.get_yticklabels()] == ["τ = 10", "τ = 200"]
    height = {text.get_text(): text.xyann[1] for text in strips.texts}
    ticks = strips.transAxes.inverted().transform(strips.transData.transform([(0, 0.5), (0, 1.5)]))[:, 1]
    assert [height["98%"], height["67%"]] == pytest.approx(ticks)  # 10 and 200 of 600 rounds are lost
    assert height["98%"] > height["67%"]  # from top to bottom


def test_strips_are_green_where_rounds_are_learnable(means):
    strips = panel(diagnosis_figure(means, windows=[10, 200]), "Learnable")
    [mesh] = [each for each in strips.collections if hasattr(each, "get_coordinates")]
    shown = np.asarray(mesh.get_array())
    np.testing.assert_array_equal(shown, theory.learnable_set(means, [10, 200]))  # of 600 rounds each has a column


def test_the_bounds_of_the_theorem_are_drawn(means):
    axes = panel(diagnosis_figure(means), "Theorem 1")
    total = next(line for line in axes.lines if line.get_linewidth() > 2)
    windows = [int(tau) for tau in total.get_xdata()]
    np.testing.assert_allclose(total.get_ydata(), [each.total for each in theory.bounds(means, windows)])


def test_the_explanation_shows_the_shares_of_its_windows():
    written = texts(learnable_figure([240, 60]))
    for tau in (240, 60):
        assert f"{theory.learnable_set(two_arms(), tau).mean():.0%} learnable" in written


def test_the_measurement_is_drawn_over_the_bounds(means, comparison):
    figure = measured_figure(means, comparison)
    written = "".join(texts(figure))
    assert f"best measured {comparison.best:,}" in written
    assert f"recommended {comparison.recommended.window:,}" in written
    measured = next(line for line in panel(figure, "Regret").lines if line.get_marker() == "o")
    np.testing.assert_allclose(measured.get_ydata(), comparison.measured.regret.mean(axis=1))
    worst = next(line for line in panel(figure, "Pulls").lines if line.get_marker() == "o")
    np.testing.assert_allclose(worst.get_ydata(), comparison.measured.pulls.max(axis=1))
