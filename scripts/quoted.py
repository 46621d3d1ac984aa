"""Bring the figures that the README and docs/ quote in line with docs/figures.json.

python scripts/quoted.py                           # write the pages from the file
python scripts/quoted.py --paper results/paper     # take the verdicts and regrets of `make paper` into the file first
python scripts/quoted.py --leaderboard docs/leaderboard   # take the top of the leaderboard into the file first
python scripts/quoted.py --check                   # write nothing; exit code 1 if a page quotes other figures
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import quoting

FIRST = 5  # places of the leaderboard that are quoted


def main() -> int:
    """Read the folders that the options name, and write or check the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", type=Path, help="a folder that `ns-mab-gym paper` wrote")
    parser.add_argument("--leaderboard", type=Path, help="a folder that `ns-mab-gym leaderboard --snapshot` wrote")
    parser.add_argument("--check", action="store_true", help="name the pages that quote other figures than the file")
    options = parser.parse_args()
    if options.check:
        for page in (wrong := quoting.stale()):
            print(f"{page} quotes other figures than docs/figures.json holds; run python scripts/quoted.py")
        return 1 if wrong else 0
    if options.paper is not None:
        command = "make paper; python scripts/quoted.py --paper results/paper"
        quoting.put("paper", command, paper_figures(options.paper))
    if options.leaderboard is not None:
        command = f"python scripts/leaderboard.py --snapshot {options.leaderboard}"
        quoting.put("leaderboard", command, leaderboard_figures(options.leaderboard))
    for page in quoting.rewrite():
        print(f"written: {page}")
    return 0


def paper_figures(folder: Path) -> dict[str, Any]:
    """The verdicts and the final regrets, with standard errors, of a folder of ``ns-mab-gym paper``."""
    from ns_mab_gym.paper import readings as names

    claims: dict[str, dict[str, dict[str, Any]]] = {}
    judged = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    for claim in judged:
        claims.setdefault(claim["world"], {})[claim["claim"]] = {"said_of": claim["said_of"], **_verdict(claim)}
        if more := claim["more_runs"]:
            claims[claim["world"]][claim["claim"]]["more_runs"] = {"runs": more["runs"], **_verdict(more)}
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    regret = {
        (row["world"], row["agent"]): [round(float(row[key]), 3) for key in ("final_regret", "se")] for row in rows
    }
    windows = {
        names.sensitivity_label(sampler, alpha): f"`{names.ALGORITHMS[sampler]}`, τ = {names.window(alpha):,}"
        for sampler in names.SAMPLERS
        for alpha in names.ALPHAS
    }
    windows[names.sensitivity_label(names.BETA, 1)] = "`ts`, which forgets nothing"

    def by_world(labels: Mapping[str, str]) -> dict[str, dict[str, list[float]]]:
        return {world: {title: regret[world, label] for label, title in labels.items()} for world in claims}

    return {
        "runs": int(rows[0]["runs"]),
        "claims": claims,
        "instead": [f"{each['world']}: {each['claim']}: {each['instead']}" for each in judged if each["instead"]],
        "regret": by_world({label: f"`{name}`" for label, name in names.ALGORITHMS.items()}),
        "sensitivity": by_world(windows),
        "zoo": _zoo(regret, list(claims)),
    }


def _verdict(judged: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict under all readings, under the first one of every choice, and the choices on which it depends."""
    first = judged["readings"][0]["verdict"]
    return {"verdict": judged["verdict"], "headline": first, "depends_on": judged["depends_on"]}


def _zoo(regret: Mapping[tuple[str, str], list[float]], worlds: list[str]) -> dict[str, dict[str, Any]]:
    """Every agent of the survey: whether it is the paper's own, and its regret on each world, informed and blind."""
    from ns_mab_gym.paper import readings, study

    forms: dict[str, list[str]] = {}
    for agent in study.surveyed():
        forms.setdefault(agent.informed_label, []).append(agent.label)
    return {
        label: {
            "paper": label in readings.ALGORITHMS,
            "regret": {world: [regret[world, form] for form in labels if (world, form) in regret] for world in worlds},
        }
        for label, labels in forms.items()
    }


def leaderboard_figures(folder: Path) -> dict[str, Any]:
    """The size of a leaderboard and the first of each division, with rank, interval and regret relative to the best."""
    board = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))
    kept = ("label", "place", "rank", "low", "high", "to_best")
    divisions = board["divisions"]
    return {
        "worlds": board["about"]["worlds"],
        "agents": max(map(len, divisions.values())),
        "first": {name: [{key: row[key] for key in kept} for row in rows[:FIRST]] for name, rows in divisions.items()},
    }


if __name__ == "__main__":
    sys.exit(main())
