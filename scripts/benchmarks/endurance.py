"""Long runs: the time of a step, the peak of the memory, and counts and sums compared with exact arithmetic.

The regret is a plain sum of floats: after n terms of one size its relative error is at most n/2 units in the last
place, 10^-8 at n = 10^8. Windows add up afresh at the end of every lap, and discounted sums forget their errors as they
forget their rewards: neither error grows with the length of a run.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from benchmarks._common import Outcome
from gymnasium.utils import seeding

import ns_mab_gym as nsb
from ns_mab_gym import rewards, worlds
from ns_mab_gym.agents.core.kernel import states_in
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.agents.parts.memories import COUNT, ROUNDS, SEEN, SUM, Discounted, Prefixes, Window
from ns_mab_gym.envs.bandit import NSBanditEnv, streams
from ns_mab_gym.play.simulate import Pairing, Recording
from ns_mab_gym.runs import Runs, seed_pair

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


class Watched(Pairing):
    """A pairing that keeps the agent it played and the generator of the rewards' luck."""

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


def window(state: Window, played: Played) -> float:
    """How far the sums of a window are from those of its ring, in units of their largest rounding error."""
    assert int(state.clock[ROUNDS]) == played.runs.horizon
    if state.arms.size == 0:  # nothing is forgotten, and 0 or 1 is added to whole numbers
        assert int(state.pulls.sum()) == played.runs.horizon
        return float(np.abs(state.sums - np.rint(state.sums)).max())
    size = max(1.0, float(np.abs(state.rewards).max()) * state.arms.size)
    rings = [state.rewards[state.arms == arm] for arm in range(state.pulls.size)]
    assert [ring.size for ring in rings] == state.pulls.tolist()
    errors = [abs(math.fsum(ring) - total) for ring, total in zip(rings, state.sums, strict=True)]
    return float(max(errors)) / (2 * state.arms.size * size * UNIT)


def discounted(state: Discounted, played: Played) -> float:
    """How far the discounted pulls are from (1 − γ^T)/(1 − γ), in units of their largest rounding error."""
    gamma, horizon = played.state.gamma, played.runs.horizon
    assert int(state.clock[ROUNDS]) == horizon == int(state.clock[SEEN:].max())
    exact = -math.expm1(horizon * math.log(gamma)) / (1 - gamma)
    return abs(float(state.pulls.sum()) - exact) / exact / (4 * UNIT / (1 - gamma))


def prefixes(state: Prefixes, played: Played) -> float:
    """How far the counts and sums of all samples are from whole numbers."""
    last = state.points[np.arange(state.kept.size), :, state.kept]
    assert (last[:, SUM] <= last[:, COUNT]).all()
    return float(np.abs(last - np.rint(last)).max())


CHECKS: dict[type, Callable[[Any, Played], float]] = {Window: window, Discounted: discounted, Prefixes: prefixes}


def memory(played: Played) -> float:
    """The largest error of the agent's memory, in units of what rounding explains."""
    found = [CHECKS[type(state)](state, played) for state in states_in(played.state) if type(state) in CHECKS]
    return max(found, default=0.0)


AGENT, ARMS = "beta-swts", 10
HORIZONS = tuple(10**power for power in range(4, 9))
COMPILED, INTERPRETED = 10**8, 10**7
BESIDE, OTHERS = 3, 16e6  # numbers for each round beside its means, and bytes that may be taken for anything else
REGRET_LIMIT = 1e-8  # of the relative error of a regret: half a unit in the last place for each of 10^8 terms
LONG_RUN = f"""
import resource, sys
import ns_mab_gym as nsb
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
nsb.simulate(nsb.worlds.Abrupt(horizon=100), "{AGENT}", runs=1, n_jobs=1)  # loads the compiled loop
before = peak()
run = nsb.simulate(nsb.worlds.Abrupt(horizon=int(sys.argv[1])), "{AGENT}", runs=1, n_jobs=1)
print(run.seconds / run.steps, peak() - before, peak())
"""


def long_run(horizon: int) -> dict[str, float]:
    """Microseconds per step, and the megabytes that a run adds to a new process, of its means, and of the process."""
    said = subprocess.check_output([sys.executable, "-c", LONG_RUN, str(horizon)], text=True)
    seconds, added, peak = map(float, said.split())
    sizes = {"megabytes": added / 1e6, "means": 8e-6 * horizon * ARMS, "process": peak / 1e6}
    return {"microseconds": seconds * 1e6, **sizes}


def errors_of(agent: str, horizon: int) -> dict[str, Any]:
    """The errors after a compiled run; the regret's is that of a world where every addition is rounded."""
    played = play(agent, horizon, ROUNDED)
    kept = {"memory": memory(played), "draws": draws(played)}
    return {"regret": regret(played), "rounds_lost": counts(played), **kept}


def interpreted(horizon: int) -> bool:
    """Whether a run in Python is the compiled one, to the last bit of its regret and of its generator."""
    compiled = play("ts", horizon, ROUNDED)
    env = NSBanditEnv(nsb.worlds.Stationary(horizon=horizon, mu=ROUNDED))
    episode = nsb.run_episode(env, nsb.agents.TS(2), compiled.runs.seeds[0])
    assert episode.regret is not None
    same = episode.regret[-1] == compiled.runs.final[0] and (episode.pulls == compiled.runs.pulls[0]).all()
    return bool(same and env._luck.bit_generator.state == compiled.luck.bit_generator.state)


def endurance() -> Outcome:
    """Print time and memory of runs of up to 10^8 rounds, and the errors after them.

    Takes about ten minutes and 10 GB of memory.
    """
    print(f"endurance: {AGENT}, Abrupt world, K = {ARMS}; memory beyond that of a process that has played 100 rounds")
    table = {}
    for horizon in HORIZONS:
        table[str(horizon)] = row = long_run(horizon)
        print(f"    T = {horizon:>11,}  {row['microseconds']:.2f} µs per step  ", end="")
        print(f"{row['megabytes']:8,.1f} MB  8TK = {row['means']:8,.1f} MB", flush=True)
    fits = all(row["megabytes"] * 1e6 <= 8 * int(t) * (ARMS + BESIDE) + OTHERS for t, row in table.items())
    print(f"  after {COMPILED:,} compiled rounds: relative error of the regret, errors of windows and sums in bounds")
    errors = {}
    for agent in AGENTS:
        began = perf_counter()
        errors[agent] = found = errors_of(agent, COMPILED)
        print(f"    {agent:<12} regret {found['regret']:.1e}  memory {found['memory']:.1e} of its bound  ", end="")
        print(f"rounds lost {found['rounds_lost']}  draws {found['draws']}  {perf_counter() - began:.0f} s", flush=True)
    same = interpreted(INTERPRETED)
    print(f"  {INTERPRETED:,} rounds in Python equal the compiled ones: {same}")
    exact = all(
        found["regret"] <= REGRET_LIMIT and found["memory"] <= 1 and found["draws"] and not found["rounds_lost"]
        for found in errors.values()
    )
    return Outcome(fits and exact and same, {"table": table, "errors": errors, "interpreted": same})
