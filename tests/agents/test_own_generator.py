# ruff: noqa: D101, NPY002 — the names of the bad agents say it all, and some draw from NumPy's global generator
"""An agent draws from its own generator only: not from a global one, the environment's, or one without the seed.

Bad agents show that each check can fail.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import HOUSE, example_agent

from ns_mab_gym import agents

K, ROUNDS, SEED = 4, 200, 4
Make = Callable[[np.random.Generator], Any]  # an agent, from the generator of the environment that it will play in


def game(agent: Any, luck: np.random.Generator) -> list[int]:
    """The arms of a game with rewards of 0 or 1, one number of the environment's generator per round."""
    agent.reset(seed=SEED)
    arms = []
    for _ in range(ROUNDS):
        arms.append(agent.act())
        agent.observe(arms[-1], float(luck.random() < 0.2 + 0.2 * arms[-1]))
    return arms


def globals_now() -> tuple[object, ...]:
    """The states of NumPy's global generator and of Python's."""
    _, words, *rest = np.random.get_state()
    return words.tobytes(), *rest, random.getstate()


def check_game(make: Make, luck_seed: int, scramble: int) -> list[int]:
    """A game after which the global generators are as before, and the environment's has moved by one draw per round."""
    np.random.seed(scramble)
    random.seed(scramble)
    before = globals_now()
    luck, apart = np.random.default_rng(luck_seed), np.random.default_rng(luck_seed)
    arms = game(make(luck), luck)
    assert globals_now() == before, "it draws from a global generator"
    apart.random(ROUNDS)
    assert luck.bit_generator.state == apart.bit_generator.state, "it draws from the environment's generator"
    return arms


def check_its_draws(make: Make) -> None:
    """The agent's seed and the rewards decide on the arms, and nothing else does."""
    for luck_seed in (5, 6):
        arms = check_game(make, luck_seed, scramble=1)
        assert arms == check_game(make, luck_seed, scramble=2), "its seed and the rewards do not decide on its arms"


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
def test_every_agent_draws_from_its_own_generator_only(name):
    check_its_draws(lambda luck: example_agent(name, K))
    for luck_seed in (5, 6):
        check_its_stream(example_agent(name, K), luck_seed)


class Good:
    """A random arm each round; it is given the environment's generator, as an agent that holds the environment is."""

    def __init__(self, luck):
        self.luck = luck

    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed)

    def act(self, observation=None):
        return int(self.rng.integers(K))

    def observe(self, arm, reward):
        pass


class NumpysGlobal(Good):
    def act(self, observation=None):
        return int(np.random.random() * K)


class PythonsGlobal(Good):
    def act(self, observation=None):
        return random.randrange(K)


class SeedsTheGlobal(Good):
    """It plays the same game each time, but moves everybody's generator."""

    def reset(self, seed=None):
        np.random.seed(seed)

    act = NumpysGlobal.act


class PeeksAtTheGlobal(Good):
    """It leaves the generator as it found it, but plays by what it holds."""

    def act(self, observation=None):
        return int(np.random.get_state()[1][0]) % K


class Environments(Good):
    def act(self, observation=None):
        return int(self.luck.integers(K))


class Unseeded(Good):
    def reset(self, seed=None):
        self.rng = np.random.default_rng()


class UnseededEachRound(Good):
    def act(self, observation=None):
        return int(np.random.default_rng().integers(K))


BAD = {
    NumpysGlobal: "it draws from a global generator",
    PythonsGlobal: "it draws from a global generator",
    SeedsTheGlobal: "it draws from a global generator",
    PeeksAtTheGlobal: "its seed and the rewards do not decide on its arms",
    Environments: "it draws from the environment's generator",
    Unseeded: "its seed and the rewards do not decide on its arms",
    UnseededEachRound: "its seed and the rewards do not decide on its arms",
}


def test_a_good_agent_of_ones_own_passes():
    check_its_draws(Good)


@pytest.mark.parametrize("kind", BAD, ids=lambda kind: kind.__name__)
def test_bad_agents_are_found_out(kind):
    with pytest.raises(AssertionError, match=BAD[kind]):
        check_its_draws(kind)


class SeedsAgain(agents.TS):
    """It makes its generator anew whenever a reward is 0: its arms can be repeated, but are not of one sequence."""

    def observe(self, arm, reward):
        if reward == 0.0:
            self.rng = np.random.default_rng(7)
        super().observe(arm, reward)


class AnotherSeed(agents.TS):
    """It begins with a seed that it was not given."""

    def reset(self, seed=None):
        super().reset(None if seed is None else seed + 1)


@pytest.mark.parametrize("kind", [SeedsAgain, AnotherSeed])
def test_a_generator_that_its_seed_did_not_begin_is_found_out(kind):
    with pytest.raises(AssertionError, match="its generator is not the one that its seed began"):
        check_its_stream(kind(K), luck_seed=5)
