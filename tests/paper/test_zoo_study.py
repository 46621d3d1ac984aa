"""The survey of the zoo on the paper's worlds: who is in it, informed and blind."""

from __future__ import annotations

import pytest

from ns_mab_gym import agents
from ns_mab_gym.paper import study
from ns_mab_gym.paper.readings import ABRUPT, ALGORITHMS, SMOOTH
from ns_mab_gym.paper.study import survey
from ns_mab_gym.studies.study import LEFT_OUT, REFERENCES, blocks_of, units_of

WORLDS = study.worlds(2_000)


@pytest.fixture(scope="module")
def surveys():
    return {label: survey(study.comparison(world, 2_000, 3)) for label, world in WORLDS.items()}


def test_every_agent_of_the_house_is_in_it(surveys):
    for each in surveys.values():
        assert {entry.name for entry in each.agents} == set(agents.HOUSE) - set(LEFT_OUT)
        assert each.survey


def test_the_papers_own_are_the_very_runs_of_the_comparison(surveys):
    for label, world in WORLDS.items():
        compared = study.comparison(world, 2_000, 3)
        own = {entry.label: entry for entry in surveys[label].agents if entry.label in ALGORITHMS}
        assert own == {entry.label: entry for entry in compared.ranked}
        wanted = {unit for entry in compared.ranked for unit in blocks_of(compared, world, entry)}
        mine = {unit for entry in own.values() for unit in blocks_of(surveys[label], world, entry)}
        assert mine == wanted


def test_blind_entries_are_there_exactly_where_blindness_changes_the_parameters(surveys):
    """On the abrupt world Υ = 3 is known to cusum-ucb; nothing is known to ts, and the references have no twin."""
    labels = {entry.label for entry in surveys[ABRUPT].agents}
    assert {"cusum-ucb, blind", "Rexp3, blind", "m-ucb, blind", "switching-ts, blind"} <= labels
    assert "TS, blind" not in labels
    assert not {f"{name}, blind" for name in REFERENCES} & labels
    assert "SW-KL-UCB, blind" not in labels  # σ = 0.001 in any case
    assert "SW-KL-UCB, blind" in {entry.label for entry in surveys[SMOOTH].agents}  # where σ = 0.0001 is told


def test_a_blind_entry_says_so_in_its_words(surveys):
    for entry in surveys[ABRUPT].agents:
        assert entry.blind == entry.label.endswith(", blind")
        assert ("blind=true" in entry.text) == entry.blind


def test_it_is_part_of_the_study_unless_left_out():
    with_zoo, without = (study.study(3, 2_000, zoo=zoo) for zoo in (True, False))
    assert [each.survey for each in without.experiments] == [False] * 8
    assert [each.survey for each in with_zoo.experiments] == [False] * 8 + [True] * 4
    assert set(units_of(without)) < set(units_of(with_zoo))
