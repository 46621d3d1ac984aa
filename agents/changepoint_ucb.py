"""Change-point UCB: a belief about the last change and about how often changes come, and an index of what is left open.

One round of :func:`observe` is one step of Bayesian online change-point detection: age what is known of the arm, weigh
every hypothesis by the reward, bear the hypotheses of a change right now, and mix them into one mean and one second
moment of each arm for each rate of drift. Beside this belief, in which all arms change together, stands a second one,
in which each changes by itself (:mod:`.parts.single_changes`), with the probability that rewards give to it. The mean
and the variance of an arm by both, and the rounds that what is learnt of it will last, are all that :func:`act` reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import fraction, positive, positive_int
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, inlined, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .parts.alarms import AlarmLog, forget_alarms, new_alarms, sound
from .parts.single_changes import (
    MEAN,
    PULLS,
    SQUARE,
    SUMS,
    SingleChanges,
    expected,
    lasting,
    likelihood,
    look,
    new_single_changes,
    pass_round,
    square_of,
    start,
    weigh,
)

HAZARDS = tuple(10.0 ** (-4 + 3 * k / 7) for k in range(8))  # h_k, from 1e-4 to 0.1
DRIFTS = (0.0, 1.5e-5, 1.5e-4, 1.5e-3)  # r_d: a mean keeps e^(−r) of its distance from the mean after a change
DRIFTING = 0.1  # the prior probability of each r_d > 0
REDRAWN = 0.1  # the probability that r is drawn anew when all arms change
UNIFORM = 0.5  # the mean of the prior Beta(1, 1)
SWITCHED = 1e-3  # the share of its prior probability to which each of the two beliefs returns in a round
RECENT = 0.99  # what remains in a pull of the weight of earlier pairs of rewards of the arm
ENDLESS = 1e9  # rounds that what is learnt may last where neither a change nor the end of the game is in sight
SHORT = 10.0  # rewards' worth of rounds below which there is hardly anything to explore for
FINEST, SMALLEST = 1e-9, 1e-140  # the least standard deviation of real rewards: as a share of the largest, and at all

ROUNDS, HELD, MARK, REAL = range(4)  # places of the clock
# Places of the scale: what real rewards are measured from, their variance, Σ (x − x')²/2 of successive rewards of an
# arm and the number of these pairs, the largest reward in size; the mean and the variance of an arm after a change; the
# probability that each arm changes by itself; the sum of all weights, less than 1 where hypotheses were dropped; the
# rounds that what is learnt will last, if all arms change together.
OFFSET, VARIANCE, PAIRED, PAIRS, LARGEST, CENTRE, SPREAD, SINGLE, LEFT, LASTING = range(10)


class ChangepointState(NamedTuple):
    """Hypotheses on the last change of all arms, on hazard and drift, with weights, and what they come to together.

    What a hypothesis knows of an arm is what was seen in all, minus what had been seen when it began, minus (so, plus)
    the observations that its prior is worth: a round changes one arm's counts, not those of every hypothesis.
    """

    seen: FloatArray  # (2, K) PULLS and SUMS of each arm in all
    before: FloatArray  # (M, 2, K) the same when each hypothesis began, less the observations of its prior
    prior: FloatArray  # (M, 2) the number and the sum of these observations
    means: FloatArray  # (M, K) E[θ_i] by each hypothesis
    squares: FloatArray  # (M, K) E[θ_i²]
    weights: FloatArray  # (M, H) w_sk, adding up to LEFT
    totals: FloatArray  # (M,) Σ_k w_sk
    chances: FloatArray  # (M,) l_s of the round just observed
    starts: IntArray  # (M,) the round after which each hypothesis began, 0 for "no change yet"
    kinds: IntArray  # (M,) the place in ``drifts`` of each hypothesis' r_d
    estimates: FloatArray  # (2, K) MEAN and SQUARE: E[θ_i] and E[θ_i²] by all hypotheses together, when last seen
    parts: FloatArray  # (D, 2, K) the share of each r_d in these
    shares: FloatArray  # (D,) the probability of each r_d
    kept: FloatArray  # (D, K) e^(−r_d n_i), n_i being the rounds since arm i was seen
    hazards: FloatArray  # (H,) h_k
    drifts: FloatArray  # (D,) r_d
    fading: FloatArray  # (D,) e^(−r_d)
    odds: FloatArray  # (D,) the prior probability of each r_d
    evidence: FloatArray  # (D, H) Σ_s l_s w_sk of the round just observed, for each r_d
    posterior: FloatArray  # (D, H) Σ_s w_sk for each r_d
    last: IntArray  # (K,) the round in which each arm was last observed
    previous: FloatArray  # (K,) its reward then
    clock: IntArray  # ROUNDS, HELD (the number of hypotheses), MARK (the round of the last alarm), REAL (0 or 1)
    scale: FloatArray  # see the places above
    pairs: FloatArray  # (2, K) Σ (x − x')²/2 of successive rewards of each arm, and their number; recent ones above all
    single: SingleChanges
    alarms: AlarmLog
    given: float  # the mean of an arm after a change, or 0 if it is learnt
    width: float  # c
    growth: float  # g
    odds_single: float  # the prior probability that each arm changes by itself
    horizon: int  # T, or 0 if it is unknown


def act(state: ChangepointState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play the largest index; of real rewards, an unseen arm comes first."""
    clock, n_arms = state.clock, mask.size
    squared = state.width * state.width
    arm, highest = -1, -math.inf
    for i in range(n_arms):
        if mask[i]:
            if clock[REAL] == 1 and state.seen[PULLS, i] == 0.0:
                return i
            mean, variance = _now(state, i)
            noise = _noise(state, i, mean)
            known = variance / noise  # one over the number of rewards that would tell as much
            rounds = state.scale[LASTING]
            rounds += state.scale[SINGLE] * (lasting(state.single, i) - rounds)
            worth = known * rounds  # how many times what is known now could be learnt again while it lasts
            unseen = math.log(1.0 + float(clock[ROUNDS] - state.last[i]) * known / n_arms)
            factor = squared + state.growth * (unseen + 0.5 * math.log(1.0 + worth / SHORT))
            width = math.sqrt(known * factor * worth / (1.0 + worth))
            real = clock[REAL] == 1
            index = mean + width * math.sqrt(noise) if real else math.asin(math.sqrt(min(mean, 1.0))) + 0.5 * width
            if index > highest:
                arm, highest = i, index
    return arm


