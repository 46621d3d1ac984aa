# ruff: noqa: D101 — the names of the bad agents say it all
"""check_agent: passes what is right, and says what is wrong with what is not; and whose numbers an agent draws."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from examples import HOUSE, example_agent

from ns_mab_gym import agents
from ns_mab_gym.agents import AgentCheckError, check_agent


class Good:
    """The least that an agent needs."""

    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed)

    def act(self, observation=None):
        return int(self.rng.integers(3))

    def observe(self, arm, reward):
        pass


class Saved(Good):
    """One that can be saved, too."""

    def state_dict(self):
        return {"words": np.frombuffer(repr(self.rng.bit_generator.state).encode(), np.uint8), "agent": "saved", "n": 1}

    def load_state_dict(self, saved):
        self.rng.bit_generator.state = eval(bytes(saved["words"]))


class NoSeed(Good):
    def reset(self, seed=None):
        self.rng = np.random.default_rng()


class Unforgetting(Good):
    """Its generator is right, but what it learnt before the reset still decides."""

    def __init__(self):
        self.seen = 0

    def act(self, observation=None):
        return self.seen // 7 % 3

    def observe(self, arm, reward):
        self.seen += 1


class GlobalNumpy(Good):
    def act(self, observation=None):
        np.random.randint(3)  # noqa: NPY002
        return 0


class GlobalRandom(Good):
    def act(self, observation=None):
        random.random()
        return 0


class Recording(Good):
    """It keeps what it is shown."""

    def reset(self, seed=None):
        self.shown = []

    def act(self, observation=None):
        self.shown.append(observation)
        return 1


class SavesNoMemory(Good):
    """It plays arm 1 for a while and then arm 0, and does not save for how long it has played."""

    def reset(self, seed=None):
        self.rounds = 0

    def act(self, observation=None):
        return int(self.rounds < 60)

    def observe(self, arm, reward):
        self.rounds += 1

    def state_dict(self):
        return {"name": "forgetful"}

    def load_state_dict(self, saved):
        pass


def acting(arm):
    return {"act": lambda self, observation=None: arm}


def saving(**more):
    return {"state_dict": lambda self: Saved.state_dict(self) | more}


def raising(self, arm, reward):
    raise ZeroDivisionError("no pulls yet")


@pytest.mark.parametrize("name", HOUSE)
def test_every_agent_of_the_zoo_passes(name, example):
    check_agent(example(name, 7), 7)
    check_agent(example(name, 2, binarize=True), 2, rounds=60)


@pytest.mark.parametrize("kind", [Good, Saved])
def test_right_agents_of_ones_own_pass(kind):
    check_agent(kind(), 3)
    check_agent(type("Numpy", (kind,), acting(np.int64(2)))(), 3)


NO_ARM = "; it must return an integer from 0 to 2"
PLAYS_DIFFERENTLY = r"after load_state_dict\(.*\) it plays differently: save the"
BAD = [
    (Good, {"observe": None}, r"has no method observe\(\); it needs all three"),
    *((Good, acting(arm), rf"act\(\) returned {arm}{NO_ARM}") for arm in (1.0, True, None, 3, -1)),
    (NoSeed, {}, r"reset\(seed=1\) twice gave two different games"),
    (Unforgetting, {}, r"reset\(seed=1\) twice gave two different games"),
    (GlobalNumpy, {}, "it draws from the global generator of numpy or random"),
    (GlobalRandom, {}, "it draws from the global generator of numpy or random"),
    (Good, {"observe": lambda self, arm, reward: reward}, r"observe\(\) returned something; it should return None"),
    (Good, {"act": lambda self, observation: 0}, "it raised TypeError: .*missing 1 required .* 'observation'"),
    (Good, {"act": lambda self: 0}, r"it raised TypeError: .* takes 1 positional argument but 2 were given"),
    (Good, {"observe": raising}, "it raised ZeroDivisionError: no pulls yet"),
    (Saved, saving(rng=np.random.default_rng(0)), r"state_dict\(\)\['rng'\] is Generator: save only numbers, strings"),
    (Saved, saving(history=np.array([{}, None], dtype=object)), r"state_dict\(\)\['history'\] is ndarray: save only"),
    (Saved, {"load_state_dict": lambda self, saved: None}, PLAYS_DIFFERENTLY),
    (SavesNoMemory, {}, PLAYS_DIFFERENTLY),  # one that knew nothing yet, and one loaded from nothing, would be the same
    (Good, {"state_dict": lambda self: {}}, "it raised AttributeError: .*'load_state_dict'"),
]


@pytest.mark.parametrize(("kind", "changed", "words"), BAD)
def test_bad_agents_are_told_what_is_wrong(kind, changed, words):
    with pytest.raises(AgentCheckError, match=words):
        check_agent(type("Bad", (kind,), changed)(), 3)


@pytest.mark.parametrize("drawn", [0, 1, 5, 300])
def test_draws_from_numpys_generator_are_noticed_wherever_it_stands(drawn):
    """A few draws move the place in MT19937's block of 624 words, not the block."""
    np.random.seed(1)  # noqa: NPY002
    np.random.randint(3, size=drawn)  # noqa: NPY002
    with pytest.raises(AgentCheckError, match="it draws from the global generator"):
        check_agent(GlobalNumpy(), 3, rounds=2)


def test_all_that_is_wrong_is_told_at_once():
    two = type("Two", (GlobalRandom,), {"observe": lambda self, arm, reward: reward})
    with pytest.raises(AgentCheckError) as error:
        check_agent(two(), 3)
    assert str(error.value).count("\n- ") == 2


def test_the_check_shows_an_agent_what_an_environment_of_the_suite_would_or_nothing():
    """Observations are K + 2 numbers, and every second round none, because ``act()`` must work without one."""
    agent = Recording()
    check_agent(agent, 4, rounds=20)
    shapes = [None if shown is None else (shown.shape, shown.dtype) for shown in agent.shown]
    assert shapes == [((6,), np.float32), None] * 10


K, ROUNDS, SEED = 4, 200, 4


def game(agent: Any, luck: np.random.Generator) -> list[int]:
    """The arms of a game with rewards of 0 or 1, one number of the environment's generator per round."""
    agent.reset(seed=SEED)
    arms = []
    for _ in range(ROUNDS):
        arms.append(agent.act())
        agent.observe(arms[-1], float(luck.random() < 0.2 + 0.2 * arms[-1]))
    return arms


def check_its_stream(agent: agents.Agent, luck_seed: int, most: int = 100) -> None:
    """After a game the agent's generator stands on the one sequence of numbers that its seed begins.

    Other rewards may cost more draws or fewer, here at most 100 per round, but they are draws of the same numbers.
    """
    game(agent, np.random.default_rng(luck_seed))
    stands = agent.rng.bit_generator.state["state"]
    stream = np.random.default_rng(SEED).bit_generator
    for _ in range(most * ROUNDS):
        if stream.state["state"] == stands:
            return
        stream.random_raw()
    raise AssertionError("its generator is not the one that its seed began")


@pytest.mark.parametrize("name", HOUSE)
def test_every_agent_draws_the_numbers_that_its_seed_begins(name):
    for luck_seed in (5, 6):
        check_its_stream(example_agent(name, K), luck_seed)
