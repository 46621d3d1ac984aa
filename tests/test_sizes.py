"""More vector environments or records than there is memory for are refused in one line, before they are allocated."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from fuzzing import guest, is_own
from measured import peak

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds, wrappers
from ns_mab_gym.agents.core import arguments
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.vector import NSBanditVectorEnv
from ns_mab_gym.play.simulate import Recording

HUGE = (10**12, 2**63, 10**30, 10**400, 10**5_000)
FREE = r"memory, [\d.,]+ GB are free; "
SHORT = {"horizon": 10}

# A number that can be too large: what is done with it, and what is said of 10^12.
DOORS: dict[str, tuple[Callable[[Any], object], str]] = {
    "environments": (
        lambda n: gym.make_vec("NSBandit-Abrupt-v0", num_envs=n),
        rf"^1,000,000,000,000 environments of 50,000 rounds and 10 arms would take 2,0[\d,.]+ GB of {FREE}choose a",
    ),
    "drawn environments": (
        lambda n: NSBanditVectorEnv(n // 10**6, world="piecewise"),
        rf"^1,000,000 environments of 50,000 rounds and 10 arms would take .* of {FREE}choose a smaller num_envs",
    ),
    "runs": (
        lambda n: nsb.simulate("abrupt", "random", runs=n, env_kwargs=SHORT),
        rf'^record="curve" of 1,000,000,000,000 runs would take [\d,.]+ GB of {FREE}play fewer runs at once',
    ),
    "every round": (
        lambda n: Recording("regret", None).blank(min(n, 2**53), 2, [(0, 0)]),
        rf'^record="regret" of 1 runs of 1,000,000,000,000 rounds would take 8,000.0 GB of {FREE}use record="curve"',
    ),
    "every arm": (
        lambda n: Recording("all", None).blank(min(n, 2**53), 2, [(0, 0)]),
        f'16,000.0 GB of {FREE}use record="curve", or play',
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_numbers_beyond_any_memory_are_refused_in_a_line_before_anything_is_allocated(door: str) -> None:
    ask, words = DOORS[door]
    for number in HUGE if door == "environments" else HUGE[:1]:
        tracemalloc.start()
        with pytest.raises(ValueError, match=words if number == 10**12 else None) as refused:
            ask(number)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert is_own(refused.value)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 400
        assert most < 30e6  # modules, and the one instance of a vector environment


WHOLE = [
    (name, key)
    for name in worlds.names()
    if name != "table"
    for key, value in worlds.make(name, horizon=600).to_dict().items()
    if type(value) is int
]


@pytest.mark.parametrize(("name", "key"), WHOLE)
def test_every_number_of_every_world_may_be_too_large(name: str, key: str) -> None:
    for number in (*HUGE[1:], -(10**400)):
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
        patch.setattr(arguments, "SMALL", 0)
        patch.setattr(arguments, "available_memory", lambda: Enough(1))
        ask()
    return max(asked)


def reset(envs: Any) -> Any:
    for seed in range(2):
        envs.reset(seed=seed)
        envs.step(envs.action_space.sample())
    return envs


@pytest.mark.parametrize(
    "ask",
    [
        lambda: reset(NSBanditVectorEnv(300, world="abrupt", horizon=600)),
        lambda: reset(NSBanditVectorEnv(300, world="abrupt", horizon=600, reward="gaussian")),
        lambda: reset(NSBanditVectorEnv(6_000, world="abrupt", horizon=600)),
        lambda: reset(NSBanditVectorEnv(100, world="random-walk", horizon=600)),
        lambda: reset(NSBanditVectorEnv(2, world="random-walk", n_arms=100_000, horizon=2)),
        lambda: Recording("all", None).blank(100_000, 10, [(0, 0)] * 10),
        lambda: Recording("regret", None).blank(100_000, 10, [(0, 0)] * 10),
    ],
)
def test_what_is_told_is_what_it_takes(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> None:
    ask()  # imports
    assert 0.6 < told(monkeypatch, ask) / peak(ask) < 2
