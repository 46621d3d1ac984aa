"""Figures of a study: their names, the files that are drawn, and those that need not be drawn again."""

import json
import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from ns_mab_gym.runs import Runs
from ns_mab_gym.specs import AgentSpec, WorldSpec, read_agents
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
    worlds = (WorldSpec.of("a", label="A"), WorldSpec.of("b", label="a"))  # alike as names of files
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


def version(unit):
    return "the code"


@pytest.fixture
def draw(tmp_path, monkeypatch):
    """A function that draws the figures of a study and returns the names of those that were drawn now."""
    saved = []
    save = pictures.save

    def noting(figure, folder, name):
        saved.append(name)
        return save(figure, folder, name)

    monkeypatch.setattr(pictures, "save", noting)

    def drawn(study, means=MEANS, anew=(), code=version):
        saved.clear()
        found = pictures.draw(collect(study, runs), means, tmp_path, anew, code=code)
        assert {path.name for path in found.files} == {f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")}
        assert all(path.is_file() for path in found.files)
        return list(saved)

    return drawn


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


def test_labels_alike_but_for_case_script_or_length_keep_their_figures_apart():
    labels = ["Shop", "shop", "магазин", "МАГАЗИН", "店", "?!", "!?", "été", "e\u0301te\u0301", "店" * 100, "店" * 101]
    worlds = tuple(WorldSpec.of("a", label=label) for label in labels)
    agents = (*read_agents("ts:window=1|2"), AgentSpec.of("random"))
    names = [figure.name for figure in pictures.planned(Study("s", (Experiment(worlds=worlds, agents=agents),)))]
    assert len(names) == 3 * len(labels)  # means, regret, sweep
    on_disk = {unicodedata.normalize("NFC", name).casefold() for name in names}  # as some file systems see them
    assert len(on_disk) == len(names)
    assert max(len(f"{name}-alarms.png".encode()) for name in names) < 100
    assert {"shop-means", "shop-means-2", "магазин-sweep-2", "店-regret", "world-means-2"} <= set(names)


def test_a_figure_whose_units_labels_and_code_are_the_same_is_not_drawn_again(draw, drawn_study, tmp_path):
    assert draw(drawn_study) == NAMES
    assert draw(drawn_study) == []
    (tmp_path / "a-regret.svg").unlink()
    assert draw(drawn_study) == ["a-regret"]
    assert draw(drawn_study, anew=["A"]) == ["a-means", "a-regret", "a-sensitivity"]
    assert draw(drawn_study, anew=["A"], code=lambda unit: f"edited {unit.agent.name}") == NAMES[1:]
    assert draw(drawn_study, means=MEANS | {"A": MEANS["A"] / 2}) == NAMES
    plain, family = drawn_study.experiments
    noted = replace(plain, agents=(replace(plain.agents[0], note="said"), plain.agents[1]))
    assert draw(Study("s", (noted, family)), means=MEANS | {"A": MEANS["A"] / 2}) == ["a-regret", "a-regret-2"]
    assert draw(drawn_study, code=None) == NAMES  # whose units are not known


def test_a_damaged_record_is_no_record(draw, drawn_study, tmp_path):
    draw(drawn_study)
    for content in ("", "[1]", '{"a-means": 3}', '{"a-means": ["x", ["../a"]]}'):
        (tmp_path / pictures.RECORD).write_text(content)
        assert draw(drawn_study) == NAMES
    assert sorted(json.loads((tmp_path / pictures.RECORD).read_text())) == sorted([*NAMES, "a-means-2"])


def test_what_was_not_finished_is_drawn_again(draw, drawn_study, monkeypatch):
    draw(drawn_study)
    with monkeypatch.context() as patch:
        patch.setattr(pictures.regret, "sensitivity_figure", lambda *_: pytest.fail("no space left on device"))
        with pytest.raises(BaseException, match="no space left"):
            draw(drawn_study, code=lambda unit: "edited")
    assert draw(drawn_study) == NAMES  # though the code is that of the record before


def test_the_explanations_are_files_with_descriptions(tmp_path):
    found = pictures.explain(tmp_path)
    assert [path.suffix for path, _ in found] == [".svg", ".svg"]
    assert all(path.is_file() and description for path, description in found)
    before = [path.stat().st_mtime_ns for path, _ in found]
    assert [path.stat().st_mtime_ns for path, _ in pictures.explain(tmp_path)] == before
