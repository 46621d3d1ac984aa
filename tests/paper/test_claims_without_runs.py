"""Claims for which runs are missing: there is no verdict, and the report says so."""

import json
from dataclasses import replace

import pytest
from failing_studies import Failing, page_of, ran, rows_of
from fake_engine import FakeEngine

from ns_mab_gym.claims.judging import Choice, Claim, Reading
from ns_mab_gym.paper import decisions
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.study import Experiment, Study

TUNED = Choice("tuning", "How is kl-ucb tuned?", (Reading("well", ""), Reading("badly", "")), agent="kl-ucb")
CLEAR = Claim("clear", "a < c", "a has less", lambda e: decisions.least(e, "ts", ("ts", "random")))
READ = Claim("read", "a < b", "a has less", lambda e: decisions.least(e, "ts", ("ts", "kl-ucb")), (TUNED,))


CLAIMS = {"here": (CLEAR, READ)}


def claimed():
    world = WorldSpec.of("NSBandit-Abrupt-v0", label="here", horizon=1_000)
    agents = [AgentSpec.of(name) for name in ("ts", "random", "kl-ucb")]
    agents.append(replace(AgentSpec.of("kl-ucb", label="kl-ucb (badly)", c=0.0), stands_for="kl-ucb"))
    return Study("Small", (Experiment(worlds=(world,), agents=tuple(agents), runs=50),))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The claims of the study of which nothing fails, by their keys."""
    folder = tmp_path_factory.mktemp("whole")
    ran(claimed(), folder, FakeEngine(), claims=CLAIMS)
    return {row["claim"]: row for row in json.loads((folder / "claims.json").read_text())}


@pytest.mark.parametrize(
    ("who", "judged"), [("random", ["read"]), ("kl-ucb", ["clear"]), ("kl-ucb,0.0", ["clear"]), ("ts", [])]
)
def test_there_is_no_verdict_where_runs_are_missing_not_even_under_one_reading(tmp_path, whole, who, judged):
    """The runs of another reading would else be taken for those of the first."""
    out = tmp_path / "out"
    _, said = ran(claimed(), out, Failing(FakeEngine(), (who, None)), claims=CLAIMS)
    found = json.loads((out / "claims.json").read_text()) if judged else []
    assert (out / "claims.json").exists() == bool(judged)
    assert found == [whole[key] for key in judged]
    missing = [f"{key} (here)" for key in ("clear", "read") if key not in judged]
    line = f"No verdict, for want of these runs, on {len(missing)} sentences: {'; '.join(missing)}."
    assert line in said
    assert line in page_of(out)[1]
    if judged:
        assert line in (out / "claims.md").read_text(encoding="utf-8")


def test_further_runs_that_fail_leave_the_first_ones_whole(tmp_path):
    close = Claim("close", "a < b", "a has less", lambda e: decisions.least(e, "short", ("short", "ts")))
    world, agents = claimed().experiments[0].worlds, (AgentSpec.of("ts"), AgentSpec.of("ts", label="short"))
    study = Study("s", (Experiment(worlds=world, agents=agents, runs=50),))  # the same runs twice: never decided
    options = {"claims": {"here": (close,)}, "further_runs": 150}
    pipeline, said = ran(study, tmp_path / "out", Failing(FakeEngine(), ("ts", None), first_run=100), **options)
    assert [each.unit.first_run for each in pipeline.failures] == [100, 125]
    [row] = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert (row["runs"], row["more_runs"]["runs"]) == (50, 100)
    assert any("Failed: ts on here, runs 100-149 (ValueError: it broke (" in line for line in said)
    assert "Further runs count up to the first that some agent concerned lacks." in said
    assert {row["agent"] for row in rows_of(tmp_path / "out" / "summary.csv")} == {"ts", "short"}


def test_a_world_of_which_nothing_is_left_takes_its_own_verdicts_only(tmp_path, whole):
    [here] = claimed().experiments
    there = replace(here, worlds=(WorldSpec.of("NSBandit-Smooth-v0", label="there", horizon=1_000),))
    broken = Failing(FakeEngine(), (None, "NSBandit-Smooth-v0"))
    _, said = ran(Study("Two", (here, there)), tmp_path / "out", broken, claims={**CLAIMS, "there": (CLEAR,)})
    assert json.loads((tmp_path / "out" / "claims.json").read_text()) == list(whole.values())
    assert "Nothing is left on there." in said
    assert "No verdict, for want of these runs, on 1 sentences: clear (there)." in said
