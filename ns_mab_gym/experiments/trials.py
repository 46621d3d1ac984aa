"""The claims of a study put to the test: by its own runs, and by further ones where these leave something open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..means import Floats
from .claims import Claim, Evidence, Judged, judge
from .further import fitting, further_study, judged_again, stored_beyond
from .kept_runs import WithGaps, joined_from
from .preflight import check_size
from .results import Results
from .runner import Outcome, load
from .store import Store
from .study import Study
from .units import Unit, units_of

__all__ = ["Trial", "stored_units"]


@dataclass
class Trial:
    """Judges the claims about a study's worlds.

    Attributes:
        study: the study.
        store: where its runs are.
        claims: the claims, by the label of the world.
        further_runs: how many runs there should be of the agents whose runs leave a claim open.
        compute: computes the units of a study that are missing; the given other ones stay in the store.
        stored: the units beyond the study's own that are stored.
        further: the further runs that were computed, as a study.
    """

    study: Study
    store: Store
    claims: Mapping[str, Sequence[Claim]]
    further_runs: int
    compute: Callable[[Study, Sequence[Unit]], Outcome]

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
                curves = WithGaps(labels, results.curves.get(world.label, {}))
                evidence[world.label] = Evidence(curves, instance, results.notes(world), evidence, world.label)
        return evidence

    def _further(self, judged: Sequence[Judged]) -> Outcome:
        """The runs beyond the study's own: those that are asked for are computed, those that are stored are checked."""
        computed = Outcome((), ())
        if judged and self.further_runs > max(experiment.runs for experiment in self.study.experiments):
            self.further = further_study(self.study, judged, self.further_runs)
            check_size(self.further)
            beside = [*units_of(self.study), *self.stored]
            computed = self.compute(self.further, beside) if self.further.experiments else computed
        known = set(computed.units)
        others = fitting((unit for unit in self.stored if unit not in known), self.study, self.store)
        return replace(computed, units=(*computed.units, *others))


def stored_units(outcomes: Iterable[Outcome]) -> set[Unit]:
    """The units that have a result."""
    units = {unit for outcome in outcomes for unit in outcome.units}
    return units - {failure.unit for outcome in outcomes for failure in outcome.failures}
