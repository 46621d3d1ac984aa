"""False alarms and delays of every detector, alone on the samples of one arm, beside what its theory promises.

python scripts/detectors.py

200 runs each, tuned for T = 20 000, K = 10 and one change. False alarms: 20 000 samples of mean 0.5; a detector forgets
at an alarm and goes on. Delay: 2 000 samples of mean 0.9, then 0.1; samples until the first alarm after the change, in
runs without an alarm before it.

What the theories promise, with β, h, b, M, w, ε, δ as in the detectors' own docstrings:

* glr: a false alarm in at most a share δ of the runs, proved for a somewhat larger β. Delay: the log-likelihood ratio
  grows by d(0.1, 0.9) a sample and must reach β(2 000, δ); after that up to 10 samples until the next test.
* cusum: at most 2 T e^(−C h) false alarms in T samples, C the root of E e^(C(x − μ − ε)) = 1, if û₀ were exact: it is
  the mean of 200 samples, off by 0.035 on average, which eats into ε. Delay: h/(Δ − ε).
* page-hinkley: the same numbers; no theory of its own. Its mean moves along with the samples.
* halves: a false alarm in at most a share 2 T e^(−2b²/w) of the runs. Delay: b/Δ samples.
* adwin: a false alarm in at most a share 2 δ × number of comparisons of the runs, (T/10) × 5 log₂ T at most. Delay: the
  first n₁ with √(ln(1/δ)/(2n₀)) + √(ln(1/δ)/(2n₁)) ≤ Δ; after that up to 10 samples until the next test, and a few
  more where no cut of the histogram is at the change.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.optimize import brentq
from scipy.special import rel_entr

from ns_mab_gym.agents.core.kernel import forget, watch
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.agents.detecting import DETECTORS
from ns_mab_gym.means import Floats

HORIZON, ARMS, RUNS = 20_000, 10, 200
BEFORE, OLD, NEW = 2_000, 0.9, 0.1
KNOWN = Knowledge(horizon=HORIZON, n_arms=ARMS, breakpoints=1)


class Measured(NamedTuple):
    """False alarms and delays of a detector in all runs."""

    alarms: float  # per run, on samples that stand still
    share: float  # of the runs with any
    delay: float
    error: float  # the standard error of the delay


@njit
def alarms_of(state: Any, rewards: Floats) -> npt.NDArray[np.int64]:
    """The numbers of samples of one arm after which an alarm is sounded; the arm is forgotten after each."""
    found = np.zeros(rewards.size, np.int64)
    n = 0
    for t in range(rewards.size):
        if watch(state, 0, rewards[t]):
            forget(state, 0)
            found[n] = t + 1
            n += 1
    return found[:n]


def measured(detector: Any, runs: int = RUNS, seed: int = 0) -> Measured:
    """False alarms and delays of a detector, an object with ``new_state(n_arms)``."""
    rng = np.random.default_rng(seed)
    still = [len(alarms_of(detector.new_state(1), (rng.random(HORIZON) < 0.5) * 1.0)) for _ in range(runs)]
    means = np.repeat([OLD, NEW], [BEFORE, 2_000])
    delays = []
    for _ in range(runs):
        alarms = alarms_of(detector.new_state(1), (rng.random(means.size) < means) * 1.0)
        if alarms.size and alarms[0] > BEFORE:
            delays.append(alarms[0] - BEFORE)
    error = np.std(delays, ddof=1) / math.sqrt(len(delays)) if len(delays) > 1 else math.nan
    return Measured(np.mean(still), np.mean(np.array(still) > 0), np.mean(delays) if delays else math.nan, error)


def promised(name: str, detector: Any) -> tuple[str, str]:
    """Theory's words about false alarms, and about the delay."""
    gap = OLD - NEW
    if name == "glr":
        beta = math.log(detector.factor * BEFORE**1.5 / detector.delta)
        divergence = rel_entr(NEW, OLD) + rel_entr(1 - NEW, 1 - OLD)  # d(0.1, 0.9)
        return f"share ≤ {detector.delta:.4f}", f"{beta / divergence:.1f} + up to {detector.every}"
    if name in ("cusum", "page-hinkley"):
        expected = 2 * HORIZON * math.exp(-cramer_root(detector.epsilon) * detector.threshold)
        return f"≤ {expected:.3g} a run", f"{detector.threshold / (gap - detector.epsilon):.1f}"
    if name == "halves":
        share = 2 * HORIZON * math.exp(-2 * detector.threshold**2 / detector.samples)
        return f"share ≤ {share:.1e}", f"{detector.threshold / gap:.1f}"
    share = 2 * detector.delta * HORIZON / detector.every * 5 * math.log2(HORIZON)
    log = math.log(1 / detector.delta) / 2
    least = log / (gap - math.sqrt(log / BEFORE)) ** 2
    return f"share ≤ {share:.1e}", f"{least:.1f} + up to {detector.every}"


def cramer_root(epsilon: float) -> float:
    """The C > 0 with E e^(C(x − ½ − ε)) = 1 for x ~ Bernoulli(½), which is cosh(C/2) = e^(Cε)."""
    return float(brentq(lambda c: math.log(math.cosh(c / 2)) - c * epsilon, 1e-9, 100.0))


def main() -> None:
    """Print the table."""
    print(f"{'detector':<13} {'false alarms a run':>18} {'share of runs':>13} {'theory':<17} {'delay':>14}  theory")
    for name, kind in DETECTORS.items():
        detector = kind(**kind.tune(KNOWN, {}))
        found, (alarms, delay) = measured(detector), promised(name, detector)
        print(
            f"{name:<13} {found.alarms:>18.3f} {found.share:>13.3f} {alarms:<17} "
            f"{found.delay:>8.1f} ± {found.error:<4.1f} {delay}"
        )


if __name__ == "__main__":
    main()
