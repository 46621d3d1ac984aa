"""Long runs: counters, sums and generators against exact arithmetic, and memory that stays flat.

``python scripts/benchmark.py endurance`` does the same for 10^8 rounds.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stored_runs import save

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.vector import NSBanditVectorEnv
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import Series, Unit

ROUNDS = 10**6
AGENTS = ("random", "ts", "beta-swts", "gamma-swgts", "sw-ucb", "kl-ucb", "d-ucb", "glr-klucb")


@pytest.fixture
def exactness(script: Callable[[str], Any]) -> Any:
    return script("benchmarks.endurance")


def test_every_agent_of_the_benchmark_is_tested_here(exactness: Any) -> None:
    assert tuple(exactness.AGENTS) == AGENTS


@pytest.mark.parametrize("agent", AGENTS)
def test_after_a_million_rounds_counts_sums_and_generators_are_what_they_should_be(exactness: Any, agent: str) -> None:
    """Where regrets are multiples of ¼ their sum is exact; elsewhere each addition is off by half a unit at most."""
    for mu, bound in ((exactness.EXACT, 0.0), (exactness.ROUNDED, ROUNDS * exactness.UNIT)):
        played = exactness.play(agent, ROUNDS, mu)
        assert exactness.regret(played) <= bound
        assert exactness.counts(played) == 0
        assert exactness.memory(played) <= 1
        assert exactness.draws(played)


@pytest.mark.parametrize("agent", ["sw-ucb", "d-ucb", "ts", "glr-klucb"])
def test_a_memory_that_is_off_by_one_reward_is_noticed(exactness: Any, agent: str) -> None:
    """The check itself: one reward of a thousandth too much in one arm."""
    played = exactness.play(agent, 2_000)
    found = [state for state in exactness.states_in(played.state) if type(state) in exactness.CHECKS]
    for state in found:
        sums = state.points if hasattr(state, "points") else state.pulls if agent == "d-ucb" else state.sums
        kept = sums.copy()
        sums += 0.001
        assert exactness.CHECKS[type(state)](state, played) > 0
        assert exactness.CHECKS[type(state)](state, played) > 1 or agent in ("ts", "glr-klucb")
        sums[...] = kept


# Memory stays flat.

ENV = NSBanditEnv("random-walk", horizon=1_000)
ENVS = NSBanditVectorEnv(3, world="piecewise", horizon=1_000)


def stored(folder: Path) -> None:
    world, agent = WorldSpec("piecewise", (("horizon", 1_000),)), AgentSpec("random")
    unit = Unit(Series(world, agent, 0), 0, 3)
    with Store(folder, lambda unit: "v1", lambda line: None) as store:
        save(store, unit, nsb.simulate("piecewise", "random", runs=3, n_jobs=1, env_kwargs={"horizon": 1_000}))
        assert store.load(unit) is not None


def reset_and_play(env: Any) -> None:
    env.reset(seed=1)
    for _ in range(3):
        env.step(env.action_space.sample())


ACTIVITIES: dict[str, Callable[[Path], object]] = {
    "simulate": lambda folder: nsb.simulate(worlds.Abrupt(horizon=1_000), "ts", runs=2, n_jobs=2),
    "simulate random worlds": lambda folder: nsb.simulate(
        worlds.Piecewise(horizon=1_000), "beta-swts", runs=2, n_jobs=1
    ),
    "run_episode": lambda folder: nsb.run_episode(NSBanditEnv(horizon=200), nsb.agents.TS(10), seed=0),
    "reset": lambda folder: reset_and_play(ENV),
    "reset many": lambda folder: reset_and_play(ENVS),
    "compare": lambda folder: nsb.compare([worlds.Abrupt(horizon=1_000)], ["ts", "random"], runs=2),
    "store": stored,
}


@pytest.mark.parametrize("name", ACTIVITIES)
def test_doing_it_again_takes_no_more_memory(name: str, tmp_path: Path) -> None:
    """An instance takes 80 kB, and one number per round 8 kB; what libraries cache is less, and does not go on."""
    for _ in range(3):
        ACTIVITIES[name](tmp_path)
    tracemalloc.start()
    ACTIVITIES[name](tmp_path)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10):
        ACTIVITIES[name](tmp_path)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 10 * 8_000, f"{grown:,} bytes"
