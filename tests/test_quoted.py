"""Tables of the pages are complete, and the figures that they quote are those of ``docs/figures.json``."""

from __future__ import annotations

import csv
import importlib
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages_read import PAGES, ROOT, first_cells, text_of

import ns_mab_gym
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.cli.entry import COMMANDS
from ns_mab_gym.envs import ENV_IDS
from ns_mab_gym.paper.sentences import CLAIMS
from ns_mab_gym.paper.study import study
from ns_mab_gym.studies import tables
from ns_mab_gym.tuning import search

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FIGURES = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))
PAPER = FIGURES["paper"]["figures"]

# Tables.


@pytest.mark.parametrize(
    ("page_name", "heading", "names"),
    [
        ("README.md", "Environments", list(ENV_IDS)),
        ("README.md", "Agents", list(agents.HOUSE)),
        ("README.md", "The command", [f"ns-mab-gym {command}" for command in COMMANDS]),
        ("docs/worlds-and-rewards.md", "Worlds", list(worlds.HOUSE)),
        ("docs/worlds-and-rewards.md", "Reward laws", rewards.names()),
        ("docs/deep-rl.md", "Wrappers", [name for name in ns_mab_gym.wrappers.__all__ if "Vector" not in name]),
    ],
)
def test_tables_are_complete(page_name: str, heading: str, names: list[str]) -> None:
    cells = first_cells(page_name, heading)
    assert [name for name in names if not re.search(rf"`{re.escape(name)}[`(]", cells)] == []


def test_the_table_of_worlds_names_every_parameter() -> None:
    text = text_of("docs/worlds-and-rewards.md")
    for name, world in worlds.HOUSE.items():
        (row,) = re.findall(rf"^\| `{name}`( \*)? \| (.+) \|$", text, flags=re.MULTILINE)
        assert (row[0] != "") == world.random, name
        wanted = set(world.parameters()) - {"horizon"} - ({"n_arms"} if name == "table" else set())
        assert [each for each in wanted if f"`{each}`" not in row[1]] == []


def test_the_page_names_the_agents_that_are_advised_in_their_order() -> None:
    section = text_of("docs/tuning.md").partition("- Without `agents=` it takes ")[2].partition("\n- ")[0]
    assert re.findall(r"`([\w-]+)`", section) == [*search.ADVISED, *search.REAL_VALUED]


def test_every_column_of_a_result_is_explained() -> None:
    section = text_of("docs/experiments.md").partition("\nThe columns:\n")[2].partition("\n\n`table.parquet`")[0]
    named = re.findall(r"`([^`]+)`", "".join(row.split("|")[1] for row in section.splitlines() if row))
    wanted = {*tables.SCHEMA.names, *tables.SUMMARY, *tables.DETECTIONS}
    assert {name for name in wanted if name not in named} == {
        name for name in wanted if any(each[-1] == "…" and name.startswith(each[:-1]) for each in named)
    }
    assert {name for name in named if name[-1] != "…"} <= wanted


