"""From a study to its report: run, store, draw, judge, write."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..files import write_atomically
from ..sources import digest_of
from . import outputs
from .claims import Claim, Evidence, Judged, Untested, judge
from .claims_page import claims_markdown
from .drawing_board import DrawingBoard
from .further import further_study, judged_again, stored_beyond
from .identity import ENGINE, code_versions
from .parquet import versions
from .pictures import DESCRIPTIONS
from .pinned_files import pinned
from .preflight import check_size, check_study, drawn_anew, instances
from .progress import progress_for, speed
from .report import Page
from .result_folders import guarded
from .results import Results, collect, tidy_table
from .runner import Outcome, Simulate, load_all, run
from .scorecards import any_alarms
from .store import Store
from .study import Study
from .units import Unit, units_of

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

    def run(self) -> list[str]:
        """Run everything, and return the lines to print at the end."""
        began = time.perf_counter()
        self.study = pinned(self.study, trust_models=self.trust_models)
        check_study(self.study)
        check_size(self.study, self.further_runs)
        means, anew = instances(self.study), drawn_anew(self.study)
        with Store(self.folder, code_versions(print)) as store, self._board(means, anew) as board:
            stored = stored_beyond(self.study, store) if self.claims else []
            outcome = self._run(self.study, store, ready=board.add, beside=stored)
            results = collect(self.study, outcome.blocks)
            judged, more = self._judge(results, outcome, board.means, store, stored)
            simulated = time.perf_counter() - began
            with guarded(self.folder, "write the report to"):
                self._write(results, judged, self._settings(results, outcome, more, simulated), board)
                board.finish()
        return self._closing([outcome, more], time.perf_counter() - began, judged)

    def _board(self, means: Mapping[str, npt.NDArray[np.float64] | None], anew: Collection[str]) -> DrawingBoard:
        with guarded(self.folder, "use the folder"):
            return DrawingBoard(self.study, self.folder / "figures", means, anew, self.explanations)

    def _run(self, study: Study, store: Store, **options: Any) -> Outcome:
        return run(study, store, self.simulate, progress_for(sys.stderr), n_jobs=self.n_jobs, **options)

    def _write(
        self, results: Results, judged: Sequence[Judged], settings: list[tuple[str, Any]], board: DrawingBoard
    ) -> None:
        """Write the tables, the claims and the report."""
        page = Page(
            results,
            board.means,
            self._summary(),
            settings,
            judged,
            notes := [*self.notes, *self.observe(results)],
            list(zip(board.explanations(), DESCRIPTIONS, strict=False)),
            self.warning,
            board.drawn_anew,
            self.command,
            dict(settings)["date"],
            self.untested,
            self.not_taken,
            board.timelines() if any_alarms(results) else {},
            board.sweeps() if any(experiment.sweeps for experiment in self.study.experiments) else {},
        )
        write_atomically(self.folder / "table.parquet", tidy_table(results))
        write_atomically(self.folder / "summary.csv", outputs.summary_csv(results))
        (self.folder / "detections.csv").unlink(missing_ok=True)
        if (detections := outputs.detections_csv(results, board.means, board.drawn_anew)) is not None:
            write_atomically(self.folder / "detections.csv", detections)
        for name in ("claims.json", "claims.md"):  # of another question, such as another horizon
            (self.folder / name).unlink(missing_ok=True)
        if judged:
            write_atomically(self.folder / "claims.json", outputs.claims_json(judged))
            write_atomically(self.folder / "claims.md", self._claims_page(judged, [*page.footnotes(), *notes]))
        write_atomically(self.report, page.html().encode())

    def _claims_page(self, judged: Sequence[Judged], notes: Sequence[str]) -> bytes:
        return claims_markdown(judged, self.untested, self.not_taken, notes)

    @property
    def report(self) -> Path:
        """The path of the report."""
        return self.folder / "report.html"

    def _judge(
        self,
        results: Results,
        outcome: Outcome,
        means: Mapping[str, npt.NDArray[np.float64] | None],
        store: Store,
        stored: Sequence[Unit],
    ) -> tuple[list[Judged], Outcome]:
        """The claims, judged by the study's runs and by all further ones; and what was computed for the latter."""
        evidence: dict[str, Evidence] = {}
        for world in results.study.worlds:
            if (instance := means[world.label]) is not None:
                curves, notes = results.curves[world.label], results.notes(world)
                evidence[world.label] = Evidence(curves, instance, notes, evidence, world.label)
        judged = judge(self.claims or {}, evidence)
        more = self._further(judged, outcome, store, stored)
        return judged_again(self.study, judged, evidence, outcome.blocks | more.blocks), more

    def _further(self, judged: Sequence[Judged], first: Outcome, store: Store, stored: Sequence[Unit]) -> Outcome:
        """The runs beyond the study's own: those that are asked for are computed, those that are stored are loaded."""
        computed = Outcome({})
        if judged and self.further_runs > max(experiment.runs for experiment in self.study.experiments):
            more = further_study(self.study, judged, self.further_runs)
            beside = [*units_of(self.study), *stored]
            check_size(more)
            computed = self._run(more, store, beside=beside) if more.experiments else computed
        others = [unit for unit in stored if unit not in computed.blocks]
        loaded = load_all(others, store, beside=first.blocks | computed.blocks)
        return Outcome(computed.blocks | loaded, computed.computed)

    def _summary(self) -> str:
        experiments = self.study.experiments
        agents = {agent.label for experiment in experiments for agent in experiment.agents}
        runs = ", ".join(map(str, dict.fromkeys(experiment.runs for experiment in experiments)))
        counts = f"{_counted(len(self.study.worlds), 'world')}, {_counted(len(agents), 'agent')}, {runs} runs each"
        return f"{counts}; runs of the same number share their luck."

    def _settings(self, results: Results, outcome: Outcome, more: Outcome, seconds: float) -> list[tuple[str, Any]]:
        seeds = dict.fromkeys(experiment.seed for experiment in self.study.experiments)
        horizons = dict.fromkeys(c.horizon for curves in results.curves.values() for c in curves.values())
        played = f"{len(more.blocks)}, of which {len(more.computed)} were computed now"
        further = [("units of further runs", played)] if self.claims else []
        return [
            ("command", self.command),
            ("date", _now()),
            ("horizon T", ", ".join(f"{horizon:,}" for horizon in horizons)),
            ("seed", ", ".join(map(str, seeds))),
            ("units of work", f"{len(outcome.blocks)}, of which {len(outcome.computed)} were computed now"),
            *further,
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

    def _closing(self, outcomes: Sequence[Outcome], seconds: float, judged: Sequence[Judged]) -> list[str]:
        computed = sum(len(each.computed) for each in outcomes)
        units = set().union(*(each.blocks for each in outcomes))
        work = f"{computed} of {len(units)} units computed in {seconds:.1f} s"
        if computed:
            steps = sum(each.computed_steps for each in outcomes)
            engine = sum(each.engine_seconds for each in outcomes)
            work += f" ({steps:.3g} steps, {speed(steps, seconds)}; engine {engine:.1f} s over all threads)"
        warning = [self.warning] if self.warning else []
        return [*warning, *outputs.verdict_lines(judged), work, f"report: {self.report}"]


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
