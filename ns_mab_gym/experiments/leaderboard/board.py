"""From a plan to its page: run what is missing, rank, draw, advise, write."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ...files import write_atomically
from ...installed_versions import versions
from ...workforce import RETRIES, Crew
from ..failure_texts import failures_in_words, write_failures
from ..identity import code_versions
from ..pinned_files import pinned
from ..preflight import check_size
from ..progress import progress_for, speed
from ..ran_study import work_in_words
from ..remaining_study import Remains, remains_of
from ..result_folders import guarded
from ..results import collect
from ..run_totals import Totals
from ..runner import Failure, Outcome, Simulate, load, run, until_whole
from ..store import Store
from ..study import Study
from .board_files import board_csv, board_json, write_snapshot
from .board_page import BoardPage
from .board_pictures import draw_board
from .board_plan import BoardPlan
from .board_table import divisions_of
from .findings import TOP, findings_of
from .standings import Standings, standings_of

__all__ = ["Leaderboard"]

WRITTEN = ("leaderboard.html", "leaderboard.csv", "leaderboard.json")
UNPLACED = "Who failed on a world has no result there, and no place if the world counts."
NO_SNAPSHOT = "no snapshot: runs are missing"
NOTHING = "no page: units of everybody who competes failed"


@dataclass
class Leaderboard:
    """Runs a plan and writes everything that is made from it.

    Attributes:
        plan: who plays what.
        folder: where everything is written.
        simulate: the engine.
        n_jobs: the number of its threads.
        command: what was typed.
        warning: what must be read before the tables.
        snapshot: a folder of the repository into which page, pictures and tables are written too, unless units failed;
            None if nowhere.
        hire: finds those who compute, such as processes or a cluster; threads of this process if None.
        retries: how often a unit is tried again that raised an error.
        failures: the units that have no result, once it was run.
    """

    plan: BoardPlan
    folder: Path
    simulate: Simulate
    n_jobs: int | None = None
    command: str = ""
    warning: str = ""
    snapshot: Path | None = None
    hire: Callable[[], Crew] | None = None
    retries: int = RETRIES
    failures: tuple[Failure, ...] = field(default=(), init=False)

    def run(self) -> list[str]:
        """Run everything, and return the lines to print at the end."""
        began = time.perf_counter()
        study = pinned(self.plan.study())
        check_size(study)
        with nullcontext() if self.hire is None else self.hire() as crew:
            return until_whole(partial(self._done, study, crew, began))

    def _done(self, study: Study, crew: Crew | None, began: float) -> list[str]:
        """Compute what is missing, and write everything."""
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "crew": crew, "retries": self.retries}
        with Store(self.folder, code_versions(print)) as store:
            outcome = run(study, store, self.simulate, progress_for(sys.stderr), **options)
            self.failures = outcome.failures
            remains = remains_of(study, outcome.failures)
            divisions, totals = divisions_of(self.plan, collect(remains.study, partial(load, store), store.reject))
            standings = [standings_of(each) for each in divisions]
            said = self._said(outcome, remains, standings)
            with guarded(self.folder, "write the page to"):
                self._write(standings, self._settings(outcome, totals), said)
        return self._closing(standings, outcome, said, time.perf_counter() - began)

    @property
    def page(self) -> Path:
        """The path of the page."""
        return self.folder / "leaderboard.html"

    def _said(self, outcome: Outcome, remains: Remains, standings: Sequence[Standings]) -> list[str]:
        """What must be read before the tables: the warning, which runs are missing, and what follows from it."""
        told = failures_in_words(outcome.failures, remains.gaps, len(outcome.units))
        follows = [UNPLACED] if told and standings else []
        return [*([self.warning] if self.warning else []), *told, *follows]

    def _write(self, standings: Sequence[Standings], settings: list[tuple[str, Any]], said: Sequence[str]) -> None:
        write_failures(self.folder, self.failures)
        if not standings:
            for name in WRITTEN:  # of an earlier run
                (self.folder / name).unlink(missing_ok=True)
            return
        pictures, findings = draw_board(standings, self.folder / "figures"), findings_of(standings)
        page = BoardPage(findings, pictures, self.command, _now(), settings, " ".join(said))
        about = self._about(standings)
        write_atomically(self.folder / "leaderboard.csv", board_csv(standings))
        write_atomically(self.folder / "leaderboard.json", board_json(findings, about))
        write_atomically(self.page, page.html().encode())
        if self.snapshot is not None and not self.failures:
            write_snapshot(findings, about, pictures.values(), self.snapshot)

    def _about(self, standings: Sequence[Standings]) -> dict[str, Any]:
        return {
            "command": self.command,
            "date": _now()[:10],
            "versions": versions(),
            "seed": self.plan.seed,
            "worlds": len(self.plan.worlds),
            "counting": len(standings[0].division.counting),
        }

    def _settings(self, outcome: Outcome, totals: Totals) -> list[tuple[str, Any]]:
        return [
            ("command", self.command),
            ("date", _now()),
            ("seed", self.plan.seed),
            ("units of work", work_in_words(outcome)),
            ("agent steps", f"{totals.steps:,}"),
            ("engine time of all units", f"{totals.seconds:,.0f} s, over all threads"),
            *versions().items(),
            ("machine", f"{platform.platform()}, {os.cpu_count()} cores"),
        ]

    def _closing(
        self, standings: Sequence[Standings], outcome: Outcome, said: Sequence[str], seconds: float
    ) -> list[str]:
        work = f"{len(outcome.computed)} of {len(outcome.units)} units computed in {seconds:.1f} s"
        if outcome.computed:
            work += f" ({outcome.computed_steps:.3g} steps, {speed(outcome.computed_steps, seconds)})"
        firsts = [f"{each.division.name}: {', '.join(each.labels[:TOP])}" for each in standings if each.rows]
        unkept = [NO_SNAPSHOT] if self.snapshot is not None and self.failures else []
        return [*said, *firsts, work, *unkept, f"page: {self.page}" if standings else NOTHING]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
