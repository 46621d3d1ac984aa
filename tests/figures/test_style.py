"""One look: files hold what was drawn, panels stand where they should, nothing outside of a figure is touched."""

import concurrent.futures
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from ns_mab_gym.figures.drawing_jobs import FigureJob
from ns_mab_gym.figures.line_labels import Label
from ns_mab_gym.figures.sheet import canvas
from ns_mab_gym.figures.style import NUMBERS, line_style, phase_name, save_as, sequence, shade_phases, styled
from ns_mab_gym.figures.world_means import means_figure
from ns_mab_gym.worlds import Abrupt


@pytest.fixture
def figure():
    return means_figure(Abrupt(horizon=500).means(), "a world")


def test_a_png_holds_the_pixels_that_were_drawn(figure, tmp_path):
    save_as(figure, tmp_path / "file.PNG")
    with styled():
        drawn = FigureCanvasAgg(figure)
        drawn.draw()
    with Image.open(tmp_path / "file.PNG") as image:
        image.verify()  # the sums of all parts
    with Image.open(tmp_path / "file.PNG") as image:
        assert image.info["dpi"] == pytest.approx((160, 160), abs=0.1)
        np.testing.assert_array_equal(np.asarray(image), np.asarray(drawn.buffer_rgba())[:, :, :3])


def test_saving_leaves_a_figure_as_it_was(figure, tmp_path):
    save_as(figure, tmp_path / "first.png")
    save_as(figure, tmp_path / "between.svg")
    save_as(figure, tmp_path / "last.png")
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "last.png").read_bytes()


@pytest.mark.parametrize("name", ["figure.jpg", "figure"])
def test_other_kinds_of_files_are_refused(figure, tmp_path, name):
    with pytest.raises(ValueError, match=rf"written as \.png or \.svg, got .*{name}"):
        save_as(figure, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_written_as_people_write_them():
    values = {15_000.0: "15,000", 0.1 + 0.2: "0.3", 0.0: "0", -2.5: "−2.5", 1e6: "1,000,000", 1e-4: "0.0001"}
    assert {value: NUMBERS(value) for value in values} == values


def test_sixteen_lines_can_be_told_apart():
    assert len({str(line_style(index)) for index in range(16)}) == 16
    assert len(set(sequence(50))) == 50


def test_every_other_phase_is_shaded():
    sheet = canvas(5, [3])
    [[axes]] = sheet.rows
    shade_phases(axes, [11, 31], 40)  # rounds 1 to 10, 11 to 30 and 31 to 40
    assert [(each.get_x(), each.get_x() + each.get_width()) for each in axes.patches] == [(0.5, 10.5), (30.5, 40.5)]
    assert phase_name(10) == "ℱ₁₀"


def test_panels_have_the_heights_asked_for_and_share_their_columns():
    sheet = canvas(10, [0.5, 2.0, 1.0], [2, 2, 1])
    for axes in (axes for row in sheet.rows for axes in row):
        axes.set(xlabel="x", ylabel="y")
    sheet.rows[0][0].set_ylim(0, 1e9)  # long numbers
    figure = sheet.settle({sheet.rows[1][0]: [Label("a long name beside the line", 0.5, "red")]}, ["a note"])
    width, height = figure.get_size_inches()
    (first, second), (third, fourth), (alone,) = [[axes.get_position() for axes in row] for row in sheet.rows]
    assert [box.height * height for box in (first, second, third, fourth, alone)] == pytest.approx([0.5, 0.5, 2, 2, 1])
    assert (first.x0, first.x1, second.x0, second.x1) == pytest.approx((third.x0, third.x1, fourth.x0, fourth.x1))
    assert first.width == pytest.approx(second.width)
    assert alone.width > first.width
    assert width == 10


def test_no_global_state_is_used():
    """Neither pyplot nor anything of the experiments is imported, and the settings of the user stay."""
    script = """
import importlib, pkgutil, sys
import matplotlib
from ns_mab_gym import figures
before = matplotlib.rcParams.copy()
for each in pkgutil.iter_modules(figures.__path__):
    importlib.import_module(f"{figures.__name__}.{each.name}")
importlib.import_module("ns_mab_gym.figures.explanations").learnable_figure()
assert matplotlib.rcParams.copy() == before
found = [name for name in sys.modules if name.startswith(("matplotlib.pyplot", "ns_mab_gym.experiments"))]
assert not found, found
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_threads_that_draw_at_once_do_not_disturb_each_other(tmp_path):
    before = mpl.rcParams.copy()
    means = Abrupt(horizon=500).means()
    jobs = [FigureJob(tmp_path, f"{number}", means_figure, (means, "a world")) for number in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        files = [png.read_bytes() for png, _ in threads.map(FigureJob.__call__, jobs)]
    assert len(set(files)) == 1
    assert mpl.rcParams.copy() == before
