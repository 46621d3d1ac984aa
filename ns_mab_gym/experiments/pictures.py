"""Figures, as PNG and SVG: means, regret, sensitivity, sweeps and alarms of each world, and two that explain theory.

Every figure is a :class:`~ns_mab_gym.figures.drawing_jobs.FigureJob`, to be drawn here, in a thread
or in another process.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..figures.alarm_timeline import alarm_figure
from ..figures.drawing_jobs import FigureJob
from ..figures.explanations import learnable_figure, pseudophase_figure
from ..figures.regret_plots import Member, regret_figure, sensitivity_figure
from ..figures.survey_plot import Dot, survey_figure
from ..figures.sweep_plot import Swept, sweep_figure
from ..figures.world_means import means_figure, phase_starts
from ..file_names import file_name, told_apart
from ..means import Floats
from .arm_headers import names_in_file
from .paper_names import ALGORITHMS
from .results import Results
from .scorecards import cards_on
from .study import Experiment, Study, WorldEntry
from .sweep_results import swept_on
from .zoo_study import BLIND

__all__ = [
    "DESCRIPTIONS",
    "Planned",
    "alarm_job",
    "draw",
    "explanation_jobs",
    "families_of",
    "figure_job",
    "planned",
    "sweep_job",
    "sweeps_of",
]

DESCRIPTIONS = (
    "Window sizes against learnable sets: the longer the window, the longer it looks back past a change.",
    "Phases against pseudophases: a pseudophase is what is left of a phase when the window has forgotten the last one.",
)


class Planned(NamedTuple):
    """A figure of a study: of a world's means, or of what an experiment's agents did on a world."""

    name: str  # of its files, without their endings
    world: WorldEntry
    experiment: Experiment | None = None
    kind: str = "means"  # or "regret", "sensitivity" (a panel for each family), "sweep", "zoo"
    alarms: bool = False  # whether it is accompanied by a figure of alarms, if there are any

    @property
    def sweep(self) -> bool:
        """Whether it shows the final regrets of sweeps, instead of curves."""
        return self.kind == "sweep"


def planned(study: Study) -> list[Planned]:
    """Every figure of a study, in the order of its worlds."""
    figures = [Planned(f"{slug(world.label)}-means", world) for world in study.worlds]
    for experiment in study.experiments:
        for world in experiment.worlds:
            first, *others = _kinds(study, experiment, world)
            figures.append(Planned(f"{slug(world.label)}-{first}", world, experiment, first, alarms=True))
            figures += [Planned(f"{slug(world.label)}-{kind}", world, experiment, kind) for kind in others]
    names = told_apart(figure.name for figure in figures)
    return [figure._replace(name=name) for figure, name in zip(figures, names, strict=True)]


def _kinds(study: Study, experiment: Experiment, world: WorldEntry) -> list[str]:
    """Which figures show what an experiment's agents did on a world."""
    if experiment.survey:
        return ["zoo"]
    shown = {
        "regret": study.in_one_chart(experiment, world),
        "sensitivity": bool(experiment.groups),
        "sweep": bool(experiment.sweeps),
    }
    return [kind for kind, needed in shown.items() if needed]


def draw(
    results: Results, means: Mapping[str, Floats | None], folder: Path, drawn_anew: Collection[str] = ()
) -> list[Path]:
    """Draw every figure of a study here and now.

    Args:
        results: the runs.
        means: those of an instance of each world, by label; None where they are not known.
        folder: where the figures go.
        drawn_anew: the labels of worlds whose means differ from run to run.
    """
    folder.mkdir(exist_ok=True)
    drawn: list[Path] = []
    for figure in planned(results.study):
        if figure.sweep:
            jobs = [sweep_job(figure, sweeps_of(figure, results, drawn_anew), folder)]
        else:
            asked = (figure, results, means, folder, drawn_anew)
            jobs = [figure_job(*asked), alarm_job(*asked)]
        drawn += [path for job in jobs if job is not None for path in job()]
    return drawn


