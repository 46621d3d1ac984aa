"""Pictures of an episode: one shape, texts that touch nothing, a window that moves, the past alone, one numbering."""

import itertools
import re

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.canvas import CROWD, FAINT, INK, PALETTE
from ns_mab_gym.envs.episode_drawing import drawn
from ns_mab_gym.envs.episode_so_far import EpisodeSoFar
from ns_mab_gym.envs.panels import spread, ticks, window_of
from ns_mab_gym.envs.render import draw_frame

SHAPE = (640, 960, 3)
SIZES = [(k, t) for k in (2, 10, 50, 200) for t in (1, 300, 50_000)] + [(2, 10**6)]
LETTERS = 4  # pixels that may lie between a letter and the edge of its box


def history(n_arms, horizon, rounds, seed=0, scale=1.0):
    """An episode of a random player, after some rounds."""
    rng = np.random.default_rng(seed)
    return played(np.resize(scale * rng.random((97, n_arms)), (horizon, n_arms)), rounds, rng)


def still(n_arms, horizon, scale):
    """The same with means that do not move, of which there need be one row."""
    rng = np.random.default_rng(1)
    return played(np.broadcast_to(scale * rng.random(n_arms), (horizon, n_arms)), 0, rng)


def played(means, rounds, rng):
    horizon, n_arms = means.shape
    arms = rng.integers(n_arms, size=horizon)
    regret = np.cumsum(means.max(axis=1) - means[np.arange(horizon), arms])
    ends = min(0.0, means[:97].min()), max(1.0, means[:97].max())
    return EpisodeSoFar(means, arms, regret, rounds, ends)


