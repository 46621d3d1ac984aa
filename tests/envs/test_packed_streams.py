"""The streams of very many environments: NumPy's own numbers, to the bit, and the same environments."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given
from hypothesis import strategies as st

from ns_mab_gym.envs import luck, rounds_ahead
from ns_mab_gym.envs.luck import GeneratorLuck, PackedLuck, luck_of
from ns_mab_gym.envs.origins import Children
from ns_mab_gym.rewards import Bernoulli, Beta, Gaussian

SEEDS = st.one_of(st.integers(0, 2**40), st.integers(0, 2**128), st.integers(0, 2**300))


@given(
    st.lists(st.tuples(SEEDS, st.integers(0, 2**32 - 1), st.integers(0, 2**20)), min_size=1, max_size=6),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
)
def test_packed_streams_draw_what_numpys_generators_draw(streams: list[tuple[int, int, int]], draws: list[int]) -> None:
    seeds, keys, behind = (list(column) for column in zip(*streams, strict=True))
    packed, envs = PackedLuck(len(seeds)), np.arange(len(seeds))
    packed.begin(envs, Children(seeds, np.array(keys, np.int64)), np.array(behind, np.int64))
    theirs = [
        np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(key,))))
        for seed, key in zip(seeds, keys, strict=True)
    ]
    for generator, rounds in zip(theirs, behind, strict=True):
        generator.random(rounds)
    for rounds in draws:
        expected = np.stack([generator.random(rounds) for generator in theirs], axis=1)
        np.testing.assert_array_equal(packed.draw(envs, rounds), expected)


def test_children_are_those_that_spawn_returns() -> None:
    seeds = [0, 5, 2**128 + 1]
    parents = [np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed))) for seed in seeds]
    for _ in range(2):
        spawned = [parent.spawn(2) for parent in parents]
    for child, key in ((0, 2), (1, 3)):
        ours = Children(seeds, np.full(3, key)).generators()
        for pair, generator in zip(spawned, ours, strict=True):
            assert pair[child].random(3).tolist() == generator.random(3).tolist()


def test_only_uniform_luck_of_very_many_is_packed() -> None:
    class Own(Bernoulli):
        def luck(self, rng: np.random.Generator, rounds: int) -> Any:
            return rng.random(rounds) ** 2

    assert isinstance(luck_of(luck.MANY, Bernoulli()), PackedLuck)
    assert isinstance(luck_of(luck.MANY, Beta()), PackedLuck)
    for n, law in ((luck.MANY - 1, Bernoulli()), (luck.MANY, Gaussian()), (luck.MANY, Own())):
        assert isinstance(luck_of(n, law), GeneratorLuck)


@pytest.fixture
def _packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luck, "MANY", 1)
    monkeypatch.setattr(rounds_ahead, "BLOCK", 16)


@pytest.mark.usefixtures("_packed")
@pytest.mark.parametrize("env_id", ["NSBandit-Abrupt-v0", "NSBandit-Piecewise-v0"])
@pytest.mark.parametrize("seed", [5, [2**128, 3, 2**200], None])
def test_packed_envs_play_what_single_ones_play_over_episodes(env_id: str, seed: Any) -> None:
    ours = gym.make_vec(env_id, num_envs=3, vectorization_mode="vector_entry_point", horizon=60)
    theirs = SyncVectorEnv([lambda: gym.make(env_id, horizon=60)] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    ours.reset(seed=seed)
    theirs.reset(seed=list(ours.unwrapped.np_random_seed))
    for actions in np.random.default_rng(0).integers(10, size=(150, 3)):
        for one, other in zip(ours.step(actions)[:4], theirs.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("_packed")
def test_packed_envs_start_staggered_as_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    kwargs = {"horizon": 60, "stagger": True}
    packed = gym.make_vec("NSBandit-Abrupt-v0", num_envs=7, **kwargs)
    monkeypatch.setattr(luck, "MANY", 100)
    plain = gym.make_vec("NSBandit-Abrupt-v0", num_envs=7, **kwargs)
    for envs in (packed, plain):
        envs.reset(seed=3)
    for actions in np.random.default_rng(0).integers(10, size=(150, 7)):
        for one, other in zip(packed.step(actions)[:4], plain.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(one, other)


def test_children_that_others_spawn_count_as_in_the_single_env() -> None:
    envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=2, horizon=20)
    env = gym.make("NSBandit-Piecewise-v0", horizon=20)
    envs.reset(seed=4)
    env.reset(seed=5)
    for generator in (envs.unwrapped.np_random[1], env.unwrapped.np_random):
        generator.spawn(3)
    envs.reset()
    env.reset()
    np.testing.assert_array_equal(envs.unwrapped.means[1], env.unwrapped.means)  # type: ignore[attr-defined]