@inlined
def _now(state: ChangepointState, i: int) -> tuple[float, float]:
    """Mean and variance of an arm in the coming round, by both beliefs, after it has drifted unseen."""
    centre, mean, square = state.scale[CENTRE], 0.0, 0.0
    for d in range(state.drifts.size):
        kept, share, first = state.kept[d, i], state.shares[d], state.parts[d, MEAN, i]
        lost = (1.0 - kept) * centre
        mean += kept * first + lost * share
        drifted = (1.0 - kept * kept) * state.scale[SPREAD] + lost * lost
        square += kept * kept * state.parts[d, SQUARE, i] + 2.0 * kept * lost * first + drifted * share
    single = state.scale[SINGLE]
    if single > 0.0:
        first, second = expected(state.single, i, centre, state.scale[SPREAD])
        mean += single * (first - mean)
        square += single * (second - square)
    return mean, max(square - mean * mean, 1e-14 * (square + 1e-280))


@inlined
def _noise(state: ChangepointState, i: int, mean: float) -> float:
    """λ_i², the variance of a reward: θ(1 − θ) if rewards are 0 or 1."""
    return _variance(state, i) if state.clock[REAL] == 1 else max(mean * (1.0 - mean), 1e-280)


@inlined
def _variance(state: ChangepointState, i: int) -> float:
    """The variance of real rewards of an arm: that of all arms, or its own of late if that is more; 0 of 0 and 1."""
    shared = state.scale[VARIANCE]
    own = (2.0 * shared + state.pairs[0, i]) / (2.0 + state.pairs[1, i])
    return max(shared, own) if state.clock[REAL] == 1 else 0.0


