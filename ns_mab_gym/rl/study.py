"""A trained model beside the zoo: on held-out instances and on the paper's abrupt world, in numbers and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure

from ..experiments.blocks import Block
from ..experiments.figures.regret import regret_figure
from ..experiments.figures.style import canvas, heading, label_lines, line_style, settle, thousands
from ..experiments.results import Curves
from ..experiments.spec import AgentEntry, WorldEntry
from .agent import SB3Agent
from .simulation import simulate
from .training import LearningCurve, Training

__all__ = ["compare", "learning_figure", "numbers", "play", "table", "write"]

RIVALS = ("beta-swts", "ts", "random")
HELD_OUT = 1_000_003  # from which the seeds of the evaluation are derived; training derives none from it


def play(agent: SB3Agent, world: WorldEntry, runs: int, rivals: Sequence[str] = RIVALS) -> dict[str, Curves]:
    """The model and its rivals on the same instances with the same luck."""
    curves = {}
    for label, player in {agent.name: agent, **{name: name for name in rivals}}.items():
        played = simulate(world.name, player, runs=runs, seed=HELD_OUT, env_kwargs=world.kwargs)
        curves[label] = Curves.of(world, AgentEntry.of(label), [Block.of(played)])
    return curves


def compare(agent: SB3Agent, training: Training, runs: int) -> dict[str, dict[str, Curves]]:
    """Held-out instances of what it was trained on, and the paper's abrupt world at the same horizon if K fits."""
    held_out = WorldEntry.of(training.env, label="held-out instances", **training.env_kwargs)
    results = {held_out.label: play(agent, held_out, runs)}
    horizon = int(next(iter(results[held_out.label].values())).horizon)
    abrupt = WorldEntry.of("NSBandit-Abrupt-v0", label="the paper's abrupt world", horizon=horizon)
    n_arms = int(gym.make(abrupt.name).action_space.n)  # type: ignore[attr-defined]
    if n_arms == agent.n_arms:
        results[abrupt.label] = play(agent, abrupt, runs)
    else:
        print(f"{abrupt.label} has {n_arms} arms, the model {agent.n_arms}: not played; train with n_arms={n_arms}")
    return results


def numbers(curves: Mapping[str, Curves]) -> list[dict[str, Any]]:
    """Final regret of each, and the paired difference from the first, with standard errors."""
    first = next(iter(curves.values())).final
    rows = []
    for label, curve in curves.items():
        difference = curve.final - first
        rows.append(
            {
                "agent": label,
                "regret": float(curve.final.mean()),
                "se": _se(curve.final),
                "difference": float(difference.mean()),
                "difference_se": _se(difference),
            }
        )
    return rows


def _se(samples: Any) -> float:
    return float(np.std(samples, ddof=1) / np.sqrt(len(samples))) if len(samples) > 1 else 0.0


def table(title: str, curves: Mapping[str, Curves]) -> str:
    """The numbers as text."""
    rows = numbers(curves)
    runs, first = len(next(iter(curves.values())).final), rows[0]["agent"]
    lines = [f"{title}: {runs} runs, regret in round {next(iter(curves.values())).horizon:,}"]
    lines.append(f"{'agent':<18}{'regret':>9}{'se':>7}   more than {first}, paired")
    for row in rows:
        more = f"{row['difference']:+9.1f} ± {row['difference_se']:.1f}" if row is not rows[0] else ""
        lines.append(f"{row['agent']:<18}{row['regret']:>9.1f}{row['se']:>7.1f}   {more}".rstrip())
    return "\n".join(lines)


def learning_figure(name: str, curve: LearningCurve, rivals: Mapping[str, float]) -> Figure:
    """Regret of training episodes over steps, with the rivals' regret on held-out instances as levels."""
    figure, axes = canvas(7.2, 4.0)
    axes.plot(curve.steps, curve.regret, linewidth=1.6, **line_style(0))
    axes.set_xlim(0, curve.steps[-1])
    labels = [(f"{name}  {curve.regret[-1]:,.0f}", float(curve.regret[-1]), line_style(0)["color"])]
    for index, (label, level) in enumerate(rivals.items(), start=1):
        axes.axhline(level, linewidth=1.0, **line_style(index))
        labels.append((f"{label}  {level:,.0f}", level, line_style(index)["color"]))
    axes.set(xlabel="environment steps", ylabel="mean regret of an episode", ylim=(0, None))
    heading(axes, "while it learns, and the others on held-out instances")
    thousands(axes)
    settle(figure, [(axes, max((text for text, _, _ in labels), key=len))])
    label_lines(axes, labels)
    return figure


def write(out: Path, training: Training, curve: LearningCurve, results: Mapping[str, Mapping[str, Curves]]) -> None:
    """Figures and numbers of a study into a folder."""
    held_out = next(iter(results.values()))
    rivals = {label: float(curves.final.mean()) for label, curves in list(held_out.items())[1:]}
    if curve.steps.size:
        learning_figure(next(iter(held_out)), curve, rivals).savefig(out / "learning.png", dpi=130)
    for index, (title, curves) in enumerate(results.items()):
        name = "regret.png" if index == 0 else "regret-abrupt.png"
        regret_figure(dict(curves), title).savefig(out / name, dpi=130)
    about = {
        "training": vars(training),
        "results": {title: numbers(curves) for title, curves in results.items()},
        "learning": {"steps": curve.steps.tolist(), "regret": curve.regret.tolist()},
    }
    (out / "numbers.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
