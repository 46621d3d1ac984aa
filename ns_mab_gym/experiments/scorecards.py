"""The scorecards of a study: what :mod:`ns_mab_gym.detections` says of its agents with detectors."""

from __future__ import annotations

from functools import lru_cache

from ..detections import Changes, Scorecard, changes_of, score
from ..envs.bandit import NSBanditEnv
from ..means import Floats
from .preflight import env_of
from .results import Results
from .study import Experiment, WorldEntry

__all__ = ["UNSCORED", "cards_on", "logs_alarms"]

UNSCORED = (
    "Some agents sound alarms, which are not scored here: the world's means change too often to have breakpoints, or "
    "are not known."
)


def logs_alarms(results: Results, experiment: Experiment, world: WorldEntry) -> bool:
    """Whether any agent of an experiment logs its alarms on a world."""
    curves = results.curves[world.label]
    return any(curves[agent.label].alarms is not None for agent in experiment.agents)


def cards_on(
    results: Results, experiment: Experiment, world: WorldEntry, means: Floats | None, drawn_anew: bool
) -> dict[str, Scorecard]:
    """The scorecards of an experiment's agents on a world, by label.

    Args:
        results: the runs.
        experiment: whose agents are scored, if they log their alarms.
        world: one of its worlds.
        means: the world's; None where they are not known, and then nothing is scored.
        drawn_anew: whether they differ from run to run; then those of each run are made again from its seed.
    """
    logged = {agent.label: results.curves[world.label][agent.label] for agent in experiment.agents}
    logged = {label: runs for label, runs in logged.items() if runs.alarms is not None}
    if not logged or means is None:
        return {}
    seeds = tuple(seed for seed, _ in next(iter(logged.values())).seeds)  # all agents play the same instances
    changes = _drawn_changes(world, seeds) if drawn_anew else (changes_of(means),)
    if not all(each.scorable for each in changes):
        return {}
    return {label: score(runs, changes) for label, runs in logged.items()}


@lru_cache(maxsize=8)
def _drawn_changes(world: WorldEntry, seeds: tuple[int, ...]) -> tuple[Changes, ...]:
    """The changes of the instance of each run; the means themselves are not kept."""
    env = env_of(world)
    bandit = env.unwrapped
    assert isinstance(bandit, NSBanditEnv)
    changes = []
    for seed in seeds:
        env.reset(seed=seed)
        changes.append(changes_of(bandit.means))
    return tuple(changes)
