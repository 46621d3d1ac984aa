"""A small study whose numbers can be checked in one's head: three agents, two worlds, one agent with two tunings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ns_mab_gym.claims.judging import Choice, Claim, Evidence, Finding, Judged, Judgement, Reading, Verdict, judge
from ns_mab_gym.report.page import Page
from ns_mab_gym.runs import Runs
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.results import Results
from ns_mab_gym.studies.study import Experiment, Study

HORIZON = 100
BOLD = "b (boldly)"
# Means: here a 200, b 250 (or, boldly, 50), c 160; there a 20, b 10, c 30, and b has no other tuning.
FINALS: dict[str, dict[str, list[float]]] = {
    "here": {"a": [100, 200, 300], "b": [150, 250, 350], "c": [100, 180, 200], BOLD: [40, 50, 60]},
    "there": {"a": [10, 20, 30], "b": [5, 10, 15], "c": [20, 30, 40]},
}
# Final regrets of agents on a single world.
THREE = {"first": [100.0, 200.0, 300.0], "second": [90.0, 190.0, 310.0], "third": [150.0, 250.0, 350.0]}
TUNING = Choice(
    "tuning of b", "How is b tuned?", (Reading("as said", "so it says"), Reading("boldly", "so do we")), "b"
)
RIVALS = Choice(
    "who",
    "Is c compared?",
    (Reading("with c", "it is named", ("a", "b", "c")), Reading("without c", "it is late", ("a", "b"))),
    compares=True,
)
SPAN = Choice("how long", "For how long?", (Reading("short", "at once", 1), Reading("long", "it lasts", 2)))


def runs_with(finals: Sequence[float], **parameters: float) -> Runs:
    """Runs whose regret grows evenly up to these final values."""
    rounds = np.arange(1, HORIZON + 1)
    pulls = np.full((len(finals), 2), HORIZON // 2)
    seeds = [(run, run) for run in range(len(finals))]
    regret = np.outer(finals, rounds / HORIZON)
    return Runs(rounds, regret, pulls, pulls, seeds, [dict(parameters)] * len(finals), 1.0)


def best(who: str) -> Claim:
    """The claim that an agent has the least mean among those that are compared."""

    def decide(evidence: Evidence) -> Finding:
        means = {each: float(evidence.curves[each].final.mean()) for each in evidence.read(RIVALS)}
        verdict = Verdict.HOLDS if min(means, key=means.__getitem__) == who else Verdict.FAILS
        figures = ", ".join(f"{each} {mean:.0f}" for each, mean in means.items())
        return Finding(verdict, figures, instead=f"{min(means, key=means.__getitem__)} is")

    return Claim(f"{who} best", f"{who} is the best", f"{who} has the least", decide, (RIVALS, TUNING))


LASTS = Claim(
    "it lasts",
    "This lasts.",
    lambda evidence: f"for {evidence.read(SPAN)} rounds",
    lambda evidence: Finding(Verdict.HOLDS if evidence.read(SPAN) == 1 else Verdict.UNDECIDED, "lasted"),
    (SPAN,),
    said_of="elsewhere",
)


def results_of(
    finals: Mapping[str, Mapping[str, Sequence[float]]], title: str = "By hand", agents: Sequence[AgentSpec] = ()
) -> Results:
    """Runs with these final regrets, by world and agent: an experiment for each world; agents as given, else plain."""
    given = {agent.label: agent for agent in agents}
    entries = {
        world: {label: given.get(label, AgentSpec.of("ts", label=label)) for label in here}
        for world, here in finals.items()
    }
    experiments = tuple(
        Experiment(
            worlds=(WorldSpec.of("NSBandit-Abrupt-v0", label=world, horizon=HORIZON),),
            agents=tuple(several.values()),
            runs=3,
        )
        for world, several in entries.items()
    )
    curves = {
        world: {label: runs_with(each, n_arms=2, window=9000 if label == BOLD else 5) for label, each in here.items()}
        for world, here in finals.items()
    }
    return Results(Study(title, experiments), curves, entries)


def results() -> Results:
    """The runs."""
    return results_of(FINALS, agents=[replace(AgentSpec.of("ts", label=BOLD, prior=2), stands_for="b")])


def judged() -> list[Judged]:
    """The claims on both worlds; one of them judged again by 30 runs, which do not depend on the reading."""
    evidence: dict[str, Evidence] = {}
    for world, curves in results().curves.items():
        evidence[world] = Evidence(curves, np.full((HORIZON, 2), 0.5), {}, evidence, world)
    found = judge({"here": [best("b"), best("a"), LASTS], "there": [best("b")]}, evidence)
    settled = Finding(Verdict.HOLDS, "lasted, with 30")
    later = Judgement(
        (SPAN,), {(each,): settled for each in SPAN.readings}, {(each,): "t" for each in SPAN.readings}, 30
    )
    return [replace(each, later=later) if each.claim is LASTS else each for each in found]


def page_of(results: Results, **parts: Any) -> Page:
    """A report about results, without known means unless they are given."""
    about = {"means": dict.fromkeys(results.curves), "settings": [("seed", 0)], **parts}
    return Page(results=results, **about)


def page() -> Page:
    """A report about all of it."""
    return page_of(results(), judged=judged(), command="typed", made="today")
