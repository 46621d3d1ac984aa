"""Pictures show what they are given: regrets, alarms, means, and what the theory says of them."""

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from ns_mab_gym import theory
from ns_mab_gym.figures.regret import Member, regret_figure, sensitivity_figure
from ns_mab_gym.figures.style import BLUE, FAINT, MUTED, VERMILION
from ns_mab_gym.figures.theory import diagnosis_figure, learnable_figure, measured_figure, two_arms
from ns_mab_gym.figures.worlds import (
    LINES,
    PAPER,
    alarm_figure,
    arm_colours,
    gallery_figure,
    kept_rounds,
    means_figure,
    phase_starts,
)
from ns_mab_gym.means import breakpoints
from ns_mab_gym.tuning import diagnosis
from ns_mab_gym.worlds import Abrupt, GeneralAbrupt, Piecewise, Smooth

from .made_results import made_card, made_runs

ALARMED = np.repeat([[0.9, 0.5], [0.1, 0.5]], 50, axis=0)  # arm 0 changes in round 51
TWO_PHASES = np.repeat([[0.1, 0.9, 0.2], [0.8, 0.2, 0.1]], [300, 100], axis=0)  # arm 2 is best, then arm 1
TURNED = np.repeat([[0.9, 0.2, 0.1], [0.1, 0.2, 0.9]], 300, axis=0)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def panel(figure, words):
    [found] = [axes for axes in figure.axes if axes.get_title("left").startswith(words)]
    return found


def test_a_line_is_the_mean_and_its_band_one_standard_deviation():
    runs = made_runs(100.0, count=7)
    [axes] = regret_figure({"ts": runs}, "one").axes
    rounds, mean = axes.lines[0].get_xydata().T
    assert (rounds[0], mean[0]) == (0, 0)  # no regret before the first round
    assert rounds[-1] == runs.horizon
    at = np.searchsorted(runs.rounds, rounds[1:])
    np.testing.assert_allclose(mean[1:], runs.regret.mean(axis=0)[at])
    [band] = axes.patches
    upper = band.get_xy()[: len(rounds), 1]
    np.testing.assert_allclose(upper - mean, [0, *runs.regret.std(axis=0, ddof=1)[at]], atol=1e-9)


def test_labels_say_the_final_mean_and_which_have_notes():
    curves = {"ts": made_runs(1_000.0), "_ucb": made_runs(3_000.0)}
    figure = regret_figure(curves, "two", notes={"_ucb": "by hand", "absent": "not shown"})
    ends = [f"{runs.final.mean():,.0f}" for runs in curves.values()]
    assert texts(figure.axes[0]) == [f"ts  {ends[0]}", f"_ucb*  {ends[1]}"]
    assert texts(figure) == ["* _ucb: by hand"]


def test_a_second_panel_shows_the_better_half_if_the_worst_is_far_off():
    close = {name: made_runs(final) for name, final in zip("abcd", (100, 120, 150, 200), strict=True)}
    assert len(regret_figure(close, "close").axes) == 1
    whole, closer = regret_figure({**close, "e": made_runs(2_000)}, "far").axes
    assert whole.get_ylim()[1] > 2_000 * 0.9
    better = sorted(float(runs.final.mean()) for runs in close.values())[1]
    assert closer.get_ylim() == pytest.approx((0, 1.25 * better))
    assert [text[0] for text in texts(closer)] == ["a", "b", "c"]  # those that end in the panel


def test_members_of_a_family_run_from_dark_to_light():
    members = [Member(f"α = {tau}", made_runs(tau, window=tau), tau == 10) for tau in (1, 10, 100)]
    members.append(Member("none", made_runs(5), False))
    left, right = sensitivity_figure({"Beta": members, "Gamma": members[:1]}, "a world").axes
    assert [each.get_linewidth() for each in left.lines] == [1.3, 2.6, 1.3, 1.3]
    colours = [each.get_color() for each in left.lines]
    assert colours[3] == "#000000"
    assert sum(to_rgb(colours[0])) < sum(to_rgb(colours[1])) < sum(to_rgb(colours[2]))
    assert left.get_ylim() == right.get_ylim()
    assert [axes.get_title("left") for axes in (left, right)] == ["a world: Beta", "Gamma"]
    assert texts(left)[1].startswith("α = 10 (τ = 10)")


def cells(figure, row=0):
    """The coloured cells of an agent's strip: line and round, counted from 1, with their colour."""
    picture = np.asarray(figure.axes[0].images[row].get_array())
    return {(line, bin_ + 1): to_hex(picture[line, bin_]) for line, bin_ in np.argwhere(picture[..., 3] > 0).tolist()}


