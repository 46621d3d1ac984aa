"""What is left of a study when units fail: no agent that lacks runs, and no comparison with one."""

from dataclasses import replace

from ns_mab_gym.specs import BLIND, AgentSpec, WorldSpec
from ns_mab_gym.studies.failures import remains_of
from ns_mab_gym.studies.runner import Failure
from ns_mab_gym.studies.study import Experiment, Study, units_of


def of(study, *pairs, first_run=0):
    """What is left if these pairs of the labels of agent and world fail."""
    failed = [
        Failure(unit, 3, "it broke", "")
        for experiment in study.experiments
        for unit in units_of(Study("", (experiment,)))
        for agent in experiment.agents
        for world in experiment.worlds
        if (agent.label, world.label) in pairs
        and (unit.agent.text, unit.world.text, unit.first_run) == (agent.text, world.text, first_run)
    ]
    return remains_of(study, failed)


A, B = (WorldSpec.of(name, label=name) for name in ("abrupt", "smooth"))


def experiment_of(*labels, worlds=(A, B), **options):
    blind = [label.endswith(BLIND) for label in labels]
    entries = [AgentSpec.of("ts", label=label, window=n, blind=blind[n]) for n, label in enumerate(labels)]
    return Experiment(worlds=worlds, agents=tuple(entries), runs=50, **options)


def labels_of(study):
    return [[agent.label for agent in each.agents] for each in study.experiments]


def test_without_failures_the_study_is_the_same():
    study = Study("s", (experiment_of("a", "b"),))
    assert remains_of(study, []).study is study


def test_every_experiment_loses_the_agents_that_failed_in_it_and_no_others():
    study = Study("s", (experiment_of("a", "b", worlds=(A,)), experiment_of("a", "b", worlds=(B,))))
    found = of(study, ("a", "abrupt"))
    assert labels_of(found.study) == [["b"], ["a", "b"]]
    assert [experiment.reference for experiment in found.study.experiments] == ["b", "a"]
    assert (found.left_out, found.references, found.dropped) == (["a"], {"a": "b"}, [])
    assert [str(gap) for gap in found.gaps] == ["a on abrupt, runs 0-24 (it broke)"]


def test_the_reference_stays_unless_it_failed_itself():
    study = Study("s", (experiment_of("a", "b", "c", reference="c"),))
    assert [of(study, (failed, "abrupt")).study.experiments[0].reference for failed in "abc"] == ["c", "c", "a"]


def test_who_needs_no_such_unit_loses_nothing():
    few = experiment_of("a", "b")
    study = Study("s", (few, replace(few, runs=75)))
    assert labels_of(of(study, ("a", "abrupt"), first_run=50).study) == [["a", "b"], ["b"]]
    assert labels_of(of(study, ("a", "abrupt"), first_run=25).study) == [["b"], ["b"]]


def test_a_unit_that_two_entries_share_takes_both_with_it():
    first, second = experiment_of("a", "b"), experiment_of("a again", "c", worlds=(A,))
    found = of(Study("s", (first, second)), ("a", "abrupt"))
    assert labels_of(found.study) == [["b"], ["c"]]
    assert found.left_out == ["a", "a again"]


def test_other_readings_go_with_their_agent_but_not_the_agent_with_them():
    a, b, other = experiment_of("a", "b", "a, read otherwise").agents
    study = Study("s", (Experiment(worlds=(A,), agents=(a, b, replace(other, stands_for="a")), runs=50),))
    assert labels_of(of(study, ("a", "abrupt")).study) == [["b"]]
    assert labels_of(of(study, ("a, read otherwise", "abrupt")).study) == [["a", "b"]]


def test_a_survey_loses_both_forms_of_an_agent():
    """A blind form that is not there would be taken for one that makes no difference."""
    survey = experiment_of("a", "a" + BLIND, "b", worlds=(A,), survey=True)
    beside = experiment_of("x", "y", "z", "c", worlds=(A,))
    study = Study("s", (replace(beside, agents=beside.agents[3:], reference=""), survey))
    for failed in ("a", "a" + BLIND):
        assert labels_of(of(study, (failed, "abrupt")).study) == [["c"], ["b"]]


def test_an_experiment_without_agents_goes_and_a_survey_with_what_it_stands_beside():
    two, survey = experiment_of("a", "b", worlds=(A,)), experiment_of("a", "b", "c", worlds=(B,), survey=True)
    others = [replace(each, agents=each.agents[-1:], reference="") for each in (two, survey)]
    study = Study("s", (experiment_of("a"), *others))
    found = of(study, ("a", "smooth"))
    assert labels_of(found.study) == [["b"]]
    assert found.dropped == ["smooth"]
    assert "Nothing is left on smooth." in found.in_words()
