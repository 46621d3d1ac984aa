"""The paper's worlds, written here from its equations so that no test trusts the code it checks."""

import numpy as np
import pytest


def paper_abrupt(general: bool, T: int = 50_000, K: int = 10) -> np.ndarray:
    """Equations of the two abrupt worlds; rounds t = 1..T and arms i = 1..K as in the paper."""
    means = np.empty((T, K))
    for t in range(1, T + 1):
        wave = 0.1 * np.sin(0.001 * t) if general else 0.0
        for i in range(2, 9):
            means[t - 1, i - 1] = 0.2 + 0.05 * (i - 2) + (wave if i in (2, 4, 6) else 0.0)
        if t < 15_000 or 30_000 < t < 40_000:
            means[t - 1, [0, 8, 9]] = 0.1, 0.55, 0.6
        else:
            means[t - 1, [0, 8, 9]] = (0.9 if general else 0.99) + wave, 0.15 + wave, 0.1 + wave
    return means


def paper_smooth(sigma: float, T: int = 50_000, K: int = 10) -> np.ndarray:
    """Equation of the smooth worlds."""
    w = 1 + (K - 1) * (1 + np.sin(sigma * np.arange(1, T + 1))) / 2
    return (K - 1) / K - np.abs(w[:, None] - np.arange(1, K + 1)) / K


@pytest.fixture(scope="session")
def abrupt() -> np.ndarray:
    return paper_abrupt(general=False)


@pytest.fixture(scope="session")
def general_abrupt() -> np.ndarray:
    return paper_abrupt(general=True)


@pytest.fixture(scope="session", params=[1e-4, 1e-3], ids=["slow", "fast"])
def smooth(request) -> np.ndarray:
    return paper_smooth(request.param)
