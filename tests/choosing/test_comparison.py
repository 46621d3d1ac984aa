"""Comparisons: the runs are those of ``simulate``, and what is said of them follows from the runs alone."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.figures.style import save_as

ABRUPT = ("NSBandit-Abrupt-v0", {"horizon": 400})
DRAWN = ("piecewise", {"n_arms": 3, "horizon": 200})
SLOW = "generic Python loop"


class Stubborn:
    """Plays one arm for ever, without a compiled form."""

    def __init__(self, n_arms: int, arm: int = 0) -> None:
        self.n_arms, self.arm, self.seeds = n_arms, arm, []

    def reset(self, seed=None):
        self.seeds.append(seed)

    def act(self, observation=None):
        return self.arm

    def observe(self, arm, reward):
        pass


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


def test_worlds_of_every_kind_play_the_same_means(tmp_path):
    means = worlds.Abrupt(horizon=60).means()
    table = tmp_path / "means.csv"
    table.write_text("\n".join(",".join(map(repr, row)) for row in means.tolist()))
    np.savez(tmp_path / "means.npz", means)
    kinds = [
        ("NSBandit-Abrupt-v0", {"horizon": 60}), worlds.Abrupt(horizon=60), (worlds.Abrupt, {"horizon": 60}),
        ("abrupt", {"horizon": 60}), "abrupt:horizon=60", means, means.tolist(), table, str(table),
        str(tmp_path / "means.npz"), gym.make("NSBandit-Abrupt-v0", horizon=60), (means, {"reward": "bernoulli"}),
    ]  # fmt: skip
    result = compare(kinds, ["ts"], runs=2)
    assert len(set(result.worlds)) == len(kinds)
    expected = nsb.simulate("NSBandit-Abrupt-v0", "ts", env_kwargs={"horizon": 60}, runs=2).regret
    for world in result.worlds:
        np.testing.assert_array_equal(result.runs[world]["ts"].regret, expected)


def test_agents_of_every_kind_play_the_same_rule():
    kinds = [
        "beta-swts:window=20", ("beta-swts", {"window": 20}), (agents.BetaSWTS, {"window": 20}),
        agents.BetaSWTS(10, window=20), ("ns_mab_gym.agents.beta_swts:BetaSWTS", {"window": 20}),
        nsb.sweep("beta-swts", window=[20]),
    ]  # fmt: skip
    result = compare(ABRUPT, kinds, runs=2)
    assert len(set(result.agents)) == len(kinds)
    [played] = result.runs.values()
    for runs in played.values():
        np.testing.assert_array_equal(runs.regret, next(iter(played.values())).regret)


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


@pytest.mark.filterwarnings(f"ignore:.*{SLOW}")
@pytest.mark.parametrize(("blind", "arm"), [(False, 3), (True, 0)])
def test_blind_agents_are_told_the_horizon_and_the_arms_alone(blind, arm):
    result = compare(ABRUPT, [Curious, ("ts", {"blind": False})], runs=1, blind=blind)
    assert result.runs["NSBandit-Abrupt-v0"]["Curious"].pulls[0, arm] == 400
    assert [each.parameters for each in result.competitors] == [{"blind": True} if blind else {}, {"blind": False}]


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
    monkeypatch.setattr("ns_mab_gym.choosing.contests.find_spec", lambda name: None)
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
    assert [line.split()[0] for line in str(result).split("mean place")[1].splitlines()[2:4]] == ["ucb1", "random"]
    with pytest.raises(ValueError, match="worlds that nobody can play"):
        compare(drifting, "ts", on_misfit="skip")


@pytest.mark.parametrize(
    ("worlds_", "agents_", "settings", "error", "message"),
    [
        (ABRUPT, [], {}, ValueError, "no agent to compare; name at least one"),
        ([], "ts", {}, ValueError, "no world to compare on; name at least one"),
        (ABRUPT, "beta-swt", {}, ValueError, "unknown agent 'beta-swt'; did you mean 'beta-swts'"),
        ("NSBandit-Abrup-v0", "ts", {}, ValueError, "unknown world 'NSBandit-Abrup-v0'; did you mean"),
        (ABRUPT, ("beta-swts", {"windw": 5}), {}, TypeError, "'beta-swts' has no parameter 'windw'; did you mean"),
        (ABRUPT, ("beta-swts", {"window": -5}), {}, ValueError, "window must be a positive integer, got -5"),
        (ABRUPT, [(agents.BetaSWTS(3, window=2), {"window": 5})], {}, TypeError, "parameters go with a name or a"),
        (ABRUPT, None, {}, TypeError, "cannot compare None; an agent is a name"),
        (ABRUPT, [dict], {}, TypeError, r"dict is no agent: it has no reset\(\)"),
        (ABRUPT, {"": "ts"}, {}, TypeError, "label of an agent is a text that is not empty"),
        (ABRUPT, [{"a": "ts"}, {"a": "random"}], {}, ValueError, "2 agents are labelled 'a'; give each"),
        ({5: ABRUPT}, "ts", {}, TypeError, "label of a world is a text"),
        (7, "ts", {}, TypeError, "cannot compare 7; a world is an id"),
        ({"bad": [[0.1, 0.2], [np.nan, 0.3]]}, "ts", {}, ValueError, "world 'bad': .*NaN.*round 2, arm 1"),
        (np.ones(3), "ts", {}, ValueError, "world 'array': .*T rounds by K arms"),
        ("nowhere.csv", "ts", {}, ValueError, "world 'nowhere.csv': no file"),
        ("Pendulum-v1", "ts", {}, TypeError, "world 'Pendulum-v1': .*Discrete"),
        (ABRUPT, "ts", {"runs": 0}, ValueError, "runs must be a positive integer, got 0"),
        (ABRUPT, "ts", {"n_jobs": 0}, ValueError, "n_jobs must be a positive integer"),
        (ABRUPT, "ts", {"rounds": [1, 500]}, ValueError, "horizon of NSBandit-Abrupt-v0, 400; got 500"),
        (ABRUPT, "ts", {"on_misfit": "skp"}, ValueError, "unknown way to treat misfits"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(worlds_, agents_, settings, error, message):
    with pytest.raises(error, match=message):
        compare(worlds_, agents_, **settings)


class Breaking(Stubborn):
    """Fails in its first round."""

    def act(self, observation=None):
        raise RuntimeError("lost")


@pytest.mark.filterwarnings(f"ignore:.*{SLOW}")
def test_an_error_in_play_says_who_played_where():
    with pytest.raises(RuntimeError, match="lost") as caught:
        compare(DRAWN, {"mine": Breaking}, runs=1, n_jobs=1)
    assert caught.value.__notes__ == ["while mine played on piecewise"]


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


def test_the_mean_place_is_the_mean_of_the_places(found):
    places = {agent: [] for agent in found.agents}
    for world in found.worlds:
        finals = {agent: runs.final.mean() for agent, runs in found.runs[world].items()}
        for agent in places:
            places[agent].append(1 + sum(other < finals[agent] for other in finals.values()))
    lines = str(found).split("mean place over 2 worlds\n")[1].splitlines()[1:4]
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
    with pytest.raises(ValueError, match=r"written as \.png or \.svg"):
        found.plot(tmp_path / "found.txt")
    save_as(figure, Path(tmp_path / "again.png"))
