"""The observations of a model are made again as in training, or it is said which wrapper is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import (
    FlattenObservation,
    FrameStackObservation,
    RecordEpisodeStatistics,
    RescaleObservation,
    TimeAwareObservation,
    TransformObservation,
)
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecExtractDictObs, VecFrameStack, VecMonitor, VecNormalize

import ns_mab_gym as nsb
from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl.observations import _remote, checked_recipe, layers_of, recipe_of

from .conftest import WORLD, make, vector_env

WINDOW = ("WindowedStatistics", {"window": 10})
FLAT = ("FlattenObservation", {})


def frames(n: int, padding: str) -> tuple[str, dict[str, Any]]:
    return "FrameStackObservation", {"stack_size": n, "padding_type": padding}


def window(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    return wrappers.WindowedStatistics(env, window=10)


def agent_on(env: Any, kind: Any = PPO) -> rl.SB3Agent:
    return rl.SB3Agent(kind("MlpPolicy", env, device="cpu", n_steps=8, batch_size=8, seed=0))


def shown(env: gym.Env[Any, Any], rounds: int = 12) -> list[Any]:
    first, _ = env.reset(seed=5)
    return [first, *(env.step(t % 3)[0] for t in range(rounds))]


CASES: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "none": (make, []),
    "single": (lambda: wrappers.WindowedStatistics(make(), window=np.int64(10)), [WINDOW]),
    "last rounds": (lambda: wrappers.LastRounds(make(), n=2), [("LastRounds", {"n": 2})]),
    "monitored": (lambda: Monitor(RecordEpisodeStatistics(window(make()))), [WINDOW]),
    "late": (lambda: window(wrappers.DelayedRewards(make(), delay=3)), [WINDOW]),
    "standardised": (lambda: wrappers.StandardizeReward(window(make())), [WINDOW]),
    "vector": (vector_env, [WINDOW]),
    "vector with a monitor": (lambda: VecMonitor(VecNormalize(vector_env(), norm_obs=False)), [WINDOW]),
    "frames of Gymnasium": (lambda: FrameStackObservation(window(make()), 3), [WINDOW, frames(3, "reset")]),
    "flat frames": (lambda: FlattenObservation(FrameStackObservation(make(), 2)), [frames(2, "reset"), FLAT]),
    "frames of Stable-Baselines3": (lambda: VecFrameStack(vector_env(), 4), [WINDOW, frames(4, "zero"), FLAT]),
    "the same around single environments": (
        lambda: VecFrameStack(DummyVecEnv([lambda: window(make())] * 2), 4, "first"), [WINDOW, frames(4, "zero"), FLAT],
    ),
    "both": (
        lambda: VecFrameStack(DummyVecEnv([lambda: FlattenObservation(FrameStackObservation(make(), 2))]), 3),
        [frames(2, "reset"), FLAT, frames(3, "zero"), FLAT],
    ),
    "time": (
        lambda: TimeAwareObservation(make(max_episode_steps=40), normalize_time=True),
        [("TimeAwareObservation", {"flatten": True, "normalize_time": True, "dict_time_key": "time"})],
    ),
    "sync": (
        lambda: rl.SB3VecEnv(
            gym.make_vec(
                "NSBandit-Piecewise-v0", 2, "sync", wrappers=[window], **WORLD,
                vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
            )
        ),
        [WINDOW],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_model_is_wrapped_as_it_was_trained(case: str, tmp_path: Path) -> None:
    trained_on, recipe = CASES[case]
    agent = agent_on(trained_on())
    assert agent.recipe == recipe
    agent.save(tmp_path / "model.zip")
    agent.export(tmp_path / "model.pt")
    bare = make(max_episode_steps=40) if case == "time" else make()
    for again in (agent, *(rl.SB3Agent.load(tmp_path / file, trust=True) for file in ("model.zip", "model.pt"))):
        assert again.recipe == recipe
        wrapped = again.wrap(bare)
        assert wrapped.observation_space.shape == agent.model.observation_space.shape
        assert again.wrap(wrapped) is wrapped
        assert nsb.simulate(bare, again, runs=2).horizon == 40


def test_frames_are_those_that_stable_baselines3_stacks() -> None:
    venv = VecFrameStack(DummyVecEnv([lambda: window(make())]), 3)
    agent = agent_on(venv)
    venv.seed(5)
    trained_on = [venv.reset()[0], *(venv.step(np.array([t % 3]))[0][0].copy() for t in range(12))]
    played_on = shown(agent.wrap(make()))
    np.testing.assert_array_equal(played_on[1:], trained_on[1:])
    assert not np.array_equal(played_on[0][-14:], played_on[1][-14:])


def test_what_is_there_already_is_not_added_again() -> None:
    agent = agent_on(FrameStackObservation(wrappers.LastRounds(window(make()), n=2), 3))
    partly = wrappers.LastRounds(window(make()), n=2)
    for env in (make(), window(make()), partly, Monitor(partly), agent.wrap(make())):
        assert layers_of(agent.wrap(env)) == agent.recipe


@pytest.mark.parametrize(
    "env",
    [
        lambda: wrappers.WindowedStatistics(make(), window=11),  # of the same shape
        lambda: wrappers.LastRounds(make(), n=2),
        lambda: wrappers.LastRounds(window(make()), n=2),
        lambda: RescaleObservation(make(), -1, 1),
    ],
)
def test_other_wrappers_than_in_training_are_refused(env: Callable[[], Any]) -> None:
    agent = agent_on(window(make()))
    with pytest.raises(ValueError, match=r"trained with WindowedStatistics\(window=10\), and the environment has \w+"):
        nsb.simulate(env(), agent, runs=1)


class Doubled(gym.Wrapper[Any, Any, Any, Any]):
    """Shows everything twice, without being an ``ObservationWrapper``."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-9, 9, (10,), np.float32)

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**given)
        return np.tile(observation, 2), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, *rest = self.env.step(action)
        return np.tile(observation, 2), *rest  # type: ignore[return-value]


