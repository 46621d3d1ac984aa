"""Ready for detectors: an example of one around any agent, nested states, compiled equal to interpreted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.core.kernel import ALL, BoolArray, FloatArray, IntArray, act, forget, observe, rule
from ns_mab_gym.agents.parts.samples import Samples, append, forget_samples, new_samples


class PageHinkleyState(NamedTuple):
    """An agent's own state, every sample, and per arm Page and Hinkley's two sums."""

    inner: Any
    samples: Samples
    up: FloatArray  # (K,)
    down: FloatArray  # (K,)
    alarms: IntArray  # (1,)
    threshold: float
    everything: bool


def act_within(state: PageHinkleyState, mask: BoolArray, rng: np.random.Generator) -> int:
    return act(state.inner, mask, rng)


def observe_and_watch(state: PageHinkleyState, arm: int, reward: float) -> None:
    observe(state.inner, arm, reward)
    append(state.samples, arm, reward)
    count, total = state.samples.counts[arm], 0.0
    for s in range(count):
        total += state.samples.values[arm, s]
    mean = total / count
    state.up[arm] = max(0.0, state.up[arm] + reward - mean - 0.05)
    state.down[arm] = max(0.0, state.down[arm] + mean - reward - 0.05)
    if state.up[arm] > state.threshold or state.down[arm] > state.threshold:
        state.alarms[0] += 1
        which = ALL if state.everything else arm
        forget(state.inner, which)
        forget_samples(state.samples, which)
        if state.everything:
            state.up[:] = 0.0
            state.down[:] = 0.0
        else:
            state.up[arm] = state.down[arm] = 0.0


rule(PageHinkleyState, act_within, observe_and_watch)


@dataclass(eq=False)
class PageHinkley(agents.Agent):
    """Any agent, made to forget when Page and Hinkley's test sounds an alarm."""

    name = "page-hinkley"
    accepts = "binary"

    inner: str = field(kw_only=True)
    horizon: int = field(kw_only=True)
    threshold: float = field(default=8.0, kw_only=True)
    everything: bool = field(default=True, kw_only=True)

    def _new_state(self) -> PageHinkleyState:
        k = self.n_arms
        inner = agents.make(self.inner, k, self.horizon, knowledge=nsb.theory.knowledge(worlds.Abrupt().means()))
        zeros = np.zeros(k)
        return PageHinkleyState(
            inner.state, new_samples(k, self.horizon), zeros, zeros.copy(), np.zeros(1, np.int64), self.threshold,
            self.everything,
        )  # fmt: skip


WORLD = worlds.Abrupt(horizon=2_000)


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("inner", ["ts", "kl-ucb", "sw-ucb", "gamma-swgts"])
def test_a_detector_around_an_agent_is_the_same_compiled_and_interpreted(inner, everything):
    agent = PageHinkley(10, inner=inner, horizon=2_000, everything=everything)
    runs = nsb.simulate(WORLD, agent, runs=2, seed=3, record="all")
    for r in range(2):
        env = nsb.envs.NSBanditEnv(WORLD)
        played = nsb.run_episode(env, agent, runs.seeds[r])
        np.testing.assert_array_equal(runs.arms[r], played.arms)
        np.testing.assert_array_equal(runs.regret[r], played.regret[runs.rounds - 1])
        assert agent.state.alarms[0] > 0  # else nothing was tested
        assert agent.state.samples.counts.sum() < 2_000


def test_a_nested_state_travels_without_pickle():
    agent, other = (PageHinkley(3, inner="ts", horizon=500) for _ in range(2))
    agent.reset(seed=1)
    for t in range(200):
        agent.observe(agent.act(), float(t % 3 == 0))
    saved = agent.state_dict()
    assert {"state.inner.window.pulls", "state.samples.values", "state.up"} <= saved.keys()
    other.load_state_dict(saved)
    assert [agent.act() for _ in range(50)] == [other.act() for _ in range(50)]


FULL = (
    "the memory of samples is full: it holds one sample of each arm per round of the horizon that the agent was made "
    "for; make the agent with a longer horizon, or reset it between episodes"
)


def test_a_full_memory_says_so_in_python():
    agent = PageHinkley(2, inner="ts", horizon=5, threshold=1e9)
    for _ in range(5):
        agent.observe(0, 1.0)
    agent.observe(1, 1.0)  # of another arm there is room
    with pytest.raises(ValueError, match="full") as error:
        agent.observe(0, 1.0)
    assert str(error.value) == FULL


def test_a_full_memory_says_so_in_the_compiled_loop():
    agent = PageHinkley(10, inner="ts", horizon=100, threshold=1e9)
    with pytest.raises(ValueError, match="full") as error:
        nsb.simulate(WORLD, agent, runs=1)
    assert str(error.value) == FULL
    with pytest.raises(ValueError, match="horizon must be a positive integer, got 0"):
        new_samples(3, 0)


def test_samples_of_one_arm_or_of_all_are_dropped():
    samples = new_samples(3, 4)
    for arm in (0, 1, 1, 2):
        append(samples, arm, 0.5)
    forget_samples(samples, 1)
    assert samples.counts.tolist() == [1, 0, 1]
    append(samples, 1, 0.25)
    assert samples.values[1, 0] == 0.25
    forget_samples(samples, ALL)
    assert samples.counts.tolist() == [0, 0, 0]
