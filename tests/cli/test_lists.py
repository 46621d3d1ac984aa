"""What there is: ``agents``, ``worlds`` and ``cite`` list and describe everything that the tables hold."""

import tomllib

import pytest

import ns_mab_gym
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.cli import entry
from ns_mab_gym.cli.lists import FAMILIES
from ns_mab_gym.envs import ENV_IDS

from .conftest import ROOT


@pytest.fixture
def said(capsys):
    """A function from arguments to what the command said, which must have gone well."""

    def lines(*arguments):
        assert entry.main(arguments) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return lines


def test_agents_lists_every_agent_with_its_summary(said):
    families = [family.splitlines() for family in said("agents").split("\n\n")]
    assert [lines[0] for lines in families] == list(FAMILIES)
    rows = [row for _, *rows in families for row in rows]
    assert sorted(row.split()[0] for row in rows) == sorted(agents.names())
    for row in rows:
        assert row.startswith("  ")
        assert row.split(maxsplit=1)[1] == agents.card(row.split()[0]).summary
    assert [row.split()[0] for row in families[0][1:]] == ["beta-swts", "gamma-swgts"]


def test_every_agent_of_the_house_has_one_family():
    members = [name for family in FAMILIES.values() for name in family]
    assert sorted(members) == sorted(agents.HOUSE)


@pytest.mark.parametrize("name", agents.names())
def test_every_agent_has_a_card_with_its_source_and_its_rule(name, said):
    card = said("agents", name)
    assert card == f"{agents.card(name)}\n"
    assert card.startswith(f"{name}: ")
    assert "\n  source " in card
    assert "\n  rule " in card


@pytest.mark.usefixtures("here")
def test_an_agent_of_the_users_own_has_a_card(said):
    card = said("agents", "own_zoo:Stubborn")
    assert card.startswith("own_zoo:Stubborn: Plays one arm for ever: a plain class with three methods.\n")
    assert "  rule         the same arm in every round.\n" in card
    assert "  parameter    arm: which one.\n" in card


def test_worlds_lists_every_world_id_and_law(said):
    first, second, third = said("worlds").split("\n\n")
    assert [line.split()[0] for line in first.splitlines()[1:]] == worlds.names()
    assert [line.split()[0] for line in second.splitlines()[1:]] == list(ENV_IDS)
    assert [line.split()[0] for line in third.splitlines()[1:]] == rewards.names()


@pytest.mark.parametrize("name", worlds.names())
def test_every_world_has_a_card_that_names_its_ids(name, said):
    card = said("worlds", name)
    assert card.startswith(str(worlds.card(name)))
    ids = [line.split()[1] for line in card.splitlines() if line.startswith("  id ")]
    assert ids == [env_id for env_id, arguments in ENV_IDS.items() if arguments.get("world") == name]


@pytest.mark.parametrize("name", rewards.names())
def test_every_law_has_a_card(name, said):
    assert said("worlds", name) == f"{rewards.card(name)}\n"


@pytest.mark.parametrize("prefix", ["", "ns_mab_gym:"])
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_every_id_says_what_it_plays(env_id, prefix, said):
    first, *rest = said("worlds", prefix + env_id).splitlines()
    assert first.split()[0] == env_id
    for key, value in ENV_IDS[env_id].items():
        assert f"{key}={value!r}" in first
    assert rest[0].startswith(f"{ENV_IDS[env_id].get('world', 'abrupt')}: ")


@pytest.mark.parametrize("name", ["mixed", "NSBandit-Mixed-v0", "ns_mab_gym:NSBandit-Mixed-v0"])
def test_a_world_with_parameters_says_what_follows_from_them(name, said):
    text = " ".join(said("worlds", f"{name}:n_arms=5,horizon=500,changes=2").split())
    assert "this one Mixed(horizon=500, n_arms=5, jumping=2, changes=2, step=0.02)" in text
    assert "derived jumping = 2 (K/2, rounded down); step = 0.02 (0.002 √(50,000/T), at most 0.25)" in text


@pytest.mark.usefixtures("here")
def test_worlds_and_laws_of_the_users_own_have_cards(said):
    assert said("worlds", "own_zoo:Level").startswith("own_zoo:Level: Two arms that stand still, the second worse by")
    law = said("worlds", "own_zoo:Sure")
    assert law.startswith("own_zoo:Sure: A reward is its mean, plus a bonus.\n")
    assert "λ²-subgaussian with λ = 0." in law


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", ["agents", "worlds"])
def test_what_is_neither_is_refused(command, one_error):
    assert entry.main([command, "own_zoo:np"]) == 2
    assert "is not a class" in one_error(f"ns-mab-gym {command}")


def test_cite_agrees_with_the_citation_file_and_the_version(said):
    bibtex = said("cite")
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    cff = [line.strip("- ").partition(": ")[::2] for line in lines]
    family = [value for key, value in cff if key == "family-names"]
    given = [value for key, value in cff if key == "given-names"]
    software, article = bibtex.split("@")[1:]
    titles = [value for key, value in cff if key == "title"]
    facts = dict(cff)
    assert bibtex.splitlines()[0] == facts["message"]
    assert f"title   = {{{titles[0]}}}" in software
    assert f"author  = {{{{{facts['name']}}}}}" in software
    assert f"version = {{{facts['version']}}}" in software
    assert f"license = {{{facts['license']}}}" in software
    assert titles[1] in article.replace("{", "").replace("}", "")
    people = " and ".join(f"{last}, {first}" for last, first in zip(family, given, strict=True))
    assert f"author  = {{{people}}}" in article
    for key in ("year", "journal", "url"):
        assert f"{key:<7} = {{{facts[key]}}}" in article
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert facts["version"] == project["version"] == ns_mab_gym.__version__
