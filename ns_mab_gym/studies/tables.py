"""Tables of a study: every regret, final regrets, detections and sweeps, as Parquet, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..agents.core.arguments import escaped
from ..detections import Changes, Scorecard, changes_of, score
from ..envs.bandit import NSBanditEnv
from ..figures.regret import Swept
from ..files import write_atomically, written_atomically
from ..means import Floats
from ..play.simulate import known_of
from ..runs import Runs
from ..specs import WorldSpec
from ..statistics import Interval
from ..theory.windows import INSTANCES, marked_values
from .results import Results, StudyTotals, summaries
from .study import Experiment

UNSCORED = (
    "Some agents sound alarms, which are not scored here: the world's means change too often to have breakpoints, or "
    "are not known."
)


def logs_alarms(results: Results, experiment: Experiment, world: WorldSpec) -> bool:
    """True if any agent of an experiment logs its alarms on a world."""
    curves = results.curves[world.label]
    return any(curves[agent.label].alarms is not None for agent in experiment.agents)


def cards_on(results: Results, experiment: Experiment, world: WorldSpec, means: Floats | None) -> dict[str, Scorecard]:
    """The scorecards of an experiment's agents on a world, by label; of a random one, by the means of each run.

    Args:
        results: the runs.
        experiment: whose agents are scored, if they log their alarms.
        world: one of its worlds.
        means: the world's; None where they are not known, and then nothing is scored.
    """
    logged = {agent.label: results.curves[world.label][agent.label] for agent in experiment.agents}
    logged = {label: runs for label, runs in logged.items() if runs.alarms is not None}
    if not logged or means is None:
        return {}
    seeds = tuple(seed for seed, _ in next(iter(logged.values())).seeds)  # all agents play the same instances
    changes = _drawn_changes(world, seeds) if world.random else (changes_of(means),)
    if not all(each.scorable for each in changes):
        return {}
    return {label: score(runs, changes) for label, runs in logged.items()}


@lru_cache(maxsize=8)
def _drawn_changes(world: WorldSpec, seeds: tuple[int, ...]) -> tuple[Changes, ...]:
    """The changes of the instance of each run; the means themselves are not kept."""
    env = world.env()
    bandit = env.unwrapped
    assert isinstance(bandit, NSBanditEnv)
    changes = []
    for seed in seeds:
        env.reset(seed=seed)
        changes.append(changes_of(bandit.means))
    return tuple(changes)


ROWS = 1 << 17  # of the table that are written at once
SCHEMA = pa.schema(
    {
        "world": pa.string(), "agent": pa.string(), "world_words": pa.string(), "agent_words": pa.string(),
        "run": pa.int32(), "round": pa.int64(), "regret": pa.float64(),
    }
)  # fmt: skip
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # and their wide forms
SUMMARY = (
    "world", "agent", "words", "stands_for", "runs", "final_regret", "sd", "se", "low", "high",
    "difference", "difference_low", "difference_high", "reference", "p_improvement", "mean_rank", "engine_seconds",
)  # fmt: skip

DETECTIONS = (
    "world", "agent", "words", "runs", "breakpoint", "arms", "detected", "of", "delay", "delay_low", "delay_high",
    "missed", "missed_low", "missed_high", "false_alarms", "false_alarms_low", "false_alarms_high",
    "false_alarms_per_10000_rounds", "false_alarms_per_10000_rounds_low", "false_alarms_per_10000_rounds_high",
    "runs_with_false_alarm", "runs_with_false_alarm_low", "runs_with_false_alarm_high", "true_alarms",
)  # fmt: skip
OF_ALARMS = 10  # columns of DETECTIONS that are about all breakpoints together


def write_tables(results: Results, folder: Path, means: Mapping[str, Floats | None]) -> StudyTotals:
    """Write ``table.parquet``, ``summary.csv``, and ``detections.csv`` if any alarms can be scored.

    Args:
        results: the runs; those of one world are held at a time.
        folder: where the tables go.
        means: those of an instance of each world, by label; None where they are not known.

    Returns:
        the totals of the runs.
    """
    totals = StudyTotals()
    finals: dict[tuple[Experiment, WorldSpec], list[list[Any]]] = {}
    detections: dict[tuple[Experiment, WorldSpec], list[list[Any]]] = {}
    with (
        written_atomically(folder / "table.parquet") as handle,
        pq.ParquetWriter(handle, SCHEMA, compression="zstd") as table,
    ):
        written: set[tuple[str, str]] = set()
        for world in results.study.worlds:
            totals.add(results, world)
            for experiment in results.study.experiments:
                if world in experiment.worlds:
                    cards = cards_on(results, experiment, world, means[world.label])
                    finals[experiment, world] = _summary_rows(results, experiment, world)
                    detections[experiment, world] = _detection_rows(results, world, cards)
            for label, agent in results.agents[world.label].items():
                if (words := (world.text, agent.text)) not in written:  # what has two labels stands under the first
                    written.add(words)
                    for rows in _regret_tables((world.label, label, *words), results.curves[world.label][label]):
                        table.write_table(rows)
    pairs = [(experiment, world) for experiment in results.study.experiments for world in experiment.worlds]
    summary = csv_table(SUMMARY, (row for pair in pairs for row in finals[pair]))
    write_atomically(folder / "summary.csv", summary)
    (folder / "detections.csv").unlink(missing_ok=True)
    if found := [row for pair in pairs for row in detections[pair]]:
        write_atomically(folder / "detections.csv", csv_table(DETECTIONS, found))
    return totals


def _regret_tables(who: Sequence[str], runs: Runs) -> Iterator[pa.Table]:
    """A row for each run and recorded round of an agent on a world, after the texts ``who``; tables of a few runs."""
    step = max(1, ROWS // len(runs.rounds))
    for first in range(0, len(runs), step):
        regret = runs.regret[first : first + step]
        columns: list[Iterable[object]] = [
            *(pa.repeat(text, regret.size) for text in who),
            np.repeat(np.arange(first, first + len(regret), dtype=np.int32), len(runs.rounds)),
            np.tile(runs.rounds, len(regret)),
            regret.ravel(),
        ]
        yield pa.table(columns, schema=SCHEMA)


def _summary_rows(results: Results, experiment: Experiment, world: WorldSpec) -> list[list[Any]]:
    """A row for each agent of an experiment on a world: final regret and the comparison with the reference."""
    rows = []
    for row in summaries(results, experiment, world):
        f, d = row.final, row.difference
        compared = (np.nan,) * 3 if d is None else (d.mean, d.low, d.high)
        improvement = "" if row.improvement is None else row.improvement.mean
        curve, agent = results.curves[world.label][row.label], results.agents[world.label][row.label]
        asked = (world.label, row.label, agent.text, agent.stands_for, len(curve))
        figures = ["" if np.isnan(each) else each for each in (f.low, f.high, *compared)]
        rows.append([*asked, f.mean, f.sd, f.se, *figures, experiment.reference, improvement, row.rank, curve.seconds])
    return rows


def _detection_rows(results: Results, world: WorldSpec, cards: Mapping[str, Scorecard]) -> list[list[Any]]:
    """Of each scorecard on a world, by the agent's label, a row for each breakpoint and one for all.

    Arms are counted from 1, as in the report. What there is nothing to estimate from is left empty.
    """
    rows = []
    for label, card in cards.items():
        about = [world.label, label, results.agents[world.label][label].text, len(card.runs)]
        for each in card.breakpoints:
            arms = " ".join(str(arm + 1) for arm in each.arms)
            found = (each.detected, len(card.runs), *_cells(each.delay), *_cells(each.missed))
            rows.append([*about, each.round, arms, *found, *[""] * OF_ALARMS])
        detected = sum(int(np.isfinite(run.delays).sum()) for run in card.runs)
        total = (detected, sum(len(run.rounds) for run in card.runs), *_cells(card.delay), *_cells(card.missed))
        false = _cells(card.false_alarms) + _cells(card.false_alarm_rate) + _cells(card.runs_with_false_alarm)
        rows.append([*about, "all", "", *total, *false, card.true_alarms.value])
    return rows


def _cells(interval: Interval) -> list[float | str]:
    return ["" if np.isnan(part) else part for part in interval]


def swept_on(results: Results, experiment: Experiment, world: WorldSpec) -> list[Swept]:
    """Every sweep of an experiment's agents on a world."""
    curves = results.curves[world.label]
    found = []
    for (parameter, family), agents in experiment.sweeps.items():
        env, known = world.env(), []  # nothing of environments that do not tell their means
        for env_seed, _ in curves[agents[0].label].seeds[: INSTANCES if world.random else 1]:
            if isinstance(bandit := env.unwrapped, NSBanditEnv):
                env.reset(seed=env_seed)
                known.append(known_of(bandit.means, bandit.world, bandit.law))
        others = {key: value for key, value in agents[0].kwargs.items() if key != parameter}
        marks = marked_values(agents[0].source[0], parameter, others, known)
        finals = [curves[agent.label].final.copy() for agent in agents]  # so that the curves need not be held
        found.append(Swept(family, parameter, [agent.kwargs[parameter] for agent in agents], finals, marks))
    return found


def csv_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    r"""A table as CSV in UTF-8; a text that a spreadsheet would compute begins with an apostrophe instead.

    >>> csv_table(["agent", "difference"], [["=1+1", -0.5]])
    b"agent,difference\n'=1+1,-0.5\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([*map(_shown, row)] for row in rows)
    return text.getvalue().encode()


def _shown(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    return escaped(f"'{cell}" if cell.startswith(FORMULAS) and not _is_number(cell) else cell)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def json_text(content: Any, **options: Any) -> str:
    """The content as JSON text, with letters of any script as they are.

    >>> json_text({"regret": [1.5, math.nan], "σ": -math.inf})
    '{"regret": [1.5, null], "σ": null}'

    Args:
        content: what to write.
        options: those of ``json.dumps``.
    """
    options = {"ensure_ascii": False, "allow_nan": False, **options}
    try:
        return json.dumps(content, **options)
    except ValueError:  # seldom: looking for it takes longer than writing
        return json.dumps(_finite(content), **options)


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    return [_finite(each) for each in content] if isinstance(content, list | tuple) else content
