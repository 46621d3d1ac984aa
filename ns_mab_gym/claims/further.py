"""More runs where the paper's number of runs does not decide: of the agents concerned only, beside the first runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, takewhile

from ..means import Floats
from ..runs import Runs, joined
from ..specs import AgentSpec, WorldSpec
from ..studies.results import KeptRuns, Labelled, Results
from ..studies.runner import Outcome
from ..studies.store import Store
from ..studies.study import BLOCK, Experiment, Study, Unit, blocks_of
from .judging import Claim, Evidence, Judged, Judgement, Verdict, judge, judgement_of


@dataclass
class Trial:
    """Judges the claims about a study's worlds.

    Attributes:
        study: the study.
        store: where its runs are.
        claims: the claims, by the label of the world.
        further_runs: how many runs there should be of the agents whose runs leave a claim undecided.
        compute: computes the units of a study that are missing.
        load: loads the runs of a unit.
        further: the further runs that were computed, as a study.
    """

    study: Study
    store: Store
    claims: Mapping[str, Sequence[Claim]]
    further_runs: int
    compute: Callable[[Study], Outcome]
    load: Callable[[Unit], Runs]
    further: Study = field(init=False)

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
        self.further, more = Study(self.study.title, ()), Outcome((), ())
        if not self.claims:
            return [], more

        def read(world: str, label: str) -> Runs:
            return results.curves[world][label]

        evidence: dict[str, Evidence] = {}
        for world in self.study.worlds:
            if (instance := means[world.label]) is not None:
                here = [each for each in self.study.experiments if world in each.worlds]
                labels = dict.fromkeys(agent.label for each in here for agent in each.agents)
                curves = Labelled(labels, partial(read, world.label))
                evidence[world.label] = Evidence(curves, instance, results.notes(world), evidence, world.label)
        judged = judge(self.claims, evidence)
        if judged and self.further_runs > max(experiment.runs for experiment in self.study.experiments):
            self.further = further_study(self.study, judged, self.further_runs)
            more = self.compute(self.further) if self.further.experiments else more
        more = replace(more, units=(*more.units, *self._stored_beyond(set(more.units))))
        failed = {failure.unit for failure in (*outcome.failures, *more.failures)}
        return self._judged_again(judged, evidence, {*outcome.units, *more.units} - failed), more

    def _pairs(self) -> list[tuple[Experiment, WorldSpec, AgentSpec]]:
        """Every agent on every world."""
        return [
            (each, world, agent) for each in self.study.experiments for world in each.worlds for agent in each.agents
        ]

    def _stored_beyond(self, known: Collection[Unit]) -> list[Unit]:
        """The units beyond the study's own that are stored without a gap and whole; others are dropped.

        There are none of an agent whose own runs are no whole blocks: further runs do not contain its last block.

        Args:
            known: the units that need no check.
        """
        ends = dict.fromkeys(blocks_of(*each)[-1] for each in self._pairs() if each[0].runs % BLOCK == 0)
        beyond = ((Unit(last.series, run, BLOCK) for run in count(last.first_run + BLOCK, BLOCK)) for last in ends)
        stored = dict.fromkeys(unit for units in beyond for unit in takewhile(self.store.has, units))
        return [unit for unit in stored if unit not in known and self.store.load(unit) is not None]

    def _judged_again(
        self, judged: Sequence[Judged], evidence: Mapping[str, Evidence], units: Collection[Unit]
    ) -> list[Judged]:
        """The claims, judged again by all runs that there are, where there are more of every agent concerned.

        Runs of agents are paired by their number, so that an agent's count up to the first block that is missing.
        """
        starts = {(unit.series, unit.first_run): unit for unit in sorted(units, key=lambda unit: unit.runs)}
        longer: dict[tuple[str, str], list[Unit]] = {}  # by the labels of world and agent
        lengths: dict[tuple[str, str], int] = {}
        for experiment, world, agent in self._pairs():
            pair, series = (world.label, agent.label), blocks_of(experiment, world, agent)[0].series
            longer[pair], lengths[pair] = [], 0
            while (block := starts.get((series, lengths[pair]))) is not None:
                longer[pair].append(block)
                lengths[pair] += block.runs

        def with_runs(runs: int) -> dict[str, Evidence]:
            """The evidence with this number of runs of every agent that has as many."""
            labels = {
                world: [label for label in each.curves if lengths[world, label] >= runs]
                for world, each in evidence.items()
            }

            def read(world: str, label: str) -> Runs:
                return joined([self.load(unit) for unit in longer[world, label]]).first(runs)

            curves = KeptRuns(labels, read)
            found: dict[str, Evidence] = {}
            for world, each in evidence.items():
                found[world] = replace(each, curves=curves[world], elsewhere=found, kept={})
            return found

        again: dict[int, dict[str, Evidence]] = {}
        known: dict[int, dict[tuple[str, str], Judgement]] = {}
        result = []
        for each in judged:
            runs = min((lengths[pair] for pair in each.now.consulted), default=0)
            if runs > each.now.runs:
                if runs not in again:
                    again[runs], known[runs] = with_runs(runs), {}
                later = judgement_of(each.claim, replace(again[runs][each.world], judged=known[runs]))
                known[runs][each.world, each.claim.key] = later
                each = replace(each, later=later)
            result.append(each)
        return result


def further_study(study: Study, judged: Sequence[Judged], runs: int) -> Study:
    """The agents whose runs leave some claim undecided, under some reading, on the worlds concerned, with more runs.

    Args:
        study: the study of the first runs.
        judged: the claims, judged by the first runs.
        runs: how many runs there should be; raised to whole blocks of runs, which can be found again.
    """
    wanted: set[tuple[str, str]] = set()
    for each in judged:
        if any(finding.verdict is Verdict.UNDECIDED for finding in each.now.findings.values()):
            wanted.update(each.now.consulted)
    whole = -(-runs // BLOCK) * BLOCK
    chosen = []
    for experiment in study.experiments:
        for world in experiment.worlds:
            # other readings stand for agents that may not be among these, and nothing is compared here
            agents = [replace(each, stands_for="") for each in experiment.agents if (world.label, each.label) in wanted]
            if agents:
                chosen.append(replace(experiment, worlds=(world,), agents=tuple(agents), runs=whole, reference=""))
    return Study(study.title, tuple(chosen))
