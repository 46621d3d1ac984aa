"""The leaderboard: run what is missing, rank, draw, and write the page, the tables and the snapshot."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..code_version import CodeVersions
from ..figures.leaderboard import RankedAgent, RatePanel, heatmap_figure, ranks_figure, rates_figure
from ..figures.style import save
from ..files import write_atomically
from ..parallel import Pool
from ..report.page import environment
from ..report.pipeline import StudyRun, speed_in_words, work_in_words
from ..report.record import Record, basis, provenance
from ..report.sections import embedded
from ..sources import versions
from ..studies import runner
from ..studies.failures import failures_in_words, remains_of, write_failures
from ..studies.results import StudyTotals, collect
from ..studies.store import Store, guarded
from ..studies.study import REFERENCES, Study, pinned
from ..studies.tables import csv_table, json_text
from . import ranks
from .plan import CHANGES, SPEEDS, BoardPlan

RULES = (
    "Informed: every agent is tuned by its own source's formula from the true facts of the instance that it will meet "
    "(the number of changes, V_T, σ; br-mab reads the means themselves). Blind: the agent is told T, K and the "
    "law of rewards alone, and nothing of how the means move.",
    "Run r has the same instance and the same luck for every agent, so that agents are compared in pairs. On random "
    "worlds every run has an instance of its own, and informed agents are tuned anew for each.",
    "On a world, agents are ranked by their mean regret in round T. An agent's mean rank is the mean over the worlds "
    "of a family, then over the families, so that seven kinds of random phases do not outvote two of rising means.",
    f"Intervals are over worlds: families are drawn with replacement, then worlds within each, {ranks.SAMPLES:,} "
    "times. They say what the rank could be on other worlds of these kinds, and not what it would be with other luck.",
    "Only worlds that every agent of the zoo can play count for ranks. Gaussian rewards leave [0, 1], for which many "
    "rules are not defined: these worlds are shown and do not count. Who misses a world that counts has no place.",
    "Agents for rewards of 0 or 1 play Beta rewards by a coin flip with the reward as its chance, which adds noise "
    "that the others do not have.",
    "Each algorithm has one form with a place; further forms are shown without one, because two forms of one algorithm "
    "would push everybody else down by two. raw-ucb and fewa have a place in their geometric forms: the exact ones "
    "take too long.",
    "oracle-restart is told the breakpoints and random plays at random: they are references and have no place. Regret "
    "relative to oracle-restart is shown on worlds that consist of phases alone; where means drift there is no phase "
    "to restart in, and regret is relative to the best agent only.",
    "Regret below 1 counts as 1, so that no ratio is infinite.",
    "Two agents are told apart if the 95 % interval of the difference of their mean ranks, or on worlds of one kind "
    "that of the ratio of their regrets, leaves out equality. These intervals hold for all pairs of agents together, "
    "so that the best may be looked for first.",
)

FLATTERED = (
    "Mean ranks flatter agents that are never bad, and hide by how much others are better; the geometric mean of "
    "regret divided by the best shows that, and is beside the ranks.",
    "Families have the same weight, which flatters those who are good in small ones: two worlds of rising means weigh "
    "as much as seven of random phases. The table of other rules shows the order with equal weights of worlds.",
    "About half of the worlds consist of phases, as change detectors assume, and nearly all rewards are Bernoulli, "
    "which flatters agents made for them: Beta samplers, KL indices and GLR tests.",
    "The informed division flatters agents that ask for much: it gives them exact numbers that nobody has in practice.",
    "Where means drift, every round changes some of them: an informed agent whose formula is made for few changes is "
    "told of T − 1, which may well hurt it. Being told is not always better than being blind.",
    "Horizons are short (10,000 rounds for most), which flatters agents that explore little; what a theorem says of "
    "long ones may begin later.",
    "On random worlds the mean regret is over instances of their own, so that hard instances weigh more than easy "
    "ones.",
    "The best agent of a topic is chosen by the same runs that show its regret, which flatters it a little.",
)


AXES = {CHANGES: "number of changes", SPEEDS: "standard deviation of a step"}
KINDS = {CHANGES: "random phases", SPEEDS: "random walks"}


def draw_board(standings: Sequence[ranks.DivisionStandings], folder: Path) -> dict[str, Path]:
    """Draw everything as PNG and SVG; returns the SVG files by their names without an ending."""
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Figure] = {}
    for each in standings:
        division = each.division
        if each.rows:  # agents with a place first, in their order, then the others
            agents = list(dict.fromkeys([*each.labels, *division.labels]))
            ratios = division.to_best[[division.labels.index(agent) for agent in agents]]
            worlds, families = zip(*((world.label, world.family) for world in division.worlds), strict=True)
            title = f"Regret relative to the best of the {division.name} agents"
            figures[f"{division.name}-heatmap"] = heatmap_figure(agents, worlds, ratios, title, families)
            ranked = [RankedAgent(row.label, row.rank, row.low, row.high) for row in each.rows]
            title = f"Mean ranks of the {division.name} agents"
            figures[f"{division.name}-ranks"] = ranks_figure(ranked, each.groups, title)
    if panels := [panel for axis in AXES for each in standings if (panel := _panel(each, axis))]:
        figures["rates"] = rates_figure(panels)
    return {name: save(figure, folder, name)[1] for name, figure in figures.items()}


def _panel(standings: ranks.DivisionStandings, axis: str) -> RatePanel | None:
    """Regret along one kind of change; None if there are no two worlds along it."""
    division = standings.division
    values = {world: world.axis[1] for world in division.worlds if world.axis and world.axis[0] == axis}
    along = sorted(values, key=values.__getitem__)
    if len(along) < 2 or not standings.rows:
        return None
    shown = {
        name: np.where([world.label in division.phased or name == ranks.CHANCE for world in along], regret, np.nan)
        for name in REFERENCES
        if not np.isnan(regret := division.means([name], along)[0]).all()
    }
    regrets = dict(zip(standings.labels, division.means(standings.labels, along), strict=True))
    return RatePanel(f"{division.name}: {KINDS[axis]}", AXES[axis], [values[each] for each in along], regrets, shown)


NOTHING = "–"


@dataclass
class BoardPage:
    """The content of the page; :meth:`html` writes it.

    Attributes:
        findings: the standings, the guide and the orders by other rules.
        pictures: SVG files by name, see :func:`draw_board`.
        command: the command that made it.
        made: the date and time.
        settings: pairs of a setting and its value.
        warning: a text to be read first.
    """

    findings: ranks.Findings
    pictures: Mapping[str, Path]
    command: str
    made: str
    settings: Sequence[tuple[str, Any]]
    warning: str = ""

    def html(self) -> str:
        """The whole page."""
        standings = self.findings.standings
        division = standings[0].division
        runs = sorted({world.runs for world in division.worlds})
        content = {
            "command": self.command,
            "meta": [
                self.made,
                f"{len(division.worlds)} worlds, of which {len(division.counting)} count",
                f"{max(len(each.rows) for each in standings)} agents with a place",
                f"{' or '.join(map(str, runs))} runs each",
            ],
            "warning": self.warning,
            "general": self.findings.general,
            "topics": self.findings.advice,
            "leaders": leaders_table(
                {advice.topic: advice.shares for advice in self.findings.advice},
                [each.division.name for each in standings],
            ),
            "divisions": [self._division(each) for each in standings],
            "rates": self._picture("rates"),
            "worlds": [
                {
                    "label": world.label,
                    "family": world.family,
                    "text": world.entry.text,
                    "runs": world.runs,
                    "counts": "yes" if world.counts else "no",
                    "phases": "yes" if world.label in division.phased else "no",
                }
                for world in division.worlds
            ],
            "rules": RULES,
            "flattered": FLATTERED,
            "settings": self.settings,
        }
        return environment(__package__ or "").get_template("leaderboard.html").render(content)

    def _division(self, standings: ranks.DivisionStandings) -> dict[str, Any]:
        division, others = standings.division, []
        for label, competes, to_best in zip(division.labels, division.competes, division.to_best, strict=True):
            if label not in division.ranked:
                ratios = to_best[division.counting]
                played = ratios[~np.isnan(ratios)]
                why = f"plays {len(played)} of {len(ratios)} worlds that count" if competes else "a further form"
                mean = f"{np.exp(np.log(played).mean()):.2f}" if len(played) else NOTHING
                others.append({"agent": label, "why": why, "to_best": mean})
        return {
            "name": division.name,
            "rows": [asdict(row) | _shown(asdict(row)) for row in standings.rows],
            "others": others,
            "stability": self.findings.stability[division.name],
            "orders": list(self.findings.orders[division.name].items()),
            "ranks": self._picture(f"{division.name}-ranks"),
            "heatmap": self._picture(f"{division.name}-heatmap"),
        }

    def _picture(self, name: str) -> str | None:
        return embedded(self.pictures[name]) if name in self.pictures else None


def _shown(row: Mapping[str, Any]) -> dict[str, str]:
    """The numbers of a row of the leaderboard, as text."""
    oracle = row["to_oracle"]
    return {
        "rank": f"{row['rank']:.1f}",
        "interval": f"{row['low']:.1f} to {row['high']:.1f}",
        "to_best": f"{row['to_best']:.2f}",
        "to_oracle": NOTHING if oracle is None or math.isnan(oracle) else f"{oracle:.2f}",
        "worst": f"{row['worst']:.1f} ×",
    }


COLUMNS = ("division", "agent", "place", "world", "family", "counts", "runs", "regret", "se", "to_best", "to_oracle")


def board_csv(standings: Sequence[ranks.DivisionStandings]) -> bytes:
    """One row for each division, agent and world that it plays."""
    rows = []
    for each in standings:
        division, places = each.division, {row.label: row.place for row in each.rows}
        for row, agent in enumerate(division.labels):
            for column, world in enumerate(division.worlds):
                if (runs := division.finals.get((agent, world.label))) is not None:
                    se = float(runs.std(ddof=1) / len(runs) ** 0.5) if len(runs) > 1 else math.nan
                    numbers = (runs.mean(), se, division.to_best[row, column], division.to_oracle[row, column])
                    about = (division.name, agent, places.get(agent, ""), world.label, world.family, world.counts)
                    rows.append([*about, len(runs), *("" if math.isnan(n) else f"{n:.6g}" for n in numbers)])
    return csv_table(COLUMNS, rows)


def board_json(findings: ranks.Findings, about: Mapping[str, Any]) -> bytes:
    """The standings of each division with what they rest on, and the guide."""
    rows = {each.division.name: [asdict(row) for row in each.rows] for each in findings.standings}
    content = {
        "about": dict(about),
        "divisions": {
            name: [{k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()} for row in standing]
            for name, standing in rows.items()
        },
        "stability": findings.stability,
        "other_rules": findings.orders,
        "guide": {
            "general": findings.general,
            "topics": {
                advice.topic: {"sentence": advice.sentence, "leaders": advice.shares} for advice in findings.advice
            },
        },
    }
    return f"{json_text(content, indent=1)}\n".encode()


def write_snapshot(findings: ranks.Findings, about: Mapping[str, Any], pictures: Iterable[Path], folder: Path) -> None:
    """Write what belongs into a repository: the page in Markdown, the pictures, the table and the standings."""
    folder.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        write_atomically(folder / f"{picture.stem}.png", picture.with_suffix(".png").read_bytes())
    content = board_json(findings, about)
    write_atomically(folder / "leaderboard.csv", board_csv(findings.standings))
    write_atomically(folder / "leaderboard.json", content)
    write_atomically(folder / "README.md", snapshot_markdown(json.loads(content)).encode())


def snapshot_markdown(board: Mapping[str, Any]) -> str:
    """The snapshot as a page, from the content of ``leaderboard.json``."""
    about = board["about"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    divisions, topics = board["divisions"], board["guide"]["topics"]
    parts = [
        "# Leaderboard",
        " ".join(
            f'<img src="{name}-ranks.png" alt="mean ranks of the {name} agents" width="49%">' for name in divisions
        ),
        "The agent of least regret on worlds of each kind, and its regret as a share of that of random play:",
        _table(*leaders_table({topic: advice["leaders"] for topic, advice in topics.items()}, list(divisions))),
        f"{about['worlds']} worlds, of which {about['counting']} count for ranks. Written by `{about['command']}` on "
        f"{about['date']} with {versions}. All numbers: [leaderboard.csv](leaderboard.csv), "
        f"[leaderboard.json](leaderboard.json).",
        "## Use this when …",
        "Every sentence is computed from the tables.",
        _bullets(board["guide"]["general"]),
        _bullets(f"**{topic}**: {advice['sentence']}" for topic, advice in topics.items()),
        *(part for name, rows in divisions.items() for part in _division(board, name, rows)),
        "## Regret against the rate of change",
        "![regret against the number of changes and the speed of drift](rates.png)",
        "## Your own agent",
        "What is computed is stored in `results/leaderboard`: an agent of your own adds its rows only, and stands in "
        "the same tables.",
        "```sh\nns-mab-gym leaderboard --agents my_module:MyAgent\n```",
        "## Rules",
        _bullets(RULES),
        "### Whom the rules flatter",
        _bullets(FLATTERED),
    ]
    return "\n\n".join(parts) + "\n"


def _division(board: Mapping[str, Any], name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    header = ("place", "agent", "mean rank", "95 % interval", "regret / best", "regret / oracle-restart", "worst")
    cells = []
    for row in rows:
        shown = _shown(row)
        numbers = (shown[key] for key in ("rank", "interval", "to_best", "to_oracle"))
        cells.append((str(row["place"]), f"`{row['label']}`", *numbers, f"{shown['worst']} ({row['worst_on']})"))
    orders = [(rule, ", ".join(order)) for rule, order in board["other_rules"][name].items()]
    return [
        f"## {name.capitalize()}",
        _table(header, cells),
        board["stability"][name],
        f"![regret of the {name} agents on every world, divided by the best]({name}-heatmap.png)",
        "The first by other rules:",
        _table(("rule", f"the first {ranks.TOP}"), orders),
    ]


def leaders_table(
    topics: Mapping[str, Mapping[str, tuple[str, float | None]]], divisions: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the table of leaders.

    >>> leaders_table({"few changes": {"blind": ("glr-ts", 0.034)}}, ["informed", "blind"])[1]
    [['few changes', '–', 'glr-ts', '–', '3 %']]

    Args:
        topics: by kind of worlds and division, the leader and its share of the regret of random play.
        divisions: their names, in order.
    """
    rows = []
    for topic, leaders in topics.items():
        agents, shares = zip(*(leaders.get(name, (NOTHING, None)) for name in divisions), strict=True)
        rows.append([topic, *agents, *(NOTHING if share is None else f"{100 * share:.0f} %" for share in shares)])
    return ["worlds", *divisions, *(f"{name}, of random play" for name in divisions)], rows


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *rows])


