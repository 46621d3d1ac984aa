"""Units of a leaderboard that fail: who lacks runs has no place, and the others keep theirs."""

import html
import json
import re

import pytest
from failing_studies import rows_of

from ns_mab_gym.leaderboard.page import Leaderboard
from ns_mab_gym.leaderboard.plan import chosen_worlds, plan_of, zoo_and

LABELS = ("ts", "ucb1", "sw-ucb", "rexp3", "random", "oracle-restart", "glr-klucb (global)")
WORLDS = {world.label: world for world in chosen_worlds(["4 changes", "16 changes", "walk, step 0.008"], quick=True)}


def ranked(folder, simulate, labels=LABELS, **options):
    contestants = [each for each in zoo_and() if each.label in labels]
    plan = plan_of(list(WORLDS.values()), contestants)
    made = Leaderboard(plan, folder=folder, simulate=simulate, n_jobs=1, **options)
    return made, made.run()


class Broken:
    """The stand-in for the engine, which raises for some agents on some worlds."""

    def __init__(self, engine, agents, worlds, blind=None):
        self.engine, self.agents, self.blind = engine, agents, blind
        self.worlds = [WORLDS[label].entry.kwargs for label in worlds]

    def __call__(self, env, agent, **asked):
        blind = bool(asked["agent_kwargs"].get("blind"))
        if agent in self.agents and asked["env_kwargs"] in self.worlds and self.blind in (None, blind):
            raise ZeroDivisionError("division by zero")
        return self.engine(env, agent, **asked)


def test_who_fails_on_a_world_has_no_place_and_the_others_keep_theirs(tmp_path, engine):
    made, said = ranked(tmp_path / "out", Broken(engine, ["rexp3"], ["4 changes"], blind=True))
    assert {each.unit.agent.name for each in made.failures} == {"rexp3"}
    written = json.loads((tmp_path / "out" / "leaderboard.json").read_text())
    places = {name: [row["label"] for row in rows] for name, rows in written["divisions"].items()}
    assert "rexp3" in places["informed"]
    assert set(places["blind"]) == {"ts", "ucb1", "sw-ucb"}
    rows = rows_of(tmp_path / "out" / "leaderboard.csv")
    played = {(row["division"], row["world"]) for row in rows if row["agent"] == "rexp3"}
    assert ("blind", "4 changes") not in played
    assert len(played) == 5
    page = (tmp_path / "out" / "leaderboard.html").read_text()
    for text in (html.unescape(page), "\n".join(said)):
        error = "ZeroDivisionError: division by zero (test_failures.py, line "
        assert f"rexp3, blind on 4 changes, runs 0-3 ({error}" in text
        assert "has no result there, and no place if the world counts" in text
    assert "ZeroDivisionError" in (tmp_path / "out" / "failures.txt").read_text()


ZOO = ("ts", "ucb1", "sw-ucb", "rexp3", "glr-klucb")


@pytest.mark.parametrize(
    ("agents", "worlds"),
    [
        (ZOO, ["4 changes"]),  # a world on which nobody is left
        (ZOO[1:], ["4 changes"]),  # one agent has a place
        (ZOO[:2], ["4 changes", "16 changes"]),
        (ZOO[:4], list(WORLDS)),  # nobody competes, but a further form plays
        (("random",), list(WORLDS)),
        (("oracle-restart",), list(WORLDS)),
        (("random", "oracle-restart", *ZOO[1:]), ["16 changes"]),
    ],
)
def test_whoever_fails_there_is_a_page_as_long_as_somebody_competes(tmp_path, engine, agents, worlds):
    made, said = ranked(tmp_path / "out", Broken(engine, agents, worlds))
    competing = not (set(agents) >= set(ZOO[:4]) and set(worlds) == set(WORLDS))
    page = tmp_path / "out" / "leaderboard.html"
    assert page.exists() == competing
    assert not competing or not re.search(r"\bnan\b", re.sub(r"base64,[^\"]*", "", page.read_text()))
    assert said[-1].startswith("page: " if competing else "no page: ")
    assert made.failures


def test_nobody_has_a_place_where_everybody_failed_somewhere(tmp_path, engine, undrawn):
    ranked(tmp_path / "out", Broken(Broken(engine, ZOO[:2], ["4 changes"]), ZOO[2:], ["16 changes"]))
    written = json.loads((tmp_path / "out" / "leaderboard.json").read_text())
    assert all(rows == [] for rows in written["divisions"].values())


def test_a_snapshot_never_lacks_runs(tmp_path, engine):
    _, said = ranked(tmp_path / "out", Broken(engine, ["ts"], WORLDS), snapshot=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
    assert "no snapshot: runs are missing" in said
    _, said = ranked(tmp_path / "out", engine, snapshot=tmp_path / "kept")
    assert (tmp_path / "kept" / "README.md").exists()
    assert not (tmp_path / "out" / "failures.txt").exists()


def test_nothing_left_is_no_page_and_none_of_an_earlier_run(tmp_path, engine, undrawn):
    ranked(tmp_path / "out", engine, labels=("ts", "random"))
    ranked(tmp_path / "out", Broken(engine, ["ucb1"], WORLDS), labels=("ucb1", "random"))
    assert not (tmp_path / "out" / "leaderboard.html").exists()
    assert not (tmp_path / "out" / "leaderboard.csv").exists()
