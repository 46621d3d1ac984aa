"""From a study to its report: run, store, draw, judge, write."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..files import write_atomically
from ..sources import digest_of
from . import outputs
from .claims import Claim, Evidence, Judged, judge
from .drawing_board import DrawingBoard
from .identity import ENGINE, code_versions
from .parquet import versions
from .pictures import DESCRIPTIONS
from .preflight import check_study, drawn_anew, instances
from .progress import progress_for, speed
from .report import Page
from .results import Results, collect, tidy_table
from .runner import Outcome, Simulate, run
from .store import Store, guarded
from .study import Study

__all__ = ["Pipeline"]


@dataclass
class Pipeline:
    """Runs a study and writes everything that is made from it.

    Attributes:
        study: the study to run.
        folder: where everything is written.
        simulate: the engine.
        n_jobs: the number of its threads.
        claims: claims about the study's worlds, by label.
        notes: what the report must say about choices that were made.
        observe: a function from the results to what the report must say about them.
        warning: what must be read before the verdicts.
        explanations: whether the two figures that explain the theory are drawn too.
    """

    study: Study
    folder: Path
    simulate: Simulate
    n_jobs: int | None = None
    claims: Mapping[str, Sequence[Claim]] | None = None
    notes: Sequence[str] = ()
    observe: Callable[[Results], Sequence[str]] = lambda results: ()
    explanations: bool = False
    warning: str = ""

    def run(self) -> list[str]:
        """Run everything, and return the lines to print at the end."""
        began = time.perf_counter()
        check_study(self.study)
        means, anew = instances(self.study), drawn_anew(self.study)
        with (
            Store(self.folder, code_versions(print)) as store,
            DrawingBoard(self.study, self.folder / "figures", means, anew, self.explanations) as board,
        ):
            progress = progress_for(sys.stderr)
            outcome = run(self.study, store, self.simulate, progress, n_jobs=self.n_jobs, ready=board.add)
            simulated = time.perf_counter() - began
            results = collect(self.study, outcome.blocks)
            with guarded(self.folder, "write the report to"):
                judged = self._write(results, outcome, simulated, board)
                board.finish()
        return self._closing(outcome, time.perf_counter() - began, judged)

    def _write(self, results: Results, outcome: Outcome, seconds: float, board: DrawingBoard) -> list[Judged]:
        """Write the tables, the claims and the report; returns the judged claims."""
        judged = self._judge(results, board.means)
        page = Page(
            results,
            board.means,
            self._summary(),
            self._settings(results, outcome, seconds),
            judged,
            notes := [*self.notes, *self.observe(results)],
            list(zip(board.explanations(), DESCRIPTIONS, strict=False)),
            self.warning,
            board.drawn_anew,
        )
        write_atomically(self.folder / "table.parquet", tidy_table(results))
        write_atomically(self.folder / "summary.csv", outputs.summary_csv(results))
        if judged:
            write_atomically(self.folder / "claims.json", outputs.claims_json(judged))
            write_atomically(self.folder / "claims.md", outputs.claims_markdown(judged, [*page.footnotes(), *notes]))
        write_atomically(self.report, page.html().encode())
        return judged

    @property
    def report(self) -> Path:
        """The path of the report."""
        return self.folder / "report.html"

    def _judge(self, results: Results, means: Mapping[str, npt.NDArray[np.float64] | None]) -> list[Judged]:
        evidence: dict[str, Evidence] = {}
        for world in results.study.worlds:
            if (instance := means[world.label]) is not None:
                notes = results.notes(world)
                evidence[world.label] = Evidence(results.curves[world.label], instance, notes, evidence)
        return judge(self.claims or {}, evidence)

    def _summary(self) -> str:
        experiments = self.study.experiments
        agents = {agent.label for experiment in experiments for agent in experiment.agents}
        runs = ", ".join(map(str, dict.fromkeys(experiment.runs for experiment in experiments)))
        counts = f"{len(self.study.worlds)} worlds, {len(agents)} agents, {runs} runs each"
        return f"{counts}; runs of the same number share their luck."

    def _settings(self, results: Results, outcome: Outcome, seconds: float) -> list[tuple[str, Any]]:
        seeds = dict.fromkeys(experiment.seed for experiment in self.study.experiments)
        horizons = dict.fromkeys(c.horizon for curves in results.curves.values() for c in curves.values())
        return [
            ("horizon T", ", ".join(f"{horizon:,}" for horizon in horizons)),
            ("seed", ", ".join(map(str, seeds))),
            ("units of work", f"{len(outcome.blocks)}, of which {len(outcome.computed)} were computed now"),
            (
                "engine time of all units",
                f"{sum(block.seconds for block in outcome.blocks.values()):.1f} s, over all threads",
            ),
            ("agent steps", f"{sum(block.steps for block in outcome.blocks.values()):,}"),
            ("time of this run before the report", f"{seconds:.1f} s"),
            ("code of the engine", (digest_of([ENGINE]) or "unreadable")[:16]),
            *versions().items(),
            ("machine", f"{platform.platform()}, {os.cpu_count()} cores"),
            (
                "intervals",
                "of tables: percentile bootstrap; of claims: bootstrap-t; 10,000 samples, fixed seed, paired by run",
            ),
        ]

    def _closing(self, outcome: Outcome, seconds: float, judged: Sequence[Judged]) -> list[str]:
        work = f"{len(outcome.computed)} of {len(outcome.blocks)} units computed in {seconds:.1f} s"
        if outcome.computed:
            rate = speed(outcome.computed_steps, seconds)
            work += (
                f" ({outcome.computed_steps:.3g} steps, {rate}; engine {outcome.engine_seconds:.1f} s over all threads)"
            )
        warning = [self.warning] if self.warning else []
        return [*warning, *outputs.verdict_lines(judged), work, f"report: {self.report}"]
