"""What the runs of a study amount to, taken in world by world."""

from __future__ import annotations

from dataclasses import dataclass, field

from .results import Results
from .study import WorldEntry
from .units import Unit, blocks_of

__all__ = ["Totals"]


@dataclass
class Totals:
    """What runs amount to; a unit of work that several entries share counts once.

    Attributes:
        seconds: the engine's own time.
        steps: the number of agent steps.
        horizons: every horizon T once.
        alarms: whether any agent logs its alarms.
    """

    seconds: float = 0.0
    steps: int = 0
    horizons: list[int] = field(default_factory=list)
    alarms: bool = False

    def add(self, results: Results, world: WorldEntry) -> None:
        """Take in the runs on a world."""
        counted: set[Unit] = set()
        for experiment in results.study.experiments:
            for agent in experiment.agents if world in experiment.worlds else ():
                runs = results.curves[world.label][agent.label]
                units = set(blocks_of(experiment, world, agent)) - counted
                counted |= units
                played = sum(unit.runs for unit in units)
                self.seconds += runs.seconds * played / len(runs)
                self.steps += runs.horizon * played
                self.alarms |= runs.alarms is not None
                if runs.horizon not in self.horizons:
                    self.horizons.append(runs.horizon)
