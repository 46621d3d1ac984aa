"""Detectors of changes and the agents around them, against brute force from whole histories."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from index_rules import divergence, kl_index
from numba import njit

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import ALL, forget, watch
from ns_mab_gym.agents.parts import detectors
from ns_mab_gym.agents.parts.alarms import alarms_in
from ns_mab_gym.agents.parts.detectors import ADWIN, GLR, Cusum, Halves, PageHinkley, _changed
from ns_mab_gym.agents.parts.memories import COUNT

H = 2.4871  # that no sum of rewards equals: rounding must not decide
DELTA = 1e-4
T, K = 50_000, 3
History = list[float]


def largest_tail(steps: list[float]) -> float:
    """The largest sum of the last k steps, k ≥ 0: what g is, without its recursion."""
    return max(sum(steps[k:]) for k in range(len(steps) + 1))


def cusum(history: History, warmup: int = 7, epsilon: float = 0.1) -> bool:
    """Whether the larger of g⁺ and g⁻ after these samples of one arm exceeds h."""
    mean = sum(history[:warmup]) / max(1, len(history[:warmup]))
    return max(largest_tail([s * (x - mean) - epsilon for x in history[warmup:]]) for s in (1, -1)) > H


def page_hinkley(history: History, epsilon: float = 0.1) -> bool:
    """The same with the mean of the samples up to and including each."""
    gaps = [x - sum(history[: n + 1]) / (n + 1) for n, x in enumerate(history)]
    return max(largest_tail([s * gap - epsilon for gap in gaps]) for s in (1, -1)) > H


def halves(history: History, w: int, b: float) -> bool:
    """Whether there are w samples and the sums of the two halves of the last w differ by more than b."""
    last = history[-w:]
    return len(last) == w and abs(math.fsum(last[w // 2 :]) - math.fsum(last[: w // 2])) > b


def likelihood_ratio(history: History, every: int, splits: int, factor: float) -> bool:
    """Whether s d(μ̂_{1:s}, μ̂_{1:n}) + (n − s) d(μ̂_{s+1:n}, μ̂_{1:n}) ≥ ln(factor n^(3/2)/δ) for one of the splits s."""
    n, mean = len(history), float(np.mean(history))
    if n % every or not 0 < mean < 1:
        return False
    parts = [(s, float(np.mean(history[:s])), float(np.mean(history[s:]))) for s in range(splits, n, splits)]
    ratios = [s * divergence(first, mean) + (n - s) * divergence(second, mean) for s, first, second in parts]
    return max(ratios, default=-1.0) >= math.log(factor * n**1.5 / 0.05)


@functools.cache
def sizes(n: int, per_row: int) -> tuple[int, ...]:
    """The sizes of the buckets after n samples, the oldest first, by merging the two oldest of a size in a list."""
    if n == 0:
        return ()
    buckets, size = [*sizes(n - 1, per_row), 1], 1
    while buckets.count(size) > per_row:
        first = buckets.index(size)
        buckets[first : first + 2] = [2 * size]
        size *= 2
    return tuple(buckets)


def adwin(history: History, cut: str, every: int, per_row: int) -> bool:
    """Whether the means of older and newer samples differ by ε_cut where the samples are cut between two buckets.

    ε_cut is that of Komiyama and others, or that of Bifet and Gavaldà with δ' = δ/ln n.
    """
    n, total = len(history), np.cumsum(history)
    old = np.cumsum(sizes(n, per_row))[:-1]
    if n % every or not old.size:
        return False
    new = n - old
    gap = np.abs(total[old - 1] / old - (total[-1] - total[old - 1]) / new)
    if cut == "hoeffding":
        log = math.log(1 / DELTA)
        return bool((gap >= np.sqrt(log / (2 * old)) + np.sqrt(log / (2 * new))).any())
    m, log = 1 / (1 / old + 1 / new), math.log(2 * math.log(n) / DELTA)
    return bool((gap >= np.sqrt(2 / m * np.var(history) * log) + 2 / (3 * m) * log).any())


def glr(every: int, splits: int, factor: float = 1.0) -> tuple[Any, Callable[[History], bool]]:
    rule = functools.partial(likelihood_ratio, every=every, splits=splits, factor=factor)
    return GLR(delta=0.05, factor=factor, every=every, splits=splits), rule


def buckets(**given: Any) -> tuple[Any, Callable[[History], bool]]:
    return ADWIN(delta=DELTA, **given), functools.partial(adwin, **given)


def two_halves(w: int, b: float) -> tuple[Any, Callable[[History], bool]]:
    return Halves(b, samples=w), functools.partial(halves, w=w, b=b)


TESTS: dict[str, tuple[Any, Callable[[History], bool]]] = {
    "cusum": (Cusum(H, warmup=7, epsilon=0.1), cusum),
    "page-hinkley": (PageHinkley(H, epsilon=0.1), page_hinkley),
    **{f"halves of {w}": two_halves(w, 0.21 * w if w > 2 else 0.8) for w in (2, 4, 6, 20)},
    **{f"glr {given}": glr(*given) for given in ((1, 1), (10, 10), (10, 5, 3.0), (3, 7))},
    **{  # 1 000 buckets of one sample have every cut; 5 or 2 of each size those between them
        f"adwin {cut} {every} {per_row}": buckets(cut=cut, every=every, per_row=per_row)
        for cut in ("hoeffding", "variance")
        for every, per_row in ((1, 1_000), (10, 5), (4, 2))
    },
}


@pytest.mark.parametrize("law", ["bernoulli", "beta"])
@pytest.mark.parametrize("name", TESTS)
def test_alarms_are_those_of_the_definition(name, law):
    """On each arm's samples since it was forgotten, alone or with the others; the arms change places five times."""
    detector, expected = TESTS[name]
    state, rng = detector.new_state(K), np.random.default_rng(5)
    histories: list[History] = [[] for _ in range(K)]
    alarms = 0
    for t in range(1_200):
        arm = int(rng.integers(K))
        mean = (0.02, 0.5, 0.95)[(arm + t // 200) % K]
        histories[arm].append(float(rng.random() < mean if law == "bernoulli" else rng.beta(2 * mean, 2 * (1 - mean))))
        alarm = expected(histories[arm])
        assert watch(state, arm, histories[arm][-1]) == alarm, t
        if alarm:
            alarms += 1
            everything = alarms % 3 == 0
            forget(state, ALL if everything else arm)
            for i in range(K) if everything else [arm]:
                histories[i].clear()
    assert alarms >= 4  # else nothing was tested


def test_the_sums_of_halves_do_not_drift():
    """One huge sample costs the small ones their digits; when it has left the ring, nothing of that may remain.

    And after 50 000 samples of many sizes both sums equal those of the ring's contents to 1e-12.
    """
    state = Halves(1e9, samples=6).new_state(1)
    for x in [1e16, *[0.1] * 17]:
        watch(state, 0, x)
    np.testing.assert_allclose(state.statistics[0, 1:3], [0.3, 0.3], rtol=0, atol=1e-12)
    rewards = np.random.default_rng(3).random(50_003) ** 9
    assert not any(watch(state, 0, x) for x in rewards)
    np.testing.assert_allclose(state.statistics[0, 1:3], [rewards[-6:-3].sum(), rewards[-3:].sum()], rtol=0, atol=1e-12)


def test_the_screen_without_logarithms_drops_no_split_that_the_test_would_take():
    """One split, thresholds a hair below and above its statistic, also with means so close that the bound is tight."""
    rng = np.random.default_rng(5)
    for _ in range(2_000):
        s, rest = (int(n) for n in 10 ** rng.uniform(0.5, 5, 2))
        mean = rng.uniform(0.01, 0.99)
        first, second = s * mean, rest * np.clip(mean + 10 ** rng.uniform(-3, 0) * rng.choice([-1, 1]), 0, 1)
        n, total = s + rest, first + second
        value = s * divergence(first / s, total / n) + rest * divergence(second / rest, total / n)
        row = np.array([[s, n], [first, total]], float)
        if value > 1e-3:
            assert _changed(row, 1, value * (1 - 1e-6))
            assert not _changed(row, 1, value * (1 + 1e-6))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_samples_are_no_change(value):
    state = GLR(delta=0.99, every=1, splits=1).new_state(1)
    assert not any(watch(state, 0, value) for _ in range(300))


@njit
def _watch_all(state, rewards):
    """After how many samples the first alarm is sounded; 0 if none is."""
    for t in range(rewards.size):
        if watch(state, 0, rewards[t]):
            return t + 1
    return 0


def test_what_a_full_memory_keeps():
    """Sums of what came before, every one of the first samples, and gaps of at most ε times the nearer end."""
    rng = np.random.default_rng(1)
    values = (rng.random(50_000) < 0.3).astype(float)
    state = GLR(delta=1e-100, every=10, splits=10, memory=1024).new_state(1)
    assert _watch_all(state, values[:10_230]) == 0
    kept = state.prefixes.kept[0]
    np.testing.assert_array_equal(state.prefixes.points[0, COUNT, :kept], np.arange(10, 10_231, 10))
    assert _watch_all(state, values[10_230:]) == 0
    kept = state.prefixes.kept[0]
    assert kept < 1024
    counts, sums = state.prefixes.points[0, :, : kept + 1].copy()
    assert counts[-1] == 50_000
    np.testing.assert_array_equal(sums, values.cumsum()[counts.astype(int) - 1])
    assert (counts[:-1] % 10 == 0).all()
    assert (np.diff(counts) > 0).sum() >= kept - 1  # the last point may be that of all samples
    left, right = counts[:-2], counts[1:-1]
    assert (right - left <= np.maximum(10, np.minimum(left, 50_000 - left) / 64)).all()


def test_a_thinned_grid_finds_almost_the_largest_statistic():
    """Wherever the change was; the gaps are at most 1/32 of the distance to the nearer end, the loss twice that."""
    rng = np.random.default_rng(2)
    for change in (300, 3_000, 10_000, 19_000, 19_900):
        values = (rng.random(20_000) < np.where(np.arange(20_000) < change, 0.5, 0.3)).astype(float)
        state = GLR(delta=1e-100, every=30_000, splits=1, memory=1024).new_state(1)
        _watch_all(state, values)
        total = values.cumsum()
        n, mean = 20_000, total[-1] / 20_000

        def all_statistics(s: np.ndarray, total=total, n=n, mean=mean) -> np.ndarray:
            pieces = []
            for size, share in ((s, total[s - 1] / s), (n - s, (total[-1] - total[s - 1]) / (n - s))):
                share = np.clip(share, 1e-15, 1 - 1e-15)
                pieces.append(size * (share * np.log(share / mean) + (1 - share) * np.log((1 - share) / (1 - mean))))
            return pieces[0] + pieces[1]

        kept = state.prefixes.points[0, COUNT, : state.prefixes.kept[0] - 1].astype(int)
        assert len(kept) < 1024
        assert all_statistics(kept).max() >= (1 - 2 / 32) * all_statistics(np.arange(1, n)).max()


def test_a_full_histogram_forgets_its_oldest_bucket(monkeypatch):
    """With room for 2 · (2³ − 1) samples it holds the latest, and its totals are theirs."""
    monkeypatch.setattr(detectors, "LONGEST", 14)
    values = np.random.default_rng(2).random(100)
    state = ADWIN(delta=1e-100, per_row=2).new_state(1)
    assert state.filled.shape == (1, 3)
    for value in values:
        watch(state, 0, value)
    held = int((state.filled[0] * 2 ** np.arange(3)).sum())
    assert 7 <= held <= 14
    assert state.totals[0, :2].tolist() == pytest.approx([held, values[-held:].sum()])


def index_choice(histories: list[History], last: list[int], xi: float, t: int | None = None) -> int:
    """argmax of μ̂ + √(ξ ln t/N), t = Σ N if not given; of the arms without samples the one unseen longest."""
    unseen = [i for i, each in enumerate(histories) if not each]
    if unseen:
        return min(unseen, key=lambda i: (last[i], i))
    log_t = math.log(t or sum(map(len, histories)))
    values = [sum(each) / len(each) + math.sqrt(xi * log_t / len(each)) for each in histories]
    return values.index(max(values))


@pytest.mark.parametrize("name", ["cusum-ucb", "pht-ucb", "forced"])
def test_arms_that_restart_alone_from_the_full_history(name):
    """Uniform exploration of all arms; Σ N of what is remembered, not t, in the index."""
    given = {"threshold": H, "alpha": 0.1, "epsilon": 0.1, "xi": 0.5}
    if name == "pht-ucb":
        agent, changed = agents.PHTUCB(4, **given), page_hinkley
    else:
        agent, changed = agents.CUSUMUCB(4, **given, warmup=7, forced_warmup=name == "forced"), cusum
    agent.reset(seed=8)
    rng, luck = np.random.default_rng(8), np.random.default_rng(9)
    histories: list[History] = [[] for _ in range(4)]
    last, alarms = [0] * 4, []
    for t in range(900):
        if (u := rng.random()) < 0.1:
            arm = int(u / 0.1 * 4)
        else:
            short = [i for i in range(4) if name == "forced" and len(histories[i]) < 7]
            fewest = min(short, key=lambda i: (len(histories[i]), last[i], i), default=None)
            arm = index_choice(histories, last, 0.5) if fewest is None else fewest
        assert agent.act() == arm, f"round {t + 1}"
        histories[arm].append(float(luck.random() < (0.2, 0.4, 0.6, 0.8)[(arm + t // 300) % 4]))
        agent.observe(arm, histories[arm][-1])
        last[arm] = t + 1
        if changed(histories[arm]):
            histories[arm] = []
            alarms.append((t + 1, arm, False))
    assert alarms_in(agent.state).tolist() == alarms
    assert len(alarms) >= 4


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
def test_m_ucb_from_the_full_history(gamma):
    """Algorithm 1: all arms restart; turns and the logarithm count from the restart."""
    agent, luck, period = agents.MUCB(4, threshold=6.0, samples=20, gamma=gamma), np.random.default_rng(6), 4 / gamma
    histories: list[History] = [[] for _ in range(4)]
    start, alarms = 0, []
    for t in range(1, 1_601):
        turn = (t - start - 1) % max(5, math.floor(period))
        arm = turn if turn < 4 else index_choice(histories, [0] * 4, 2.0, t - start)
        assert agent.act() == arm, f"round {t}"
        histories[arm].append(float(luck.random() < (0.1, 0.5, 0.9)[(arm + t // 400) % 3]))
        agent.observe(arm, histories[arm][-1])
        if halves(histories[arm], 20, 6.0):
            histories, start = [[] for _ in range(4)], t
            alarms.append((t, arm, True))
    assert alarms_in(agent.state).tolist() == alarms
    assert len(alarms) >= 3


def play(agent: agents.Agent, rounds: int) -> tuple[list[int], list[float]]:
    """Arms and rewards where the best of four arms is another one in every 300 rounds."""
    luck, arms, rewards = np.random.default_rng(1), [], []
    agent.reset(seed=1)
    for t in range(rounds):
        arms.append(agent.act())
        rewards.append(float(luck.random() < 0.1 + 0.25 * ((arms[-1] + t // 300) % 4)))
        agent.observe(arms[-1], rewards[-1])
    return arms, rewards


@pytest.mark.parametrize("name", ["glr-klucb", "glr-ts"])
@pytest.mark.parametrize("restart", ["local", "global"])
@pytest.mark.parametrize("growing", [True, False])
def test_arms_are_forced_in_turn_counted_from_the_first_round(name, restart, growing):
    """In round t arm (t − 1) mod P, if below K, with P = max(K + 1, ⌊K/(α₁√k)⌋), k − 1 alarms before it."""
    agent = agents.make(name, 4, 1_000, restart=restart, rate=0.3, growing=growing)
    arms, _ = play(agent, 1_500)
    alarms = alarms_in(agent.state)["round"]
    assert len(alarms) >= 3
    periods = set()
    for t, arm in enumerate(arms, 1):
        k = int((alarms < t).sum()) + 1
        period = max(5, math.floor(4 / (0.3 * (math.sqrt(k) if growing else 1.0))))
        periods.add(period)
        if (t - 1) % period < 4:
            assert arm == (t - 1) % period, t
    assert 13 in periods
    assert len(periods) > 1 or not growing


@pytest.mark.parametrize("restart", ["local", "global"])
def test_the_index_of_glr_klucb_counts_from_the_restart_of_the_arm(restart):
    """Where nothing is forced: argmax of max{q : N_i d(μ̂_i, q) ≤ ln(t − τ_i)}, on the samples since τ_i."""
    agent = agents.make("glr-klucb", 4, 1_000, restart=restart, rate=0.02, growing=False)
    arms, rewards = play(agent, 1_200)
    alarms = alarms_in(agent.state).tolist()
    assert len(alarms) >= 2
    compared = 0
    for t in range(1, 1_201):
        if (t - 1) % 200 < 4:  # ⌊4/0.02⌋
            continue
        since = [
            max([r for r, a, _ in alarms if r < t and (restart == "global" or a == i)], default=0) for i in range(4)
        ]
        seen = [[rewards[s] for s in range(since[i], t - 1) if arms[s] == i] for i in range(4)]
        if not all(seen):
            assert not seen[arms[t - 1]]  # an arm without samples comes first
            continue
        indices = [kl_index(len(x), sum(x), math.log(t - since[i])) for i, x in enumerate(seen)]
        assert indices[arms[t - 1]] >= max(indices) - 1e-9, t
        compared += 1
    assert compared > 1_000


@pytest.mark.parametrize(("name", "exploration"), [("glr-ts", {"rate": 0.0}), ("adr-ts", {})])
def test_without_alarms_and_exploration_it_is_ts_to_the_bit(name, exploration):
    agent, plain = agents.make(name, 4, 1_000, delta=1e-100, **exploration), agents.make("ts", 4)
    assert play(agent, 1_500) == play(plain, 1_500)
    for key, value in plain.state_dict().items():
        if key.startswith("state."):
            np.testing.assert_array_equal(agent.state_dict()[key.replace("state.", "state.inner.", 1)], value)
    np.testing.assert_array_equal(agent.state_dict()["generator"], plain.state_dict()["generator"])
