"""The held-out instances around a fixed world are its own means, in another order of arms, begun elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym import worlds
from ns_mab_gym.deep.shuffled_world import Shuffled

BASE = worlds.make("abrupt", horizon=60)


def test_every_instance_is_the_base_in_a_circle_with_arms_in_another_order() -> None:
    base = BASE.means()
    found = set()
    for seed in range(20):
        drawn = Shuffled(base=BASE).means(seed)
        fits = [
            (start, arms)
            for start in range(60)
            if (arms := _order(np.concatenate([base[start:], base[:start]]), drawn)) is not None
        ]
        assert fits, seed
        found.add(fits[0])
    assert len(found) > 15  # they differ


def _order(rolled: np.ndarray, drawn: np.ndarray) -> tuple[int, ...] | None:
    """The order of columns that makes one matrix the other; None if there is none."""
    left, order = list(range(rolled.shape[1])), []
    for column in drawn.T:
        match = next((arm for arm in left if (rolled[:, arm] == column).all()), None)
        if match is None:
            return None
        left.remove(match)
        order.append(match)
    return tuple(order)


def test_all_arms_and_all_rounds_come_first_equally_often() -> None:
    """600 draws: each of 6 blocks of rounds, and each of 10 arms, within 5 standard deviations of its share."""
    base = worlds.make("table", rows=np.arange(600.0).reshape(60, 10) / 600)
    firsts = np.array([Shuffled(base=base).means(seed)[0, 0] * 600 for seed in range(600)]).round().astype(int)
    for counts in (np.bincount(firsts // 10 // 10, minlength=6), np.bincount(firsts % 10, minlength=10)):
        share = 1 / len(counts)
        assert (np.abs(counts - 600 * share) < 5 * (600 * share * (1 - share)) ** 0.5).all()


def test_a_random_world_needs_no_shuffling() -> None:
    with pytest.raises(ValueError, match="'piecewise' draws its instances anew already; play it as it is"):
        Shuffled(base=worlds.make("piecewise"))