def observe(state: ChangepointState, arm: int, reward: float) -> None:
    """Age the arm, weigh the hypotheses by the reward, bear new ones, and mix them."""
    clock, scale, seen = state.clock, state.scale, state.seen
    unseen = seen[PULLS, arm] == 0.0
    # Real rewards have no prior until all arms were seen.
    opening = clock[REAL] == 1 and clock[HELD] == state.drifts.size and unseen
    if clock[REAL] == 0 and reward != 0.0 and reward != 1.0:
        _turn_real(state, reward)
        opening = True
    x = reward - scale[OFFSET]
    scale[LARGEST] = max(scale[LARGEST], abs(reward))
    if not unseen:
        pair = 0.5 * (x - state.previous[arm]) * (x - state.previous[arm])
        scale[PAIRED] += pair
        scale[PAIRS] += 1.0
        state.pairs[0, arm] = RECENT * (state.pairs[0, arm] + pair)
        state.pairs[1, arm] = RECENT * (state.pairs[1, arm] + 1.0)
    if not opening:
        _age(state, arm)
        together = _weigh(state, arm, x)
        if state.odds_single > 0.0:
            _compare(state, arm, x, together)
    seen[PULLS, arm] += 1.0
    seen[SUMS, arm] += x
    for d in range(state.drifts.size):
        state.kept[d, arm] = 1.0
        for i in range(state.last.size):
            state.kept[d, i] *= state.fading[d]
    pass_round(state.single, arm)
    clock[ROUNDS] += 1
    state.last[arm] = clock[ROUNDS]
    state.previous[arm] = x
    if opening:
        _begin_real(state)
    else:
        for j in range(clock[HELD]):
            _look(state, j, arm)
        if clock[REAL] == 1 and clock[ROUNDS] & (clock[ROUNDS] - 1) == 0:  # whenever the number of rounds has doubled
            _measure(state)
            for i in range(state.last.size):
                look(state.single, i, _variance(state, i))
                for j in range(clock[HELD]):
                    _look(state, j, i)
        _bear(state)
    _mix(state)
    _look_ahead(state)
    later = 0.0
    for j in range(clock[HELD]):
        if state.starts[j] > clock[MARK]:
            later += state.totals[j]
    if later > 0.5:
        clock[MARK] = clock[ROUNDS]
        sound(state.alarms, clock[ROUNDS], ALL, True)


@inlined
def _age(state: ChangepointState, arm: int) -> None:
    """Let the mean of the arm drift by every hypothesis with r > 0, back to that of an arm after a change.

    A process of Ornstein and Uhlenbeck: after n rounds a mean has kept e^(−rn) of its distance from that of an arm
    after a change, and the variance of such an arm has taken the place of the rest. Rewards of 0 or 1 have the Beta
    posterior with these moments; there always is one, as that variance is at most θ(1 − θ)/3.
    """
    centre, spread = state.scale[CENTRE], state.scale[SPREAD]
    prior = 0.0 if state.clock[REAL] == 1 else 1.0  # the variance of Beta(a, b) is m(1 − m)/(a + b + 1)
    for j in range(state.clock[HELD]):
        kept, mean = state.kept[state.kinds[j], arm], state.means[j, arm]
        if kept < 1.0:
            variance = max(state.squares[j, arm] - mean * mean, 1e-14 * (state.squares[j, arm] + 1e-280))
            mean = centre + kept * (mean - centre)
            noise = _noise(state, arm, mean)
            variance = max(spread + kept * kept * (variance - spread), 1e-15 * noise)  # which may have grown by far
            pulls = noise / variance - prior
            state.before[j, PULLS, arm] = state.seen[PULLS, arm] - pulls
            state.before[j, SUMS, arm] = state.seen[SUMS, arm] - pulls * mean
            state.means[j, arm] = mean
            state.squares[j, arm] = variance + mean * mean


@inlined
def _weigh(state: ChangepointState, arm: int, x: float) -> float:
    """w_sk ← (1 − h_k) l_s w_sk, where l_s is the probability (density) of the reward x of the arm by hypothesis s.

    Returns the probability of the reward by all hypotheses together, by which all weights are divided.
    """
    hazards, weights, chances, variance = state.hazards, state.weights, state.chances, _variance(state, arm)
    whole = 0.0
    for j in range(state.clock[HELD]):
        chances[j] = likelihood(x, state.means[j, arm], state.squares[j, arm], variance)
        whole += chances[j] * state.totals[j]
    factor = 1.0 / (whole * state.scale[LEFT])
    state.evidence[:] = 0.0
    for j in range(state.clock[HELD]):
        kind, chance, total = state.kinds[j], chances[j] * factor, 0.0
        for k in range(hazards.size):
            weight = chance * weights[j, k]
            state.evidence[kind, k] += weight
            weights[j, k] = (1.0 - hazards[k]) * weight
            total += weights[j, k]
        state.totals[j] = total
    return whole


