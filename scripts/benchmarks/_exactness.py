"""What an agent has counted and summed after a long run, compared with exact arithmetic.

The regret is a plain sum of floats: after n terms of one size its relative error is at most n/2 units in the last
place, 10^-8 at n = 10^8. Windows add up afresh at the end of every lap, and discounted sums forget their errors as they
forget their rewards: neither error grows with the length of a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from gymnasium.utils import seeding

from ns_mab_gym import rewards, worlds
from ns_mab_gym.agents.core.kernel import states_in
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.agents.parts.discounted import Discounted
from ns_mab_gym.agents.parts.prefixes import COUNT, SUM, Prefixes
from ns_mab_gym.agents.parts.windows import ROUNDS, SEEN, Window
from ns_mab_gym.envs.bandit import NSBanditEnv, streams
from ns_mab_gym.play.episode import seed_pair
from ns_mab_gym.play.match import Match
from ns_mab_gym.play.recording import Recording
from ns_mab_gym.runs import Runs

BLOCK = 10**6
UNIT = 2.0**-53  # half a unit in the last place of 1
# The agents, the laws that they are played with, and their parameters.
AGENTS: dict[str, tuple[rewards.Law, dict[str, Any]]] = {
    "random": (rewards.Bernoulli(), {}),
    "ts": (rewards.Bernoulli(), {}),
    "beta-swts": (rewards.Bernoulli(), {"window": 997}),
    "gamma-swgts": (rewards.Gaussian(), {"window": 997}),
    "sw-ucb": (rewards.Gaussian(), {"window": 997}),
    "kl-ucb": (rewards.Bernoulli(), {}),
    "d-ucb": (rewards.Gaussian(), {"gamma": 0.999}),
    "glr-klucb": (rewards.Bernoulli(), {}),
}
# Two worlds of two arms: in the first every regret is exact, in the second every addition is rounded.
EXACT, ROUNDED = (0.25, 0.5), (0.1, 0.7)


class Watched(Match):
    """A match that keeps the agent it played and the generator of the rewards' luck."""

    player: Any = None
    luck: np.random.Generator

    def instance(self, seed: int) -> tuple[Any, Knowledge, np.random.Generator]:
        """The instance with this seed."""
        means, known, self.luck = super().instance(seed)
        return means, known, self.luck

    def agent_for(self, known: Knowledge) -> Any:
        """A new agent."""
        self.player = super().agent_for(known)
        return self.player


class Played(NamedTuple):
    """One run, and what is left of it."""

    runs: Runs
    state: Any
    luck: np.random.Generator
    law: rewards.Law
    gap: float


def play(agent: str, horizon: int, mu: tuple[float, float] = EXACT) -> Played:
    """Play one run in the compiled loop."""
    law, parameters = AGENTS[agent]
    match = Watched(NSBanditEnv(worlds.Stationary(horizon=horizon, mu=mu), reward=law), agent, parameters)
    runs = Recording("curve", None).blank(horizon, len(mu), [seed_pair(0)])
    match.play_compiled(runs, 0)
    return Played(runs, match.player.state, match.luck, law, mu[1] - mu[0])


def regret(played: Played) -> float:
    """The relative error of the regret, against the number of suboptimal pulls times the gap."""
    exact = int(played.runs.suboptimal_pulls.sum()) * Fraction(played.gap)
    return float(abs(Fraction(float(played.runs.final[0])) - exact) / exact)


def counts(played: Played) -> int:
    """How many rounds the pulls of all arms miss."""
    return abs(int(played.runs.pulls.sum()) - played.runs.horizon)


def draws(played: Played) -> bool:
    """Whether the generator of the luck is where one draw per round takes it, and not where it was at first."""
    fresh = streams(seeding.np_random(played.runs.seeds[0][0])[0])[1]
    began = fresh.bit_generator.state
    if played.law.normal:  # a normal draw takes one step of the generator or, rarely, more
        for start in range(0, played.runs.horizon, BLOCK):
            fresh.standard_normal(min(BLOCK, played.runs.horizon - start))
    else:
        fresh.bit_generator.advance(played.runs.horizon)  # type: ignore[attr-defined]
    return bool(began != played.luck.bit_generator.state == fresh.bit_generator.state)


def window(state: Window, horizon: int) -> float:
    """How far the sums of a window are from those of its ring, in units of their largest rounding error."""
    assert int(state.clock[ROUNDS]) == horizon
    if state.arms.size == 0:  # nothing is forgotten, and 0 or 1 is added to whole numbers
        assert int(state.pulls.sum()) == horizon
        return float(np.abs(state.sums - np.rint(state.sums)).max())
    errors = []
    for arm in range(state.pulls.size):
        ring = state.rewards[state.arms == arm]
        assert ring.size == state.pulls[arm]
        size = max(1.0, float(np.abs(state.rewards).max()) * state.arms.size)
        errors.append(abs(math.fsum(ring) - state.sums[arm]) / (2 * state.arms.size * size * UNIT))
    return max(errors)


def discounted(state: Discounted, gamma: float, horizon: int) -> float:
    """How far the discounted pulls are from (1 − γ^T)/(1 − γ), in units of their largest rounding error."""
    assert int(state.clock[ROUNDS]) == horizon == int(state.clock[SEEN:].max())
    exact = -math.expm1(horizon * math.log(gamma)) / (1 - gamma)
    return abs(float(state.pulls.sum()) - exact) / exact / (4 * UNIT / (1 - gamma))


def prefixes(state: Prefixes) -> float:
    """How far the counts and sums of all samples are from whole numbers."""
    last = state.points[np.arange(state.kept.size), :, state.kept]
    assert (last[:, SUM] <= last[:, COUNT]).all()
    return float(np.abs(last - np.rint(last)).max())


CHECKS: dict[type, Callable[[Any, Played], float]] = {
    Window: lambda state, played: window(state, played.runs.horizon),
    Discounted: lambda state, played: discounted(state, played.state.gamma, played.runs.horizon),
    Prefixes: lambda state, played: prefixes(state),
}


def memory(played: Played) -> float:
    """The largest error of the agent's memory, in units of what rounding explains."""
    found = [CHECKS[type(state)](state, played) for state in states_in(played.state) if type(state) in CHECKS]
    return max(found, default=0.0)
