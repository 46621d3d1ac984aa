"""Upper confidence indices: the largest value, the divergence inverted, and the agents that play by them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from index_rules import CLOSE, History, Rule, after, check_choice, divergence, kl_budget, kl_index, kl_rule, ucb_rule

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import act, forget, observe
from ns_mab_gym.agents.kl_ucb import new_kl_state
from ns_mab_gym.agents.parts.races import COUNTING, highest, log_odds_bound
from ns_mab_gym.agents.sw_ucb import new_ucb1_state

VALUES = st.sampled_from([-1.0, 0.0, 0.5, math.inf])  # few, so that most lists have ties


@given(st.lists(st.tuples(VALUES, st.booleans()), min_size=1, max_size=8).filter(lambda arms: any(o for _, o in arms)))
def test_it_is_the_first_open_arm_with_the_largest_value(arms):
    values, is_open = zip(*arms, strict=True)
    ranked = sorted((-value, i) for i, (value, each) in enumerate(arms) if each)
    assert highest(np.array(values), np.array(is_open)) == ranked[0][1]


# The agents invert few divergences and compare the others; what must be right is the precision with which two close
# indices are told apart.


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
        agent.pending[:] = 0  # it was only asked
    rival = 0 if rival_first else 1
    assert agent.act() == (rival if closeness > 0 else 1 - rival)


@given(
    n_arms=st.integers(2, 6), seed=st.integers(0, 2**31), scale=st.sampled_from([3, 30, 400]), closed=st.integers(0, 5)
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


# Indices are recomputed from the full history, KL indices by bisection.

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


@given(game=games(), window=st.integers(1, 60), xi=st.sampled_from([0.6, 0.01, 2.0]))
def test_sw_ucb_plays_the_largest_index(game, window, xi):
    n_arms, history = game
    play_along(agents.SWUCB(n_arms, window=window, xi=xi), history, window, ucb_rule(xi, window))


@given(game=games(), c=st.sampled_from([3.0, 0.0, 1.0]))
def test_kl_ucb_plays_the_largest_index(game, c):
    n_arms, history = game
    play_along(agents.KLUCB(n_arms, c=c), history, math.inf, kl_rule(c, math.inf))


@given(game=games(), window=st.integers(1, 60), c=st.sampled_from([3.0, 0.0, 1.0]))
def test_sw_kl_ucb_plays_the_largest_index(game, window, c):
    n_arms, history = game
    play_along(agents.SWKLUCB(n_arms, window=window, c=c), history, window, kl_rule(c, window))


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


# What the t of an index counts after single arms were forgotten: rounds, samples, or rounds since the arm's restart.
# Indices are recomputed from the full history with the moments at which arms were forgotten.

K = 3


class Histories:
    """Every round and every restart; what each arm remembers is looked up anew each time."""

    def __init__(self) -> None:
        self.rounds: list[tuple[int, float]] = []
        self.restarts = [0] * K

    def samples(self, arm: int) -> list[float]:
        return [x for t, (a, x) in enumerate(self.rounds) if a == arm and t >= self.restarts[arm]]

    def log_t(self, arm: int, counting: str) -> float:
        t = len(self.rounds) + 1
        counted = {
            "rounds": t,
            "samples": sum(len(self.samples(i)) for i in range(K)),
            "arm": t - self.restarts[arm],
        }
        return math.log(counted[counting])

    def wanted(self, index: str, counting: str) -> list[float]:
        found = []
        for arm in range(K):
            mine = self.samples(arm)
            mean, log_t = math.fsum(mine) / len(mine), self.log_t(arm, counting)
            bonus = math.sqrt(2.0 * log_t / len(mine))
            found.append(mean + bonus if index == "ucb" else kl_index(len(mine), math.fsum(mine), log_t))
        return found


STATES = {"ucb": lambda counting: new_ucb1_state(K, 2.0, counting), "kl": lambda c: new_kl_state(K, None, 0.0, c)}


@pytest.mark.parametrize("counting", COUNTING)
@pytest.mark.parametrize("index", STATES)
@pytest.mark.parametrize("seed", range(4))
def test_the_largest_index_is_played_after_arms_were_forgotten(index, counting, seed):
    rng, mask = np.random.default_rng(seed), np.ones(K, np.bool_)
    state, history, told_apart = STATES[index](counting), Histories(), 0
    for t in range(250):
        if t % 41 == 40:
            arm = int(rng.integers(K))
            forget(state, arm)
            history.restarts[arm] = t
        chosen = act(state, mask, rng)
        empty = [arm for arm in range(K) if not history.samples(arm)]
        if empty:
            assert chosen in empty
        else:
            indices = history.wanted(index, counting)
            assert indices[chosen] >= max(indices) - 1e-9
            others = [history.wanted(index, other) for other in COUNTING if other != counting]
            told_apart += any(int(np.argmax(other)) != int(np.argmax(indices)) for other in others)
        arm = chosen if rng.random() < 0.7 else int(rng.integers(K))
        reward = float(rng.random() < 0.3 + 0.2 * arm)
        observe(state, arm, reward)
        history.rounds.append((arm, reward))
    assert told_apart > 0  # else another way of counting would have passed