WRITTEN = ("leaderboard.html", "leaderboard.csv", "leaderboard.json")
UNPLACED = "Who failed on a world has no result there, and no place if the world counts."
NO_SNAPSHOT = "no snapshot: runs are missing"
NO_PAGE = "no page: units of everybody who competes failed"


@dataclass
class Leaderboard(StudyRun):
    """Runs a plan and writes everything that is made from it.

    Attributes:
        plan: the worlds, the agents and their forms.
        snapshot: a folder of the repository into which page, pictures and tables are written too, unless units failed;
            None if nowhere.
    """

    plan: BoardPlan
    snapshot: Path | None = None

    def run(self) -> list[str]:
        """Run everything, and return the lines to print at the end."""
        began = time.perf_counter()
        study = pinned(self.plan.study())
        with nullcontext() if self.pool is None else self.pool() as pool:
            return self._done(study, pool, began)

    def _done(self, study: Study, pool: Pool | None, began: float) -> list[str]:
        """Compute what is missing, and write everything."""
        others = [self.folder / "figures", *([self.snapshot] if self.snapshot is not None else [])]
        record = Record([self.folder, *others])
        with Store(self.folder, CodeVersions(print), fresh=self.fresh) as store:
            outcome = self.compute(store, pool, study)
            made_from = basis(outcome.units, store.code, (self.plan, study, self.warning, self.command))
            if not outcome.computed and (said := record.said(made_from)):
                work = speed_in_words(time.perf_counter() - began, outcome)
                return [*said["lines"], work, f"page: {self.page}", *said["places"]]
            self.failures = outcome.failures
            remains = remains_of(study, outcome.failures)
            results = collect(remains.study, partial(runner.load, store, simulate=self.simulate))
            divisions, totals = ranks.divisions_of(self.plan, results)
            standings = [ranks.standings_of(each) for each in divisions]
            told = failures_in_words(outcome.failures, remains.gaps, len(outcome.units))
            warnings = [self.warning] * bool(self.warning) + told + [UNPLACED] * bool(told and standings)
            with guarded(self.folder, "write the page to"):
                self._write(standings, outcome, totals, " ".join(warnings))
        lines = warnings + [
            f"{each.division.name}: {', '.join(each.labels[: ranks.TOP])}" for each in standings if each.rows
        ]
        places = []
        for guest in (each.label for each in self.plan.contestants if each.guest):
            for each in standings:
                [words] = [
                    f"place {row.place} of {len(each.rows)}, mean rank {row.rank:.1f} ({row.low:.1f} to {row.high:.1f})"
                    for row in each.rows
                    if row.label == guest
                ] or ["no place: it does not play every world that counts"]
                places.append(f"{guest}, {each.division.name}: {words}")
        if not self.failures:
            record.keep(made_from, {"lines": lines, "places": places})
        unkept = [NO_SNAPSHOT] if self.snapshot is not None and self.failures else []
        return [
            *lines,
            speed_in_words(time.perf_counter() - began, outcome, again=store.rejected),
            *unkept,
            f"page: {self.page}" if standings else NO_PAGE,
            *places,
        ]

    @property
    def page(self) -> Path:
        """The path of the page."""
        return self.folder / "leaderboard.html"

    def _write(
        self,
        standings: Sequence[ranks.DivisionStandings],
        outcome: runner.Outcome,
        totals: StudyTotals,
        warning: str,
    ) -> None:
        write_failures(self.folder, self.failures)
        if not standings:
            for name in WRITTEN:  # of an earlier run
                (self.folder / name).unlink(missing_ok=True)
            return
        pictures, findings = draw_board(standings, self.folder / "figures"), ranks.findings_of(standings)
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        settings = [
            ("command", self.command),
            ("date", now),
            ("seed", self.plan.seed),
            ("units of work", work_in_words(outcome)),
            ("agent steps", f"{totals.steps:,}"),
            ("engine time of all units", f"{totals.seconds:,.0f} s, over all threads"),
            *provenance(),
        ]
        about = {
            "command": self.command,
            "date": now[:10],
            "versions": versions(),
            "seed": self.plan.seed,
            "worlds": len(self.plan.worlds),
            "counting": len(standings[0].division.counting),
        }
        page = BoardPage(findings, pictures, self.command, now, settings, warning)
        write_atomically(self.folder / "leaderboard.csv", board_csv(standings))
        write_atomically(self.folder / "leaderboard.json", board_json(findings, about))
        write_atomically(self.page, page.html().encode())
        if self.snapshot is not None and not self.failures:
            write_snapshot(findings, about, pictures.values(), self.snapshot)
