"""Reward laws: the right moments, one draw per round, a true subgaussian scale; and the Beta quantile against SciPy."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from scipy import special, stats

from ns_mab_gym import rewards
from ns_mab_gym.quantile import beta_cdf, beta_quantile, beta_quantiles
from ns_mab_gym.rewards import LAWS, Bernoulli, Beta, Gaussian

EXAMPLES = {
    "bernoulli": [Bernoulli()],
    "gaussian": [Gaussian(), Gaussian(scale=2.0)],
    "beta": [Beta(), Beta(concentration=1.5)],
}
every_example = pytest.mark.parametrize("law", [law for name in LAWS for law in EXAMPLES[name]], ids=repr)


def theory(law, mu):
    """The law's variance and fourth central moment, from the textbook."""
    if isinstance(law, Bernoulli):
        return mu * (1 - mu), mu * (1 - mu) * (1 - 3 * mu * (1 - mu))
    if isinstance(law, Gaussian):
        return law.scale**2, 3 * law.scale**4
    if mu in (0.0, 1.0):
        return 0.0, 0.0
    variance, kurtosis = stats.beta.stats(law.concentration * mu, law.concentration * (1 - mu), moments="vk")
    return float(variance), (float(kurtosis) + 3) * float(variance) ** 2


def beta_rewards(luck, a, b):
    return beta_quantiles(luck, np.full(luck.size, a), np.full(luck.size, b))


def draws(law, mu, luck):
    """``law.reward`` of every luck, by array operations where a Python loop would take long."""
    if isinstance(law, Bernoulli):
        out = (luck < mu).astype(float)
    elif isinstance(law, Gaussian):
        out = mu + law.scale * luck
    else:
        out = beta_rewards(luck, law.concentration * mu, law.concentration * (1 - mu))
    assert out[:2_000].tolist() == [law.reward(mu, float(u)) for u in luck[:2_000]]
    return out


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.87])
@every_example
def test_mean_and_variance_of_many_draws(law, mu):
    """Within 4 standard errors: √(v/n) for the mean, √((m₄ − v²)/n) for the variance about the true mean."""
    n = 100_000
    sample = draws(law, mu, law.luck(np.random.default_rng(2024), n))
    variance, fourth = theory(law, mu)
    assert abs(sample.mean() - mu) <= 4 * math.sqrt(variance / n)
    assert abs(np.mean((sample - mu) ** 2) - variance) <= 4 * math.sqrt(max(fourth - variance**2, 0) / n) + 1e-15
    low, high = law.support
    assert low <= sample.min()
    assert sample.max() <= high
    if law.binary:
        assert set(np.unique(sample)) <= {0.0, 1.0}


@every_example
def test_one_draw_a_round_whatever_the_arm(law):
    """The generator ends in the same state for any means, and one call for many rounds gives the same numbers."""
    one, two, three = (np.random.default_rng(5) for _ in range(3))
    for mu in np.linspace(0, 1, 50):
        law.draw(float(mu), one)
        law.draw(0.5, two)
    luck = law.luck(three, 50)
    assert one.bit_generator.state == two.bit_generator.state == three.bit_generator.state
    again = np.random.default_rng(5)
    assert [law.draw(0.3, again) for _ in range(50)] == [law.reward(0.3, float(u)) for u in luck]
    assert type(law.draw(0.3, again)) is float


def test_bernoulli_rewards_at_the_edges_of_the_luck():
    lowest, highest = 0.0, 1 - 2**-53  # what a generator's uniform can be
    assert [Bernoulli().reward(0.0, luck) for luck in (lowest, highest)] == [0.0, 0.0]
    assert [Bernoulli().reward(1.0, luck) for luck in (lowest, highest)] == [1.0, 1.0]


@every_example
def test_a_larger_mean_never_brings_less_in_the_same_round(law):
    for luck in law.luck(np.random.default_rng(6), 200).tolist():
        gained = [law.reward(mu, luck) for mu in np.linspace(0, 1, 41).tolist()]
        assert all(b >= a - 1e-12 for a, b in itertools.pairwise(gained))


@every_example
def test_subgaussian_scale_bounds_the_moment_generating_function(law):
    """The logarithm of E exp(s(X − μ)) ≤ λ²s²/2 on a grid of s, and λ² is not wasteful: it is the variance at μ = ½."""
    for mu, s in itertools.product((0.02, 0.2, 0.5, 0.7, 0.99), np.linspace(-12, 12, 49)):
        if isinstance(law, Bernoulli):
            log_mgf = math.log(1 - mu + mu * math.exp(s)) - s * mu
        elif isinstance(law, Gaussian):
            log_mgf = law.scale**2 * s**2 / 2
        else:
            log_mgf = math.log(special.hyp1f1(law.concentration * mu, law.concentration, s)) - s * mu
        assert log_mgf <= law.subgaussian**2 * s**2 / 2 + 1e-12
    assert law.subgaussian**2 == pytest.approx(theory(law, 0.5)[0], rel=1e-12)


