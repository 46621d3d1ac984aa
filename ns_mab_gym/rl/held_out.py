"""Compares a trained model with the zoo, on instances it has not seen and on the paper's abrupt world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from ..play.engine import simulate
from ..runs import Runs
from .sb3_agent import SB3Agent
from .training import Training

__all__ = ["ABRUPT", "HELD_OUT", "compare", "numbers", "play", "table"]

RIVALS = ("beta-swts", "ts", "random")
SEED = 1_000_003  # the seeds of the evaluation are derived from it, those of training are not
HELD_OUT, ABRUPT = "held-out instances", "the paper's abrupt world"


def play(
    agent: SB3Agent, env: str, env_kwargs: Mapping[str, Any], runs: int, rivals: Sequence[str] = RIVALS
) -> dict[str, Runs]:
    """The runs of the model and its rivals, on the same instances with the same luck."""
    players: dict[str, Any] = {agent.name: agent, **{name: name for name in rivals}}
    return {
        label: simulate(env, player, runs=runs, seed=SEED, env_kwargs=env_kwargs) for label, player in players.items()
    }


def compare(agent: SB3Agent, training: Training, runs: int) -> dict[str, dict[str, Runs]]:
    """The runs on held-out instances of its training world, and on the paper's abrupt world if it has as many arms."""
    results = {HELD_OUT: play(agent, training.env, training.env_kwargs, runs)}
    horizon = results[HELD_OUT][agent.name].horizon
    n_arms = int(gym.make("NSBandit-Abrupt-v0").action_space.n)  # type: ignore[attr-defined]
    if n_arms == agent.n_arms:
        results[ABRUPT] = play(agent, "NSBandit-Abrupt-v0", {"horizon": horizon}, runs)
    else:
        print(f"{ABRUPT} has {n_arms} arms, the model {agent.n_arms}: not played; train with n_arms={n_arms}")
    return results


def numbers(curves: Mapping[str, Runs]) -> list[dict[str, Any]]:
    """For each agent, the runs, the final regret and the paired difference from the first, with standard errors."""
    first = next(iter(curves.values())).final
    rows = []
    for label, curve in curves.items():
        difference = curve.final - first
        rows.append(
            {
                "agent": label,
                "runs": len(curve),
                "regret": float(curve.final.mean()),
                "se": _se(curve.final),
                "difference": float(difference.mean()),
                "difference_se": _se(difference),
            }
        )
    return rows


def _se(samples: Any) -> float:
    return float(np.std(samples, ddof=1) / np.sqrt(len(samples))) if len(samples) > 1 else 0.0


def table(title: str, curves: Mapping[str, Runs]) -> str:
    """The numbers as a table in plain text."""
    rows, first = numbers(curves), next(iter(curves.values()))
    lines = [f"{title}: {len(first)} runs, regret in round {first.horizon:,}"]
    lines.append(f"{'agent':<18}{'regret':>9}{'se':>7}   more than {rows[0]['agent']}, paired")
    for row in rows:
        more = f"{row['difference']:+9.1f} ± {row['difference_se']:.1f}" if row is not rows[0] else ""
        lines.append(f"{row['agent']:<18}{row['regret']:>9.1f}{row['se']:>7.1f}   {more}".rstrip())
    return "\n".join(lines)
