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


class NumpyInteger(Good):
    def act(self, observation=None):
        return self.rng.integers(3)


class Saved(Good):
    """One that can be saved, too."""

    def state_dict(self):
        return {"words": np.frombuffer(repr(self.rng.bit_generator.state).encode(), np.uint8), "agent": "saved", "n": 1}

    def load_state_dict(self, saved):
        self.rng.bit_generator.state = eval(bytes(saved["words"]))


class NoObserve:
    def reset(self, seed=None):
        pass

    def act(self, observation=None):
        return 0


class Float(Good):
    def act(self, observation=None):
        return 1.0


class Boolean(Good):
    def act(self, observation=None):
        return True


class Nothing(Good):
    def act(self, observation=None):
        return None


class OutOfRange(Good):
    def act(self, observation=None):
        return 3


class Negative(Good):
    def act(self, observation=None):
        return -1


class OneBased(Good):
    def act(self, observation=None):
        return 1 + int(self.rng.integers(3))


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


class Returns(Good):
    def observe(self, arm, reward):
        return reward


class NeedsObservation(Good):
    def act(self, observation):
        return 0


class TakesNoObservation(Good):
    def act(self):
        return 0


class Raises(Good):
    def observe(self, arm, reward):
        raise ZeroDivisionError("no pulls yet")


class SavesObjects(Saved):
    def state_dict(self):
        return super().state_dict() | {"rng": self.rng}


class SavesObjectArrays(Saved):
    def state_dict(self):
        return super().state_dict() | {"history": np.array([{}, None], dtype=object)}


class ForgetsTheGenerator(Saved):
    def load_state_dict(self, saved):
        pass


class CannotLoad(Good):
    def state_dict(self):
        return {}


@pytest.mark.parametrize("name", HOUSE)
@pytest.mark.parametrize("n_arms", [2, 7])
def test_every_agent_of_the_zoo_passes(name, n_arms, example):
    check_agent(example(name, n_arms), n_arms)
    check_agent(example(name, n_arms, binarize=True), n_arms, rounds=60)


@pytest.mark.parametrize("kind", [Good, NumpyInteger, Saved])
def test_right_agents_of_ones_own_pass(kind):
    check_agent(kind(), 3)


BAD = {
    NoObserve: r"has no method observe\(\); it needs all three",
    Float: r"act\(\) returned 1.0; it must return an integer from 0 to 2",
    Boolean: r"act\(\) returned True; it must return an integer from 0 to 2",
    Nothing: r"act\(\) returned None; it must return an integer from 0 to 2",
    OutOfRange: r"act\(\) returned 3; it must return an integer from 0 to 2",
    Negative: r"act\(\) returned -1; it must return an integer from 0 to 2",
    OneBased: r"act\(\) returned 3; it must return an integer from 0 to 2",
    NoSeed: r"reset\(seed=1\) twice gave two different games",
    Unforgetting: r"reset\(seed=1\) twice gave two different games",
    GlobalNumpy: "it draws from the global generator of numpy or random",
    GlobalRandom: "it draws from the global generator of numpy or random",
    Returns: r"observe\(\) returned something; it should return None",
    NeedsObservation: "it raised TypeError: .*missing 1 required positional argument: 'observation'",
    TakesNoObservation: r"it raised TypeError: .*act\(\) takes 1 positional argument but 2 were given",
    Raises: "it raised ZeroDivisionError: no pulls yet",
    SavesObjects: r"state_dict\(\)\['rng'\] is Generator: save only numbers, strings and arrays",
    SavesObjectArrays: r"state_dict\(\)\['history'\] is ndarray: save only numbers, strings and arrays",
    ForgetsTheGenerator: r"after load_state_dict\(state_dict\(\)\) it plays differently: save the generator too",
    CannotLoad: "it raised AttributeError: .*'load_state_dict'",
}


@pytest.mark.parametrize("kind", BAD, ids=lambda kind: kind.__name__)
def test_bad_agents_are_told_what_is_wrong(kind):
    with pytest.raises(AgentCheckError, match=BAD[kind]):
        check_agent(kind(), 3)


@pytest.mark.parametrize("drawn", [0, 1, 5, 300])
def test_draws_from_numpys_generator_are_noticed_wherever_it_stands(drawn):
    """A few draws move the place in MT19937's block of 624 words, not the block."""
    np.random.seed(1)  # noqa: NPY002
    np.random.randint(3, size=drawn)  # noqa: NPY002
    with pytest.raises(AgentCheckError, match="it draws from the global generator"):
        check_agent(GlobalNumpy(), 3, rounds=2)


def test_all_that_is_wrong_is_told_at_once():
    class Two(Returns, GlobalRandom):
        pass

    with pytest.raises(AgentCheckError) as error:
        check_agent(Two(), 3)
    assert str(error.value).count("\n- ") == 2
