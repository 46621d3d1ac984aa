"""Every wrapper passes Gymnasium's checker, comes back from its spec, and draws from a stream of its own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from wrapping import KINDS, SINGLE, SINGLE_KINDS, VECTOR_KINDS

from ns_mab_gym import wrappers
from ns_mab_gym.envs.bandit import streams

WORLDS = [
    ("NSBandit-Piecewise-v0", {"n_arms": 3, "horizon": 30}),
    ("NSBandit-Abrupt-v0", {"horizon": 30, "reward": "gaussian"}),
    ("NSBandit-Smooth-v0", {"horizon": 30, "reward": "beta"}),
]

ANY_ENV = (wrappers.StandardizeReward, wrappers.RecordRegret, wrappers.RegretAsReward)  # they read no observation


def play(env: gym.Env[Any, Any], rounds: int = 40) -> list[Any]:
    """Observations and rewards of a seeded walk over arms, with resets in between."""
    seen: list[Any] = [env.reset(seed=4)[0]]
    for t in range(rounds):
        observation, reward, _, truncated, _ = env.step(t % 3)
        seen += [observation, reward]
        if truncated:
            seen.append(env.reset()[0])
    return seen


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.filterwarnings("ignore:.*Box observation space m.*imum value is -?infinity")
@pytest.mark.parametrize(("wrapper", "arguments"), SINGLE)
def test_check_env_accepts_a_wrapped_env(wrapper: Any, arguments: Any) -> None:
    for env_id, kwargs in WORLDS:
        check_env(wrapper(gym.make(env_id, **kwargs), **arguments))


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize("place", range(len(SINGLE)))
def test_wrappers_can_be_stacked_in_any_order_and_rebuilt_from_json(place: int) -> None:
    """Each with its two neighbours in the list, inside one and around the other."""
    first, second = SINGLE[place - 1], SINGLE[place]
    for (inner, inner_arguments), (outer, outer_arguments) in ((first, second), (second, first)):
        env = gym.make("NSBandit-Piecewise-v0", n_arms=3, horizon=30)
        env = outer(inner(env, **inner_arguments), **outer_arguments)
        check_env(env, skip_render_check=True)
        assert env.spec is not None
        again = gym.make(EnvSpec.from_json(env.spec.to_json()))
        assert str(again) == str(env)
        assert again.observation_space == env.observation_space
        for one, other in zip(play(env), play(again), strict=True):
            np.testing.assert_array_equal(one, other)


def test_every_wrapper_is_found_and_every_vector_wrapper_has_a_single_twin() -> None:
    assert set(SINGLE_KINDS) | set(VECTOR_KINDS) == set(KINDS)
    assert {kind.__name__ for kind, _ in SINGLE} == set(SINGLE_KINDS)
    assert {name.removeprefix("Vector") for name in VECTOR_KINDS} <= set(SINGLE_KINDS)


def test_the_environments_own_observation_stays_in_front() -> None:
    bare = gym.make("NSBandit-Piecewise-v0", n_arms=3, horizon=30)
    stacked = wrappers.LastRounds(wrappers.WindowedStatistics(gym.make(bare.spec), window=7), n=2)
    for one, other in zip(play(bare), play(stacked), strict=True):
        np.testing.assert_array_equal(one, other if np.ndim(other) == 0 else other[:5])


@pytest.mark.parametrize(
    ("wrapper", "arguments", "error", "words"),
    [
        (wrappers.WindowedStatistics, {"window": 0}, ValueError, "window must be a positive integer, got 0"),
        (wrappers.RecordRegret, {"buffer_length": 0}, ValueError, "buffer_length must be a positive integer, got 0"),
        (wrappers.LastRounds, {"n": 1.5}, TypeError, "n must be a positive integer, got 1.5"),
        (wrappers.DelayedRewards, {"delay": -1}, ValueError, "delay must be an integer of at least 0, got -1"),
        (wrappers.DelayedRewards, {"delay": (5, 2)}, ValueError, "low <= high.*swap"),
        (wrappers.DelayedRewards, {"delay": (1, 2, 3)}, ValueError, r"pair \(low, high\), got \(1, 2, 3\)"),
        (wrappers.ArmAvailability, {"probability": 1.2}, ValueError, r"probability must lie in \[0, 1\], got 1.2"),
        (wrappers.ArmAvailability, {"if_masked": "rise"}, ValueError, "unknown if_masked 'rise'; did you mean 'raise'"),
    ],
)
def test_bad_arguments_are_named(wrapper: Any, arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        wrapper(gym.make("NSBandit-Abrupt-v0"), **arguments)


@pytest.mark.parametrize(
    ("wrapper", "arguments"),
    [pair for pair in SINGLE if pair[0] not in ANY_ENV],
)
def test_an_env_of_another_shape_is_refused(wrapper: Any, arguments: Any) -> None:
    for env in (gym.make("CartPole-v1"), gym.wrappers.FrameStackObservation(gym.make("NSBandit-Abrupt-v0"), 2)):
        with pytest.raises(TypeError, match="needs those of an NSBandit environment"):
            wrapper(env, **arguments)


# From one seed, every wrapper of a stack and the environment itself draw from streams of their own.

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