def figure_job(
    figure: Planned,
    results: Results | None,
    means: Mapping[str, Floats | None],
    folder: Path,
    drawn_anew: Collection[str],
) -> FigureJob | None:
    """A planned figure as a job; None for the means of a world that does not tell them. See :func:`draw`."""
    world, anew = figure.world, figure.world.label in drawn_anew
    instance = means[world.label]
    if figure.experiment is None:
        title = f"{world.label} (as in the first run)" if anew else world.label
        if instance is None:
            return None
        arms = names_in_file(world, instance.shape[1])
        return FigureJob(folder, figure.name, means_figure, (instance, title, arms))
    assert results is not None
    if figure.experiment.survey:
        dots = dots_of(results, figure.experiment, world)
        return FigureJob(folder, figure.name, survey_figure, (dots, f"{world.label}: the whole zoo"))
    if figure.kind == "sensitivity":
        families = families_of(results, figure.experiment, world)
        return FigureJob(folder, figure.name, sensitivity_figure, (families, world.label))
    phases = [] if anew else phase_starts(instance)
    shown = results.of(figure.experiment, world), world.label, phases, results.notes(world)
    return FigureJob(folder, figure.name, regret_figure, shown)


def sweeps_of(figure: Planned, results: Results | None, drawn_anew: Collection[str]) -> list[Swept]:
    """The sweeps that a planned figure shows."""
    assert figure.experiment is not None
    assert results is not None
    return swept_on(results, figure.experiment, figure.world, figure.world.label in drawn_anew)


def sweep_job(figure: Planned, swept: Sequence[Swept], folder: Path) -> FigureJob | None:
    """The figure of sweeps as a job; None if there are none."""
    return FigureJob(folder, figure.name, sweep_figure, (swept, figure.world.label)) if swept else None


def alarm_job(
    figure: Planned,
    results: Results | None,
    means: Mapping[str, Floats | None],
    folder: Path,
    drawn_anew: Collection[str],
) -> FigureJob | None:
    """The alarms of the agents of a planned figure as another one; None if they have none that can be scored."""
    if figure.experiment is None or results is None or not figure.alarms:
        return None
    label = figure.world.label
    shown = figure.experiment.without_other_readings()
    cards = cards_on(results, shown, figure.world, means[label], label in drawn_anew)
    return FigureJob(folder, f"{figure.name}-alarms", alarm_figure, (cards, label)) if cards else None


def families_of(results: Results, experiment: Experiment, world: WorldEntry) -> dict[str, list[Member]]:
    """The agents of an experiment by family, with their runs on a world; empty where there are no families."""
    curves = results.of(experiment, world)
    return {
        group: [Member(agent.name_in_group, curves[agent.label], "window" not in agent.kwargs) for agent in agents]
        for group, agents in experiment.groups.items()
    }


def dots_of(results: Results, experiment: Experiment, world: WorldEntry) -> list[Dot]:
    """The agents of a survey with their final regrets on a world, the paper's own marked."""
    finals = {label: runs.final for label, runs in results.of(experiment, world).items()}
    informed = [label for label in finals if not label.endswith(BLIND)]
    return [Dot(label, finals[label], finals.get(label + BLIND), label in ALGORITHMS) for label in informed]


def explanation_jobs(folder: Path) -> list[FigureJob]:
    """The two figures that explain the paper's definitions, in the order of ``DESCRIPTIONS``, still to be drawn."""
    return [
        FigureJob(folder, "explained-windows-and-learnable-sets", learnable_figure),
        FigureJob(folder, "explained-phases-and-pseudophases", pseudophase_figure),
    ]


def slug(label: str) -> str:
    """A label as part of a file name: letters of any script, none of which differ in case alone.

    >>> slug("Smooth, σ = 0.0001"), slug("Été/été"), slug("天気"), slug("?!")
    ('smooth-sigma-0.0001', 'été-été', '天気', 'world')
    """
    return file_name(label.casefold().replace("σ", "sigma"), instead="world")
