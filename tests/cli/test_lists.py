"""What there is: ``agents``, ``worlds`` and ``cite`` list and describe everything that the tables hold."""

import pytest

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


def test_worlds_lists_every_world_id_and_law(said):
    first, second, third = said("worlds").split("\n\n")
    assert [line.split()[0] for line in first.splitlines()[1:]] == worlds.names()
    assert [line.split()[0] for line in second.splitlines()[1:]] == list(ENV_IDS)
    assert [line.split()[0] for line in third.splitlines()[1:]] == rewards.names()


@pytest.mark.parametrize(
    ("command", "name", "kind"),
    [
        *(("agents", name, agents) for name in agents.names()),
        *(("worlds", name, worlds) for name in worlds.names()),
        *(("worlds", name, rewards) for name in rewards.names()),
    ],
)
def test_everything_has_a_card_and_a_world_names_its_ids(command, name, kind, said):
    ids = [env_id for env_id, arguments in ENV_IDS.items() if kind is worlds and arguments.get("world") == name]
    assert said(command, name) == "\n".join([str(kind.card(name)), *(f"  id           {each}" for each in ids), ""])


@pytest.mark.parametrize("env_id", [*ENV_IDS, "ns_mab_gym:NSBandit-Smooth-v0"])
def test_every_id_says_what_it_plays(env_id, said):
    first, *rest = said("worlds", env_id).splitlines()
    name = env_id.removeprefix("ns_mab_gym:")
    assert first.split()[0] == name
    for key, value in ENV_IDS[name].items():
        assert f"{key}={value!r}" in first
    assert rest[0].startswith(f"{ENV_IDS[name].get('world', 'abrupt')}: ")


@pytest.mark.parametrize("name", ["mixed", "NSBandit-Mixed-v0", "ns_mab_gym:NSBandit-Mixed-v0"])
def test_a_world_with_parameters_says_what_follows_from_them(name, said):
    text = " ".join(said("worlds", f"{name}:n_arms=5,horizon=500,changes=2").split())
    assert "this one Mixed(horizon=500, n_arms=5, jumping=2, changes=2, step=0.02)" in text
    assert "derived jumping = 2 (K/2, rounded down); step = 0.02 (0.002 √(50,000/T), at most 0.25)" in text


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("command", "name", "first", "also"),
    [
        ("agents", "Stubborn", "Plays one arm for ever:", "  rule         the same arm in every round.\n"),
        ("agents", "Stubborn", "Plays one arm for ever:", "  parameter    arm: which one.\n"),
        ("worlds", "Level", "Two arms that stand still, the second worse by", "gap"),
        ("worlds", "Sure", "A reward is its mean, plus a bonus.\n", "λ²-subgaussian with λ = 0."),
    ],
)
def test_what_is_of_the_users_own_has_a_card_and_what_is_neither_is_refused(
    command, name, first, also, said, one_error
):
    card = said(command, f"own_zoo:{name}")
    assert card.startswith(f"own_zoo:{name}: {first}")
    assert also in card
    assert entry.main([command, "own_zoo:np"]) == 2
    assert "is not a class" in one_error(f"ns-mab-gym {command}")


def test_cite_agrees_with_the_citation_file(said):
    bibtex = said("cite")
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    cff = [line.strip("- ").partition(": ")[::2] for line in lines]
    family, given, titles = (
        [value for key, value in cff if key == wanted] for wanted in ("family-names", "given-names", "title")
    )
    software, article = bibtex.split("@")[1:]
    facts = dict(cff)
    assert bibtex.splitlines()[0] == facts["message"]
    shown = {
        "title": titles[0],
        "author": f"{{{facts['name']}}}",
        **{key: facts[key] for key in ("version", "license")},
    }
    for key, value in shown.items():
        assert f"{key:<7} = {{{value}}}" in software
    assert titles[1] in article.replace("{", "").replace("}", "")
    people = " and ".join(f"{last}, {first}" for last, first in zip(family, given, strict=True))
    for key, value in {"author": people, **{key: facts[key] for key in ("year", "journal", "url")}}.items():
        assert f"{key:<7} = {{{value}}}" in article
