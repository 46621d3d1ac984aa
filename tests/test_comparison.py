"""Comparisons: the runs are those of ``simulate``, and what is said of them follows from the runs alone."""

from __future__ import annotations

import csv
import html
import itertools
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from interpreted_runs import assert_same_runs
from own_players import Broken, InTurn, Still

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.comparison import Comparison, standings_of
from ns_mab_gym.figures.style import save_as
from ns_mab_gym.specs import WorldSpec
from ns_mab_gym.statistics import FEWEST, RESAMPLES
from ns_mab_gym.studies.study import StoreError
from ns_mab_gym.studies.tables import swept_on

ABRUPT = ("NSBandit-Abrupt-v0", {"horizon": 400})
DRAWN = ("piecewise", {"n_arms": 3, "horizon": 200})
SLOW = "generic Python loop"
WORLD = worlds.Abrupt(horizon=600)
pytestmark = pytest.mark.filterwarnings("ignore:.*no compiled form")


class Stubborn(Still):
    """Plays one arm for ever, without a compiled form, and remembers its seeds."""

    def __init__(self, n_arms: int, arm: int = 0) -> None:
        super().__init__(n_arms, arm)
        self.seeds = []

    def reset(self, seed=None):
        self.seeds.append(seed)


def compare(worlds_, agents_, **settings):
    return nsb.compare(worlds_, agents_, **({"runs": 6, "progress": False} | settings))


@pytest.fixture(scope="module")
def found():
    """Three agents on a fixed world and on one that is drawn anew."""
    return compare([ABRUPT, DRAWN], ["ts", ("beta-swts", {"window": 50}), "random"], seed=3)


# What is played.


@pytest.mark.parametrize(("world", "named"), [("NSBandit-Abrupt-v0", ABRUPT), ("piecewise", DRAWN)])
def test_the_runs_are_those_of_simulate_with_the_same_seed(found, world, named):
    for label, name, kwargs in (("ts", "ts", {}), ("beta-swts", "beta-swts", {"window": 50}), ("random", "random", {})):
        alone = nsb.simulate(named[0], name, env_kwargs=named[1], agent_kwargs=kwargs, runs=6, seed=3, n_jobs=1)
        np.testing.assert_array_equal(found.runs[world][label].regret, alone.regret)
        assert found.runs[world][label].seeds == alone.seeds


def test_a_name_is_no_list_of_letters_and_one_agent_is_enough():
    result = compare(ABRUPT, "ts", runs=2)
    assert result.agents == ["ts"]
    assert result.best().runner_up is None
    assert "No other agent played" in str(result.best())


def test_an_object_is_played_on_every_world_and_stays_as_it_is():
    mine, ready = Stubborn(10, arm=4), agents.BetaSWTS(10, window=20)
    ready.reset(seed=7)
    before = ready.state_dict()
    with pytest.warns(UserWarning, match=f"^Stubborn has no compiled form: playing through the {SLOW}"):
        result = compare([ABRUPT, worlds.Abrupt(horizon=30)], [mine, ready], runs=2, n_jobs=1)
    assert mine.seeds == []
    for key, value in ready.state_dict().items():
        np.testing.assert_equal(value, before[key])
    means = worlds.Abrupt(horizon=30).means()
    regret = (means.max(axis=1) - means[:, 4]).sum()
    np.testing.assert_allclose(result.runs["abrupt"]["Stubborn"].final, regret)


class Curious(Stubborn):
    """Plays the arm whose number is that of the breakpoints it is told of."""

    def __init__(self, n_arms: int, horizon: int, breakpoints: int = 0) -> None:
        super().__init__(n_arms, breakpoints)


@pytest.mark.parametrize(("blind", "arm"), [(False, 3), (True, 0)])
def test_blind_agents_are_told_the_horizon_and_the_arms_alone(blind, arm):
    result = compare(ABRUPT, [Curious, ("ts", {"blind": False})], runs=1, blind=blind)
    assert result.runs["NSBandit-Abrupt-v0"]["Curious"].pulls[0, arm] == 400
    assert [each.blind for each in result.agent_specs] == [blind, False]