def test_every_alarm_is_in_its_place():
    """Two runs: a false alarm after round 20 and a true one after round 60; none; and a second agent."""
    first, second = made_card(ALARMED, [(20, 1), (60, 0)], []), made_card(ALARMED, [], [(100, 1)])
    figure = alarm_figure({"first": first, "second": second}, "a world")
    [axes] = figure.axes
    assert cells(figure) == {(0, 20): VERMILION, (0, 60): BLUE}
    assert cells(figure, row=1) == {(1, 100): VERMILION}
    above, below = (image.get_extent() for image in axes.images)
    assert tuple(above[:2]) == (0.5, 100.5)
    assert below[3] < 1 < above[2] < above[3] < 2  # the first agent on top
    segments = [segment for part in axes.collections for segment in part.get_segments()]
    assert {segment[0][0] for segment in segments if segment[0][0] == segment[1][0]} == {50.5}  # breakpoints
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    assert texts(axes) == ["delay 10, missed 50 %, false 0.5", "missed 100 %, false 0.5"]
    assert "Dashed lines: the breakpoints." in texts(figure)[0]
    bars = axes.patches[0].get_data()  # true alarms of the first agent
    assert to_hex(axes.patches[0].get_facecolor()) == BLUE
    [at] = np.flatnonzero(bars.values > bars.baseline)
    assert (bars.edges[at], bars.edges[at + 1]) == (57.5, 60.5)  # three rounds wide, the 60th among them
    assert (bars.values - bars.baseline)[at] == pytest.approx(0.28 / 2)  # of a row: one of two runs


def test_runs_of_their_own_worlds_show_their_own_breakpoints():
    own = [ALARMED, np.roll(ALARMED, -10, axis=0)]  # in the second they are in rounds 41 and 91
    figure = alarm_figure({"one": made_card(own, [(60, 0)], [(50, 0)])}, "anew")
    assert cells(figure) == {(0, 51): FAINT, (0, 60): BLUE, (1, 41): FAINT, (1, 50): BLUE, (1, 91): FAINT}
    assert "Grey: the breakpoints of each run." in texts(figure)[0]


