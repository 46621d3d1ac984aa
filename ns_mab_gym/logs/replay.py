"""Estimates of what agents and fixed policies would have earned, from the rewards of a log.

Agents that learn are replayed by rejection (Li and others, "Unbiased offline evaluation of contextual-bandit-based news
article recommendation algorithms", 2011): an agent chooses, and the next decision of the log with that arm is its next
reward. Where propensities p differ, a decision is kept with probability c/p, c the least propensity, so that every
choice waits equally long, whatever the arm (Dudík and others, "Sample-efficient nonstationary policy evaluation for
contextual bandits", 2012). What is estimated, without bias, is the mean reward of an agent that is given a random share
c of the log's decisions, over the same time: its world moves 1/c times as fast for each decision.

The estimate is the mean of some passes over the log. Its variance has two parts: other passes, and another log; the
latter is how much two passes over the same bootstrap log agree (rows are resampled, and copies are parted). So it
contains that another log might have led the agent elsewhere.

Policies that do not learn are weighted: inverse propensity (IPS), self-normalised (SNIPS), and doubly robust (DR),
which takes the mean of each arm over time from the other half of the rows. Their variance comes from the differences
of successive rows, so that what moves slowly is not taken for noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import positive_int, shown
from ..agents.core.knowledge import Knowledge
from ..agents.core.protocol import Agent
from ..agents.core.registry import make
from ..means import Floats, Ints, Mask
from ..play.loop import replayed
from ..specs import MODELS, AgentSpec, agent_specs, as_agent
from ..statistics import chi_square_tail, t_quantile
from ..theory.text_tables import table
from .log import Log

TAIL = 0.025
PASSES = 20  # over the log itself
SAMPLES = 40, 120  # bootstrap logs, at least and at most
ROWS = 20_000_000  # of all bootstrap logs, about
APART = 1 / 50  # of the log: how far copies of a row are moved
BLOCKS, PER_BLOCK = 50, 20  # pieces of time in which shares are tested; rows of an arm in each
LEVEL, EVEN = 1e-3, 1 - 1e-6  # p-values below which shares are not uniform, and above which arms were taken in turn
FAR, MUCH = 6.0, 0.05  # standard errors, and share, by which propensities may be off
SPANS, PRIOR = 20, 5.0  # pieces of time of the doubly robust means, and the rows that the mean of all time counts as
FEW = 30  # effective decisions, below which intervals are not to be trusted


class PolicyValue(NamedTuple):
    """An estimate of the mean reward of a policy.

    Attributes:
        policy: its name.
        method: "rejection", "IPS", "SNIPS" or "DR"; "mean" for what the log did.
        reward: the mean reward of a decision.
        low: the lower end of its 95 % interval.
        high: the upper end.
        decisions: how many of the log's decisions were used; of several passes, on average.
        effective: the effective sample size, (Σ w)²/Σ w².
    """

    policy: str
    method: str
    reward: float
    low: float
    high: float
    decisions: int
    effective: float


@dataclass(frozen=True, eq=False)
class Replay:
    """Estimates of what policies would have earned; ``print`` shows them as a table.

    Attributes:
        rows: the estimates.
        notes: what was assumed, as sentences.
    """

    rows: tuple[PolicyValue, ...]
    notes: tuple[str, ...]

    def of(self, policy: str, method: str = "") -> PolicyValue:
        """Return the estimate of a policy: by this method; or the doubly robust one, or else the first."""
        found = {row.method: row for row in self.rows if row.policy == policy}
        if not found or (method and method not in found):
            known = sorted({f"{row.policy} ({row.method})" for row in self.rows})
            raise KeyError(
                f"no estimate of {policy!r}{f' by {method}' if method else ''}; there are {', '.join(known)}"
            )
        return found[method] if method else found.get("DR", next(iter(found.values())))

    def __str__(self) -> str:
        lines = [("policy", "method", "mean reward", "95 % interval", "decisions", "effective")]
        for row in self.rows:
            interval = f"{row.low:.4g} to {row.high:.4g}"
            size = f"{row.decisions:,}", f"{row.effective:,.0f}" + (" (few)" if row.effective < FEW else "")
            lines.append((row.policy, row.method, f"{row.reward:.4g}", interval, *size))
        return "\n".join([table(lines), *self.notes])


def replay_of(log: Log, agents: Any, policies: Mapping[str, npt.ArrayLike], seed: int = 0) -> Replay:
    """Return the estimates; see :meth:`ns_mab_gym.Log.replay`."""
    seed = positive_int("seed", seed, least=0, most=None)
    if log.trials is not None:
        raise ValueError(
            "replay needs one row for each decision, and the rows of this log count several; log.world() is made from "
            "such tables too, and compare, tune and recommend play it"
        )
    propensities, notes = _propensities(log)
    rows = [_mean("what the log did", "mean", log.rewards, np.ones(len(log.rewards)))]
    weighed = {f"always {name}": np.eye(log.n_arms)[arm] for arm, name in enumerate(log.names)}
    for name, given in policies.items():
        weighed[name] = _chances(log, name, given)
    means, piece = _expected(log)
    for name, chances in weighed.items():
        rows += _weighted(log, name, chances, propensities, means, piece)
    specs = agent_specs(agents) if not isinstance(agents, list | tuple) or len(agents) else []
    if specs:
        least = float(propensities.min())
        rows += _rejected(log, specs, least / propensities, least, seed)
        taken = rows[-1].decisions
        faster = f"{len(log.arms) / max(taken, 1):.3g}"
        notes.append(
            f"rejection: {taken:,} of {len(log.arms):,} decisions are taken; an agent is given one in {faster}, and "
            f"so the log's time passes {faster} times as fast for it; intervals: bootstrap of rows, {PASSES} passes"
        )
    if log.delays is not None:
        notes.append("rewards are shown at once, although they were late in the log")
    return Replay(tuple(rows), tuple(notes))


def _propensities(log: Log) -> tuple[Floats, list[str]]:
    """(N,) the log's propensities, and what is said about them; raises an error if they cannot be known."""
    n, k = len(log.arms), log.n_arms
    if log.propensities is not None:
        for arm, name in enumerate(log.names):
            weight = (log.arms == arm) / log.propensities
            off, error = float(weight.mean()) - 1, float(weight.std()) / math.sqrt(n)
            if off == -1 or (abs(off) > MUCH and abs(off) > FAR * error):
                raise ValueError(
                    f"the propensities do not fit the log: {name!r} was shown {1 + off:.3g} times as often as they "
                    f"say; they must be the probabilities with which the arm of each row was chosen"
                )
        return log.propensities, ["propensities are those of the log"]
    blocks = int(np.clip(n // (PER_BLOCK * k), 1, BLOCKS))
    counts = np.bincount(np.arange(n) * blocks // n * k + log.arms, minlength=blocks * k).reshape(blocks, k)
    p, overall = (_uniform(each) for each in (counts, counts.sum(axis=0, keepdims=True)))
    if p < LEVEL:
        parts = zip(log.names, counts.sum(axis=0) / n, strict=True)
        shares = ", ".join(f"{name} {100 * part:.3g} %" for name, part in parts)
        over = "" if overall < LEVEL else " in parts of it"
        raise ValueError(
            f"the log has no propensities, and its arms were not chosen uniformly{over} ({shares}; chi-square test "
            f"over {blocks} parts of its time, p = {max(p, 1e-300):.1g}), so that it cannot tell what others would "
            f"have earned; log the probability of each choice and name its column with propensity=, or use log.world()"
        )
    notes = [
        f"no propensities: uniform choices are assumed (chi-square test over {blocks} parts of the time, p = {p:.2g})"
    ]
    if p > EVEN:
        notes.append("shares are more even than chance makes them: arms were taken in turn rather than at random")
    return np.full(n, 1 / k), notes


def _uniform(counts: Ints) -> float:
    """The p-value of "in each row all counts have the same mean", by a chi-square test."""
    share = counts.mean(axis=1, keepdims=True)
    return chi_square_tail(float(((counts - share) ** 2 / share).sum()), counts.shape[0] * (counts.shape[1] - 1))


def _chances(log: Log, name: str, given: npt.ArrayLike) -> Floats:
    """(K,) or (N, K) the probabilities of a policy."""
    chances = np.asarray(given, dtype=np.float64)
    if chances.shape not in ((log.n_arms,), (len(log.arms), log.n_arms)):
        raise ValueError(
            f"policy {name!r} needs probabilities of shape ({log.n_arms},) or ({len(log.arms)}, {log.n_arms}), got "
            f"{chances.shape}"
        )
    if not np.all(chances >= 0) or not np.allclose(chances.sum(axis=-1), 1, atol=1e-6):
        raise ValueError(f"the probabilities of policy {name!r} must be at least 0 and sum to 1, got {shown(given)}")
    return chances


def _expected(log: Log) -> tuple[Floats, Ints]:
    """Means of each arm in pieces of time, each from the rows of one half alone: a row for a piece, and (N,) which.

    A row of the log has the piece of its time from the half to which it does not belong.
    """
    n, k = len(log.arms), log.n_arms
    half, span = np.arange(n) % 2, np.arange(n) * SPANS // n
    place, shape = (half * SPANS + span) * k + log.arms, (2, SPANS, k)
    counts = np.bincount(place, minlength=2 * SPANS * k).reshape(shape)
    sums = np.bincount(place, weights=log.rewards, minlength=2 * SPANS * k).reshape(shape)
    overall = sums.sum(axis=1, keepdims=True) / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    means = (sums + PRIOR * overall) / (counts + PRIOR)
    return means.reshape(-1, k), (1 - half) * SPANS + span


def _weighted(
    log: Log, name: str, chances: Floats, propensities: Floats, means: Floats, piece: Ints
) -> Iterator[PolicyValue]:
    """The estimates of a policy that does not learn."""
    fixed = chances.ndim == 1
    weight = (chances[log.arms] if fixed else chances[np.arange(len(log.arms)), log.arms]) / propensities
    yield _mean(name, "IPS", weight * log.rewards, weight)
    if not weight.any():
        return
    value = float((weight * log.rewards).sum() / weight.sum())
    yield _mean(name, "SNIPS", value + weight * (log.rewards - value) / weight.mean(), weight)
    expected = (means @ chances)[piece] if fixed else np.einsum("nk,nk->n", chances, means[piece])
    yield _mean(name, "DR", expected + weight * (log.rewards - means[piece, log.arms]), weight)


def _mean(name: str, method: str, terms: Floats, weight: Floats) -> PolicyValue:
    """The mean of terms, with an interval by Student's t from the differences of successive ones."""
    used = int(np.count_nonzero(weight))
    effective = float(weight.sum() ** 2 / (weight**2).sum()) if used else 0.0
    value = float(terms.mean())
    error = math.sqrt(float((np.diff(terms) ** 2).mean()) / 2 / len(terms))
    reach = t_quantile(TAIL, max(int(effective) - 1, 0)) * error if error > 0 else 0.0
    return PolicyValue(name, method, value, value - reach, value + reach, used, effective)


def _rejected(log: Log, specs: list[AgentSpec], keep: Floats, least: float, seed: int) -> list[PolicyValue]:
    """The estimates of agents that learn.

    Args:
        log: the log.
        specs: the agents.
        keep: (N,) with which probability each row may be taken.
        least: the least propensity.
        seed: from which all draws are derived.
    """
    n, rng = len(log.arms), np.random.default_rng([seed, 0x1065])
    arms, rewards = log.arms.astype(np.int64), np.ascontiguousarray(log.rewards, dtype=np.float64)
    unit = bool(rewards.min() >= 0 and rewards.max() <= 1)
    support = (0.0, 1.0) if unit else (-math.inf, math.inf)
    known = Knowledge(
        n_arms=log.n_arms, horizon=max(1, round(least * n)), support=support,
        subgaussian=0.5 if unit else max(float(rewards.std()), 1e-12),
    )  # fmt: skip
    players = []
    for spec in specs:
        agent, parameters = as_agent(*spec.source)
        told = {} if spec.name in MODELS else {"blind": True}
        players.append(
            make(agent, knowledge=known, **{**told, **parameters}) if isinstance(agent, str | type) else agent
        )
        if isinstance(players[-1], Agent):
            players[-1].check_rewards(support, log.binary)

    def passed(rows: Ints | None) -> list[tuple[int, float]]:
        """One pass of every agent over the log, or over rows of it."""
        kept: Mask = rng.random(n) < keep if rows is None else rng.random(n) < keep[rows]
        a, r = (arms, rewards) if rows is None else (arms[rows], rewards[rows])
        seeds, found = rng.integers(2**63, size=len(players)), []
        for player, start in zip(players, seeds.tolist(), strict=True):
            player.reset(seed=start)
            found.append(replayed(player, a, r, kept))
        return found

    passes = np.array([passed(None) for _ in range(PASSES)])  # (passes, agents, 2)
    samples, pairs = int(np.clip(ROWS // n, *SAMPLES)), []
    for _ in range(samples):
        drawn = rng.integers(n, size=n)
        rows = drawn[np.argsort(drawn + rng.random(n) * APART * n)]
        pairs.append([passed(rows), passed(rows)])
    again = np.array(pairs)  # (samples, 2, agents, 2)
    found = []
    for place, spec in enumerate(specs):
        taken, total = passes[:, place].T
        values = total / np.maximum(taken, 1)
        one, other = (again[:, both, place, 1] / np.maximum(again[:, both, place, 0], 1) for both in (0, 1))
        shared = max(float(np.cov(one, other)[0, 1]), 0.0)
        reach = t_quantile(TAIL, samples - 1) * math.sqrt(shared + float(values.var(ddof=1)) / PASSES)
        value, count = float(values.mean()), float(taken.mean())
        found.append(PolicyValue(spec.label, "rejection", value, value - reach, value + reach, round(count), count))
    return found
