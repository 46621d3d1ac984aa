"""Small results made by hand, texts that try to become markup, and two reports as the commands write them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns_mab_gym.cli import paper_command
from ns_mab_gym.experiments import AgentEntry, Experiment, Results, Study, WorldEntry
from ns_mab_gym.experiments.claims import Claim, Finding, Verdict
from ns_mab_gym.experiments.pipeline import Pipeline
from ns_mab_gym.experiments.report import Page
from ns_mab_gym.play.engine import simulate
from ns_mab_gym.runs import Runs

HOSTILE = (
    "<script>alert(1)</script>",
    "means_of_a_world_" * 5,  # wider than a phone
    "</script><script>window.ran = true</script>",
    "</title></style>",
    '"><img src=x onerror="window.ran = true">',
    "' onmouseover='window.ran = true' x='",
    "{{ 7 * 7 }}{% raw %}",
    "$x^2$ & &lt;b&gt; %{y}",
    "<!--<script>",
)
TOGETHER = " ".join(HOSTILE[:-1])  # without the last, which would hide what the others do
HORIZON = 100


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    """A text that tries to become markup, a script, a template or a formula, or to be too wide."""
    return str(request.param)


@pytest.fixture(scope="session")
def hostile_texts() -> Sequence[str]:
    """All such texts."""
    return HOSTILE


@pytest.fixture(scope="session")
def hostile_together() -> str:
    """The same as one text."""
    return TOGETHER


def runs_with(finals: Sequence[float]) -> Runs:
    """Runs whose regret grows evenly up to these final values."""
    rounds = np.arange(1, HORIZON + 1)
    regret = np.outer(finals, rounds / HORIZON)
    pulls = np.full((len(finals), 2), HORIZON // 2)
    seeds = [(run, run) for run in range(len(finals))]
    return Runs(rounds, regret, pulls, pulls, seeds, [{"window": 5, "gamma": 0.25}] * len(finals), 1.0)


@pytest.fixture
def make_page() -> Callable[..., Page]:
    """A function from the final regrets of some agents on one world to a page about them."""

    def page(
        finals: Mapping[str, Sequence[float]],
        world: str = "here",
        title: str = "A study",
        agent_notes: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> Page:
        entry = WorldEntry.of("NSBandit-Abrupt-v0", label=world, horizon=HORIZON)
        notes = agent_notes or {}
        agents = {label: AgentEntry.of("ts", label=label, note=notes.get(label, "")) for label in finals}
        study = Study(title, (Experiment(worlds=(entry,), agents=tuple(agents.values())),))
        curves = {label: runs_with(values) for label, values in finals.items()}
        means = {world: np.full((HORIZON, 2), 0.5)}
        content = {"summary": "in short", "settings": [("seed", 0)], **parts}
        return Page(Results(study, {world: curves}, {world: agents}), means, **content)

    return page


@pytest.fixture(scope="session")
def paper_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's experiments at a small size."""
    folder = tmp_path_factory.mktemp("paper") / "out"
    assert paper_command.main(["--runs", "10", "--horizon", "2000", "--out", str(folder)]) == 0
    return folder / "report.html"


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every text that a user can choose is hostile."""
    worlds = tuple(WorldEntry.of("NSBandit-Abrupt-v0", label=text, horizon=HORIZON) for text in HOSTILE[:2])
    agents = tuple(AgentEntry.of("random", label=text, note=TOGETHER) for text in HOSTILE)
    family = tuple(AgentEntry.of("random", label=f"{TOGETHER} {text}", group=TOGETHER) for text in HOSTILE)
    experiments = tuple(Experiment(worlds=worlds, agents=entries, runs=2) for entries in (agents, family))
    claim = Claim(TOGETHER, TOGETHER, TOGETHER, lambda _: Finding(Verdict.FAILS, TOGETHER, instead=TOGETHER))
    pipeline = Pipeline(
        Study(TOGETHER, experiments),
        tmp_path_factory.mktemp("hostile") / "out",
        simulate,
        claims={world.label: [claim] for world in worlds},
        notes=[TOGETHER],
        warning=TOGETHER,
    )
    pipeline.run()
    return pipeline.report