def rounds_of(horizon):
    return sorted({0, 1, horizon // 2, horizon - 1, horizon} - {-1})


def touch(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def is_colour(pixels, colours):
    return (pixels[:, :, None] == np.array(colours)).all(axis=-1).any(axis=-1)


@pytest.mark.parametrize(("n_arms", "horizon"), SIZES)
@pytest.mark.parametrize("scale", [1.0, 3e5, -4e29])
def test_texts_lie_within_the_frame_and_touch_neither_each_other_nor_a_panel(n_arms, horizon, scale):
    found = still(n_arms, horizon, scale)
    for found.rounds in rounds_of(horizon):
        canvas, panels = drawn(found)
        boxes = [box for _, box in canvas.texts]
        for left, top, right, bottom in boxes:
            assert 0 <= left < right <= SHAPE[1]
            assert 0 <= top < bottom <= SHAPE[0]
        for (one, box), (other, taken) in itertools.combinations(canvas.texts, 2):
            assert not touch(box, taken), (one, box, other, taken)
        for text, box in canvas.texts:
            for panel in panels:
                assert not touch(box, panel.box), (text, box, panel)
        for one, other in itertools.combinations(panels, 2):
            assert not touch(one.box, other.box)


@pytest.mark.parametrize(("n_arms", "horizon"), [(2, 1), (10, 50_000), (50, 300), (200, 2_000)])
def test_frames_have_one_shape_and_no_curve_where_a_text_is(n_arms, horizon):
    """Seen in the pixels: a box of text holds ink from one end to the other, and no colour of a curve."""
    found = history(n_arms, horizon, 0)
    for found.rounds in rounds_of(horizon):
        frame, (canvas, _) = draw_frame(found), drawn(found)
        assert (frame.shape, frame.dtype) == (SHAPE, np.uint8)
        assert frame.flags.writeable
        for text, (left, top, right, bottom) in canvas.texts:
            pixels = frame[top:bottom, left:right]
            assert (pixels == pixels[:, :, :1]).all(), text  # ink on white is grey, curves are not
            dark = np.argwhere(pixels.sum(axis=2) < 300)
            assert len(dark), text
            assert dark[:, 1].min() <= LETTERS
            assert dark[:, 1].max() >= right - left - 1 - LETTERS


def test_axes_have_numbers():
    canvas, panels = drawn(history(3, 50_000, 20_000))
    numbers = [text for text, _ in canvas.texts if re.fullmatch(r"[\d,.]+", text)]
    assert {"0", "0.2", "0.4", "0.6", "0.8", "1", "10,000", "50,000", "19,750", "20,000"} <= set(numbers)
    assert len(panels) == 4
    texts = [text for text, _ in drawn(history(3, 300, 120))[0].texts]
    assert {"50", "100", "300", "round 120 of 300"} <= {text.split(":")[0] for text in texts}


def test_a_tick_stands_at_its_value():
    """The middle of round t of a..b is (t − a + ½)/(b − a + 1) of the width; 0 and 1 are the ends of the height."""
    canvas, (means, *_) = drawn(history(3, 50_000, 20_000))
    boxes = dict(reversed(canvas.texts))  # the first of each text
    left, top, right, bottom = means.box
    for t in (19_750, 20_000):
        box = boxes[f"{t:,}"]
        assert (box[0] + box[2]) / 2 == pytest.approx(left + (right - left) * (t - 19_701 + 0.5) / 300, abs=1.5)
    for text, y in (("0", bottom), ("1", top), ("0.2", bottom - 0.2 * (bottom - top))):
        assert (boxes[text][1] + boxes[text][3]) / 2 == pytest.approx(y, abs=1.5)


def test_the_window_moves_with_the_rounds():
    assert [window_of(n, 50_000) for n in (0, 1, 300, 301, 50_000)] == [
        (1, 300), (1, 300), (1, 300), (2, 301), (49_701, 50_000),
    ]  # fmt: skip
    assert {window_of(n, 12) for n in range(13)} == {(1, 12)}
    for rounds in (40, 300, 301, 5_000):
        _, (means, regret, *_) = drawn(history(5, 50_000, rounds))
        assert (means.first, means.last) == (regret.first, regret.last) == window_of(rounds, 50_000)


def test_three_hundred_of_fifty_thousand_rounds_are_as_wide_as_the_picture():
    """A jump from 0.2 to 0.8 in round 20 000 is seen in the middle of the picture 150 rounds later."""
    means = np.full((50_000, 2), 0.05)
    means[:, 0] = np.where(np.arange(50_000) < 19_999, 0.2, 0.8)
    found = EpisodeSoFar.of(means)
    found.rounds = 20_149
    found.arms[:] = 1
    _, (panel, *_) = drawn(found)
    curve = is_colour(draw_frame(found), PALETTE[:1])
    left, top, right, bottom = panel.box
    before, after = (round(bottom - value * (bottom - top)) for value in (0.2, 0.8))
    middle = (left + right) // 2
    assert curve[before - 1 : before + 2, left : middle - 4].any(axis=0).all()
    assert curve[after - 1 : after + 2, middle + 4 : right - 4].any(axis=0).all()
    assert not curve[before - 1 : before + 2, middle + 4 : right].any()


@pytest.mark.parametrize(("horizon", "rounds"), [(200, 0), (200, 77), (50_000, 120), (50_000, 31_000)])
@pytest.mark.parametrize("n_arms", [4, 30])
def test_what_is_to_come_is_not_shown(n_arms, horizon, rounds):
    """Another future gives the same picture; another past does not."""
    one, other = history(n_arms, horizon, rounds), history(n_arms, horizon, rounds)
    other.means[rounds:] = np.random.default_rng(9).permutation(other.means[rounds:])
    np.testing.assert_array_equal(draw_frame(one), draw_frame(other))
    _, panels = drawn(one)
    for panel in panels:
        now = panel.left + int((rounds - panel.first + 1) * panel.cell) + 6
        if now < panel.right:
            blank = draw_frame(one)[panel.top + 2 : panel.bottom - 1, max(now, panel.left) : panel.right - 1]
            assert not is_colour(blank, (*PALETTE, CROWD, INK)).any()
    if rounds:
        other.means[rounds - 20 : rounds] = 1 - other.means[rounds - 20 : rounds]
        assert not np.array_equal(draw_frame(one), draw_frame(other))


def test_dots_are_where_the_played_means_are():
    found = EpisodeSoFar.of(np.tile([0.25, 0.75], (12, 1)))
    for t, arm in enumerate([0, 0, 1, 0, 1]):
        found.add(arm, float(t))
    _, (panel, _) = drawn(found)
    ink = is_colour(draw_frame(found), [INK])
    for t, arm in enumerate([0, 0, 1, 0, 1], start=1):
        x = round(panel.left + (panel.right - panel.left) * (t - 0.5) / 12)
        for each, mean in enumerate((0.25, 0.75)):
            y = round(panel.bottom - mean * (panel.bottom - panel.top))
            assert ink[y - 5 : y + 6, x - 3 : x + 4].any() == (each == arm), (t, each)


@pytest.mark.parametrize("n_arms", [2, 10, 11, 200])
def test_labels_name_the_played_the_best_and_as_many_as_have_a_colour(n_arms):
    found = history(n_arms, 1_000, 640)
    canvas, _ = drawn(found)
    labels = [
        text.removesuffix(", best") for text, _ in canvas.texts if re.match(r"arm \d+ \(action \d+\)(, best)?$", text)
    ]
    assert len(labels) == len(set(labels)) == min(n_arms, 10)
    best = int(found.means[639].argmax())
    assert f"arm {best + 1} (action {best}), best" in [text for text, _ in canvas.texts]
    assert f"arm {found.arms[639] + 1} (action {found.arms[639]})" in labels
    assert any(f"grey: the other {n_arms - 10} arms" in text for text, _ in canvas.texts) == (n_arms > 10)


def test_pictures_and_lines_number_arms_alike():
    envs = [NSBanditEnv("piecewise", n_arms=7, horizon=60, render_mode=mode) for mode in ("ansi", "rgb_array")]
    for env in envs:
        env.reset(seed=3)
    for t in range(60):
        for env in envs:
            env.step(t % 7)
        line, canvas = envs[0].render(), drawn(envs[1]._history)[0]
        played, best = re.findall(r"arm \d+ \(action \d+\)", line)
        assert played == f"arm {t % 7 + 1} (action {t % 7})"
        (head,) = [text for text, _ in canvas.texts if "was played" in text]
        assert head.startswith(f"{played} was played, mean ")
        assert f"; {best} was best, mean " in head
        total = re.search(r"regret .* so far", line).group()
        assert any(total in text for text, _ in canvas.texts)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_vector_environment_renders_what_each_of_its_environments_does(mode):
    arguments = {"n_arms": 12, "horizon": 40, "render_mode": mode}
    envs = gym.make_vec("NSBandit-RandomWalk-v0", num_envs=2, **arguments)
    singles = [gym.make("NSBandit-RandomWalk-v0", **arguments) for _ in range(2)]
    envs.reset(seed=5)
    for i, env in enumerate(singles):
        env.reset(seed=5 + i)
    for t in range(30):
        envs.step(np.array([t % 12, t % 5]))
        for env, arm in zip(singles, (t % 12, t % 5), strict=True):
            env.step(arm)
    for ours, env in zip(envs.render(), singles, strict=True):
        np.testing.assert_array_equal(ours, env.render())


@given(st.lists(st.floats(0, 200), max_size=12), st.floats(1, 16))
@settings(max_examples=300)
def test_labels_are_spread_in_their_order_and_stay_near(heights, apart):
    placed = spread(heights, (0, 200), apart)
    order = np.argsort(heights, kind="stable")
    gaps = np.diff(np.array(placed)[order])
    assert (gaps >= apart - 1e-9).all()
    if heights:
        assert min(placed) >= -1e-9
        assert max(placed) <= 200 + 1e-9
    if all(b - a >= apart for a, b in itertools.pairwise(sorted(heights))):
        assert placed == pytest.approx(heights)


@given(st.floats(-1e30, 1e30), st.floats(1e-3, 1e30), st.integers(1, 9))
def test_ticks_are_few_and_within(low, width, most):
    high = low + width
    found = ticks(low, high, most) if high - low > 1e-9 * max(abs(low), abs(high)) else []
    assert len(found) <= most + 1
    for value in found:
        assert low - 1e-6 * (high - low) - 1e-9 * abs(low) <= value <= high + 1e-6 * (high - low) + 1e-9 * abs(high)
    assert FAINT != CROWD
