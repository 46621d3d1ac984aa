"""From one seed, every wrapper of a stack and the environment itself draw from streams of their own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from wrapping import SINGLE, SINGLE_KINDS

from ns_mab_gym.envs.bandit import streams

SEEDS = range(5)


def layers(env: gym.Env[Any, Any]) -> list[Any]:
    found: list[Any] = [env]
    while isinstance(found[-1], gym.Wrapper):
        found.append(found[-1].env)
    return found


def generators(env: gym.Env[Any, Any], seed: int) -> dict[str, np.random.Generator]:
    """The generators of the wrappers that have one, after a reset, and those from which the environment draws."""
    env.reset(seed=seed)
    own = {type(layer).__name__: layer._rng for layer in layers(env) if hasattr(layer, "_rng")}
    first = np.random.default_rng(seed)
    means, luck = streams(np.random.default_rng(seed))
    return own | {"the environment": first, "its means": means, "its luck": luck}


def stack() -> gym.Env[Any, Any]:
    """All single wrappers around one environment."""
    env: gym.Env[Any, Any] = gym.make("NSBandit-Piecewise-v0", n_arms=3, horizon=30)
    for name, kind in SINGLE_KINDS.items():
        env = kind(env, **next(arguments for each, arguments in SINGLE if each.__name__ == name))
    return env


def test_the_wrappers_that_draw_are_in_the_stack() -> None:
    assert {"ArmAvailability", "DelayedRewards"} <= generators(stack(), 0).keys()


def test_no_number_comes_from_two_streams_of_a_stack_for_any_seed() -> None:
    """Nor does one stream run some draws behind another: two numbers of 53 random bits are never equal by chance."""
    drawn = [set(rng.random(200).tolist()) for seed in SEEDS for rng in generators(stack(), seed).values()]
    assert len(set.union(*drawn)) == 200 * len(drawn)


def test_a_stream_does_not_depend_on_what_else_is_in_the_stack() -> None:
    for kind, arguments in SINGLE:
        alone = kind(gym.make("NSBandit-Piecewise-v0", n_arms=3, horizon=30), **arguments)
        for seed in SEEDS:
            together = generators(stack(), seed)
            for name, rng in generators(alone, seed).items():
                assert rng.bit_generator.state == together[name].bit_generator.state
