"""Runs that are read from the store when they are asked for; those of the world in hand are kept, and a few others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ..runs import Runs, joined
from .result_folders import LostResultError
from .units import Unit
from .valid_runs import unlike

__all__ = ["KEPT", "UNFIT", "KeptRuns", "MissingRunsError", "WithGaps", "joined_from"]

KEPT = 16 << 20  # bytes of runs that are kept, beside those of the world in hand
UNFIT = "does not fit the other runs of this agent on this world"
RECORD = 1_000  # bytes of what a run has beside its arrays: seeds, parameters, alarms


class MissingRunsError(KeyError):
    """There are no runs of an agent on a world."""


class KeptRuns(Mapping[str, Mapping[str, Runs]]):
    """Runs by the labels of world and agent, each read when it is asked for.

    What was read last is kept: all of the world that was asked for last, and of the worlds before it as much as there
    is room for. So whoever goes world by world reads every run once, and holds those of one world. Several threads may
    ask.

    Args:
        labels: the labels of the agents, by the label of the world.
        read: reads the runs of an agent on a world, by their labels.
        room: how many bytes of runs are kept beside those of the world in hand.
    """

    def __init__(
        self, labels: Mapping[str, Collection[str]], read: Callable[[str, str], Runs], room: int = KEPT
    ) -> None:
        self._labels = {world: dict.fromkeys(agents) for world, agents in labels.items()}
        self._read, self._room = read, room
        self._kept: dict[str, dict[str, Runs]] = {}  # by the label of the world; the one in hand is the last
        self._bytes: dict[str, int] = {}  # of what is kept of each world
        self._lock = threading.Lock()

    def __getitem__(self, world: str) -> Mapping[str, Runs]:
        if world not in self._labels:
            raise MissingRunsError(world)
        return _OfWorld(self, world, self._labels[world])  # not kept: they would keep each other alive

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def runs(self, world: str, agent: str) -> Runs:
        """The runs of an agent on a world, kept or read."""
        with self._lock:
            here = self._kept[world] = self._kept.pop(world, {})
            if agent not in here:
                here[agent] = self._read(world, agent)
                self._bytes[world] = self._bytes.get(world, 0) + _bytes_of(here[agent])
                self._make_room(world)
            return here[agent]

    def _make_room(self, world: str) -> None:
        """Drop the worlds that were asked for longest ago, until those beside the one in hand fit into the room."""
        others = sum(self._bytes.values()) - self._bytes[world]
        for oldest in list(self._kept)[:-1]:
            if others > self._room:
                others -= self._bytes.pop(oldest, 0)
                del self._kept[oldest]


class _OfWorld(Mapping[str, Runs]):
    """The runs on one world, by the labels of agents."""

    def __init__(self, kept: KeptRuns, world: str, agents: Collection[str]) -> None:
        self._kept, self._world, self._agents = kept, world, agents

    def __getitem__(self, agent: str) -> Runs:
        if agent not in self._agents:
            raise MissingRunsError(agent)
        return self._kept.runs(self._world, agent)

    def __contains__(self, agent: object) -> bool:
        return agent in self._agents  # without reading its runs

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)


class WithGaps(Mapping[str, Runs]):
    """Runs by label of which some are missing: their labels are known, and asking for them is an error.

    Args:
        labels: all labels.
        runs: the runs that there are.
    """

    def __init__(self, labels: Collection[str], runs: Mapping[str, Runs]) -> None:
        self._labels, self._runs = dict.fromkeys(labels), runs

    def __getitem__(self, label: str) -> Runs:
        if label not in self._runs:
            raise MissingRunsError(label)
        return self._runs[label]

    def __contains__(self, label: object) -> bool:
        return label in self._labels

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)


def _bytes_of(runs: Runs) -> int:
    arrays = runs.regret.nbytes + runs.pulls.nbytes + runs.suboptimal_pulls.nbytes
    return arrays + sum(log.nbytes for log in runs.alarms or ()) + RECORD * len(runs)


def joined_from(units: Sequence[Unit], load: Callable[[Unit], Runs], reject: Callable[[Unit, str], None]) -> Runs:
    """The runs of an agent on a world; a :class:`LostResultError` if they cannot be joined; then they are set aside.

    Args:
        units: what they consist of.
        load: loads the runs of a unit.
        reject: sets the result of a unit aside, for a reason.
    """
    blocks = {unit: load(unit) for unit in units}
    if unfit := unlike(blocks):
        for unit in unfit:
            reject(unit, UNFIT)
        raise LostResultError(
            f"what is stored of {unfit[0].agent.words} on {unfit[0].world.words} does not fit together: some of it has "
            f"other rounds or arms; the same command computes all of it again"
        )
    return joined(list(blocks.values()))
