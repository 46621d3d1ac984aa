"""Bring the figures that the README and docs/ quote in line with docs/figures.json.

python scripts/quoted.py                           # write the pages from the file
python scripts/quoted.py --paper results/paper     # take the verdicts and regrets of `make paper` into the file first
python scripts/quoted.py --leaderboard docs/leaderboard   # take the leaders of the leaderboard into the file first
python scripts/quoted.py --check                   # write nothing; exit code 1 if a page quotes other figures

A page has ``<!-- begin figures: NAME -->`` and ``<!-- end figures -->``, each on a line of its own. The text between
them is made of the tables and sentences that ``scripts/quoted_blocks.toml`` lists under that name.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import re
import string
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import quoted_rows

from ns_mab_gym.files import write_atomically

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "figures.json"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = Path(__file__).with_name("quoted_blocks.toml")
BLOCK = re.compile(r"(<!-- begin figures: ([\w-]+) -->\n)((?!<!-- begin).)*?(<!-- end figures -->)", re.DOTALL)
UNMEASURED = "*Not measured yet.*"  # instead of a block whose section the file does not have
PACKAGES = ("ns-mab-gym", "numpy", "numba", "gymnasium", "scipy", "stable-baselines3", "torch", "pymab", "river")


def main() -> int:
    """Read the folders that the options name, and write or check the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", type=Path, help="a folder that `ns-mab-gym paper` wrote")
    parser.add_argument("--leaderboard", type=Path, help="a folder that `ns-mab-gym leaderboard --snapshot` wrote")
    parser.add_argument("--check", action="store_true", help="name the pages that quote other figures than the file")
    options = parser.parse_args()
    if options.check:
        for page in (wrong := stale()):
            print(f"{page} quotes other figures than docs/figures.json holds; run python scripts/quoted.py")
        return 1 if wrong else 0
    if options.paper is not None:
        command = "make paper; python scripts/quoted.py --paper results/paper"
        put("paper", command, paper_figures(options.paper))
    if options.leaderboard is not None:
        command = f"python scripts/leaderboard.py --snapshot {options.leaderboard}"
        put("leaderboard", command, leaderboard_figures(options.leaderboard))
    for page in rewrite():
        print(f"written: {page}")
    return 0


# The pages.


class Formatter(string.Formatter):
    """``str.format`` with a dash for None, a figure not measured yet, and ``:.1f*1e3`` for a scaled value.

    Conversions: ``!m`` is the largest value of a dictionary, ``!j`` its items joined in one line.
    """

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value of this name, which may be a number."""
        return kwargs[str(key)]

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """The largest value of a dictionary, or its items in one line."""
        if conversion == "m":
            return max((each for each in value.values() if each is not None), default=None)
        if conversion == "j":
            return ", ".join(f"{key} {each}" for key, each in value.items())
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, spec: str) -> str:
        """The value in this format."""
        form, _, scale = spec.partition("*")
        if value is None:
            return "–"
        return str(super().format_field(value * float(scale) if scale else value, form))


def blocks() -> dict[str, list[dict[str, Any]]]:
    """The parts of each block, by its name."""
    found: dict[str, list[dict[str, Any]]] = tomllib.loads(BLOCKS.read_text(encoding="utf-8"))["blocks"]
    return found


def part_text(part: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """A part of a block in Markdown: a sentence or a table."""
    form = Formatter().vformat
    if "text" in part:
        return form(part["text"], (), figures)
    if "cells" in part:
        heading, cells = list(part["columns"]), [[form(each, (), figures) for each in row] for row in part["cells"]]
    elif "columns" in part:
        heading = [form(each, (), figures) for each in part["columns"]]
        cells = [[form(each, (), row) for each in part["columns"].values()] for row in _rows(part, figures)]
    else:
        rows = list(_rows(part, figures))
        heading, cells = list(rows[0]), [list(map(str, row.values())) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heading, ["---"] * len(heading), *cells])


def _rows(part: Mapping[str, Any], figures: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The values of each row: of a function, or of a dictionary with its keys."""
    if called := re.fullmatch(r"(\w+)\((.*)\)", part["rows"]):
        yield from getattr(quoted_rows, called[1])(figures, *filter(None, [called[2]]))
        return
    found: Any = figures
    for key in part["rows"].split("/"):
        found = found[key]
    for key in part.get("labels", found):
        own = found[key] if isinstance(found[key], dict) else {"value": found[key]}
        yield {"key": int(key) if key.isdecimal() else key, "label": part.get("labels", {}).get(key), **own}


def read() -> dict[str, Any]:
    """The sections by name: each has its ``figures``, and its origin under ``measured``."""
    sections: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return sections


def put(section: str, command: str, figures: dict[str, Any]) -> None:
    """Replace the figures of a section.

    Args:
        section: its name.
        command: the command that measures them again.
        figures: plain values.
    """
    installed = {each.name.lower().replace("_", "-"): each.version for each in metadata.distributions()}
    versions = {name: installed[name] for name in PACKAGES if name in installed}
    measured = {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": {"python": platform.python_version(), **versions},
    }
    sections = {**read(), section: {"measured": measured, "figures": figures}}
    text = json.dumps(dict(sorted(sections.items())), indent=1, ensure_ascii=False)
    write_atomically(FILE, f"{text}\n".encode())


def _processor() -> str:
    """The name of the processor on Linux; elsewhere its family."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


class Measured(dict[str, Any]):
    """Figures by the name of their section."""

    def __missing__(self, name: str) -> Any:
        raise UnmeasuredError(name)


class UnmeasuredError(KeyError):
    """A section that the file does not have yet."""


def written(page: str, sections: Mapping[str, Any]) -> str:
    """The page with its blocks written from the sections of the file."""
    figures = Measured({name: section["figures"] for name, section in sections.items()})
    figures["origins"] = {name: section["measured"] for name, section in sections.items()}
    known, names = blocks(), [found[2] for found in BLOCK.finditer(page)]
    if unknown := set(names) - known.keys():
        raise ValueError(f"no block is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if len(names) != page.count("<!-- begin figures") or len(names) != page.count("<!-- end figures"):
        raise ValueError("every begin of figures needs an end, each on a line of its own")
    texts = {}
    for name in names:
        try:
            texts[name] = "\n\n".join(part_text(part, figures) for part in known[name])
        except UnmeasuredError:
            texts[name] = UNMEASURED
    return BLOCK.sub(lambda found: f"{found[1]}\n{texts[found[2]]}\n\n{found[4]}", page)


def stale() -> dict[Path, str]:
    """The pages whose quoted figures differ from those in the file, with the text that they should have."""
    sections = read()
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    whole = {page: written(text, sections) for page, text in texts.items()}
    return {page: text for page, text in whole.items() if text != texts[page]}


def rewrite() -> list[Path]:
    """Write the blocks of every page from the file; returns the pages that changed."""
    changed = stale()
    for page, text in changed.items():
        write_atomically(page, text.encode())
    return list(changed)


# What other commands wrote.


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
    """The headline, the verdict that all readings share, the choices on which it depends, and how many readings."""
    return {**{key: judged[key] for key in ("headline", "verdict", "depends_on")}, "readings": len(judged["readings"])}


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
    """The size of a leaderboard, the first of each division, and the leaders on worlds of each kind."""
    board = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))
    divisions = board["divisions"]
    return {
        "worlds": board["about"]["worlds"],
        "agents": max(map(len, divisions.values())),
        "first": {name: rows[0] for name, rows in divisions.items()},
        "leaders": {topic: advice["leaders"] for topic, advice in board["guide"]["topics"].items()},
    }


if __name__ == "__main__":
    sys.exit(main())
