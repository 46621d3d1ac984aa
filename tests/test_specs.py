"""Specs: one grammar for worlds and agents, labels that differ, and sweeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ns_mab_gym as nsb
from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.specs import AgentSpec, agent_specs, as_env, world_specs

WORLD = worlds.Abrupt(horizon=600)


class Mine:
    """An agent of a user."""

    def reset(self, seed=None): ...
    def act(self, observation=None): ...
    def observe(self, arm, reward): ...


class Chosen(dict):
    """What a search returns: parameters, and the agent that they are for."""

    agent = "sw-ucb"

    @property
    def parameters(self):
        return self


@pytest.mark.parametrize(
    ("given_", "labels"),
    [
        ("ts", ["ts"]),
        (["ts", ("sw-ucb", {"window": 9})], ["ts", "sw-ucb"]),  # parameters only where they tell two apart
        (["sw-ucb", ("sw-ucb", {"window": 9})], ["sw-ucb", "sw-ucb:window=9"]),
        ([("sw-ucb", {"window": at, "xi": 1}) for at in (9, 8)], ["sw-ucb:window=9", "sw-ucb:window=8"]),
        ([agents.BetaSWTS(2, window=3), agents.BetaSWTS(2, window=4)], ["beta-swts:window=3", "beta-swts:window=4"]),
        ([Mine, Mine(), Mine()], ["Mine", "Mine (2)", "Mine (3)"]),
        (["ts", "ts"], ["ts", "ts (2)"]),
        ([{"ts": "random"}, "ts"], ["ts", "ts (2)"]),
        ({"a/b": "ts", "A/B": "ts", "天気": "random"}, ["a/b", "A/B", "天気"]),
        (["ts", Chosen(window=5)], ["ts", "sw-ucb"]),
        (("ts", "random"), ["ts", "random"]),
        ((name for name in ("ts", "random")), ["ts", "random"]),
        (nsb.sweep("sw-ucb", window=[5]), ["sw-ucb:window=5"]),
        ({"mine": nsb.sweep("sw-ucb", window=[5, 6])}, ["mine:window=5", "mine:window=6"]),
        ([nsb.sweep("sw-ucb", window=[5, 6]), "sw-ucb"], ["sw-ucb:window=5", "sw-ucb:window=6", "sw-ucb"]),
        (
            [nsb.sweep("sw-ucb", window=[5], xi=0.1), nsb.sweep("sw-ucb", window=[5], xi=0.2)],
            ["sw-ucb:xi=0.1,window=5", "sw-ucb:xi=0.2,window=5"],
        ),
    ],
)  # fmt: skip
def test_labels_of_agents(given_, labels):
    assert [each.label for each in agent_specs(given_)] == labels


def test_all_is_the_zoo():
    assert [each.label for each in agent_specs("all")] == agents.names()
    assert [each.label for each in agent_specs(["all"])] == agents.names()


def test_labels_of_worlds(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "means.csv").write_text("0.1,0.9\n")
    one, other = tmp_path / "a" / "means.csv", tmp_path / "b" / "means.csv"
    assert [world.label for world in world_specs([one])] == ["means.csv"]
    assert [world.label for world in world_specs([one, other])] == [str(one), str(other)]
    walks = [worlds.RandomWalk(horizon=9, n_arms=k) for k in (2, 3)]
    assert [world.label for world in world_specs(walks)] == ["random-walk:n_arms=2", "random-walk:n_arms=3"]
    assert [world.label for world in world_specs([[[0.1, 0.2]], [[0.3, 0.4]]])] == ["array", "array (2)"]
    assert [world.label for world in world_specs(["NSBandit-Abrupt-v0", {"mine": "abrupt"}])] == [
        "NSBandit-Abrupt-v0",
        "mine",
    ]


@given(st.lists(st.sampled_from(["ts", "sw-ucb", "sw-ucb:window=5", "sw-ucb:window=5,xi=1", Mine]), max_size=8))
def test_labels_are_always_different(named):
    labels = [each.label for each in agent_specs([{"ts (2)": "ts", "sw-ucb:window=5": "ts"}, *named])]
    assert len(set(labels)) == len(labels) == len(named) + 2
    assert labels[:2] == ["ts (2)", "sw-ucb:window=5"]


# Sweeps.


@pytest.mark.parametrize(
    ("ends", "count", "numbers"),
    [
        ((100, 10_000), 3, [100, 1000, 10_000]),
        ((1, 3), 9, [1, 2, 3]),
        ((10_000, 100), 3, [10_000, 1000, 100]),
        ((np.int64(2), 8), 3, [2, 4, 8]),
        ((0.5, 8), 5, [0.5, 1.0, 2.0, 4.0, 8.0]),
    ],
)
def test_geomspace(ends, count, numbers):
    found = nsb.geomspace(*ends, count)
    assert found == pytest.approx(numbers)
    assert {type(each) for each in found} == {type(numbers[0])}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 10, 3), ValueError, "the first number of geomspace must be a finite number above 0, got 0"),
        ((1, float("inf"), 3), ValueError, "the last number of geomspace"),
        ((1, 10, 1), ValueError, "the count of geomspace must be an integer of at least 2"),
    ],
)
def test_geomspace_explains_mistakes(arguments, error, message):
    with pytest.raises(error, match=message):
        nsb.geomspace(*arguments)


def test_a_sweep_is_one_agent_for_each_value():
    made = nsb.sweep("sw-ucb", window=np.array([100, 10, 10]), xi=0.6)
    assert (made.agent, made.parameter, made.values) == ("sw-ucb", "window", (10, 100))
    assert [each.kwargs for each in agent_specs(made)] == [{"xi": 0.6, "window": 10}, {"xi": 0.6, "window": 100}]
    assert type(made.values[0]) is int


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"window": [1, 2], "xi": [0.1, 0.2]}, ValueError, "varies one parameter, got window and xi; give two sweeps"),
        ({"window": 5}, ValueError, "nothing is swept"),
        ({"window": []}, ValueError, "window has no values"),
        ({"window": ["a"]}, TypeError, "a sweep varies a number, got window = 'a'"),
        ({"window": [True]}, TypeError, "a sweep varies a number"),
        ({"windo": [1]}, TypeError, "no parameter 'windo'; did you mean 'window'"),
    ],
)
def test_a_sweep_explains_mistakes(arguments, error, message):
    with pytest.raises(error, match=message):
        nsb.sweep("sw-ucb", **arguments)
    with pytest.raises(TypeError, match="give a name or a class"):
        nsb.sweep(agents.BetaSWTS(2, window=2), window=[1])


def test_a_value_that_no_agent_takes_is_found_before_play():
    with pytest.raises(ValueError, match="sw-ucb:window=0 on abrupt: window must be a positive integer"):
        nsb.compare(WORLD, nsb.sweep("sw-ucb", window=[0, 10]), progress=lambda *_: pytest.fail("played"))


# One grammar: whatever takes a world or an agent takes all of its forms.

MEANS = worlds.Abrupt(horizon=300).means()
WORLD_FORMS = {
    "id as text": "NSBandit-Abrupt-v0:horizon=300",
    "id in a pair": ("NSBandit-Abrupt-v0", {"horizon": 300}),
    "text": "abrupt:horizon=300",
    "path as text": "ns_mab_gym.worlds:Abrupt:horizon=300",
    "pair": ("abrupt", {"horizon": 300}),
    "class in a pair": (worlds.Abrupt, {"horizon": 300}),
    "world": worlds.Abrupt(horizon=300),
    "environment": gym.make("NSBandit-Abrupt-v0", horizon=300),
    "array": MEANS,
    "rows": MEANS.tolist(),
    "frame": pd.DataFrame(MEANS),
    "csv": "means.csv",
    "path": Path("means.npz"),
}
AGENT_FORMS = {
    "text": "beta-swts:window=40",
    "pair": ("beta-swts", {"window": 40}),
    "path as text": "ns_mab_gym.agents.beta_swts:BetaSWTS:window=40",
    "class in a pair": (agents.BetaSWTS, {"window": 40}),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that some forms name, in the folder where we stand."""
    monkeypatch.chdir(tmp_path)
    Path("means.csv").write_text("\n".join(",".join(map(repr, row)) for row in MEANS.tolist()))
    np.savez("means.npz", MEANS)


