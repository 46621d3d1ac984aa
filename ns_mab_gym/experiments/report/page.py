"""The report: one self-contained page with verdicts, interactive curves, tables, settings and provenance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from plotly.offline import get_plotlyjs

from ..claims import Judged, Verdict
from ..figures import phase_starts
from ..results import Results
from ..spec import Experiment, WorldEntry
from .assets import CSS, JS, POLICY
from .charts import Chart, as_json, family_chart, means_chart, regret_chart
from .markup import figure_image, heading, listing, paragraph, scale_buttons, table, text
from .tables import final_table, settings_table, verdict_details, verdict_table

__all__ = ["Page"]


@dataclass
class Page:
    """What a report shows; :meth:`html` writes it.

    Attributes:
        results: the curves.
        means: an instance of each world by label, where its means are known.
        summary: a sentence under the title.
        judged: claims with their verdicts, if there are any.
        notes: what the reader must know about choices made.
        explanations: figures with a description, shown with the notes.
        settings: pairs of a setting and its value.
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
    _charts: dict[str, Chart] = field(default_factory=dict)

    def html(self) -> str:
        """The whole page."""
        study = self.results.study
        body = [f"<h1>{text(study.title)}</h1>", paragraph(self.summary, "muted"), self._contents(), self._verdicts()]
        body += [self._world(number, world) for number, world in enumerate(study.worlds)]
        body += [self._explained(), heading(2, "Settings and provenance", "settings"), self._parameters()]
        body.append(settings_table(self.settings))
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{text(study.title)}</title><style>{CSS}</style></head><body>{''.join(body)}"
            f"<script>{get_plotlyjs()}</script>"
            f'<script type="application/json" id="charts">{as_json(self._charts)}</script>'
            f"<script>{JS}</script></body></html>\n"
        )

    def _contents(self) -> str:
        worlds = enumerate(self.results.study.worlds)
        links = [f'<a href="#world-{number}">{text(world.label)}</a>' for number, world in worlds]
        before = ['<a href="#verdicts">Verdicts</a>'] if self.judged else []
        return f'<nav>{"".join([*before, *links])}<a href="#settings">Settings and provenance</a></nav>'

    def _verdicts(self) -> str:
        if not self.judged:
            return ""
        counts = Counter(each.finding.verdict for each in self.judged)
        words = (
            f"{counts[Verdict.HOLDS]} hold, {counts[Verdict.FAILS]} do not hold (no), {counts[Verdict.UNDECIDED]} are "
        )
        words += "undecided at this number of runs (open). † The paper says it of σ = 0.0001; the test here is ours."
        rule = (
            "A comparison is true or false if the 95 % bootstrap-t interval of the paired difference (Bonferroni over "
            "the comparisons of its claim) excludes zero or the margin that the test names, and open otherwise."
        )
        return (
            heading(2, "What the paper says, and what the runs show", "verdicts")
            + (paragraph(self.warning, "warning") if self.warning else "")
            + paragraph(f"{len(self.judged)} sentences were put to the test: {words}")
            + verdict_table(self.judged)
            + heading(3, "Claim by claim")
            + paragraph(rule, "muted")
            + verdict_details(self.judged)
            + listing(self.footnotes())
        )

    def footnotes(self) -> list[str]:
        """What the stars at agents' names mean."""
        starred = (c.agent for curves in self.results.curves.values() for c in curves.values() if c.agent.note)
        return [f"* {agent.label}: {agent.note}" for agent in dict.fromkeys(starred)]

    def _world(self, number: int, world: WorldEntry) -> str:
        parts = [heading(2, world.label, f"world-{number}"), paragraph(world.words, "muted")]
        means = self.means[world.label]
        if means is not None:
            title = "Means (as in the first run)" if world.label in self.drawn_anew else "Means"
            parts += [heading(3, title), self._chart(f"means-{number}", means_chart(means, phase_starts(means)))]
        for place, experiment in enumerate(self.results.study.experiments):
            if world in experiment.worlds:
                parts.append(self._experiment(f"{number}-{place}", experiment, world))
        return "".join(parts)

    def _experiment(self, name: str, experiment: Experiment, world: WorldEntry) -> str:
        curves = self.results.of(experiment, world)
        parts = []
        if groups := experiment.groups:
            for index, (group, agents) in enumerate(groups.items()):
                chart = f"family-{name}-{index}"
                members = [curves[agent.label] for agent in agents]
                parts += [heading(3, f"Sensitivity: {group}"), scale_buttons(chart)]
                parts.append(self._chart(chart, family_chart(members)))
        else:
            chart = f"regret-{name}"
            parts += [heading(3, "Cumulative regret (mean, one standard deviation)"), scale_buttons(chart)]
            changes = [] if world.label in self.drawn_anew else phase_starts(self.means[world.label])
            parts.append(self._chart(chart, regret_chart(curves, changes)))
        return "".join([*parts, final_table(curves, experiment.reference)])

    def _chart(self, name: str, chart: Chart) -> str:
        self._charts[name] = chart
        return f'<div class="chart" id="{name}"></div>'

    def _explained(self) -> str:
        if not self.notes and not self.explanations:
            return ""
        images = [f"{paragraph(words)}{figure_image(path, words)}" for path, words in self.explanations]
        return heading(2, "Notes", "notes") + listing(self.notes) + "".join(images)

    def _parameters(self) -> str:
        """The parameters with which every agent played."""
        rows = [
            (text(world), text(label), f"<code>{text(curve.agent.words)}</code>", text(_settings(curve.parameters)))
            for world, curves in self.results.curves.items()
            for label, curve in curves.items()
        ]
        head = ("World", "Agent", "In words", "Parameters")
        return f"<details><summary>Parameters of every agent</summary>{table(head, rows)}</details>"


def _settings(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}" for key, value in parameters.items()
    )
