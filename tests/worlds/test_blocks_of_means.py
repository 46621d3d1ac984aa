"""Means are written in blocks into one matrix: the same bits as by the formula on whole arrays, held once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.worlds import HOUSE, drawn
from ns_mab_gym.worlds import world as world_module
from ns_mab_gym.worlds.world import BLOCK

# The formulas on whole arrays.


def abrupt(world: Any, rng: Any) -> Any:
    tenths = 10 * np.arange(1, world.horizon + 1)
    odd = (tenths < 3 * world.horizon) | ((6 * world.horizon < tenths) & (tenths < 8 * world.horizon))
    middle = np.tile(0.2 + 0.05 * np.arange(7), (world.horizon, 1))
    ends = [np.where(odd, inside, outside) for inside, outside in ((0.1, 0.99), (0.55, 0.15), (0.6, 0.1))]
    return np.column_stack([ends[0], middle, ends[1], ends[2]])


def general_abrupt(world: Any, rng: Any) -> Any:
    tenths, wave = 10 * np.arange(1, world.horizon + 1), 0.1 * np.sin(0.001 * rounds(world))
    odd = (tenths < 3 * world.horizon) | ((6 * world.horizon < tenths) & (tenths < 8 * world.horizon))
    means = abrupt(world, rng)
    means[:, [1, 3, 5]] += wave[:, None]
    for arm, inside, outside in ((0, 0.1, 0.9), (8, 0.55, 0.15), (9, 0.6, 0.1)):
        means[:, arm] = np.where(odd, inside, outside + wave)
    return means


def smooth(world: Any, rng: Any) -> Any:
    k = world.n_arms
    w = 1 + (k - 1) * (1 + np.sin(world.sigma * rounds(world))) / 2
    return np.maximum((k - 1) / k - np.abs(w[:, None] - np.arange(1, k + 1)) / k, 0.0)


def piecewise(world: Any, rng: Any) -> Any:
    lengths = world._lengths(rng)
    best = world.min_gap + (1 - world.min_gap) * rng.random(lengths.size) ** (1 / world.n_arms)
    means = rng.random((lengths.size, world.n_arms)) * (best - world.min_gap)[:, None]
    means[np.arange(lengths.size), rng.integers(world.n_arms, size=lengths.size)] = best
    return np.repeat(means, lengths, axis=0)


def random_walk(world: Any, rng: Any) -> Any:
    path = rng.normal(scale=world.step, size=(world.horizon, world.n_arms))
    path[0] = rng.random(world.n_arms)
    return np.abs((np.cumsum(path, axis=0) + 1) % 2 - 1)


def rising(world: Any, rng: Any) -> Any:
    ceiling, rate = rng.random(world.n_arms), world.fastest ** rng.random(world.n_arms)
    exponential, x = rng.random(world.n_arms) < 0.5, rounds(world)[:, None] / world.horizon
    return ceiling * (1 - np.where(exponential, np.exp(-rate * x), 1 / np.sqrt(1 + rate * x)))


def variation(world: Any, rng: Any) -> Any:
    def waves(cycles: float) -> Any:
        turns = cycles * rounds(world) / world.horizon
        return np.sin(2 * np.pi * (turns[:, None] + np.arange(world.n_arms) / world.n_arms))

    def spent(means: Any) -> float:
        return float(np.abs(np.diff(means, axis=0)).max(axis=1).sum())

    cycles = max(1, int(world.budget / (0.4 * spent(waves(1)))))
    while (amplitude := world.budget / spent(waves(cycles))) > 0.4:
        cycles += 1 + cycles // 100
    return 0.5 + amplitude * waves(cycles)


def periodic(world: Any, rng: Any) -> Any:
    turns = np.arange(1, min(world.period, world.horizon) + 1) / world.period
    one = 0.5 + world.amplitude * np.sin(2 * np.pi * (turns[:, None] + np.arange(world.n_arms) / world.n_arms))
    return one[np.arange(world.horizon) % world.period]


def mixed(world: Any, rng: Any) -> Any:
    jumps, drifts = world._parts()
    left, right = piecewise(jumps, rng), random_walk(drifts, rng)
    return np.hstack([left[:, : world.jumping], right[:, : world.n_arms - world.jumping]])


def rounds(world: Any) -> Any:
    return np.arange(1, world.horizon + 1, dtype=np.float64)


FORMULAS: dict[str, Callable[[Any, Any], Any]] = {
    "abrupt": abrupt,
    "general-abrupt": general_abrupt,
    "smooth": smooth,
    "stationary": lambda world, rng: np.tile(world.mu, (world.horizon, 1)),
    "piecewise": piecewise,
    "random-walk": random_walk,
    "rising": rising,
    "rotting": lambda world, rng: 1 - rising(world, rng),
    "variation": variation,
    "periodic": periodic,
    "mixed": mixed,
}
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in FORMULAS),
    ("smooth", {"n_arms": 37, "sigma": 1e-3}),
    ("piecewise", {"rate": 0.5, "min_gap": 0.1}),
    ("piecewise", {"rate": 1.0}),
    ("piecewise", {"rate": 0.01, "min_spacing": 7, "n_arms": 3}),
    ("random-walk", {"n_arms": 3}),
    ("rotting", {"n_arms": 7}),
    ("variation", {"n_arms": 3, "budget": 0.3}),
    ("periodic", {"period": 7}),
    ("periodic", {"period": BLOCK + 3}),
    ("periodic", {"period": 10**7}),
    ("mixed", {"n_arms": 3, "jumping": 1}),
    ("mixed", {"n_arms": 3, "jumping": 2}),
]
settings = pytest.mark.parametrize(("name", "parameters"), SETTINGS, ids=lambda value: str(value))


def test_every_world_has_its_formula_here():
    assert FORMULAS.keys() == HOUSE.keys() - {"table"}


@settings
@pytest.mark.parametrize("horizon", [60, BLOCK - 1, BLOCK, 2 * BLOCK + 13])
def test_blocks_give_the_bits_of_the_formula(name: str, parameters: dict[str, Any], horizon: int) -> None:
    world = worlds.make(name, horizon=horizon, **parameters)
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    np.testing.assert_array_equal(world.means(rng), FORMULAS[name](world, other))
    assert rng.bit_generator.state == other.bit_generator.state


# Held once.

HORIZON = 60_000
BLOCKS = 2e6  # bytes: much less than a second matrix would take


def peak(function: Callable[[], object]) -> int:
    """The bytes that were allocated at once."""
    tracemalloc.start()
    kept = function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return most


def two_episodes(env: NSBanditEnv) -> None:
    for seed in range(2):
        env.reset(seed=seed)
        env.step(0)


@settings
def test_no_more_than_the_means_and_three_numbers_per_round_are_held(
    name: str, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (world_module, drawn):
        monkeypatch.setattr(module, "BLOCK", 1_024)
    world = worlds.make(name, horizon=HORIZON, **parameters)
    nsb.simulate(worlds.Stationary(horizon=10), "random", runs=1, n_jobs=1)  # compiles
    phases = len(world._lengths(np.random.default_rng(0))) if name == "piecewise" else 0  # type: ignore[attr-defined]
    bound = 8 * HORIZON * (world.n_arms + 3) + 24 * phases + BLOCKS
    assert peak(lambda: world.means(0)) < bound
    if not parameters:  # the rest is the same for all settings of a world
        assert peak(lambda: two_episodes(NSBanditEnv(world))) < bound
        assert peak(lambda: nsb.simulate(world, "random", runs=2, n_jobs=1)) < bound


def test_a_table_is_not_copied_to_be_played(tmp_path: Any) -> None:
    np.savez(tmp_path / "means.npz", means=np.full((HORIZON, 10), 0.5))
    world = worlds.Table(path=tmp_path / "means.npz")
    assert peak(lambda: two_episodes(NSBanditEnv(world))) < BLOCKS
    assert peak(lambda: nsb.simulate(world, "random", runs=2, n_jobs=1)) < 8 * HORIZON * 3 + BLOCKS
    assert not NSBanditEnv(world).means.flags.writeable
    assert world.means().flags.writeable


@pytest.mark.filterwarnings("ignore:.*generic Python loop")
def test_the_generic_loop_shares_the_means() -> None:
    """Of the environment's copy for each run, only what a run writes to is copied."""

    class Lazy:
        def reset(self, seed: int | None = None) -> None: ...
        def act(self, observation: Any = None) -> int:
            return 0

        def observe(self, arm: int, reward: float) -> None: ...

    world = worlds.Stationary(horizon=2_000, mu=(0.5,) * 500)
    assert peak(lambda: nsb.simulate(world, Lazy(), runs=2, n_jobs=1)) < 1.5 * 8 * 2_000 * 500


def test_a_vector_environment_drops_its_instances_before_it_draws_others() -> None:
    from ns_mab_gym.envs.vector import NSBanditVectorEnv

    envs = NSBanditVectorEnv(4, world="random-walk", horizon=30_000)

    def resets() -> None:
        for seed in range(3):
            envs.reset(seed=seed)

    assert peak(resets) < 4 * 8 * 30_000 * 10 + 6e6
