"""ln Γ(n + 1) as accurate as its docstring says, on both sides of every change of method."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ns_mab_gym.agents.parts.races import log_factorial


@pytest.mark.parametrize("whole", [*range(20), 100, 254])
def test_real_numbers_up_to_256_within_1e_13(whole):
    """The series is off by about 1e-14 at n = 16; rounding on both sides adds some units in the last place."""
    for share in np.linspace(0.01, 0.99, 25):
        n = whole + float(share)
        assert log_factorial(n) == pytest.approx(math.lgamma(n + 1), rel=4e-15, abs=1e-13)


@pytest.mark.parametrize("n", [0.0, 1.0, 2.0, 3.0, 20.0, 170.0, 255.0])
def test_whole_numbers_are_logarithms_of_factorials(n):
    assert log_factorial(n) == pytest.approx(math.log(math.factorial(int(n))), rel=1e-15, abs=1e-15)


def test_nothing_jumps_where_the_method_changes():
    """A step of 2e-9 changes ln Γ(n + 1) by 2e-9 ψ(n + 1), with ψ(n + 1) ≈ ln n."""
    for edge in (16.0, 255.0, 256.0):
        below, above = log_factorial(edge - 1e-9), log_factorial(edge + 1e-9)
        assert above - below == pytest.approx(2e-9 * math.log(edge + 0.5), abs=1e-12 * edge / 16)


@pytest.mark.parametrize("n", [-1e-16, -0.5, -3.0, -7.25, -1e5 - 0.5, -1e300, -math.inf, math.nan])
def test_below_zero_it_is_as_at_zero(n):
    """Counts that rounding, or a forged state, made negative neither leave the table nor count up for ever."""
    assert log_factorial(n) == 0.0
