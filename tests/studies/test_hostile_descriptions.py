"""Descriptions that nobody should write: each is read, or refused in one of our own sentences that names the place."""

from __future__ import annotations

import pytest

from ns_mab_gym.agents.core.registry import TEXTS
from ns_mab_gym.specs import AgentSpec, WorldSpec, agent_specs, read_agents, world_specs
from ns_mab_gym.studies.runner import check_study
from ns_mab_gym.studies.study import Experiment, Study, read_study

from ..support.hostile import UNSHOWN, VALUES, foreign

SETTINGS = {
    "title": '"Which memory?"',
    "runs": "2",
    "seed": "3",
    "reference": '"ts"',
}
WORLDS = [
    {"env": '"piecewise"', "n_arms": "3", "horizon": "50", "label": '"shop"', "note": '"a note"', "group": '"a group"'},
    {"env": '"stationary"', "mu": "[0.1, 0.5, 0.9]", "horizon": "40", "reward": '"beta"', "label": '"σ"'},
    {"env": '"NSBandit-Abrupt-v0"', "horizon": "60"},
]
AGENTS = [
    {"agent": '"ts"', "binarize": "true", "label": '"ts"', "note": '"a note"', "group": '"a group"'},
    {"agent": '"beta-swts"', "window": "{sweep = [5, 9]}", "binarize": "true"},
    {"agent": '"sw-ucb"', "window": "20", "xi": "0.6"},
]


def written(settings, worlds, agents):
    """A description as TOML."""
    lines = [f"{key} = {value}" for key, value in settings.items()]
    for name, tables in (("worlds", worlds), ("agents", agents)):
        for table in tables:
            lines += [f"[[{name}]]", *(f"{key} = {value}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def copies(tables):
    return [dict(table) for table in tables]


def refused(file):
    """The error with which a description is refused; None if it can be run."""
    try:
        check_study(read_study(file))
    except Exception as error:
        return error
    return None


PLACES = [("settings", 0), *((part, number) for part in ("worlds", "agents") for number in range(3))]
NO_TOML = ("TOML", "too many digits", "too deep")


def with_one(file, part, number, key, value):
    """The file of a description that is good but for one value."""
    parts = {"settings": [dict(SETTINGS)], "worlds": copies(WORLDS), "agents": copies(AGENTS)}
    parts[part][number][key] = value
    file.write_text(written(parts["settings"][0], parts["worlds"], parts["agents"]), encoding="utf-8")
    return file


@pytest.mark.parametrize(("part", "number"), PLACES)
def test_every_key_with_every_kind_of_value(part, number, tmp_path):
    """Each is taken, or refused by a message that names the key, the entry, or the line of what is no TOML."""
    for key in {"settings": [SETTINGS], "worlds": WORLDS, "agents": AGENTS}[part][number]:
        for value in VALUES:
            error = refused(with_one(tmp_path / "mine.toml", part, number, key, value))
            assert foreign(error) is None, (key, value[:80], error)
            place = (key, part[:-1], *NO_TOML)
            assert error is None or any(word in str(error) for word in place), (key, value[:80], error)


NO_TEXTS = ["5", "5.0", "true", "false", "0", "[]", "{}", "1979-05-27", '["a"]', "nan", '{a = "b"}']
SHOWN = [("settings", "title"), ("settings", "reference"), ("worlds", "env"), ("agents", "agent")]


@pytest.mark.parametrize(("part", "key"), [*SHOWN, *((part, key) for part in ("worlds", "agents") for key in TEXTS)])
def test_what_is_shown_must_be_text(part, key, tmp_path):
    for value in NO_TEXTS:
        with pytest.raises((TypeError, ValueError), match=r"text in quotes|a text or a table with") as caught:
            read_study(with_one(tmp_path / "mine.toml", part, 0, key, value))
        assert key in str(caught.value)


@pytest.mark.parametrize("text", UNSHOWN)
def test_characters_that_cannot_be_shown_are_refused_wherever_texts_are_given(text):
    for what in ("label", "note", "group"):
        if what == "note" and set(text) & set("\t\n\r"):
            continue
        for kind in (AgentSpec, WorldSpec):
            with pytest.raises(ValueError, match="cannot be shown") as caught:
                kind.of("ts", **{what: f"a{text}"})
            assert str(caught.value).isprintable()
    agents, worlds = (AgentSpec.of("ts"),), (WorldSpec.of("abrupt"),)
    for make in (
        lambda: AgentSpec.of(f"a{text}"),
        lambda: WorldSpec.of(f"a{text}.csv"),
        lambda: AgentSpec.of("ts", mode=f"a{text}"),
        lambda: AgentSpec.of("ts", modes=[{"a": f"a{text}"}]),
        lambda: AgentSpec.of("ts", **{f"a{text}": 1}),
        lambda: Experiment(worlds=worlds, agents=agents, reference=f"a{text}"),
        lambda: Study(f"a{text}", ()),
        lambda: agent_specs({f"a{text}": "ts"}),
        lambda: world_specs(f"a{text}.csv"),
    ):
        with pytest.raises(ValueError, match="cannot be shown"):
            make()


def test_several_lines_may_be_in_a_note_and_nowhere_else():
    assert AgentSpec.of("ts", note="one\n\ttwo").note == "one\n\ttwo"


def test_labels_that_look_like_numbers_are_text_on_the_command_line():
    for text in ("5", "1e4", "true", "[1]", "nan"):
        assert read_agents(f"ts:label={text}")[0].label == text
        assert WorldSpec.read(f"abrupt:label={text}").label == text
    (one, two) = read_agents("sw-ucb:window=5|9,label=7")
    assert (one.label, two.label) == ("7, window=5", "7, window=9")
