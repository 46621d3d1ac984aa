"""The line, the picture and the film of an episode."""

import itertools
import re
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import RecordVideo
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageDraw

from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.render import CROWD, INK, LEFT, PALETTE, RIGHT, EpisodeHistory, draw_frame, headline, layout, ticks

SHAPE = (640, 960, 3)


def history(n_arms, horizon, rounds, scale=1.0):
    """An episode of a random player, after some rounds."""
    rng = np.random.default_rng(0)
    episode = EpisodeHistory(np.resize(scale * rng.random((97, n_arms)), (horizon, n_arms)))
    episode.arms[:], episode.rounds = rng.integers(n_arms, size=horizon), rounds
    played = episode.means[np.arange(horizon), episode.arms]
    episode.regret[1:] = np.cumsum(episode.means.max(axis=1) - played)
    return episode


def panels(episode):
    return [axes for pair in layout(episode) for axes in pair]


def is_colour(pixels, colours):
    return (pixels[:, :, None] == np.array(colours)).all(axis=-1).any(axis=-1)


@pytest.fixture
def texts(monkeypatch):
    """Draws a frame and returns its texts with the boxes (left, top, right, bottom) that they take."""
    found, original = [], ImageDraw.ImageDraw.text

    def text(self, xy, words, *args, **kwargs):
        found.append((words, self.textbbox(xy, words, font=kwargs.get("font"), anchor=kwargs["anchor"])))
        return original(self, xy, words, *args, **kwargs)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", text)

    def of(episode):
        found.clear()
        draw_frame(episode)
        return list(found)

    return of


