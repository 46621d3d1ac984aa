"""The picture of alarms shows each of them where it was sounded, in the colour of true or false."""

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.detections import scorecard
from ns_mab_gym.figures.alarms import LINES, alarm_figure
from ns_mab_gym.figures.style import BLUE, FAINT, VERMILION
from ns_mab_gym.runs import Runs

HORIZON = 100
MEANS = np.repeat([[0.9, 0.5], [0.1, 0.5]], HORIZON // 2, axis=0)  # arm 0 changes in round 51


def card_of(*logs, means=MEANS):
    blank, count = np.zeros((len(logs), 2), np.int64), len(logs)
    alarms = [np.array([(round_, arm, False) for round_, arm in log], ALARM) for log in logs]
    runs = Runs(
        np.array([HORIZON]), np.zeros((count, 1)), blank, blank, [(0, 0)] * count, [{}] * count, 0.0, alarms=alarms
    )
    return scorecard(runs, means)


def cells(figure, row=0):
    """The coloured cells of an agent's strip: line and round, counted from 1, with their colour."""
    picture = np.asarray(figure.axes[0].images[row].get_array())
    return {(line, bin_ + 1): to_hex(picture[line, bin_]) for line, bin_ in np.argwhere(picture[..., 3] > 0).tolist()}


@pytest.fixture
def figure():
    """Two runs: a false alarm after round 20 and a true one after round 60; none; and a second agent."""
    return alarm_figure({"first": card_of([(20, 1), (60, 0)], []), "second": card_of([], [(100, 1)])}, "a world")


def test_every_alarm_is_in_its_place(figure):
    assert cells(figure) == {(0, 20): VERMILION, (0, 60): BLUE}
    assert cells(figure, row=1) == {(1, 100): VERMILION}
    first, second = (image.get_extent() for image in figure.axes[0].images)
    assert tuple(first[:2]) == (0.5, HORIZON + 0.5)
    assert second[3] < 1 < first[2] < first[3] < 2  # the first agent on top


def test_the_breakpoint_stands_between_the_old_means_and_the_new(figure):
    lines = [part.get_segments() for part in figure.axes[0].collections if len(part.get_segments())]
    upright = [segment for segments in lines for segment in segments if segment[0][0] == segment[1][0]]
    assert {segment[0][0] for segment in upright} == {50.5}


def test_rows_say_who_and_how_well(figure):
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    assert [text.get_text() for text in axes.texts] == ["delay 10, missed 50 %, false 0.5", "missed 100 %, false 0.5"]
    assert "Dashed lines: the breakpoints." in figure.texts[0].get_text()


def test_the_histogram_is_the_share_of_runs(figure):
    bars = {}
    for patch in figure.axes[0].patches:
        x, y = patch.get_xy().T
        if y.max() > y.min():
            colour = to_hex(patch.get_facecolor())
            bars.setdefault(colour, []).append((x[y == y.max()].min(), x[y == y.max()].max(), y.max() - y.min()))
    assert [(low, high) for low, high, _ in bars[BLUE]] == [(57.5, 60.5)]  # three rounds wide, the 60th among them
    [(_, _, tall)] = bars[BLUE]
    assert tall == pytest.approx(0.28 / 2)  # of a row: one of two runs


def test_runs_of_their_own_worlds_show_their_own_breakpoints():
    own = [MEANS, np.roll(MEANS, -10, axis=0)]  # in the second they are in rounds 41 and 91
    figure = alarm_figure({"one": card_of([(60, 0)], [(50, 0)], means=own)}, "anew")
    faint = to_hex(to_rgba(FAINT))
    assert cells(figure) == {(0, 51): faint, (0, 60): BLUE, (1, 41): faint, (1, 50): BLUE, (1, 91): faint}
    assert "Grey: the breakpoints of each run." in figure.texts[0].get_text()


def test_many_runs_share_lines_and_none_is_lost():
    figure = alarm_figure({"one": card_of(*[[(run % 100 + 1, 1)] for run in range(3 * LINES)])}, "many")
    picture = np.asarray(figure.axes[0].images[0].get_array())
    assert picture.shape == (LINES, HORIZON, 4)
    assert {(run // 3, run % 100 + 1) for run in range(3 * LINES)} <= set(cells(figure))


def test_marks_of_thin_lines_are_two_high_without_hiding_others():
    logs = [[] for _ in range(30)]
    logs[3], logs[4], logs[29] = [(20, 1), (60, 0)], [(60, 1)], [(70, 1)]
    figure = alarm_figure({"one": card_of(*logs)}, "thin")
    assert cells(figure) == {
        (3, 20): VERMILION, (4, 20): VERMILION, (3, 60): BLUE, (4, 60): VERMILION, (5, 60): VERMILION,
        (29, 70): VERMILION,
    }  # fmt: skip
