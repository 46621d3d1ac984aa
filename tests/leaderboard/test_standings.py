"""Ranks, intervals and ratios of the leaderboard, on tables small enough to check by hand or by brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from ns_mab_gym.leaderboard.plan import GAUSSIAN, BoardWorld
from ns_mab_gym.leaderboard.ranks import (
    AS_STATED,
    Division,
    family_weights,
    findings_of,
    leader_on,
    orders_of,
    resampled_weights,
    standings_of,
)
from ns_mab_gym.specs import WorldSpec

RUNS = 40


def world(label, family, topic="some"):
    return BoardWorld(WorldSpec.of("piecewise", label=label, group=family), topic)


def table(regrets, worlds, *, name="informed", variants=(), noise=0.0, phased=()):
    """A division whose mean regrets are these; the same noise for every agent in a run, so that they are paired."""
    luck = np.random.default_rng(1).uniform(-noise, noise, RUNS)
    luck -= luck.mean()
    finals = {
        (agent, each.label): value * (1 + luck)
        for agent, values in regrets.items()
        for each, value in zip(worlds, values, strict=True)
        if value is not None
    }
    known = {"oracle-restart": 10.0, "random": 1000.0}
    references = {(agent, each.label): np.full(RUNS, regret) for agent, regret in known.items() for each in worlds}
    competes = [agent not in variants for agent in regrets]
    return Division(name, worlds, list(regrets), competes, finals, references, frozenset(phased))


ONE, TWO, THREE = world("one", "a"), world("two", "b"), world("three", "b")


def test_equal_agents_are_rarely_distinct_names():
    """Of ten equal agents one is the best by luck; in at most 5 % of 100 tables is anybody told apart from it.

    Intervals that were not made for all pairs would do so in half of them. The margin is 3 standard errors of 5 %.
    """
    names, told = [f"agent {number}" for number in range(10)], 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        equal = table({key: [100.0] for key in names}, [ONE])
        finals = {key: rng.normal(100, 10, RUNS) for key in equal.finals}
        leader = leader_on(replace(equal, finals=finals), [ONE])
        told += len(leader.alike) < len(names) - 1
    assert told <= 100 * 0.05 + 3 * math.sqrt(100 * 0.05 * 0.95)


def test_mean_ranks_weigh_families_and_not_worlds():
    """Ranks: x 1, 3, 2; y 2, 1, 1; z 3, 2, 3. Family a has one world, b two: x (1 + 2.5)/2, y (2 + 1)/2, z 2.75."""
    found = standings_of(table({"x": [10, 30, 20], "y": [20, 10, 10], "z": [30, 20, 30]}, [ONE, TWO, THREE]))
    assert [(row.label, row.place, row.rank) for row in found.rows] == [("y", 1, 1.5), ("x", 2, 1.75), ("z", 3, 2.75)]
    first = found.rows[0]
    assert first.to_best == pytest.approx(math.exp((math.log(2) + 0) / 2))
    assert (first.best_on, first.close_on, first.worst, first.worst_on) == (2, 3, 2.0, "one")


def test_ties_share_a_place():
    found = standings_of(table({"x": [10], "y": [10], "z": [20]}, [ONE]))
    assert [(row.label, row.place, row.rank) for row in found.rows] == [("x", 1, 1.5), ("y", 1, 1.5), ("z", 3, 3.0)]


def test_who_misses_a_world_that_counts_has_no_place_and_gaussian_worlds_do_not_count():
    outside = world("normal", GAUSSIAN)
    found = table({"x": [10, 20, None], "y": [20, 10, 5], "z": [1, None, 1]}, [ONE, TWO, outside])
    assert found.ranked == ["x", "y"]
    assert [found.worlds[number].label for number in found.counting] == ["one", "two"]
    ranks = {row.label: row.rank for row in standings_of(found).rows}
    assert ranks == {"x": 1.5, "y": 1.5}
    np.testing.assert_allclose(found.to_best, [[10, 2, np.nan], [20, 1, 5], [1, np.nan, 1]])


def test_a_further_form_moves_nobody():
    regrets = {"x": [10.0, 30.0], "x (other)": [11.0, 29.0], "y": [12.0, 10.0]}
    with_form = standings_of(table(regrets, [ONE, TWO], variants=("x (other)",), phased=("one", "two")))
    del regrets["x (other)"]
    without = standings_of(table(regrets, [ONE, TWO], phased=("one", "two")))
    assert with_form.rows == without.rows


def test_the_ratio_to_the_oracle_is_of_worlds_with_phases_alone():
    found = table({"x": [20, 40, 80]}, [ONE, TWO, THREE], phased=("one", "three"))
    np.testing.assert_allclose(found.to_oracle, [[2, np.nan, 8]])
    assert standings_of(found).rows[0].to_oracle == pytest.approx(4.0)  # √(2 · 8)
    assert math.isnan(standings_of(table({"x": [20]}, [ONE])).rows[0].to_oracle)


def test_resampled_weights_have_the_law_of_two_draws():
    """Every outcome of drawing two families, then worlds within each, has its chance within 4 standard errors."""
    families = ["a", "b", "b"]
    outcomes = []
    for drawn in itertools.product("ab", repeat=2):
        choices = [[(0,)] if family == "a" else list(itertools.product((1, 2), repeat=2)) for family in drawn]
        for picked in itertools.product(*choices):
            weights, chance = np.zeros(3), 1 / 4
            for worlds in picked:
                chance /= 1 if len(worlds) == 1 else 4
                for each in worlds:
                    weights[each] += 1 / 2 / len(worlds)
            outcomes.append((chance, weights))
    assert sum(chance for chance, _ in outcomes) == 1
    sampled = resampled_weights(families, 20_000)
    np.testing.assert_allclose(sampled.sum(axis=1), 1.0)
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        for column in range(3):
            chance = sum(p for p, weights in outcomes if weights[column] == value)
            share = np.isclose(sampled[:, column], value).mean()
            assert abs(share - chance) <= 4 * math.sqrt(max(chance * (1 - chance), 1e-9) / 20_000)
    np.testing.assert_allclose(family_weights(families), sum(p * weights for p, weights in outcomes))


def test_agents_are_alike_unless_every_family_agrees():
    worlds = [world(str(number), f"family {number}") for number in range(8)]
    up_and_down = [11.0 if number % 2 else 9.0 for number in range(8)]
    found = standings_of(table({"x": [10.0] * 8, "y": up_and_down, "z": [50.0] * 8}, worlds))
    at = {row.label: number for number, row in enumerate(found.rows)}
    assert found.alike[at["x"], at["y"]]
    assert not found.alike[at["x"], at["z"]]
    assert found.groups == [(0, 1)]
    assert found.rows[at["z"]].low == found.rows[at["z"]].high == 3.0


def test_the_other_rules_differ_where_they_should():
    regrets = {"often": [10, 10, 90], "steady": [11, 11, 11], "never": [99, 99, 99]}
    worlds = [world("1", "a"), world("2", "a"), world("3", "b")]
    rules = dict(orders_of(table(regrets, worlds)))
    assert rules[AS_STATED][0] == "often"  # (1 + 2)/2 each; ties keep the order of the table
    assert rules["mean rank, every world with the same weight"] == ["often", "steady", "never"]
    assert rules["geometric mean of regret / best"][0] == "steady"
    assert rules["largest regret / best on any world"][0] == "steady"


def test_halves_of_the_runs_are_compared():
    found = table({"x": [10.0], "y": [20.0]}, [ONE])
    found.finals["x", "one"][RUNS // 2 :] = 40.0
    ordered = standings_of(found)
    by_label = {row.label: (ordered.halves[0][n], ordered.halves[1][n]) for n, row in enumerate(ordered.rows)}
    assert by_label == {"x": (1.0, 2.0), "y": (2.0, 1.0)}
    assert "moves most, by 1 places" in findings_of([ordered]).stability["informed"]


# The guide.


def test_the_leader_is_told_apart_only_from_those_it_beats_in_every_way():
    found = table({"x": [10, 10], "twin": [10, 10], "behind": [20, 20], "mixed": [5, 40]}, [TWO, THREE], noise=0.3)
    leader = leader_on(found, [TWO, THREE])
    assert leader.label == "x"
    assert leader.alike == ("twin", "mixed")  # as good, and better on one of two worlds
    assert leader.to_chance == pytest.approx(0.01)


def test_a_further_form_leads_nowhere_and_is_no_measure_for_others():
    found = table({"x": [10.0], "x (other)": [5.0], "y": [20.0]}, [ONE], variants=("x (other)",))
    leader = leader_on(found, [ONE])
    assert (leader.label, leader.alike) == ("x", ())
    np.testing.assert_allclose(found.to_best, [[1.0], [0.5], [2.0]])


def test_pairs_of_runs_are_told_apart_though_single_runs_scatter():
    """A tenth more regret on the same luck, of which a run has between none and twice the mean."""
    assert leader_on(table({"x": [10.0], "y": [11.0]}, [ONE], noise=1.0), [ONE]).alike == ()


def test_sentences_follow_the_table():
    worlds = [world("one", "a", "few changes"), world("two", "b", "slow drift")]
    before = findings_of([standings_of(table({"x": [10, 10], "y": [20, 20]}, worlds))])
    after = findings_of([standings_of(table({"x": [20, 10], "y": [10, 60]}, worlds))])
    assert [each.topic for each in before.advice] == ["few changes", "slow drift"]
    said = "Informed: x (1% of the regret of random play), ahead of all others beyond luck."
    assert before.advice[0].sentence == said
    assert "Informed: y (1%" in after.advice[0].sentence
    assert before.advice[1].sentence == after.advice[1].sentence
    assert (
        "use x: it has the best mean rank of 2 agents (1.0, interval 1.0 to 1.0), was best on 2 of 2"
        in before.general[0]
    )
    assert "at worst 2.0 times (one)" in after.general[0]
    assert before.general != after.general
    assert before.general[1].startswith("The safest informed agent is x (place 1)")
    assert after.general[1].startswith("The safest informed agent is x (place 1): it had at most 2 times")


def test_knowledge_is_worth_what_the_two_divisions_differ_by():
    told, blind = ({"x": [10, 10], "y": [30, 30], "z": [7, 7]}, {"x": [20, 20], "y": [20, 20], "z": [7, 7]})
    tables = [table(told, [ONE, TWO]), table(blind, [ONE, TWO], name="blind")]
    last = findings_of([standings_of(each) for each in tables]).general[-1]
    assert "lowers the regret of x (50% of its blind regret" in last
    assert "raises that of y (150%) the most" in last
    assert "1 of 3 agents make no use" in last
