"""What a leaderboard leaves beside its page: a table as CSV, the standings as JSON, and a snapshot in Markdown."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ...files import write_atomically
from ..spreadsheets import csv_table
from ..valid_json import json_text
from .board_page import NOTHING
from .board_rules import FLATTERED, RULES
from .findings import TOP, Findings
from .standings import Standings

__all__ = ["board_csv", "board_json", "snapshot_markdown", "write_snapshot"]

COLUMNS = ("division", "agent", "place", "world", "family", "counts", "runs", "regret", "se", "to_best", "to_oracle")


def board_csv(standings: Sequence[Standings]) -> bytes:
    """One row for each division, agent and world that it plays."""
    return csv_table(COLUMNS, _board_rows(standings))


def _board_rows(standings: Sequence[Standings]) -> Iterator[list[Any]]:
    for each in standings:
        division, places = each.division, {row.label: row.place for row in each.rows}
        for row, agent in enumerate(division.labels):
            for column, world in enumerate(division.worlds):
                if (runs := division.finals.get((agent, world.label))) is not None:
                    se = float(runs.std(ddof=1) / len(runs) ** 0.5) if len(runs) > 1 else math.nan
                    ratios = (division.to_best[row, column], division.to_oracle[row, column])
                    about = (division.name, agent, places.get(agent, ""), world.label, world.family, world.counts)
                    yield [*about, len(runs), *map(_number, (runs.mean(), se, *ratios))]


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def board_json(findings: Findings, about: Mapping[str, Any]) -> bytes:
    """The standings of each division with what they rest on, and the guide."""
    content = {
        "about": dict(about),
        "divisions": {each.division.name: [_rounded(asdict(row)) for row in each.rows] for each in findings.standings},
        "stability": findings.stability,
        "other_rules": findings.orders,
        "guide": {
            "general": findings.general,
            "topics": {advice.topic: advice.sentence for advice in findings.advice},
        },
    }
    return f"{json_text(content, indent=1)}\n".encode()


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) for key, value in row.items()}


def _plain(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return None if np.isnan(value) else round(value, 4)


def write_snapshot(findings: Findings, about: Mapping[str, Any], pictures: Iterable[Path], folder: Path) -> None:
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
    parts = [
        "# Leaderboard",
        f"{about['worlds']} worlds, of which {about['counting']} count for ranks. Written by `{about['command']}` on "
        f"{about['date']} with {versions}. All numbers: [leaderboard.csv](leaderboard.csv), "
        f"[leaderboard.json](leaderboard.json).",
        "## Use this when …",
        "Every sentence is computed from the table.",
        _bullets(board["guide"]["general"]),
        _bullets(f"**{topic}**: {sentence}" for topic, sentence in board["guide"]["topics"].items()),
        *(part for name, rows in board["divisions"].items() for part in _division(board, name, rows)),
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
    cells = [
        (
            str(row["place"]),
            f"`{row['label']}`",
            f"{row['rank']:.1f}",
            f"{row['low']:.1f} to {row['high']:.1f}",
            f"{row['to_best']:.2f}",
            NOTHING if row["to_oracle"] is None else f"{row['to_oracle']:.2f}",
            f"{row['worst']:.1f} × ({row['worst_on']})",
        )
        for row in rows
    ]
    orders = [(rule, ", ".join(order)) for rule, order in board["other_rules"][name].items()]
    return [
        f"## {name.capitalize()}",
        _table(header, cells),
        board["stability"][name],
        f"![mean ranks of the {name} agents]({name}-ranks.png)",
        f"![regret of the {name} agents on every world, divided by the best]({name}-heatmap.png)",
        "The first by other rules:",
        _table(("rule", f"the first {TOP}"), orders),
    ]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *rows])
