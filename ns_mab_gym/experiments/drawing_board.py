"""Draws the figures of a study while its runs are still being computed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from ..figures.sweep_plot import Swept
from ..means import Floats
from . import pictures
from .results import Results
from .study import Experiment, Study, WorldEntry
from .units import Unit
from .waiting_figures import WaitingFigures

__all__ = ["DrawingBoard"]

PATIENCE = 0.0005  # seconds that a thread of the engine waits for Python between two runs while figures are drawn


class DrawingBoard:
    """Draws each figure in a thread of its own, as soon as all of its runs are computed.

    The engine's compiled loops release Python's global lock while they run, so drawing adds little to the total time.

    Args:
        study: what is being run.
        folder: where the figures are written; made if it does not exist.
        read: gives the results of a part of the study, whose runs are read when they are asked for.
        means: the means of an instance of each world, by label; None if they are not known.
        drawn_anew: the labels of worlds whose means differ from run to run.
        explained: whether the figures that explain the theory are drawn too.
    """

    def __init__(
        self,
        study: Study,
        folder: Path,
        read: Callable[[Study], Results],
        means: Mapping[str, Floats | None],
        drawn_anew: Collection[str],
        explained: bool,
    ) -> None:
        self.study, self.folder, self.means, self.drawn_anew = study, folder, means, drawn_anew
        self._read = read
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="figures")
        folder.mkdir(parents=True, exist_ok=True)
        jobs = pictures.explanation_jobs(folder) if explained else []
        self._explained = [self._thread.submit(job.__call__) for job in jobs]
        self._drawn: list[Future[list[Path]]] = [*self._explained]
        self._timelines: dict[tuple[Experiment, WorldEntry], Path] = {}
        self._sweeps: dict[tuple[Experiment, WorldEntry], list[Swept]] = {}
        self._submitted: list[pictures.Planned] = []
        self._waiting = WaitingFigures(pictures.planned(study))
        self._submit(self._waiting.of_nothing())

    def __enter__(self) -> Self:
        """The board, whose thread ends with the block."""
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setswitchinterval(self._interval)
        self._thread.shutdown(wait=True, cancel_futures=True)

    def add(self, unit: Unit) -> None:
        """Note that a unit is stored."""
        self._submit(self._waiting.take(unit))

    def go_on_with(self, study: Study) -> None:
        """Draw what is left of the study, once no more units come: figures that show other agents are drawn again."""
        submitted = set(self._submitted)
        self._submit(figure for figure in pictures.planned(study) if figure not in submitted)

    def explanations(self) -> list[Path]:
        """The figures that explain the theory, as SVG files."""
        return [path for future in self._explained for path in future.result() if path.suffix == ".svg"]

    def timelines(self) -> dict[tuple[Experiment, WorldEntry], Path]:
        """The figures of alarms as SVG files, by the experiment and the world, once everything is drawn."""
        self.finish()
        return self._timelines

    def sweeps(self) -> dict[tuple[Experiment, WorldEntry], list[Swept]]:
        """The sweeps by the experiment and the world, once everything is drawn."""
        self.finish()
        return self._sweeps

    def finish(self) -> list[Path]:
        """Wait until everything is drawn, and return the files."""
        return [path for future in self._drawn for path in future.result()]

    def _submit(self, figures: Iterable[pictures.Planned]) -> None:
        for figure in figures:
            self._submitted.append(figure)
            self._drawn.append(self._thread.submit(self._draw, figure))

    def _draw(self, figure: pictures.Planned) -> list[Path]:
        results, asked = None, figure.experiment
        if figure.experiment is not None:
            shown = Study(self.study.title, (figure.experiment.on(figure.world).without_other_readings(),))
            results = self._read(shown)
            figure = figure._replace(experiment=shown.experiments[0])
        if figure.sweep and asked is not None:
            return self._draw_sweeps(asked, figure, results)
        job = pictures.figure_job(figure, results, self.means, self.folder, self.drawn_anew)
        return ([] if job is None else job()) + self._draw_alarms(asked, figure, results)

    def _draw_sweeps(self, asked: Experiment, figure: pictures.Planned, results: Results | None) -> list[Path]:
        swept = self._sweeps[asked, figure.world] = pictures.sweeps_of(figure, results, self.drawn_anew)
        job = pictures.sweep_job(figure, swept, self.folder)
        return [] if job is None else job()

    def _draw_alarms(self, asked: Experiment | None, figure: pictures.Planned, results: Results | None) -> list[Path]:
        job = pictures.alarm_job(figure, results, self.means, self.folder, self.drawn_anew)
        if job is None or asked is None:
            return []
        png, svg = job()
        self._timelines[asked, figure.world] = svg
        return [png, svg]
