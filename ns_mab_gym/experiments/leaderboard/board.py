"""From a plan to its page: run what is missing, rank, draw, advise, write."""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...files import write_atomically
from ..identity import code_versions
from ..parquet import versions
from ..pinned_files import pinned
from ..preflight import check_size
from ..progress import progress_for, speed
from ..result_folders import guarded
from ..results import collect
from ..runner import Outcome, Simulate, run
from ..store import Store
from .board_files import board_csv, board_json, write_snapshot
from .board_page import BoardPage
from .board_pictures import draw_board
from .board_plan import BoardPlan
from .board_table import divisions_of
from .findings import TOP, findings_of
from .standings import Standings, standings_of

__all__ = ["Leaderboard"]


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
        snapshot: a folder of the repository into which page, pictures and tables are written too; None if nowhere.
    """

    plan: BoardPlan
    folder: Path
    simulate: Simulate
    n_jobs: int | None = None
    command: str = ""
    warning: str = ""
    snapshot: Path | None = None

    def run(self) -> list[str]:
        """Run everything, and return the lines to print at the end."""
        began = time.perf_counter()
        study = pinned(self.plan.study())
        check_size(study)
        with Store(self.folder, code_versions(print)) as store:
            outcome = run(study, store, self.simulate, progress_for(sys.stderr), n_jobs=self.n_jobs)
            standings = [standings_of(each) for each in divisions_of(self.plan, collect(study, outcome.blocks))]
            with guarded(self.folder, "write the page to"):
                self._write(standings, outcome)
        return self._closing(standings, outcome, time.perf_counter() - began)

    @property
    def page(self) -> Path:
        """The path of the page."""
        return self.folder / "leaderboard.html"

    def _write(self, standings: list[Standings], outcome: Outcome) -> None:
        pictures, findings = draw_board(standings, self.folder / "figures"), findings_of(standings)
        page = BoardPage(findings, pictures, self.command, _now(), self._settings(outcome), self.warning)
        about = self._about(standings)
        write_atomically(self.folder / "leaderboard.csv", board_csv(standings))
        write_atomically(self.folder / "leaderboard.json", board_json(findings, about))
        write_atomically(self.page, page.html().encode())
        if self.snapshot is not None:
            write_snapshot(findings, about, pictures.values(), self.snapshot)

    def _about(self, standings: list[Standings]) -> dict[str, Any]:
        return {
            "command": self.command,
            "date": _now()[:10],
            "versions": versions(),
            "seed": self.plan.seed,
            "worlds": len(self.plan.worlds),
            "counting": len(standings[0].division.counting),
        }

    def _settings(self, outcome: Outcome) -> list[tuple[str, Any]]:
        blocks = outcome.blocks.values()
        return [
            ("command", self.command),
            ("date", _now()),
            ("seed", self.plan.seed),
            ("units of work", f"{len(outcome.blocks):,}, of which {len(outcome.computed):,} were computed now"),
            ("agent steps", f"{sum(block.steps for block in blocks):,}"),
            ("engine time of all units", f"{sum(block.seconds for block in blocks):,.0f} s, over all threads"),
            *versions().items(),
            ("machine", f"{platform.platform()}, {os.cpu_count()} cores"),
        ]

    def _closing(self, standings: list[Standings], outcome: Outcome, seconds: float) -> list[str]:
        work = f"{len(outcome.computed)} of {len(outcome.blocks)} units computed in {seconds:.1f} s"
        if outcome.computed:
            work += f" ({outcome.computed_steps:.3g} steps, {speed(outcome.computed_steps, seconds)})"
        firsts = [f"{each.division.name}: {', '.join(each.labels[:TOP])}" for each in standings if each.rows]
        return [*([self.warning] if self.warning else []), *firsts, work, f"page: {self.page}"]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
