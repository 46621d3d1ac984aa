"""Tables and picture of trained models beside rivals follow the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

REGRETS = {"kl-ucb": 60.0, "kl-ucb, tuned": 50.0, "sw-ucb": 90.0, "sw-ucb, tuned": 55.0, "oracle-restart": 20.0}
RIVALS = [agent for agent in REGRETS if agent != "oracle-restart"]


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


def test_each_rival_is_counted_once(script: Callable[[str], Any]) -> None:
    worlds = {
        "jumps": world({"PPO": {"oracle-restart": "loses"}, "DQN": {"kl-ucb": "loses", "sw-ucb": "undecided"}}),
        "walks": world({"PPO": dict.fromkeys(RIVALS, "undecided"), "DQN": dict.fromkeys(RIVALS, "loses")}),
    }
    rows = [(row["PPO"], row["DQN"]) for row in script("quoted_rows").best_regrets({"deep-table": section(worlds)})]
    assert rows == [("45 (4 / 0 / 0)", "46 (2 / 1 / 1)"), ("45 (0 / 0 / 4)", "46 (0 / 4 / 0)")]


def test_the_table_has_every_agent_in_order_and_the_strongest_rival_is_no_reference(
    script: Callable[[str], Any],
) -> None:
    texts = script("quoted_rows")
    figures = {"deep-table": section({"jumps": world({"PPO": {"kl-ucb, tuned": "undecided"}})})}
    rows = {row["agent"]: tuple(row.values())[1:] for row in texts.agents_of_world(figures, "jumps")}
    assert list(rows) == [
        "*`oracle-restart`*", "**PPO**", "tuned `kl-ucb`", "tuned `sw-ucb`", "`kl-ucb`", "`sw-ucb`"
    ]  # fmt: skip
    assert rows["**PPO**"] == ("45.0 (43.0 to 47.0)", "44.0, 45.0, 46.0", "5,000 steps, 60 s each", "")
    # 1.97 standard errors: the quantile of Student's t with 199 degrees of freedom
    assert rows["tuned `kl-ucb`"] == ("50.0 (46.1 to 53.9)", "", "2,000 steps, 3 s", "undecided")
    told = (texts.best_regrets, texts.strongest_rivals, texts.training_costs)
    [best], [strongest], [cost] = (list(each(figures)) for each in told)
    assert tuple(best.values()) == ("jumps", "45 (3 / 0 / 1)", "60, `kl-ucb`", "50, tuned `kl-ucb`", "60")
    assert tuple(strongest.values()) == ("jumps", "tuned `kl-ucb`", "+5.0 (+2.0 to +8.0)")
    assert tuple(cost.values()) == ("jumps", 3, "0.1", "60", "120", "`sw-ucb` 55")


def test_the_picture_tells_kinds_of_agents_apart(script: Callable[[str], Any]) -> None:
    figure = script("deep_table").picture(section({"jumps": world({"PPO": {}}), "walks": world({"PPO": {}})}))
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["PPO", "kl-ucb", "sw-ucb", "oracle-restart"]
    assert [text.get_text() for text in figure.axes[1].get_yticklabels()] == []
    assert "K = 5, T = 1,000" in figure.texts[-1].get_text()