def without_law(described):
    """The description of the means alone."""
    return replace(described, subgaussian=None, support=None)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("world", WORLD_FORMS.values(), ids=WORLD_FORMS)
def test_every_form_of_a_world_is_the_same_world_everywhere(world):
    expected = nsb.simulate("abrupt", "ts", env_kwargs={"horizon": 300}, runs=2).regret
    np.testing.assert_array_equal(nsb.simulate(world, "ts", runs=2).regret, expected)
    [played] = nsb.compare(world, "ts", runs=2, progress=False).runs.values()
    np.testing.assert_array_equal(played["ts"].regret, expected)
    np.testing.assert_array_equal(as_env(world).unwrapped.means, MEANS)
    assert without_law(theory.describe(world)) == theory.describe(MEANS)


@pytest.mark.parametrize("agent", ["sw-ucb:xi=0.6", ("sw-ucb", {"xi": 0.6})], ids=["text", "pair"])
def test_tune_and_recommend_take_the_same_forms(agent):
    tuned = nsb.tune("NSBandit-Abrupt-v0:horizon=300", agent, space={"window": [20, 40]}, runs=100, n_jobs=1)
    assert (tuned.parameters["xi"], tuned.parameters["window"] in (20, 40)) == (0.6, True)
    assert nsb.recommend(("abrupt", {"horizon": 300}), agents=["beta-swts"], runs=100).agent == "beta-swts"