class OwnWindow(wrappers.WindowedStatistics):
    """A wrapper of the user's own, derived from one of the suite."""


def doubled(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    return TransformObservation(env, lambda seen: 2 * seen, None)


STRANGE: dict[str, Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]]] = {
    "RescaleObservation": lambda env: RescaleObservation(env, -1, 1),
    "TransformObservation": doubled,
    "Doubled": Doubled,
    "OwnWindow": OwnWindow,
    "CustomFrameStackObservation": lambda env: FrameStackObservation(env, 2, padding_type=np.ones(5, np.float32)),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_wrapper_that_cannot_be_added_is_named_and_can_be_given(name: str, tmp_path: Path) -> None:
    agent = agent_on(STRANGE[name](make()))
    agent.export(tmp_path / "model.pt")
    for again in (agent, rl.SB3Agent.load(tmp_path / "model.pt")):
        with pytest.raises(ValueError, match=rf"of which {name}\(\) cannot be added here; wrap the environment in it"):
            nsb.simulate(make(), again, runs=1)
        assert nsb.simulate(STRANGE[name](make()), again, runs=1).horizon == 40
    around = agent_on(FrameStackObservation(STRANGE[name](make()), 2))
    assert around.recipe[0] == (name, {})
    assert layers_of(around.wrap(STRANGE[name](make()))) == around.recipe  # what is around it is added


def test_a_strange_wrapper_of_stable_baselines3_is_named() -> None:
    class Dicts(gym.ObservationWrapper[Any, Any, Any]):
        def __init__(self, env: gym.Env[Any, Any]) -> None:
            super().__init__(env)
            self.observation_space = gym.spaces.Dict({"seen": env.observation_space})

        def observation(self, observation: Any) -> Any:
            return {"seen": observation}

    assert recipe_of(VecExtractDictObs(DummyVecEnv([lambda: Dicts(make())]), "seen")) == [
        ("Dicts", {}),
        ("VecExtractDictObs", {}),
    ]
    two = VecFrameStack(DummyVecEnv([lambda: FrameStackObservation(make(), 2)]), 3)
    assert recipe_of(two) == [frames(2, "reset"), ("VecFrameStack", {})]


def test_time_needs_a_limit() -> None:
    agent = agent_on(TimeAwareObservation(make(max_episode_steps=40)))
    with pytest.raises(
        ValueError, match=r"trained with TimeAwareObservation: .* Use gym.make\(…, max_episode_steps=T\)"
    ):
        agent.wrap(make())


def elsewhere(spec: Any) -> Any:
    """Environments in other processes, of which only attributes that can be sent are known."""
    return SimpleNamespace(get_attr={"spec": [spec]}.__getitem__)


def test_wrappers_in_other_processes_are_read_off_the_specification() -> None:
    env = FrameStackObservation(RescaleObservation(Monitor(window(make())), -1, 1), 2)
    assert _remote(elsewhere(env.spec)) == [WINDOW, ("RescaleObservation", {}), frames(2, "reset")]
    assert _remote(elsewhere(None)) == []


# Masks.


def closing(env: gym.Env[Any, Any], probability: float = 0.4) -> gym.Env[Any, Any]:
    return wrappers.ArmAvailability(env, probability=probability)


def test_a_model_of_closed_arms_needs_an_environment_that_closes_them(tmp_path: Path) -> None:
    agent = agent_on(Monitor(window(closing(make()))), MaskablePPO)
    assert [name for name, _ in agent.recipe] == ["ArmAvailability", "WindowedStatistics"]
    agent.export(tmp_path / "model.pt")
    for again in (agent, rl.SB3Agent.load(tmp_path / "model.pt")):
        with pytest.raises(
            ValueError, match=r"ArmAvailability\(probability=0.4, if_masked='raise'\) cannot be added here"
        ):
            nsb.simulate(make(), again, runs=1)
        for env in (closing(make()), closing(make(), 0.8), window(closing(make()))):
            assert nsb.simulate(env, again, runs=1).horizon == 40
        with pytest.raises(ValueError, match="and the environment has WindowedStatistics"):
            again.wrap(closing(window(make())))  # the same numbers in another order


def test_masks_of_a_function_are_refused_unless_they_are_those_of_the_environment() -> None:
    always = ActionMasker(make(), lambda env: np.array([True, True, False]))
    with pytest.raises(ValueError, match=r"trained with masks that cannot be asked for.*ArmAvailability"):
        agent_on(always, MaskablePPO)
    agent = agent_on(ActionMasker(closing(make()), lambda env: env.action_masks()), MaskablePPO)
    assert nsb.simulate(closing(make()), agent, runs=1).horizon == 40


# Recipes as data.


@pytest.mark.parametrize(
    "entry",
    [
        ["FrameStackObservation", {"stack_size": 0, "padding_type": "zero"}],
        ["FrameStackObservation", {"stack_size": 2, "padding_type": "ones"}],
        ["FrameStackObservation", {"stack_size": 2}],
        ["TimeAwareObservation", {"flatten": False, "normalize_time": True, "dict_time_key": "time"}],
        ["ArmAvailability", {"probability": 0, "if_masked": "raise"}],
        ["ArmAvailability", {"probability": float("nan"), "if_masked": "raise"}],
        ["WindowedStatistics", {"window": True}],
        ["RescaleObservation", {"low": 1}],
        ["a b", {}],
        [1, {}],
        ["WindowedStatistics"],
    ],
)
def test_a_recipe_that_is_made_up_is_refused(entry: Any) -> None:
    with pytest.raises(ValueError, match="wrapper"):
        checked_recipe([entry])
