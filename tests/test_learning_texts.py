"""What the pages say about where learning wins follows the figures, whatever they are."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pages_read import ROOT

REGRETS = {"kl-ucb": 60.0, "kl-ucb, tuned": 50.0, "sw-ucb": 90.0, "sw-ucb, tuned": 55.0, "oracle-restart": 20.0}
RIVALS = [agent for agent in REGRETS if agent != "oracle-restart"]


@pytest.fixture(autouse=True)
def quoting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "quoting"]:
        del sys.modules[name]


def world(verdicts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """A world with made-up regrets, and for each algorithm the verdicts that are not a win."""
    models = [
        {"agent": name, "runs": 200, "regret": 45.0 + at, "se": 1.0, "low": 43.0 + at, "high": 47.0 + at,
         "by_seed": [44.0, 45.0, 46.0], "steps": [5_000, 5_000, 5_000], "seconds": [60.0, 60.0, 60.0]}
        for at, name in enumerate(verdicts)
    ]  # fmt: skip
    rivals = [
        {"agent": agent, "runs": 200, "regret": regret, "se": 2.0, "parameters": {}, "seconds": 3.0,
         "steps": 2_000 if agent.endswith("tuned") else 0,
         "learning": {name: {"more": regret - 45, "low": regret - 48, "high": regret - 42,
                             "learning": found.get(agent, "wins")} for name, found in verdicts.items()}}
        for agent, regret in sorted(REGRETS.items(), key=lambda pair: pair[1])
    ]  # fmt: skip
    race = [{"agent": "sw-ucb", "tuned": 55.0, "untuned": 90.0, "parameters": {}}]
    return {
        "world": "here:n_arms=5",
        "race": race,
        "models": models,
        "rivals": rivals,
        "seconds": 120.0,
        "race_seconds": 60.0,
    }


def section(worlds: dict[str, Any]) -> dict[str, Any]:
    return {"arms": 5, "horizon": 1_000, "runs": 200, "tuning_runs": 2_000, "seeds": [0, 1, 2], "worlds": worlds}


def test_a_sentence_says_who_wins_where() -> None:
    from quoting.learning_outcomes import outcomes

    lost = {"kl-ucb, tuned": "loses", "sw-ucb, tuned": "loses", "oracle-restart": "loses"}
    assert outcomes({"jumps": world({"PPO": dict.fromkeys(RIVALS, "open")})}) == [
        "PPO: on jumps, less regret than none of 4 rivals, not to be told from tuned `kl-ucb`, tuned `sw-ucb` and 2 "
        "others."
    ]
    worlds = {
        "jumps": world({"PPO": {"oracle-restart": "loses"}, "DQN": lost}),
        "walks": world({"PPO": {}, "DQN": {"kl-ucb": "loses", "sw-ucb": "open"}}),
        "both": world({"PPO": {"kl-ucb, tuned": "open"}, "DQN": dict.fromkeys(RIVALS, "loses")}),
    }
    assert outcomes(worlds) == [
        "PPO: on jumps and walks, less regret than all 4 rivals, tuned or not; on both, less regret than 3 of 4 "
        "rivals, not to be told from tuned `kl-ucb`.",
        "DQN: on jumps, less regret than 2 of 4 rivals, more than tuned `kl-ucb` and tuned `sw-ucb`; on walks, less "
        "regret than 2 of 4 rivals, more than `kl-ucb`, not to be told from `sw-ucb`; on both, less regret than none "
        "of 4 rivals, more than tuned `kl-ucb`, tuned `sw-ucb` and 2 others.",
    ]


def test_the_table_has_every_agent_in_order_and_the_strongest_rival_is_no_reference() -> None:
    from quoting.deep_texts import learning_table

    text = learning_table({"deep-table": {"figures": section({"jumps": world({"PPO": {"kl-ucb, tuned": "open"}})})}})
    first = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("|")]
    ordered = ["*`oracle-restart`*", "**PPO**", "tuned `kl-ucb`", "tuned `sw-ucb`", "`kl-ucb`", "`sw-ucb`"]
    assert first == ["| agent", "| ---", *(f"| {name}" for name in ordered)]
    assert "| **PPO** | 45.0 (43.0 to 47.0) | 44.0, 45.0, 46.0 | 5,000 steps, 60 s each |  |" in text
    assert "| tuned `kl-ucb` | 50.0 (46.1 to 53.9) |  | 2,000 steps, 3 s | open |" in text  # 1.97 standard errors
    assert "The regret of the strongest rival, tuned `kl-ucb`, minus that of PPO: +5.0 (+2.0 to +8.0)." in text
    assert "All 1 agents that can be tuned raced on instances of their own; the first: on jumps, `sw-ucb` 55." in text
    assert text.startswith("3 models took 0.1 hours of one core altogether; ")


def test_what_is_measured_fills_both_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from quoting import figures_file, pages

    copies = [tmp_path / "README.md", tmp_path / "deep-rl.md"]
    for original, copy in zip((ROOT / "README.md", ROOT / "docs" / "deep-rl.md"), copies, strict=True):
        shutil.copy(original, copy)
    shutil.copy(ROOT / "docs" / "figures.json", tmp_path / "figures.json")
    monkeypatch.setattr(figures_file, "FILE", tmp_path / "figures.json")
    monkeypatch.setattr(pages, "PAGES", copies)
    figures_file.put("deep-table", "a command", section({"jumps": world({"PPO": {}, "DQN": {}})}))
    assert pages.rewrite() == copies
    assert "| jumps | 45 | 46 | 60, `kl-ucb` | 50, tuned `kl-ucb` | 60 |" in copies[0].read_text()
    assert "](docs/deep-table.png)" in copies[0].read_text()
    assert "**Jumps**, `here:n_arms=5`:" in copies[1].read_text()
    assert "deep-table" in json.loads((tmp_path / "figures.json").read_text())


def test_the_picture_tells_kinds_of_agents_apart() -> None:
    from quoting.deep_picture import picture

    figure = picture(section({"jumps": world({"PPO": {}}), "walks": world({"PPO": {}})}))
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["PPO", "kl-ucb", "sw-ucb", "oracle-restart"]
    assert [text.get_text() for text in figure.axes[1].get_yticklabels()] == []
    assert "K = 5, T = 1,000" in figure.texts[-1].get_text()
