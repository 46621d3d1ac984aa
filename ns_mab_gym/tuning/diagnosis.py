"""Theory compared with measurement: a grid of windows is played, and the recommended one beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import rewards
from ..agents.core.arguments import positive_int
from ..envs.bandit import NSBanditEnv
from ..means import Floats, as_means
from ..play.simulate import simulate
from ..rewards import Law
from ..theory.sets import as_windows
from ..theory.text_tables import number, signed, table
from ..theory.theorems import BERNOULLI, as_learner
from ..theory.windows import Recommendation, recommend_window, window_grid
from ..worlds.table import Table


@dataclass(frozen=True, eq=False)
class Measured:
    """Runs of one agent with several windows; the same seeds for every window, so that differences are paired.

    Attributes:
        agent: its name.
        windows: the W windows.
        regret: (W, R) the final regret of every run.
        pulls: (W, K) N_{i,T} of every arm, averaged over the runs.
        subgaussian: λ of the rewards.
    """

    agent: str
    windows: list[int]
    regret: Floats
    pulls: Floats
    subgaussian: float = BERNOULLI

    def of(self, window: int) -> Floats:
        """The regret of every run with this window."""
        regret: Floats = self.regret[self.windows.index(window)]
        return regret


def measure(
    means: npt.ArrayLike,
    windows: Sequence[int],
    agent: str = "beta-swts",
    *,
    law: Law | str = "bernoulli",
    runs: int = 20,
    seed: int = 0,
) -> Measured:
    """Play Beta-SWTS or γ-SWGTS on rewards of this law with these means, ``runs`` times with every window."""
    matrix, drawn = as_means(means), rewards.make(law)
    taus = as_windows(list(windows), len(matrix))
    if drawn.binary:
        as_learner("beta-swts", None, BERNOULLI, matrix)  # so that means that do not fit are refused in theory's words
    as_learner(agent, None, drawn.subgaussian, matrix)
    env = NSBanditEnv(Table(rows=matrix), reward=drawn)
    played = [simulate(env, agent, runs=runs, seed=seed, agent_kwargs={"window": tau}) for tau in taus]
    return Measured(
        agent=agent,
        windows=taus,
        regret=np.array([each.regret[:, -1] for each in played]),
        pulls=np.array([each.suboptimal_pulls.mean(axis=0) for each in played]),
        subgaussian=drawn.subgaussian,
    )


@dataclass(frozen=True, eq=False)
class WindowComparison:
    """The recommended window compared with the best of a measured grid."""

    measured: Measured  # the grid and the recommended window
    grid: list[int]
    recommended: Recommendation

    @property
    def best(self) -> int:
        """The window of the grid, without the recommended one, that has the least mean regret."""
        return min(self.grid, key=lambda window: float(self.measured.of(window).mean()))

    @property
    def loss(self) -> float:
        """The share by which the recommended window's mean regret exceeds that of the best; negative if it is lower."""
        chosen, best = self.measured.of(self.recommended.window), self.measured.of(self.best)
        return float(chosen.mean() / best.mean() - 1) if best.mean() > 0 else 0.0  # where all arms are alike

    @property
    def loss_error(self) -> float:
        """The standard error of `loss`, from the paired differences of the runs."""
        chosen, best = self.measured.of(self.recommended.window), self.measured.of(self.best)
        if len(best) < 2 or best.mean() == 0:
            return float("nan")
        paired = chosen - (1 + self.loss) * best
        return float(paired.std(ddof=1) / np.sqrt(len(best)) / best.mean())

    def __str__(self) -> str:
        rows = [("", "window τ", "mean regret", "standard error")]
        for name, window in (("best of the grid", self.best), ("recommended", self.recommended.window)):
            regret = self.measured.of(window)
            error = regret.std(ddof=1) / np.sqrt(len(regret)) if len(regret) > 1 else float("nan")
            rows.append((name, number(window), number(regret.mean()), number(error)))
        title = f"{self.measured.agent}, {self.measured.regret.shape[1]} runs, {len(self.grid)} windows"
        loss = f"the recommended window loses {signed(self.loss, 1)} ± {self.loss_error:.1%} (standard error)"
        return f"{title}\n{table(rows)}\n{loss}"


def compare_windows(
    means: npt.ArrayLike,
    agent: str = "beta-swts",
    *,
    law: Law | str = "bernoulli",
    runs: int = 20,
    seed: int = 0,
    ratio: float = 1.5,
) -> WindowComparison:
    """Measure a grid of windows from 20 to T, and the recommended one beside them."""
    runs = positive_int("runs", runs)
    matrix = as_means(means)
    recommended = recommend_window(matrix, agent, subgaussian=rewards.make(law).subgaussian)
    grid = window_grid(len(matrix), least=20, ratio=ratio)
    measured = measure(matrix, sorted({*grid, recommended.window}), agent, law=law, runs=runs, seed=seed)
    return WindowComparison(measured, grid, recommended)
