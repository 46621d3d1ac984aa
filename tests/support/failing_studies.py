"""Studies of which some units fail, and what was written of them."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ns_mab_gym.report.pipeline import Pipeline
from ns_mab_gym.runs import Runs
from ns_mab_gym.studies.study import Study

Engine = Callable[..., Runs]
ABRUPT, SMOOTH = "NSBandit-Abrupt-v0", "NSBandit-Smooth-v0"


class Failing:
    """The stand-in for the engine, which raises for some pairs of agent and world; None stands for any."""

    def __init__(
        self, engine: Engine, *pairs: tuple[str | None, str | None], first_run: int = 0, words: str = "it broke"
    ) -> None:
        self.engine, self.pairs, self.first_run, self.words = engine, pairs, first_run, words

    def __call__(self, env: str, agent: str, **asked: Any) -> Runs:
        given = {agent, ",".join([agent, *map(str, asked["agent_kwargs"].values())])}
        for who, where in self.pairs:
            if (who is None or who in given) and where in (None, env) and asked["first_run"] >= self.first_run:
                raise ValueError(self.words)
        return self.engine(env, agent, **asked)


def ran(study: Study, folder: Path, simulate: Engine, **options: Any) -> tuple[Pipeline, list[str]]:
    """A pipeline that was run, and the lines that it said at the end."""
    pipeline = Pipeline(study, folder=folder, simulate=simulate, n_jobs=1, **options)
    return pipeline, pipeline.run()


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def page_of(folder: Path) -> tuple[str, str]:
    """The page and what stands at its head as a warning."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    [warning] = re.findall(r'<p class="warning">(.*?)</p>', page, re.DOTALL) or [""]
    return page, html.unescape(warning)