@inlined
def _compare(state: ChangepointState, arm: int, x: float, together: float) -> None:
    """Let the second belief take in the reward, and weigh both by the probability that they gave to it."""
    scale = state.scale
    pulls, centre = _prior(state), scale[CENTRE]
    alone = scale[SINGLE] * weigh(state.single, arm, x, pulls, pulls * centre, _variance(state, arm))
    probability = alone / (alone + (1.0 - scale[SINGLE]) * together)
    scale[SINGLE] = probability + SWITCHED * (state.odds_single - probability)


@inlined
def _prior(state: ChangepointState) -> float:
    """The number of observations that the law of an arm after a change is worth."""
    centre = state.scale[CENTRE]
    real = state.clock[REAL] == 1
    return float(state.scale[VARIANCE] / state.scale[SPREAD] if real else 1.0 / min(centre, 1.0 - centre))


@inlined
def _look(state: ChangepointState, j: int, arm: int) -> None:
    """E[θ] and E[θ²] of an arm by a hypothesis: of a Beta posterior, or of a Gaussian one if rewards are real."""
    pulls = state.seen[PULLS, arm] - state.before[j, PULLS, arm]
    total = state.seen[SUMS, arm] - state.before[j, SUMS, arm]
    state.means[j, arm] = total / pulls
    state.squares[j, arm] = square_of(pulls, total, _variance(state, arm))


@inlined
def _bear(state: ChangepointState) -> None:
    """Add the hypotheses of a change right now, for each h_k and r_d with h_k times the probability of the reward.

    A change draws r anew with probability 0.1. Where rates are low, half of it takes it that they stay low: an arm then
    has Beta(1, 1/q − 1), with the mean q = p(½ + p), p being the best mean now, instead of Beta(1, 1).
    """
    evidence, scale = state.evidence, state.scale
    for k in range(state.hazards.size):
        whole = 0.0
        for d in range(state.drifts.size):
            whole += evidence[d, k]
        for d in range(state.drifts.size):
            evidence[d, k] += REDRAWN * (state.odds[d] * whole - evidence[d, k])
    if state.clock[REAL] == 0 and state.given == 0.0:
        best = 0.0
        for i in range(state.last.size):
            best = max(best, state.estimates[MEAN, i])
        scale[CENTRE] = min(UNIFORM, best * (0.5 + best))
        scale[SPREAD] = _spread(scale[CENTRE])
    centre = scale[CENTRE]
    for d in range(state.drifts.size):
        if state.clock[REAL] == 1 or state.given > 0.0 or centre == UNIFORM:
            _born(state, d, _prior(state), centre, 1.0)
        else:
            _born(state, d, 1.0 / centre, centre, 0.5)
            _born(state, d, 1.0 / UNIFORM, UNIFORM, 0.5)


@inlined
def _spread(mean: float) -> float:
    """The variance of Beta(1, 1/p − 1), or of its mirror image where p > ½."""
    return mean * (1.0 - mean) / (1.0 / min(mean, 1.0 - mean) + 1.0)


@inlined
def _born(state: ChangepointState, kind: int, pulls: float, mean: float, share: float) -> None:
    """Add one hypothesis whose prior is worth so many observations with this mean, unless all M are heavier."""
    clock, totals, place, total = state.clock, state.totals, state.clock[HELD], 0.0
    for k in range(state.hazards.size):
        total += state.hazards[k] * state.evidence[kind, k]
    total *= share
    if place == totals.size:
        place = 0
        for j in range(1, totals.size):
            if totals[j] < totals[place]:
                place = j
        if total <= totals[place]:
            return
    elif total == 0.0:
        return
    else:
        clock[HELD] += 1
    for k in range(state.hazards.size):
        state.weights[place, k] = share * (state.hazards[k] * state.evidence[kind, k])
    totals[place] = total
    state.starts[place] = clock[ROUNDS]
    state.kinds[place] = kind
    _open(state, place, pulls, mean)


@inlined
def _open(state: ChangepointState, place: int, pulls: float, mean: float) -> None:
    """Let a hypothesis know of every arm what so many observations with this mean tell, and no more."""
    state.prior[place, PULLS], state.prior[place, SUMS] = pulls, pulls * mean
    for i in range(state.last.size):
        state.before[place, PULLS, i] = state.seen[PULLS, i] - pulls
        state.before[place, SUMS, i] = state.seen[SUMS, i] - pulls * mean
        _look(state, place, i)


