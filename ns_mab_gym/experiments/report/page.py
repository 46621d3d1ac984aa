"""The report: one self-contained page with verdicts, interactive curves, tables, settings and provenance."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..claims import Judged
from ..results import Results
from .page_tables import parameter_rows
from .rendering import render
from .sections import Sections
from .verdicts import verdicts_of

__all__ = ["Page"]


@dataclass(frozen=True)
class Picture:
    """An SVG file that becomes part of the page."""

    description: str
    base64: str


@dataclass
class Page:
    """What a report shows; :meth:`html` writes it.

    Attributes:
        results: the results of the study.
        means: an instance of each world by label, where its means are known.
        summary: a sentence under the title.
        settings: pairs of a setting and its value.
        judged: claims with their verdicts, if there are any.
        notes: what the reader must know about choices that were made.
        explanations: figures with a description, shown with the notes.
        warning: what must be read before the verdicts.
        drawn_anew: the labels of worlds whose means differ from run to run.
    """

    results: Results
    means: Mapping[str, npt.NDArray[np.float64] | None]
    summary: str
    settings: Sequence[tuple[str, Any]]
    judged: Sequence[Judged] = ()
    notes: Sequence[str] = ()
    explanations: Sequence[tuple[Path, str]] = ()
    warning: str = ""
    drawn_anew: Collection[str] = ()

    def html(self) -> str:
        """The whole page."""
        worlds = Sections(self.results, self.means, self.drawn_anew).of_worlds()
        return render(
            {
                "title": self.results.study.title,
                "summary": self.summary,
                "warning": self.warning,
                "verdicts": verdicts_of(self.judged) if self.judged else None,
                "footnotes": self.footnotes(),
                "worlds": worlds,
                "notes": self.notes,
                "pictures": self._pictures(),
                "parameters": parameter_rows(self.results),
                "settings": self.settings,
                "charts": {slot.anchor: slot.chart for world in worlds for slot in world.charts},
            }
        )

    def footnotes(self) -> list[str]:
        """What the stars at agents' names mean."""
        starred = (self.results.notes(world).items() for world in self.results.study.worlds)
        return [f"* {label}: {note}" for label, note in dict.fromkeys(pair for pairs in starred for pair in pairs)]

    def _pictures(self) -> list[Picture]:
        return [
            Picture(description, base64.b64encode(path.read_bytes()).decode())
            for path, description in self.explanations
        ]
