"""The paper's definitions and terms, one round at a time, so that no test trusts the code it checks; random worlds."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Squares of the small and of the large numbers are beyond what a float can hold.
INSIDE = [0.0, 5e-324, 1e-200, 1e-160, 0.3, 0.5, 0.9, 1.0]
BEYOND = [*INSIDE, -1e200, -1e160, 1e160, 1e200]
shapes = st.tuples(st.integers(1, 12), st.integers(2, 3))
matrices = hnp.arrays(np.float64, shapes, elements=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
extreme = hnp.arrays(np.float64, shapes, elements=st.sampled_from(INSIDE))
beyond = hnp.arrays(np.float64, shapes, elements=st.sampled_from(BEYOND))
# Rows that repeat, so that phases are longer than the windows.
phased = st.tuples(matrices, st.integers(1, 6)).map(lambda drawn: np.repeat(drawn[0], drawn[1], axis=0))
worlds = st.tuples(st.just("beta-swts"), phased | extreme) | st.tuples(st.just("gamma-swgts"), phased | beyond)
windows = st.integers(1, 14) | st.just(10**6)


def changes(means):
    """Definition 3: the breakpoints, 1-based."""
    return [t for t in range(2, len(means) + 1) if (means[t - 1] != means[t - 2]).any()]


def pseudophase_gap(means, cuts, tau):
    """Δ_τ over the pseudophases F*_τ between these breakpoints; 0 if one of their rounds is unlearnable.

    Infinite if no round of F*_τ has a window with rounds in it.
    """
    edges = [1, *cuts, len(means) + 1]
    inside = [t for b, e in itertools.pairwise(edges) for t in range(b + (tau if b > 1 else 0), e)]
    return max(min((margin(means, t, tau) for t in inside), default=math.inf), 0.0)


def margin(means, t, tau):
    """min μ_{i*(t)} − max μ_i over rounds t − τ, …, t − 1 and arms i ≠ i*(t); infinite if there is no such round."""
    best, window = int(np.argmax(means[t - 1])), means[max(t - tau, 1) - 1 : t - 1].tolist()
    if not window:
        return math.inf
    return min(row[best] for row in window) - max(max(row[:best] + row[best + 1 :]) for row in window)


def term_b(agent, T, tau, gap, gamma=1.0):
    """Term (B) with numbers of 60 digits and exponents as large as they come; infinite if no float can hold it."""
    if gap == math.inf:
        return 0.0  # the smallest of no gaps: there is no learnable round to pull in
    with localcontext(prec=60, Emax=10**6, Emin=-(10**6)):
        square = Decimal(gap) ** 2
        if agent == "beta-swts":
            pulls = Decimal(tau).ln() / square
        else:
            pulls = (tau * square + Decimal(6).exp()).ln() / (Decimal(gamma) * square)
        return float(T * pulls / tau)
