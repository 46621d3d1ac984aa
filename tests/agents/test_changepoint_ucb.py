"""Change-point UCB against sums over all ways to change, closed forms of posteriors, and rewards of every scale."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special, stats

import ns_mab_gym as nsb
from ns_mab_gym import agents

HAZARDS, RATES = np.geomspace(1e-4, 0.1, 8), np.geomspace(1e-5, 2e-3, 6)
K = 3
FloatArray = npt.NDArray[np.float64]
Round = tuple[int, float]
Belief = tuple[dict[int, float], FloatArray, FloatArray, FloatArray]


def history(rounds: int, seed: int, k: int = K, chance: float = 0.5) -> list[Round]:
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(k)), float(rng.random() < chance)) for _ in range(rounds)]


def told(played: Sequence[Round], k: int = K, **parameters: object) -> agents.Agent:
    agent = agents.ChangepointUCB(k, **parameters)
    for arm, reward in played:
        agent.observe(arm, reward)
    return agent


def posterior(phase: Sequence[Round], mean: float, k: int) -> tuple[FloatArray, FloatArray]:
    """(K,) parameters of Beta posteriors after a phase; the prior has this mean, and 1 as its smaller parameter."""
    prior = np.array([mean, 1 - mean]) / min(mean, 1 - mean)
    a, b = np.full(k, prior[0]), np.full(k, prior[1])
    for arm, x in phase:
        a[arm] += x
        b[arm] += 1 - x
    return a, b


def enumerated(played: Sequence[Round], hazards: FloatArray, k: int, means: Sequence[Sequence[float]]) -> Belief:
    """The belief by all ways to change: of the last change, of the hazard, and moments of the arms.

    Args:
        played: the history.
        hazards: those that are equally likely beforehand.
        k: K.
        means: for "no change yet" and for a change after each round, the means that the prior of an arm may have.
    """
    last: dict[int, float] = {}
    hazard, first, second, total = np.zeros(len(hazards)), np.zeros(k), np.zeros(k), 0.0
    for changes in itertools.product([False, True], repeat=len(played)):
        edges = [0, *(t + 1 for t, change in enumerate(changes) if change)]
        n = sum(changes)
        by_hazard = hazards**n * (1 - hazards) ** (len(played) - n)
        for kinds in itertools.product(*(means[edge] for edge in edges)):
            chance = 1.0
            for edge, end, mean in zip(edges, [*edges[1:], len(played)], kinds, strict=True):
                a, b = posterior(played[edge:end], mean, k)
                a0, b0 = posterior([], mean, k)
                chance *= float(np.exp(special.betaln(a, b) - special.betaln(a0, b0)).prod()) / len(means[edge])
            weight = chance * by_hazard.sum()
            last[edges[-1]] = last.get(edges[-1], 0.0) + weight
            hazard += chance * by_hazard
            law = stats.beta(a, b)
            first += weight * law.mean()
            second += weight * (law.var() + law.mean() ** 2)
            total += weight
    scaled = {edge: weight / total for edge, weight in last.items()}
    return scaled, hazard / hazard.sum(), first / total, np.sqrt(second / total - (first / total) ** 2)


def agrees(agent: agents.Agent, belief: Belief, hazards: FloatArray) -> None:
    last, hazard, means, deviations = belief
    rounds, chances = agent.last_change()
    np.testing.assert_array_equal(rounds, sorted(last))
    np.testing.assert_allclose(chances, [last[each] for each in sorted(last)], rtol=1e-9)
    np.testing.assert_allclose(agent.hazard(), hazard @ hazards, rtol=1e-9)
    np.testing.assert_allclose(agent.estimates(), [means, deviations], rtol=1e-7)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("rate", "prior"), [(None, 0.5), (0.3, 0.5), (None, 0.1), (0.02, 0.8)])
def test_the_belief_is_that_of_all_ways_to_change(seed: int, rate: float | None, prior: float) -> None:
    played, hazards = history(8, seed), HAZARDS if rate is None else np.array([rate])
    agent = told(played, rate=rate, prior=prior, drift=0.0, single=0.0)
    agrees(agent, enumerated(played, hazards, K, [[prior]] * 9), hazards)


@pytest.mark.parametrize("seed", range(4))
def test_the_belief_in_single_changes_is_that_of_all_ways_to_change(seed: int) -> None:
    """Of each arm by itself: every pattern of changes between its rounds, and every rate, with a Beta(1, 1) prior."""
    rounds = 9
    played = history(rounds, seed)
    means, deviations = told(played, prior=0.5, single=1.0).estimates()
    for arm in range(K):
        first = second = total = 0.0
        for changes in itertools.product([False, True], repeat=rounds):
            chance, a, b = 1.0, 1.0, 1.0
            for (other, x), change in zip(played, changes, strict=True):
                if other == arm:
                    chance *= (a if x else b) / (a + b)
                    a, b = a + x, b + 1 - x
                if change:
                    a, b = 1.0, 1.0
            n = sum(changes)
            weight = chance * float((RATES**n * (1 - RATES) ** (rounds - n)).sum())
            law = stats.beta(a, b)
            first, second, total = first + weight * law.mean(), second + weight * law.moment(2), total + weight
        assert means[arm] == pytest.approx(first / total, rel=1e-9)
        assert deviations[arm] == pytest.approx(math.sqrt(second / total - (first / total) ** 2), rel=1e-7)


def test_rewards_tell_whether_arms_change_together() -> None:
    """Of three arms, one fails and comes back while the others stand still, or all change places at the same times."""
    rng, single = np.random.default_rng(5), {}
    for together in (False, True):
        agent = agents.ChangepointUCB(3, hypotheses=16)
        for t in range(1_800):
            turned, arm = t // 300 % 2, t % 3
            mean = (0.9, 0.5, 0.1)[2 - arm if together and turned else arm]
            agent.observe(arm, float(rng.random() < (0.1 if not together and turned and arm == 0 else mean)))
        single[together] = agent.changing_singly()
    assert single[True] < 0.2 < 0.3 < 0.5 < single[False]  # 0.3 beforehand, to which a hundred rounds take back a tenth


@pytest.mark.parametrize("seed", range(4))
def test_after_a_change_rates_may_stay_low(seed: int) -> None:
    """Half of a change has the mean b(½ + b), b being that of the best arm, if it is below ½."""
    played = [(t % 2 if t < 5 else arm, float(t == 5)) for t, (arm, _) in enumerate(history(7, seed, k=2))]
    means: list[list[float]] = [[0.5]]
    for t in range(len(played)):
        _, _, estimates, _ = enumerated(played[:t], HAZARDS, 2, means)
        low = float(estimates.max() * (0.5 + estimates.max()))
        means.append([low, 0.5] if low < 0.5 else [0.5])
    assert any(len(each) == 2 for each in means)
    agrees(told(played, k=2, drift=0.0, single=0.0), enumerated(played, HAZARDS, 2, means), HAZARDS)


def test_without_changes_it_is_an_index_of_beta_posteriors() -> None:
    played = history(200, 5)
    agent = told(played, rate=0.0, drift=0.0, single=0.0, width=1.3, growth=0.4)
    a, b = posterior(played, 0.5, K)
    law = stats.beta(a, b)
    np.testing.assert_allclose(agent.estimates(), [law.mean(), law.std()], rtol=1e-9)
    last = [max(t for t, (arm, _) in enumerate(played) if arm == i) + 1 for i in range(K)]
    unseen = len(played) - np.array(last)
    noise = law.mean() * (1 - law.mean())
    worth = 1e9 * law.var() / noise  # nothing learnt is ever lost
    growing = 0.4 * (np.log(1 + unseen * law.var() / (K * noise)) + np.log(1 + worth / 10) / 2)
    index = np.arcsin(np.sqrt(law.mean())) + law.std() * np.sqrt((1.3**2 + growing) / noise * worth / (1 + worth)) / 2
    assert agent.act() == index.argmax()


@pytest.mark.parametrize(("width", "growth", "wanted"), [(0.0, 0.0, 0), (3.0, 0.0, 1), (0.0, 3.0, 2)])
def test_width_and_growth_pull_towards_what_is_little_known_and_long_unseen(
    width: float, growth: float, wanted: int
) -> None:
    """Arm 1 has the best mean, arm 2 the fewest rewards, arm 3 was not seen for long."""
    seen = [(2, 1.0), (2, 0.0)] * 4 + [(0, 1.0), (0, 1.0), (0, 0.0)] * 300 + [(1, 1.0), (1, 0.0)] * 3
    assert told(seen, rate=0.0, drift=0.0, single=0.0, width=width, growth=growth).act() == wanted


def test_an_arm_drifts_back_while_it_is_not_seen() -> None:
    """After n rounds a mean has kept e^(−rn) of its distance from ½, and e^(−2rn) of its variance; the rest is 1/12."""
    rate, k = 0.02, 2
    played = [(int(11 < t < 52), float(t % 4 > 1)) for t in range(54)]
    a, b, last = np.ones(k), np.ones(k), np.zeros(k)

    def aged(arm: int, t: int) -> tuple[float, float]:
        kept, law = math.exp(-rate * (t - last[arm])), stats.beta(a[arm], b[arm])
        return 0.5 + kept * (law.mean() - 0.5), kept**2 * law.var() + (1 - kept**2) / 12

    for t, (arm, x) in enumerate(played):
        mean, variance = aged(arm, t)
        pulls = mean * (1 - mean) / variance - 1  # of the Beta law with these moments
        a[arm], b[arm], last[arm] = pulls * mean + x, pulls * (1 - mean) + 1 - x, t
    wanted = np.array([aged(arm, len(played)) for arm in range(k)]).T
    agent = told(played, k, rate=0.0, drift=rate, prior=0.5, single=0.0)
    np.testing.assert_allclose(agent.estimates(), [wanted[0], np.sqrt(wanted[1])], rtol=1e-9)


@pytest.mark.parametrize(("step", "wanted"), [(0.0, 0.0), (0.03, 1.5e-3)])
def test_the_rate_of_drift_is_learnt(step: float, wanted: float) -> None:
    """The mean of an arm stands still, or is a random walk."""
    rng, agent, mean = np.random.default_rng(8), agents.ChangepointUCB(2, hypotheses=16), 0.3
    for _ in range(2_500):
        agent.observe(0, float(rng.random() < mean))
        mean = abs(mean + step * rng.standard_normal())
        mean = min(mean, 2 - mean)
    rates, chances = agent.drifting()
    assert chances.sum() == pytest.approx(1.0)
    assert rates[chances.argmax()] == wanted


@pytest.mark.parametrize("seed", range(3))
def test_a_change_may_draw_the_drift_anew(seed: int) -> None:
    """One arm, whose rewards have the probability ½ whatever drifted: the drifts have their prior weights for ever."""
    rng, agent = np.random.default_rng(seed), agents.ChangepointUCB(2, rate=0.3, prior=0.5, hypotheses=200)
    for t in range(40):
        agent.observe(t % 2, float(rng.random() < 0.5))
        agent.forget(0)
        agent.forget(1)
    np.testing.assert_allclose(agent.drifting()[1], [0.7, 0.1, 0.1, 0.1], rtol=1e-9)


class Reference:
    """The agent written a second time, from its card: every hypothesis keeps its own counts, and nothing is cached."""

    def __init__(
        self, k: int, *, width: float, growth: float, drift: float | None, single: float, hypotheses: int, horizon: int
    ) -> None:
        self.k, self.width, self.growth, self.most, self.p, self.horizon = k, width, growth, hypotheses, single, horizon
        self.drifts = [0.0, 1.5e-5, 1.5e-4, 1.5e-3] if drift is None else [drift]
        self.odds = np.array([0.7, 0.1, 0.1, 0.1] if drift is None else [1.0])
        self.seen: list[Round] = []
        self.real, self.offset, self.variance, self.centre, self.spread = False, 0.0, 0.0, 0.5, 1 / 12
        self.times, self.noises = np.zeros(k), np.zeros(k)
        self.begin(np.full(k, 2.0), np.ones(k))

    def begin(self, n: FloatArray, s: FloatArray) -> None:
        """No change yet, by both beliefs, with these observations of each arm."""
        pairs = zip(self.drifts, self.odds, strict=True)
        self.hypotheses: list[Any] = [(0, r, n.copy(), s.copy(), np.full(8, odds / 8)) for r, odds in pairs]
        self.singly = self.p
        self.alone = [[(n[i], s[i], np.ones(6))] for i in range(self.k)]  # of each arm: N, S, weights for each q
        self.shares, self.since = np.full((self.k, 6), 1 / 6), np.full(self.k, len(self.seen))

    def noise(self, arm: int) -> float:
        """λ_i² of real rewards, by what was seen until now."""
        rewards = np.array([x for each, x in self.seen if each == arm])
        ages = 0.99 ** np.arange(len(rewards) - 1, 0, -1)
        own = (2 * self.variance + (ages * np.diff(rewards) ** 2).sum() / 2) / (2 + ages.sum())
        return max(self.variance, float(own))

    def moments(self, n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean = s / n
        return mean, self.noises / n if self.real else mean * (1 - mean) / (n + 1)

    def drifted(self, r: float, n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = self.moments(n, s)
        kept = np.exp(-r * (len(self.seen) - np.maximum(self.times - 1, 0)))
        return kept * mean + (1 - kept) * self.centre, kept**2 * variance + (1 - kept**2) * self.spread

    def together(self, now: bool) -> tuple[FloatArray, FloatArray]:
        """E[θ] and E[θ²] of each arm by the first belief, in the coming round or when last seen."""
        whole = sum(float(w.sum()) for *_, w in self.hypotheses)
        laws = [(self.drifted(r, n, s) if now else self.moments(n, s), w) for _, r, n, s, w in self.hypotheses]
        triples = [(w.sum() / whole, m, v) for (m, v), w in laws]
        return sum(w * m for w, m, _ in triples), sum(w * (v + m**2) for w, m, v in triples)

    def apart(self, i: int) -> tuple[float, float]:
        """E[θ] and E[θ²] of an arm in the coming round by the second belief."""
        kept = (1 - RATES) ** (len(self.seen) - self.since[i])
        first, second = (1 - kept) * self.centre, (1 - kept) * (self.spread + self.centre**2)
        for n, s, weights in self.alone[i]:
            variance = self.noises[i] / n if self.real else s / n * (1 - s / n) / (n + 1)
            first, second = first + kept * weights * (s / n), second + kept * weights * (variance + (s / n) ** 2)
        return float(self.shares[i] @ first), float(self.shares[i] @ second)

    def estimates(self) -> tuple[FloatArray, FloatArray]:
        both = np.array(self.together(now=True)).T
        if self.p > 0:
            both = (1 - self.singly) * both + self.singly * np.array([self.apart(i) for i in range(self.k)])
        return both[:, 0], both[:, 1] - both[:, 0] ** 2

    def hazard(self) -> float:
        weights = sum(w for *_, w in self.hypotheses)
        return float(weights @ HAZARDS / weights.sum())

    def lasting(self) -> FloatArray:
        """(K,) the rounds that what is learnt of each arm will last."""
        end = 1e-9 if self.horizon <= len(self.seen) else 1 / (self.horizon - len(self.seen))
        whole = sum(float(w.sum()) for *_, w in self.hypotheses)
        together = sum(float((w / (HAZARDS + r + end)).sum()) for _, r, _, _, w in self.hypotheses) / whole
        return (1 - self.singly) * together + self.singly * (self.shares / (RATES + end)).sum(axis=1)

    def index(self) -> FloatArray:
        mean, variance = self.estimates()
        noise = self.noises if self.real else mean * (1 - mean)
        unseen = len(self.seen) - self.times
        worth = self.lasting() * variance / noise
        z = self.width**2 + self.growth * np.log(1 + unseen * variance / self.k / noise)
        z = np.sqrt((z + self.growth / 2 * np.log(1 + worth / 10)) * worth / (1 + worth))
        deviation = np.sqrt(variance)
        return mean + z * deviation if self.real else np.arcsin(np.sqrt(mean)) + z * deviation / (2 * np.sqrt(noise))

    def measure(self, means: FloatArray) -> None:
        arms = sorted({arm for arm, _ in self.seen})
        rewards = [np.array([x for arm, x in self.seen if arm == i]) for i in arms]
        between = float(means[arms].var(ddof=1)) if len(arms) > 1 else 0.0
        pairs = np.concatenate([np.diff(each) for each in rewards])
        largest = max(abs(x) for _, x in self.seen)
        self.variance = max((between + (pairs**2).sum() / 2) / (1 + pairs.size), (1e-9 * largest) ** 2)
        self.centre, self.spread = float(means[arms].mean()), between + self.variance
        self.noises = np.array([self.noise(i) for i in range(self.k)])

    def likelihood(self, x: float, mean: float, variance: float, noise: float) -> float:
        """In units of λ_i where rewards are real: a factor that is the same for all hypotheses."""
        if not self.real:
            return mean if x else 1 - mean
        scale = math.sqrt(noise + variance)
        return float(stats.t.pdf((x - mean) / scale, df=5)) / scale * math.sqrt(noise)

    def observe(self, arm: int, reward: float) -> None:
        opening = self.real and len(self.times[self.times > 0]) < self.k and self.times[arm] == 0
        if not self.real and reward not in (0.0, 1.0):
            opening, self.real, self.offset = True, True, reward
        x, before, rounds = reward - self.offset, self.together(now=False)[0], len(self.seen)
        laws = [self.drifted(r, n, s) for _, r, n, s, _ in ([] if opening else self.hypotheses)]
        self.seen.append((arm, reward))  # this reward tells its own scale too
        self.noises[arm] = noise = self.noise(arm)
        weighed = []
        for (start, r, n, s, weights), (means, variances) in zip(self.hypotheses, laws, strict=False):
            mean, variance = means[arm], variances[arm]
            if r > 0:
                n[arm] = noise / variance if self.real else mean * (1 - mean) / variance - 1
            s[arm] = n[arm] * mean
            weighed.append((start, r, n, s, weights * self.likelihood(x, mean, variance, noise)))
        if not opening and self.p > 0:
            self.observe_alone(arm, x, rounds, noise, sum(float(w.sum()) for *_, w in weighed))
        self.times[arm] = t = len(self.seen)
        if opening:
            pulls = np.bincount([each for each, _ in self.seen], minlength=self.k)
            sums = np.bincount([each for each, _ in self.seen], [y - self.offset for _, y in self.seen], self.k)
            self.measure(sums / np.maximum(pulls, 1))
            prior = self.variance / self.spread
            self.begin(prior + pulls, prior * self.centre + sums)
            return
        self.hypotheses = [(start, r, n, s, w * (1 - HAZARDS)) for start, r, n, s, w in weighed]
        for _, _, n, s, _ in self.hypotheses:
            n[arm] += 1
            s[arm] += x
        if self.real:
            if math.log2(t) % 1 == 0:
                self.measure(before)
            kinds = [(self.variance / self.spread, self.centre, 1.0)]
        else:
            low = min(0.5, float(before.max() * (0.5 + before.max())))
            self.centre, self.spread = low, low * (1 - low) / (1 / low + 1)
            kinds = [(1 / low, low, 0.5), (2.0, 0.5, 0.5)] if low < 0.5 else [(2.0, 0.5, 1.0)]
        evidence = [sum((w for _, r, _, _, w in weighed if r == rate), np.zeros(8)) for rate in self.drifts]
        redrawn = [0.9 * each + 0.1 * p * sum(evidence) for each, p in zip(evidence, self.odds, strict=True)]
        for (r, each), (n, mean, share) in itertools.product(zip(self.drifts, redrawn, strict=True), kinds):
            weights = share * HAZARDS * each
            if len(self.hypotheses) == self.most:
                lightest = int(np.argmin([w.sum() for *_, w in self.hypotheses]))
                if weights.sum() <= self.hypotheses[lightest][-1].sum():
                    continue
                del self.hypotheses[lightest]
            self.hypotheses.append((t, r, np.full(self.k, n), np.full(self.k, n * mean), weights))
        whole = sum(w.sum() for *_, w in self.hypotheses)
        self.hypotheses = [(start, r, n, s, w / whole) for start, r, n, s, w in self.hypotheses]

    def observe_alone(self, arm: int, x: float, rounds: int, noise: float, together: float) -> None:
        """The second belief takes in a reward, and both are weighed by it."""
        found, shares = self.alone[arm], self.shares[arm]
        if len(found) == 20:
            del found[int(np.argmin([shares @ w for *_, w in found]))]
            left = sum(w for *_, w in found)
            found = [(n, s, w / left) for n, s, w in found]
        kept = (1 - RATES) ** (rounds - self.since[arm])
        prior = self.variance / self.spread if self.real else 1 / min(self.centre, 1 - self.centre)
        found = [(n, s, kept * w) for n, s, w in found] + [(prior, prior * self.centre, 1 - kept)]
        weighed = []
        for n, s, weights in found:
            variance = noise / n if self.real else s / n * (1 - s / n) / (n + 1)
            weighed.append((n + 1, s + x, weights * self.likelihood(x, s / n, variance, noise)))
        evidence = sum(w for *_, w in weighed)
        self.alone[arm] = [(n, s, w / evidence) for n, s, w in weighed]
        alone = float(shares @ evidence)
        self.shares[arm] = shares * evidence / alone
        self.singly = self.singly * alone / (self.singly * alone + (1 - self.singly) * together)
        self.singly += 1e-3 * (self.p - self.singly)
        self.since[arm] = rounds


def bernoulli(rng: np.random.Generator, mean: float) -> float:
    return float(rng.random() < mean)


def gaussian(rng: np.random.Generator, mean: float) -> float:
    return 300.0 + 40.0 * (mean + 0.3 * rng.standard_normal())


def revenue(rng: np.random.Generator, mean: float) -> float:
    """Nothing most of the time: the first other reward shows that rewards are no longer 0 or 1."""
    return round(rng.exponential(50.0), 2) if rng.random() < mean / 2 else 0.0


LAWS = {"clicks": (bernoulli, 0.1), "coins": (bernoulli, 1.0), "gaussian": (gaussian, 1.0), "revenue": (revenue, 0.4)}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("hypotheses", "drift", "single", "horizon"),
    [(150, 0.0, 0.0, 60), (12, 0.0, 0.4, 1_000), (24, None, 0.0, 200), (24, None, 0.4, 10**8), (12, 0.01, 1.0, 140)],
)
def test_it_plays_as_its_card_says(law: str, hypotheses: int, drift: float | None, single: float, horizon: int) -> None:
    """Against the same rule written from the card, which keeps every count of every hypothesis."""
    draw, top = LAWS[law]
    rng, k = np.random.default_rng(3), 3
    chosen = {"width": 1.5, "growth": 0.8, "drift": drift, "single": single, "hypotheses": hypotheses}
    agent, reference = (each(k, horizon=horizon, **chosen) for each in (agents.ChangepointUCB, Reference))
    for t in range(140):
        means = top * np.array([[0.2, 0.5, 0.9], [0.9, 0.6, 0.1]])[t // 70]
        arm = agent.act()
        known = {each for each, _ in reference.seen}
        if reference.real and len(known) < k:
            assert arm == min(set(range(k)) - known)
        else:
            index = reference.index()
            assert index[arm] >= index.max() - 1e-6 * abs(index.max() - index.min())
            mean, variance = reference.estimates()
            wanted = mean + reference.offset, np.sqrt(variance)
            np.testing.assert_allclose(agent.estimates(), wanted, rtol=1e-6, atol=1e-6 * float(np.sqrt(variance.max())))
            np.testing.assert_allclose(agent.hazard(), reference.hazard(), rtol=1e-6)
            np.testing.assert_allclose(agent.changing_singly(), reference.singly, rtol=1e-6)
        if t % 5 == 0:
            arm = int(rng.integers(k))  # so that every arm is seen
        reward = draw(rng, means[arm])
        agent.observe(arm, reward)
        reference.observe(arm, reward)


@pytest.mark.parametrize(("factor", "shift"), [(2.0**-20, 0.0), (2.0**20, 0.0), (1.0, 2.0**20), (-1.0, 0.0)])
def test_the_scale_of_rewards_does_not_matter(factor: float, shift: float) -> None:
    """Rewards are whole multiples of 1/64, so that shifted ones have the same differences to the last bit."""
    rng = np.random.default_rng(4)
    rewards = np.round(64 * (rng.standard_normal((400, 3)) + np.array([0.0, 0.5, 1.0]))) / 64 + 0.5**8
    plain, moved = agents.ChangepointUCB(3), agents.ChangepointUCB(3)
    arms = []
    for row in rewards:
        arms.append(plain.act())
        if factor > 0:
            assert moved.act() == arms[-1]
        plain.observe(arms[-1], row[arms[-1]])
        moved.observe(arms[-1], factor * row[arms[-1]] + shift)
    means, deviations = plain.estimates()
    np.testing.assert_allclose(moved.estimates(), [factor * means + shift, abs(factor) * deviations], rtol=1e-9)


def test_the_belief_tells_when_the_world_changed() -> None:
    """Arm 1 falls from 0.9 to 0.1 after round 200: the belief says so soon, and an alarm is sounded once."""
    rng = np.random.default_rng(2)
    agent = agents.ChangepointUCB(2)
    for t in range(260):
        agent.observe(0, float(rng.random() < (0.9 if t < 200 else 0.1)))
    rounds, chances = agent.last_change()
    assert chances.sum() == pytest.approx(1.0)
    assert chances[(rounds >= 190) & (rounds <= 210)].sum() > 0.9
    means, deviations = agent.estimates()
    assert means[0] == pytest.approx(0.1, abs=4 * deviations[0])
    assert deviations[1] > 0.2  # nothing was seen of arm 2
    (alarm,) = agents.parts.alarms.alarms_in(agent.state)
    assert 200 < alarm["round"] < 215
    assert alarm["everything"]


@pytest.mark.parametrize("changes", [2, 8, 32])
def test_the_hazard_is_learnt(changes: int) -> None:
    """Means of one arm jump between 0.1 and 0.9 at regular times: the hazard is near changes per round."""
    rng, rounds = np.random.default_rng(changes), 4_000
    agent = agents.ChangepointUCB(2, drift=0.0, hypotheses=16)
    for t in range(rounds):
        agent.observe(0, float(rng.random() < (0.1, 0.9)[t * changes // rounds % 2]))
    assert changes / rounds / 3 < agent.hazard() < 3 * changes / rounds  # the grid's steps are factors of 2.7


def test_forgetting_an_arm_leaves_the_prior_of_every_hypothesis() -> None:
    agent = told(history(60, 1), prior=0.2)
    agent.forget(1)
    law = stats.beta(1, 4)
    means, deviations = agent.estimates()
    assert (means[1], deviations[1]) == (pytest.approx(law.mean()), pytest.approx(law.std()))
    assert means[0] != pytest.approx(law.mean())


def test_weights_do_not_underflow_where_changes_are_frequent() -> None:
    """With h up to 0.1 and a few hypotheses, most of each round's weight is dropped."""
    agent, rng = agents.ChangepointUCB(2, hypotheses=8), np.random.default_rng(6)
    for t in range(3_000):
        agent.observe(t % 2, float(rng.random() < (0.05, 0.95)[t // 20 % 2]))
    assert agent.hazard() > 0.01  # 0.05 in truth
    assert agent.state.weights.sum() > 0.01


def test_known_changes_fix_the_hazard() -> None:
    know = agents.Knowledge(horizon=10_000, n_arms=10, breakpoints=5)
    assert agents.make("changepoint-ucb", knowledge=know).rate == 5e-4
    assert agents.make("changepoint-ucb", knowledge=know, blind=True).rate is None
    drifting = agents.Knowledge(horizon=10_000, n_arms=10, breakpoints=9_999)
    assert agents.make("changepoint-ucb", knowledge=drifting).rate is None
    assert agents.make("changepoint-ucb", n_arms=10).horizon is None  # none is needed


@pytest.mark.parametrize("scale", [0.05, 1.0, 60.0])
def test_real_rewards_of_any_scale_have_a_fraction_of_random_regret(scale: float) -> None:
    means = np.repeat([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], 1_000, axis=0) * scale
    runs = nsb.simulate(means, "changepoint-ucb", runs=20, env_kwargs={"reward": "gaussian", "scale": scale})
    assert runs.final.mean() < 0.05 * 2_000 * scale  # random play: 1 a round in units of the scale
    assert runs.final.max() < 0.15 * 2_000 * scale


def test_the_constants_are_those_of_the_card() -> None:
    agent = agents.ChangepointUCB(2)
    assert (agent.width, agent.growth, agent.drift, agent.single, agent.hypotheses) == (0.9, 0.7, None, 0.3, 60)
    assert "c = 0.9, g = 0.7, p = 0.3 and M = 60" in agents.card("changepoint-ucb").tuning


def test_the_first_real_reward_begins_with_no_change_yet() -> None:
    agent = told([(t % 2, float(t % 3 > 0)) for t in range(40)], k=2, rate=0.9, drift=0.0, hypotheses=2)
    assert agent.last_change()[0].min() > 0  # two hypotheses, both of later changes
    agent.observe(0, 7.5)
    rounds, chances = agent.last_change()
    assert (rounds.tolist(), chances.tolist()) == ([0], [1.0])


def test_an_arm_that_was_not_seen_is_expected_to_be_as_the_others_are() -> None:
    assert told([(0, 10.0), (1, 20.0)]).estimates()[0][2] == pytest.approx(15.0)


def test_the_nearer_the_end_the_less_is_explored() -> None:
    """An arm that is little known is worth a try if 10,000 rounds are left, not if one is; and again after the end."""
    seen = [(0, 1.0), (0, 1.0), (0, 0.0)] * 40 + [(1, 1.0), (1, 0.0)] * 3 + [(2, 1.0), (2, 0.0)] * 2
    chosen = {left: told(seen, single=0.0, horizon=len(seen) + left).act() for left in (10_000, 1, -1)}
    assert chosen[1] == 0
    assert chosen[10_000] == chosen[-1] != 0
