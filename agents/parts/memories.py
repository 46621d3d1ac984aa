"""Memories of agents and detectors: windows, discounts, each arm's last pulls, totals, all samples, and prefix sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.arguments import fraction, positive_int
from ..core.kernel import ALL, BoolArray, FloatArray, IntArray, forgotten, helper, inlined
from ..core.knowledge import suggested_window

ROUNDS, SLOT, SEEN = 0, 1, 2  # indices into the clock
NOBODY = -1  # stands in the ring for the arm of a round that was forgotten


class Window(NamedTuple):
    """The last τ rounds, and the pulls and the sum of rewards of each arm in them.

    The window is global: it spans the last τ *rounds*, not the last τ pulls of each arm.
    """

    arms: IntArray  # (τ,) the arm of each round, a ring; empty if nothing is ever forgotten
    rewards: FloatArray  # (τ,)
    # (2 + 2 K,) ROUNDS observed so far, the SLOT of the ring that comes next, from SEEN on the round in which each arm
    # was last observed, however long ago, 0 if never, and from SEEN + K on the number of rounds observed when each arm
    # was last forgotten (one more array in the tuple would take time)
    clock: IntArray
    pulls: IntArray  # (K,) N_i
    sums: FloatArray  # (K,) S_i


def new_window(n_arms: int, length: int | None) -> Window:
    """An empty window of the given length; with None, one that remembers everything."""
    capacity = length or 0
    return Window(
        arms=np.zeros(capacity, np.int64),
        rewards=np.zeros(capacity),
        clock=np.zeros(SEEN + 2 * n_arms, np.int64),
        pulls=np.zeros(n_arms, np.int64),
        sums=np.zeros(n_arms),
    )


@inlined
def slide(window: Window, arm: int, reward: float) -> int:
    """Take in a round. Returns the arm whose round left the window, or -1.

    What leaves is subtracted from the arm that was pulled *then*. At the end of every lap of the ring the sums are
    added up afresh, so that rounding errors never pile up.
    """
    capacity = window.arms.size
    slot = window.clock[SLOT]
    gone = NOBODY
    if capacity > 0:
        if window.clock[ROUNDS] >= capacity:
            gone = window.arms[slot]
            counts = int(gone != NOBODY)  # no branch: a forgotten round counts for nothing, and its reward is 0
            window.pulls[gone * counts] -= counts
            window.sums[gone * counts] -= window.rewards[slot]
        window.arms[slot] = arm
        window.rewards[slot] = reward
    window.pulls[arm] += 1
    window.sums[arm] += reward
    window.clock[ROUNDS] += 1
    window.clock[SEEN + arm] = window.clock[ROUNDS]
    if capacity > 0:
        window.clock[SLOT] = slot + 1
        if slot + 1 == capacity:
            window.clock[SLOT] = 0
            window.sums[:] = 0.0
            for s in range(capacity):
                window.sums[window.arms[s] * int(window.arms[s] != NOBODY)] += window.rewards[s]
    return gone


@helper
def forget_rounds(window: Window, arm: int) -> None:
    """Drop the rounds of one arm but keep the clock; with ``ALL``, empty the window and set its clock to 0.

    When the one arm was last seen is kept: as a new arm it would be forced before all others, and one that is forgotten
    again and again would keep them waiting for ever.
    """
    for i in forgotten(arm, window.pulls.size):
        window.pulls[i] = 0
        window.sums[i] = 0.0
    if arm == ALL:
        for c in range(window.clock.size):  # not [:] = 0, which takes a second to compile
            window.clock[c] = 0
        return
    window.clock[SEEN + window.pulls.size + arm] = window.clock[ROUNDS]
    for s in range(window.arms.size):
        if window.arms[s] == arm:
            window.arms[s] = NOBODY
            window.rewards[s] = 0.0


@helper
def expect_rounds(window: Window, arm: int, pulls: int) -> None:
    """Count rounds in which an arm showed its mean in the window, 0 if it has none; nothing leaves the window."""
    before = window.pulls[arm]
    if before > 0:
        window.sums[arm] += pulls * (window.sums[arm] / before)
    window.pulls[arm] = before + pulls
    window.clock[ROUNDS] += pulls
    window.clock[SEEN + arm] = window.clock[ROUNDS]


def check_window(window: object) -> int:
    """The window as an int, if it is a positive integer."""
    return positive_int(
        "window", window, hint=f"the paper suggests 4*sqrt(T*ln T), {suggested_window(50_000)} at T = 50 000"
    )


FAINT = 1e-100  # a count below it is as good as none: the arm is unseen again, and no number ever underflows


class Discounted(NamedTuple):
    """The discounted pulls N_i and sums S_i of each arm: after round t, a reward of round s counts γ^(t − s) times."""

    pulls: FloatArray  # (K,) N_i
    sums: FloatArray  # (K,) S_i; 0 ≤ S_i ≤ N_i to the last bit if rewards lie in [0, 1]
    clock: IntArray  # (2 + K,) as that of a window: ROUNDS observed so far, and from SEEN on when each arm was last


def new_discounted(n_arms: int) -> Discounted:
    """An empty memory."""
    return Discounted(np.zeros(n_arms), np.zeros(n_arms), np.zeros(SEEN + n_arms, np.int64))


@inlined
def discount(memory: Discounted, gamma: float, arm: int, reward: float) -> None:
    """Take in a round: the counts and sums of all arms shrink by γ, then those of the arm played grow."""
    pulls, sums, clock = memory.pulls, memory.sums, memory.clock
    for i in range(pulls.size):
        remembered = gamma if pulls[i] > FAINT else 0.0
        pulls[i] *= remembered
        sums[i] *= remembered
    pulls[arm] += 1.0
    sums[arm] += reward
    clock[ROUNDS] += 1
    clock[SEEN + arm] = clock[ROUNDS]


@helper
def forget_discounted(memory: Discounted, arm: int) -> None:
    """Drop what was seen of one arm but not when; with ``ALL``, empty the memory and set its clock to 0."""
    for i in forgotten(arm, memory.pulls.size):
        memory.pulls[i] = 0.0
        memory.sums[i] = 0.0
    if arm == ALL:
        memory.clock[:] = 0


@helper
def expect_discounted(memory: Discounted, arm: int, pulls: int) -> None:
    """Count rounds in which an arm showed its mean, 0 if it has none; nothing fades meanwhile."""
    before = memory.pulls[arm]
    if before > 0.0:
        memory.sums[arm] += pulls * (memory.sums[arm] / before)
    memory.pulls[arm] = before + pulls
    memory.clock[ROUNDS] += pulls
    memory.clock[SEEN + arm] = memory.clock[ROUNDS]


def check_discount(gamma: object) -> float:
    """The discount factor as a float, if it lies in (0, 1]."""
    hint = "1 forgets nothing, and 1 - 1/(4*sqrt(T)), 0.9989 at T = 50 000, is a common choice"
    return fraction("gamma", gamma, allow_zero=False, hint=hint)


class Recent(NamedTuple):
    """Successes and failures of each arm's last n pulls, and their counts.

    The window is the arm's own: it spans its last n *pulls*, in however many rounds they were.
    """

    ring: BoolArray  # (K, n); (K, 0) if nothing is ever forgotten
    slots: IntArray  # (K,) of the ring, which come next
    pulls: FloatArray  # (K,) in the window
    sums: FloatArray  # (K,) successes in the window


def new_recent(n_arms: int, length: int | None) -> Recent:
    """An empty memory of the last ``length`` pulls of each arm; with None, one of all pulls."""
    ring = np.zeros((n_arms, length or 0), np.bool_)
    return Recent(ring, np.zeros(n_arms, np.int64), np.zeros(n_arms), np.zeros(n_arms))


@inlined
def keep(recent: Recent, arm: int, reward: float) -> None:
    """Take in a pull, in the place of the arm's oldest if its window is full."""
    length, slot = recent.ring.shape[1], recent.slots[arm]
    if length > 0:
        if recent.pulls[arm] == length:
            recent.pulls[arm] -= 1.0
            recent.sums[arm] -= 1.0 if recent.ring[arm, slot] else 0.0
        recent.ring[arm, slot] = reward > 0.0
        recent.slots[arm] = slot + 1 if slot + 1 < length else 0
    recent.pulls[arm] += 1.0
    recent.sums[arm] += reward


