"""What sweeps show on a world: final regrets by the value of a parameter, and the values that theory would choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..agents.core.knowledge import Knowledge
from ..agents.core.zoo import make
from ..envs.bandit import NSBanditEnv
from ..figures.sweep_plot import Swept
from ..means import Floats
from ..play.match import known_of
from ..theory.learners import BERNOULLI, LEARNERS
from ..theory.recommendation import recommend_window
from .preflight import env_of
from .results import Results
from .study import AgentEntry, Experiment, WorldEntry
from .values import is_number

__all__ = ["RECOMMENDED", "TUNED", "swept_on"]

TUNED, RECOMMENDED = "tuned", "recommended"
INSTANCES = 8  # of a random world: if an agent is tuned alike for all of them, that value is marked


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
        marks = _marks(agents[0], world, _known(world, seeds))
        finals = [curves[agent.label].final for agent in agents]
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


def _marks(agent: AgentEntry, world: WorldEntry, known: list[Knowledge]) -> dict[str, float]:
    """The values of the swept parameter that theory would choose, by the names of the rules that choose them."""
    rest = {key: value for key, value in agent.kwargs.items() if key != agent.swept}
    marks = {}
    tuned = {_tuned(agent, rest, each) for each in known}
    if len(tuned) == 1 and is_number(value := tuned.pop()):
        marks[TUNED] = value
    if agent.swept == "window" and agent.name in LEARNERS and len(known) == 1:
        window = _recommended(agent.name, rest, known[0])
        marks |= {} if window is None else {RECOMMENDED: window}
    return marks


def _tuned(agent: AgentEntry, rest: Mapping[str, Any], known: Knowledge) -> Any:
    """The value that the agent's own formula gives the parameter; None if it has none."""
    try:
        made = make(agent.name, knowledge=known, **rest)
    except (TypeError, ValueError):  # without this parameter it cannot be made
        return None
    return dict(getattr(made, "parameters", {})).get(agent.swept)


def _recommended(name: str, rest: Mapping[str, Any], known: Knowledge) -> int | None:
    """The window that the theory's heuristic recommends; None where its assumptions do not hold."""
    means: Floats | None = known.means
    if means is None:
        return None
    try:
        return recommend_window(means, name, gamma=rest.get("gamma"), subgaussian=known.subgaussian or BERNOULLI).window
    except ValueError:
        return None
