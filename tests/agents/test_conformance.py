# ruff: noqa: D101 — the names of the bad agents say it all
"""check_agent: passes what is right, and says what is wrong with what is not."""

from __future__ import annotations

import random

import numpy as np
import pytest
from examples import HOUSE

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
    (
        Saved,
        {"load_state_dict": lambda self, saved: None},
        r"after load_state_dict\(.*\) it plays differently: save the",
    ),
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
