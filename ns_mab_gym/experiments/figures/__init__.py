"""Figures, as PNG and SVG: means, regret and sensitivity of every world, and two that explain the theory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...theory import best_arm_switches
from ..results import Results
from ..spec import Experiment, WorldEntry
from .explain import learnable_figure, pseudophase_figure
from .means import means_figure
from .regret import regret_figure, sensitivity_figure
from .style import save

__all__ = ["DESCRIPTIONS", "draw", "draw_explanations", "phase_starts"]

Floats = npt.NDArray[np.float64]

DESCRIPTIONS = (
    "Window sizes against learnable sets: the longer the window, the longer it looks back past a change.",
    "Phases against pseudophases: a pseudophase is what is left of a phase when the window has forgotten the last one.",
)
FEW = 12  # phases that shading can show


def phase_starts(means: Floats | None) -> list[int]:
    """The rounds at which the best arm changes by a jump of the means; empty where they drift, or jump very often."""
    if means is None:
        return []
    changes = best_arm_switches(means)
    jumps = np.abs(means[changes - 1] - means[changes - 2]).max(axis=1) > 0.05
    return changes.tolist() if jumps.all() and len(changes) < FEW else []


def draw(results: Results, means: Mapping[str, Floats | None], folder: Path) -> list[Path]:
    """Every figure of a study; ``means`` by the labels of the worlds."""
    folder.mkdir(exist_ok=True)
    written: list[Path] = []
    for world in results.study.worlds:
        instance = means[world.label]
        if instance is not None:
            written += save(means_figure(instance, world.label), folder, f"{slug(world.label)}-means")
    for experiment in results.study.experiments:
        for world in experiment.worlds:
            written += _draw_one(results, experiment, world, means[world.label], folder)
    return written


def _draw_one(
    results: Results, experiment: Experiment, world: WorldEntry, means: Floats | None, folder: Path
) -> list[Path]:
    curves = results.of(experiment, world)
    if groups := experiment.groups:
        families = {group: [curves[agent.label] for agent in agents] for group, agents in groups.items()}
        return save(sensitivity_figure(families, world.label), folder, f"{slug(world.label)}-sensitivity")
    return save(regret_figure(curves, world.label, phase_starts(means)), folder, f"{slug(world.label)}-regret")


def draw_explanations(folder: Path) -> list[Path]:
    """The two figures that explain the paper's definitions."""
    return [
        *save(learnable_figure(), folder, "explained-windows-and-learnable-sets"),
        *save(pseudophase_figure(), folder, "explained-phases-and-pseudophases"),
    ]


def slug(label: str) -> str:
    """A label as part of a file name."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower().replace("σ", "sigma")).strip("-.")[:60] or "world"
