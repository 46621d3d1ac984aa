"""NumPy's default generators for many streams at once, compiled: the state of a stream is a row of four numbers.

A stream is ``Generator(PCG64(SeedSequence(entropy, spawn_key=(key,))))``: its numbers are those that NumPy draws, to
the bit, which NumPy's compatibility policy keeps as they are. A generator object takes some thousand bytes and ten
microseconds to make; a row here takes 32 bytes and a fraction of a microsecond.

Sources: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number
Generation", 2014 (PCG XSL RR 128/64); and the hashing of ``numpy.random.SeedSequence``, after her ``seed_seq_fe``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..compilation import compiled

__all__ = ["draw_uniforms", "seed_streams", "skip_draws"]

Words = npt.NDArray[np.uint64]

POOL = 4  # words of a seed sequence's pool
LOW, HALF, ONE, ZERO = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1), np.uint64(0)
INIT_A, MULT_A = np.uint64(0x43B0D7E5), np.uint64(0x931E8875)
INIT_B, MULT_B = np.uint64(0x8B51F9DD), np.uint64(0x58F38DED)
MIX_L, MIX_R, SHIFT = np.uint64(0xCA01F9DD), np.uint64(0x4973F715), np.uint64(16)
MULTIPLIER = np.uint64(2549297995355413924), np.uint64(4865540595714422341)  # of PCG64, its high and low half


@compiled
def _hashed(value: Any, constant: Any) -> Any:
    """A 32-bit word, hashed with the given constant."""
    value = ((value & LOW) * constant) & LOW
    return value ^ (value >> SHIFT)


@compiled
def _mixed(x: Any, y: Any) -> Any:
    result = (MIX_L * x - MIX_R * y) & LOW
    return result ^ (result >> SHIFT)


@compiled
def _pool(entropy: Any, pool: Any) -> None:
    """Mix words of entropy, at least as many as the pool has, into the pool."""
    constant = INIT_A
    for i in range(POOL):
        following = (constant * MULT_A) & LOW
        pool[i] = _hashed(entropy[i] ^ constant, following)
        constant = following
    for source in range(entropy.size):
        for target in range(POOL):
            if source != target:
                word = pool[source] if source < POOL else entropy[source]
                following = (constant * MULT_A) & LOW
                pool[target] = _mixed(pool[target], _hashed(word ^ constant, following))
                constant = following


@compiled
def _state_words(pool: Any, words: Any) -> None:
    """Four 64-bit words, as ``SeedSequence.generate_state`` makes them from the pool."""
    constant = INIT_B
    for i in range(8):
        following = (constant * MULT_B) & LOW
        half = _hashed(pool[i % POOL] ^ constant, following)
        constant = following
        words[i // 2] = half if i % 2 == 0 else words[i // 2] | (half << HALF)


@compiled
def _plus(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> Any:
    low = a_low + b_low
    return a_high + b_high + (ONE if low < a_low else ZERO), low


@compiled
def _times(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> Any:
    """The product of two 128-bit numbers, modulo 2^128."""
    a0, a1, b0, b1 = a_low & LOW, a_low >> HALF, b_low & LOW, b_low >> HALF
    middle = ((a0 * b0) >> HALF) + ((a0 * b1) & LOW) + ((a1 * b0) & LOW)
    high = a1 * b1 + ((a0 * b1) >> HALF) + ((a1 * b0) >> HALF) + (middle >> HALF)
    return high + a_high * b_low + a_low * b_high, a_low * b_low


@compiled
def _stepped(high: Any, low: Any, inc_high: Any, inc_low: Any) -> Any:
    high, low = _times(high, low, MULTIPLIER[0], MULTIPLIER[1])
    return _plus(high, low, inc_high, inc_low)


@compiled
def seed_streams(entropy: Words, keys: Words, states: Words) -> None:
    """Set up streams from (n, W) words of entropy, W ≥ 4, and their (n,) spawn keys, into (n, 4) states."""
    n, width = entropy.shape
    assembled, pool, words = np.empty(width + 1, np.uint64), np.empty(POOL, np.uint64), np.empty(4, np.uint64)
    for i in range(n):
        length = POOL  # zeros beyond the pool are no part of an entropy
        for j in range(width):
            assembled[j] = entropy[i, j]
            if entropy[i, j] != ZERO and j >= length:
                length = j + 1
        assembled[length] = keys[i]
        _pool(assembled[: length + 1], pool)
        _state_words(pool, words)
        inc_high, inc_low = (words[2] << ONE) | (words[3] >> np.uint64(63)), (words[3] << ONE) | ONE
        high, low = _stepped(ZERO, ZERO, inc_high, inc_low)
        high, low = _plus(high, low, words[0], words[1])
        states[i, 0], states[i, 1] = _stepped(high, low, inc_high, inc_low)
        states[i, 2], states[i, 3] = inc_high, inc_low


@compiled
def draw_uniforms(states: Words, envs: Any, luck: Any) -> None:
    """Fill (rounds, n) with the next uniforms of the streams of these sub-environments."""
    for j in range(envs.size):
        i = envs[j]
        high, low, inc_high, inc_low = states[i, 0], states[i, 1], states[i, 2], states[i, 3]
        for row in range(luck.shape[0]):
            high, low = _stepped(high, low, inc_high, inc_low)
            word, turn = high ^ low, high >> np.uint64(58)
            word = (word >> turn) | (word << ((np.uint64(64) - turn) & np.uint64(63)))
            luck[row, j] = np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        states[i, 0], states[i, 1] = high, low


@compiled
def skip_draws(states: Words, envs: Any, rounds: Any) -> None:
    """Jump over so many draws of each of these streams, in a number of steps that grows with the logarithm of theirs.

    Source: F. B. Brown, "Random Number Generation with Arbitrary Strides", 1994.
    """
    for j in range(envs.size):
        i, left = envs[j], rounds[j]
        times_high, times_low, plus_high, plus_low = ZERO, ONE, ZERO, ZERO
        by_high, by_low, inc_high, inc_low = MULTIPLIER[0], MULTIPLIER[1], states[i, 2], states[i, 3]
        while left > 0:
            if left % 2 == 1:
                times_high, times_low = _times(times_high, times_low, by_high, by_low)
                plus_high, plus_low = _times(plus_high, plus_low, by_high, by_low)
                plus_high, plus_low = _plus(plus_high, plus_low, inc_high, inc_low)
            more_high, more_low = _plus(by_high, by_low, ZERO, ONE)
            inc_high, inc_low = _times(more_high, more_low, inc_high, inc_low)
            by_high, by_low = _times(by_high, by_low, by_high, by_low)
            left //= 2
        high, low = _times(states[i, 0], states[i, 1], times_high, times_low)
        states[i, 0], states[i, 1] = _plus(high, low, plus_high, plus_low)