def test_every_dependency_is_in_the_table_with_its_extra() -> None:
    listed = {
        package.strip(): extra.strip(" `")
        for packages, extra in re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text_of("docs/dependencies.md"), re.MULTILINE)
        for package in packages.split(",")
    }
    wanted = {"–": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    for extra, requirements in wanted.items():
        for requirement in requirements:
            package = re.split(r"[<>=\[]", requirement)[0]
            assert package == "ns-mab-gym" or extra in listed.get(package, ""), f"{package} of {extra}"


def test_the_plan_of_the_house_names_every_room() -> None:
    rooms = [each for each in (ROOT / "ns_mab_gym").iterdir() if each.name[0] not in "_." and not each.is_symlink()]
    rooms += [ROOT / "agents", *(each for each in (ROOT / "agents").iterdir() if each.is_dir() and each.name[0] != "_")]
    named = text_of("docs/house.md")
    paths = [str(each.relative_to(ROOT)) + ("/" if each.is_dir() else "") for each in rooms if each.suffix != ".typed"]
    assert [path for path in paths if f"`{path}`" not in named] == []
    assert len(paths) > 15


# Figures.


@pytest.fixture
def quoted(script: Callable[[str], Any]) -> Any:
    return script("quoted")


def test_the_pages_quote_what_the_file_holds(quoted: Any) -> None:
    assert [str(page) for page in quoted.stale()] == [], "run: python scripts/quoted.py"
    assert {found[2] for page in PAGES for found in quoted.BLOCK.finditer(text_of(page))} == quoted.blocks().keys()


def test_a_figure_that_was_changed_by_hand_is_found(quoted: Any) -> None:
    page = text_of("README.md")
    assert quoted.written(page, FIGURES) == page
    regret = f"{PAPER['regret']['Abrupt']['`beta-swts`'][0]:,.0f}"
    assert page.count(regret) == 1
    forged = page.replace(regret, "1,234")
    assert quoted.written(forged, FIGURES) == page
    with pytest.raises(ValueError, match="no block is called nothing"):
        quoted.written("<!-- begin figures: nothing -->\n<!-- end figures -->", FIGURES)
    with pytest.raises(ValueError, match="needs an end"):
        quoted.written("<!-- begin figures: zoo -->\n", FIGURES)


def test_what_is_measured_reaches_the_file_and_the_page(
    quoted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, page = tmp_path / "figures.json", tmp_path / "speed.md"
    file.write_text(json.dumps(FIGURES))
    page.write_text(text_of("docs/speed.md"))
    monkeypatch.setattr(quoted, "FILE", file)
    monkeypatch.setattr(quoted, "PAGES", [page])
    assert quoted.rewrite() == []
    quoted.put("env", "python scripts/benchmark.py env --write", {"microseconds": 1.0, "ratio_to_cartpole": 0.777})
    assert list(quoted.stale()) == quoted.rewrite() == [page]
    assert list(quoted.stale()) == []
    assert "| 0.78 of its time |" in page.read_text()
    after = json.loads(file.read_text())
    assert after["env"]["measured"]["versions"]["numpy"] == np.__version__
    assert [name for name in FIGURES if after[name] != FIGURES[name]] == ["env"]


def test_a_block_without_figures_says_so_and_leaves_the_others(quoted: Any) -> None:
    page = text_of("docs/speed.md")
    less = quoted.written(page, {name: each for name, each in FIGURES.items() if name != "env"})
    assert quoted.UNMEASURED in less
    assert quoted.written(less, FIGURES) == page


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"text": "{a[b]:.1f} of {a[c]:,}, {none:.1f}"}, "2.5 of 1,000, –"),
        ({"text": "{a[b]:.0f*1e3} ms, {a!m:,}, {a!j}"}, "2500 ms, 1,000, b 2.5, c 1000"),
        ({"rows": "a", "columns": {"what": "{key}", "of {a[c]}": "{value:.0f}"}}, "what|of 1000/b|2/c|1000"),
        ({"rows": "rows", "columns": {"T": "{key:,}", "2": "{2}"}}, "T|2/1,000|x/20|y"),
        ({"rows": "rows", "labels": {"20": "last"}, "columns": {"T": "{label}"}}, "T/last"),
        ({"cells": [["one", "{a[b]}"]], "columns": {"what": "", "figure": ""}}, "what|figure/one|2.5"),
    ],
)
def test_parts_of_blocks(quoted: Any, part: dict[str, Any], text: str) -> None:
    figures = {"a": {"b": 2.5, "c": 1000}, "none": None, "rows": {"1000": {"2": "x"}, "20": {"2": "y"}}}
    written = quoted.part_text(part, figures)
    if "text" not in part:
        lines = [line.strip("| ").replace(" | ", "|") for line in written.splitlines() if "---" not in line]
        written = "/".join(lines)
    assert written == text


def test_every_benchmark_has_figures_in_the_file(quoted: Any) -> None:
    benchmark = importlib.import_module("benchmark")
    others = {"paper", "leaderboard", "deep-table", "deep-choices", *importlib.import_module("scales").COMMANDS}
    assert benchmark.MODULES.keys() | others == FIGURES.keys()
    files = {file.stem for file in (ROOT / "scripts" / "benchmarks").glob("[!_]*.py")}
    assert files == benchmark.BENCHMARKS.keys()
    assert all(section["figures"] and section["measured"]["command"] for section in FIGURES.values())
    assert {f"`{name}`" for name in FIGURES["agents"]["figures"]["agents"]} >= PAPER["regret"]["Abrupt"].keys()


