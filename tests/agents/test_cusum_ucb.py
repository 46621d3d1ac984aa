"""CUSUM-UCB and PHT-UCB: their tests and their choices, recomputed from the full history."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ns_mab_gym import agents, simulate, worlds
from ns_mab_gym.agents import Knowledge, forget
from ns_mab_gym.agents.core.kernel import watch
from ns_mab_gym.agents.parts.alarms import alarms_in
from ns_mab_gym.agents.parts.detectors import Cusum, PageHinkley

T, K = 50_000, 10
H = 2.4871  # that no sum of rewards equals: rounding must not decide
History = list[float]


def largest_tail(steps: list[float]) -> float:
    """The largest sum of the last k steps, k ≥ 0: what g is, without its recursion."""
    return max(sum(steps[k:]) for k in range(len(steps) + 1))


def cusum(history: History, warmup: int, epsilon: float) -> float:
    """The larger of g⁺ and g⁻ after these samples of one arm."""
    mean = sum(history[:warmup]) / max(1, len(history[:warmup]))
    later = history[warmup:]
    return max(largest_tail([s * (x - mean) - epsilon for x in later]) for s in (1, -1))


def page_hinkley(history: History, epsilon: float) -> float:
    """The same with the mean of the samples up to and including each."""
    means = [sum(history[: n + 1]) / (n + 1) for n in range(len(history))]
    return max(
        largest_tail([s * (x - mean) - epsilon for x, mean in zip(history, means, strict=True)]) for s in (1, -1)
    )


TESTS: dict[str, Callable[[History], float]] = {
    "cusum": lambda history: cusum(history, 7, 0.1),
    "page-hinkley": lambda history: page_hinkley(history, 0.1),
}
DETECTORS = {"cusum": Cusum(H, warmup=7, epsilon=0.1), "page-hinkley": PageHinkley(H, epsilon=0.1)}


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("law", ["bernoulli", "uniform"])
def test_the_statistic_from_the_full_history(name, law):
    """Three arms that change after 150 of their samples; an alarm exactly where the largest tail exceeds h."""
    state, rng = DETECTORS[name].new_state(3), np.random.default_rng(5)
    histories: list[History] = [[], [], []]
    alarms = 0
    for t in range(600):
        arm = int(rng.integers(3))
        mean = (0.2, 0.5, 0.8)[(arm + t // 300) % 3]
        x = float(rng.random() < mean) if law == "bernoulli" else float(0.8 * mean + 0.2 * rng.random())
        histories[arm].append(x)
        alarm = TESTS[name](histories[arm]) > H
        assert watch(state, arm, x) == alarm
        if alarm:
            histories[arm] = []
            forget(state, arm)
            alarms += 1
    assert alarms >= 3


def index_choice(histories: list[History], last: list[int], xi: float) -> int:
    """argmax of μ̂ + √(ξ ln(Σ N)/N); of the arms without samples the one unseen longest."""
    unseen = [i for i, each in enumerate(histories) if not each]
    if unseen:
        return min(unseen, key=lambda i: (last[i], i))
    total = sum(map(len, histories))
    values = [sum(each) / len(each) + math.sqrt(xi * math.log(total) / len(each)) for each in histories]
    return values.index(max(values))


@pytest.mark.parametrize("name", ["cusum-ucb", "pht-ucb", "forced"])
def test_the_whole_agent_from_the_full_history(name):
    """Restarts of single arms; uniform exploration of all arms; Σ N of what is remembered, not t, in the index."""
    given = {"threshold": H, "alpha": 0.1, "epsilon": 0.1, "xi": 0.5}
    if name == "pht-ucb":
        agent = agents.PHTUCB(4, **given)
    else:
        agent = agents.CUSUMUCB(4, **given, warmup=7, forced_warmup=name == "forced")
    statistic = TESTS["page-hinkley" if name == "pht-ucb" else "cusum"]
    agent.reset(seed=8)
    rng, luck = np.random.default_rng(8), np.random.default_rng(9)
    histories: list[History] = [[] for _ in range(4)]
    last, alarms = [0] * 4, []
    for t in range(900):
        if (u := rng.random()) < 0.1:
            arm = int(u / 0.1 * 4)
        else:
            short = [i for i in range(4) if name == "forced" and len(histories[i]) < 7]
            fewest = min(short, key=lambda i: (len(histories[i]), last[i], i), default=None)
            arm = index_choice(histories, last, 0.5) if fewest is None else fewest
        assert agent.act() == arm, f"round {t + 1}"
        x = float(luck.random() < (0.2, 0.4, 0.6, 0.8)[(arm + t // 300) % 4])
        agent.observe(arm, x)
        histories[arm].append(x)
        last[arm] = t + 1
        if statistic(histories[arm]) > H:
            histories[arm] = []
            alarms.append((t + 1, arm, False))
    assert alarms_in(agent.state).tolist() == alarms
    assert len(alarms) >= 4


def test_by_default_there_is_no_forced_warmup():
    """After one sample of each arm the agent chooses: it stays with the arm that pays. Forced, each has M."""
    world = worlds.Stationary(mu=(1.0, 0.0, 0.0), horizon=300)
    given = {"alpha": 0.0, "xi": 1e-12, "warmup": 20}
    assert simulate(world, "cusum-ucb", runs=1, agent_kwargs=given).pulls.tolist() == [[298, 1, 1]]
    forced = simulate(world, "cusum-ucb", runs=1, agent_kwargs=given | {"forced_warmup": True})
    assert forced.pulls.tolist() == [[260, 20, 20]]


@pytest.mark.parametrize("name", ["cusum-ucb", "pht-ucb", "br-mab"])
def test_tuning(name):
    """Υ = 3: T/Υ = 16 666.7, h = ln of it = 9.72117, α = √(9.72117/16 666.7) = 0.0241510. Blind: Υ = 1."""
    informed = agents.make(name, K, T, knowledge=Knowledge(breakpoints=3))
    assert informed.threshold == pytest.approx(9.72117, abs=1e-5)
    assert informed.alpha == pytest.approx(0.0241510, abs=1e-7)
    blind = agents.make(name, K, T)
    assert blind.threshold == pytest.approx(math.log(50_000))
    assert blind.alpha == pytest.approx(math.sqrt(math.log(50_000) / 50_000))
    for changes in (0, 1, T - 1, T):  # nothing changes; one change; everything drifts
        same = agents.make(name, K, T, knowledge=Knowledge(breakpoints=changes))
        assert (same.threshold, same.alpha) == (blind.threshold, blind.alpha)
    assert informed.epsilon == blind.epsilon == 0.1
    assert informed.xi == 0.5
    assert agents.make("cusum-ucb", K, T).warmup == 200
    assert agents.make(name, 3, threshold=1.0, alpha=0.5, **({"history": 1} if name == "br-mab" else {})).alpha == 0.5