@pytest.mark.parametrize(
    ("mu", "concentration"), [(0.5, 0.1), (0.1, 1.0), (0.8, 2.0), (1e-3, 10.0), (0.999, 10.0), (1e-3, 500.0)]
)
def test_beta_quantile_equals_scipys(mu, concentration):
    a, b = concentration * mu, concentration * (1 - mu)
    luck = np.concatenate([np.random.default_rng(7).random(300), [1e-6, 1e-3, 1 - 1e-3, 1 - 1e-6]])
    ours = beta_rewards(luck, a, b)
    np.testing.assert_allclose(ours, stats.beta.ppf(luck, a, b), rtol=0, atol=1e-11)
    cdf = [beta_cdf(x, a, b, special.betaln(a, b)) for x in ours.tolist()]
    np.testing.assert_allclose(cdf, stats.beta.cdf(ours, a, b), rtol=1e-11, atol=1e-14)


def test_beta_quantile_at_the_ends():
    assert beta_quantile(0.3, 0.0, 5.0) == 0.0
    assert beta_quantile(0.3, 5.0, 0.0) == 1.0
    assert 0.0 <= beta_quantile(0.0, 2.0, 3.0) < 1e-6
    assert 1 - 1e-4 < beta_quantile(1 - 2**-53, 2.0, 3.0) <= 1.0


@every_example
def test_laws_describe_themselves(law):
    assert LAWS[law.name] is type(law)
    assert eval(repr(law), vars(rewards)) == law
    assert rewards.make(json.loads(json.dumps(dataclasses.asdict(law)))) == law
    numbers = {k: np.float64(v) for k, v in dataclasses.asdict(law).items() if k != "name"}
    assert repr(type(law)(**numbers)) == repr(law)
    given = {k: getattr(law, k) for k in law.parameters()}
    assert rewards.make(law) == rewards.make(law.name, **given) == rewards.make(type(law)(), **given) == law


@pytest.mark.parametrize(
    ("given", "parameters", "error", "words"),
    [
        ("bernouli", {}, ValueError, r"unknown reward law 'bernouli'; did you mean 'bernoulli'\?"),
        ("poisson", {}, ValueError, "unknown reward law 'poisson'; "),
        ("gaussian", {"scale": 0.0}, ValueError, r"scale must be a finite number above 0, got 0\.0"),
        ("gaussian", {"scale": float("inf")}, ValueError, "scale must be a finite number above 0, got inf"),
        ("gaussian", {"sacle": 1.0}, TypeError, r"law 'gaussian' has no parameter 'sacle'; did you mean 'scale'\?"),
        ("beta", {"concentration": -1.0}, ValueError, r"concentration must be a finite number above 0, got -1\.0"),
        ("beta", {"scale": 1.0}, TypeError, "law 'beta' has no parameter 'scale'; it takes concentration"),
    ],
)
def test_bad_laws(given, parameters, error, words):
    with pytest.raises(error, match=words):
        rewards.make(given, **parameters)


@every_example
def test_means_that_a_law_cannot_have(law):
    law.check_means(np.array([[0.0, 1.0]]))
    with pytest.raises(ValueError, match="means must be finite, got means from nan to nan"):
        law.check_means(np.array([[0.5, np.nan]]))
    with pytest.raises(ValueError, match="means must be finite"):
        law.check_means(np.array([[0.5, np.inf]]))
    if math.isfinite(law.support[1]):
        with pytest.raises(ValueError, match=r"rewards need means in \[0, 1\], got means from -0.1 to 1.2"):
            law.check_means(np.array([[-0.1, 1.2]]))


@pytest.mark.parametrize("values", [(0.0, 0.0, 1.5, 7.0, 0.1), (-1.0, 0.0, 0.3, 2.0)])
def test_rewards_that_were_seen_are_moved_to_the_mean(values):
    """Over an even grid of luck: the mean, and the values multiplied, or shifted if one is negative."""
    law = rewards.Empirical(values=values)
    sample = np.array([law.reward(3.0, luck) for luck in np.arange(0.5, 1_000) / 1_000])
    assert sample.mean() == pytest.approx(3.0)
    seen, centre = np.sort(values), np.mean(values)
    expected = seen * 3 / centre if min(values) >= 0 else seen + 3 - centre
    np.testing.assert_allclose(np.unique(sample), np.unique(expected))
    assert law.subgaussian == pytest.approx(np.std(values))
    assert rewards.make(json.loads(json.dumps(dataclasses.asdict(law)))) == law


@pytest.mark.parametrize("values", [(1.0,), (2.0, 2.0), (0.0, math.nan)])
def test_rewards_that_say_nothing_are_refused(values):
    with pytest.raises(ValueError, match="two or more finite rewards, not all of them equal"):
        rewards.Empirical(values=values)
