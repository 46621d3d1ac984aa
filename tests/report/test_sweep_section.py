"""Charts of sweeps: one for each parameter, with the values that theory would choose."""

import numpy as np

from ns_mab_gym.experiments.report.sweep_charts import charts_of_sweeps
from ns_mab_gym.figures.sweep_plot import Swept

SAME = np.array([10.0, 10.0, 10.0])  # without spread, so that intervals are known


def test_a_line_for_each_family_and_an_upright_line_for_each_mark():
    swept = [
        Swept("a <b>", "window", [100, 1000], [SAME, np.array([20.0, 30.0])], {"tuned": 493.0}),
        Swept("c", "window", [50, 500], [SAME, SAME], {}),
        Swept("c", "xi", [0, 1], [SAME, SAME], {}),
    ]
    charts = charts_of_sweeps(swept)
    assert list(charts) == ["window", "xi"]
    a, tuned, c = charts["window"]["data"]
    assert (a["name"], a["x"], a["y"]) == ("a &lt;b&gt;", [100, 1000], [10.0, 25.0])
    assert a["error_y"]["array"][0] == a["error_y"]["arrayminus"][0] == 0.0
    assert 0 < a["error_y"]["array"][1] <= 5.0  # a bootstrap mean lies between 20 and 30
    assert (tuned["name"], tuned["x"], tuned["y"]) == ("a &lt;b&gt;, tuned: 493", [493.0, 493.0], [0, 30.0])
    assert (c["y"], c["line"]["color"] != a["line"]["color"]) == ([10.0, 10.0], True)
    assert [chart["layout"]["xaxis"]["type"] for chart in charts.values()] == ["log", "linear"]  # 0 has no logarithm
    assert charts["xi"]["layout"]["xaxis"]["title"]["text"] == "xi"


def test_without_sweeps_there_are_no_charts():
    assert charts_of_sweeps([]) == {}