def test_ansi_is_one_line_a_round_with_the_papers_numbers():
    env = NSBanditEnv("stationary", mu=[1.0, 0.25, 0.0], horizon=1_000, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "round 0 of 1,000: world 'stationary', 3 arms, Bernoulli()"
    env.step(0)
    assert env.render() == (
        "round 1: arm 1 (action 0), mean 1.000, gave 1; best was arm 1 (action 0), mean 1.000; regret 0.000, 0.0 so far"
    )
    env.step(2)
    assert env.render() == (
        "round 2: arm 3 (action 2), mean 0.000, gave 0; best was arm 1 (action 0), mean 1.000; regret 1.000, 1.0 so far"
    )


def test_rgb_array_is_a_picture_that_moves():
    env = NSBanditEnv("random-walk", horizon=1_000, render_mode="rgb_array")
    env.reset(seed=0)
    frames = [env.render(), env.render()]
    for t in range(2):
        env.step(t)
        frames.append(env.render())
    assert {(frame.shape, frame.dtype.name, frame.flags.writeable) for frame in frames} == {(SHAPE, "uint8", True)}
    assert [np.array_equal(*pair) for pair in itertools.pairwise(frames)] == [True, False, False]


def test_record_video_writes_a_film(tmp_path):
    env = gym.make("NSBandit-Abrupt-v0", horizon=8, render_mode="rgb_array")
    env = RecordVideo(env, str(tmp_path / "films"), disable_logger=True)
    env.reset(seed=0)
    for _ in range(8):
        env.step(0)
    env.close()
    (film,) = tmp_path.glob("films/*.mp4")
    assert film.stat().st_size > 1_000


def test_arms_of_a_file_have_their_names_and_click_rates_an_axis_of_their_own(tmp_path):
    (tmp_path / "clicks.csv").write_text("red,green\n" + "0.03,0.01\n" * 20)
    lines = []
    for mode in ("ansi", "rgb_array"):
        env = NSBanditEnv("table", path=tmp_path / "clicks.csv", render_mode=mode)
        env.reset(seed=0)
        env.step(1)
        lines.append(env.render() if mode == "ansi" else headline(env._history)[1])
    assert all("green (action 1)" in line and "red (action 0)" in line for line in lines)
    assert env._history.range == (0.0, 0.05)
    assert EpisodeHistory(np.full((3, 2), 0.7)).range == (0.0, 1.0)


def test_a_window_shows_every_round(monkeypatch):
    """Gymnasium shows the pictures, in a window of theirs, here without a screen."""
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with pytest.warns(UserWarning, match="HumanRendering"):
        env = gym.make("NSBandit-Abrupt-v0", horizon=8, render_mode="human")
    env.reset(seed=0)
    env.step(0)
    assert pygame.display.get_surface().get_size() == SHAPE[1::-1]
    env.close()


WITHOUT_PILLOW = """
import sys
sys.modules["PIL"] = None
import gymnasium as gym
from gymnasium.utils.env_checker import check_env
import ns_mab_gym
env = gym.make("NSBandit-Abrupt-v0", horizon=20)
assert env.metadata["render_modes"] == ["ansi"]
check_env(env.unwrapped)
for mode in ("rgb_array", "human"):
    try:
        gym.make("NSBandit-Abrupt-v0", render_mode=mode)
    except gym.error.DependencyNotInstalled as error:
        print(error)
"""


def test_without_pillow_there_are_no_pictures_and_gymnasiums_check_passes():
    done = subprocess.run([sys.executable, "-c", WITHOUT_PILLOW], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == 2 * ["pictures and windows need Pillow: pip install 'ns-mab-gym[render]'"]


def test_render_without_a_mode_or_before_reset_says_what_to_do():
    with pytest.warns(UserWarning, match='render_mode="ansi"'):
        assert NSBanditEnv(horizon=5).render() is None
    with pytest.raises(ResetNeeded, match=r"nothing to render: call reset\(\) first"):
        NSBanditEnv(horizon=5, render_mode="ansi").render()


@pytest.mark.parametrize(("n_arms", "horizon"), [(2, 1), (3, 300), (10, 50_000), (1_000, 2_000), (2, 10**6)])
@pytest.mark.parametrize("scale", [1.0, 3e5, -4e29])
def test_texts_lie_within_the_frame_and_touch_neither_each_other_nor_a_panel(texts, n_arms, horizon, scale):
    episode = history(n_arms, horizon, 0, scale)
    for episode.rounds in sorted({0, 1, horizon // 2, horizon}):
        found = texts(episode)
        boxes = [box for _, box in found]
        for left, top, right, bottom in boxes:
            assert 0 <= left < right <= SHAPE[1]
            assert 0 <= top < bottom <= SHAPE[0]
        boxes += [(LEFT, axes.top, RIGHT, axes.bottom) for axes in panels(episode)]
        for a, b in itertools.combinations(boxes, 2):
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), (a, b)
        assert draw_frame(episode).shape == SHAPE


def test_axes_have_numbers_where_their_values_are(texts):
    """The middle of round t of a..b is (t − a + ½)/(b − a + 1) of the width; 0 and 1 are the ends of the height."""
    episode = history(3, 50_000, 20_000)
    found = texts(episode)
    assert {"0", "0.2", "0.4", "0.6", "0.8", "1", "10,000", "50,000", "19,750", "20,000"} <= {text for text, _ in found}
    boxes = dict(reversed(found))  # the first of each text
    axes, *others = panels(episode)
    assert len(others) == 3
    for t in (19_750, 20_000):
        left, _, right, _ = boxes[f"{t:,}"]
        assert (left + right) / 2 == pytest.approx(LEFT + (RIGHT - LEFT) * (t - 19_701 + 0.5) / 300, abs=2)
    for text, y in (("0", axes.bottom), ("1", axes.top), ("0.2", axes.bottom - 0.2 * (axes.bottom - axes.top))):
        _, top, _, bottom = boxes[text]
        assert (top + bottom) / 2 == pytest.approx(y, abs=2)


def test_the_window_moves_with_the_rounds():
    def shown(horizon, rounds):
        return [(axes.first, axes.last) for axes in panels(history(5, horizon, rounds))]

    for rounds, last in {0: 300, 1: 300, 300: 300, 301: 301, 50_000: 50_000}.items():
        assert shown(50_000, rounds) == [(last - 299, last)] * 2 + [(1, 50_000)] * 2
    assert shown(12, 0) == shown(12, 7) == shown(12, 12) == [(1, 12)] * 2


@pytest.mark.parametrize(
    ("n_arms", "horizon", "rounds"), [(4, 200, 0), (30, 200, 77), (4, 50_000, 120), (30, 5_000, 3_100)]
)
def test_what_is_to_come_is_not_shown(n_arms, horizon, rounds):
    """Another future gives the same picture; another past does not."""
    one, other = history(n_arms, horizon, rounds), history(n_arms, horizon, rounds)
    other.means[rounds:] = np.random.default_rng(9).permutation(other.means[rounds:])
    frame = draw_frame(one)
    np.testing.assert_array_equal(frame, draw_frame(other))
    for axes in panels(one):
        now = LEFT + int((rounds - axes.first + 1) * axes.cell) + 6
        blank = frame[axes.top + 2 : axes.bottom - 1, max(now, LEFT) : RIGHT - 1]
        assert not is_colour(blank, (*PALETTE, CROWD, INK)).any()
    if rounds:
        other.means[rounds - 20 : rounds] = 1 - other.means[rounds - 20 : rounds]
        assert not np.array_equal(frame, draw_frame(other))


def test_dots_are_where_the_played_means_are():
    episode = EpisodeHistory(np.tile([0.25, 0.75], (12, 1)))
    for t, arm in enumerate([0, 0, 1, 0, 1]):
        episode.add(arm, float(t))
    axes, _ = panels(episode)
    ink = is_colour(draw_frame(episode), [INK])
    for t, arm in enumerate([0, 0, 1, 0, 1], start=1):
        x = round(LEFT + (RIGHT - LEFT) * (t - 0.5) / 12)
        for each, mean in enumerate((0.25, 0.75)):
            y = round(axes.bottom - mean * (axes.bottom - axes.top))
            assert ink[y - 5 : y + 6, x - 3 : x + 4].any() == (each == arm), (t, each)


@pytest.mark.parametrize("n_arms", [2, 10, 11, 200])
def test_the_legend_names_the_played_the_best_and_at_most_ten_arms(texts, n_arms):
    episode = history(n_arms, 1_000, 640)
    found = [text for text, _ in texts(episode)]
    legend = [text for text in found if re.fullmatch(r"arm \d+ \(action \d+\)(, best)?", text)]
    assert len(set(legend)) == len(legend) == len(set(episode.colours(341).values())) == min(n_arms, 10)
    best, played = int(episode.means[639].argmax()), int(episode.arms[639])
    assert f"arm {best + 1} (action {best}), best" in legend
    assert f"arm {played + 1} (action {played})" in [text.removesuffix(", best") for text in legend]
    assert any(f"grey: the other {n_arms - 10} arms" in text for text in found) == (n_arms > 10)


def test_pictures_and_lines_number_arms_alike():
    envs = [NSBanditEnv("piecewise", n_arms=7, horizon=60, render_mode=mode) for mode in ("ansi", "rgb_array")]
    for env in envs:
        env.reset(seed=3)
    for t in range(30):
        for env in envs:
            env.step(t % 7)
        line, (first, second) = envs[0].render(), headline(envs[1]._history)
        played, best = re.findall(r"arm \d+ \(action \d+\)", line)
        assert played == f"arm {t % 7 + 1} (action {t % 7})"
        assert re.fullmatch(rf"{re.escape(played)} was played, mean .*; {re.escape(best)} was best, mean .*", second)
        assert re.search(r"regret .* so far", line).group() in first


@given(st.floats(-1e30, 1e30), st.floats(1e-3, 1e30), st.integers(1, 9))
def test_ticks_are_few_and_within(low, width, most):
    high = low + width
    found = ticks(low, high, most) if high - low > 1e-9 * max(abs(low), abs(high)) else []
    assert len(found) <= most + 1
    for value in found:
        assert low - 1e-6 * (high - low) - 1e-9 * abs(low) <= value <= high + 1e-6 * (high - low) + 1e-9 * abs(high)
