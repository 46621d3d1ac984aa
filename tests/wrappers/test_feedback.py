"""Late rewards and closed arms: what the wrappers say is true, and agents of the zoo learn from it, or refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction
from own_players import Still

import ns_mab_gym as nsb
from ns_mab_gym import agents, wrappers

K, HORIZON = 4, 200


def make() -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Piecewise-v0", n_arms=K, horizon=HORIZON)


def play(env: gym.Env[Any, Any], seed: int | None = 2, arm: int | None = None) -> list[tuple[Any, ...]]:
    """The steps of an episode that plays one arm, or all in turn."""
    env.reset(seed=seed)
    return [env.step(t % K if arm is None else arm) for t in range(HORIZON)]


# Late rewards.


@pytest.mark.parametrize("delay", [0, 1, 7, (0, 9), (3, 5)])
def test_every_reward_arrives_once_after_its_delay_or_after_the_end(delay: int | Sequence[int]) -> None:
    low, high = (delay, delay) if isinstance(delay, int) else delay
    prompt = [reward for _, reward, *_ in play(make())]
    arrived: dict[int, int] = {}
    for now, (observation, reward, _, _, info) in enumerate(play(wrappers.DelayedRewards(make(), delay)), start=1):
        for then, arm, late in info["feedback"]:
            assert then not in arrived
            arrived[then] = now
            assert low <= now - then <= high
            assert (arm, late) == ((then - 1) % K, prompt[then - 1])
        assert reward == sum(late for *_, late in info["feedback"]) == observation[K]
        assert [then for then, *_ in info["feedback"]] == sorted(then for then, *_ in info["feedback"])
    assert set(range(1, HORIZON - high + 1)) <= set(arrived)


def test_means_luck_and_regret_are_those_of_the_undelayed_env() -> None:
    for prompt, late in zip(play(make()), play(wrappers.DelayedRewards(make(), (2, 20))), strict=True):
        for key in ("mu", "optimal_arm", "regret", "round"):
            np.testing.assert_array_equal(prompt[-1][key], late[-1][key])


def test_the_delays_are_the_same_whatever_is_played_and_differ_with_the_seed() -> None:
    env = wrappers.DelayedRewards(make(), (0, 20))

    def arrivals(seed: int | None, arm: int) -> list[list[int]]:
        return [[then for then, *_ in step[-1]["feedback"]] for step in play(env, seed, arm)]

    assert arrivals(1, 0) == arrivals(1, 3) != arrivals(None, 3)  # which goes on
    assert arrivals(1, 0) != arrivals(2, 0)


def test_a_reset_forgets_what_was_under_way() -> None:
    env = wrappers.DelayedRewards(make(), 5)
    env.reset(seed=0)
    env.step(0)
    assert env.reset(seed=0)[1]["feedback"] == []
    assert all(env.step(1)[-1]["feedback"] == [] for _ in range(5))


def test_uniform_delays_have_the_mean_they_should_within_4_standard_errors() -> None:
    env = wrappers.DelayedRewards(gym.make("NSBandit-Abrupt-v0", horizon=5000), (10, 30))
    env.reset(seed=0)
    waits = [now - then for now in range(1, 5001) for then, *_ in env.step(0)[-1]["feedback"]]
    assert abs(np.mean(waits) - 20) < 4 * np.sqrt((21**2 - 1) / 12 / len(waits))


# Closed arms.


def closing(**kwargs: Any) -> wrappers.ArmAvailability:
    return wrappers.ArmAvailability(make(), **kwargs)


def test_mask_regret_and_observation_tell_the_same_story() -> None:
    env, rng = closing(probability=0.4), np.random.default_rng(0)
    observation, info = env.reset(seed=1)
    for _ in range(HORIZON):
        mask = info["mask"]
        assert mask.any()
        np.testing.assert_array_equal(observation[-K:], mask)
        np.testing.assert_array_equal(env.action_masks(), mask)
        arm = int(rng.choice(np.flatnonzero(mask)))
        observation, _, _, _, info = env.step(arm)
        best = max(np.flatnonzero(mask), key=lambda i: info["mu"][i])
        assert info["optimal_arm"] == best
        assert info["regret"] == info["mu"][best] - info["mu"][arm] >= 0


def test_a_closed_arm_raises_and_nothing_is_lost() -> None:
    env = closing(probability=0.0)  # one arm open in every round
    _, info = env.reset(seed=1)
    closed = int(np.flatnonzero(~info["mask"])[0])
    with pytest.raises(InvalidAction, match=rf"arm {closed} cannot be played in this round, only \[\d\] can"):
        env.step(closed)
    assert env.step(int(info["mask"].argmax()))[-1]["round"] == 1


def test_a_closed_arm_is_substituted_by_the_next_open_one() -> None:
    env = closing(probability=0.4, if_masked="substitute")
    _, info = env.reset(seed=1)
    for t in range(HORIZON):
        wanted, mask = t % K, info["mask"]
        observation, _, _, _, info = env.step(wanted)
        expected = next(arm % K for arm in range(wanted, wanted + K) if mask[arm % K])
        assert observation[:K].argmax() == expected
        assert info["regret"] >= 0


def test_masks_have_their_own_stream_and_do_not_depend_on_what_is_played() -> None:
    bare, env = make(), closing(if_masked="substitute")
    bare.reset(seed=1)

    def masks(seed: int, arm: int) -> list[list[bool]]:
        return [step[-1]["mask"].tolist() for step in play(env, seed, arm)]

    assert masks(1, 0) == masks(1, 3)
    np.testing.assert_array_equal(bare.unwrapped.means, env.unwrapped.means)  # type: ignore[attr-defined]
    assert masks(1, 0) != masks(2, 0)


@pytest.mark.parametrize("probability", [0.7, 0.0])
def test_arms_are_open_as_often_as_asked_within_4_standard_errors(probability: float) -> None:
    """If chance closes all, one arm is open, drawn uniformly."""
    env = closing(probability=probability, if_masked="substitute")
    masks = [step[-1]["mask"] for seed in range(20) for step in play(env, seed)]
    assert np.sum(masks, axis=1).min() == 1
    rate = probability + (1 - probability) ** K / K
    np.testing.assert_allclose(np.mean(masks, axis=0), rate, atol=4 * np.sqrt(rate * (1 - rate) / len(masks)))


# Agents.


def abrupt() -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Abrupt-v0", horizon=500)


@pytest.mark.parametrize(
    "wrap",
    [lambda env: wrappers.DelayedRewards(env, delay=0), lambda env: wrappers.ArmAvailability(env, probability=1.0)],
)
@pytest.mark.parametrize("name", ["beta-swts", "sw-ucb"])
def test_no_delay_and_no_closed_arm_is_the_run_without_a_wrapper(name: str, wrap: Any) -> None:
    agent = agents.make(name, n_arms=10, horizon=500, window=300)
    for seed in ((0, 0), (1, 1)):
        plain, wrapped = (nsb.run_episode(env, agent, seed=seed).regret for env in (abrupt(), wrap(abrupt())))
        np.testing.assert_array_equal(plain, wrapped)


def test_late_rewards_and_closed_arms_together_in_either_order() -> None:
    agent = agents.make("beta-swts", n_arms=10, window=300)
    inside = wrappers.ArmAvailability(wrappers.DelayedRewards(abrupt(), (0, 40)), probability=0.5)
    outside = wrappers.DelayedRewards(wrappers.ArmAvailability(abrupt(), probability=0.5), (0, 40))
    one, other = (nsb.run_episode(env, agent, seed=(1, 2)) for env in (inside, outside))
    np.testing.assert_array_equal(one.arms, other.arms)
    np.testing.assert_array_equal(one.regret, other.regret)


def test_an_agent_without_a_rule_refuses_before_the_run() -> None:
    for env, words in (
        (wrappers.DelayedRewards(abrupt()), "no rule for rewards that arrive late"),
        (wrappers.WindowedStatistics(wrappers.ArmAvailability(abrupt())), "no rule for arms that cannot be played"),
    ):
        with pytest.raises(ValueError, match=words):
            nsb.run_episode(env, Still(10), seed=0)
