"""Pictures show what the functions say; the command line describes, draws, and says what is wrong."""

import numpy as np
import pytest

from ns_mab_gym import theory
from ns_mab_gym.theory import command, diagnosis, measured, overlay


@pytest.fixture(scope="module")
def means():
    calm = np.tile([0.9, 0.2, 0.1], (300, 1))
    return np.concatenate([calm, calm[:, ::-1]])


@pytest.fixture(scope="module")
def comparison(means):
    return measured.compare(means, runs=3, ratio=4)


def texts(figure):
    return [text.get_text() for axes in figure.findobj(lambda artist: hasattr(artist, "texts")) for text in axes.texts]


def test_the_picture_names_arms_and_shares(means):
    figure = diagnosis.draw(means, windows=[10, 50, 200], names=["ads", "mail", "video"])
    written = texts(figure)
    assert {"ads", "video"} <= set(written)
    assert "mail" not in written  # never the best
    for tau in (10, 50, 200):
        assert f"{theory.learnable_set(means, tau).mean():.0%}" in written
    assert f"recommended τ = {theory.recommend_window(means).window:,}" in "".join(written)


def test_strips_are_in_the_order_of_their_labels(means):
    figure = diagnosis.draw(means, windows=[10, 200])
    [strip] = [axes for axes in figure.get_axes() if axes.get_title(loc="left").startswith("Learnable")]
    labels = [label.get_text() for label in strip.get_yticklabels()]
    shares = {text.xy[1]: text.get_text() for text in strip.texts}
    assert labels == ["τ = 10", "τ = 200"]
    assert [shares[tick] for tick in strip.get_yticks()] == ["98%", "67%"]  # 10 and 200 of 600 rounds are lost


@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (30, 12)])
def test_any_world_can_be_drawn(shape):
    figure = diagnosis.draw(np.random.default_rng(0).random(shape), "gamma-swgts")
    figure.canvas.draw()
    assert len(figure.get_axes()) == 4


def test_a_comparison_says_what_the_recommendation_loses(comparison):
    regret = comparison.measured.regret.mean(axis=1)
    by_window = dict(zip(comparison.measured.windows, regret, strict=True))
    assert by_window[comparison.best] == min(by_window[tau] for tau in comparison.grid)
    assert comparison.loss == pytest.approx(by_window[comparison.recommended.window] / by_window[comparison.best] - 1)
    assert "the recommended window loses" in str(comparison)


def test_measured_pulls_are_those_of_worse_arms(comparison):
    pulls, T = comparison.measured.pulls, 600
    assert pulls.shape == (len(comparison.measured.windows), 3)
    assert np.all(pulls >= 0)
    assert np.all(pulls.sum(axis=1) <= T)
    # Arm 1 is never the best, arm 0 in half of the rounds: regret follows from the pulls of each.
    loss = np.array([0.8, 0.7, 0.8])
    np.testing.assert_allclose(pulls @ loss, comparison.measured.regret.mean(axis=1))


def test_the_measurement_is_drawn_over_the_bounds(means, comparison):
    figure = overlay.draw_measured(means, comparison)
    figure.canvas.draw()
    written = "".join(texts(figure))
    assert f"best measured {comparison.best:,}" in written
    assert f"recommended {comparison.recommended.window:,}" in written


def test_only_bernoulli_means_are_played():
    with pytest.raises(theory.AssumptionError, match="Assumption 1"):
        measured.measure([[2.0, 0.1]] * 5, [2], "gamma-swgts")


def test_the_command_describes_draws_and_measures(tmp_path, capsys, means):
    file = tmp_path / "clicks.csv"
    np.savetxt(file, means, delimiter=",", header="ads,mail,video", comments="")
    command.main([str(file), "--out", str(tmp_path / "out"), "--measure", "--runs", "2"])
    printed = capsys.readouterr().out
    assert "breakpoints" in printed
    assert f"recommended τ = {theory.recommend_window(means).window:,}" in printed
    assert "the recommended window loses" in printed
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        "clicks-beta-swts-diagnosis.png",
        "clicks-beta-swts-measured.png",
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.csv"], "no file of means at 'missing.csv'"),
        (["NSBandit-Abrup-v0"], "did you mean 'NSBandit-Abrupt-v0'"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, words):
    with pytest.raises(SystemExit, match=words):
        command.main(arguments)


def test_the_command_names_the_bad_cell(tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("0.1,0.2\n0.3,x\n")
    with pytest.raises(SystemExit, match="line 2, column 2: 'x' is not a number"):
        command.main([str(file)])
