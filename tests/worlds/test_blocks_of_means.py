"""Means are written in blocks into one matrix: the same bits as in one block, held once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from measured import peak
from own_players import Still

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.worlds import HOUSE, drawn
from ns_mab_gym.worlds import world as world_module

NAMES = [name for name in HOUSE if name != "table"]
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in NAMES),
    ("smooth", {"n_arms": 37, "sigma": 1e-3}),
    ("piecewise", {"rate": 0.5, "min_gap": 0.1}),
    ("piecewise", {"rate": 1.0}),
    ("piecewise", {"rate": 0.01, "min_spacing": 7, "n_arms": 3}),
    ("random-walk", {"n_arms": 3}),
    ("rotting", {"n_arms": 7}),
    ("variation", {"n_arms": 3, "budget": 0.3}),
    ("periodic", {"period": 7}),
    ("periodic", {"period": 67}),
    ("periodic", {"period": 10**7}),
    ("mixed", {"n_arms": 3, "jumping": 1}),
    ("mixed", {"n_arms": 3, "jumping": 2}),
]


@pytest.fixture
def set_block(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """A function that sets the number of rounds that are written at once."""
    return lambda rounds: [monkeypatch.setattr(module, "BLOCK", rounds) for module in (world_module, drawn)]


@pytest.mark.parametrize(("name", "parameters"), SETTINGS)
@pytest.mark.parametrize("horizon", [60, 64, 2 * 64 + 13])
def test_blocks_give_the_bits_of_the_whole(
    name: str, parameters: dict[str, Any], horizon: int, set_block: Callable[[int], None]
) -> None:
    """Whose formulas and laws have tests of their own."""
    world = worlds.make(name, horizon=horizon, **parameters)
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    whole = world.means(rng)
    set_block(64)
    np.testing.assert_array_equal(world.means(other), whole)
    assert rng.bit_generator.state == other.bit_generator.state


# Held once.

HORIZON = 60_000
BLOCKS = 2e6  # bytes: much less than a second matrix would take


def two_episodes(env: NSBanditEnv) -> None:
    for seed in range(2):
        env.reset(seed=seed)
        env.step(0)


@pytest.mark.parametrize("name", NAMES)
def test_no_more_than_the_means_and_three_numbers_per_round_are_held(
    name: str, set_block: Callable[[int], None]
) -> None:
    set_block(1_024)
    world = worlds.make(name, horizon=HORIZON, **({"rate": 0.5} if name == "piecewise" else {}))
    nsb.simulate(worlds.Stationary(horizon=10), "random", runs=1, n_jobs=1)  # compiles
    phases = len(world._lengths(np.random.default_rng(0))) if name == "piecewise" else 0  # type: ignore[attr-defined]
    bound = 8 * HORIZON * (world.n_arms + 3) + 24 * phases + BLOCKS
    assert peak(lambda: world.means(0)) < bound
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
    world = worlds.Stationary(horizon=2_000, mu=(0.5,) * 500)
    assert peak(lambda: nsb.simulate(world, Still(500), runs=2, n_jobs=1)) < 1.5 * 8 * 2_000 * 500
