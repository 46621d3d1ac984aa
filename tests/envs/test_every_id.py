"""What holds for every registered id, read off the live table: a new id is tested by being there."""

import copy
import json
import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
from alike import assert_alike
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from ns_mab_gym import rewards
from ns_mab_gym.envs import ENV_IDS

every_id = pytest.mark.parametrize("env_id", ENV_IDS)
UNBOUNDED = ".*Box observation space m.*imum value is -?infinity"  # as Gaussian rewards are
every_law = pytest.mark.parametrize("law", rewards.LAWS)


def play(env, arms):
    """What the steps of the given arms return."""
    return [env.step(int(arm)) for arm in arms]


def assert_same_steps(ones, twos):
    assert len(ones) == len(twos)
    for one, two in zip(ones, twos, strict=True):
        for left, right in zip(one, two, strict=True):
            assert_alike(left, right)


def random_arms(env, rounds, seed=0):
    return np.random.default_rng(seed).integers(env.action_space.n, size=rounds)


@every_id
def test_check_env_of_gymnasium_and_stable_baselines_without_a_warning(env_id):
    from stable_baselines3.common.env_checker import check_env as sb3_check_env

    with warnings.catch_warnings():  # pytest turns every warning into an error
        if not np.isfinite(gym.make(env_id).unwrapped.law.support).all():
            warnings.filterwarnings("ignore", UNBOUNDED)
        check_env(gym.make(env_id).unwrapped)
    sb3_check_env(gym.make(env_id))


@every_law
@pytest.mark.filterwarnings(f"ignore:{UNBOUNDED}")
def test_gymnasium_check_env_for_every_law(law):
    check_env(gym.make("NSBandit-v0", reward=law).unwrapped)


@every_id
def test_spec_to_json_and_back(env_id):
    env = gym.make(env_id, horizon=300)
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec == env.spec
    assert again.unwrapped.world == env.unwrapped.world
    assert again.unwrapped.law == env.unwrapped.law
    arms = random_arms(env, 100)
    assert_same_steps([env.reset(seed=3), *play(env, arms)], [again.reset(seed=3), *play(again, arms)])


@every_id
def test_a_reset_without_a_seed_goes_on_from_the_last(env_id):
    one, two = gym.make(env_id, horizon=400), gym.make(env_id, horizon=400)
    episodes = []
    for env in (one, two):
        env.reset(seed=5)
        episodes.append([[env.reset(), *play(env, random_arms(env, 400))] for _ in range(2)])
    for left, right in zip(*episodes, strict=True):
        assert_same_steps(left, right)
    luck = [[step[1] for step in episode[1:]] for episode in episodes[0]]
    assert luck[0] != luck[1]


@every_id
def test_a_copy_in_mid_episode_goes_on_identically(env_id):
    env = gym.make(f"ns_mab_gym:{env_id}", horizon=200)
    assert env.spec.id == env_id
    assert env.spec.max_episode_steps is None
    arms = random_arms(env, 200)
    env.reset(seed=21)
    play(env, arms[:80])
    twins = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    assert not any(twin.unwrapped.means.flags.writeable for twin in twins)
    rest, *others = [[*play(twin, arms[80:]), twin.reset(), *play(twin, arms)] for twin in twins]
    for other in others:
        assert_same_steps(rest, other)


@every_id
def test_the_episode_is_accounted_exactly(env_id):
    env = gym.make(env_id, horizon=300)
    observation, first = env.reset(seed=1)
    assert not first["mu"].any()  # whatever instance was drawn
    assert first | {"mu": 0} == {"mu": 0, "optimal_arm": -1, "regret": 0.0, "total_regret": 0.0, "round": 0}
    assert not observation.any()
    means, k = env.unwrapped.means, int(env.action_space.n)
    assert means.shape == (300, k)
    total = 0.0
    for t, arm in enumerate(random_arms(env, 300).tolist()):
        observation, reward, terminated, truncated, info = env.step(arm)
        assert observation in env.observation_space
        assert observation.dtype == np.float32
        assert observation[:k].tolist() == [float(i == arm) for i in range(k)]
        assert observation[k] == np.float32(reward)
        assert observation[k + 1] == np.float32((t + 1) / 300)
        assert type(reward) is float
        assert (terminated, truncated) == (False, t == 299)
        assert info["mu"].tolist() == means[t].tolist()
        assert info["optimal_arm"] == means[t].tolist().index(max(means[t].tolist()))
        assert info["regret"] == max(means[t].tolist()) - means[t, arm]
        assert info["regret"] >= 0
        total += info["regret"]
        assert (info["total_regret"], info["round"]) == (total, t + 1)
        assert [(key, type(value)) for key, value in info.items()] == [(key, type(first[key])) for key in first]
        assert (info["mu"].shape, info["mu"].dtype) == (first["mu"].shape, first["mu"].dtype)


def test_the_json_of_a_spec_carries_worlds_and_laws():
    from ns_mab_gym.worlds import Piecewise, Stationary

    for world in (Piecewise(horizon=80, changes=2, min_gap=0.1), Stationary(mu=(0.2, 0.4, 0.1), horizon=80)):
        env = gym.make("NSBandit-v0", world=world, reward=rewards.Gaussian(scale=0.2))
        text = env.spec.to_json()
        assert json.loads(text)["kwargs"]["world"]["name"] == world.name
        again = gym.make(EnvSpec.from_json(text)).unwrapped
        assert (again.world, again.law) == (world, rewards.Gaussian(scale=0.2))
