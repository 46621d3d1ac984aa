"""Regret: curves and bands show the runs."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ns_mab_gym.figures.regret import Member, regret_figure, sensitivity_figure


def line(axes, label_index=0):
    return axes.lines[label_index].get_xydata()


def test_a_line_is_the_mean_and_its_band_one_standard_deviation(make_runs):
    runs = make_runs(100.0, count=7)
    [axes] = regret_figure({"ts": runs}, "one").axes
    rounds, mean = line(axes).T
    assert (rounds[0], mean[0]) == (0, 0)  # no regret before the first round
    assert rounds[-1] == runs.horizon
    at = np.searchsorted(runs.rounds, rounds[1:])
    np.testing.assert_allclose(mean[1:], runs.regret.mean(axis=0)[at])
    [band] = axes.patches
    upper = band.get_xy()[: len(rounds), 1]
    np.testing.assert_allclose(upper - mean, [0, *runs.regret.std(axis=0, ddof=1)[at]], atol=1e-9)


def test_labels_say_the_final_mean_and_which_have_notes(make_runs):
    curves = {"ts": make_runs(1_000.0), "ucb": make_runs(3_000.0)}
    figure = regret_figure(curves, "two", notes={"ucb": "by hand", "absent": "not shown"})
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == [f"ts  {curves['ts'].final.mean():,.0f}", f"ucb*  {curves['ucb'].final.mean():,.0f}"]
    assert [text.get_text() for text in figure.texts] == ["* ucb: by hand"]


def test_a_second_panel_shows_the_better_half_if_the_worst_is_far_off(make_runs):
    close = {name: make_runs(final) for name, final in zip("abcd", (100, 120, 150, 200), strict=True)}
    assert len(regret_figure(close, "close").axes) == 1
    whole, closer = regret_figure({**close, "e": make_runs(2_000)}, "far").axes
    assert whole.get_ylim()[1] > 2_000 * 0.9
    better = sorted(float(runs.final.mean()) for runs in close.values())[1]
    assert closer.get_ylim() == pytest.approx((0, 1.25 * better))
    assert [text.get_text()[0] for text in closer.texts] == ["a", "b", "c"]  # those that end in the panel


def test_members_of_a_family_run_from_dark_to_light(make_runs):
    members = [Member(f"α = {tau}", make_runs(tau, window=tau), tau == 10) for tau in (1, 10, 100)]
    members.append(Member("none", make_runs(5), False))
    left, right = sensitivity_figure({"Beta": members, "Gamma": members[:1]}, "a world").axes
    assert [each.get_linewidth() for each in left.lines] == [1.3, 2.6, 1.3, 1.3]
    brightness = [int(to_hex(each.get_color())[1:3], 16) for each in left.lines[:3]]
    assert brightness[0] != brightness[2]
    assert to_hex(left.lines[3].get_color()) == "#000000"
    assert left.get_ylim() == right.get_ylim()
    assert [axes.get_title("left") for axes in (left, right)] == ["a world: Beta", "Gamma"]
    assert left.texts[1].get_text().startswith("α = 10 (τ = 10)")
