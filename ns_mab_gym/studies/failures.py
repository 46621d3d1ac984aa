"""Failed units of work: in a few lines, in a file with everything, and the study that is left without them.

Errors and tracebacks are texts of strangers: characters that cannot be shown are escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from ..agents.core.arguments import escaped
from ..files import written_atomically
from .runner import Failure
from .study import Experiment, Study, blocks_of, runs_in_words

FILE = "failures.txt"
MOST = 8  # pairs of agent and world that are named in the few lines
LONGEST = 200  # letters of an error that are shown there


@dataclass(frozen=True)
class Gap:
    """Runs of an agent on a world that are missing.

    Attributes:
        agent: the label of the agent.
        world: the label of the world.
        failures: the units that have no result.
    """

    agent: str
    world: str
    failures: tuple[Failure, ...]

    def __str__(self) -> str:
        runs, error = runs_in_words(each.unit for each in self.failures), escaped(self.failures[0].error)
        shown = error if len(error) <= LONGEST else f"{error[:LONGEST]}…"
        return f"{escaped(self.agent)} on {escaped(self.world)}, runs {runs} ({shown})"


def failures_in_words(failures: Sequence[Failure], gaps: Sequence[Gap], units: int) -> list[str]:
    """Return the missing runs and the reasons in a few lines; none if nothing failed.

    Args:
        failures: the units that have no result.
        gaps: what is missing of which agent on which world.
        units: how many units there are.
    """
    if not failures:
        return []
    more = len(gaps) - MOST
    return [
        f"{len(failures):,} of {units:,} units failed; {FILE} has every error in full.",
        *(f"Failed: {gap}." for gap in gaps[:MOST]),
        *([f"And {more:,} more pairs of agent and world."] if more > 0 else []),
    ]


def write_failures(folder: Path, failures: Sequence[Failure]) -> None:
    """Write every failed unit, its errors in full, into a file of the folder; no file if nothing failed."""
    if not failures:
        (folder / FILE).unlink(missing_ok=True)
        return
    with written_atomically(folder / FILE) as handle:
        for failure in failures:
            unit, where = failure.unit, f"by {failure.worker}" if failure.worker else "here"
            lines = [
                f"{unit.agent.text} on {unit.world.text}, runs {runs_in_words([unit])}, seed {unit.seed}",
                f"    tried {failure.attempts} times, the last time {where}",
                f"    {failure.error}",
                *(f"    | {line}" for line in failure.traceback.splitlines()),
                "",
            ]
            handle.writelines(f"{escaped(line)}\n".encode() for line in lines)


@dataclass(frozen=True)
class Remains:
    """The rest of a study.

    Attributes:
        study: the experiments without the agents that lack runs; without those of which nothing is left.
        gaps: which runs are missing.
        left_out: the labels of all agents that are left out of some experiment.
        references: by the label of an agent that others were to be compared with, the one that takes its place.
        dropped: the labels of the worlds of which nothing is left.
    """

    study: Study
    gaps: Sequence[Gap] = ()
    left_out: Sequence[str] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    dropped: Sequence[str] = ()

    def in_words(self) -> list[str]:
        """Return the sentences about it that belong beside all results."""
        out, worlds = ", ".join(self.left_out), ", ".join(self.dropped)
        said = [f"Left out of all worlds of their experiments, since runs are missing: {out}."] if out else []
        said += [f"Others are compared with {new} instead of {old}." for old, new in self.references.items()]
        said += [f"Nothing is left on {worlds}."] if worlds else []
        return [escaped(sentence) for sentence in said]


def remains_of(study: Study, failures: Sequence[Failure]) -> Remains:
    """Return the rest of a study without the agents that lack runs."""
    if not failures:
        return Remains(study)
    by_play: dict[Any, list[Failure]] = {}
    for failure in failures:
        by_play.setdefault(failure.unit.series, []).append(failure)
    gaps, out, references = dict[Gap, None](), dict[str, None](), dict[str, str]()
    left: list[Experiment] = []
    for each in study.experiments:
        failed: set[str] = set()
        for world, agent in product(each.worlds, each.agents):
            played = by_play.get(blocks_of(each, world, agent)[0].series, ())
            if missing := tuple(failure for failure in played if failure.unit.is_block_of(each.runs)):
                gaps[Gap(agent.label, world.label, missing)] = None
                failed.add(agent.label)
        # With an agent go the other readings of it, and its other forms in a survey.
        forms = {agent.informed_label for agent in each.agents if each.survey and agent.label in failed}
        gone = [
            agent.label
            for agent in each.agents
            if {agent.label, agent.stands_for} & failed or agent.informed_label in forms
        ]
        out |= dict.fromkeys(gone)
        agents = tuple(agent for agent in each.agents if agent.label not in gone)
        if ranked := [agent.label for agent in agents if not agent.stands_for]:
            reference = ranked[0] if each.reference in gone else each.reference
            references |= {each.reference: reference} if reference != each.reference else {}
            left.append(replace(each, agents=agents, reference=reference))
    compared = {world for each in left if not each.survey for world in each.worlds}
    # A survey is shown beside others: it goes with the last of these.
    rest = Study(study.title, tuple(each for each in left if not each.survey or compared.issuperset(each.worlds)))
    dropped = [world.label for world in study.worlds if world not in rest.worlds]
    return Remains(rest, list(gaps), list(out), references, dropped)
