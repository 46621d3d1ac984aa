"""The agents that a trained model is compared with: each by its own formula, and tuned.

Rivals are tuned on other instances of the world than those of training and of the evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from ..choosing.best_parameters import tune
from ..choosing.spaces import SPACES
from ..experiments.parsing import agents_of
from ..experiments.preflight import check_study
from ..experiments.study import AgentEntry, Experiment, Study, WorldEntry

__all__ = ["RIVALS", "TUNING_RUNS", "TUNING_SEED", "Rival", "rivals_of", "tuned"]

RIVALS = ("kl-ucb", "sw-ucb", "beta-swts", "ts", "switching-ts", "glr-ts", "d-ucb", "random", "oracle-restart")
TUNING_RUNS = 2_000  # of each race, all candidates together
TUNING_SEED = 1_000_033  # the seeds of the races are derived from it, those of evaluations are not


@dataclass(frozen=True)
class Rival:
    """An agent beside a trained model.

    Attributes:
        label: what tables and figures call it.
        agent: its name, or its class.
        parameters: those that are given; the others come from its paper's formula.
        steps: how many steps its tuning took.
        seconds: how long that took.
    """

    label: str
    agent: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0
    seconds: float = 0.0


def rivals_of(world: WorldEntry, named: Sequence[str] | None) -> tuple[list[Rival], list[str]]:
    """The rivals that play a world, and why some of the usual ones do not; raises an error for one that was named.

    Args:
        world: the world.
        named: the agents as words, such as ``"sw-ucb:xi=0.6"``; those of ``RIVALS`` that can play it, if None.
    """
    if named is not None:
        entries = [entry for words in named for entry in agents_of(words)]
        check_study(_study(world, entries))
        return [_rival(entry) for entry in entries], []
    found, refused = [], []
    for entry in map(AgentEntry.of, RIVALS):
        try:
            check_study(_study(world, [entry]))
        except ValueError as error:
            refused.append(str(error))
        else:
            found.append(_rival(entry))
    return found, refused


def _study(world: WorldEntry, agents: Sequence[AgentEntry]) -> Study:
    return Study("Rivals", (Experiment(worlds=(world,), agents=tuple(agents), runs=1),))


def _rival(entry: AgentEntry) -> Rival:
    return Rival(entry.label, entry.name, entry.kwargs)


def tuned(rivals: Sequence[Rival], env: gym.Env[Any, Any], runs: int) -> list[Rival]:
    """The rivals and, after each that has something to tune and no parameters of the user's, its tuned twin.

    Args:
        rivals: the agents.
        env: the environment of training; of a random world, every run of a race is another instance.
        runs: how many runs each race may take.
    """
    return [each for rival in rivals for each in ([rival, _twin(rival, env, runs)] if _tunable(rival) else [rival])]


def _tunable(rival: Rival) -> bool:
    return rival.agent in SPACES and not rival.parameters


def _twin(rival: Rival, env: gym.Env[Any, Any], runs: int) -> Rival:
    found = tune(env, rival.agent, runs=runs, seed=TUNING_SEED)
    horizon = env.unwrapped.world.horizon  # type: ignore[attr-defined]
    return Rival(
        f"{rival.label}, tuned", rival.agent, found.parameters, found.spent.runs * horizon, found.spent.seconds
    )
