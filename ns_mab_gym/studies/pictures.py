"""Figures of a study, as PNG and SVG: means, regret, sensitivity, sweeps and alarms of each world, and explanations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from ..figures import regret
from ..figures.style import save
from ..figures.theory import learnable_figure, pseudophase_figure
from ..figures.worlds import alarm_figure, means_figure, phase_starts
from ..files import distinct_names, file_name
from ..means import Floats
from ..specs import WorldSpec
from .results import Results, families_of
from .study import Experiment, Study, names_in_file
from .tables import cards_on, swept_on

EXPLANATIONS: dict[str, tuple[Callable[[], Figure], str]] = {
    "explained-windows-and-learnable-sets": (
        learnable_figure,
        "Window sizes against learnable sets: the longer the window, the longer it looks back past a change.",
    ),
    "explained-phases-and-pseudophases": (
        pseudophase_figure,
        "Phases against pseudophases: a pseudophase is what is left of a phase when the window has forgotten the last "
        "one.",
    ),
}
Place = tuple[Experiment, WorldSpec]


class PlannedFigure(NamedTuple):
    """A figure of a study: the means of a world, or the results of an experiment's agents on a world."""

    name: str  # of its files, without their endings
    world: WorldSpec
    experiment: Experiment | None = None
    kind: str = "means"  # or "regret", "sensitivity" (a panel for each family), "sweep", "zoo"
    alarms: bool = False  # whether it is accompanied by a figure of alarms, if there are any


@dataclass(frozen=True)
class Drawn:
    """The figures of a study.

    Attributes:
        files: all of them.
        timelines: those of alarms as SVG files, by the experiment and the world.
        sweeps: the sweeps, by the experiment and the world.
        explanations: those that explain the theory as SVG files, with their descriptions.
    """

    files: list[Path] = field(default_factory=list)
    timelines: dict[Place, Path] = field(default_factory=dict)
    sweeps: dict[Place, Sequence[regret.Swept]] = field(default_factory=dict)
    explanations: list[tuple[Path, str]] = field(default_factory=list)


def planned(study: Study) -> list[PlannedFigure]:
    """Every figure of a study, in the order of its worlds."""
    figures = [PlannedFigure(f"{slug(world.label)}-means", world) for world in study.worlds]
    for experiment in study.experiments:
        for world in experiment.worlds:
            shown = {
                "zoo": experiment.survey,
                "regret": not experiment.survey and study.in_one_chart(experiment, world),
                "sensitivity": not experiment.survey and bool(experiment.groups),
                "sweep": not experiment.survey and bool(experiment.sweeps),
            }
            kinds = [kind for kind, needed in shown.items() if needed]
            figures += [
                PlannedFigure(f"{slug(world.label)}-{kind}", world, experiment, kind, alarms=kind == kinds[0])
                for kind in kinds
            ]
    names = distinct_names(figure.name for figure in figures)
    return [figure._replace(name=name) for figure, name in zip(figures, names, strict=True)]


def draw(results: Results, means: Mapping[str, Floats | None], folder: Path, explained: bool = False) -> Drawn:
    """Draw every figure of a study.

    Args:
        results: the runs.
        means: those of an instance of each world, by label; None where they are not known.
        folder: where the figures go.
        explained: whether the figures that explain the theory are drawn too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn = Drawn()
    for name, (explain, description) in EXPLANATIONS.items() if explained else ():
        drawn.explanations.append((save(explain(), folder, name)[1], description))
    for figure in planned(results.study):
        world, experiment = figure.world, figure.experiment
        swept: Sequence[regret.Swept] = ()
        if experiment is not None and figure.kind == "sweep":
            swept = drawn.sweeps[experiment, world] = swept_on(results, experiment, world)
        for name, each in _figures(figure, results, means[world.label], swept):
            drawn.files.extend(save(each, folder, name))
            if experiment is not None and name != figure.name:
                drawn.timelines[experiment, world] = folder / f"{name}.svg"
    return drawn


def _figures(
    figure: PlannedFigure, results: Results, instance: Floats | None, swept: Sequence[regret.Swept]
) -> Iterator[tuple[str, Figure]]:
    """A planned figure and that of its alarms, by name, each only if there is something to show."""
    name, world, experiment, label = figure.name, figure.world, figure.experiment, figure.world.label
    if experiment is None:
        if instance is not None:
            title = f"{label} (as in the first run)" if world.random else label
            yield name, means_figure(instance, title, names_in_file(world, instance.shape[1]))
        return
    if figure.kind == "zoo":
        yield name, regret.survey_figure(_surveyed(results, experiment, world), f"{label}: the whole zoo")
    elif figure.kind == "sensitivity":
        yield name, regret.sensitivity_figure(families_of(results, experiment, world), label)
    elif figure.kind == "regret":
        changes = [] if world.random else phase_starts(instance)
        yield name, regret.regret_figure(results.of(experiment, world), label, changes, results.notes(world))
    elif swept:
        yield name, regret.sweep_figure(swept, label)
    if figure.alarms and (cards := cards_on(results, experiment.without_other_readings(), world, instance)):
        yield f"{name}-alarms", alarm_figure(cards, label)


def _surveyed(results: Results, experiment: Experiment, world: WorldSpec) -> list[regret.SurveyedAgent]:
    """The agents of a survey with their final regrets on a world, the paper's own marked."""
    finals = {label: runs.final for label, runs in results.of(experiment, world).items()}
    beside = [each for each in results.study.experiments if not each.survey and world in each.worlds]
    own = {agent.label for each in beside for agent in each.ranked}
    blind = {agent.informed_label: finals[agent.label] for agent in experiment.ranked if agent.blind}
    informed = [agent.label for agent in experiment.ranked if not agent.blind]
    return [regret.SurveyedAgent(label, finals[label], blind.get(label), label in own) for label in informed]


def slug(label: str) -> str:
    """A label as part of a file name: letters of any script, none of which differ in case alone.

    >>> slug("Smooth, σ = 0.0001"), slug("Été/été"), slug("天気"), slug("?!")
    ('smooth-sigma-0.0001', 'été-été', '天気', 'world')
    """
    return file_name(label.casefold().replace("σ", "sigma"), instead="world")
