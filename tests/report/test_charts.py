"""The data of the interactive charts."""

import numpy as np
import pytest

from ns_mab_gym.experiments.report.charts import POINTS, means_chart, other_curves, regret_chart
from ns_mab_gym.runs import Runs


def runs_of(regret: np.ndarray) -> Runs:
    """Runs with this regret after each of the rounds."""
    count, rounds = regret.shape
    pulls = np.zeros((count, 2), dtype=np.int64)
    return Runs(np.arange(1, rounds + 1), regret, pulls, pulls, [(0, 0)] * count, [{}] * count, 1.0)


def test_a_line_is_the_mean_and_its_band_one_standard_deviation():
    runs = runs_of(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 60.0]]))  # means 2, 30; sds 1, √700 = 26.5
    band, line = regret_chart({"mine": runs}, [], {})["data"]
    assert (line["x"], line["y"]) == ([1, 2], [2.0, 30.0])
    assert band["x"] == [1, 2, 2, 1]
    assert band["y"] == [3.0, 56.5, 3.5, 1.0]
    assert band["legendgroup"] == line["legendgroup"]


def test_a_band_ends_at_zero_and_one_run_has_none():
    band, _ = regret_chart({"mine": runs_of(np.array([[0.0], [0.0], [9.0]]))}, [], {})["data"]  # mean 3, sd 5.2
    assert band["y"] == [8.2, 0.0]
    band, line = regret_chart({"mine": runs_of(np.array([[4.0]]))}, [], {})["data"]
    assert band["y"] == [4.0, 4.0] == line["y"] * 2


def test_long_curves_are_thinned_to_points_that_keep_both_ends():
    _, line = regret_chart({"mine": runs_of(np.arange(1.0, 5_001.0)[None])}, [], {})["data"]
    assert line["x"] == line["y"]
    assert len(line["x"]) == POINTS
    assert (line["x"][0], line["x"][-1]) == (1, 5_000)
    assert np.diff(line["x"]).max() <= 2 * 5_000 / POINTS


def test_a_starred_agent_has_its_star_in_the_legend():
    runs = runs_of(np.ones((2, 3)))
    chart = regret_chart({"a": runs, "b": runs}, [], {"b": "said"})
    assert [trace["name"] for trace in chart["data"]] == ["a", "a", "b*", "b*"]


def test_curves_of_other_readings_have_the_rounds_of_their_chart():
    first, other = runs_of(np.array([[1.0, 10.0], [3.0, 30.0]])), runs_of(np.array([[5.0, 50.0], [5.0, 50.0]]))
    chart = regret_chart({"a": first}, [], {})
    curves = other_curves({"a": {"a (<other>)": other}}, {"a (<other>)": "said"})
    # mean 5, 50 without spread; the band goes there and back
    assert curves == {"a (<other>)": {"name": "a (&lt;other&gt;)*", "traces": [[5.0, 50.0, 50.0, 5.0], [5.0, 50.0]]}}
    assert [len(trace["x"]) for trace in chart["data"]] == [4, 2]
    assert chart["agents"] == ["a"]


def test_of_many_arms_the_legend_has_those_that_lead():
    means = np.full((10, 30), 0.1)
    means[:5, 3] = means[5:, 7] = 0.9
    chart = means_chart(means, [], [f"product {arm}" for arm in range(30)])
    assert [trace["name"] for trace in chart["data"] if trace["showlegend"]] == ["product 3", "product 7"]
    assert chart["layout"]["hovermode"] == "closest"
    few = means_chart(means[:, :10], [])
    assert all(trace["showlegend"] for trace in few["data"])
    assert few["data"][9]["name"] == "arm 10"


@pytest.mark.parametrize(
    ("changes", "shaded"), [([], []), ([4], [(1, 4)]), ([4, 8], [(1, 4), (8, 11)]), ([2, 4, 6], [(1, 2), (4, 6)])]
)
def test_every_other_phase_is_shaded(changes: list[int], shaded: list[tuple[int, int]]):
    chart = means_chart(np.full((10, 2), 0.5), changes)
    assert [(shape["x0"], shape["x1"]) for shape in chart["layout"]["shapes"]] == shaded


def test_means_keep_both_sides_of_a_change():
    means = np.where(np.arange(5_000)[:, None] < 2_345, [0.9, 0.2], [0.1, 0.2])
    first, second = means_chart(means, [])["data"]
    shown = dict(zip(first["x"], first["y"], strict=True))
    assert (shown[2_345], shown[2_346]) == (0.9, 0.1)  # rounds are counted from 1
    assert set(second["y"]) == {0.2}
    assert (first["name"], second["name"]) == ("arm 1", "arm 2")
