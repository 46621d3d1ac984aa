"""What is left of a study when units of work have failed.

An agent that lacks runs on one world of an experiment is left out of the whole experiment: comparisons over worlds stay
fair, and nothing is made of fewer runs than were asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ..plain_texts import escaped
from .failure_texts import Gap
from .runner import Failure
from .study import Experiment, Study
from .unit_blocks import is_block_of, played
from .units import blocks_of
from .zoo_study import BLIND

__all__ = ["Remains", "remains_of"]


@dataclass(frozen=True)
class Remains:
    """What is left of a study.

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
        """What of it must be said wherever results are shown."""
        out, worlds = ", ".join(self.left_out), ", ".join(self.dropped)
        said = [f"Left out of every world of their experiments, for want of these runs: {out}."] if out else []
        said += [f"Others are compared with {new} instead of {old}." for old, new in self.references.items()]
        said += [f"Nothing is left on {worlds}."] if worlds else []
        return [escaped(sentence) for sentence in said]


def remains_of(study: Study, failures: Sequence[Failure]) -> Remains:
    """What is left of a study without the agents that lack runs."""
    if not failures:
        return Remains(study)
    by_play: dict[Any, list[Failure]] = {}
    for failure in failures:
        by_play.setdefault(played(failure.unit), []).append(failure)
    gaps = [list(_gaps(each, by_play)) for each in study.experiments]
    out = [_left_out(each, {gap.agent for gap in found}) for each, found in zip(study.experiments, gaps, strict=True)]
    left = [_without(each, labels) for each, labels in zip(study.experiments, out, strict=True)]
    experiments = _beside_comparisons([each for each in left if each is not None])
    worlds = {world for experiment in experiments for world in experiment.worlds}
    pairs = [
        (old.reference, new.reference) for old, new in zip(study.experiments, left, strict=True) if new is not None
    ]
    return Remains(
        Study(study.title, tuple(experiments)),
        list(dict.fromkeys(chain.from_iterable(gaps))),
        list(dict.fromkeys(chain.from_iterable(out))),
        {old: new for old, new in pairs if old != new},
        [world.label for world in study.worlds if world not in worlds],
    )


def _gaps(experiment: Experiment, by_play: Mapping[Any, Sequence[Failure]]) -> Iterator[Gap]:
    single = replace(experiment, runs=1)
    for world in experiment.worlds:
        for agent in experiment.agents:
            [unit] = blocks_of(single, world, agent)
            failures = [each for each in by_play.get(played(unit), ()) if is_block_of(each.unit, experiment.runs)]
            if failures:
                yield Gap(agent.label, world.label, tuple(failures))


def _left_out(experiment: Experiment, failed: Collection[str]) -> list[str]:
    """The labels of agents that failed, of other readings of them, and of their other forms in a survey."""
    forms = {label.removesuffix(BLIND) for label in failed} if experiment.survey else set()
    return [
        agent.label
        for agent in experiment.agents
        if {agent.label, agent.stands_for} & set(failed) or agent.label.removesuffix(BLIND) in forms
    ]


def _without(experiment: Experiment, labels: Collection[str]) -> Experiment | None:
    """The experiment without some agents; None if nobody is left to be compared."""
    agents = tuple(agent for agent in experiment.agents if agent.label not in labels)
    ranked = [agent.label for agent in agents if not agent.stands_for]
    if not ranked:
        return None
    reference = ranked[0] if experiment.reference in labels else experiment.reference
    return replace(experiment, agents=agents, reference=reference)


def _beside_comparisons(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The experiments, without surveys on worlds on which nothing else is left: these are shown beside others."""
    compared = {world for each in experiments if not each.survey for world in each.worlds}
    return [each for each in experiments if not each.survey or compared.issuperset(each.worlds)]
