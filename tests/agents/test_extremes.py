"""Every agent at the edges of its parameters and rewards: refused in words, or it plays, ends and stays finite."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from examples import HOUSE, example_agent, known
from extremes import NUMBERS, REWARDS, STRANGERS, from_the_front
from fuzzing import guest

from ns_mab_gym import agents
from ns_mab_gym.agents.core.arguments import LARGEST, MOST, SMALLEST, number, positive, positive_int
from ns_mab_gym.agents.core.knowledge import COUNTS

K, ROUNDS = 3, 30


def play(agent: agents.Agent, seed: int, rewards: list[float]) -> None:
    """Play some rounds with rewards at the edges; every arm exists, and no place of an array counts from its end."""
    agent.reset(seed=seed)
    agent.state = from_the_front(agent.state)
    rng = np.random.default_rng(seed)
    for t in range(ROUNDS):
        arm = agent.act()
        assert 0 <= arm < agent.n_arms
        agent.observe(arm if t % 5 else t // 5 % agent.n_arms, float(rng.choice(rewards)))


def numeric(name: str) -> list[str]:
    """The parameters of an agent that are numbers when its own formulas have tuned it."""
    given = example_agent(name, K).parameters
    return [key for key, value in given.items() if key not in ("n_arms", "binarize") and is_number(value)]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@pytest.mark.parametrize("name", HOUSE)
def test_extreme_parameters_are_refused_or_played(name):
    """One at a time, and all at once, with rewards at the edges of what the agent takes."""
    names = numeric(name)
    for value in NUMBERS:
        for changed in [{key: value} for key in names] + [dict.fromkeys(names, value)]:
            with guest():
                agent = agents.make(name, knowledge=known(K, 400), **changed)
                play(agent, 1, REWARDS[agent.accepts])


@pytest.mark.parametrize("name", HOUSE)
def test_the_limits_themselves_are_played(name):
    """The stated range is one that can be played: each number at the ends of it that the agent's formulas allow."""
    for key in numeric(name):
        for value in (SMALLEST, 1e-70, LARGEST):
            if (agent := accepted(name, key, value)) is not None:
                for seed in range(3):
                    play(agent, seed, REWARDS[agent.accepts])
                    assert not any(np.isnan(each).any() for each in numbers_of(agent)), f"{key}={value}"


def accepted(name: str, key: str, value: float) -> agents.Agent | None:
    try:
        return agents.make(name, knowledge=known(K, 400), **{key: value})
    except (ValueError, TypeError):
        return None


# What is NaN on purpose until it is needed: see the states.
UNKNOWN = ("log_norms", "information", "bounds")


def numbers_of(agent: agents.Agent) -> list[Any]:
    saved = agent.state_dict()
    return [value for key, value in saved.items() if key.startswith("state.") and not key.endswith(UNKNOWN)]


@pytest.mark.parametrize("name", ["ts", "sw-ucb", "raw-ucb", "switching-ts", "glr-ts", "bandit-over-windows", "br-mab"])
def test_what_does_not_fit_is_refused_in_words(name):
    """Where the system does not hand out memory for it; where it does, empty rows cost nothing."""
    whole = [each for each in numeric(name) if isinstance(example_agent(name).parameters[each], int)]
    for size in (2**53, 10**12):
        for key in ["n_arms", *whole]:
            with guest():
                agents.kind(name)(**example_agent(name, K).parameters | {key: size})


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (1.01 * LARGEST, ValueError, "x must lie between 1e-100 and 1e\\+30 in size, got 1.01e\\+30; try 1"),
        (-1.01 * LARGEST, ValueError, "x must lie between 1e-100 and 1e\\+30 in size"),
        (0.99 * SMALLEST, ValueError, "x must lie between 1e-100 and 1e\\+30 in size, got 9.9e-101"),
        (5e-324, ValueError, "in size, got 5e-324"),
        (10**400, ValueError, "x must be a finite number, got 1000"),
        (-(10**5_000), ValueError, "x must be a finite number, got an integer of 16610 bits; try 1"),
        (math.nan, ValueError, "x must be a finite number, got nan"),
        (-math.inf, ValueError, "x must be a finite number, got -inf"),
        ("0.5", TypeError, "x must be a finite number, got '0.5'"),
        (np.zeros(1), TypeError, r"x must be a finite number, got array\(\[0.\]\)"),
        (True, TypeError, "x must be a finite number, got True"),
        (1j, TypeError, "x must be a finite number, got 1j"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_numbers_have_a_stated_range(given, error, words):
    with pytest.raises(error, match=words):
        number("x", given, hint="try 1")


@pytest.mark.parametrize("given", [0, 0.0, SMALLEST, LARGEST, -SMALLEST, -LARGEST, np.float32(0.5), np.array(2), 7])
def test_the_range_of_numbers_holds_its_ends_and_zero(given):
    assert number("x", given) == float(given)


def test_counts_have_a_stated_range():
    assert positive_int("n", MOST) == MOST
    with pytest.raises(ValueError, match="n must be at most 9,007,199,254,740,992, got 9007199254740993"):
        positive_int("n", MOST + 1)
    with pytest.raises(ValueError, match=r"n must be at most .*, got an integer of 16610 bits"):
        positive_int("n", 10**5_000)
    assert positive_int("seed", 2**127, least=0, most=None) == 2**127


@pytest.mark.parametrize("check", [number, positive, positive_int])
def test_strangers_are_refused_in_words(check):
    for stranger in STRANGERS:
        with guest():
            check("x", stranger)


PIECES = [piece.name for piece in dataclasses.fields(agents.Knowledge) if piece.name != "means"]


@pytest.mark.parametrize("piece", PIECES)
def test_knowledge_is_finite(piece):
    for value in [*NUMBERS, *STRANGERS]:
        with guest():
            told = getattr(agents.Knowledge(**{piece: value}), piece)
            assert told is None or 0 <= told < math.inf


@pytest.mark.parametrize("name", HOUSE)
def test_tuning_at_the_edges_of_knowledge_is_refused_or_played(name):
    for piece in PIECES:
        for value in (0, 1, 2, 17) if piece in COUNTS else (0, 5e-324, SMALLEST, 0.5, LARGEST, 1e308):
            with guest():
                told = dataclasses.replace(known(K, 400), **{piece: value})
                agent = agents.make(name, knowledge=told)
                play(agent, 1, REWARDS[agent.accepts])


def test_agents_made_by_guests(guests, watched):
    """Any agent with any of its parameters at random: extreme, of the wrong kind, or as its formulas have them."""
    for rng in guests:
        with guest(watched=watched):
            name = HOUSE[rng.integers(len(HOUSE))]
            keys = [key for key in agents.kind(name).tunable() if key != "binarize" and rng.random() < 0.4]
            pool = [*NUMBERS, *NUMBERS, *STRANGERS]
            given = {key: pool[rng.integers(len(pool))] for key in keys}
            agent = agents.make(name, knowledge=known(int(rng.integers(2, 6)), 400), **given)
            play(agent, int(rng.integers(100)), REWARDS[agent.accepts])