@helper
def forget_recent(recent: Recent, arm: int) -> None:
    """Empty the window of one arm, or with ``ALL`` of every arm."""
    for i in forgotten(arm, recent.pulls.size):
        recent.ring[i, :] = False
        recent.slots[i] = 0
        recent.pulls[i] = 0.0
        recent.sums[i] = 0.0


class Totals(NamedTuple):
    """A ring for each arm, which holds the total of its rewards after each of the latest of them."""

    values: FloatArray  # (K, capacity + 1)
    ends: IntArray  # (K,) the place of the latest total


def new_totals(n_arms: int, capacity: int) -> Totals:
    """Empty rings for the last ``capacity`` rewards of each arm.

    Rows that stay empty cost address space, not memory: the system hands out a page when it is first written to.
    """
    return Totals(np.zeros((n_arms, capacity + 1)), np.zeros(n_arms, np.int64))


@inlined
def add_to_totals(totals: Totals, arm: int, reward: float) -> None:
    """Add a reward. At the end of a lap the totals of the arm start from 0, so that rounding errors never pile up."""
    values, ends = totals.values, totals.ends
    total = values[arm, ends[arm]] + reward
    ends[arm] += 1
    if ends[arm] == values.shape[1]:
        ends[arm] = 0
        for place in range(values.shape[1]):
            values[arm, place] -= total
        total = 0.0
    values[arm, ends[arm]] = total


