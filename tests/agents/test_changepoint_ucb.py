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

HAZARDS = np.geomspace(1e-4, 0.1, 8)
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
    growing = 0.4 * np.log(1 + unseen * law.var() / (K * noise))
    index = np.arcsin(np.sqrt(law.mean())) + law.std() * np.sqrt((1.3**2 + growing) / noise) / 2
    assert agent.act() == index.argmax()


@pytest.mark.parametrize(("width", "growth", "wanted"), [(0.0, 0.0, 0), (3.0, 0.0, 1), (0.0, 3.0, 2)])
def test_width_and_growth_pull_towards_what_is_little_known_and_long_unseen(
    width: float, growth: float, wanted: int
) -> None:
    """Arm 1 has the best mean, arm 2 the fewest rewards, arm 3 was not seen for long."""
    seen = [(2, 1.0), (2, 0.0)] * 4 + [(0, 1.0), (0, 1.0), (0, 0.0)] * 300 + [(1, 1.0), (1, 0.0)] * 2
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

    def __init__(self, k: int, *, width: float, growth: float, drift: float | None, hypotheses: int) -> None:
        self.k, self.width, self.growth, self.most = k, width, growth, hypotheses
        self.drifts = [0.0, 1.5e-5, 1.5e-4, 1.5e-3] if drift is None else [drift]
        self.odds = np.array([0.7, 0.1, 0.1, 0.1] if drift is None else [1.0])
        self.hypotheses = self.first(2.0, 1.0)  # start, r, N, S, weights
        self.seen: list[Round] = []
        self.real, self.offset, self.variance, self.centre, self.spread = False, 0.0, 0.0, 0.5, 1 / 12
        self.times = np.zeros(k)

    def first(self, n: FloatArray | float, s: FloatArray | float) -> list[Any]:
        pairs = zip(self.drifts, self.odds, strict=True)
        return [(0, r, np.ones(self.k) * n, np.ones(self.k) * s, np.full(8, odds / 8)) for r, odds in pairs]

    def moments(self, n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean = s / n
        return mean, self.variance / n if self.real else mean * (1 - mean) / (n + 1)

    def drifted(self, r: float, n: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = self.moments(n, s)
        kept = np.exp(-r * (len(self.seen) - np.maximum(self.times - 1, 0)))
        return kept * mean + (1 - kept) * self.centre, kept**2 * variance + (1 - kept**2) * self.spread

    def mixed(self, now: bool) -> tuple[FloatArray, FloatArray]:
        whole = sum(float(w.sum()) for *_, w in self.hypotheses)
        laws = [(self.drifted(r, n, s) if now else self.moments(n, s), w) for _, r, n, s, w in self.hypotheses]
        triples = [(w.sum() / whole, m, v) for (m, v), w in laws]
        mean = sum(w * m for w, m, _ in triples)
        return mean, sum(w * (v + m**2) for w, m, v in triples) - mean**2

    def hazard(self) -> float:
        weights = sum(w for *_, w in self.hypotheses)
        return float(weights @ HAZARDS / weights.sum())

    def index(self) -> FloatArray:
        mean, variance = self.mixed(now=True)
        noise = self.variance if self.real else mean * (1 - mean)
        unseen = len(self.seen) - self.times
        z = np.sqrt(self.width**2 + self.growth * np.log(1 + unseen * variance / self.k / noise))
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

    def observe(self, arm: int, reward: float) -> None:
        opening = self.real and len(self.times[self.times > 0]) < self.k and self.times[arm] == 0
        if not self.real and reward not in (0.0, 1.0):
            opening, self.real, self.offset = True, True, reward
        x, before = reward - self.offset, self.mixed(now=False)[0]
        weighed = []
        for start, r, n, s, weights in [] if opening else self.hypotheses:
            mean, variance = self.drifted(r, n, s)
            n[arm] = self.variance / variance[arm] if self.real else mean[arm] * (1 - mean[arm]) / variance[arm] - 1
            s[arm] = n[arm] * mean[arm]
            scale = math.sqrt(self.variance + variance[arm])
            density = float(stats.t.pdf((x - mean[arm]) / scale, df=5)) / scale
            likelihood = density if self.real else mean[arm] if x else 1 - mean[arm]
            weighed.append((start, r, n, s, weights * likelihood))
        self.seen.append((arm, reward))
        self.times[arm] = t = len(self.seen)
        if opening:
            pulls = np.bincount([each for each, _ in self.seen], minlength=self.k)
            sums = np.bincount([each for each, _ in self.seen], [y - self.offset for _, y in self.seen], self.k)
            self.measure(sums / np.maximum(pulls, 1))
            prior = self.variance / self.spread
            self.hypotheses = self.first(prior + pulls, prior * self.centre + sums)
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
            low = min(0.5, 1.5 * float(before.max()))
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


def bernoulli(rng: np.random.Generator, mean: float) -> float:
    return float(rng.random() < mean)


def gaussian(rng: np.random.Generator, mean: float) -> float:
    return 300.0 + 40.0 * (mean + 0.3 * rng.standard_normal())


def revenue(rng: np.random.Generator, mean: float) -> float:
    """Nothing most of the time: the first other reward shows that rewards are no longer 0 or 1."""
    return round(rng.exponential(50.0), 2) if rng.random() < mean / 2 else 0.0


LAWS = {"clicks": (bernoulli, 0.1), "coins": (bernoulli, 1.0), "gaussian": (gaussian, 1.0), "revenue": (revenue, 0.4)}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("hypotheses", "drift"), [(150, 0.0), (12, 0.0), (24, None), (12, 0.01)])
def test_it_plays_as_its_card_says(law: str, hypotheses: int, drift: float | None) -> None:
    """Against the same rule written from the card, which keeps every count of every hypothesis."""
    draw, top = LAWS[law]
    rng, k = np.random.default_rng(3), 3
    chosen = {"width": 1.5, "growth": 0.8, "drift": drift, "hypotheses": hypotheses}
    agent, reference = agents.ChangepointUCB(k, **chosen), Reference(k, **chosen)
    for t in range(140):
        means = top * np.array([[0.2, 0.5, 0.9], [0.9, 0.6, 0.1]])[t // 70]
        arm = agent.act()
        known = {each for each, _ in reference.seen}
        if reference.real and len(known) < k:
            assert arm == min(set(range(k)) - known)
        else:
            index = reference.index()
            assert index[arm] >= index.max() - 1e-6 * abs(index.max() - index.min())
            mean, variance = reference.mixed(now=True)
            wanted = mean + reference.offset, np.sqrt(variance)
            np.testing.assert_allclose(agent.estimates(), wanted, rtol=1e-6, atol=1e-6 * float(np.sqrt(variance.max())))
            np.testing.assert_allclose(agent.hazard(), reference.hazard(), rtol=1e-6)
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


def test_known_changes_fix_the_hazard() -> None:
    know = agents.Knowledge(horizon=10_000, n_arms=10, breakpoints=5)
    assert agents.make("changepoint-ucb", knowledge=know).rate == 5e-4
    assert agents.make("changepoint-ucb", knowledge=know, blind=True).rate is None
    drifting = agents.Knowledge(horizon=10_000, n_arms=10, breakpoints=9_999)
    assert agents.make("changepoint-ucb", knowledge=drifting).rate is None
    assert agents.make("changepoint-ucb", n_arms=10).rate is None  # no horizon is needed


@pytest.mark.parametrize("scale", [0.05, 1.0, 60.0])
def test_real_rewards_of_any_scale_have_a_fraction_of_random_regret(scale: float) -> None:
    means = np.repeat([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], 1_000, axis=0) * scale
    runs = nsb.simulate(means, "changepoint-ucb", runs=20, env_kwargs={"reward": "gaussian", "scale": scale})
    assert runs.final.mean() < 0.05 * 2_000 * scale  # random play: 1 a round in units of the scale
    assert runs.final.max() < 0.15 * 2_000 * scale


def test_the_constants_are_those_of_the_card() -> None:
    agent = agents.ChangepointUCB(2)
    assert (agent.width, agent.growth, agent.drift, agent.hypotheses) == (1.6, 1.4, None, 60)
    assert "c = 1.6, g = 1.4 and M = 60" in agents.card("changepoint-ucb").tuning


def test_the_first_real_reward_begins_with_no_change_yet() -> None:
    agent = told([(t % 2, float(t % 3 > 0)) for t in range(40)], k=2, rate=0.9, drift=0.0, hypotheses=2)
    assert agent.last_change()[0].min() > 0  # two hypotheses, both of later changes
    agent.observe(0, 7.5)
    rounds, chances = agent.last_change()
    assert (rounds.tolist(), chances.tolist()) == ([0], [1.0])


def test_an_arm_that_was_not_seen_is_expected_to_be_as_the_others_are() -> None:
    assert told([(0, 10.0), (1, 20.0)]).estimates()[0][2] == pytest.approx(15.0)
