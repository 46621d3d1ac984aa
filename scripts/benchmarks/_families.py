"""Families of worlds beside the leaderboard's: some seen while the agent to start with was made, others kept aside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ns_mab_gym.means import Floats

T = 10_000
Family = Callable[[np.random.Generator], Floats]


def one_at_a_time(rng: np.random.Generator) -> Floats:
    """Five arms; at each of eight times one of them, any, gets a new mean, and the others notice nothing."""
    means = np.tile(rng.random(5), (T, 1))
    for t in rng.integers(T, size=8):
        means[t:, rng.integers(5)] = rng.random()
    return means


def swaps(rng: np.random.Generator) -> Floats:
    """Eight arms, of which the two best change places at six times."""
    start = np.sort(0.8 * rng.random(8))
    start[-1] += 0.15
    means = np.tile(start, (T, 1))
    for t in rng.integers(T, size=6):
        means[t:, [6, 7]] = means[t:, [7, 6]]
    return means[:, rng.permutation(8)]


def outages(rng: np.random.Generator) -> Floats:
    """Six arms that stand still; each of the two best fails four times for 100 to 400 rounds."""
    means = np.tile(0.2 + 0.7 * rng.random(6), (T, 1))
    for arm in np.argsort(means[0])[-2:]:
        for t in rng.integers(T, size=4):
            means[t : t + rng.integers(100, 400), arm] = 0.02
    return means


def bursts(rng: np.random.Generator) -> Floats:
    """Ten arms of 0.2 to 0.5; at twelve times one of them pays 0.9 for 200 to 600 rounds."""
    means = np.tile(0.2 + 0.3 * rng.random(10), (T, 1))
    for t in rng.integers(T, size=12):
        means[t : t + rng.integers(200, 600), rng.integers(10)] = 0.9
    return means


def novelty(rng: np.random.Generator) -> Floats:
    """Six click rates of 1 to 5 %, each of which jumps once to three times as much, which wears off."""
    means = np.tile(0.01 + 0.04 * rng.random(6), (T, 1))
    for arm in range(6):
        t = int(rng.integers(T))
        means[t:, arm] *= 1 + 2 * np.exp(-np.arange(T - t) / rng.integers(500, 2_500))
    return means


def tides(rng: np.random.Generator) -> Floats:
    """Four arms with a trend each and a common season of 1 440 rounds that touches them by different amounts."""
    t = np.arange(T)
    season = np.sin(2 * np.pi * t / 1_440)[:, None] * rng.uniform(0, 0.15, 4)
    trend = np.outer(t / T - 0.5, rng.uniform(-0.6, 0.6, 4))
    return np.clip(0.5 + season + trend, 0.01, 0.99)


def returning(rng: np.random.Generator) -> Floats:
    """Seven arms; logits are Ornstein-Uhlenbeck processes, each with a speed of its own."""
    speed = rng.uniform(1e-4, 5e-3, 7)
    logits, level = np.empty((T, 7)), rng.normal(size=7)
    shocks = rng.normal(size=(T, 7)) * np.sqrt(2 * speed)
    for t in range(T):
        level = level * (1 - speed) + shocks[t]
        logits[t] = level
    return 1 / (1 + np.exp(-logits))


def ramps(rng: np.random.Generator) -> Floats:
    """Twenty arms on straight lines from one uniform mean to another."""
    start, end = rng.random(20), rng.random(20)
    return start + np.linspace(0, 1, T)[:, None] * (end - start)


def overtaking(rng: np.random.Generator) -> Floats:
    """Eight arms on S-curves: each moves from one uniform mean to another, at a time and a pace of its own."""
    start, end, when, width = rng.random(8), rng.random(8), rng.integers(T, size=8), rng.uniform(50, 1_500, 8)
    return start + (end - start) / (1 + np.exp(-(np.arange(T)[:, None] - when) / width))


def own_clocks(rng: np.random.Generator) -> Floats:
    """Ten arms with a rate of changes each, one in 500 to one in 50,000 rounds; a change draws a uniform mean."""
    rates = 10 ** rng.uniform(-4.7, -2.7, 10)
    changed = rng.random((T, 10)) < rates
    changed[0] = True
    drawn = rng.random((T, 10))
    last = np.maximum.accumulate(np.where(changed, np.arange(T)[:, None], 0), axis=0)
    return np.take_along_axis(drawn, last, axis=0)


def regimes(rng: np.random.Generator) -> Floats:
    """Six arms under one of three regimes, which come back; one lasts 700 rounds on average."""
    levels = rng.random((3, 6))
    regime = np.cumsum(rng.integers(1, 3, T) * (rng.random(T) < 1 / 700)) % 3
    return levels[regime]


def saw_teeth(rng: np.random.Generator) -> Floats:
    """Five arms that wear off in straight lines and are renewed at once, each with a period and a range of its own."""
    period, phase = rng.integers(600, 5_000, 5), rng.random(5)
    top, depth = rng.uniform(0.4, 0.9, 5), rng.uniform(0.1, 0.4, 5)
    return top - depth * ((np.arange(T)[:, None] / period + phase) % 1)


def square_waves(rng: np.random.Generator) -> Floats:
    """Seven arms, of which two alternate between a high and a low mean every 1,250 rounds; five stand still."""
    means = np.tile(0.6 * rng.random(7), (T, 1))
    wave = (np.arange(T) + int(rng.integers(2_500))) % 2_500 < 1_250
    means[:, 0], means[:, 1] = np.where(wave, 0.75, 0.35), np.where(wave, 0.35, 0.7)
    return means[:, rng.permutation(7)]


def common_tide(rng: np.random.Generator) -> Floats:
    """Eight arms whose order never changes: the same slow walk lifts and lowers all of them."""
    walk = np.cumsum(rng.normal(0, 0.004, T))
    offsets = np.sort(rng.normal(0, 0.5, 8))
    return 1 / (1 + np.exp(-(walk[:, None] + offsets)))


def late_bloomer(rng: np.random.Generator) -> Floats:
    """Nine arms that stand still, but one of the worst improves in a straight line and is the best in the end."""
    means = np.tile(0.1 + 0.5 * rng.random(9), (T, 1))
    arm, begin = int(means[0].argmin()), int(rng.integers(1_000, 4_000))
    means[begin:, arm] = np.linspace(means[0, arm], 0.85, T - begin)
    return means


def rare_sales(rng: np.random.Generator) -> Floats:
    """Twelve rates of 0.3 to 6 %, whose logarithms are slow random walks."""
    logs = np.log(0.02) + rng.normal(0, 0.6, 12) + np.cumsum(rng.normal(0, 0.006, (T, 12)), axis=0)
    return np.clip(np.exp(logs), 0.003, 0.06)


def harvests(rng: np.random.Generator) -> Floats:
    """Six arms that are poor but for one bump each, at a time and of a width and a height of its own."""
    when, width, height = rng.integers(T, size=6), rng.uniform(400, 2_000, 6), rng.uniform(0.3, 0.7, 6)
    return 0.15 + height * np.exp(-(((np.arange(T)[:, None] - when) / width) ** 2))


def decoys(rng: np.random.Generator) -> Floats:
    """Seven arms that stand still; at 25 times any one of them pays 0.95 for 50 rounds."""
    means = np.tile(0.1 + 0.6 * rng.random(7), (T, 1))
    for t in rng.integers(T, size=25):
        means[t : t + 50, rng.integers(7)] = 0.95
    return means


def staircases(rng: np.random.Generator) -> Floats:
    """Eight arms that go from one uniform mean to another in five equal steps, at times of their own."""
    start, end = rng.random(8), rng.random(8)
    steps = (np.arange(T)[:, None, None] >= rng.integers(T, size=(8, 5))).mean(axis=2)
    return start + (end - start) * steps


def launches(rng: np.random.Generator) -> Floats:
    """Ten click rates of 1 to 4 %; two of them are launched anew, with twice or three times the rate, for good."""
    means = np.tile(0.01 + 0.03 * rng.random(10), (T, 1))
    for arm in rng.permutation(10)[:2]:
        means[int(rng.integers(2_000, 8_000)) :, arm] *= rng.uniform(2, 3)
    return means


def heavy_steps(rng: np.random.Generator) -> Floats:
    """Five arms whose logits are walks with Cauchy steps: still for long, and then far away."""
    steps = 0.0007 * rng.standard_cauchy((T, 5))
    steps[0] = rng.normal(size=5)
    return 1 / (1 + np.exp(-np.clip(np.cumsum(steps, axis=0), -4, 4)))


def chirps(rng: np.random.Generator) -> Floats:
    """Four arms on sinusoids that become faster and faster."""
    cycles = rng.uniform(1, 6, 4) * (np.arange(T)[:, None] / T) ** 2 + rng.random(4)
    return rng.uniform(0.35, 0.65, 4) + rng.uniform(0.1, 0.3, 4) * np.sin(2 * np.pi * cycles)


def two_groups(rng: np.random.Generator) -> Floats:
    """Sixteen arms in two groups, a better and a worse one, which change places at three times."""
    level = np.where((np.arange(T)[:, None] >= rng.integers(T, size=3)).sum(axis=1) % 2, -0.15, 0.15)
    side = np.repeat([1, -1], 8)
    return 0.5 + level[:, None] * side + rng.uniform(-0.1, 0.1, 16)


def thaw(rng: np.random.Generator) -> Floats:
    """Ten uniform means that stand still for half of the time, and are random walks afterwards."""
    steps = np.where(np.arange(T)[:, None] < T // 2, 0.0, 0.006) * rng.standard_normal((T, 10))
    away = (rng.random(10) + np.cumsum(steps, axis=0)) % 2
    return np.minimum(away, 2 - away)


def weekdays(rng: np.random.Generator) -> Floats:
    """Six arms with a level each, and another one on each of seven days of 200 rounds, week after week."""
    day = np.arange(T) // 200 % 7
    return np.clip(rng.uniform(0.2, 0.8, 6) + rng.uniform(-0.15, 0.15, (7, 6))[day], 0.01, 0.99)


def promotions(rng: np.random.Generator) -> Floats:
    """Nine arms that stand still; at ten times one of them gains 0.4, of which half is left after 200 rounds."""
    means = np.tile(rng.uniform(0.1, 0.5, 9), (T, 1))
    for t in rng.integers(T, size=10):
        means[t:, rng.integers(9)] += 0.4 * 0.5 ** (np.arange(T - t) / 200)
    return np.minimum(means, 0.99)


def seesaws(rng: np.random.Generator) -> Floats:
    """Four pairs of arms; what one of a pair gains, by a random walk of its logit, the other loses."""
    walk = rng.normal(0, 0.4, 4) + np.cumsum(rng.normal(0, 0.012, (T, 4)), axis=0)
    return 1 / (1 + np.exp(-np.concatenate([walk, -walk], axis=1)))


def adoption(rng: np.random.Generator) -> Floats:
    """Eight arms that rise to a ceiling of their own, slowly at first, then fast, then slowly again."""
    ceiling, begin, pace = rng.uniform(0.2, 0.9, 8), rng.uniform(-2_000, 9_000, 8), rng.uniform(200, 1_500, 8)
    return 0.02 + (ceiling - 0.02) / (1 + np.exp(-(np.arange(T)[:, None] - begin) / pace))


def cohorts(rng: np.random.Generator) -> Floats:
    """Ten arms; at five times half of them, any, get new uniform means."""
    means = np.tile(rng.random(10), (T, 1))
    for t in np.sort(rng.integers(T, size=5)):
        means[t:, rng.permutation(10)[:5]] = rng.random(5)
    return means


def calm_and_storm(rng: np.random.Generator) -> Floats:
    """Seven random walks, reflected at 0 and 1, with small and large steps for 2,000 rounds each in turn."""
    size = np.where(np.arange(T)[:, None] // 2_000 % 2 == 0, 0.0005, 0.01)
    away = (rng.random(7) + np.cumsum(size * rng.standard_normal((T, 7)), axis=0)) % 2
    return np.minimum(away, 2 - away)


def small_gaps(rng: np.random.Generator) -> Floats:
    """Six arms between 0.4 and 0.6, which are all drawn anew at three times."""
    phase = (np.arange(T)[:, None] >= rng.integers(T, size=3)).sum(axis=1)
    return rng.uniform(0.4, 0.6, (4, 6))[phase]


def services(rng: np.random.Generator) -> Floats:
    """Eight services that answer 90 to 99.5 % of the time; at eight times one of them has another rate, for good."""
    means = np.tile(rng.uniform(0.9, 0.995, 8), (T, 1))
    for t in np.sort(rng.integers(T, size=8)):
        means[t:, rng.integers(8)] = rng.uniform(0.7, 0.995)
    return means


# The constants of changepoint-ucb were chosen with an eye on the families of the first table, not on the second.
SEEN: dict[str, Family] = {
    "one arm at a time": one_at_a_time, "the two best swap": swaps, "outages": outages, "bursts": bursts,
    "clicks that wear off": novelty, "trends and a season": tides, "processes that return": returning,
    "twenty ramps": ramps, "overtaking": overtaking, "clocks of their own": own_clocks,
    "regimes that return": regimes, "saw teeth": saw_teeth, "square waves": square_waves, "common tide": common_tide,
    "a late bloomer": late_bloomer, "rare sales": rare_sales, "harvests": harvests, "decoys": decoys,
    "staircases": staircases, "launches": launches, "heavy steps": heavy_steps, "chirps": chirps,
    "two groups": two_groups, "thaw": thaw,
}  # fmt: skip
ASIDE: dict[str, Family] = {
    "weekdays": weekdays, "promotions": promotions, "seesaws": seesaws, "adoption": adoption, "cohorts": cohorts,
    "calm and storm": calm_and_storm, "small gaps": small_gaps, "services": services,
}  # fmt: skip
