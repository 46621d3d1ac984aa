"""The native vector environment plays what N single environments play, bit for bit, in every mode."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from alike import assert_alike
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ns_mab_gym import rewards
from ns_mab_gym.envs import ENV_IDS, vector
from ns_mab_gym.envs.vector import AT_ONCE, NSBanditVectorEnv, rewards_of

N, HORIZON = 3, 61  # with the fixture below, three whole blocks of luck and a part
MODES = list(AutoresetMode)
RESETTING = [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP]
RANDOM = "NSBandit-Piecewise-v0"


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "BLOCK", 16)


def native(env_id: str = RANDOM, num_envs: int = N, **kwargs: Any) -> Any:
    envs = gym.make_vec(env_id, num_envs=num_envs, vectorization_mode="vector_entry_point", **kwargs)
    assert isinstance(envs, NSBanditVectorEnv)
    return envs


def sync(mode: AutoresetMode, env_id: str = RANDOM, **kwargs: Any) -> Any:
    return SyncVectorEnv([lambda: gym.make(env_id, **kwargs)] * N, autoreset_mode=mode)


def assert_same_steps(ours: Any, theirs: Any, rounds: int, seed: int = 1) -> None:
    for actions in np.random.default_rng(seed).integers(ours.single_action_space.n, size=(rounds, N)):
        assert_alike(ours.step(actions), theirs.step(actions))


def assert_same_trajectory(ours: Any, theirs: Any, rounds: int) -> None:
    assert_alike(ours.reset(seed=5), theirs.reset(seed=5))
    assert_same_steps(ours, theirs, rounds)


@pytest.mark.parametrize("mode", RESETTING)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_every_id_plays_what_sync_vector_env_plays_over_episodes(env_id: str, mode: AutoresetMode) -> None:
    theirs = sync(mode, env_id, horizon=HORIZON)
    assert_same_trajectory(native(env_id, autoreset_mode=mode, horizon=HORIZON), theirs, 2 * HORIZON + 20)


@pytest.mark.parametrize("law", [{"reward": "gaussian", "scale": 0.3}, {"reward": "beta", "concentration": 3.0}])
def test_every_law_plays_what_sync_vector_env_plays(law: dict[str, Any]) -> None:
    assert_same_trajectory(native(horizon=40, **law), sync(AutoresetMode.SAME_STEP, horizon=40, **law), 100)


def test_the_size_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    played = []
    for block, most in ((1, 1 << 26), (128, 1 << 26), (128, 3 * 12 * 8 * 7)):  # of 1 step, 50 steps, and 7
        monkeypatch.setattr(vector, "BLOCK", block)
        monkeypatch.setattr(vector, "BLOCK_BYTES", most)
        envs = native(reward="gaussian", horizon=50)
        envs.reset(seed=0)
        played.append([envs.step(np.zeros(3, int))[1] for _ in range(120)])
    np.testing.assert_array_equal(played[0], played[1])
    np.testing.assert_array_equal(played[0], played[2])


def test_seeds_one_each_are_kept_and_a_none_goes_on() -> None:
    envs = native(horizon=5)
    envs.reset(seed=[11, 4, 9])
    assert envs.np_random_seed == (11, 4, 9)
    before = envs.means
    envs.reset(seed=[11, None, 9])
    assert np.array_equal(envs.means[[0, 2]], before[[0, 2]])
    assert not np.array_equal(envs.means[1], before[1])


@pytest.mark.parametrize("seed", [None, [None, None, None]])
def test_a_reset_without_a_seed_goes_on_with_the_generators_as_the_single_env_does(seed: Any) -> None:
    envs = native(horizon=5)
    envs.reset(seed=11)
    generators = envs.np_random
    envs.reset(seed=seed)
    assert envs.np_random_seed == (11, 12, 13)
    assert all(one is other for one, other in zip(envs.np_random, generators, strict=True))
    for i in range(3):
        env = gym.make("NSBandit-Piecewise-v0", horizon=5)
        env.reset(seed=11 + i)
        env.reset()
        np.testing.assert_array_equal(envs.means[i], env.unwrapped.means)  # type: ignore[attr-defined]


def test_children_that_others_spawn_count_as_in_the_single_env() -> None:
    envs, env = native(num_envs=2, horizon=20), gym.make("NSBandit-Piecewise-v0", horizon=20)
    envs.reset(seed=4)
    env.reset(seed=5)
    for generator in (envs.np_random[1], env.unwrapped.np_random):
        generator.spawn(3)
    envs.reset()
    env.reset()
    np.testing.assert_array_equal(envs.means[1], env.unwrapped.means)  # type: ignore[attr-defined]


def test_an_unseeded_env_draws_its_seeds_and_they_reproduce_it() -> None:
    envs = native(horizon=5)
    envs.reset()
    before = envs.means
    envs.reset(seed=list(envs.np_random_seed))
    np.testing.assert_array_equal(envs.means, before)


@pytest.mark.parametrize("shape", [(5, 2), (3, 5, 2)])
def test_given_means_are_played_for_one_episode(shape: tuple[int, ...]) -> None:
    envs = native(n_arms=2, horizon=5, changes=1)
    means = np.random.default_rng(0).random(shape)
    envs.reset(seed=0, options={"means": means})
    np.testing.assert_array_equal(envs.means, np.broadcast_to(means, (3, 5, 2)))
    for _ in range(5):
        envs.step(np.zeros(3, int))
    assert not np.array_equal(envs.means, np.broadcast_to(means, (3, 5, 2)))


def test_what_a_step_returns_is_the_callers_to_change() -> None:
    envs = native("NSBandit-Abrupt-v0", horizon=50)
    envs.reset(seed=0)
    before = envs.means
    for _ in range(60):
        obs, rewards, _, _, infos = envs.step(np.zeros(3, int))
        obs[:], rewards[:] = 9, 9
        for value in infos.values():
            if isinstance(value, np.ndarray) and value.dtype != object:
                value[:] = 0
    np.testing.assert_array_equal(envs.means, before)


def test_the_spec_makes_the_same_vector_env_again() -> None:
    envs = native(num_envs=2, horizon=7, n_arms=3)
    again = gym.make_vec(type(envs.spec).from_json(envs.spec.to_json()))
    assert isinstance(again, vector.NSBanditVectorEnv)
    assert (again.num_envs, again.world, again.law) == (2, envs.world, envs.law)


def test_an_instance_makes_room_for_the_next_before_that_is_drawn() -> None:
    envs = native(num_envs=6, n_arms=5, horizon=20_000)
    one = 8 * 20_000 * 5
    tracemalloc.start()
    try:
        envs.reset(seed=0)
        envs.step(np.zeros(6, np.int64))
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        envs.reset()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert before > 6 * one
    assert peak - before < 1.5 * one  # a draw needs about one beside what it fills


@pytest.mark.parametrize("stagger", [False, True])
def test_when_an_instance_cannot_be_drawn_a_reset_is_needed(stagger: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    envs, arms = native(horizon=4, stagger=stagger), np.zeros(3, np.int64)

    def no_memory(*_: object) -> Any:
        raise MemoryError

    envs.reset(seed=0)
    for _ in range(1 if stagger else 3):  # until one is about to end
        envs.step(arms)
    with monkeypatch.context() as patch:
        patch.setattr(vector, "drawn_means", no_memory)
        with pytest.raises(MemoryError):
            envs.step(arms)
    with pytest.raises(ResetNeeded, match="call reset"):
        envs.step(arms)
    assert_same_trajectory(native(horizon=4, stagger=stagger), envs, 9)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([0, 10, 0], "got 10 in sub-environment 1"),
        ([0, 0, -1], "got -1 in sub-environment 2"),
        (np.array([0, -128, 0], np.int8), "got -128 in sub-environment 1"),
        (np.array([0, 0, 2**64 - 1], np.uint64), "got 18446744073709551615 in sub-environment 2"),
        ([0, 1], r"3 integers from 0 to 9.*shape \(2,\)"),
        ([0.0, 1.0, 2.0], "got float64"),
    ],
)
def test_a_bad_action_is_named(actions: Any, words: str) -> None:
    envs = native()
    envs.reset(seed=0)
    with pytest.raises(InvalidAction, match=words):
        envs.step(np.array(actions))


RNG = np.random.default_rng(0)
MEANS = np.concatenate([[0.0, 0.0, 1.0, 1.0, 0.5], RNG.random(2_000), 1e-9 * RNG.random(50), 1 - 1e-9 * RNG.random(50)])
LAWS = [
    rewards.Bernoulli(),
    rewards.Gaussian(scale=0.3),
    *(rewards.Beta(concentration=c) for c in (0.001, 0.5, 3, 10.0, 1e4)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_rewards_at_once_are_those_one_by_one(law: rewards.Law) -> None:
    luck = law.luck(np.random.default_rng(1), MEANS.size)
    luck[:2] = 0.0
    at_once = rewards_of(law, MEANS, luck)
    assert at_once.tolist() == [law.reward(mu, u) for mu, u in zip(MEANS.tolist(), luck.tolist(), strict=True)]


def test_every_law_of_the_house_is_computed_at_once() -> None:
    assert {rewards.kind(name).reward for name in ("bernoulli", "gaussian", "beta")} == set(AT_ONCE)


@pytest.mark.parametrize("base", [rewards.Bernoulli, rewards.Gaussian, rewards.Beta])
def test_a_law_that_is_derived_from_one_of_these_plays_by_its_own_rule(base: Any) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Own(base):  # type: ignore[misc]
        def reward(self, mu: float, luck: float) -> float:
            return 0.25 if luck > 0.5 else mu

    mean, luck = np.array([0.1, 0.9]), np.array([0.7, 0.2])
    assert rewards_of(Own(), mean, luck).tolist() == [0.25, 0.9]


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


@pytest.mark.parametrize("mode", RESETTING)
@pytest.mark.parametrize("limit", [1, 9, HORIZON, HORIZON + 1, -1])
def test_a_step_limit_does_what_it_does_in_sync_vector_env(mode: AutoresetMode, limit: int) -> None:
    kwargs = {"horizon": HORIZON, "max_episode_steps": limit}
    assert_same_trajectory(native(autoreset_mode=mode, **kwargs), sync(mode, **kwargs), 100)


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
    for autoreset in RESETTING:
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
        ({"num_envs": 0}, ValueError, "num_envs must be a positive integer, got 0"),
        ({"horizn": 3}, TypeError, "did you mean 'horizon'"),
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


MASK = np.array([True, False, False])
BAD_MASK = "reset_mask must be an array of 3 truth values, not all False, got"


@pytest.mark.parametrize(
    ("mode", "reset", "error", "words"),
    [
        ("SameStep", {"seed": [1, 2]}, ValueError, "one for each of the 3 envs, got 2"),
        ("SameStep", {"options": {"means": np.zeros((2, 5, 2))}}, ValueError, "sub-environments, got 2 of them"),
        ("SameStep", {"options": {"mean": 1}}, TypeError, "no parameter 'mean'; did you mean 'means'"),
        ("SameStep", {"options": {"reset_mask": MASK}}, ValueError, "needs autoreset_mode=.*DISABLED; with SAME_STEP"),
        ("Disabled", {"options": {"reset_mask": MASK}}, ResetNeeded, "without a reset_mask first"),
        *(
            ("Disabled", {"options": {"reset_mask": mask}}, ValueError, BAD_MASK)
            for mask in ([True] * N, np.ones(N), np.ones(2, np.bool_), np.zeros(N, np.bool_))
        ),
    ],
)
def test_a_bad_reset_is_named(mode: str, reset: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        native(autoreset_mode=mode, n_arms=2, horizon=5).reset(**reset)


def test_nothing_is_played_or_shown_before_the_first_reset() -> None:
    envs = native(horizon=5)
    for ask in (lambda: envs.step(np.zeros(3, int)), lambda: envs.means):
        with pytest.raises(ResetNeeded, match="call reset"):
            ask()
