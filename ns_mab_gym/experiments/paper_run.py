"""The paper's experiments from beginning to end: run, judged and reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import paper_study
from .claims import CLAIMS, UNTESTED, observations
from .paper_names import CHANGES, HORIZON, RUNS
from .paper_readings import NOT_TAKEN
from .pipeline import Pipeline
from .runner import Simulate

__all__ = ["LEAST", "paper_pipeline"]

LEAST = 10 * (len(CHANGES) + 1)  # rounds: with fewer, phases are too short to be told apart or drawn


def paper_pipeline(
    folder: Path,
    simulate: Simulate,
    *,
    runs: int = RUNS,
    horizon: int = HORIZON,
    seed: int = 0,
    zoo: bool = True,
    judged: bool | None = None,
    **options: Any,
) -> Pipeline:
    """The paper's experiments, still to be run.

    Args:
        folder: where everything is written.
        simulate: the engine.
        runs: of each agent; more than the paper's are played only by agents whose first runs leave a claim open.
        horizon: T.
        seed: from which all seeds are derived.
        zoo: whether the whole zoo plays too.
        judged: whether there are verdicts; by default if the horizon is not shorter than the paper's.
        options: further arguments of :class:`Pipeline`.
    """
    if horizon < LEAST:
        raise ValueError(f"--horizon must be at least {LEAST}, so that each phase has some rounds, got {horizon}")
    judging = horizon >= HORIZON if judged is None else judged
    return Pipeline(
        study=paper_study.study(min(runs, RUNS), horizon, seed, zoo=zoo),
        folder=folder,
        simulate=simulate,
        claims=CLAIMS if judging else None,
        further_runs=runs,
        untested=UNTESTED if judging else (),
        not_taken=NOT_TAKEN if judging else (),
        notes=paper_study.NOTES,
        observe=observations if judging else lambda results: (),
        explanations=True,
        warning=_other_horizon(horizon, judging),
        **options,
    )


def _other_horizon(horizon: int, judging: bool) -> str:
    """What must be said if the horizon is not the paper's: that there are no verdicts, or that they say nothing."""
    if horizon == HORIZON:
        return ""
    said = f"The horizon is {horizon:,} (the paper's is {HORIZON:,}, and its smooth worlds do not shrink with it)"
    if judging:
        return f"{said}: these verdicts try the machinery and say nothing about the paper."
    return f"{said}: what the paper says cannot be tried here, and no verdicts are given."
