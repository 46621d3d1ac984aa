"""Final regrets of agents on worlds, ordered and beside the best: as text, for a notebook and as LaTeX."""

from __future__ import annotations

import html
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..means import Floats
from ..statistics import FEWEST, Interval, differences, mean_interval
from ..theory.text_tables import table
from .results import Results

NOTHING = "–"
LATEX = str.maketrans(
    {**{each: f"\\{each}" for each in "&%$#_{}"}, "\\": "\\textbackslash{}", "~": "\\textasciitilde{}",
     "^": "\\textasciicircum{}", "−": "$-$", "±": "$\\pm$", "–": "--"}
)  # fmt: skip


class Misfit(NamedTuple):
    """An agent that cannot play a world, and the reason."""

    world: str
    agent: str
    reason: str

    def __str__(self) -> str:
        return f"{self.agent} on {self.world}: {self.reason}"


@dataclass(frozen=True)
class Standing:
    """The final regret of an agent on a world, beside that of the best.

    Attributes:
        agent: its label.
        place: 1 has the least mean regret; equal means share the better place.
        regret: the mean final regret, with its own 95 % interval (percentile bootstrap).
        sd: the standard deviation of the final regret; NaN for a single run.
        se: the standard error of its mean; NaN for a single run.
        more: by how much its mean exceeds that of the best, run by run on the same luck; the intervals of all pairs of
            agents hold together with 95 %, so that they are right whichever turns out to be the best and the next.
    """

    agent: str
    place: int
    regret: Interval
    sd: float
    se: float
    more: Interval


def standings_of(finals: Mapping[str, Floats]) -> list[Standing]:
    """Return the standing of each agent, given the final regrets (R,) of all; the least mean first."""
    means = {label: float(final.mean()) for label, final in finals.items()}
    ranked = sorted(means, key=means.__getitem__)
    more, found = differences(finals, ranked[0]), []
    for label in ranked:
        final, runs, than = finals[label], len(finals[label]), more.get(label)
        sd = float(final.std(ddof=1)) if runs > 1 else np.nan
        beside = Interval(0.0, np.nan, np.nan) if than is None else Interval(than.mean, than.low, than.high)
        place = 1 + sum(mean < means[label] for mean in means.values())
        found.append(Standing(label, place, mean_interval(final), sd, sd / runs**0.5, beside))
    return found


def rounded(value: float, digits: int) -> str:
    """A number as text, with a true minus."""
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


@dataclass(frozen=True)
class StandingsTable:
    """Final regrets of the agents of a comparison: ``print`` shows them as text, a notebook as tables.

    Attributes:
        worlds: the standings by the label of the world, the least mean regret first.
        horizons: T, by the same labels.
        runs: the number of runs of each agent.
        misfits: the pairs that could not be played.
    """

    worlds: Mapping[str, Sequence[Standing]]
    horizons: Mapping[str, int]
    runs: int
    misfits: Sequence[Misfit] = ()

    def overall(self) -> dict[str, float]:
        """Return the mean rank among the agents that played on every world, the best first; empty for one of either."""
        regrets = [{row.agent: row.regret.value for row in rows} for rows in self.worlds.values()]
        everywhere = [agent for agent in regrets[0] if all(agent in found for found in regrets)]
        if len(regrets) < 2 or len(everywhere) < 2:
            return {}
        ranks = {
            agent: statistics.mean(1 + sum(found[other] < found[agent] for other in everywhere) for found in regrets)
            for agent in everywhere
        }
        return dict(sorted(ranks.items(), key=lambda pair: pair[1]))

    def _tables(self) -> dict[str, list[tuple[str, ...]]]:
        """The cells of every table, by its title."""
        of = "one run" if self.runs == 1 else f"mean ± standard error of {self.runs:,} runs"
        tables: dict[str, list[tuple[str, ...]]] = {}
        for world, rows in self.worlds.items():
            errors, means = ([each for each in values if each > 0] for values in
                             ([row.se for row in rows], [row.regret.value for row in rows]))  # fmt: skip
            error = statistics.median(errors) if errors else statistics.median(means or [0.0]) / 100
            digits = 0 if error <= 0 or not math.isfinite(error) else min(max(1 - math.floor(math.log10(error)), 0), 6)
            cells: list[tuple[str, ...]] = [("   agent", "regret", "more than the best")]
            for row in rows:
                mean, value = rounded(row.regret.value, digits), f"+{rounded(row.more.value, digits)}"
                se = "" if math.isnan(row.se) else f" ± {rounded(row.se, digits)}"
                low, high = rounded(row.more.low, digits), rounded(row.more.high, digits)
                beside = value if math.isnan(row.more.low) else f"{value} [{low}, {high}]"
                is_best = row.more.value == 0 and math.isnan(row.more.low)
                cells.append((f"{row.place:2} {row.agent}", f"{mean}{se}", NOTHING if is_best else beside))
            cells += [(f" {NOTHING} {each.agent}", "cannot play", "") for each in self.misfits if each.world == world]
            rounds = f"{self.horizons[world]:,} round{'s' if self.horizons[world] > 1 else ''}"
            tables[f"{world}: regret after {rounds}, {of}"] = cells
        if ranks := self.overall():
            title = f"mean rank over {len(self.worlds)} worlds"
            tables[title] = [("   agent", "rank"), *((f"   {agent}", f"{each:.2f}") for agent, each in ranks.items())]
        return tables

    def _note(self) -> str:
        if max(map(len, self.worlds.values())) < 2:
            return ""
        if self.runs < FEWEST:
            return f"no intervals: they need at least {FEWEST} runs"
        return "in brackets: 95 % intervals of differences on the same luck, for all pairs of agents together"

    def to_latex(self) -> str:
        """Return the tables as LaTeX, each a ``tabular`` with the lines of the package ``booktabs``."""
        parts = []
        for title, cells in self._tables().items():
            head, *rows = (" & ".join(cell.strip().translate(LATEX) for cell in row) + " \\\\" for row in cells)
            begin = f"\\begin{{tabular}}{{l{'r' * (len(cells[0]) - 1)}}}"
            body = [begin, "\\toprule", head, "\\midrule", *rows, "\\bottomrule", "\\end{tabular}"]
            parts.append("\n".join([f"% {' '.join(title.split())}", *body]))
        return "\n\n".join([*parts, *([f"% {note}"] if (note := self._note()) else [])])

    def __str__(self) -> str:
        parts = [f"{title}\n{table(cells)}" for title, cells in self._tables().items()]
        return "\n\n".join(filter(None, [*parts, self._note()]))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = []
        for title, (heads, *rows) in self._tables().items():
            head = "".join(f"<th>{html.escape(cell.strip())}</th>" for cell in heads)
            body = "".join(
                f"<tr>{''.join(f'<td>{html.escape(cell.strip())}</td>' for cell in row)}</tr>" for row in rows
            )
            parts.append(f"<table><caption>{html.escape(title)}</caption><tr>{head}</tr>{body}</table>")
        return "".join([*parts, f"<p>{html.escape(note)}</p>" if (note := self._note()) else ""])


def table_of(results: Results) -> StandingsTable:
    """Return the final regrets of a study, of the first experiment on each world."""
    first = {world.label: (each, world) for each in results.study.experiments[::-1] for world in each.worlds}
    worlds, horizons = {}, {}
    for world in results.study.worlds:
        curves = results.of(*first[world.label])
        worlds[world.label] = standings_of({label: runs.final for label, runs in curves.items()})
        horizons[world.label] = next(iter(curves.values())).horizon
    return StandingsTable(worlds, horizons, results.study.experiments[0].runs)
