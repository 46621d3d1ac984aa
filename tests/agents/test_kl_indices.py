"""KL indices: right to 1e-9 in every state, wherever the search for the root begins.

The agents invert few divergences and compare the others; what must be right is the precision with which two close
indices are told apart.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from index_rules import CLOSE, after, divergence, kl_budget, kl_index

from ns_mab_gym import agents
from ns_mab_gym.agents.parts.indices import log_odds_bound


def test_brute_force_against_closed_forms():
    assert kl_index(7, 0.0, 2.0) == pytest.approx(1 - math.exp(-2 / 7), abs=1e-14)  # p = 0: (1 − q)^n = e^−budget
    assert kl_index(5, 5.0, 2.0) == 1.0
    assert divergence(0.5, 0.9) == pytest.approx(0.5 * math.log(0.25 / 0.09))
    assert kl_budget(2, 3.0) == math.log(2)
    assert kl_budget(100, 3.0) == math.log(100) + 3 * math.log(math.log(100))
    assert kl_budget(1, 3.0) == 0.0


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