def test_many_runs_share_lines_and_none_is_lost():
    figure = alarm_figure({"one": made_card(ALARMED, *[[(run % 100 + 1, 1)] for run in range(3 * LINES)])}, "many")
    assert np.shape(figure.axes[0].images[0].get_array()) == (LINES, 100, 4)
    assert {(run // 3, run % 100 + 1) for run in range(3 * LINES)} <= set(cells(figure))


def test_marks_of_thin_lines_are_two_high_without_hiding_others():
    logs = [[] for _ in range(30)]
    logs[3], logs[4], logs[29] = [(20, 1), (60, 0)], [(60, 1)], [(70, 1)]
    figure = alarm_figure({"one": made_card(ALARMED, *logs)}, "thin")
    assert cells(figure) == {
        (3, 20): VERMILION, (4, 20): VERMILION, (3, 60): BLUE, (4, 60): VERMILION, (5, 60): VERMILION,
        (29, 70): VERMILION,
    }  # fmt: skip


def test_phases_are_shaded_where_the_means_jump():
    assert phase_starts(Abrupt().means()) == phase_starts(GeneralAbrupt().means()) == [15_000, 30_001, 40_000]
    piecewise = Piecewise(changes=5, horizon=900).means(3)
    assert phase_starts(piecewise) == breakpoints(piecewise).tolist()
    assert phase_starts(Smooth().means()) == phase_starts(None) == []


def test_arms_that_lead_are_coloured_and_the_others_grey():
    colours = arm_colours(Abrupt().means())  # arms 1 and 10 lead in turn
    assert [arm for arm, colour in enumerate(colours) if colour != FAINT] == [0, 9]
    assert colours[0] != colours[9]
    brightness = [sum(to_rgb(colour)) for colour in arm_colours(Smooth().means())]  # all lead
    assert brightness == sorted(set(brightness))


def test_lines_keep_both_sides_of_every_jump():
    kept = kept_rounds(np.repeat([[0.1, 0.9], [0.8, 0.2]], 30_000, axis=0), points=100)
    assert {0, 29_999, 30_000, 59_999} <= set(kept.tolist())
    assert len(kept) <= 102


@pytest.mark.parametrize("names", [None, ["ads", "mail", "video"]])
def test_the_ribbon_shows_and_names_the_best_arm(names):
    ribbon, axes = means_figure(TWO_PHASES, "two phases", names).axes
    colours = [to_rgb(colour) for colour in arm_colours(TWO_PHASES)]
    np.testing.assert_allclose(ribbon.images[0].get_array()[0], [colours[1]] * 300 + [colours[0]] * 100)
    places = [(text.get_text(), text.get_position()[0]) for text in ribbon.texts]
    assert places == list(zip(["mail", "ads"] if names else ["2", "1"], [150.5, 350.5], strict=True))
    assert ribbon.get_xlim() == axes.get_xlim() == (0.5, 400.5)
    assert set(names or ["arm 1", "arm 2", "arm 3"]) <= set(texts(axes))


def test_of_many_arms_those_in_colour_have_names():
    means = np.tile(np.linspace(0.9, 0.1, 15), (400, 1))
    assert texts(means_figure(means, "one leads").axes[1]) == ["arm 1"]
    means[np.arange(400), np.arange(400) % 15] = 1.0
    assert texts(means_figure(means, "all lead").axes[1]) == []


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


def test_click_rates_fill_their_panel_and_arms_have_their_names_there():
    rates = np.repeat([[0.03, 0.01], [0.01, 0.02]], 50, axis=0)
    figure = gallery_figure({"clicks": rates, "plain": TURNED}, {"clicks": ["red", "green"]})
    panels = [axes for axes in figure.axes if axes.axison and not axes.images]
    assert panels[0].get_ylim() == pytest.approx((-0.02 * 0.03, 1.1 * 0.03))
    assert [{"red", "green"} <= set(texts(axes)) for axes in panels] == [True, False]


def test_the_papers_worlds_have_titles():
    assert list(PAPER) == [f"NSBandit-{name}-v0" for name in ("Abrupt", "GeneralAbrupt", "Smooth", "SmoothFast")]
    assert len(set(PAPER.values())) == 4


def test_a_diagnosis_shows_what_the_theory_says():
    figure = diagnosis_figure(TURNED, windows=[10, 200], names=["ads", "mail", "video"])
    assert texts(panel(figure, "Means of the 3 arms")) == ["ads", "video"]  # the best in turn
    ink = {text.get_text(): to_hex(text.get_color()) for text in figure.axes[1].texts}
    assert ink["mail"] == MUTED  # never the best
    assert len({ink[name] for name in ("ads", "mail", "video")}) == 3
    strips = panel(figure, "Learnable")
    assert [label.get_text() for label in strips.get_yticklabels()] == ["τ = 10", "τ = 200"]
    written = {text.get_text(): text.xy[1] for text in strips.texts}
    assert written == {"98%": 0.5, "67%": 1.5}  # 10 and 200 of 600 rounds are lost
    assert strips.get_ylim() == (2, 0)  # from top to bottom
    [mesh] = [each for each in strips.collections if hasattr(each, "get_coordinates")]
    np.testing.assert_array_equal(mesh.get_array(), theory.learnable_set(TURNED, [10, 200]))  # a column for each round
    total = next(line for line in panel(figure, "Theorem 1").lines if line.get_linewidth() > 2)
    taus = [int(tau) for tau in total.get_xdata()]
    np.testing.assert_allclose(total.get_ydata(), [each.total for each in theory.bounds(TURNED, taus)])
    assert f"recommended τ = {theory.recommend_window(TURNED).window:,}" in texts(panel(figure, "Heuristic"))


def test_the_explanation_shows_the_shares_of_its_windows():
    shares = [theory.learnable_set(two_arms(), tau).mean() for tau in (240, 60)]
    written = texts(learnable_figure([240, 60]).axes[1])
    assert [f"{share:.0%} learnable" for share in shares] == [text for text in written if "%" in text]


def test_the_measurement_is_drawn_over_the_bounds():
    comparison = diagnosis.compare_windows(TURNED, runs=3, ratio=4)
    figure = measured_figure(TURNED, comparison)
    regret, pulls = panel(figure, "Regret"), panel(figure, "Pulls")
    written = "".join(texts(regret))
    assert f"best measured {comparison.best:,}" in written
    assert f"recommended {comparison.recommended.window:,}" in written
    drawn = {line.get_label(): line.get_ydata() for axes in (regret, pulls) for line in axes.lines}
    np.testing.assert_allclose(drawn["measured"], comparison.measured.regret.mean(axis=1))
    np.testing.assert_allclose(drawn["measured, worst arm"], comparison.measured.pulls.max(axis=1))