def test_the_figures_of_the_paper_are_read_from_its_folder(quoted: Any, tmp_path: Path) -> None:
    """Each agent of the study has its number as its regret."""
    verdict = {"verdict": "holds", "headline": "undecided", "readings": [{}, {}], "depends_on": ["KL-UCB"]}
    claim = {"world": "Abrupt", "claim": "TS first", "said_of": "", "instead": "", "more_runs": {"runs": 9, **verdict}}
    (tmp_path / "claims.json").write_text(json.dumps([claim | verdict]))
    labels = sorted({agent.label for each in study(zoo=True).experiments for agent in each.agents})
    with (tmp_path / "summary.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["world", "agent", "runs", "final_regret", "se"])
        rows.writerows(["Abrupt", label, 50, number, 0.5] for number, label in enumerate(labels))
    found = quoted.paper_figures(tmp_path)
    kept = {"verdict": "holds", "headline": "undecided", "depends_on": ["KL-UCB"], "readings": 2}
    assert found["claims"] == {"Abrupt": {"TS first": {"said_of": "", **kept, "more_runs": {"runs": 9, **kept}}}}
    assert found["regret"]["Abrupt"]["`beta-swts`"] == [labels.index("Beta-SWTS"), 0.5]
    for part in ("regret", "sensitivity"):
        assert found[part]["Abrupt"].keys() == PAPER[part]["Abrupt"].keys()
    assert found["zoo"].keys() == PAPER["zoo"].keys()


def test_the_leaders_of_the_leaderboard_are_those_of_its_page(quoted: Any) -> None:
    folder, figures = ROOT / "docs" / "leaderboard", FIGURES["leaderboard"]["figures"]
    assert figures == quoted.leaderboard_figures(folder), "run: python scripts/quoted.py --leaderboard docs/leaderboard"
    table = quoted.part_text(quoted.blocks()["leaderboard"][0], {"leaderboard": figures})
    assert table in (folder / "README.md").read_text(encoding="utf-8")


def test_verdicts_are_counted_by_the_headline_and_listed_unless_all_is_well(script: Callable[[str], Any]) -> None:
    rows = script("quoted_rows")
    held = {"said_of": "", "verdict": "holds", "headline": "holds", "depends_on": [], "readings": 4}
    split = held | {"verdict": "depends on the reading", "depends_on": ["who", "when"]}
    alone = held | {"verdict": "does not hold", "headline": "does not hold", "readings": 1}
    agreed = alone | {"said_of": "here", "readings": 2}
    later = held | {"more_runs": {"runs": 500, **alone}}
    paper = {"here": {"a": held, "b": split, "c": alone, "d": later}, "there": {"e": agreed}}
    figures = {"paper": {"claims": paper}}
    counted = {row["world"]: list(row.values())[1:] for row in rows.verdicts(figures)}
    both = {"here": [4, 3, 1, 0, 1], "there": [1, 0, 1, 0, 0]}
    assert counted == {**both, "**all**": [5, 3, 2, 0, 1], "**all but †**": [4, 3, 1, 0, 1]}
    listed = {row["sentence"]: (row["50 runs"], row["500 runs"]) for row in rows.open_verdicts(figures)}
    assert listed == {
        "b": ("holds; depends on *who*, *when*", "–"),
        "c": ("does not hold", "–"),
        "d": ("holds; other readings agree", "does not hold"),
        "e †": ("does not hold; other readings agree", "–"),
    }


def test_agents_for_real_rewards_are_compared_with_random_now_and_before(script: Callable[[str], Any]) -> None:
    rows = script("quoted_rows")
    now = {"b": {"sd 1": [0.51, 0.5], "large": [0.1, 0.104]}, "a": {"sd 1": [0.2, 0.2], "large": [1, 2]}}
    figures = {"scales": {"agents": now}, "scales-before": {"agents": {"b": {"sd 1": [0.7, 0.7], "large": [3, 3]}}}}
    assert list(rows.scales(figures)) == [
        {"agent": "`a`", "sd 1": "0.20", "sd 1, before": "–", "large": "1.00 / 2.00"},
        {"agent": "`b`", "sd 1": "0.51 / 0.50", "sd 1, before": "0.70", "large": "0.10"},
    ]


def test_every_agent_for_real_rewards_is_played_on_every_scale() -> None:
    real = {name for name in agents.HOUSE if agents.kind(name).accepts == "real"} - {"random", "oracle"}
    assert FIGURES["scales"]["figures"]["agents"].keys() == real


def test_the_verdicts_are_on_the_claims_that_there_are() -> None:
    """A claim that was added or renamed after the last ``make paper`` is found here."""
    judged = {world: set(verdicts) for world, verdicts in PAPER["claims"].items()}
    assert judged == {world: {claim.key for claim in claims} for world, claims in CLAIMS.items()}
    assert PAPER["runs"] == 50


def test_the_advice_of_the_readme_is_what_was_measured() -> None:
    """Each sentence of "Which agent for which problem" and of "The paper" that rests on runs, against the runs."""
    abrupt, general, smooth, fast = regrets = list(PAPER["regret"].values())
    for world in (abrupt, general, smooth):
        assert least(world) == "`beta-swts`"
    assert least(fast) == "`kl-ucb`"
    windows = {row: mean for row, (mean, _) in PAPER["sensitivity"]["Smooth, σ = 0.001"].items()}
    assert windows["`beta-swts`, τ = 660"] < 0.8 * windows["`beta-swts`, τ = 2,942"]
    told_little = ("`beta-swts`", "`gamma-swgts`", "`sw-ucb`")
    for world in regrets:
        assert max(world[name][0] for name in told_little) < min(world[name][0] for name in ("`rexp3`", "`ser4`"))
    claims = PAPER["claims"]
    for world in ("Abrupt", "General abrupt"):
        assert claims[world]["TS best in phase 1"]["verdict"] == "holds"
        early = claims[world]["Beta-SWTS best from early in phase 2"]
        assert early["verdict"] == "depends on the reading"
        assert "KL-UCB" in early["depends_on"]
    assert all(found["windowed samplers beat TS"]["verdict"] == "holds" for found in claims.values())


def least(world: dict[str, list[float]]) -> str:
    return min(world, key=lambda name: world[name][0])
