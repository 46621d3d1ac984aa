"""Worlds made from logs: evidence and histories beside closed forms, logs that stand still, laws of rewards."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy import stats

import ns_mab_gym as nsb
from ns_mab_gym import rewards, worlds
from ns_mab_gym.logs import world as subject
from ns_mab_gym.logs.log import Log
from ns_mab_gym.logs.world import LogWorld

CELLS = 7
RNG = np.random.default_rng(8)
SMALL = LogWorld(
    horizon=70,
    pulls=tuple(map(tuple, RNG.integers(0, 30, (CELLS, 2)).tolist())),
    rates=tuple(map(tuple, RNG.random((CELLS, 2)).tolist())),
    scatter=(0.2, 0.24),
    law=rewards.Gaussian(),
    seconds=700.0,
    arm_names=("a", "b"),
)


def log_of(means, seed=0, chances=None, law=None, every=6.0):
    """A log of so many decisions, arms drawn with these chances."""
    rng, (horizon, k) = np.random.default_rng(seed), means.shape
    arms = rng.choice(k, size=horizon, p=chances)
    mu, made = means[np.arange(horizon), arms], law or rewards.Bernoulli()
    paid = [made.reward(m, u) for m, u in zip(mu.tolist(), made.luck(rng, horizon).tolist(), strict=True)]
    return Log(np.arange(horizon) * every, arms, np.array(paid), tuple("abcdef"[:k]))


def of_cells(arm):
    """The centred means and variances of the cells of an arm, those where it was shown, and their places."""
    _, precision, y = SMALL._data
    seen = np.flatnonzero(precision[:, arm])
    return y[seen, arm], 1 / precision[seen, arm], seen


def gaussian(y, variances, prior):
    """The log density of normal means with this prior covariance, against means that equal the centre."""
    both = [
        stats.multivariate_normal(np.zeros(len(y)), cov).logpdf(y)
        for cov in (np.diag(variances) + prior, np.diag(variances))
    ]
    return both[0] - both[1]


def level_of(cells, changes):
    """The number of the level of each cell."""
    return np.cumsum([0, *changes])[np.array(cells)]


def test_weights_are_those_of_all_histories():
    """Against multivariate normal densities; of jumps, summed over all 64 placements of them.

    The prior that arms share is the mean of the prior and of what each arm says alone.
    """
    alone, likelihoods = [], []
    still, drifts, jumps = 5, 35, 20
    prior = np.repeat([0.5 / still, 0.25 / drifts, 0.25 / jumps], [still, drifts, jumps])
    fit = SMALL._fit
    for arm in (0, 1):
        y, variances, seen = of_cells(arm)
        evidence = []
        for tau, step, hazard in zip(fit.levels, fit.walks, fit.hazards, strict=True):
            if hazard == 0:
                evidence.append(gaussian(y, variances, tau**2 + step * np.minimum.outer(seen, seen)))
                continue
            terms = []
            for changes in itertools.product((0, 1), repeat=CELLS - 1):
                level = level_of(seen, changes)
                chance = np.log(np.where(changes, hazard, 1 - hazard)).sum()
                terms.append(chance + gaussian(y, variances, tau**2 * (level[:, None] == level)))
            evidence.append(np.logaddexp.reduce(terms))
        likelihoods.append(np.exp(evidence))
        alone.append(likelihoods[-1] * prior / (likelihoods[-1] * prior).sum())
    common = [
        np.prod([each[:still].mean() for each in likelihoods]),
        0.0,
        np.prod([(each * prior).sum() for each in likelihoods]),
    ]
    jumping = list(zip(fit.levels, fit.hazards, strict=True))[-jumps:]
    for tau, hazard in jumping:
        for changes in itertools.product((0, 1), repeat=CELLS - 1):
            both = 0.0
            for arm in (0, 1):
                y, variances, seen = of_cells(arm)
                level = level_of(seen, changes)
                both += gaussian(y, variances, tau**2 * (level[:, None] == level))
            common[1] += np.prod(np.where(changes, hazard, 1 - hazard)) * np.exp(both) / jumps
    expected = np.array(common) * [0.5, 0.25, 0.25]
    np.testing.assert_allclose(fit.together, expected / expected.sum())
    shared = (prior + alone[0] + alone[1]) / 3
    expected = np.array(likelihoods) * shared
    np.testing.assert_allclose(fit.weights, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def test_a_walk_given_the_log_has_the_moments_of_a_gaussian_process():
    """Means and covariances of 20 000 histories within 4.5 standard errors of the closed form."""
    rng, n = np.random.default_rng(5), 20_000
    precision, y, tau2, step = np.array([3.0, 0.0, 8.0, 1.0]), np.array([0.5, 0.0, -0.2, 0.9]), 0.7, 0.3
    drawn = np.array([subject._walk(precision, y, tau2, step, rng) for _ in range(n)])
    prior = tau2 + step * np.minimum.outer(np.arange(4), np.arange(4))
    covariance = np.linalg.inv(np.linalg.inv(prior) + np.diag(precision))
    mean = covariance @ (precision * y)
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 4.5 * np.sqrt(np.diag(covariance) / n))
    errors = np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / n)
    assert np.all(np.abs(np.cov(drawn.T) - covariance) < 4.5 * errors)


def test_histories_that_jump_have_the_posterior_mean_of_all_placements(monkeypatch):
    """One way alone, level 4 and rate 2: the mean of 2 000 histories beside the sum over 64 placements."""
    way, arm, n = len(subject.LEVELS) * (1 + len(subject.WALKS)) + 4 * len(subject.CHANGES) + 2, 1, 2_000
    made = nsb.worlds.make(SMALL)
    only = np.zeros_like(made._fit.weights)
    only[:, way] = 1
    monkeypatch.setitem(vars(made), "_fit", made._fit._replace(weights=only, together=np.array([0.0, 0.0, 1.0])))
    tau, hazard = made._fit.levels[way], made._fit.hazards[way]
    assert (tau, hazard) == (made._fit.levels[4], min(16 / CELLS, 0.5))
    y, variances, seen = of_cells(arm)
    total, weighted = 0.0, np.zeros(CELLS)
    for changes in itertools.product((0, 1), repeat=CELLS - 1):
        level = level_of(range(CELLS), changes)
        chance = np.prod(np.where(changes, hazard, 1 - hazard))
        chance *= np.exp(gaussian(y, variances, tau**2 * (level[seen][:, None] == level[seen])))
        means = np.zeros(CELLS)
        for each in range(level[-1] + 1):
            inside = level[seen] == each
            means[level == each] = (y / variances)[inside].sum() / ((1 / variances)[inside].sum() + 1 / tau**2)
        total, weighted = total + chance, weighted + chance * means
    rng = np.random.default_rng(6)
    drawn = np.array([made.paths(rng)[0][:, arm] for _ in range(n)]) - made._data[0]
    errors = drawn.std(axis=0) / np.sqrt(n)
    assert np.all(np.abs(drawn.mean(axis=0) - weighted / total) < 4.5 * errors)


def test_noise_does_not_become_drift():
    """Ten logs of a world that stands still: so do most histories, and the others move by little.

    Means of 300 cells, raw, have standard deviations of 0.04; a tenth of that is much for an arm that stands still.
    """
    means = np.tile([0.05, 0.045, 0.04, 0.03], (20_000, 1))
    moves = []
    for seed in range(10):
        made = log_of(means, seed).world()
        moves += [made.paths(np.random.default_rng(run))[0].std(axis=0) for run in range(10)]
    assert np.median(moves) < 1e-9
    assert np.mean(moves) < 0.004


def test_what_moves_is_seen_to_move():
    means = np.full((20_000, 3), 0.3)
    means[10_000:, 1] = 0.5
    made = log_of(means).world()
    assert made.still[1] < 1e-6
    assert (made.still[[0, 2]] > made.still[1]).all()
    low, high = made.expected()[:100, 1].mean(), made.expected()[-100:, 1].mean()
    assert (low, high) == pytest.approx((0.3, 0.5), abs=0.04)


@pytest.mark.parametrize("chances", [None, [0.9, 0.05, 0.05]])
def test_histories_hold_the_truth(chances):
    """The true means of cells lie within the 95 % interval of histories in 85 to 100 % of cells, over 10 logs."""
    means = worlds.RandomWalk(horizon=20_000, n_arms=3, step=0.002).means(3)
    held = []
    for seed in range(10):
        made = log_of(means, seed, chances).world()
        rng = np.random.default_rng(seed)
        drawn = np.array([made.paths(rng)[0] for _ in range(60)])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        cells = np.array([part.mean(axis=0) for part in np.array_split(means, len(low))])
        held.append(((low <= cells) & (cells <= high)).mean())
    assert 0.85 <= np.mean(held) <= 1


def test_an_arm_that_was_rarely_shown_is_less_certain():
    means = np.tile([0.3, 0.3, 0.3], (20_000, 1))
    made = log_of(means, 1, [0.98, 0.01, 0.01]).world()
    drawn = np.array([made.paths(np.random.default_rng(seed))[0].mean(axis=0) for seed in range(100)])
    assert drawn.std(axis=0)[1:].min() > 3 * drawn.std(axis=0)[0]


def test_rows_that_count_several_are_worth_as_much_as_single_ones():
    """A table of 40 hours with 100 trials of each arm an hour gives the cells of its 8 000 decisions."""
    rng = np.random.default_rng(2)
    wins = rng.binomial(100, 0.2, size=(40, 2))
    times, arms = np.repeat(np.arange(40) * 3_600.0, 2), np.tile([0, 1], 40)
    table = Log(times, arms, (wins / 100).ravel(), ("a", "b"), trials=np.full(80, 100))
    paid = np.concatenate([np.r_[np.ones(each), np.zeros(100 - each)] for each in wins.ravel()])
    single = Log(np.repeat(times, 100), np.repeat(arms, 100), paid, ("a", "b"))
    one, other = table.world(), single.world()
    assert one.horizon == other.horizon == 8_000
    np.testing.assert_allclose(one.pulls, other.pulls)
    np.testing.assert_allclose(one.rates, other.rates)
    np.testing.assert_allclose(one.scatter, other.scatter)
    assert one.own_law == rewards.Bernoulli()


def test_the_law_is_that_of_the_log():
    means = 20 * worlds.Piecewise(horizon=30_000, n_arms=3, changes=2).means(4) + 5
    noisy = log_of(means, law=rewards.Gaussian(scale=3.0)).world().own_law
    assert isinstance(noisy, rewards.Empirical)
    assert noisy.subgaussian == pytest.approx(3.0, rel=0.05)
    paid = rewards.Empirical(values=(0.0,) * 8 + (5.0, 25.0))
    bought = log_of(means, law=paid).world().own_law
    assert isinstance(bought, rewards.Empirical)
    assert bought.scaled
    assert np.mean(np.array(bought.values) == 0) == pytest.approx(0.8, abs=0.02)
    within = log_of(means / 30, law=rewards.Beta(concentration=20.0)).world().own_law
    assert isinstance(within, rewards.Beta)
    assert within.concentration == pytest.approx(20, rel=0.1)


@pytest.mark.parametrize("paid", [np.full(50, 500.0), np.full(50, -3.0), np.array([3.0, 0.0]), np.full(10, 0.01)])
def test_rewards_that_never_vary_make_a_world(paid):
    n = len(paid)
    made = Log(np.arange(float(n)), np.arange(n) % 2, paid, ("a", "b")).world()
    assert np.isfinite(made.means(0)).all()
    if n > 2:
        np.testing.assert_allclose(made.means(0), paid[0], rtol=1e-3)


def test_a_world_is_plain_data_and_its_law_comes_with_it():
    made = log_of(20 * np.full((2_000, 2), 0.3), law=rewards.Gaussian(scale=2.0)).world(horizon=500)
    again = nsb.worlds.make(json.loads(json.dumps(made.to_dict())))
    assert again == made
    np.testing.assert_array_equal(again.means(3), made.means(3))
    env = nsb.envs.NSBanditEnv(made)
    assert env.law == made.own_law
    assert made.means(1).shape == (500, 2)
    assert nsb.envs.NSBanditEnv(made, reward="gaussian").law == rewards.Gaussian()


def test_the_horizon_follows_from_a_rate():
    log = log_of(np.full((1_001, 2), 0.5), every=86.4)
    assert log.world().horizon == 1_001
    assert log.world(decisions_per_day=10_000).horizon == 10_000
    assert log.in_decisions("12h") == 500
    with pytest.raises(ValueError, match="not both"):
        log.world(100, decisions_per_day=5)


def test_logs_are_played_as_worlds_are():
    log = log_of(np.tile([0.7, 0.3], (3_000, 1)))
    runs = nsb.simulate(log, "ts", runs=2)
    np.testing.assert_array_equal(runs.final, nsb.simulate(log.world(), "ts", runs=2).final)
    assert nsb.simulate((log, {"horizon": 200}), "ts", runs=1).horizon == 200
    assert "ts" in str(nsb.compare({"mine": log}, ["ts", "random"], runs=5))


def test_histories_that_are_kept_are_those_that_are_drawn(monkeypatch):
    monkeypatch.setattr(subject, "KEPT_BYTES", 3 * 70 * 2 * 8)
    drawn = [SMALL.means(np.random.default_rng(seed)) for seed in range(6)]
    for _ in range(2):
        for seed in range(6):
            np.testing.assert_array_equal(SMALL.instance(np.random.default_rng(seed)), drawn[seed])
    assert len(subject._DRAWN[SMALL]) <= 3
    first = SMALL.instance(np.random.default_rng(5))
    assert first is SMALL.instance(np.random.default_rng(5))
    assert not first.flags.writeable
