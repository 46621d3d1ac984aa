"""What no theorem says is called a heuristic wherever a person reads it."""

import numpy as np
import pytest

from ns_mab_gym import theory
from ns_mab_gym.cli.entry import main
from ns_mab_gym.figures.diagnosis import diagnosis_figure

WORLDS = {
    "a change": np.repeat([[0.9, 0.2], [0.2, 0.9]], 300, axis=0),
    "no change": np.tile([0.2, 0.5, 0.9], (300, 1)),
    "too close": np.tile([0.50, 0.51], (500, 1)),
}


@pytest.mark.parametrize("means", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("agent", ["beta-swts", "gamma-swgts"])
def test_the_reason_for_a_window_says_that_it_is_a_heuristic(means, agent):
    reason = theory.recommend_window(means, agent).reason
    assert "heuristic" in reason
    assert "bound" not in reason
    assert "allow" not in reason
    assert "heuristic" in str(theory.describe(means, agent=agent))


def test_the_theorem_itself_is_no_heuristic():
    assert theory.recommend_window(WORLDS["a change"], by="theorem").reason.startswith(
        "it minimises the bound of Theorem 1"
    )


def test_the_picture_and_the_command_say_so_too(capsys):
    titles = [axes.get_title("left") for axes in diagnosis_figure(WORLDS["a change"]).axes]
    assert "Heuristic: regret of beta-swts" in titles
    with pytest.raises(SystemExit):
        main(["diagnose", "--help"])
    assert "recommend a window by a heuristic" in capsys.readouterr().out
