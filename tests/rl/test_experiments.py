"""A saved model is an agent of an experiment like any other: ``sb3:path=model.zip``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from quiet_progress import Quiet

from ns_mab_gym import rl
from ns_mab_gym.experiments import Store, Study, code_versions, collect, run
from ns_mab_gym.experiments.parsing import experiment
from ns_mab_gym.experiments.runner import load
from ns_mab_gym.figures.regret_plots import regret_figure

from .conftest import WORLD


def test_the_runner_plays_stores_and_draws_a_model_beside_the_zoo(model: Callable[[str], Any], tmp_path: Path) -> None:
    rl.SB3Agent(model("ppo")).save(tmp_path / "model.zip")
    world = "NSBandit-Piecewise-v0:" + ",".join(f"{key}={value}" for key, value in WORLD.items())
    asked = experiment([world], [f"sb3:path={tmp_path / 'model.zip'}", "ts"], runs=2)
    study = Study("a model", (asked,))
    with Store(tmp_path / "store", code_versions(print)) as store:
        first = run(study, store, rl.simulate, Quiet())  # type: ignore[arg-type]
        again = run(study, store, rl.simulate, Quiet())  # type: ignore[arg-type]
        curves = collect(study, partial(load, store)).of(asked, asked.worlds[0])
    assert len(first.computed) == 2
    assert again.computed == ()
    one, other = curves.values()
    assert one.seeds == other.seeds
    assert (np.diff(one.regret, axis=1) >= 0).all()
    assert regret_figure(curves, "a model and Thompson sampling").axes
