"""Labels: short where that is enough, and always different."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.choosing.competitors import competitors_of
from ns_mab_gym.choosing.labelling import Named, labels_of
from ns_mab_gym.choosing.venues import venues_of


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
    assert [each.label for each in competitors_of(given_)] == labels


def test_all_is_the_zoo():
    assert [each.label for each in competitors_of("all")] == agents.names()
    assert [each.label for each in competitors_of(["all"])] == agents.names()


def test_labels_of_worlds(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "means.csv").write_text("0.1,0.9\n")
    one, other = tmp_path / "a" / "means.csv", tmp_path / "b" / "means.csv"
    assert [venue.label for venue in venues_of([one])] == ["means.csv"]
    assert [venue.label for venue in venues_of([one, other])] == [str(one), str(other)]
    walks = [worlds.RandomWalk(horizon=9, n_arms=k) for k in (2, 3)]
    assert [venue.label for venue in venues_of(walks)] == ["random-walk:n_arms=2", "random-walk:n_arms=3"]
    assert [venue.label for venue in venues_of([[[0.1, 0.2]], [[0.3, 0.4]]])] == ["array", "array (2)"]
    assert [venue.label for venue in venues_of(["NSBandit-Abrupt-v0", {"mine": "abrupt"}])] == [
        "NSBandit-Abrupt-v0",
        "mine",
    ]


NAMED = st.builds(
    Named,
    st.sampled_from(["a", "b", "a (2)", "a:x=1"]),
    st.dictionaries(st.sampled_from("xy"), st.integers(0, 2)),
    st.just(()),
    st.just(""),
    st.sampled_from(["", "long"]),
)


@given(st.lists(NAMED, max_size=8), st.sets(st.sampled_from(["a", "b", "a (2)", "a:x=1"])))
def test_labels_are_always_different(named, own):
    labels = labels_of([*named, *(Named("other", given=label) for label in sorted(own))], "agent")
    assert len(set(labels)) == len(labels) == len(named) + len(own)
    assert labels[len(named) :] == sorted(own)
