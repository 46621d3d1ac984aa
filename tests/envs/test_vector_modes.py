"""Autoreset modes, step limits and staggered starts: each against Gymnasium's own vector of single environments."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from alike import assert_alike
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ns_mab_gym.envs import ENV_IDS, vector
from ns_mab_gym.envs.vector import NSBanditVectorEnv

N, HORIZON = 3, 61
MODES = list(AutoresetMode)
RANDOM = "NSBandit-Piecewise-v0"


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "BLOCK", 16)


def native(env_id: str = RANDOM, num_envs: int = N, **kwargs: Any) -> Any:
    return gym.make_vec(env_id, num_envs=num_envs, vectorization_mode="vector_entry_point", **kwargs)


def sync(mode: AutoresetMode, env_id: str = RANDOM, **kwargs: Any) -> Any:
    return SyncVectorEnv([lambda: gym.make(env_id, **kwargs)] * N, autoreset_mode=mode)


def assert_same_steps(ours: Any, theirs: Any, rounds: int, seed: int = 1) -> None:
    for actions in np.random.default_rng(seed).integers(ours.single_action_space.n, size=(rounds, N)):
        assert_alike(ours.step(actions), theirs.step(actions))


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_next_step_plays_what_sync_vector_env_plays_over_episodes(env_id: str) -> None:
    ours = native(env_id, autoreset_mode=AutoresetMode.NEXT_STEP, horizon=HORIZON)
    theirs = sync(AutoresetMode.NEXT_STEP, env_id, horizon=HORIZON)
    assert_alike(ours.reset(seed=5), theirs.reset(seed=5))
    assert_same_steps(ours, theirs, 2 * HORIZON + 20)


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_is_told_in_every_place_where_it_is_looked_for(mode: AutoresetMode) -> None:
    for given in (mode, mode.value):
        envs = native(autoreset_mode=given, horizon=HORIZON)
        assert envs.metadata["autoreset_mode"] is mode
        assert envs.autoreset_mode is mode
    assert NSBanditVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    again = gym.make_vec(type(envs.spec).from_json(envs.spec.to_json()))
    assert again.metadata["autoreset_mode"] is mode


def test_next_step_ignores_the_actions_of_the_step_that_resets() -> None:
    envs = native(autoreset_mode=AutoresetMode.NEXT_STEP, horizon=5, n_arms=2, changes=1)
    envs.reset(seed=0)
    for _ in range(5):
        envs.step(np.zeros(N, int))
    observation, reward, _, truncated, infos = envs.step(np.array([-7, 99, 1]))
    for shown in (observation, reward, truncated, infos["round"]):
        assert not shown.any()


@pytest.mark.parametrize(("env_id", "law"), [(RANDOM, "bernoulli"), ("NSBandit-Abrupt-v0", "gaussian")])
def test_resets_by_hand_play_what_sync_vector_env_plays_with_the_same_masks(env_id: str, law: str) -> None:
    kwargs = {"horizon": HORIZON, "reward": law}
    ours, theirs = native(env_id, autoreset_mode=AutoresetMode.DISABLED, **kwargs), sync(MODES[2], env_id, **kwargs)
    assert theirs.autoreset_mode is AutoresetMode.DISABLED
    assert_alike(ours.reset(seed=5), theirs.reset(seed=5))
    means = np.random.default_rng(3).random((HORIZON, int(ours.single_action_space.n)))
    for i, (mask, more) in enumerate(
        [
            ([False, True, False], {}),
            ([True, False, True], {"seed": [7, 8, None]}),
            ([True, True, False], {"options": {"means": means}}),
            ([False, True, False], {}),
            ([True, True, True], {}),
        ]
    ):
        assert_same_steps(ours, theirs, 11, seed=i)
        reset: dict[str, Any] = copy.deepcopy(more)
        reset.setdefault("options", {})["reset_mask"] = np.array(mask)
        assert_alike(ours.reset(**copy.deepcopy(reset)), theirs.reset(**copy.deepcopy(reset)))
    assert_same_steps(ours, theirs, HORIZON)


def test_without_resets_a_step_after_the_end_says_which_to_reset() -> None:
    envs = native(autoreset_mode=AutoresetMode.DISABLED, horizon=5, changes=1)
    envs.reset(seed=0)
    envs.step(np.zeros(N, int))
    envs.reset(options={"reset_mask": np.array([True, False, False])})
    for _ in range(4):
        *_, truncated, _ = envs.step(np.zeros(N, int))
    assert truncated.tolist() == [False, True, True]
    with pytest.raises(ResetNeeded, match=r"2 sub-environments have ended, the first of them 1: call reset\(options"):
        envs.step(np.zeros(N, int))
    envs.reset(options={"reset_mask": truncated})
    assert envs.step(np.zeros(N, int))[-1]["round"].tolist() == [5, 1, 1]


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("limit", [1, 9, HORIZON, HORIZON + 1, -1])
def test_a_step_limit_does_what_it_does_in_sync_vector_env(mode: AutoresetMode, limit: int) -> None:
    kwargs = {"horizon": HORIZON, "max_episode_steps": limit}
    ours, theirs = native(autoreset_mode=mode, **kwargs), sync(mode, **kwargs)
    assert_alike(ours.reset(seed=5), theirs.reset(seed=5))
    assert_same_steps(ours, theirs, 100)


class Late(gym.Wrapper[Any, Any, Any, Any]):
    """Begins its first episode after some rounds, whatever was played in them."""

    def __init__(self, env: gym.Env[Any, Any], rounds: int) -> None:
        super().__init__(env)
        self.rounds, self.first = rounds, True

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        behind = self.rounds if kwargs.get("seed") is not None else 0
        for t in range(behind):
            self.env.step(t % 3)
        observation[-1], self.total = behind / HORIZON, 0.0
        return observation, info | {"round": behind}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        *rest, info = self.env.step(action)
        self.total += info["regret"]
        return *rest, info | {"total_regret": self.total}  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("mode", "env_id", "law"),
    [
        (AutoresetMode.SAME_STEP, RANDOM, "bernoulli"),
        (AutoresetMode.NEXT_STEP, RANDOM, "gaussian"),
        (AutoresetMode.SAME_STEP, "NSBandit-Abrupt-v0", "beta"),
        (AutoresetMode.NEXT_STEP, "NSBandit-Abrupt-v0", "bernoulli"),
    ],
)
def test_staggered_sub_environments_play_what_single_ones_play_from_that_round_on(
    mode: AutoresetMode, env_id: str, law: str
) -> None:
    kwargs = {"horizon": HORIZON, "reward": law}
    ours = native(env_id, autoreset_mode=mode, stagger=True, **kwargs)
    starts = [0, 20, 40]  # ⌊iT/N⌋ of 61 rounds
    makers = [lambda s=s: Late(gym.make(env_id, **kwargs), s) for s in starts]
    theirs = SyncVectorEnv(makers, autoreset_mode=mode)
    for seed in (5, 6):
        observation, infos = ours.reset(seed=seed)
        assert infos["round"].tolist() == starts
        assert_alike((observation, infos), theirs.reset(seed=seed))
        assert_same_steps(ours, theirs, 3 * HORIZON)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_rendering_gives_what_the_single_envs_render_after_resets(mode: str) -> None:
    kwargs = {"horizon": 6, "changes": 1, "render_mode": mode}
    for autoreset in (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP):
        ours, theirs = native(autoreset_mode=autoreset, **kwargs), sync(autoreset, **kwargs)
        ours.reset(seed=0)
        theirs.reset(seed=0)
        for _ in range(9):
            ours.step(np.ones(N, int))
            theirs.step(np.ones(N, int))
            for one, other in zip(ours.render(), theirs.render(), strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("env_id", [RANDOM, "NSBandit-Abrupt-v0"])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_in_mid_episode_goes_on_identically(env_id: str, duplicate: Any) -> None:
    envs = native(env_id, horizon=HORIZON, stagger=True)
    envs.reset(seed=0)
    for _ in range(30):
        envs.step(np.zeros(N, int))
    assert_same_steps(envs, duplicate(envs), 2 * HORIZON)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"autoreset_mode": "never"}, ValueError, r"one of AutoresetMode\.NEXT_STEP \(or 'NextStep'\).*got 'never'"),
        ({"max_episode_steps": 0}, ValueError, "max_episode_steps must be a positive integer, got 0; or None"),
        ({"max_episode_steps": 2.5}, TypeError, "max_episode_steps must be a positive integer, got 2.5"),
        ({"stagger": 3}, TypeError, "stagger must be True or False, got 3"),
        ({"stagger": True, "render_mode": "rgb_array"}, ValueError, 'round 1 on: use render_mode="ansi"'),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        native(**arguments)


@pytest.mark.parametrize("mask", [[True] * N, np.ones(N), np.ones(2, np.bool_), np.zeros(N, np.bool_)])
def test_bad_masks_are_named(mask: Any) -> None:
    envs = native(autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(ValueError, match="reset_mask must be an array of 3 truth values, not all False, got"):
        envs.reset(options={"reset_mask": mask})


def test_masks_are_refused_where_they_have_no_use() -> None:
    mask = np.array([True, False, False])
    with pytest.raises(ValueError, match=r"reset_mask needs autoreset_mode=AutoresetMode\.DISABLED; with SAME_STEP"):
        native().reset(options={"reset_mask": mask})
    with pytest.raises(ResetNeeded, match="without a reset_mask first"):
        native(autoreset_mode=AutoresetMode.DISABLED).reset(options={"reset_mask": mask})
