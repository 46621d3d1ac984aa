"""The report of a comparison: the page that ``ns-mab-gym evaluate`` writes, and the files beside it."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..experiments import pictures
from ..experiments.folder_lock import FolderLock
from ..experiments.report import Page
from ..experiments.result_folders import guarded, mark, own_folder
from ..experiments.results import Results
from ..experiments.study import AgentEntry, Experiment, Study, WorldEntry
from ..experiments.tables import write_tables
from ..figures.sweep_plot import Swept
from ..files import remove_leftovers, write_atomically
from ..installed_versions import versions
from ..runs import Runs
from .competitors import Competitor
from .pictures_of_comparisons import swept_of
from .venues import Venue

if TYPE_CHECKING:
    from .comparison import Comparison

__all__ = ["write_report"]

E = TypeVar("E", WorldEntry, AgentEntry)

OWNER = "This folder belongs to a comparison of ns_mab_gym."
EXPLANATION = f"""{OWNER}

report.html      opens in any browser
figures/         the same figures as PNG and SVG
table.parquet    the regret of every world, agent, run and recorded round
summary.csv      final regrets
All of it is written anew by every Comparison.report() into this folder.
"""
UNSCORED = (
    "The alarms of agents on worlds that were given as objects and are drawn anew in every run are not scored: "
    "register such a world and give its name."
)


def write_report(comparison: Comparison, path: Path) -> Path:
    """Write the report as one file, or with figures and tables in a folder; returns the path of the page."""
    board = Board(comparison)
    if path.suffix.lower() in (".html", ".htm"):
        with tempfile.TemporaryDirectory() as scratch:
            page = board.page(Path(scratch))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, page.encode())
        return path
    with guarded(path, "use the folder"):
        own_folder(path, OWNER, "choose a new or empty folder, or a file.html")
        lock = FolderLock(path)
        try:
            return _write_folder(board, path)
        finally:
            lock.release()


def _write_folder(board: Board, folder: Path) -> Path:
    """Write the page, the figures and the tables; returns the path of the page."""
    mark(folder, EXPLANATION)
    _clear(folder)
    page = board.page(folder / "figures")
    write_tables(board.results, folder, board.means, board.drawn_anew)
    write_atomically(folder / "report.html", page.encode())
    return folder / "report.html"


def _clear(folder: Path) -> None:
    """Remove the figures of an earlier comparison, and what an interrupted one left."""
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    remove_leftovers(folder, figures)
    for old in figures.glob("*.[ps][nv]g"):
        if old.is_symlink() or old.is_file():
            old.unlink()


class Board:
    """A comparison in the words of an experiment: its study, results, means, and what is drawn of them."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.worlds = {venue.label: _world_entry(venue) for venue in comparison.venues}
        self.agents = {each.label: _agent_entry(each) for each in comparison.competitors}
        self.drawn_anew = {venue.label for venue in comparison.venues if venue.drawn_anew}
        self.means = {venue.label: venue.means(comparison.seed) for venue in comparison.venues}
        self.unscored = False
        self.results = self._results()

    def _results(self) -> Results:
        curves = {venue.label: self._scorable(venue) for venue in self.comparison.venues}
        agents = {world: {label: self.agents[label] for label in played} for world, played in curves.items()}
        return Results(Study("Comparison", tuple(self._experiments())), curves, agents)

    def _experiments(self) -> list[Experiment]:
        """One for all worlds on which the same agents played."""
        together: dict[tuple[str, ...], list[str]] = {}
        for world, played in self.comparison.runs.items():
            together.setdefault(tuple(played), []).append(world)
        return [
            Experiment(
                worlds=tuple(self.worlds[world] for world in worlds),
                agents=tuple(self.agents[label] for label in labels),
                runs=len(self.comparison.runs[worlds[0]][labels[0]]),
                seed=self.comparison.seed,
            )
            for labels, worlds in together.items()
        ]

    def _scorable(self, venue: Venue) -> dict[str, Runs]:
        """The runs on a world, without alarms where the instances cannot be made again from the world's words."""
        played = self.comparison.runs[venue.label]
        if not venue.drawn_anew or self.worlds[venue.label].name != venue.label or _words(venue) is not None:
            return played
        self.unscored |= any(runs.alarms is not None for runs in played.values())
        return {label: replace(runs, alarms=None) for label, runs in played.items()}

    def page(self, folder: Path) -> str:
        """The page, while its figures are drawn into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        sweeps = self._sweeps()
        settings = self._settings()
        return Page(
            self.results,
            self.means,
            self._summary(),
            settings,
            notes=self._notes(),
            drawn_anew=self.drawn_anew,
            made=dict(settings)["date"],
            timelines=self._draw(folder, sweeps),
            sweeps=sweeps,
        ).html()

    def _sweeps(self) -> dict[tuple[Experiment, WorldEntry], list[Swept]]:
        venues = {venue.label: venue for venue in self.comparison.venues}
        found = {
            (experiment, world): swept_of(self.comparison, venues[world.label])
            for experiment in self.results.study.experiments
            for world in experiment.worlds
        }
        return {key: swept for key, swept in found.items() if swept}

    def _draw(
        self, folder: Path, sweeps: Mapping[tuple[Experiment, WorldEntry], Sequence[Swept]]
    ) -> dict[tuple[Experiment, WorldEntry], Path]:
        """Draw every figure; returns those of alarms, which are part of the page."""
        timelines = {}
        for figure in pictures.planned(self.results.study):
            asked = (self.results, self.means, folder, self.drawn_anew)
            if figure.sweep and figure.experiment is not None:
                job = pictures.sweep_job(figure, sweeps.get((figure.experiment, figure.world), ()), folder)
            else:
                job = pictures.figure_job(figure, *asked)
            if job is not None:
                job()
            if not figure.sweep and figure.experiment and (alarms := pictures.alarm_job(figure, *asked)) is not None:
                timelines[figure.experiment, figure.world] = alarms()[1]
        return timelines

    def _notes(self) -> list[str]:
        return [*map(str, self.comparison.misfits), *([UNSCORED] if self.unscored else [])]

    def _summary(self) -> str:
        runs = max(experiment.runs for experiment in self.results.study.experiments)
        counts = [_count(len(self.worlds), "world"), _count(len(self.agents), "agent"), f"{_count(runs, 'run')} each"]
        return f"{', '.join(counts)}; runs of the same number share their luck."

    def _settings(self) -> list[tuple[str, Any]]:
        played = [runs for several in self.comparison.runs.values() for runs in several.values()]
        horizons = dict.fromkeys(runs.horizon for runs in played)
        return [
            ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
            ("horizon T", ", ".join(f"{horizon:,}" for horizon in horizons)),
            ("seed", str(self.comparison.seed)),
            ("engine time", f"{sum(runs.seconds for runs in played):.1f} s, over all threads"),
            ("agent steps", f"{sum(runs.steps for runs in played):,}"),
            *versions().items(),
            ("machine", f"{platform.platform()}, {os.cpu_count()} cores"),
            ("intervals", "percentile bootstrap; 10,000 samples, fixed seed, paired by run"),
        ]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def _words(venue: Venue) -> tuple[str, dict[str, Any]] | None:
    """The name and the parameters of a world, if that is all it takes to make it again."""
    plain = venue.words is not None and all(
        isinstance(value, bool | int | float | str) for value in venue.words[1].values()
    )
    return venue.words if plain else None


def _world_entry(venue: Venue) -> WorldEntry:
    name, arguments = _words(venue) or (venue.label, {})
    return _entry(WorldEntry, name, venue.label, arguments)


def _agent_entry(each: Competitor) -> AgentEntry:
    """The entry of an agent; one without words is called by its label, with what is swept."""
    swept: dict[str, Any] = {} if each.family is None else {each.family.sweep.parameter: each.value}
    name, parameters = (each.agent, each.parameters) if each.has_words else (each.label, swept)
    entry = _entry(AgentEntry, name, each.label, parameters)
    return entry if each.family is None else entry.in_sweep(each.family.sweep.parameter, each.family.label)


def _entry(kind: type[E], name: str, label: str, parameters: Mapping[str, Any]) -> E:
    """An entry; without its parameters if they cannot be written down, as an object cannot."""
    try:
        return kind.of(name, label=label, **parameters)
    except (TypeError, ValueError):
        return kind(label)
