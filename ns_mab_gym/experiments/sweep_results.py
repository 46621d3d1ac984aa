"""What sweeps show on a world: final regrets by the value of a parameter, and the values that theory would choose."""

from __future__ import annotations

from collections.abc import Iterable

from ..agents.core.knowledge import Knowledge
from ..envs.bandit import NSBanditEnv
from ..figures.sweep_plot import Swept
from ..play.match import known_of
from ..theory.choices import INSTANCES, marked_values
from .preflight import env_of
from .results import Results
from .study import Experiment, WorldEntry

__all__ = ["swept_on"]


def swept_on(results: Results, experiment: Experiment, world: WorldEntry, anew: bool) -> list[Swept]:
    """Every sweep of an experiment's agents on a world.

    Args:
        results: the runs.
        experiment: which agents.
        world: which world.
        anew: whether its means differ from run to run.
    """
    curves = results.curves[world.label]
    found = []
    for (parameter, family), agents in experiment.sweeps.items():
        seeds = [env_seed for env_seed, _ in curves[agents[0].label].seeds[: INSTANCES if anew else 1]]
        others = {key: value for key, value in agents[0].kwargs.items() if key != parameter}
        marks = marked_values(agents[0].name, parameter, others, _known(world, seeds))
        finals = [curves[agent.label].final.copy() for agent in agents]  # so that the curves need not be held
        found.append(Swept(family, parameter, [agent.kwargs[parameter] for agent in agents], finals, marks))
    return found


def _known(world: WorldEntry, seeds: Iterable[int]) -> list[Knowledge]:
    """What can be known about the instances with these seeds; nothing of environments that do not tell their means."""
    env = env_of(world)
    bandit = env.unwrapped
    if not isinstance(bandit, NSBanditEnv):
        return []
    found = []
    for seed in seeds:
        env.reset(seed=seed)
        found.append(known_of(bandit.means, bandit.world, bandit.law))
    return found
