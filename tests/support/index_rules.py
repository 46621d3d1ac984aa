"""Indices as the papers write them, from the full history, KL ones by bisection; and whether an arm has the largest."""

from __future__ import annotations

import math
from collections.abc import Callable

from ns_mab_gym import agents

History = list[tuple[int, float]]
Rule = Callable[[int, float, int], float]  # the index from N, S and t
CLOSE = 1e-9


def divergence(p: float, q: float) -> float:
    """d(p, q) of Bernoulli laws, 0 ln 0 = 0; q in (0, 1) or equal to p."""
    if q >= 1:
        return 0.0 if p >= 1 else math.inf
    inside = p * (math.log(p) - math.log(q)) if p > 0 else 0.0
    return inside + ((1 - p) * (math.log1p(-p) - math.log1p(-q)) if p < 1 else 0.0)


def kl_index(n: int, s: float, budget: float) -> float:
    """max{q : n d(s/n, q) ≤ budget}, by bisection."""
    mean = min(s / n, 1.0)
    low, high = mean, 1.0
    if n * divergence(mean, high) <= budget:
        return high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if n * divergence(mean, middle) <= budget else (low, middle)
    return low


def kl_budget(t: int, c: float) -> float:
    """The budget ln t + c ln ln t, the second term clamped at 0."""
    log_t = math.log(t)
    return log_t + c * max(0.0, math.log(log_t)) if log_t > 0 else 0.0


def ucb_rule(xi: float, window: int) -> Rule:
    return lambda n, s, t: s / n + math.sqrt(xi * math.log(min(t, window)) / n)


def kl_rule(c: float, window: float) -> Rule:
    return lambda n, s, t: kl_index(n, s, kl_budget(int(min(t, window)), c))


def window_state(history: History, window: float, n_arms: int) -> list[tuple[int, float]]:
    """(N_i, S_i) over the last τ rounds."""
    recent = history if window == math.inf else history[-int(window) :]
    mine = [[x for arm, x in recent if arm == i] for i in range(n_arms)]
    return [(len(m), math.fsum(m)) for m in mine]


def check_choice(arm: int, history: History, window: float, n_arms: int, rule: Rule) -> None:
    """The arm is the one unseen longest, or has the largest index to 1e-9; exact ties go to the lowest index."""
    states = window_state(history, window, n_arms)
    unseen = [i for i, (n, _) in enumerate(states) if n == 0]
    if unseen:
        last = {played: t for t, (played, _) in enumerate(history, 1)}
        assert arm == min(unseen, key=lambda i: (last.get(i, 0), i))
        return
    indices = [rule(n, s, len(history) + 1) for n, s in states]
    largest = max(indices)
    assert indices[arm] >= largest - CLOSE
    best = indices.index(largest)
    exact = all(2 * reward == int(2 * reward) for _, reward in history)  # then equal sums are equal to the last bit
    others = [i for i in range(n_arms) if states[i] != states[best] and largest - indices[i] < CLOSE]
    if exact and all(indices[i] == 1.0 == largest for i in others):  # else rounding may decide between two states
        assert arm == best


def after(agent: agents.Agent, states: list[tuple[int, float]]) -> agents.Agent:
    """An agent that has seen n rewards of s/n on each arm."""
    for arm, (n, s) in enumerate(states):
        for _ in range(n):
            agent.observe(arm, s / n)
    return agent
