"""More runs where the paper's number of runs does not decide: of the agents concerned only, beside the first runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..runs import Runs, joined
from .claims import Evidence, Judged, Judgement, Verdict
from .claims.judging import judgement_of
from .store import Store
from .study import AgentEntry, Experiment, Study, WorldEntry
from .units import BLOCK, Unit, blocks_of

__all__ = ["further_study", "judged_again", "stored_beyond"]


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
        for count in itertools.count(experiment.runs + BLOCK, BLOCK):
            unit = blocks_of(replace(experiment, runs=count), world, agent)[-1]
            if not store.has(unit):
                return
            yield unit


def judged_again(
    study: Study, judged: Sequence[Judged], evidence: Mapping[str, Evidence], blocks: Mapping[Unit, Runs]
) -> list[Judged]:
    """The claims, judged again by all runs that there are, where there are more of every agent concerned.

    Args:
        study: the study of the first runs.
        judged: the claims, judged by the first runs.
        evidence: what they were judged by.
        blocks: the runs of all units, those beyond the study's own included.
    """
    longer = _joined_further(study, blocks)
    again: dict[int, dict[str, Evidence]] = {}
    known: dict[int, dict[tuple[str, str], Judgement]] = {}
    result = []
    for each in judged:
        runs = min((len(longer[pair]) for pair in each.now.consulted), default=0)
        if runs > each.now.runs:
            if runs not in again:
                again[runs] = _cut(evidence, longer, runs)
            there = again[runs]
            later = judgement_of(each.claim, replace(there[each.world], judged=known.setdefault(runs, {})))
            known[runs][each.world, each.claim.key] = later
            each = replace(each, later=later)
        result.append(each)
    return result


def _joined_further(study: Study, blocks: Mapping[Unit, Runs]) -> dict[tuple[str, str], Runs]:
    """All runs of each agent up to the first that is missing, by the labels of world and agent."""
    by_start: dict[tuple[Any, ...], dict[int, Runs]] = {}
    for unit, runs in blocks.items():
        by_start.setdefault(_played(unit), {})[unit.first_run] = runs
    return {
        (world.label, agent.label): joined(_without_gap(by_start[_played(blocks_of(experiment, world, agent)[0])]))
        for experiment in study.experiments
        for world in experiment.worlds
        for agent in experiment.agents
    }


def _played(unit: Unit) -> tuple[Any, ...]:
    """What a unit plays, whichever block of runs it is."""
    return unit.world, unit.agent, unit.seed, unit.rounds


def _without_gap(by_start: Mapping[int, Runs]) -> list[Runs]:
    """The blocks that follow one another from run 0 on: runs of agents are paired by their number."""
    found: list[Runs] = []
    while (block := by_start.get(sum(map(len, found)))) is not None:
        found.append(block)
    return found


def _cut(evidence: Mapping[str, Evidence], longer: Mapping[tuple[str, str], Runs], runs: int) -> dict[str, Evidence]:
    """The evidence with the given number of runs of every agent that has as many."""
    found: dict[str, Evidence] = {}
    for world, each in evidence.items():
        curves = {label: longer[world, label].first(runs) for label in each.curves if len(longer[world, label]) >= runs}
        found[world] = replace(each, curves=curves, elsewhere=found, kept={})
    return found