@inlined
def _first(state: ChangepointState) -> None:
    """Keep one hypothesis of no change yet for each r_d, with the prior weights; both beliefs have theirs too."""
    state.scale[SINGLE] = state.odds_single
    state.clock[HELD] = state.drifts.size
    for d in range(state.drifts.size):
        state.starts[d] = 0
        state.kinds[d] = d
        state.totals[d] = state.odds[d]
        for k in range(state.hazards.size):
            state.weights[d, k] = state.odds[d] / state.hazards.size


@inlined
def _mix(state: ChangepointState) -> None:
    """Make the totals add up to 1, and write what all hypotheses together say of the arms."""
    totals, estimates, held = state.totals, state.estimates, state.clock[HELD]
    whole = 0.0
    for j in range(held):
        whole += totals[j]
    state.scale[LEFT] = whole
    factor = 1.0 / whole
    parts, shares = state.parts, state.shares
    estimates[:] = 0.0
    parts[:] = 0.0
    shares[:] = 0.0
    for j in range(held):
        kind = state.kinds[j]
        totals[j] *= factor
        shares[kind] += totals[j]
        for i in range(estimates.shape[1]):
            parts[kind, MEAN, i] += totals[j] * state.means[j, i]
            parts[kind, SQUARE, i] += totals[j] * state.squares[j, i]
    for d in range(shares.size):
        for i in range(estimates.shape[1]):
            estimates[MEAN, i] += parts[d, MEAN, i]
            estimates[SQUARE, i] += parts[d, SQUARE, i]


@inlined
def _look_ahead(state: ChangepointState) -> None:
    """Write how many rounds what is learnt now will last: until a change or a drift undoes it, or the game ends."""
    left = float(state.horizon - state.clock[ROUNDS])
    end = 1.0 / (left if left > 0.0 else ENDLESS)
    posterior, rounds = state.posterior, 0.0
    posterior[:] = 0.0
    for j in range(state.clock[HELD]):
        for k in range(state.hazards.size):
            posterior[state.kinds[j], k] += state.weights[j, k]
    for d in range(state.drifts.size):
        for k in range(state.hazards.size):
            rounds += posterior[d, k] / (state.hazards[k] + state.drifts[d] + end)
    state.scale[LASTING] = rounds / state.scale[LEFT]
    for q in range(state.single.rates.size):
        state.single.lasting[q] = 1.0 / (state.single.rates[q] + end)


@inlined
def _turn_real(state: ChangepointState, reward: float) -> None:
    """Rewards turn out to be real numbers: measure them from this one, and begin with no change yet."""
    state.clock[REAL] = 1
    state.scale[OFFSET] = reward
    for i in range(state.last.size):
        state.seen[SUMS, i] -= state.seen[PULLS, i] * reward
        state.previous[i] -= reward
    state.clock[MARK] = state.clock[ROUNDS]
    _first(state)


@inlined
def _begin_real(state: ChangepointState) -> None:
    """Give every hypothesis the prior that the mean rewards of the arms suggest, and all that was seen."""
    for i in range(state.last.size):
        if state.seen[PULLS, i] > 0.0:
            state.estimates[MEAN, i] = state.seen[SUMS, i] / state.seen[PULLS, i]
    _measure(state)
    pulls, centre = state.scale[VARIANCE] / state.scale[SPREAD], state.scale[CENTRE]
    for j in range(state.clock[HELD]):
        state.prior[j, PULLS], state.prior[j, SUMS] = pulls, pulls * centre
        for i in range(state.last.size):
            state.before[j, PULLS, i], state.before[j, SUMS, i] = -pulls, -pulls * centre
            _look(state, j, i)
    for i in range(state.last.size):
        all_pulls, total = pulls + state.seen[PULLS, i], pulls * centre + state.seen[SUMS, i]
        start(state.single, i, all_pulls, total, _variance(state, i))