def test_one_warning_names_all_slow_agents_and_a_strict_filter_stops_before_play():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=SLOW):
            compare(ABRUPT, Stubborn, progress=lambda done, total: pytest.fail("played"))


def test_progress_counts_the_runs_of_all_pairs():
    seen = []
    compare([ABRUPT, DRAWN], ["ts", "random"], runs=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 12) for done in range(1, 13)]


def test_progress_goes_to_the_error_stream_also_without_the_package_of_bars(capsys, monkeypatch):
    monkeypatch.setattr("ns_mab_gym.play.progress.find_spec", lambda name: None)
    compare(DRAWN, ["ts"], runs=2, progress=True)
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[-1].startswith("2 of 2 runs")) == ("", True)


# What is refused, before anything is played.


class Bad(Stubborn):
    """Cannot be made."""

    def __init__(self, n_arms: int) -> None:
        raise RuntimeError("out of order")


def test_all_misfits_are_named_in_one_error_before_play():
    drifting = (*ABRUPT[:1], {"horizon": 50, "reward": "gaussian"})
    players = ["ts", agents.BetaSWTS(3, window=5), Bad, "random"]
    with pytest.raises(ValueError, match=r"4 of 8 pairs .* leave them out, or pass on_misfit='skip'") as caught:
        compare([DRAWN, drifting], players, progress=lambda *_: pytest.fail("played"))
    text = str(caught.value)
    assert "ts on NSBandit-Abrupt-v0: ts takes rewards that are 0 or 1" in text
    assert "beta-swts on NSBandit-Abrupt-v0" in text
    assert "Bad on piecewise: RuntimeError: out of order" in text


def test_misfits_can_be_skipped_and_are_shown():
    drifting = (*ABRUPT[:1], {"horizon": 50, "reward": "gaussian"})
    result = compare([ABRUPT, drifting], ["ts", "ucb1", "random"], runs=2, on_misfit="skip")
    gaussian = result.worlds[1]
    assert list(result.runs[gaussian]) == ["ucb1", "random"]
    assert "\n – ts " in str(result)
    assert [line.split()[0] for line in str(result).split("mean rank")[1].splitlines()[2:4]] == ["ucb1", "random"]
    with pytest.raises(ValueError, match="worlds that no agent can play"):
        compare(drifting, "ts", on_misfit="skip")


