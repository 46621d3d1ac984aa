"""What several tests of the generic loop share."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym.play import simulate as generic


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use two processes, even if that is not worth it."""
    monkeypatch.setattr(generic, "SAVING", -np.inf)
    monkeypatch.setattr(generic, "usable_cores", lambda: 2)