@inlined
def _measure(state: ChangepointState) -> None:
    """Estimate the scale of real rewards, and the prior of an arm after a change from how the arms differ now.

    The variance is half the mean square of the difference of successive rewards of an arm, which changes hardly touch;
    with the variance between arms as one more such term, so that there is one from the beginning. An arm after a change
    has the mean of all arms, and the variance between them plus that of a reward.
    """
    scale, arms, centre, between = state.scale, 0.0, 0.0, 0.0
    for i in range(state.last.size):
        if state.seen[PULLS, i] > 0.0:
            arms += 1.0
            centre += state.estimates[MEAN, i]
    centre /= arms
    for i in range(state.last.size):
        if state.seen[PULLS, i] > 0.0:
            between += (state.estimates[MEAN, i] - centre) * (state.estimates[MEAN, i] - centre)
    between /= max(arms - 1.0, 1.0)
    finest = max(FINEST * scale[LARGEST], SMALLEST)  # above 0 even if all rewards are the same
    scale[VARIANCE] = max((between + scale[PAIRED]) / (1.0 + scale[PAIRS]), finest * finest)
    scale[CENTRE] = centre
    scale[SPREAD] = between + scale[VARIANCE]


def forget(state: ChangepointState, arm: int) -> None:
    """Let every hypothesis know of one arm no more than its prior; with ``ALL``, begin afresh."""
    if arm == ALL:
        state.seen[:] = 0.0
        state.before[:] = 0.0
        state.prior[:] = 0.0
        state.means[:] = 0.0
        state.squares[:] = 0.0
        state.weights[:] = 0.0
        state.totals[:] = 0.0
        state.chances[:] = 0.0
        state.kinds[:] = 0
        state.kept[:] = 1.0
        state.evidence[:] = 0.0
        state.single.evidence[:] = 0.0
        state.starts[:] = 0
        state.last[:] = 0
        state.previous[:] = 0.0
        state.clock[:] = 0
        state.scale[:] = 0.0
        state.pairs[:] = 0.0
        forget_alarms(state.alarms)
        mean = state.given if state.given > 0.0 else UNIFORM
        state.scale[CENTRE], state.scale[SPREAD] = mean, _spread(mean)
        _first(state)
        pulls = _prior(state)
        for d in range(state.drifts.size):
            _open(state, d, pulls, mean)
        for i in range(state.last.size):
            start(state.single, i, pulls, pulls * mean, 0.0)
    else:
        for j in range(state.clock[HELD]):
            state.before[j, PULLS, arm] = state.seen[PULLS, arm] - state.prior[j, PULLS]
            state.before[j, SUMS, arm] = state.seen[SUMS, arm] - state.prior[j, SUMS]
            _look(state, j, arm)
        state.last[arm] = state.clock[ROUNDS]
        for d in range(state.drifts.size):
            state.kept[d, arm] = 1.0
        pulls = _prior(state)
        start(state.single, arm, pulls, pulls * state.scale[CENTRE], _variance(state, arm))
    _mix(state)
    _look_ahead(state)


def expect(state: ChangepointState, arm: int, pulls: int) -> None:
    """Narrow both beliefs about an arm, as if it had shown its mean so often just now."""
    mean, variance = _now(state, arm)
    variance /= 1.0 + pulls * variance / _noise(state, arm, mean)
    for d in range(state.drifts.size):
        state.kept[d, arm] = 1.0
        state.parts[d, MEAN, arm] = state.shares[d] * mean
        state.parts[d, SQUARE, arm] = state.shares[d] * (variance + mean * mean)
    for q in range(state.single.rates.size):
        state.single.kept[q, arm] = 1.0
        state.single.moments[q, MEAN, arm] = mean
        state.single.moments[q, SQUARE, arm] = variance + mean * mean
    state.seen[PULLS, arm] += pulls
    state.last[arm] = state.clock[ROUNDS]
    for i in range(state.last.size):  # what was seen just now, is so after these rounds too
        if state.last[i] == state.clock[ROUNDS]:
            state.last[i] += pulls
    state.clock[ROUNDS] += pulls


rule(ChangepointState, act, observe, forget, expect)


