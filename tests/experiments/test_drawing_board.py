"""Figures are drawn while runs are computed: each once, as soon as its runs are there, the same as afterwards."""

import unicodedata
from functools import partial

import numpy as np
import pytest

from ns_mab_gym.experiments import AgentEntry, Experiment, Study, WorldEntry, collect, pictures
from ns_mab_gym.experiments.drawing_board import DrawingBoard
from ns_mab_gym.experiments.parsing import agents_of
from ns_mab_gym.experiments.units import blocks_of, units_of
from ns_mab_gym.experiments.waiting_figures import WaitingFigures
from ns_mab_gym.runs import Runs


def runs(unit):
    rounds = np.arange(1, 11) * 10
    regret = np.cumsum(np.random.default_rng(len(unit.agent.words)).random((unit.runs, 10)), axis=1)
    pulls = np.full((unit.runs, 2), 50)
    return Runs(rounds, regret, pulls, pulls, [(0, 0)] * unit.runs, [dict(unit.agent.kwargs)] * unit.runs, 0.1)


@pytest.fixture
def board_study():
    worlds = (WorldEntry.of("a", label="A"), WorldEntry.of("b", label="a"))  # alike as names of files
    families = tuple(AgentEntry.of("ts", label=f"TS {w}", group="TS", window=w) for w in (1, 2))
    return Study(
        "test",
        (
            Experiment(worlds=worlds, agents=(AgentEntry.of("ts"), AgentEntry.of("random")), runs=30),
            Experiment(worlds=worlds[:1], agents=families, runs=5),
        ),
    )


MEANS = {"A": np.array([[0.1, 0.9]] * 100), "a": None}
READ = partial(collect, load=runs)


def needs(figure):
    """The units of work whose runs a figure shows."""
    shown = [] if figure.experiment is None else figure.experiment.ranked
    return {unit for agent in shown for unit in blocks_of(figure.experiment, figure.world, agent)}


def test_every_figure_of_a_study_has_a_name_of_its_own(board_study):
    names = [figure.name for figure in pictures.planned(board_study)]
    assert names == ["a-means", "a-means-2", "a-regret", "a-regret-2", "a-sensitivity"]


def test_families_have_a_figure_beside_that_of_all_agents():
    world = WorldEntry.of("a", label="A")
    plain, family = AgentEntry.of("ts"), AgentEntry.of("ts", label="TS 1", group="TS", window=1)
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
    worlds = tuple(WorldEntry.of("a", label=label) for label in labels)
    agents = (*agents_of("ts:window=1|2"), AgentEntry.of("random"))
    names = [figure.name for figure in pictures.planned(Study("s", (Experiment(worlds=worlds, agents=agents),)))]
    assert len(names) == 3 * len(labels)  # means, regret, sweep
    on_disk = {unicodedata.normalize("NFC", name).casefold() for name in names}  # as some file systems see them
    assert len(on_disk) == len(names)
    assert max(len(f"{name}-alarms.png".encode()) for name in names) < 100
    assert {"shop-means", "shop-means-2", "магазин-sweep-2", "店-regret", "world-means-2"} <= set(names)


def test_a_figure_is_drawn_when_all_of_its_runs_are_there(board_study, tmp_path):
    folder = tmp_path / "figures"
    with DrawingBoard(board_study, folder, READ, MEANS, (), explained=False) as board:
        stored = set()
        for unit in units_of(board_study):
            board.add(unit)
            stored.add(unit)
            waiting = board._waiting.figures
            assert all((needs(figure) <= stored) != (figure in waiting) for figure in pictures.planned(board_study))
        assert not waiting
        written = sorted(path.name for path in board.finish())
    expected = ["a-means", "a-regret", "a-regret-2", "a-sensitivity"]  # of the world "a" the means are not known
    assert written == sorted(f"{name}.{kind}" for name in expected for kind in ("png", "svg"))
    assert written == sorted(path.name for path in folder.iterdir())


def test_a_figure_waits_for_its_own_blocks_where_others_show_more_or_fewer_runs():
    world, agents = WorldEntry.of("a", label="A"), (AgentEntry.of("ts"), AgentEntry.of("ts", label="the same"))
    study = Study("s", tuple(Experiment(worlds=(world,), agents=agents, runs=runs) for runs in (30, 50, 60, 75)))
    waiting, stored, complete = WaitingFigures(pictures.planned(study)), set(), []
    assert [figure.name for figure in waiting.of_nothing()] == ["a-means"]
    for unit in reversed(units_of(study)):
        stored.add(unit)
        complete += waiting.take(unit)
        assert set(complete) == {figure for figure in pictures.planned(study)[1:] if needs(figure) <= stored}
        assert set(waiting.figures) == set(pictures.planned(study)[1:]) - set(complete)
    assert len(complete) == 4


def test_what_is_drawn_on_the_way_equals_what_is_drawn_at_the_end(board_study, tmp_path):
    with DrawingBoard(board_study, tmp_path / "early", READ, MEANS, {"A"}, explained=False) as board:
        for unit in reversed(units_of(board_study)):
            board.add(unit)
        early = board.finish()
    late = pictures.draw(READ(board_study), MEANS, tmp_path / "late", {"A"})
    assert {path.name for path in early} == {path.name for path in late}
    for path in late:
        assert path.read_bytes() == (tmp_path / "early" / path.name).read_bytes()


def test_the_explanations_come_first_and_are_files(board_study, tmp_path):
    with DrawingBoard(board_study, tmp_path / "figures", READ, MEANS, (), explained=True) as board:
        explained = board.explanations()
    assert [path.suffix for path in explained] == [".svg", ".svg"]
    assert len(explained) == len(pictures.DESCRIPTIONS)
    assert all(path.is_file() for path in explained)


def test_what_goes_wrong_while_drawing_is_not_lost(board_study, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(pictures, "figure_job", broken)
    with DrawingBoard(board_study, tmp_path / "figures", READ, MEANS, (), explained=False) as board:
        for unit in units_of(board_study):
            board.add(unit)
        with pytest.raises(OSError, match="no space left on device"):
            board.finish()


def test_no_figure_is_drawn_before_its_runs_are_there(board_study, tmp_path):
    last = units_of(board_study)[-1]
    with DrawingBoard(board_study, tmp_path / "figures", READ, MEANS, (), explained=False) as board:
        assert {figure.name for figure in board._waiting.figures} == {"a-regret", "a-regret-2", "a-sensitivity"}
        for unit in units_of(board_study):
            if unit != last:
                board.add(unit)
        assert [figure.name for figure in board._waiting.figures] == ["a-sensitivity"]
        assert not any("sensitivity" in path.name for path in board.finish())
