"""From a study to its report: run, store, draw, judge, write."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ..claims.further import Trial
from ..claims.judging import Claim, Judged, Untested
from ..code_version import CodeVersions
from ..files import write_atomically
from ..parallel import RETRIES, Pool
from ..play.progress import progress_for, speed
from ..sources import code_digest
from ..statistics import INTERVALS
from ..studies import pictures, runner
from ..studies.failures import failures_in_words, remains_of, write_failures
from ..studies.results import Results, collect
from ..studies.runner import Instances, check_study
from ..studies.standings import table_of
from ..studies.store import Store, guarded
from ..studies.study import Study, pinned
from ..studies.tables import write_tables
from .claims import claims_json, claims_markdown, verdict_lines
from .page import Page
from .record import Record, basis, provenance

SHORTER = "Further runs count up to the first that some agent concerned lacks."


def speed_in_words(seconds: float, *outcomes: runner.Outcome, again: int = 0) -> str:
    """Return the number of units that were computed, and the speed; ``again`` of them since results were damaged."""
    computed, units = sum(len(each.computed) for each in outcomes), {unit for each in outcomes for unit in each.units}
    damaged = f", and {again} damaged ones again," if again else ""
    work = f"{computed} of {len(units)} units computed{damaged} in {seconds:.1f} s"
    if not computed:
        return work
    steps, engine = sum(each.computed_steps for each in outcomes), sum(each.engine_seconds for each in outcomes)
    return f"{work} ({steps:,} steps, {speed(steps, seconds)}; engine {engine:.1f} s over all threads)"


def work_in_words(outcome: runner.Outcome) -> str:
    """Return the numbers of units: all, those computed now, and those that failed."""
    failed = f", and {len(outcome.failures):,} failed" if outcome.failures else ""
    return f"{len(outcome.units):,}, of which {len(outcome.computed):,} were computed now{failed}"


WRITTEN = ("report.html", "table.parquet", "summary.csv", "detections.csv", "claims.json", "claims.md", "written.json")
NOTHING = "no report: of every experiment, units of all agents failed"


@dataclass(kw_only=True)
class StudyRun:
    """A study that is run, and of which a page is written.

    Attributes:
        folder: where everything is written.
        simulate: the engine.
        n_jobs: the number of its threads.
        warning: what must be read before the results.
        command: what was typed, for the page.
        pool: makes the workers, such as processes or a cluster; threads of this process if None.
        retries: how often a unit is tried again that raised an error.
        fresh: whether all results that are stored in the folder are dropped first.
        failures: the units that have no result, once it was run.
    """

    folder: Path
    simulate: runner.Simulate
    n_jobs: int | None = None
    warning: str = ""
    command: str = ""
    pool: Callable[[], Pool] | None = None
    retries: int = RETRIES
    fresh: bool = False
    failures: tuple[runner.Failure, ...] = field(default=(), init=False)

    def compute(self, store: Store, pool: Pool | None, study: Study) -> runner.Outcome:
        """Compute the units of a study that are not in the store."""
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "pool": pool, "retries": self.retries}
        return runner.run(study, store, self.simulate, progress_for(sys.stderr), **options)


@dataclass
class Pipeline(StudyRun):
    """Runs a study and writes everything that is made from it.

    Attributes:
        study: the study to run.
        claims: claims about the study's worlds, by label.
        further_runs: how many runs there should be of the agents whose runs leave a claim undecided; what is stored of
            them counts in any case.
        untested: sentences that runs cannot decide, with the reason.
        not_taken: readings of what is left open that were not taken, with the reason.
        notes: what the report must say about choices that were made.
        observe: a function from the results to what the report must say about them.
        explanations: whether the two figures that explain the theory are drawn too.
        trust_models: whether saved models (.zip) may be loaded, which can run any code.
    """

    study: Study
    claims: Mapping[str, Sequence[Claim]] | None = None
    further_runs: int = 0
    untested: Sequence[Untested] = ()
    not_taken: Sequence[str] = ()
    notes: Sequence[str] = ()
    observe: Callable[[Results], Sequence[str]] = lambda results: ()
    explanations: bool = False
    trust_models: bool = False

    def run(self) -> list[str]:
        """Run everything, and return the lines to print at the end."""
        began = time.perf_counter()
        self.study = pinned(self.study, trust_models=self.trust_models)
        check_study(self.study)
        with nullcontext() if self.pool is None else self.pool() as pool:
            return self._done(pool, began)

    def _done(self, pool: Pool | None, began: float) -> list[str]:
        """Compute what is missing, and write everything."""
        means, record = Instances(self.study), Record([self.folder, self.folder / "figures"])
        with Store(self.folder, CodeVersions(print), fresh=self.fresh) as store:
            compute, load = partial(self.compute, store, pool), partial(runner.load, store, simulate=self.simulate)
            trial = Trial(self.study, store, self.claims or {}, self.further_runs, compute, load)
            first = compute(self.study)
            made_from = basis(first.units, store.code, *self._shown())
            if not first.computed and (said := record.said(made_from)):
                work = f"0 of {said['units']} units computed in {time.perf_counter() - began:.1f} s"
                return [*said["lines"], work, f"report: {self.report}"]
            remains = remains_of(self.study, first.failures)
            results = collect(remains.study, load)
            judged, more = trial.verdicts(results, first, means)
            self.failures = (*first.failures, *more.failures)
            units = len({*first.units, *more.units})
            missing: list[str] = []  # the missing runs, and what follows from them
            if self.failures:
                later = remains_of(trial.further, more.failures).gaps
                known = {(each.world, each.claim.key) for each in judged}
                asked = [(world, claim.key) for world, about in (self.claims or {}).items() for claim in about]
                open_ = [f"{key} ({world})" for world, key in asked if (world, key) not in known]
                missing = [*failures_in_words(self.failures, [*remains.gaps, *later], units), *remains.in_words()]
                if open_:
                    missing.append(
                        f"No verdict, for want of these runs, on {len(open_)} sentences: {'; '.join(open_)}."
                    )
                if later:
                    missing.append(SHORTER)
            with guarded(self.folder, "write the report to"):
                self._write(results, first, more, judged, missing, time.perf_counter() - began, means)
            lines = [*filter(None, [self.warning]), *missing, *verdict_lines(judged)]
            if self.claims is None and remains.study.experiments:
                lines += ["", *str(table_of(results)).splitlines(), ""]
        if not self.failures:
            record.keep(made_from, {"lines": lines, "units": units})
        report = f"report: {self.report}" if remains.study.experiments else NOTHING
        return [*lines, speed_in_words(time.perf_counter() - began, first, more, again=store.rejected), report]

    def _shown(self) -> tuple[Any, list[Callable[..., Any]]]:
        """Everything besides results that the report shows, and the functions that make more of it."""
        claims = [(world, claim) for world, about in (self.claims or {}).items() for claim in about]
        judging = [claim.decide for _, claim in claims]
        words = [claim.test for _, claim in claims if callable(claim.test)]
        sentences = [(world, claim.key, claim.quote, claim.said_of) for world, claim in claims]
        remarks = (self.untested, self.not_taken, self.notes, self.warning, self.command, self.explanations)
        return (self.study, self.further_runs, sentences, remarks), [self.observe, *judging, *words]

    def _write(
        self,
        results: Results,
        first: runner.Outcome,
        more: runner.Outcome,
        judged: Sequence[Judged],
        missing: Sequence[str],
        seconds: float,
        means: Instances,
    ) -> None:
        """Write the figures, the tables, the claims and the report, and what failed."""
        write_failures(self.folder, self.failures)
        if not results.study.experiments:
            for name in WRITTEN:  # of an earlier run
                (self.folder / name).unlink(missing_ok=True)
            return
        drawn = pictures.draw(results, means, self.folder / "figures", self.explanations)
        totals = write_tables(results, self.folder, means)
        notes = [*self.notes, *self.observe(results)]
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        seeds = dict.fromkeys(experiment.seed for experiment in self.study.experiments)
        settings = [
            ("command", self.command),
            ("date", made),
            ("horizon T", ", ".join(f"{horizon:,}" for horizon in totals.horizons)),
            ("seed", ", ".join(map(str, seeds))),
            ("units of work", work_in_words(first)),
            *([("units of further runs", work_in_words(more))] if self.claims else []),
            ("engine time of all units", f"{totals.seconds:.1f} s, over all threads"),
            ("agent steps", f"{totals.steps:,}"),
            ("time of this run before the report", f"{seconds:.1f} s"),
            ("code of the engine", (code_digest() or "unreadable")[:16]),
            *provenance(),
            ("intervals", INTERVALS),
        ]
        page = Page(
            results=results,
            means=means,
            settings=settings,
            judged=judged,
            notes=notes,
            drawn=drawn,
            warning=" ".join(filter(None, [self.warning, *missing])),
            command=self.command,
            made=made,
            untested=self.untested,
            not_taken=self.not_taken,
        )
        for name in ("claims.json", "claims.md", "written.json"):  # of another question, such as another horizon
            (self.folder / name).unlink(missing_ok=True)
        if judged:
            notes = [*missing, *page.footnotes(), *notes]
            said = claims_markdown(judged, self.untested, self.not_taken, notes)
            write_atomically(self.folder / "claims.json", claims_json(judged))
            write_atomically(self.folder / "claims.md", said)
        write_atomically(self.report, page.html().encode())

    @property
    def report(self) -> Path:
        """The path of the report."""
        return self.folder / "report.html"
