"""What does not fit into the memory is refused in one line, before anything is allocated."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from fuzzing import guest, is_own

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds, wrappers
from ns_mab_gym.agents.core import memory_limits
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.agents.core.memory_limits import DoesNotFitError
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.vector import NSBanditVectorEnv
from ns_mab_gym.play.recording import Recording

HUGE = (10**12, 2**63, 10**30, 10**400, 10**5_000)
FREE = r"memory, [\d.,]+ \w?B are free; "
SHORT = {"horizon": 10}

# A number that can be too large: what is done with it, and what is said of 10^12.
DOORS: dict[str, tuple[Callable[[Any], object], str]] = {
    "fixed world": (
        lambda n: gym.make("NSBandit-Abrupt-v0", horizon=n),
        rf"^a world of 1,000,000,000,000 rounds and 10 arms would take 104 TB of {FREE}choose a smaller horizon",
    ),
    "random world": (lambda n: NSBanditEnv("piecewise", horizon=n), f"104 TB of {FREE}choose a smaller horizon"),
    "means": (lambda n: worlds.RandomWalk(horizon=n).means(0), f"104 TB of {FREE}choose a smaller horizon"),
    "arms": (lambda n: NSBanditEnv("smooth", horizon=1, n_arms=n), "1 rounds and 1,000,000,000,000 arms .* fewer arms"),
    "arms drawn": (lambda n: NSBanditEnv("mixed", n_arms=n), "1,000,000,000,000 arms would take"),
    "environments": (
        lambda n: gym.make_vec("NSBandit-Abrupt-v0", num_envs=n),
        rf"^1,000,000,000,000 environments of 50,000 rounds and 10 arms would take 908 TB of {FREE}choose a smaller",
    ),
    "drawn environments": (
        lambda n: NSBanditVectorEnv(n // 10**6, world="piecewise"),
        rf"^1,000,000 environments of 50,000 rounds and 10 arms would take 4 TB of {FREE}choose a smaller num_envs",
    ),
    "runs": (
        lambda n: nsb.simulate("abrupt", "random", runs=n, env_kwargs=SHORT),
        rf'^record="curve" of 1,000,000,000,000 runs would take 440 TB of {FREE}play fewer runs at once',
    ),
    "runs compared": (lambda n: nsb.compare(["abrupt"], ["random"], runs=n), "1,000,000,000,000 runs"),
    "rounds simulated": (lambda n: nsb.simulate("rising", "random", env_kwargs={"horizon": n}), "104 TB"),
    "every round": (
        lambda n: Recording("regret", None).blank(n, 2, [(0, 0)]),
        rf'^record="regret" of 1 runs of 1,000,000,000,000 rounds would take 8 TB of {FREE}use record="curve", or',
    ),
    "every arm": (
        lambda n: Recording("all", None).blank(n, 2, [(0, 0)]),
        f'16 TB of {FREE}use record="curve", or play',
    ),
    "an agent's arms": (
        lambda n: agents.make("ts", n_arms=n),
        f"1,000,000,000,000 arms would take 64 TB of {FREE}",
    ),
    "wrapped rounds": (
        lambda n: wrappers.LastRounds(NSBanditEnv(horizon=5), n),
        "the last 1,000,.* choose a smaller n",
    ),
    "wrapped window": (
        lambda n: wrappers.WindowedStatistics(NSBanditEnv(horizon=5), n),
        "a window of 1,000,.* choose a shorter one",
    ),
}


@pytest.mark.parametrize("number", HUGE, ids=["1e12", "2^63", "1e30", "1e400", "1e5000"])
@pytest.mark.parametrize("door", DOORS)
def test_numbers_beyond_any_memory_are_refused_in_a_line_before_anything_is_allocated(door: str, number: int) -> None:
    ask, words = DOORS[door]
    tracemalloc.start()
    with pytest.raises(ValueError, match=words if number == 10**12 else None) as refused:
        ask(number)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert is_own(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400
    assert most < 30e6  # modules, and the one instance of a vector environment


NUMBERS = {"n_arms": 2, "horizon": 100, "breakpoints": 3, "variation": 1.0, "lipschitz": 0.1, "switches": 2}
KNOWN = Knowledge(subgaussian=0.5, means=np.full((100, 2), 0.5), **NUMBERS)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", agents.names())
def test_every_number_of_every_agent_may_be_too_large(name: str) -> None:
    """Each is let in, or refused by us: no overflow, no division by zero, no error of an allocator."""
    plain = agents.make(name, knowledge=KNOWN).parameters
    whole = [key for key, value in plain.items() if type(value) is int and key != "n_arms"]
    for number in (10**9, *HUGE):
        with guest():
            agents.make(name, knowledge=KNOWN, n_arms=max(number, 10**12))
        for key in ("horizon", *whole):
            with guest():
                agents.make(name, knowledge=KNOWN, **{key: number})


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("beta-swts", "window"),
        ("sw-ucb", "window"),
        ("dsw-ts", "window"),
        ("sw-lb-sda", "window"),
        ("fewa", "horizon"),
        ("r-less-ucb", "horizon"),
        ("switching-ts", "hypotheses"),
        ("br-mab", "capacity"),
        ("m-ucb", "samples"),
    ],
)
def test_memories_that_do_not_fit_are_refused_with_what_they_would_take(name: str, parameter: str) -> None:
    with pytest.raises(DoesNotFitError, match=rf"1,000,000,000,000 .* would take \d+ TB of {FREE}choose"):
        agents.make(name, knowledge=KNOWN, **{parameter: 10**12})


WHOLE = [
    (name, key)
    for name in worlds.names()
    if name != "table"
    for key, value in worlds.make(name, horizon=600).to_dict().items()
    if type(value) is int
]


@pytest.mark.parametrize(("name", "key"), WHOLE)
def test_every_number_of_every_world_may_be_too_large(name: str, key: str) -> None:
    for number in (*HUGE, -(10**400)):
        with guest():
            NSBanditEnv(**({"world": name, "horizon": 600} | {key: number}))


def test_windows_beyond_the_horizon_are_as_good_as_the_horizon() -> None:
    means = worlds.Abrupt(horizon=50).means()
    np.testing.assert_array_equal(nsb.theory.unlearnable_set(means, 10**12), nsb.theory.unlearnable_set(means, 50))
    for number in HUGE:
        with guest():
            nsb.theory.gap(means, number)
        with guest():
            nsb.run_episode(wrappers.DelayedRewards(NSBanditEnv(horizon=5), number), agents.TS(10), seed=0)


# What is said to be taken is what is taken.


def told(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> float:
    """The most bytes for which it is asked whether they fit."""
    asked: list[float] = []

    class Enough(float):
        def __lt__(self, needed: float) -> bool:
            asked.append(needed)
            return False

    with monkeypatch.context() as patch:
        patch.setattr(memory_limits, "SMALL", 0)
        patch.setattr(memory_limits, "available_memory", lambda: Enough(1))
        ask()
    return max(asked)


def taken(ask: Callable[[], object]) -> float:
    tracemalloc.start()
    kept = ask()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return most


def reset(envs: Any) -> Any:
    for seed in range(2):
        envs.reset(seed=seed)
        envs.step(envs.action_space.sample())
    return envs


@pytest.mark.parametrize(
    "ask",
    [
        lambda: worlds.RandomWalk(horizon=100_000).means(0),
        lambda: reset(NSBanditEnv("rising", horizon=100_000, n_arms=3)),
        lambda: reset(NSBanditEnv("random-walk", horizon=3, n_arms=100_000)),
        lambda: reset(NSBanditVectorEnv(300, world="abrupt", horizon=600)),
        lambda: reset(NSBanditVectorEnv(300, world="abrupt", horizon=600, reward="gaussian")),
        lambda: reset(NSBanditVectorEnv(30_000, world="abrupt", horizon=600)),
        lambda: reset(NSBanditVectorEnv(100, world="random-walk", horizon=600)),
        lambda: reset(NSBanditVectorEnv(2, world="random-walk", n_arms=100_000, horizon=2)),
        lambda: Recording("all", None).blank(100_000, 10, [(0, 0)] * 10),
        lambda: Recording("regret", None).blank(100_000, 10, [(0, 0)] * 10),
        lambda: agents.make("sw-ucb", n_arms=2, window=10**6),
        lambda: agents.make("ts", n_arms=2 * 10**6),
    ],
)
def test_what_is_told_is_what_it_takes(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> None:
    ask()  # imports
    assert 0.6 < told(monkeypatch, ask) / taken(ask) < 2


def test_what_fits_by_a_hair_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    world = worlds.Stationary(horizon=10**6)
    needed = told(monkeypatch, world.ensure_room)
    for free, fits in ((needed, True), (needed - 1, False)):
        monkeypatch.setattr(memory_limits, "available_memory", lambda free=free: free)
        if fits:
            assert world.means().shape == (10**6, 10)
        else:
            with pytest.raises(DoesNotFitError):
                world.means()


def test_instances_that_are_played_at_once_must_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "available_memory", lambda: 25e6)
    play = {"runs": 3, "env_kwargs": {"horizon": 100_000}}
    with pytest.raises(
        DoesNotFitError, match=r"^3 instances of 100,000 rounds and 10 arms .*, or n_jobs=1 to play one"
    ):
        nsb.simulate("piecewise", "random", n_jobs=3, **play)
    assert len(nsb.simulate("piecewise", "random", n_jobs=1, **play)) == 3
    assert len(nsb.simulate("abrupt", "random", n_jobs=3, **play)) == 3


# Guests.

ODD = (
    0,
    1,
    -1,
    2,
    3,
    7,
    2.0,
    0.5,
    10**12,
    2**63,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "é",
    "\0",
    None,
    True,
)
MORE = ([], {}, [3], "10", 1e-308, 5e-324, np.int64(4), np.float32(2), np.array(3), object(), b"x", 1 + 2j)
KEYS = ("horizon", "n_arms", "sigma", "changes", "rate", "min_spacing", "period", "budget", "scale", "reward", "window")


def test_environments_receive_guests(guests: list[np.random.Generator], watched: bool) -> None:
    for rng in guests:
        name = str(rng.choice([name for name in worlds.names() if name != "table"]))
        own = [*worlds.kind(name).parameters(), "reward", "scale", "concentration", "render_mode"]
        parameters: dict[str, Any] = {"horizon": 40}
        for _ in range(rng.integers(1, 3)):
            key = str(rng.choice(own if rng.random() < 0.9 else KEYS))
            parameters[key] = (*ODD, *MORE)[rng.integers(len(ODD) + len(MORE))]
        with guest(watched=watched):
            if rng.random() < 0.5:
                env = NSBanditEnv(name, **parameters)
            else:
                number = ODD[rng.integers(len(ODD))] if rng.random() < 0.5 else 3
                env = NSBanditVectorEnv(number, world=name, **parameters)  # type: ignore[arg-type,assignment]
            env.reset(seed=0)
            env.step(env.action_space.sample())
