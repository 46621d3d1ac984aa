"""Figures of a study: their names, and the files that are drawn."""

import numpy as np
import pytest

from ns_mab_gym.runs import Runs
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies import pictures
from ns_mab_gym.studies.results import collect
from ns_mab_gym.studies.study import Experiment, Study


def runs(unit):
    rounds = np.arange(1, 11) * 10
    regret = np.cumsum(np.random.default_rng(len(unit.agent.text)).random((unit.runs, 10)), axis=1)
    pulls = np.full((unit.runs, 2), 50)
    return Runs(rounds, regret, pulls, pulls, [(0, 0)] * unit.runs, [dict(unit.agent.kwargs)] * unit.runs, 0.1)


@pytest.fixture
def drawn_study():
    worlds = (WorldSpec.of("stationary", label="A"), WorldSpec.of("rising", label="a"))  # alike as names of files
    families = tuple(AgentSpec.of("ts", label=f"TS {w}", group="TS", window=w) for w in (1, 2))
    return Study(
        "test",
        (
            Experiment(worlds=worlds, agents=(AgentSpec.of("ts"), AgentSpec.of("random")), runs=30),
            Experiment(worlds=worlds[:1], agents=families, runs=5),
        ),
    )


MEANS = {"A": np.array([[0.1, 0.9]] * 100), "a": None}
NAMES = ["a-means", "a-regret", "a-regret-2", "a-sensitivity"]  # of the world "a" the means are not known


def test_every_figure_is_drawn_where_there_is_something_to_show(drawn_study, tmp_path):
    found = pictures.draw(collect(drawn_study, runs), MEANS, tmp_path)
    assert {path.name for path in found.files} == {f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")}
    assert all(path.is_file() for path in found.files)


def test_every_figure_of_a_study_has_a_name_of_its_own(drawn_study):
    names = [figure.name for figure in pictures.planned(drawn_study)]
    assert names == ["a-means", "a-means-2", "a-regret", "a-regret-2", "a-sensitivity"]


def test_families_have_a_figure_beside_that_of_all_agents():
    world = WorldSpec.of("a", label="A")
    plain, family = AgentSpec.of("ts"), AgentSpec.of("ts", label="TS 1", group="TS", window=1)
    for experiments, names in (
        ([(plain, family)], ["a-means", "a-regret", "a-sensitivity"]),  # not all agents have a family
        ([(family,)], ["a-means", "a-regret", "a-sensitivity"]),  # no other figure shows them all
        ([(plain,), (family,)], ["a-means", "a-regret", "a-sensitivity"]),
        ([(plain,), (plain, family)], ["a-means", "a-regret", "a-regret-2", "a-sensitivity"]),
    ):
        study = Study("s", tuple(Experiment(worlds=(world,), agents=agents) for agents in experiments))
        assert sorted(figure.name for figure in pictures.planned(study)) == names
        assert sum(figure.alarms for figure in pictures.planned(study)) == len(experiments)


def test_the_explanations_are_files_with_descriptions(tmp_path):
    found = pictures.draw(collect(Study("none", ()), None), {}, tmp_path, explained=True).explanations
    assert [path.suffix for path, _ in found] == [".svg", ".svg"]
    assert all(path.is_file() and description for path, description in found)
