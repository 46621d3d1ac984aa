"""SW-UCB, KL-UCB and SW-KL-UCB: the arm played is the argmax of the index as the papers write it.

Indices are recomputed from the full history, KL indices by bisection. The agents themselves invert few divergences and
compare the others; what must be right is the arm, and the precision with which two close indices are told apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ns_mab_gym import agents
from ns_mab_gym.agents.parts.indices import log_odds_bound

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


def test_brute_force_against_closed_forms():
    assert kl_index(7, 0.0, 2.0) == pytest.approx(1 - math.exp(-2 / 7), abs=1e-14)  # p = 0: (1 − q)^n = e^−budget
    assert kl_index(5, 5.0, 2.0) == 1.0
    assert divergence(0.5, 0.9) == pytest.approx(0.5 * math.log(0.25 / 0.09))
    assert kl_budget(2, 3.0) == math.log(2)
    assert kl_budget(100, 3.0) == math.log(100) + 3 * math.log(math.log(100))
    assert kl_budget(1, 3.0) == 0.0


REWARDS = {"binary": st.sampled_from([0.0, 1.0]), "mixed": st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])}


@st.composite
def games(draw):
    """A number of arms and a history of any arms with binary rewards or rewards in [0, 1]."""
    n_arms = draw(st.integers(2, 5))
    rewards = REWARDS[draw(st.sampled_from(["binary", "mixed"]))]
    return n_arms, draw(st.lists(st.tuples(st.integers(0, n_arms - 1), rewards), max_size=50))


def play_along(agent: agents.Agent, history: History, window: float, rule: Rule) -> None:
    """Before every round of the history, the agent must want an arm that brute force wants."""
    for t in range(len(history) + 1):
        check_choice(agent.act(), history[:t], window, agent.n_arms, rule)
        if t < len(history):
            agent.observe(*history[t])


@settings(deadline=None)
@given(game=games(), window=st.integers(1, 60), xi=st.sampled_from([0.6, 0.01, 2.0]))
def test_sw_ucb_plays_the_largest_index(game, window, xi):
    n_arms, history = game
    play_along(agents.SWUCB(n_arms, window=window, xi=xi), history, window, ucb_rule(xi, window))


@settings(deadline=None)
@given(game=games(), c=st.sampled_from([3.0, 0.0, 1.0]))
def test_kl_ucb_plays_the_largest_index(game, c):
    n_arms, history = game
    play_along(agents.KLUCB(n_arms, c=c), history, math.inf, kl_rule(c, math.inf))


@settings(deadline=None)
@given(game=games(), window=st.integers(1, 60), c=st.sampled_from([3.0, 0.0, 1.0]))
def test_sw_kl_ucb_plays_the_largest_index(game, window, c):
    n_arms, history = game
    play_along(agents.SWKLUCB(n_arms, window=window, c=c), history, window, kl_rule(c, window))


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: agents.KLUCB(2, c=3.0), kl_rule(3.0, math.inf)),
        (lambda: agents.KLUCB(2, c=0.5), kl_rule(0.5, math.inf)),
        (lambda: agents.SWKLUCB(2, window=9), kl_rule(3.0, 9)),
        (lambda: agents.SWUCB(2, window=9), ucb_rule(0.6, 9)),
    ],
    ids=["c = 3", "c = 0.5", "windowed", "sw-ucb"],
)
def test_every_state_of_two_arms_with_up_to_nine_pulls(make, rule):
    """All counts and successes: each of the first ten rounds has its budget, with ln ln t clamped and not."""
    for n in range(1, 9):
        for m in range(1, 10 - n):
            for successes, rival in product(range(n + 1), range(m + 1)):
                arms = [(0, float(i < successes)) for i in range(n)] + [(1, float(i < rival)) for i in range(m)]
                agent = make()
                for arm, reward in arms:
                    agent.observe(arm, reward)
                check_choice(agent.act(), arms, math.inf, 2, rule)


def after(agent: agents.Agent, states: list[tuple[int, float]]) -> agents.Agent:
    """An agent that has seen n rewards of s/n on each arm."""
    for arm, (n, s) in enumerate(states):
        for _ in range(n):
            agent.observe(arm, s / n)
    return agent


def mean_with_index(q: float, n: int, budget: float) -> float:
    """The p < q with n d(p, q) = budget, by bisection; 0 if q is too small for that."""
    low, high = 0.0, q
    if n * divergence(0.0, q) <= budget:
        return 0.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if n * divergence(middle, q) > budget else (low, middle)
    return high


@settings(deadline=None, max_examples=150)
@given(
    n=st.integers(1, 300),
    mean=st.floats(0, 0.999),
    rival_n=st.integers(1, 300),
    closeness=st.sampled_from([1e-9, -1e-9]),
    rival_first=st.booleans(),
    warm=st.booleans(),
)
def test_kl_indices_are_told_apart_to_1e_9(n, mean, rival_n, closeness, rival_first, warm):
    """An arm whose index is 1e-9 above another's is played, one that is 1e-9 below is not, in either order.

    So every index that decides anything is right to 1e-9, however it was found.
    """
    t = n + rival_n + 1
    budget = kl_budget(t, 3.0)
    q = kl_index(n, n * mean, budget)
    rival_mean = mean_with_index(q + closeness, rival_n, budget)
    assume(q + closeness < 1 and rival_mean > 0)
    states = [(n, n * mean), (rival_n, rival_n * rival_mean)]
    assert abs(kl_index(*states[1], budget) - (q + closeness)) < 1e-11
    agent = after(agents.KLUCB(2), states[::-1] if rival_first else states)
    if warm:  # where the search begins must not matter: from the arm that won before, or from any other
        agent.act()
    rival = 0 if rival_first else 1
    assert agent.act() == (rival if closeness > 0 else 1 - rival)


@settings(deadline=None, max_examples=60)
@given(
    n_arms=st.integers(2, 6),
    seed=st.integers(0, 2**31),
    scale=st.sampled_from([3, 30, 400]),
    closed=st.integers(0, 5),
)
def test_kl_ucb_in_states_far_from_the_start(n_arms, seed, scale, closed):
    """Random counts up to 400 per arm, some means at 0 and near 1; one arm may be closed."""
    rng = np.random.default_rng(seed)
    pulls = rng.integers(1, scale + 1, n_arms)
    sums = [float(rng.choice([0, rng.integers(0, n + 1), n - 1])) for n in pulls]
    states = [(int(n), s) for n, s in zip(pulls, sums, strict=True)]
    agent = after(agents.KLUCB(n_arms), states)
    budget = kl_budget(int(pulls.sum()) + 1, 3.0)
    mask = np.arange(n_arms) != closed
    indices = [kl_index(n, s, budget) if mask[i] else -1.0 for i, (n, s) in enumerate(states)]
    best = int(np.argmax(indices))
    rivals = [i for i in range(n_arms) if mask[i] and states[i] != states[best] and indices[best] - indices[i] < CLOSE]
    assume(all(indices[i] == 1.0 for i in rivals))
    assert agent.act(mask=mask) == best


def test_trap_kl_ucb_divides_by_the_pulls_of_the_arm():
    """Public code divides the budget by t. Then the arms' own counts do not matter, and the larger mean always wins.

    Arm 0: 60 of 100, arm 1: 1 of 2, t = 103: by N_i the indices are 0.790 and 1.000, by t 0.787 and 0.703.
    """
    agent = after(agents.KLUCB(2), [(100, 60.0), (2, 1.0)])
    budget = kl_budget(103, 3.0)
    assert kl_index(100, 60.0, budget) < kl_index(2, 1.0, budget)
    assert kl_index(103, 103 * 0.6, budget) > kl_index(103, 103 * 0.5, budget)
    assert agent.act() == 1


def test_trap_sw_ucb_takes_the_logarithm_of_the_minimum():
    """Public code has min(ln t, τ) for ln min(t, τ): after 1000 rounds with τ = 10, 6.9 instead of 2.3.

    In the window arm 0 has 8 successes in 9 pulls, arm 1 none in one. With ξ = 0.5 the indices are 1.25 and 1.07, with
    the trap 1.51 and 1.86.
    """
    agent = agents.SWUCB(2, window=10, xi=0.5)
    for _ in range(99):
        for t in range(10):
            agent.observe(int(t == 0), 0.0)
    agent.observe(1, 0.0)
    agent.observe(0, 0.0)
    for _ in range(8):
        agent.observe(0, 1.0)
    right = [8 / 9 + math.sqrt(0.5 * math.log(10) / 9), math.sqrt(0.5 * math.log(10))]
    trap = [8 / 9 + math.sqrt(0.5 * math.log(1001) / 9), math.sqrt(0.5 * math.log(1001))]
    assert right[0] > right[1]
    assert trap[0] < trap[1]
    assert agent.act() == 0


def test_trap_the_same_for_sw_kl_ucb():
    """After 2000 rounds, τ = 20, c = 0: 7 of 15 and 1 of 5 have 0.76 and 0.73 by ln 20, 0.88 and 0.92 by ln 2001."""
    agent = agents.SWKLUCB(2, window=20, c=0.0)
    for _ in range(1_980):
        agent.observe(0, 0.0)
    for arm, (n, successes) in enumerate([(15, 7), (5, 1)]):
        for i in range(n):
            agent.observe(arm, float(i < successes))
    right = [kl_index(15, 7, math.log(20)), kl_index(5, 1, math.log(20))]
    trap = [kl_index(15, 7, math.log(2001)), kl_index(5, 1, math.log(2001))]
    assert right[0] > right[1]
    assert trap[0] < trap[1]
    assert agent.act() == 0


def test_unseen_arms_are_played_at_once(forced, example):
    """All K of them, not K − 1, the first first; and again when the window has lost some, those lost first first."""
    agent = example(forced, 4)
    for expected in range(4):
        assert agent.act() == expected
        agent.observe(expected, 0.0)
    agent = example(forced, 4)
    for arm in (2, 0):
        agent.observe(arm, 1.0)
    assert agent.act() == 1
    if agent.handles_mask:
        assert agent.act(mask=np.array([True, False, True, True])) == 3
    if "window" in type(agent).tunable():
        agent = example(forced, 4, window=6)
        for arm in (3, 1, 0, 2, 0, 0):
            agent.observe(arm, 1.0)
        assert agent.state.window.pulls.all()
        agent.observe(0, 1.0)
        assert agent.act() == 3
        agent.observe(0, 1.0)
        assert agent.act() == 3
        agent.observe(3, 1.0)
        assert agent.act() == 1


@pytest.mark.parametrize("name", ["sw-ucb", "kl-ucb", "sw-kl-ucb"])
@pytest.mark.parametrize("rewards", [[1.0], [0.0], [1.0, 0.0, 0.0]])
def test_ties_go_to_the_lowest_index(name, rewards, example):
    """Whatever was played last: the tied arms were pulled in falling order, and the agent acted in between."""
    agent = example(name, 4, horizon=10_000)
    agent.observe(0, 0.0)
    for reward in rewards:
        for arm in (3, 2, 1):
            agent.observe(arm, reward)
            agent.act()
    for _ in range(len(rewards) + 3):
        agent.observe(0, 0.0)
    assert agent.act() == 1


@pytest.mark.parametrize(
    ("agent", "window", "rule"),
    [
        (agents.SWUCB(4, window=150), 150, ucb_rule(0.6, 150)),
        (agents.KLUCB(4), math.inf, kl_rule(3.0, math.inf)),
        (agents.SWKLUCB(4, window=150), 150, kl_rule(3.0, 150)),
        (agents.SWKLUCB(4, window=9), 9, kl_rule(3.0, 9)),
    ],
    ids=["sw-ucb", "kl-ucb", "sw-kl-ucb", "sw-kl-ucb, short"],
)
@pytest.mark.parametrize("digits", [0, 1], ids=["binary", "tenths"])
def test_a_whole_game_of_its_own(agent, window, rule, digits):
    """1 000 rounds as they come, in phases in which arms always or never win.

    With tenths, sums carry the residue of what left the window: an arm that only ever wins now has 0.9999… or 1.
    """
    rng = np.random.default_rng(11)
    agent.reset(seed=0)
    history: History = []
    for t in range(1_000):
        arm = agent.act()
        check_choice(arm, history, window, 4, rule)
        mean = [[0.2, 0.4, 0.5, 0.6], [1.0, 0.5, 1.0, 0.0], [0.0, 0.0, 0.3, 0.0]][t // 250 % 3][arm]
        history.append((arm, float(np.clip(round(mean + rng.uniform(-1, 1) * mean * (1 - mean), digits), 0, 1))))
        agent.observe(*history[-1])


GUESSES = [0.0, 3.0, -3.0, 699.0, 701.0, 2.310300994097594e16, 1e17, 1e300, -1e300, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("guess", GUESSES)
def test_the_root_does_not_depend_on_the_guess(guess):
    """Where a guess from far beyond came down to q = p, the next step divided by zero."""
    rng = np.random.default_rng(1)
    for budget in (0.8796857765384195, *10.0 ** rng.uniform(-6, 3, 200)):
        for p in (0.5, 1e-9, 0.25, 1.0 - 1e-9, float(rng.random())):
            negentropy = p * math.log(p) + (1 - p) * math.log(1 - p)
            z = log_odds_bound(p, negentropy, budget, guess)
            spent = negentropy + max(z, 0.0) + math.log1p(math.exp(-abs(z))) - p * z
            assert spent == pytest.approx(budget, rel=1e-6, abs=1e-9)
