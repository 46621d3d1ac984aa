"""From a study to its report: run, store, draw, judge, write."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..installed_versions import versions
from ..means import Floats
from ..sources import digest_of
from ..workforce import RETRIES, Crew
from . import outputs
from .claims import Claim, Untested
from .claims_page import claims_markdown
from .drawing_board import DrawingBoard
from .failure_texts import write_failures
from .identity import ENGINE, code_versions
from .pictures import DESCRIPTIONS
from .pinned_files import pinned
from .preflight import Instances, check_size, check_study, drawn_anew
from .progress import progress_for
from .ran_study import RanStudy, work_in_words
from .remaining_study import remains_of
from .report import Page
from .result_folders import guarded
from .results import Results, collect
from .run_totals import Totals
from .runner import Failure, Outcome, Simulate, load, run, until_whole
from .store import Store
from .study import Study
from .tables import write_tables
from .trials import Trial
from .units import Unit

__all__ = ["Pipeline"]

WRITTEN = ("report.html", "table.parquet", "summary.csv", "detections.csv", "claims.json", "claims.md")
NOTHING = "no report: of every experiment, units of all agents failed"


@dataclass
class Pipeline:
    """Runs a study and writes everything that is made from it.

    Attributes:
        study: the study to run.
        folder: where everything is written.
        simulate: the engine.
        n_jobs: the number of its threads.
        claims: claims about the study's worlds, by label.
        further_runs: how many runs there should be of the agents whose runs leave a claim open; what is stored of them
            counts in any case.
        untested: sentences that runs cannot decide, with the reason.
        not_taken: readings of what is left open that were not taken, with the reason.
        notes: what the report must say about choices that were made.
        observe: a function from the results to what the report must say about them.
        warning: what must be read before the verdicts.
        command: what was typed, for the report.
        explanations: whether the two figures that explain the theory are drawn too.
        trust_models: whether saved models that this machine did not write may be loaded, which can run any code.
        hire: finds those who compute, such as processes or a cluster; threads of this process if None.
        retries: how often a unit is tried again that raised an error.
        failures: the units that have no result, once it was run.
    """

    study: Study
    folder: Path
    simulate: Simulate
    n_jobs: int | None = None
    claims: Mapping[str, Sequence[Claim]] | None = None
    further_runs: int = 0
    untested: Sequence[Untested] = ()
    not_taken: Sequence[str] = ()
    notes: Sequence[str] = ()
    observe: Callable[[Results], Sequence[str]] = lambda results: ()
    explanations: bool = False
    warning: str = ""
    command: str = ""
    trust_models: bool = False
    hire: Callable[[], Crew] | None = None
    retries: int = RETRIES
    failures: tuple[Failure, ...] = field(default=(), init=False)

    def run(self) -> list[str]:
        """Run everything, and return the lines to print at the end."""
        began = time.perf_counter()
        self.study = pinned(self.study, trust_models=self.trust_models)
        check_study(self.study)
        check_size(self.study, self.further_runs)
        with nullcontext() if self.hire is None else self.hire() as crew:
            return until_whole(partial(self._done, crew, began))

    def _done(self, crew: Crew | None, began: float) -> list[str]:
        """Compute what is missing, and write everything."""
        means, anew = Instances(self.study), drawn_anew(self.study)
        with Store(self.folder, code_versions(print)) as store, self._board(store, means, anew) as board:
            ran = self._ran(store, board, crew)
            self.failures = ran.failures
            simulated = time.perf_counter() - began
            with guarded(self.folder, "write the report to"):
                self._write(ran, simulated, board)
        return self._closing(ran, time.perf_counter() - began)

    def _board(self, store: Store, means: Mapping[str, Floats | None], anew: Collection[str]) -> DrawingBoard:
        folder, read = self.folder / "figures", partial(_results, store)
        with guarded(self.folder, "use the folder"):
            return DrawingBoard(self.study, folder, read, means, anew, self.explanations)

    def _ran(self, store: Store, board: DrawingBoard, crew: Crew | None) -> RanStudy:
        """Compute what is missing, and judge the claims."""
        compute = partial(self._run, store, crew)
        trial = Trial(self.study, store, self.claims or {}, self.further_runs, compute)
        first = compute(self.study, trial.stored, ready=board.add)
        remains = remains_of(self.study, first.failures)
        results = _results(store, remains.study)
        judged, more = trial.verdicts(results, first, board.means)
        return RanStudy(results, first, remains, judged, more, remains_of(trial.further, more.failures).gaps)

    def _run(self, store: Store, crew: Crew | None, study: Study, beside: Sequence[Unit], **options: Any) -> Outcome:
        options |= {"n_jobs": self.n_jobs, "crew": crew, "beside": beside, "retries": self.retries}
        return run(study, store, self.simulate, progress_for(sys.stderr), **options)

    def _write(self, ran: RanStudy, seconds: float, board: DrawingBoard) -> None:
        """Write the tables, the claims and the report, and what failed."""
        write_failures(self.folder, ran.failures)
        if not ran.remains.study.experiments:
            for name in WRITTEN:  # of an earlier run
                (self.folder / name).unlink(missing_ok=True)
            return
        board.go_on_with(ran.remains.study)
        totals = write_tables(ran.results, self.folder, board.means, board.drawn_anew)
        notes = [*self.notes, *self.observe(ran.results)]
        page = self._page(ran, self._settings(ran, totals, seconds), notes, board, totals.alarms)
        for name in ("claims.json", "claims.md"):  # of another question, such as another horizon
            (self.folder / name).unlink(missing_ok=True)
        if ran.judged:
            notes = [*ran.missing_in_words(self.claims or {}), *page.footnotes(), *notes]
            said = claims_markdown(ran.judged, self.untested, self.not_taken, notes)
            write_atomically(self.folder / "claims.json", outputs.claims_json(ran.judged))
            write_atomically(self.folder / "claims.md", said)
        write_atomically(self.report, page.html().encode())
        board.finish()

    def _page(
        self, ran: RanStudy, settings: list[tuple[str, Any]], notes: Sequence[str], board: DrawingBoard, alarms: bool
    ) -> Page:
        study = ran.remains.study
        return Page(
            ran.results,
            board.means,
            _summary(study),
            settings,
            ran.judged,
            notes,
            list(zip(board.explanations(), DESCRIPTIONS, strict=False)),
            " ".join(self._said(ran)),
            board.drawn_anew,
            self.command,
            dict(settings)["date"],
            self.untested,
            self.not_taken,
            board.timelines() if alarms else {},
            board.sweeps() if any(experiment.sweeps for experiment in study.experiments) else {},
        )

    @property
    def report(self) -> Path:
        """The path of the report."""
        return self.folder / "report.html"

    def _said(self, ran: RanStudy) -> list[str]:
        """What must be read before the results."""
        return [*([self.warning] if self.warning else []), *ran.missing_in_words(self.claims or {})]

    def _settings(self, ran: RanStudy, totals: Totals, seconds: float) -> list[tuple[str, Any]]:
        seeds = dict.fromkeys(experiment.seed for experiment in self.study.experiments)
        further = [("units of further runs", work_in_words(ran.more))] if self.claims else []
        return [
            ("command", self.command),
            ("date", _now()),
            ("horizon T", ", ".join(f"{horizon:,}" for horizon in totals.horizons)),
            ("seed", ", ".join(map(str, seeds))),
            ("units of work", work_in_words(ran.first)),
            *further,
            ("engine time of all units", f"{totals.seconds:.1f} s, over all threads"),
            ("agent steps", f"{totals.steps:,}"),
            ("time of this run before the report", f"{seconds:.1f} s"),
            ("code of the engine", (digest_of([ENGINE]) or "unreadable")[:16]),
            *versions().items(),
            ("machine", f"{platform.platform()}, {os.cpu_count()} cores"),
            (
                "intervals",
                "of tables: percentile bootstrap; of claims: bootstrap-t; 10,000 samples, fixed seed, paired by run",
            ),
        ]

    def _closing(self, ran: RanStudy, seconds: float) -> list[str]:
        report = f"report: {self.report}" if ran.remains.study.experiments else NOTHING
        return [*self._said(ran), *outputs.verdict_lines(ran.judged), ran.work_in_words(seconds), report]


def _results(store: Store, study: Study) -> Results:
    return collect(study, partial(load, store), store.reject)


def _summary(study: Study) -> str:
    agents = {agent.label for experiment in study.experiments for agent in experiment.agents}
    runs = ", ".join(map(str, dict.fromkeys(experiment.runs for experiment in study.experiments)))
    counts = f"{_counted(len(study.worlds), 'world')}, {_counted(len(agents), 'agent')}, {runs} runs each"
    return f"{counts}; runs of the same number share their luck."


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