@inlined
def last_sum(values: FloatArray, ends: IntArray, arm: int, n: int) -> float:
    """The sum of the last n rewards of an arm with at least that many, n at most the capacity."""
    end = ends[arm]
    start = end - n
    if start < 0:
        start += values.shape[1]
    return values[arm, end] - values[arm, start]  # type: ignore[no-any-return]


@helper
def forget_totals(totals: Totals, arm: int) -> None:
    """Return the ring of one arm, or with ``ALL`` of every arm, to what it was at first; rewards left are not read."""
    for i in forgotten(arm, totals.ends.size):
        totals.values[i, 0] = 0.0
        totals.ends[i] = 0


class Samples(NamedTuple):
    """The rewards of each arm since it was last forgotten, the oldest first."""

    values: FloatArray  # (K, capacity); row i holds counts[i] samples
    counts: IntArray  # (K,)


def new_samples(n_arms: int, horizon: int) -> Samples:
    """An empty memory for as many samples of each arm as there are rounds.

    Rows that stay empty cost address space, not memory: the system hands out a page when it is first written to.
    """
    rounds = positive_int("horizon", horizon)
    return Samples(np.zeros((n_arms, rounds)), np.zeros(n_arms, np.int64))


@helper
def append(samples: Samples, arm: int, reward: float) -> None:
    """Keep one more sample of an arm."""
    count = samples.counts[arm]
    if count == samples.values.shape[1]:
        raise ValueError(
            "the memory of samples is full: it holds one sample of each arm per round of the horizon that the agent "
            "was made for; make the agent with a longer horizon, or reset it between episodes"
        )
    samples.values[arm, count] = reward
    samples.counts[arm] = count + 1


@helper
def forget_samples(samples: Samples, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    for i in forgotten(arm, samples.counts.size):
        samples.counts[i] = 0


COUNT, SUM = 0, 1  # rows of an arm's points
FINEST = 1.0 / 128.0  # the first ε


class Prefixes(NamedTuple):
    """Of each arm, the number and the sum of the samples before every split point; behind them, those of all samples.

    Points are kept at every multiple of a spacing while there is room. When the memory of an arm is full, points are
    dropped whose neighbours lie closer together than ε times their distance to the nearer end of the samples, with
    ε = 1/128, doubled until a quarter of the memory is free: the grid is fine near both ends, coarse in between. With
    1 024 points and a spacing of 10, every point is kept of the first 10 230 samples, and ε is at most 1/64 up to
    50 000 samples, 1/32 up to 10⁶, and 1/16 up to 10⁹.
    """

    points: FloatArray  # (K, 2, memory) COUNT and SUM
    kept: IntArray  # (K,) the number of split points; at this place are the count and sum of all samples


def new_prefixes(n_arms: int, memory: int) -> Prefixes:
    """No samples. Rows that stay empty cost address space, not memory."""
    points = positive_int("memory", memory, least=8)
    return Prefixes(np.zeros((n_arms, 2, points)), np.zeros(n_arms, np.int64))


@inlined
def keep_point(points: FloatArray, kept: IntArray, arm: int) -> None:
    """Let the samples so far be split from those to come here."""
    last = kept[arm]
    if last + 1 == points.shape[2]:
        last = _thin(points[arm], last)
    points[arm, COUNT, last + 1] = points[arm, COUNT, last]
    points[arm, SUM, last + 1] = points[arm, SUM, last]
    kept[arm] = last + 1


@helper
def _thin(row: FloatArray, last: int) -> int:
    """Drop points that have close neighbours until a quarter is free; the place where the last one is then."""
    n, epsilon, room = row[COUNT, last], FINEST, (3 * row.shape[1]) // 4
    while last >= room:
        place = 0
        for j in range(1, last + 1):
            before, after = row[COUNT, place], row[COUNT, min(j + 1, last)]
            if j == last or after - before > epsilon * min(before, n - after):
                place += 1
                row[COUNT, place], row[SUM, place] = row[COUNT, j], row[SUM, j]
        last = place
        epsilon *= 2.0
    return last


@helper
def forget_prefixes(prefixes: Prefixes, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    for i in forgotten(arm, prefixes.kept.size):
        for j in range(prefixes.kept[i] + 1):
            prefixes.points[i, COUNT, j] = 0.0
            prefixes.points[i, SUM, j] = 0.0
        prefixes.kept[i] = 0
