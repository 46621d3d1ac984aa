"""Figures, as PNG and SVG: means, regret and sensitivity of every world, and two that explain the theory."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..results import Results
from ..spec import Experiment, WorldEntry
from .explain import learnable_figure, pseudophase_figure
from .means import means_figure, phase_starts
from .regret import regret_figure, sensitivity_figure
from .style import save

__all__ = ["DESCRIPTIONS", "draw", "draw_explanations", "phase_starts"]

Floats = npt.NDArray[np.float64]

DESCRIPTIONS = (
    "Window sizes against learnable sets: the longer the window, the longer it looks back past a change.",
    "Phases against pseudophases: a pseudophase is what is left of a phase when the window has forgotten the last one.",
)


def draw(
    results: Results, means: Mapping[str, Floats | None], folder: Path, drawn_anew: Collection[str] = ()
) -> list[Path]:
    """Every figure of a study.

    Args:
        results: the curves.
        means: those of an instance of each world, by label.
        folder: where the figures go.
        drawn_anew: the labels of worlds whose means differ from run to run.
    """
    folder.mkdir(exist_ok=True)
    written: list[Path] = []
    for world in results.study.worlds:
        instance = means[world.label]
        if instance is not None:
            title = f"{world.label} (as in the first run)" if world.label in drawn_anew else world.label
            written += save(means_figure(instance, title), folder, f"{slug(world.label)}-means")
    for experiment in results.study.experiments:
        for world in experiment.worlds:
            phases = [] if world.label in drawn_anew else phase_starts(means[world.label])
            written += _draw_one(results, experiment, world, phases, folder)
    return written


def _draw_one(
    results: Results, experiment: Experiment, world: WorldEntry, phases: list[int], folder: Path
) -> list[Path]:
    curves = results.of(experiment, world)
    if groups := experiment.groups:
        families = {group: [curves[agent.label] for agent in agents] for group, agents in groups.items()}
        return save(sensitivity_figure(families, world.label), folder, f"{slug(world.label)}-sensitivity")
    return save(regret_figure(curves, world.label, phases), folder, f"{slug(world.label)}-regret")


def draw_explanations(folder: Path) -> list[Path]:
    """The two figures that explain the paper's definitions."""
    return [
        *save(learnable_figure(), folder, "explained-windows-and-learnable-sets"),
        *save(pseudophase_figure(), folder, "explained-phases-and-pseudophases"),
    ]


def slug(label: str) -> str:
    """A label as part of a file name."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower().replace("σ", "sigma")).strip("-.")[:60] or "world"
