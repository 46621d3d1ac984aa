"""The first screen's data: final regrets, places, parameters."""

import numpy as np

from ns_mab_gym.experiments import AgentEntry, Experiment, Results, Study, WorldEntry
from ns_mab_gym.experiments.report.overview import Overview, column_of, overview_of
from ns_mab_gym.experiments.report.page_tables import parameters_in_words, played_with
from ns_mab_gym.experiments.report.sections import Sections

from . import by_hand


def overview(results: Results) -> Overview:
    worlds = results.study.worlds
    sections = Sections(results, dict.fromkeys(world.label for world in worlds), ())
    columns = [column_of(results, sections.of(number, world)) for number, world in enumerate(worlds)]
    return overview_of(columns, {label for world in worlds for label in results.notes(world)})


def test_places_regrets_and_parameters_of_each_world():
    here, there = overview(by_hand.results()).columns
    assert here.places == {"a": 2, "b": 3, "c": 1}  # 200, 250, 160
    assert there.places == {"a": 2, "b": 1, "c": 3}  # 20, 10, 30
    # Deviations of ±100 give sd 100, and a standard error of 100 / √3 = 57.7; of ±10, 5.77.
    assert (here.standings["a"].regret, there.standings["a"].regret) == ("200 ± 58", "20 ± 5.8")
    assert (here.standings["b"].parameters, here.others[by_hand.BOLD].parameters) == ("τ = 5", "τ = 9,000")


def test_the_winner_of_each_world_its_lead_and_the_mean_place_over_all():
    found = overview(by_hand.results())
    assert found.mean_places == {"a": 2.0, "b": 2.0, "c": 2.0}  # 2 and 2, 3 and 1, 1 and 3
    here, there = (column.lead for column in found.columns)
    assert here is not None
    assert there is not None
    assert (here.winner, here.second, here.margin.mean) == ("c", "a", 40.0)  # 0, 20 and 100 less
    assert (there.winner, there.second, there.margin.mean) == ("b", "a", 10.0)  # 5, 10 and 15 less
    assert str(there).startswith("10 less than a (95 % interval 5")
    assert "which may be luck" in str(here)  # a bootstrap sample of three can be the run without a lead, three times


def test_a_winner_needs_a_second_and_can_be_level_with_it():
    world = WorldEntry.of("NSBandit-Abrupt-v0", label="here", horizon=by_hand.HORIZON)
    agents = {label: AgentEntry.of("ts", label=label) for label in "xy"}
    study = Study("s", (Experiment(worlds=(world,), agents=tuple(agents.values())),))
    curves = {label: by_hand.runs_with([1.0, 3.0]) for label in agents}
    (column,) = overview(Results(study, {"here": curves}, {"here": agents})).columns
    assert str(column.lead) == "level with y"
    alone = Study("s", (Experiment(worlds=(world,), agents=(agents["x"],)),))
    (column,) = overview(Results(alone, {"here": curves}, {"here": agents})).columns
    assert column.lead is None


def test_parameters_that_differ_between_runs_are_shown_as_a_span():
    runs = [{"n_arms": 3, "window": 493, "base": "a"}, {"n_arms": 3, "window": 210, "base": "b"}]
    assert parameters_in_words(played_with(runs)) == "τ = 210 to 493, base = differs from run to run"
    assert parameters_in_words(played_with([{"gamma": 0.5}, {"gamma": 0.25}])) == "γ = 0.25 to 0.5"
    assert parameters_in_words(played_with([{"gamma": None}, {"gamma": 0.25}])) == "γ = differs from run to run"


def test_other_readings_have_no_row_but_are_known_where_they_were_run():
    found = overview(by_hand.results())
    assert found.labels == ["a", "b", "c"]
    here, there = found.data()["worlds"]
    assert (here[by_hand.BOLD][:2], list(there)) == ([50.0, "50 ± 5.8"], ["a", "b", "c"])


def test_the_first_experiment_that_varies_nothing_within_families_stands_for_a_world():
    world = WorldEntry.of("NSBandit-Abrupt-v0", label="here", horizon=by_hand.HORIZON)
    family = tuple(AgentEntry.of("ts", label=f"f {n}", group="f") for n in range(2))
    plain = AgentEntry.of("ts", label="plain", note="said")
    experiments = tuple(Experiment(worlds=(world,), agents=agents) for agents in (family, (plain,)))
    agents = {agent.label: agent for agent in (*family, plain)}
    curves = {label: by_hand.runs_with([1, 2]) for label in agents}
    (column,) = overview(Results(Study("s", experiments), {"here": curves}, {"here": agents})).columns
    assert (list(column.standings), column.chart) == (["plain"], "regret-0-1")
    alone = overview(Results(Study("s", experiments[:1]), {"here": curves}, {"here": agents}))
    assert (alone.labels, alone.columns[0].chart) == (["f 0", "f 1"], "regret-0-0")  # one chart with all families


def test_agents_with_equal_means_share_a_place_and_a_row_has_its_own_line():
    world = WorldEntry.of("NSBandit-Abrupt-v0", label="here", horizon=by_hand.HORIZON)
    agents = {label: AgentEntry.of("ts", label=label) for label in "xyz"}
    curves = {
        label: by_hand.runs_with(list(finals)) for label, finals in zip("xyz", [(1, 3), (2, 2), (9, 9)], strict=True)
    }
    study = Study("s", (Experiment(worlds=(world,), agents=tuple(agents.values())),))
    found = overview(Results(study, {"here": curves}, {"here": agents}))
    assert found.columns[0].places == {"x": 1, "y": 1, "z": 3}
    assert len({(row.line["color"], row.line["dash"]) for row in found.rows}) == 3
    assert np.isclose(found.columns[0].standings["x"].mean, 2.0)
