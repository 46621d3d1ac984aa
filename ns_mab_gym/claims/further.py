"""More runs where the paper's number of runs does not decide: of the agents concerned only, beside the first runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, groupby
from typing import Any

from ..means import Floats
from ..runs import Runs
from ..specs import AgentSpec, WorldSpec
from ..studies.results import UNFIT, KeptRuns, LabelledRuns, Results, joined_from, unlike
from ..studies.runner import Outcome, load
from ..studies.store import Store
from ..studies.study import Experiment, Study
from ..studies.units import BLOCK, Unit, blocks_of
from .judging import Claim, Evidence, Judged, Judgement, Verdict, judge, judgement_of

Pair = tuple[str, str]  # the labels of a world and an agent


def further_study(study: Study, judged: Sequence[Judged], runs: int) -> Study:
    """The agents whose runs leave some claim open, under some reading, on the worlds concerned, with more runs.

    Args:
        study: the study of the first runs.
        judged: the claims, judged by the first runs.
        runs: how many runs there should be; raised to whole blocks of runs, which can be found again.
    """
    wanted: set[Pair] = set()
    for each in judged:
        if any(finding.verdict is Verdict.UNDECIDED for finding in each.now.findings.values()):
            wanted.update(each.now.consulted)
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


def stored_beyond(study: Study, store: Store) -> list[Unit]:
    """The units of a study's agents that are stored beyond its own runs, without a gap between them."""
    return [
        unit
        for experiment in study.experiments
        for world in experiment.worlds
        for agent in experiment.agents
        for unit in _beyond(experiment, world, agent, store)
    ]


def _beyond(experiment: Experiment, world: WorldSpec, agent: AgentSpec, store: Store) -> Iterator[Unit]:
    if experiment.runs % BLOCK == 0:  # else the last block of the first runs is not part of the further ones
        for runs in count(experiment.runs + BLOCK, BLOCK):
            unit = blocks_of(replace(experiment, runs=runs), world, agent)[-1]
            if not store.has(unit):
                return
            yield unit


def fitting(units: Iterable[Unit], study: Study, store: Store) -> list[Unit]:
    """Those of the units beyond a study's own that are stored intact and fit its own; others are dropped."""
    found: list[Unit] = []
    firsts = {blocks[0].series: blocks[0] for blocks in _of_pairs(study).values()}
    for first, several in groupby(dict.fromkeys(units), key=lambda unit: firsts[unit.series]):
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
        by_start.setdefault(unit.series, {})[unit.first_run] = unit
    found: dict[Pair, list[Unit]] = {}
    for pair, (first, *_) in _of_pairs(study).items():
        there, found[pair] = by_start.get(first.series, {}), []
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


@dataclass
class Trial:
    """Judges the claims about a study's worlds.

    Attributes:
        study: the study.
        store: where its runs are.
        claims: the claims, by the label of the world.
        further_runs: how many runs there should be of the agents whose runs leave a claim open.
        compute: computes the units of a study that are missing.
        stored: the units beyond the study's own that are stored.
        further: the further runs that were computed, as a study.
    """

    study: Study
    store: Store
    claims: Mapping[str, Sequence[Claim]]
    further_runs: int
    compute: Callable[[Study], Outcome]

    def __post_init__(self) -> None:
        """Look for further runs: what is stored of them counts in any case."""
        self.stored = stored_beyond(self.study, self.store) if self.claims else []
        self.further = Study(self.study.title, ())

    def verdicts(
        self, results: Results, outcome: Outcome, means: Mapping[str, Floats | None]
    ) -> tuple[list[Judged], Outcome]:
        """The claims, judged by the study's runs and by all further ones; and what was computed for the latter.

        Claims that need runs that are missing are not judged.

        Args:
            results: the runs of the study, without agents that lack some.
            outcome: what came of running the study.
            means: an instance of each world, by label; None where the means are not known.
        """
        if not self.claims:
            return [], Outcome((), ())
        evidence = self._evidence(results, means)
        judged = judge(self.claims, evidence)
        more = self._further(judged)
        read = partial(joined_from, load=partial(load, self.store), reject=self.store.reject)
        units = stored_units([outcome, more])
        return judged_again(self.study, judged, evidence, units, read), more

    def _evidence(self, results: Results, means: Mapping[str, Floats | None]) -> dict[str, Evidence]:
        evidence: dict[str, Evidence] = {}
        for world in self.study.worlds:
            if (instance := means[world.label]) is not None:
                here = [each for each in self.study.experiments if world in each.worlds]
                labels = dict.fromkeys(agent.label for each in here for agent in each.agents)
                there = results.curves.get(world.label, {})
                curves = LabelledRuns(labels, there.__getitem__, missing=labels.keys() - set(there))
                evidence[world.label] = Evidence(curves, instance, results.notes(world), evidence, world.label)
        return evidence

    def _further(self, judged: Sequence[Judged]) -> Outcome:
        """The runs beyond the study's own: those that are asked for are computed, those that are stored are checked."""
        computed = Outcome((), ())
        if judged and self.further_runs > max(experiment.runs for experiment in self.study.experiments):
            self.further = further_study(self.study, judged, self.further_runs)
            computed = self.compute(self.further) if self.further.experiments else computed
        known = set(computed.units)
        others = fitting((unit for unit in self.stored if unit not in known), self.study, self.store)
        return replace(computed, units=(*computed.units, *others))


def stored_units(outcomes: Iterable[Outcome]) -> set[Unit]:
    """The units that have a result."""
    units = {unit for outcome in outcomes for unit in outcome.units}
    return units - {failure.unit for outcome in outcomes for failure in outcome.failures}
