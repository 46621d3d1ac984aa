"""Figures from the folders that ``ns-mab-gym paper`` and ``ns-mab-gym leaderboard`` write."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ns_mab_gym.experiments import paper_names, paper_study
from ns_mab_gym.experiments.zoo_study import BLIND

__all__ = ["leaderboard_figures", "paper_figures"]

TOP = 5  # places of the leaderboard that are quoted


def paper_figures(folder: Path) -> dict[str, Any]:
    """The verdicts and the final regrets, with standard errors, of a folder of ``ns-mab-gym paper``."""
    claims: dict[str, dict[str, dict[str, Any]]] = {}
    judged = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    for claim in judged:
        claims.setdefault(claim["world"], {})[claim["claim"]] = _judgement(claim)
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    regret = {(row["world"], row["agent"]): _rounded(row["final_regret"], row["se"]) for row in rows}

    def by_world(labels: Mapping[str, str]) -> dict[str, dict[str, list[float]]]:
        return {world: {title: regret[world, label] for label, title in labels.items()} for world in claims}

    return {
        "runs": int(rows[0]["runs"]),
        "claims": claims,
        "instead": [f"{each['world']}: {each['claim']}: {each['instead']}" for each in judged if each["instead"]],
        "regret": by_world({label: f"`{name}`" for label, name in paper_names.ALGORITHMS.items()}),
        "sensitivity": by_world(dict(_sensitivity_titles())),
        "zoo": _zoo(regret, list(claims)),
    }


def _zoo(regret: Mapping[tuple[str, str], list[float]], worlds: list[str]) -> dict[str, dict[str, Any]]:
    """Every agent of the survey: whether it is the paper's own, and its regret on each world, informed and blind."""
    labels = dict.fromkeys(entry.label for entry in paper_study.surveyed())
    found: dict[str, dict[str, Any]] = {}
    for label in (label for label in labels if not label.endswith(BLIND)):
        told = {world: [regret[world, label]] for world in worlds}
        for world in worlds:
            told[world] += [regret[world, label + BLIND]] if (world, label + BLIND) in regret else []
        found[label] = {"paper": label in paper_names.ALGORITHMS, "regret": told}
    return found


def _judgement(claim: dict[str, Any]) -> dict[str, Any]:
    """The verdict on a claim, on which choices it depends, and both by more runs if there are any."""
    more = claim["more_runs"]
    found = {"said_of": claim["said_of"], **_verdict(claim)}
    if more is not None:
        found["more_runs"] = {"runs": more["runs"], **_verdict(more)}
    return found


def _verdict(judgement: dict[str, Any]) -> dict[str, Any]:
    """The verdict under all readings, under the first one of every choice, and on which choices it depends."""
    first = judgement["readings"][0]["verdict"]
    return {"verdict": judgement["verdict"], "headline": first, "depends_on": judgement["depends_on"]}


def _rounded(*numbers: str | float) -> list[float]:
    return [round(float(each), 3) for each in numbers]


def _sensitivity_titles() -> Iterator[tuple[str, str]]:
    """The label of each sampler and window, and what the pages call it."""
    for sampler in paper_names.SAMPLERS:
        for alpha in paper_names.ALPHAS:
            title = f"`{paper_names.ALGORITHMS[sampler]}`, τ = {paper_names.window(alpha):,}"
            yield paper_names.sensitivity_label(sampler, alpha), title
    yield paper_names.sensitivity_label(paper_names.BETA, 1), "`ts`, which forgets nothing"


def leaderboard_figures(folder: Path) -> dict[str, Any]:
    """The size of a leaderboard and the first of each division, with rank, interval and regret relative to the best."""
    written = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))
    kept = ("label", "place", "rank", "low", "high", "to_best")
    divisions = written["divisions"]
    return {
        "worlds": written["about"]["worlds"],
        "agents": max(map(len, divisions.values())),
        "first": {name: [{key: row[key] for key in kept} for row in rows[:TOP]] for name, rows in divisions.items()},
    }
