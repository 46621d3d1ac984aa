"""More runs where the paper's number of runs does not decide: of the agents concerned only, beside the first runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, groupby
from typing import Any

from ..runs import Runs
from .claims import Evidence, Judged, Judgement, Verdict
from .claims.judging import judgement_of
from .kept_runs import UNFIT, KeptRuns
from .store import Store
from .study import AgentEntry, Experiment, Study, WorldEntry
from .unit_blocks import played
from .units import BLOCK, Unit, blocks_of
from .valid_runs import unlike

__all__ = ["fitting", "further_study", "judged_again", "stored_beyond"]

Pair = tuple[str, str]  # the labels of a world and an agent


def further_study(study: Study, judged: Sequence[Judged], runs: int) -> Study:
    """The agents whose runs leave some claim open, under some reading, on the worlds concerned, with more runs.

    Args:
        study: the study of the first runs.
        judged: the claims, judged by the first runs.
        runs: how many runs there should be; raised to whole blocks of runs, which can be found again.
    """
    wanted = {pair for each in judged if _open(each) for pair in each.now.consulted}
    whole = -(-runs // BLOCK) * BLOCK
    chosen = []
    for experiment in study.experiments:
        for world in experiment.worlds:
            agents = tuple(agent for agent in experiment.agents if (world.label, agent.label) in wanted)
            if agents:
                # other readings stand for agents that may not be among these, and nothing is compared here
                plain = tuple(replace(agent, stands_for="") for agent in agents)
                chosen.append(replace(experiment, worlds=(world,), agents=plain, runs=whole, reference=""))
    return Study(study.title, tuple(chosen))


def _open(judged: Judged) -> bool:
    return any(finding.verdict is Verdict.UNDECIDED for finding in judged.now.findings.values())


def stored_beyond(study: Study, store: Store) -> list[Unit]:
    """The units of a study's agents that are stored beyond its own runs, without a gap between them."""
    return [
        unit
        for experiment in study.experiments
        for world in experiment.worlds
        for agent in experiment.agents
        for unit in _beyond(experiment, world, agent, store)
    ]


def _beyond(experiment: Experiment, world: WorldEntry, agent: AgentEntry, store: Store) -> Iterator[Unit]:
    if experiment.runs % BLOCK == 0:  # else the last block of the first runs is not part of the further ones
        for runs in count(experiment.runs + BLOCK, BLOCK):
            unit = blocks_of(replace(experiment, runs=runs), world, agent)[-1]
            if not store.has(unit):
                return
            yield unit


def fitting(units: Iterable[Unit], study: Study, store: Store) -> list[Unit]:
    """Those of the units beyond a study's own that are stored intact and fit its own; others are set aside."""
    found: list[Unit] = []
    firsts = {played(blocks[0]): blocks[0] for blocks in _of_pairs(study).values()}
    for first, several in groupby(dict.fromkeys(units), key=lambda unit: firsts[played(unit)]):
        own = store.load(first)
        for unit in several:
            if own is None or (block := store.load(unit)) is None:
                continue
            if unlike({first: own, unit: block}):
                store.reject(unit, UNFIT)
            else:
                found.append(unit)
    return found


def judged_again(
    study: Study,
    judged: Sequence[Judged],
    evidence: Mapping[str, Evidence],
    units: Iterable[Unit],
    read: Callable[[Sequence[Unit]], Runs],
) -> list[Judged]:
    """The claims, judged again by all runs that there are, where there are more of every agent concerned.

    Args:
        study: the study of the first runs.
        judged: the claims, judged by the first runs.
        evidence: what they were judged by.
        units: all that are stored, those beyond the study's own included.
        read: reads the runs of an agent on a world from its units.
    """
    longer = _without_gaps(study, units)
    again: dict[int, dict[str, Evidence]] = {}
    known: dict[int, dict[tuple[str, str], Judgement]] = {}
    result = []
    for each in judged:
        runs = min((_count(longer[pair]) for pair in each.now.consulted), default=0)
        if runs > each.now.runs:
            if runs not in again:
                again[runs] = _cut(evidence, longer, runs, read)
            there = again[runs]
            later = judgement_of(each.claim, replace(there[each.world], judged=known.setdefault(runs, {})))
            known[runs][each.world, each.claim.key] = later
            each = replace(each, later=later)
        result.append(each)
    return result


def _of_pairs(study: Study) -> dict[Pair, list[Unit]]:
    """The units of each agent on each world, by their labels."""
    return {
        (world.label, agent.label): blocks_of(experiment, world, agent)
        for experiment in study.experiments
        for world in experiment.worlds
        for agent in experiment.agents
    }


def _without_gaps(study: Study, units: Iterable[Unit]) -> dict[Pair, list[Unit]]:
    """The units of each agent up to the first that is missing, by the labels of world and agent.

    Runs of agents are paired by their number: what comes after a gap stands beside nobody's.
    """
    by_start: dict[Any, dict[int, Unit]] = {}
    for unit in units:
        by_start.setdefault(played(unit), {})[unit.first_run] = unit
    found: dict[Pair, list[Unit]] = {}
    for pair, (first, *_) in _of_pairs(study).items():
        there, found[pair] = by_start.get(played(first), {}), []
        while (block := there.get(_count(found[pair]))) is not None:
            found[pair].append(block)
    return found


def _count(units: Sequence[Unit]) -> int:
    return sum(unit.runs for unit in units)


def _cut(
    evidence: Mapping[str, Evidence],
    longer: Mapping[Pair, Sequence[Unit]],
    runs: int,
    read: Callable[[Sequence[Unit]], Runs],
) -> dict[str, Evidence]:
    """The evidence with the given number of runs of every agent that has as many."""
    labels = {
        world: [label for label in each.curves if _count(longer.get((world, label), ())) >= runs]
        for world, each in evidence.items()
    }
    curves = KeptRuns(labels, lambda world, label: read(longer[world, label]).first(runs))
    found: dict[str, Evidence] = {}
    for world, each in evidence.items():
        found[world] = replace(each, curves=curves[world], elsewhere=found, kept={})
    return found
