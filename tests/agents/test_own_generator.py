"""An agent draws from the generator that its seed begins; ``check_agent`` looks at global ones.

Bad agents show that the check can fail.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from examples import HOUSE, example_agent

from ns_mab_gym import agents

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