@pytest.mark.parametrize(
    ("worlds_", "agents_", "settings", "error", "message"),
    [
        (ABRUPT, [], {}, ValueError, "no agent to compare; name at least one"),
        ([], "ts", {}, ValueError, "no world to compare; name at least one"),
        (ABRUPT, "beta-swt", {}, ValueError, "unknown agent 'beta-swt'; did you mean 'beta-swts'"),
        ("NSBandit-Abrup-v0", "ts", {}, ValueError, "unknown world 'NSBandit-Abrup-v0'; did you mean"),
        (ABRUPT, ("beta-swts", {"windw": 5}), {}, TypeError, "'beta-swts' has no parameter 'windw'; did you mean"),
        (ABRUPT, ("beta-swts", {"window": -5}), {}, ValueError, "window must be a positive integer, got -5"),
        (ABRUPT, [(agents.BetaSWTS(3, window=2), {"window": 5})], {}, TypeError, "parameters go with a name or a"),
        (ABRUPT, None, {}, TypeError, "cannot compare None; each agent is a name"),
        (ABRUPT, [dict], {}, TypeError, r"dict'> is no agent: it has no reset\(\)"),
        (ABRUPT, {"": "ts"}, {}, TypeError, "label of each agent is a text that is not empty"),
        (ABRUPT, [{"a": "ts"}, {"a": "random"}], {}, ValueError, "2 agents are labelled 'a'; give each"),
        ({5: ABRUPT}, "ts", {}, TypeError, "label of each world is a text"),
        (7, "ts", {}, TypeError, "cannot compare 7; each world is an id"),
        ({"bad": [[0.1, 0.2], [np.nan, 0.3]]}, "ts", {}, ValueError, "world 'bad': .*NaN.*round 2, arm 1"),
        (np.ones(3), "ts", {}, ValueError, "world 'array': .*T rounds by K arms"),
        ("nowhere.csv", "ts", {}, ValueError, "world 'nowhere.csv': no file"),
        ("Pendulum-v1", "ts", {}, TypeError, "world 'Pendulum-v1': .*Discrete"),
        (ABRUPT, "ts", {"runs": 0}, ValueError, "runs must be a positive integer, got 0"),
        (ABRUPT, "ts", {"rounds": [1, 500]}, ValueError, "horizon of NSBandit-Abrupt-v0, 400; got 500"),
        (ABRUPT, "ts", {"on_misfit": "skp"}, ValueError, "unknown way to treat misfits"),
        (ABRUPT, "ts", {"executor": "clouds"}, ValueError, "unknown executor 'clouds'"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(worlds_, agents_, settings, error, message):
    with pytest.raises(error, match=message):
        compare(worlds_, agents_, **settings)


# What is said of the runs.


def test_standings_are_the_means_of_the_runs(found):
    for world in found.worlds:
        finals = {agent: runs.regret[:, -1] for agent, runs in found.runs[world].items()}
        ranked = sorted(finals, key=lambda agent: finals[agent].mean())
        rows = found.standings(world)
        assert [row.agent for row in rows] == ranked
        assert [row.place for row in rows] == [1, 2, 3]
        for row in rows:
            assert row.regret.value == pytest.approx(finals[row.agent].mean())
            assert row.sd == pytest.approx(np.sqrt(np.var(finals[row.agent], ddof=1)))
            assert row.se == pytest.approx(row.sd / np.sqrt(6))
            assert row.more.value == pytest.approx((finals[row.agent] - finals[ranked[0]]).mean())


def test_best_names_the_least_mean_and_the_next(found):
    best = found.best("piecewise")
    finals = {agent: float(runs.final.mean()) for agent, runs in found.runs["piecewise"].items()}
    first, second, _ = sorted(finals, key=finals.__getitem__)
    assert (best.agent, best.runner_up) == (first, second)
    assert best.lead.value == pytest.approx(finals[second] - finals[first])
    with pytest.raises(ValueError, match="say which world: one of 'NSBandit-Abrupt-v0', 'piecewise'"):
        found.best()
    with pytest.raises(ValueError, match="unknown world 'piecewis'; did you mean 'piecewise'"):
        found.best("piecewis")


def test_one_run_has_no_interval_and_says_so():
    result = compare(ABRUPT, ["ts", "random"], runs=1)
    assert result.best().is_clear is None
    assert "play at least 5 runs" in str(result.best())
    assert "no intervals: they need at least 5 runs" in str(result)
    assert "±" not in str(result)


@pytest.mark.parametrize("means", [[[0.1, 0.9]], np.full((3, 200), 0.5)])
def test_tiny_and_wide_worlds(means, tmp_path):
    result = compare(np.asarray(means), ["ts", "random"], runs=5)
    assert result.best().regret.value <= 0.8
    result.plot(tmp_path / "tiny.png")


def test_the_table_is_the_comparison_as_text(found):
    assert str(found) == repr(found) == str(found.table())
    alone = found.table("piecewise")
    assert "NSBandit-Abrupt-v0" not in str(alone)
    assert str(alone).splitlines()[0] == "piecewise: regret after 200 rounds, mean ± standard error of 6 runs"
    assert "<td>1 " in found._repr_html_()
    escaped = compare(ABRUPT, {"<b>": "random"}, runs=2)._repr_html_()
    assert "&lt;b&gt;" in escaped
    assert "<b>" not in escaped


def test_the_mean_rank_is_the_mean_of_the_places(found):
    places = {agent: [] for agent in found.agents}
    for world in found.worlds:
        finals = {agent: runs.final.mean() for agent, runs in found.runs[world].items()}
        for agent in places:
            places[agent].append(1 + sum(other < finals[agent] for other in finals.values()))
    lines = str(found).split("mean rank over 2 worlds\n")[1].splitlines()[1:4]
    assert {line.split()[0]: float(line.split()[1]) for line in lines} == {a: np.mean(p) for a, p in places.items()}


def test_curves_are_tidy(found):
    frame = found.curves()
    assert list(frame.columns) == ["world", "agent", "run", "round", "regret"]
    runs = found.runs["piecewise"]["random"]
    part = frame[(frame.world == "piecewise") & (frame.agent == "random")]
    wide = part.pivot(index="run", columns="round", values="regret")
    np.testing.assert_array_equal(wide.to_numpy(), runs.regret)
    np.testing.assert_array_equal(wide.columns, runs.rounds)
    assert len(frame) == sum(runs.regret.size for played in found.runs.values() for runs in played.values())


def test_the_frame_has_a_row_for_each_world_and_agent(found):
    frame = found.frame().set_index(["world", "agent"])
    for world, agent in itertools.product(found.worlds, found.agents):
        assert frame.loc[(world, agent), "regret"] == pytest.approx(found.runs[world][agent].final.mean())
    assert (frame.low <= frame.regret).all()


def test_the_figure_shows_every_world_and_shows_itself_in_notebooks(found, tmp_path):
    figure = found.plot(tmp_path / "found.svg")
    assert (tmp_path / "found.svg").read_text().startswith("<?xml")
    assert figure._repr_png_().startswith(b"\x89PNG")
    titles = [axes.get_title("left") for axes in figure.axes if axes.axison]
    assert {"NSBandit-Abrupt-v0", "piecewise"} <= set(titles)
    with pytest.raises(ValueError, match=r"written as \.png, \.svg or \.pdf"):
        found.plot(tmp_path / "found.txt")
    save_as(figure, Path(tmp_path / "again.png"))


def test_a_figure_for_a_paper_is_as_wide_as_asked_for_with_a_logarithmic_axis_on_request(found, tmp_path):
    figure = found.plot(tmp_path / "found.pdf", width=5.5, log=True)
    assert (tmp_path / "found.pdf").read_bytes().startswith(b"%PDF")
    assert figure.get_figwidth() == 5.5
    assert len({round(axes.get_position().x0, 6) for axes in figure.axes}) == 1  # one below the other
    assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    assert {axes.get_yscale() for axes in found.plot().axes if axes.axison} == {"linear"}
    with pytest.raises(ValueError, match="width must be between 3 and 40 inches, got 500"):
        found.plot(width=500)


def test_latex_has_the_cells_of_the_table_with_its_letters_escaped():
    found = compare(ABRUPT, {"a_b & 50 %": "random", "ts": "ts"}, runs=5)
    lines = found.to_latex().splitlines()
    assert lines[1:4] == [r"\begin{tabular}{lrr}", r"\toprule", r"agent & regret & more than the best \\"]
    assert any(r"a\_b \& 50 \%" in line for line in lines)
    cells = [line.split() for line in str(found).splitlines()[2:4]]
    for row in cells:  # place, label, mean, ±, standard error, …
        at = row.index("±")
        assert any(f"{row[at - 1]} $\\pm$ {row[at + 1]}" in line for line in lines)
    assert lines[-3].startswith(r"\end{tabular}")


# Leads.


def standings(table):
    return standings_of({f"agent {place}": column for place, column in enumerate(np.asarray(table, dtype=float).T)})


def best_of(table):
    """The best of agents whose final regrets are the columns of a table."""
    finals = {f"agent {n}": SimpleNamespace(final=column) for n, column in enumerate(np.asarray(table, dtype=float).T)}
    study = SimpleNamespace(experiments=[SimpleNamespace(runs=len(table))])
    return Comparison(SimpleNamespace(curves={"here": finals}, study=study), (WorldSpec.of("here"),), ()).best()


def test_the_interval_of_a_difference_is_as_wide_as_the_largest_t_of_all_pairs_says():
    """Against a bootstrap by hand, with other draws: 20,000 resamples, whose quantile is within 3 %."""
    rng = np.random.default_rng(1)
    table = rng.normal([0, 1, 1.5], [1, 2, 3], size=(30, 3))
    rows = standings(table)
    picks = rng.integers(0, 30, size=(20_000, 30))
    largest = np.zeros(20_000)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        difference = table[:, one] - table[:, other]
        drawn = difference[picks]
        t = (drawn.mean(axis=1) - difference.mean()) / (drawn.std(axis=1, ddof=1) / 30**0.5)
        largest = np.maximum(largest, np.abs(t))
    factor = np.quantile(largest, 0.95)
    for row in rows[1:]:
        difference = table[:, int(row.agent[-1])] - table[:, int(rows[0].agent[-1])]
        reach = factor * difference.std(ddof=1) / 30**0.5
        assert row.more.high - row.more.value == pytest.approx(reach, rel=0.03)
        assert row.more.value - row.more.low == pytest.approx(reach, rel=0.03)


def test_a_real_lead_is_clear():
    luck = np.random.default_rng(0).normal(size=(10, 1))
    best = best_of(luck + np.array([5.0, 3.0, 9.0]) + 0.01 * luck * np.array([1, 2, 3]))
    assert (best.agent, best.runner_up, best.is_clear, best.alike) == ("agent 1", "agent 0", True, ())
    assert str(best).startswith("agent 1 has the least regret on here: ")
    assert "The lead is clear" in str(best)


def test_those_that_may_be_as_good_are_named():
    rng = np.random.default_rng(0)
    best = best_of(rng.normal([0, 0, 50], size=(20, 3)))
    assert best.is_clear is False
    assert best.alike == (best.runner_up,)
    assert f"The lead may be luck: {best.runner_up} may be as good" in str(best)


def test_ties_share_a_place_and_are_never_distinct_names():
    ties = np.tile([[2.0, 1.0, 1.0, 3.0]], (8, 1))
    assert [row.place for row in standings(ties)] == [1, 1, 3, 4]
    best = best_of(ties)
    assert (best.alike, best.lead.value) == (("agent 2",), 0)


@pytest.mark.parametrize("runs", [1, FEWEST - 1])
def test_few_runs_have_no_interval(runs):
    table = np.random.default_rng(0).normal([0, 9], 0.1, size=(runs, 2))
    for row in standings(table):
        assert np.isnan([row.regret.low, row.regret.high, row.more.low, row.more.high]).all()
    assert best_of(table).is_clear is None


def test_many_agents_are_resampled_in_parts_with_the_same_result(monkeypatch):
    table = np.random.default_rng(3).normal(size=(12, 13))
    whole = standings(table)
    monkeypatch.setattr("ns_mab_gym.statistics.PAIRS_AT_ONCE", 7)
    for one, other in zip(whole, standings(table), strict=True):
        np.testing.assert_allclose(one.more, other.more)


# Reports.


@pytest.fixture(scope="module")
def odd():
    """Objects without words, labels that differ in case alone, a sweep, a pair that cannot be played."""
    array = np.random.default_rng(0).random((80, 3))
    players = [
        agents.BetaSWTS(3, window=9),
        {"a/b": "random", "A/B": "ts"},
        nsb.sweep(agents.BetaSWTS, window=[5, 20]),
    ]
    settings = {"runs": 5, "progress": False, "on_misfit": "skip"}
    return nsb.compare([array, worlds.RandomWalk(horizon=60, n_arms=4)], players, **settings)


def test_a_folder_holds_the_page_and_everything_behind_it(odd, tmp_path):
    page = odd.report(tmp_path / "new" / "report")
    assert page == tmp_path / "new" / "report" / "report.html"
    text = page.read_text()
    for label in ("array", "random-walk", "a/b", "A/B", "beta-swts:window=20", "made for 3 arms"):
        assert label in text
    assert "<script src=" not in text
    with (page.parent / "summary.csv").open() as lines:
        rows = {(row["world"], row["agent"]): float(row["final_regret"]) for row in csv.DictReader(lines)}
    assert rows == {
        (world, agent): pytest.approx(runs.final.mean())
        for world, played in odd.runs.items()
        for agent, runs in played.items()
    }
    assert pq.read_table(page.parent / "table.parquet").num_rows == len(odd.curves())
    assert len(list((page.parent / "figures").glob("*.png"))) == 6  # means, regret and sweep of two worlds
    assert odd.report(page.parent) == page  # again into its own folder


def words_of(page):
    """The text of a page, without scripts, tags and runs of blanks."""
    text = re.sub(r"<(script|style|svg).*?</\1>", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.parametrize("gap", [0.02, 0.4])
def test_the_page_the_table_and_the_answer_agree_how_sure_a_lead_is(tmp_path, gap):
    """One of the leads is a matter of luck, the other is not."""
    means = np.tile([0.5, 0.5 + gap], (200, 1))
    found = nsb.compare({"w": means}, ["random", "ts", "ucb1"], runs=12, progress=False)
    best, page = found.best(), found.report(tmp_path)
    with (tmp_path / "summary.csv").open() as lines:
        rows = {row["agent"]: row for row in csv.DictReader(lines)}
    standing = {each.agent: each for each in found.standings()}
    for agent, row in rows.items():
        own = standing[agent].regret
        assert [float(row[key]) for key in ("final_regret", "low", "high")] == pytest.approx(list(own))
    # The file compares with the first agent; the lead over it is the same interval, the other way round.
    low, high = (-float(rows[best.agent][f"difference_{end}"]) for end in ("high", "low"))
    assert (low, high) == pytest.approx((standing["random"].more.low, standing["random"].more.high))
    assert best.is_clear == all(each.more.low > 0 for each in standing.values() if each.agent != best.agent)
    read = re.search(rf"Winner: {best.agent} , (\S+) less than (\S+) \(95 % interval (\S+) to (\S+)\)", words_of(page))
    assert read[2].rstrip(";") == best.runner_up
    told = [float(each.replace("−", "-")) for each in (read[1], read[3], read[4])]
    assert told == pytest.approx(list(best.lead), rel=0.06, abs=0.6)
    assert ("may be as good" in words_of(page)) == (best.is_clear is False) == ("may be luck" in str(best))


def test_fewer_than_five_runs_have_an_interval_nowhere(tmp_path):
    found = nsb.compare({"w": np.tile([0.2, 0.7], (100, 1))}, ["random", "ts"], runs=4, progress=False)
    page = found.report(tmp_path)
    said = "how sure that is cannot be said: play at least 5 runs"
    assert said in str(found.best()).lower()
    assert said in words_of(page)
    assert re.search(r"95 % interval (?!sd|minus|P\()[−\d]", words_of(page)) is None
    with (tmp_path / "summary.csv").open() as lines:
        for row in csv.DictReader(lines):
            assert [row[key] for key in ("low", "high", "difference_low", "difference_high")] == [""] * 4
    assert found.frame()[["low", "high", "more_low", "more_high"]].isna().all(axis=None)


def test_a_file_is_the_page_alone(odd, tmp_path):
    assert odd.report(tmp_path / "sub" / "mine.html") == tmp_path / "sub" / "mine.html"
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["mine.html"]


@pytest.mark.parametrize("name", ["thesis.txt", "README.txt"])
def test_a_folder_with_other_things_is_refused(odd, tmp_path, name):
    (tmp_path / name).write_bytes(b"\xff\xfe\x00")  # no text
    with pytest.raises(StoreError, match="holds other things; choose a new or empty folder"):
        odd.report(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


# Sweeps.


@pytest.fixture(scope="module")
def swept():
    sweeps = [nsb.sweep("beta-swts", window=[20, 60, 200]), nsb.sweep("sw-ucb", window=[20, 200]), "ts"]
    return nsb.compare([WORLD, worlds.Piecewise(n_arms=3, horizon=300)], sweeps, runs=5, progress=False)


def sweeps_on(swept, world):
    """The sweeps as the figure shows them."""
    (experiment,) = swept.results.study.experiments
    return swept_on(swept.results, experiment, swept.world_specs[world])


def test_the_best_of_a_sweep_is_among_the_curves(swept):
    axes = next(axes for axes in swept.plot().axes if axes.get_title("left") == "abrupt")
    ends = {label: runs.final.mean() for label, runs in swept.runs["abrupt"].items()}
    best = [min((each for each in ends if each.startswith(name)), key=ends.get) for name in ("beta-swts", "sw-ucb")]
    assert {text.get_text().split()[0] for text in axes.texts} >= {"ts", *best}


def test_the_swept_parameter_is_a_column(swept):
    frame = swept.curves()
    values = frame.groupby("agent", observed=True)["window"].first()
    assert values["beta-swts:window=60"] == 60
    assert np.isnan(values["ts"])


def test_the_figure_shows_means_and_bootstrap_intervals(swept):
    axes = next(axes for axes in swept.plot().axes if axes.get_title("left") == "abrupt: window")
    beta = sweeps_on(swept, 0)[0]
    np.testing.assert_allclose(axes.lines[0].get_xydata(), np.column_stack((beta.values, np.mean(beta.finals, axis=1))))
    band = axes.patches[0].get_xy()[:3, 1]  # the upper end
    rng = np.random.default_rng(0)
    for top, finals in zip(band, beta.finals, strict=True):
        drawn = rng.choice(finals, (RESAMPLES, 5)).mean(axis=1)
        assert top == pytest.approx(np.quantile(drawn, 0.975), abs=0.1 * finals.std())


# Workers.


WORLDS = ["piecewise:horizon=300,n_arms=4", np.tile([[0.2, 0.8], [0.7, 0.1]], (100, 1))]
AGENTS = ["beta-swts", "glr-ts:blind=true", InTurn, ("sw-ucb", {"window": 50})]


@pytest.fixture(scope="module")
def expected():
    return nsb.compare(WORLDS, AGENTS, runs=30, seed=3, progress=False)


def assert_same(found, expected):
    assert found.worlds == expected.worlds
    for world, runs in expected.runs.items():
        assert list(found.runs[world]) == list(runs)
        for agent, each in runs.items():
            other = found.runs[world][agent]
            assert_same_runs(other, each)
            assert other.parameters == each.parameters


@pytest.mark.parametrize("executor", ["processes", ThreadPoolExecutor(2)], ids=["processes", "of the user"])
def test_whoever_plays_the_runs_are_the_same(executor, expected):
    told = []
    found = nsb.compare(
        WORLDS,
        AGENTS,
        runs=30,
        seed=3,
        executor=executor,
        n_jobs=2,
        progress=lambda done, total: told.append((done, total)),
    )
    assert_same(found, expected)
    assert told == [(done, 240) for done in range(1, 241)]


def test_the_rounds_that_are_asked_for():
    options = {"runs": 3, "rounds": [10, 20], "progress": False}
    found = nsb.compare(WORLDS[0], "ts", executor="threads", n_jobs=1, **options)
    assert found.runs[found.worlds[0]]["ts"].rounds.tolist() == [10, 20, 300]


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
def test_an_agent_that_fails_is_named_with_its_traceback(executor):
    with pytest.raises(RuntimeError) as caught:
        nsb.compare(WORLDS[0], ["ts", Broken], runs=2, executor=executor, n_jobs=1, progress=False)
    said = str(caught.value)
    assert said.startswith("1 of 2 units failed, such as Broken on piecewise, runs 0-1 (LookupError")
    assert "LookupError: no idea (own_players.py, line " in said
    assert "Traceback" in caught.value.__notes__[0]


SCRIPT = """
from dataclasses import dataclass
import numpy as np
import ns_mab_gym as nsb

@dataclass(frozen=True, kw_only=True)
class Flat(nsb.worlds.World):
    horizon: int = 40
    n_arms = 2
    def _means(self, rng):
        return np.tile([0.3, 0.7], (self.horizon, 1))

class Own(nsb.agents.UCB1):
    pass

if __name__ == "__main__":
    nsb.worlds.register("flat", Flat)
    nsb.agents.register("own", Own)
    here, there = (nsb.compare("flat", ["own", Own(2)], runs=3, progress=False, executor=executor, n_jobs=2)
                   for executor in (None, "processes"))
    for agent in here.agents:
        np.testing.assert_array_equal(here.runs["flat"][agent].regret, there.runs["flat"][agent].regret)
    print("equal")
"""


def test_classes_of_a_script_travel_to_processes(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=240)
    assert done.stdout == "equal\n", done.stderr
