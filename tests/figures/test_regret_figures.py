"""Regret: curves and bands show the runs, and every figure of a study is a job of its own."""

import concurrent.futures
import multiprocessing

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ns_mab_gym.experiments import Study, pictures
from ns_mab_gym.figures.drawing_jobs import FigureJob
from ns_mab_gym.figures.regret_plots import Member, regret_figure, sensitivity_figure
from ns_mab_gym.worlds import Abrupt


def line(axes, label_index=0):
    return axes.lines[label_index].get_xydata()


def test_a_line_is_the_mean_and_its_band_one_standard_deviation(make_runs):
    runs = make_runs(100.0, count=7)
    [axes] = regret_figure({"ts": runs}, "one").axes
    rounds, mean = line(axes).T
    assert (rounds[0], mean[0]) == (0, 0)  # no regret before the first round
    assert rounds[-1] == runs.horizon
    at = np.searchsorted(runs.rounds, rounds[1:])
    np.testing.assert_allclose(mean[1:], runs.regret.mean(axis=0)[at])
    [band] = axes.patches
    upper = band.get_xy()[: len(rounds), 1]
    np.testing.assert_allclose(upper - mean, [0, *runs.regret.std(axis=0, ddof=1)[at]], atol=1e-9)


def test_labels_say_the_final_mean_and_which_have_notes(make_runs):
    curves = {"ts": make_runs(1_000.0), "ucb": make_runs(3_000.0)}
    figure = regret_figure(curves, "two", notes={"ucb": "by hand", "absent": "not shown"})
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == [f"ts  {curves['ts'].final.mean():,.0f}", f"ucb*  {curves['ucb'].final.mean():,.0f}"]
    assert [text.get_text() for text in figure.texts] == ["* ucb: by hand"]


def test_a_second_panel_shows_the_better_half_if_the_worst_is_far_off(make_runs):
    close = {name: make_runs(final) for name, final in zip("abcd", (100, 120, 150, 200), strict=True)}
    assert len(regret_figure(close, "close").axes) == 1
    whole, closer = regret_figure({**close, "e": make_runs(2_000)}, "far").axes
    assert whole.get_ylim()[1] > 2_000 * 0.9
    better = sorted(float(runs.final.mean()) for runs in close.values())[1]
    assert closer.get_ylim() == pytest.approx((0, 1.25 * better))
    assert [text.get_text()[0] for text in closer.texts] == ["a", "b", "c"]  # those that end in the panel


def test_members_of_a_family_run_from_dark_to_light(make_runs):
    members = [Member(f"α = {tau}", make_runs(tau, window=tau), tau == 10) for tau in (1, 10, 100)]
    members.append(Member("none", make_runs(5), False))
    left, right = sensitivity_figure({"Beta": members, "Gamma": members[:1]}, "a world").axes
    assert [each.get_linewidth() for each in left.lines] == [1.3, 2.6, 1.3, 1.3]
    brightness = [int(to_hex(each.get_color())[1:3], 16) for each in left.lines[:3]]
    assert brightness[0] != brightness[2]
    assert to_hex(left.lines[3].get_color()) == "#000000"
    assert left.get_ylim() == right.get_ylim()
    assert [axes.get_title("left") for axes in (left, right)] == ["a world: Beta", "Gamma"]
    assert left.texts[1].get_text().startswith("α = 10 (τ = 10)")


@pytest.fixture
def means():
    return {"abrupt": Abrupt(horizon=1_000).means(), "NSBandit-Smooth-v0:horizon=1000": None}


NAMES = ["abrupt-means", "abrupt-regret", "nsbandit-smooth-v0-horizon-1000-regret", "abrupt-sensitivity"]


def test_every_world_gets_its_figures_as_png_and_svg(tmp_path, results, means):
    written = pictures.draw(results, means, tmp_path / "figures")
    assert [path.name for path in written] == [f"{name}.{kind}" for name in NAMES for kind in ("png", "svg")]
    assert sorted(written) == sorted((tmp_path / "figures").iterdir())


@pytest.fixture
def jobs(results, means):
    """A function from a folder to the jobs of all figures of the study, by name."""

    def jobs_in(folder, drawn_anew=()):
        planned = pictures.planned(results.study)
        jobs = [pictures.figure_job(figure, results, means, folder, drawn_anew) for figure in planned]
        return {job.name: job for job in jobs if job is not None}

    return jobs_in


def test_jobs_can_be_done_by_a_process_started_anew(tmp_path, jobs, results, means):
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        done = [path for paths in pool.map(FigureJob.__call__, jobs(there).values()) for path in paths]
    drawn = pictures.draw(results, means, here)
    assert [path.name for path in done] == [path.name for path in drawn]
    assert [path.read_bytes() for path in done] == [path.read_bytes() for path in drawn]


def test_labels_that_give_the_same_file_name_get_a_number(results):
    study = results.study
    twice = Study(study.title, (study.experiments[0], study.experiments[0]))
    names = [figure.name for figure in pictures.planned(twice)]
    assert names.count("abrupt-regret") == names.count("abrupt-regret-2") == 1
    assert len(set(names)) == len(names)


def test_worlds_drawn_anew_say_so_and_show_no_phases(tmp_path, jobs):
    anew, known = jobs(tmp_path, drawn_anew=["abrupt"]), jobs(tmp_path)
    assert anew["abrupt-means"].arguments[1] == "abrupt (as in the first run)"
    assert anew["abrupt-regret"].arguments[2] == []
    assert known["abrupt-regret"].arguments[2] == [300, 601, 800]  # at the same fractions of the horizon as the paper's


def test_there_is_a_description_for_every_explanation(tmp_path):
    written = [path for job in pictures.explanation_jobs(tmp_path) for path in job()]
    assert len(written) == 2 * len(pictures.DESCRIPTIONS)
    assert sorted(written) == sorted(tmp_path.iterdir())