@dataclass(eq=False)
class ChangepointUCB(Agent):
    """Change-point UCB: learns when the world last changed and how often it does; the agent to start with.

    Source:
        This project. Its belief is Bayesian online change-point detection (Adams, MacKay 2007, arXiv 0710.3742;
        Fearnhead, Liu 2007) with a learnt hazard (Wilson, Nassar, Gold 2010), as in ``switching-ts``; its index is in
        the manner of Bayes-UCB (Kaufmann, Cappé, Garivier 2012).
    Rule:
        Two beliefs. Together: before every round all arms change together with probability h, which is one of eight
        from 10^-4 to 0.1; between changes each mean drifts by itself, at a rate r of 0 (with probability 0.7) or 1.5
        times 10^-5, 10^-4 or 10^-3: after n rounds it has kept e^(−rn) of its distance from m, the mean of an arm after
        a change, and its variance has become e^(−2rn) of itself plus 1 − e^(−2rn) of the variance of such an arm.
        Hypotheses s "the last change was then, and the drift is that" have weights w_sk, one for each h_k. After the
        reward x of arm a, with l_s the probability of x by what a has shown since s: w_sk ← (1 − h_k) l_s w_sk, and a
        change right now gets h_k Σ_s l_s w_sk for each k, over the s with the same r, or with probability 0.1 over all,
        r being drawn anew. Beyond M hypotheses the lightest is dropped. Singly: before every round each arm changes by
        itself with probability q, which is one of six from 10^-5 to 2·10^-3, for each arm another; of each arm the 20
        likeliest last changes are kept. Both beliefs are weighed by the probability that they gave to each reward; the
        second has p = 0.3 beforehand, and every round takes its probability back to p by a thousandth of the distance.
        Index: play the largest one of a mean m_i by both beliefs and z_i of its standard deviations √v_i, where
        z_i² = (c² + g ln(1 + n_i v_i/(K λ_i²)) + ½ g ln(1 + s_i/10)) s_i/(1 + s_i), n_i being the rounds since arm i
        was seen, λ_i² the variance of a reward and s_i = L_i v_i/λ_i². L_i is how many rounds what is learnt of the arm
        lasts: the mean of 1/(h + r + e) or of 1/(q + e) by both beliefs, with e = 1/(the rounds left) if T is known,
        and else 10^-9. So an arm is explored the less the sooner that becomes worthless, or the game ends. The index is
        m_i + z_i √v_i if rewards are real, and arcsin √m_i + z_i √v_i/(2 λ_i) if they are 0 or 1, for in these
        terms every mean is as uncertain upwards as downwards. Rewards of 0 or 1: Beta posteriors, Beta(1, 1) after a
        change; if the best mean b is below ½, Beta(1, 1/m − 1) with m = b(½ + b) instead, for half of each change of
        all arms and for all changes of single ones. The first other reward shows that rewards are real: every arm is
        played once, posteriors are Gaussian, λ² is half the mean square of the difference of successive rewards of an
        arm, λ_i² that of arm i alone, with two pairs of λ² and each pair counting 0.99 times as much as the next, but
        at least λ²; an arm after a change has the mean of all arms and their variance plus λ², and the probability of a
        reward is Student's t with 5 degrees of freedom. No unit of rewards matters.
    Tuning:
        Ours: c = 0.9, g = 0.7, p = 0.3 and M = 60, chosen on the worlds of the leaderboard and on 24 families of
        worlds beside them; docs/changepoint-ucb.md has what each is worth, and further worlds on which it was judged.
        If the number of changes is known, h = Υ/T.
    Knowledge:
        None: T is used if it is given, Υ too if phases have K rounds on average, and no scale of rewards matters.
    Deviations:
        From exact inference: beyond M hypotheses, and 20 of an arm, the lightest are dropped; drift is folded into
        posteriors by their first two moments. With r = 0 and fewer than M rounds, 20 of each arm, beliefs are exact.

    >>> agent = ChangepointUCB(2)
    >>> for t in range(300):  # arm 1 pays for 200 rounds, then arm 2 does
    ...     agent.observe(t % 2, float((t % 2 == 1) == (t >= 200)))
    >>> agent.act()
    1
    >>> rounds, probabilities = agent.last_change()
    >>> int(rounds[probabilities.argmax()])  # after which the last change came
    200
    >>> agent.estimates()[0].round(1)  # the means of the coming round
    array([0., 1.])
    >>> 0.001 < agent.hazard() < 0.01  # one change in 300 rounds
    True

    Attributes:
        rate: h, the probability of a change before each round, if it is known; learnt if not given.
        prior: the mean of an arm after a change, if rewards are 0 or 1 and it is known; learnt if not given.
        width: c, the number of standard deviations by which an index exceeds the mean.
        growth: g, by which the square of that number grows with the logarithm of the time that an arm was not seen,
            and half as fast with that of the time that what is learnt of it lasts.
        horizon: T, if it is known; after so many rounds the agent plays on as if it were not.
        drift: r, the rate at which single means drift, if it is known, 0 if they do not; learnt if not given.
        single: p, the probability beforehand that each arm changes by itself, not all together.
        hypotheses: M, the number of hypotheses that are kept.
    """

    name: ClassVar[str] = "changepoint-ucb"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"
    hazards: ClassVar[tuple[float, ...]] = HAZARDS
    drifts: ClassVar[tuple[float, ...]] = DRIFTS

    rate: float | None = field(default=None, kw_only=True)
    prior: float | None = field(default=None, kw_only=True)
    width: float = field(default=0.9, kw_only=True)
    growth: float = field(default=0.7, kw_only=True)
    horizon: int | None = field(default=None, kw_only=True)
    drift: float | None = field(default=None, kw_only=True)
    single: float = field(default=0.3, kw_only=True)
    hypotheses: int = field(default=60, kw_only=True)

    def _check(self) -> None:
        if self.rate is not None:
            self.rate = fraction("rate", self.rate, hint="the number of changes per round; leave it out to learn it")
        if self.prior is not None:
            hint = "it is the mean of an arm after a change, from 1e-6 to 0.999999"
            self.prior = positive("prior", self.prior, least=1e-6, below=1 - 9.9e-7, hint=hint)
        self.width = positive("width", self.width, allow_zero=True)
        self.growth = positive("growth", self.growth, allow_zero=True)
        if self.horizon is not None:
            self.horizon = positive_int("horizon", self.horizon)
        if self.drift is not None:
            self.drift = positive("drift", self.drift, allow_zero=True)
        self.single = fraction("single", self.single, hint="the probability that each arm changes by itself")
        self.hypotheses = positive_int("hypotheses", self.hypotheses, least=2 if self.drift is not None else 8)

    def _new_state(self) -> ChangepointState:
        k, m = self.n_arms, self.hypotheses
        hazards = np.array(self.hazards if self.rate is None else [self.rate])
        drifts = np.array(self.drifts if self.drift is None else [self.drift])
        odds = np.full(drifts.size, DRIFTING)
        odds[0] = 1.0 - odds[1:].sum()
        h, d = hazards.size, drifts.size
        state = ChangepointState(
            np.zeros((2, k)), np.zeros((m, 2, k)), np.zeros((m, 2)), np.zeros((m, k)), np.zeros((m, k)),
            np.zeros((m, h)), np.zeros(m), np.zeros(m), np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros((2, k)),
            np.zeros((d, 2, k)), np.zeros(d), np.zeros((d, k)), hazards, drifts, np.exp(-drifts), odds,
            np.zeros((d, h)), np.zeros((d, h)), np.zeros(k, np.int64), np.zeros(k), np.zeros(4, np.int64), np.zeros(10),
            np.zeros((2, k)), new_single_changes(k), new_alarms(), self.prior or 0.0, self.width, self.growth,
            self.single, self.horizon or 0,
        )  # fmt: skip
        forget(state, ALL)
        return state

    def last_change(self) -> tuple[IntArray, FloatArray]:
        """The rounds after which the last change of all arms may have come (0: none did), and their probabilities."""
        held = self.state.clock[HELD]
        rounds, places = np.unique(self.state.starts[:held], return_inverse=True)
        return rounds, np.bincount(places, self.state.totals[:held]).astype(np.float64)

    def hazard(self) -> float:
        """The expected probability of a change of all arms before the next round."""
        weights = self.state.weights[: self.state.clock[HELD]].sum(axis=0)
        return float(self.state.hazards @ weights / weights.sum())

    def drifting(self) -> tuple[FloatArray, FloatArray]:
        """The rates at which single means may drift, and their probabilities."""
        return self.state.drifts.copy(), self.state.shares.copy()

    def changing_singly(self) -> float:
        """The probability that each arm changes by itself, not all together."""
        return float(self.state.scale[SINGLE])

    def estimates(self) -> tuple[FloatArray, FloatArray]:
        """(K,) the mean, and the standard deviation of what is believed about it, of every arm in the coming round."""
        means, variances = np.array([_now(self.state, i) for i in range(self.n_arms)]).T
        return means + self.state.scale[OFFSET], np.sqrt(variances)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """T; and h = Υ/T where it is known and phases last at least K rounds on average, learnt otherwise."""
        changes, horizon, n_arms = knowledge.breakpoints, knowledge.horizon, knowledge.n_arms
        tuned = {} if horizon is None or "horizon" in given else {"horizon": horizon}
        if changes is None or horizon is None or n_arms is None or changes * n_arms > horizon or "rate" in given:
            return tuned
        return {**tuned, "rate": changes / horizon}