@pytest.mark.parametrize("agent", AGENT_FORMS.values(), ids=AGENT_FORMS)
def test_every_form_of_an_agent_is_the_same_agent_everywhere(agent):
    expected = nsb.simulate(MEANS, "beta-swts", agent_kwargs={"window": 40}, runs=2).regret
    np.testing.assert_array_equal(nsb.simulate(MEANS, agent, runs=2).regret, expected)
    [played] = nsb.compare(MEANS, agent, runs=2, progress=False).runs.values()
    np.testing.assert_array_equal(next(iter(played.values())).regret, expected)
    assert agents.make(agent, 10, 300).window == 40
    assert agents.make(agent, 10, 300, window=7).window == 7  # a keyword comes last


def test_worlds_are_made_from_every_form():
    for form in ("piecewise:n_arms=3", ("piecewise", {"n_arms": 3}), (worlds.Piecewise, {"n_arms": 3})):
        assert worlds.make(form) == worlds.Piecewise(n_arms=3)
    assert worlds.make("piecewise:n_arms=3", n_arms=4).n_arms == 4
    assert worlds.make((worlds.Abrupt(horizon=50), {"horizon": 60})).horizon == 60
    assert agents.make("ucb1:n_arms=3,horizon=100").n_arms == 3


def test_a_random_world_is_described_by_its_instance_of_seed_0():
    env = gym.make("NSBandit-v0", world="piecewise", n_arms=3, horizon=200)
    env.reset(seed=0)
    described = theory.describe("piecewise:n_arms=3,horizon=200")
    assert (described.subgaussian, described.support) == (0.5, (0.0, 1.0))  # of which means alone tell nothing
    assert without_law(described) == theory.describe(env.unwrapped.means)
    with pytest.raises(TypeError, match="'CartPole-v1' does not tell its means"):
        theory.describe("CartPole-v1")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: agents.make("beta-swts:window=1|2", 3), "only agents of a comparison can be swept"),
        (lambda: nsb.simulate("abrupt", "beta-swts:window=1|2"), "only agents of a comparison can be swept"),
        (lambda: worlds.make("piecewise:n_arms=2|3"), "has several values of n_arms: only agents can be swept"),
        (lambda: nsb.compare("piecewise:n_arms=2|3", "ts"), "has several values of n_arms: only agents can be swept"),
        (lambda: agents.make("beta-swts:window", 3), "unknown agent 'beta-swts:window'"),
        (lambda: worlds.make("piecewise:n_arms="), "cannot read 'n_arms=' in"),
    ],
)
def test_texts_that_cannot_be_used_say_why(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_bare_agent_is_what_is_played_and_nothing_else():
    named = AgentSpec.of("sw-ucb", label="a", note="b", group="c", xi=0.6)
    assert named.bare == AgentSpec.of("sw-ucb", xi=0.6)
    blind = named.as_blind(named.kwargs)
    assert blind.bare.kwargs == {"blind": True, "xi": 0.6}
    assert blind.bare != named.bare
