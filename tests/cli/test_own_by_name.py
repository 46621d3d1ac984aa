"""Agents, worlds and laws of the user's own, by path, by a registered name and as offered by an installed package.

Everything here has a regret that follows from its definition: on a world whose second arm is worse by ``gap`` in every
round, who always plays it gathers gap · T, and who plays both in turn half of that.
"""

import pandas as pd
import pytest

from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.agents.core.registry import AGENTS
from ns_mab_gym.cli import entry
from ns_mab_gym.rewards import LAWS
from ns_mab_gym.worlds.world import WORLDS

pytestmark = pytest.mark.usefixtures("here")
slowly = pytest.mark.filterwarnings("ignore:.*generic Python loop")


@pytest.fixture
def finals(here):
    """A function from arguments of ``evaluate`` to the final regret of each agent, the same in every run."""

    def evaluated(*arguments):
        assert entry.main(["evaluate", *arguments, "--out", "out"]) == 0
        return finals_in(here)

    return evaluated


def finals_in(folder):
    table = pd.read_csv(folder / "out" / "summary.csv")
    assert (table["sd"] < 1e-9).all()
    return dict(zip(table["agent"], table["final_regret"].round(9), strict=True))


@slowly
def test_by_path_on_the_command_line(finals):
    named = ("own_zoo:Stubborn", "own_zoo:Stubborn:arm=1", "own_zoo:InTurn", "own_zoo:InTurn:start=1")
    found = finals("--env", "own_zoo:Level:gap=0.5,horizon=21", "--agents", *named, "--runs", "3")
    # In 21 rounds, who begins with the first arm plays it eleven times.
    assert found == dict(zip(named, (0.0, 21 * 0.5, 10 * 0.5, 11 * 0.5), strict=True))
    sure = "own_zoo:Level:reward=own_zoo:Sure"  # a law by path
    assert finals("--env", sure, "--agents", "own_zoo:Stubborn:arm=1", "--runs", "2") == {"own_zoo:Stubborn:arm=1": 10}


def test_the_rule_of_an_own_agent_is_compiled(finals, capsys):
    finals("--env", "own_zoo:Level", "--agents", "own_zoo:InTurn", "--runs", "2")
    words = ["--env", "own_zoo:Level", "--agents", "own_zoo:Stubborn", "--runs", "2", "--out", "out"]
    assert entry.main(["evaluate", *words]) == 1  # warnings are errors here
    assert "UserWarning: " in (said := capsys.readouterr().err)
    assert "has no compiled form" in said


@slowly
def test_in_a_description(finals, here):
    (here / "mine.toml").write_text("""
        runs = 2
        worlds = [{env = "own_zoo:Level", gap = 0.125, reward = {name = "own_zoo:Sure", bonus = 0.25}}]
        agents = [{agent = "own_zoo:Stubborn", arm = 1, label = "stubborn"}, {agent = "own_zoo:InTurn", label = "turn"}]
    """)
    assert finals("mine.toml") == {"stubborn": 40 * 0.125, "turn": 20 * 0.125}


@pytest.fixture
def _registered(here):
    import own_zoo

    agents.register("stubborn", own_zoo.Stubborn)
    agents.register("in-turn", "own_zoo:InTurn")
    worlds.register("level", own_zoo.Level)
    rewards.register("sure", "own_zoo:Sure")
    yield
    for table, name in ((AGENTS, "stubborn"), (AGENTS, "in-turn"), (WORLDS, "level"), (LAWS, "sure")):
        table.remove(name)


@slowly
@pytest.mark.usefixtures("_registered")
def test_by_a_name_that_was_registered(finals, capsys):
    named = ("stubborn:arm=1", "in-turn")
    assert finals("--env", "level:gap=0.5,reward=sure", "--agents", *named, "--runs", "2") == dict(
        zip(named, (20, 10), strict=True)
    )
    capsys.readouterr()
    assert entry.main(["agents"]) == entry.main(["worlds"]) == entry.main(["worlds", "sure"]) == 0
    said = capsys.readouterr().out
    for row in ("  stubborn ", "  in-turn ", "  level ", "  sure ", "sure: A reward is its mean, plus a bonus."):
        assert f"\n{row}" in said


