"""The leaderboard as a study: who plays what, what is computed again, and the page."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from own_players import Still

from ns_mab_gym import agents, parallel
from ns_mab_gym.cli import studies
from ns_mab_gym.leaderboard.page import snapshot_markdown
from ns_mab_gym.leaderboard.plan import WORLDS, ClickRates, chosen_worlds, forms_on, plan_of, zoo_and
from ns_mab_gym.play.simulate import known_of
from ns_mab_gym.specs import AgentSpec
from ns_mab_gym.studies.study import LEFT_OUT, REFERENCES, units_of

SNAPSHOT = Path(__file__).parents[2] / "docs" / "leaderboard"
QUICK = {world.label: world for world in chosen_worlds(quick=True)}
ZOO = zoo_and()


# Who plays what.


def test_every_agent_of_the_house_has_one_place():
    names = [each.entry.name for each in ZOO if each.competes]
    assert sorted(names) == sorted(set(agents.HOUSE) - set(LEFT_OUT) - set(REFERENCES))
    assert {each.label for each in ZOO if each.reference} == set(REFERENCES)


def test_families_are_those_that_the_page_speaks_of_and_labels_are_distinct():
    assert len({world.label for world in WORLDS}) == len(WORLDS) == 33
    assert {world.entry.kwargs.get("n_arms", 10) for world in WORLDS} == {2, 10, 50}
    assert [world.family for world in WORLDS if not world.counts] == ["Gaussian rewards"] * 2
    for world in QUICK.values():
        world.entry.env()  # a quick look can be made of every one


def test_who_cannot_play_these_rewards_is_left_out_or_flips_coins():
    by_name = {each.label: each for each in ZOO}

    def forms(agent: str, world: str) -> dict[str, AgentSpec]:
        return forms_on(QUICK[world].entry, by_name[agent])

    assert forms("ts", "Gaussian, 4 changes") == forms("kl-ucb", "Gaussian, 4 changes") == {}
    assert set(forms("gamma-swgts", "Gaussian, 4 changes")) == {"informed", "blind"}
    assert forms("ts", "Beta, 4 changes")["informed"].kwargs == {"binarize": True}
    assert forms("kl-ucb", "Beta, 4 changes")["informed"].kwargs == {}
    assert set(forms("oracle-restart", "4 changes")) == {"informed"}


@pytest.mark.parametrize("label", ["4 changes", "walk, step 0.008", "Beta, 4 changes", "Abrupt"])
def test_one_run_serves_both_divisions_only_where_no_run_differs(label):
    """On every one of eight instances, informed and blind parameters of such an agent are the same; others differ."""
    world = QUICK[label].entry
    shared, apart = [], []
    for each in (each for each in ZOO if not each.reference):
        forms = forms_on(world, each)
        (shared if forms["informed"] is forms["blind"] else apart).append(forms["informed"])
    env = world.env()
    differ: set[str] = set()
    for seed in range(8):
        env.reset(seed=seed)
        known = known_of(env.unwrapped.means, env.unwrapped.world, env.unwrapped.law)
        for entry in (*shared, *apart):
            told, blind = (agents.make(entry.name, knowledge=known, **entry.kwargs, blind=b) for b in (False, True))
            if told.parameters.keys() != blind.parameters.keys() or not all(
                np.array_equal(value, blind.parameters[key]) for key, value in told.parameters.items()
            ):
                differ.add(entry.label)
    assert not differ & {entry.label for entry in shared}
    assert {"ts", "ucb1", "kl-ucb"} <= {entry.label for entry in shared}
    assert {"rexp3", "ser4", "exp3s"} <= differ & {entry.label for entry in apart}


class Deaf(Still):
    """Plays the first arm; told K alone."""

    def __init__(self, n_arms: int, note: str = "") -> None:
        super().__init__(n_arms)


class Curious(Deaf):
    """Asks for the number of changes, and cannot do without it."""

    def __init__(self, n_arms: int, breakpoints: int) -> None:
        super().__init__(n_arms)


@pytest.fixture
def strangers() -> Iterator[None]:
    for name, kind in (("deaf", Deaf), ("curious", Curious)):
        agents.register(name, kind)
    yield
    for name in ("deaf", "curious"):
        agents.AGENTS.remove(name)


def test_a_strangers_agent_is_told_what_its_constructor_names(strangers):
    world = QUICK["4 changes"].entry
    deaf, curious = zoo_and([AgentSpec.of("deaf"), AgentSpec.of("curious")])[-2:]
    forms = forms_on(world, deaf)
    assert forms["informed"] is forms["blind"]
    assert set(forms_on(world, curious)) == {"informed"}  # it cannot play blind


def test_the_next_agents_loop_is_compiled_while_this_one_plays():
    worlds = [QUICK["4 changes"], QUICK["16 changes"], QUICK["no change"]]
    plan = plan_of(worlds, [each for each in ZOO if each.label in ("ts", "ucb1", "random")])
    order = [(each.agents[0].name, each.worlds[0].label) for each in plan.study().experiments]
    a, b, c = ([(name, world.label) for world in worlds] for name in ("ts", "ucb1", "random"))
    assert order == [a[0], b[0], *a[1:], c[0], *b[1:], *c[1:]]


# What is computed.


def test_stopped_it_goes_on_and_an_agent_adds_its_rows(tmp_path, engine, undrawn, strangers, capsys, monkeypatch):
    monkeypatch.setattr(parallel, "MOST_ITEMS", 1)  # every unit is a task of its own
    asked = ["--quick", "--worlds", "mixed", "--out", str(tmp_path / "out"), "--jobs", "1"]

    def interrupted(*args, **kwargs):
        if len(engine.calls) == 30:
            raise KeyboardInterrupt
        return engine(*args, **kwargs)

    assert studies.leaderboard(asked, simulate=interrupted) == 130
    assert len(engine.calls) == 30
    assert studies.leaderboard(asked, simulate=engine) == 0
    total = len(units_of(plan_of(chosen_worlds(["mixed"], quick=True), ZOO).study()))
    assert len(engine.calls) == total
    engine.calls.clear()
    assert studies.leaderboard(asked, simulate=engine) == 0
    assert engine.calls == []
    assert studies.leaderboard([*asked, "--agents", "deaf"], simulate=engine) == 0
    assert [call[1] for call in engine.calls] == ["deaf", "deaf"]
    said = capsys.readouterr().out
    assert f"0 of {total} units computed" in said
    assert f"2 of {total + 2} units computed" in said
    last = said.splitlines()[-2:]  # it plays at random, and is told the same in both divisions
    for line, division in zip(last, ("informed", "blind"), strict=True):
        assert re.fullmatch(rf"deaf, {division}: place \d+ of \d+, mean rank [\d.]+ \([\d.]+ to [\d.]+\)", line), line
    assert "deaf" in (tmp_path / "out" / "leaderboard.html").read_text()


def test_the_page_holds_everything_and_escapes_names(tmp_path, engine, strangers):
    asked = ["--agents", "deaf:note=<script>", "--worlds", "4 changes", "16 changes", "Gaussian, 4 changes"]
    assert studies.leaderboard(["--quick", "--out", str(tmp_path), *asked], simulate=engine) == 0
    page = (tmp_path / "leaderboard.html").read_text()
    assert re.findall(r'<h2 id="(\w+)"', page) == [
        "leaders", "guide", "informed", "blind", "rates", "rules", "worlds", "settings",
    ]  # fmt: skip
    # The picture of ranks comes first, then one table, then the sentences.
    parts = ["mean ranks of the informed agents", "Which agent on which worlds", "Use this when"]
    assert sorted(parts, key=page.index) == parts
    assert page.count("data:image/svg+xml;base64,") == 5
    assert {path.name for path in (tmp_path / "figures").glob("*.png")} == {
        "informed-heatmap.png", "informed-ranks.png", "blind-heatmap.png", "blind-ranks.png", "rates.png",
    }  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "leaderboard.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["world"] for row in rows} == {"4 changes", "16 changes", "Gaussian, 4 changes"}
    assert "deaf:note=&lt;script&gt;" in page
    assert "<script" not in page


def test_one_division_alone(tmp_path, engine, undrawn):
    asked = ["--quick", "--worlds", "rising", "--division", "blind", "--out", str(tmp_path), "--snapshot"]
    assert studies.leaderboard([*asked, str(tmp_path / "kept")], simulate=engine) == 0
    written = json.loads((tmp_path / "kept" / "leaderboard.json").read_text())
    assert list(written["divisions"]) == ["blind"]
    assert (tmp_path / "kept" / "README.md").read_text() == snapshot_markdown(written)


# The world of click rates.


def test_click_rates_are_the_piecewise_world_moved():
    rates = ClickRates(horizon=400, changes=3, least=0.02, most=0.06).means(5)
    assert 0.02 <= rates.min() < rates.max() <= 0.06
    assert len(np.flatnonzero(np.diff(rates, axis=0).any(axis=1))) == 3
    with pytest.raises(ValueError, match=r"least must be below most, got 0.1 and 0.05"):
        ClickRates(least=0.1, most=0.05)


# The snapshot.


def test_the_snapshot_is_of_this_zoo_and_its_page_of_its_numbers():
    written = json.loads((SNAPSHOT / "leaderboard.json").read_text(encoding="utf-8"))
    assert (SNAPSHOT / "README.md").read_text(encoding="utf-8") == snapshot_markdown(written)
    for rows in written["divisions"].values():
        assert {row["label"] for row in rows} == {each.label for each in ZOO if each.competes}
    for picture in re.findall(r"(?:\]\(|src=\")([\w-]+\.\w+)[)\"]", snapshot_markdown(written)):
        assert (SNAPSHOT / picture).is_file(), picture


def test_the_ranks_of_the_snapshot_follow_from_its_table():
    import pandas as pd

    rows = pd.read_csv(SNAPSHOT / "leaderboard.csv")
    rows = rows[rows.counts & rows.place.notna()]
    rows["rank"] = rows.groupby(["division", "world"]).regret.rank()
    of_family = rows.groupby(["division", "agent", "family"])["rank"].mean()
    means = of_family.groupby(["division", "agent"]).mean()
    written = json.loads((SNAPSHOT / "leaderboard.json").read_text(encoding="utf-8"))
    for division, standing in written["divisions"].items():
        for row in standing:
            assert row["rank"] == pytest.approx(means[division, row["label"]], abs=1e-3)
