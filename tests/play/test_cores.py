"""The one rule for ``n_jobs``: None and -1 are all cores, a positive integer is itself, anything else is refused."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym.play.cores import job_count, usable_cores


@pytest.mark.parametrize(("given", "expected"), [(1, 1), (1_000, 1_000), (np.int64(3), 3), (None, 5), (-1, 5)])
def test_what_is_allowed(given: Any, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(5)), raising=False)
    assert job_count(given) == expected


@pytest.mark.parametrize("given", [0, -2, 1.5, 2.0, True, False, np.True_, "two", "2", [2]], ids=repr)
def test_what_is_refused_before_anything_is_done(given: Any) -> None:
    with pytest.raises(
        (TypeError, ValueError), match=r"n_jobs must be a positive integer, got .*; (-1 means all cores|write 2)$"
    ):
        job_count(given)
    with pytest.raises((TypeError, ValueError), match="n_jobs must be a positive integer"):
        nsb.simulate("no such world", "no such agent", n_jobs=given)


def test_the_cores_that_are_granted_count_where_the_system_tells_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 7}, raising=False)
    assert usable_cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_cores() == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