POINTS = """
[ns_mab_gym.agents]
offered-stubborn = own_zoo:Stubborn
offered-broken = own_zoo_that_is_not:Anything

[ns_mab_gym.worlds]
offered-level = own_zoo:Level

[ns_mab_gym.laws]
offered-sure = own_zoo:Sure
"""


@pytest.fixture
def installed(here):
    """A folder in which a distribution is installed that offers the module's classes as entry points."""
    folder = here / "installed"
    about = folder / "own_zoo-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-zoo\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    (here / "own_zoo.py").rename(folder / "own_zoo.py")
    return folder


def test_by_a_name_that_an_installed_package_offers(here, installed, python):
    words = ["--env", "offered-level:reward=offered-sure,gap=0.5", "--agents", "offered-stubborn:arm=1", "--runs", "2"]
    run = python("-m", "ns_mab_gym", "evaluate", *words, "--out", "out", path=installed)
    assert run.returncode == 0, run.stderr
    assert finals_in(here) == {"offered-stubborn:arm=1": 20}


def test_lists_show_what_installed_packages_offer_and_survive_what_is_broken(installed, python):
    listed = python("-m", "ns_mab_gym", "agents", path=installed)
    assert listed.returncode == 0, listed.stderr
    last = listed.stdout.partition("\nyours, and those of installed packages\n")[2]
    rows = dict(line.split(maxsplit=1) for line in last.splitlines())
    assert rows["offered-stubborn"] == "Plays one arm for ever: a plain class with three methods."
    assert rows["offered-broken"].startswith("cannot be loaded: cannot import 'own_zoo_that_is_not'")
    worlds_and_laws = python("-m", "ns_mab_gym", "worlds", path=installed).stdout
    assert "\n  offered-level " in worlds_and_laws
    assert "\n  offered-sure " in worlds_and_laws
    refused = python("-m", "ns_mab_gym", "evaluate", "--env", "abrupt", "--agents", "offered-broken", path=installed)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "cannot import 'own_zoo_that_is_not'" in refused.stderr


LEVEL, TS = "own_zoo:Level", "ts"


@pytest.mark.parametrize(
    ("world", "agent", "message"),
    [
        (LEVEL, "own_zo:Stubborn", "cannot import 'own_zo' of 'own_zo:Stubborn': No module named 'own_zo'; is its fol"),
        (LEVEL, "own_zoo:Stuborn", "'own_zoo' has no 'Stuborn'; did you mean 'Stubborn'?"),
        (LEVEL, "own_zoo:NUMBER", "3 is not a class"),
        (LEVEL, "own_zoo:Wanting", "it has no act()"),
        (LEVEL, "own_zoo:Level", "it has no reset()"),
        (LEVEL, "own_zoo:Stubborn:leg=1", "agent 'own_zoo:Stubborn' has no parameter 'leg'; it takes n_arms, arm"),
        (LEVEL, "own_broken:Agent", "(own_broken.py, line 1) (SyntaxError)"),
        (LEVEL, "own_needy:Agent", "cannot import 'own_needy' of 'own_needy:Agent': No module named 'of_someone_else'"),
        ("own_zo:Level", TS, "cannot import 'own_zo'"),
        ("own_zoo:Levl", TS, "'own_zoo' has no 'Levl'; did you mean 'Level'?"),
        ("own_zoo:NUMBER", TS, "3 is not a class"),
        ("own_zoo:Stubborn", TS, "it has no means()"),
        ("own_zoo:Level:gap=2", TS, "bernoulli rewards need means in [0, 1]"),
        ("own_zoo:Level:gab=1", TS, "has no parameter 'gab'; did you mean 'gap'?"),
        ("own_zoo:Level:reward=own_zoo:Shure", TS, "'own_zoo' has no 'Shure'; did you mean 'Sure'?"),
        ("own_zoo:Level:reward=own_zoo:Level", TS, "it has no reward()"),
        ("own_zoo:Level:reward=shure", TS, "unknown reward law 'shure'"),
    ],
)
def test_what_cannot_be_had(world, agent, message, here, one_error):
    (here / "own_broken.py").write_text("class Agent\n")
    (here / "own_needy.py").write_text("import of_someone_else\n")
    assert entry.main(["evaluate", "--env", world, "--agents", agent]) == 2
    said = one_error("ns-mab-gym evaluate")
    assert message in said
    # the folder of own_needy is not what is missing
    assert ("is its folder on PYTHONPATH?" in said) == ("own_zo:" in agent + world)
