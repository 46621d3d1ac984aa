"""What every agent of the registry must do, whatever its rule: a new agent is tested by being there."""

from __future__ import annotations

import copy
import dataclasses
import doctest
import inspect
import pickle

import numpy as np
import pytest
from examples import HOUSE

from ns_mab_gym import agents
from ns_mab_gym.agents.core.registry import SECTIONS

K = 4
every_agent = pytest.mark.parametrize("name", HOUSE)


def play(agent: agents.AgentProtocol, rounds: int, luck: np.random.Generator) -> list[int]:
    """Arms on a bandit whose best arm changes half way, with 0 or 1 for rewards."""
    arms = []
    for t in range(rounds):
        arms.append(agent.act())
        mean = 0.2 + 0.2 * (arms[-1] if t < rounds // 2 else K - 1 - arms[-1])
        agent.observe(arms[-1], float(luck.random() < mean))
    return arms


def assert_same_state(one: agents.Agent, two: agents.Agent) -> None:
    mine, other = one.state_dict(), two.state_dict()
    assert mine.keys() == other.keys()
    for key in mine:
        np.testing.assert_array_equal(mine[key], other[key], err_msg=key)


@every_agent
def test_the_protocol(name, example):
    agent = example(name, K)
    assert isinstance(agent, agents.AgentProtocol)
    assert agent.name == name
    assert agents.kind(name) is type(agent)
    assert getattr(agents, type(agent).__name__) is type(agent)
    agent.reset(seed=1)
    assert type(agent.act()) is int
    assert agent.act(np.zeros(K + 2, np.float32)) in range(K)
    assert agent.observe(0, 1.0) is None


def test_without_a_seed_two_agents_do_not_share_their_luck(example):
    one, two = example("ts", K), example("ts", K)
    one.reset()
    two.reset()
    assert one.state_dict()["generator"].tolist() != two.state_dict()["generator"].tolist()


@every_agent
def test_copies_go_on_alike_and_apart(name, example):
    agent = example(name, K)
    agent.reset(seed=8)
    play(agent, 100, np.random.default_rng(1))
    copies = copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))
    played = play(agent, 100, np.random.default_rng(2))
    for other in copies:
        assert played == play(other, 100, np.random.default_rng(2))
        assert_same_state(agent, other)


@every_agent
def test_a_clone_has_the_parameters_and_nothing_else(name, example):
    agent = example(name, K, binarize=True)
    agent.reset(seed=8)
    play(agent, 100, np.random.default_rng(1))
    clone = agent.clone()
    assert clone.parameters.keys() == agent.parameters.keys()
    for key, value in agent.parameters.items():
        np.testing.assert_array_equal(clone.parameters[key], value)
    fresh = example(name, K, binarize=True)
    for each in (clone, fresh):
        each.reset(seed=3)
    assert_same_state(clone, fresh)


@every_agent
def test_only_open_arms_are_played(name, example):
    agent = example(name, K)
    agent.reset(seed=2)
    mask = np.array([False, True, False, True])
    if not agent.handles_mask:
        with pytest.raises(ValueError, match=f"{name} has no rule for arms that cannot be played; use beta-swts or"):
            agent.act(mask=mask)
        return
    for t in range(200):
        mask = np.roll([True, t % 3 > 0, False, False], t)
        arm = agent.act(mask=mask)
        assert mask[arm]
        agent.observe(arm, float(t % 2))


@every_agent
def test_its_card_is_complete(name):
    card = agents.card(name)
    assert agents.card(name) == card  # a second time: a module of that name would have taken its place
    kind = agents.kind(name)
    assert card.name == name
    assert card.summary.strip()
    assert set(card.facts) == {*map(str.lower, SECTIONS), "rewards"}
    for section in SECTIONS:
        assert getattr(card, section.lower()).endswith((".", ")", ").")), f"{section} ends in mid-sentence"
    assert list(card.parameters) == [f.name for f in dataclasses.fields(kind)]
    printed = " ".join(str(card).split())
    assert printed.startswith(f"{name}: {card.summary}")
    for part in (*card.facts.values(), *card.parameters):
        assert " ".join(part.split()) in printed
    with pytest.raises(AttributeError, match="this card has no fact 'colour'; it has source, rule"):
        _ = card.colour


@every_agent
def test_its_docstring_shows_it_at_work(name):
    """An example that the doctests run, which makes the agent or tunes it."""
    kind = agents.kind(name)
    examples = doctest.DocTestParser().get_examples(kind.__doc__)
    assert any(f"{kind.__name__}(" in each.source or f"{kind.__name__}.tune(" in each.source for each in examples)


@pytest.mark.parametrize("name", ["ts", "sw-ucb", "restarting"])
def test_binarized_rewards_are_coin_flips_with_the_reward_as_their_mean(name, example):
    """A Bernoulli of the reward clipped to [0, 1], drawn from the agent's own generator: the agent sees 0 or 1 only."""
    agent, plain = example(name, K, binarize=True), example(name, K)
    agent.reset(seed=9)
    plain.reset(seed=9)
    rewards = [-3.0, 0.0, 0.3, 0.7, 1.0, 5.0] * 30
    for reward in rewards:
        arm = agent.act()
        assert arm == plain.act()
        flip = float(plain.rng.random() < reward)
        assert reward > 0 or flip == 0.0
        assert reward < 1 or flip == 1.0
        agent.observe(arm, reward)
        plain.observe(arm, flip)
    left, right = agent.state_dict(), plain.state_dict()
    for key in left:
        if key != "parameter.binarize":
            np.testing.assert_array_equal(left[key], right[key])


@every_agent
def test_an_agent_equals_itself_alone_and_takes_parameters_by_name(name, example):
    """Two agents with the same parameters know different things once they have played.

    A number without a name cannot be taken for another parameter, and parameters can be added.
    """
    agent = example(name)
    twin = agent.clone()
    assert agent == agent
    assert (agent == twin) is False
    assert {agent: 1, twin: 2} == {twin: 2, agent: 1}
    given = inspect.signature(agents.kind(name)).parameters.values()
    assert [each.name for each in given if each.kind is not each.KEYWORD_ONLY] == ["n_arms"]
