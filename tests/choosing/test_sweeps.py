"""Sweeps: several agents that differ in one parameter, and the values that are marked in their figure."""

from __future__ import annotations

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.choosing.competitors import Competitor, Family
from ns_mab_gym.choosing.pictures_of_comparisons import marks_of, shown_of, swept_of
from ns_mab_gym.resampling import RESAMPLES

WORLD = worlds.Abrupt(horizon=600)


@pytest.mark.parametrize(
    ("ends", "count", "numbers"),
    [
        ((100, 10_000), 3, [100, 1000, 10_000]),
        ((1, 3), 9, [1, 2, 3]),
        ((10_000, 100), 3, [10_000, 1000, 100]),
        ((np.int64(2), 8), 3, [2, 4, 8]),
        ((0.5, 8), 5, [0.5, 1.0, 2.0, 4.0, 8.0]),
    ],
)
def test_geomspace(ends, count, numbers):
    found = nsb.geomspace(*ends, count)
    assert found == pytest.approx(numbers)
    assert {type(each) for each in found} == {type(numbers[0])}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 10, 3), ValueError, "the first number of geomspace must be a finite number above 0, got 0"),
        ((1, float("inf"), 3), ValueError, "the last number of geomspace"),
        ((1, 10, 1), ValueError, "the count of geomspace must be an integer of at least 2"),
    ],
)
def test_geomspace_explains_mistakes(arguments, error, message):
    with pytest.raises(error, match=message):
        nsb.geomspace(*arguments)


def test_a_sweep_is_one_agent_for_each_value():
    made = nsb.sweep("sw-ucb", window=np.array([100, 10, 10]), xi=0.6)
    assert (made.agent, made.parameter, made.values) == ("sw-ucb", "window", (10, 100))
    assert made.entries() == [("sw-ucb", {"xi": 0.6, "window": 10}), ("sw-ucb", {"xi": 0.6, "window": 100})]
    assert type(made.values[0]) is int


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"window": [1, 2], "xi": [0.1, 0.2]}, ValueError, "varies one parameter, got window and xi; give two sweeps"),
        ({"window": 5}, ValueError, "nothing is swept"),
        ({"window": []}, ValueError, "window has no values"),
        ({"window": ["a"]}, TypeError, "a sweep varies a number, got window = 'a'"),
        ({"window": [True]}, TypeError, "a sweep varies a number"),
        ({"windo": [1]}, TypeError, "no parameter 'windo'; did you mean 'window'"),
    ],
)
def test_a_sweep_explains_mistakes(arguments, error, message):
    with pytest.raises(error, match=message):
        nsb.sweep("sw-ucb", **arguments)
    with pytest.raises(TypeError, match="give a name or a class"):
        nsb.sweep(agents.BetaSWTS(2, window=2), window=[1])


def test_a_value_that_no_agent_takes_is_found_before_play():
    with pytest.raises(ValueError, match="sw-ucb:window=0 on abrupt: window must be a positive integer"):
        nsb.compare(WORLD, nsb.sweep("sw-ucb", window=[0, 10]), progress=lambda *_: pytest.fail("played"))


@pytest.fixture(scope="module")
def found():
    sweeps = [nsb.sweep("beta-swts", window=[20, 60, 200]), nsb.sweep("sw-ucb", window=[20, 200]), "ts"]
    return nsb.compare([WORLD, worlds.Piecewise(n_arms=3, horizon=300)], sweeps, runs=5, progress=False)


def test_final_regrets_by_value(found):
    fixed = found.venues[0]
    beta, sw = swept_of(found, fixed)
    assert (beta.label, beta.parameter, beta.values) == ("beta-swts", "window", [20, 60, 200])
    alone = nsb.simulate(WORLD, "beta-swts", agent_kwargs={"window": 60}, runs=5).final
    np.testing.assert_array_equal(beta.finals[1], alone)
    assert sw.label == "sw-ucb"


def test_the_tuned_and_the_recommended_value_are_marked(found):
    fixed, drawn = found.venues
    beta, sw = swept_of(found, fixed)
    known = theory.describe(WORLD.means())
    recommended = theory.recommend_window(WORLD.means(), "beta-swts").window
    assert beta.marks == {"tuned": agents.make("beta-swts", knowledge=known).window, "recommended": recommended}
    assert sw.marks == {"tuned": agents.make("sw-ucb", knowledge=known).window}
    beta, _ = swept_of(found, drawn)
    assert beta.marks == {"tuned": agents.make("beta-swts", n_arms=3, horizon=300).window}  # which needs T alone


def test_a_tuned_value_that_differs_between_instances_is_not_marked(found):
    fixed, drawn = found.venues
    family = Family("rexp3", nsb.sweep("rexp3", batch=[5, 50]))
    member = Competitor("rexp3:batch=5", "rexp3", {"batch": 5}, family)
    batches = {agents.make("rexp3", knowledge=theory.describe(drawn.means(0, run))).batch for run in range(8)}
    assert len(batches) > 1
    assert marks_of(family, member, drawn, 0) == {}
    assert marks_of(family, member, fixed, 0) == {
        "tuned": agents.make("rexp3", knowledge=theory.describe(WORLD.means())).batch
    }


def test_the_best_of_a_sweep_is_among_the_curves(found):
    shown = shown_of(found, found.venues[0])
    ends = {label: runs.final.mean() for label, runs in found.runs["abrupt"].items()}
    best = [min((each for each in ends if each.startswith(name)), key=ends.get) for name in ("beta-swts", "sw-ucb")]
    assert list(shown.curves) == ["ts", *best]


def test_the_swept_parameter_is_a_column(found):
    frame = found.curves()
    values = frame.groupby("agent", observed=True)["window"].first()
    assert values["beta-swts:window=60"] == 60
    assert np.isnan(values["ts"])


def test_words_with_bars_are_a_sweep(found):
    again = nsb.compare(WORLD, "beta-swts:window=20|60|200", runs=5, progress=False)
    np.testing.assert_array_equal(
        again.runs["abrupt"]["beta-swts:window=60"].regret, found.runs["abrupt"]["beta-swts:window=60"].regret
    )
    assert [axes.get_xlabel() for axes in again.plot().axes] == ["window"]


def test_the_figure_shows_means_and_bootstrap_intervals(found):
    axes = next(axes for axes in found.plot().axes if axes.get_title("left") == "abrupt: window")
    beta = swept_of(found, found.venues[0])[0]
    np.testing.assert_allclose(axes.lines[0].get_xydata(), np.column_stack((beta.values, np.mean(beta.finals, axis=1))))
    band = axes.patches[0].get_xy()[:3, 1]  # the upper end
    rng = np.random.default_rng(0)
    for top, finals in zip(band, beta.finals, strict=True):
        drawn = rng.choice(finals, (RESAMPLES, 5)).mean(axis=1)
        assert top == pytest.approx(np.quantile(drawn, 0.975), abs=0.1 * finals.std())
