"""Verdicts: clear runs decide a claim either way, unclear or few runs do not."""

import zlib
from dataclasses import replace

import numpy as np
import pytest

from ns_mab_gym.experiments import paper_study
from ns_mab_gym.experiments.claims import CLAIMS, Evidence, Verdict, decisions, judge, over_time, places, world_facts
from ns_mab_gym.experiments.claims.rules import Pair, equal, less
from ns_mab_gym.runs import Runs
from ns_mab_gym.worlds import Abrupt, Smooth

HORIZON = 5_000
ROUNDS = np.arange(1, 101) * 50


def curves(label, slopes, runs=30, noise=5.0):
    """Runs whose regret grows by a slope (or one for each noted round), with noise of their own."""
    rng = np.random.default_rng(zlib.crc32(label.encode()))
    steps = np.broadcast_to(np.asarray(slopes, float), 100) * 50
    regret = np.cumsum(steps) + rng.normal(0, noise, size=(runs, 1))
    pulls = np.tile([100, round(float(steps.sum()))], (runs, 1))
    seeds = [(run, run) for run in range(runs)]
    return Runs(ROUNDS, regret, pulls, pulls, seeds, [{}] * runs, 1.0)


def evidence(runs=30, noise=5.0, **slopes):
    made = {label: curves(label, slope, runs, noise) for label, slope in slopes.items()}
    return Evidence(made, np.zeros((HORIZON, 2)))


HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("slopes", "runs", "verdict"),
    [
        ({"a": 0.1, "b": 0.2, "c": 0.3}, 30, HOLDS),
        ({"a": 0.2, "b": 0.1, "c": 0.3}, 30, FAILS),
        ({"a": 0.1, "b": 0.1, "c": 0.3}, 30, UNDECIDED),
        ({"a": 0.1, "b": 0.2, "c": 0.3}, 9, UNDECIDED),
    ],
)
def test_least(slopes, runs, verdict):
    finding = decisions.least("a", ("a", "b", "c"))(evidence(runs, **slopes))
    assert finding.verdict is verdict
    assert len(finding.tests) == 2
    assert "±" in finding.figures


def test_a_finding_names_what_stands_against_it():
    finding = decisions.least("a", ("a", "b", "c"))(evidence(a=0.2, b=0.1, c=0.3))
    assert [test.right for test in finding.exceptions] == ["b"]
    assert "a 1,0" in str(finding.exceptions[0])


@pytest.mark.parametrize(("d", "verdict"), [(0.4, HOLDS), (0.05, FAILS)])
def test_among_worst(d, verdict):
    found = places.among_worst(("d",), tuple("abcd"))(evidence(a=0.1, b=0.2, c=0.3, d=d))
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("slopes", "verdict"), [((0.1, 0.1, 0.3), HOLDS), ((0.1, 0.3, 0.3), FAILS), ((0.1, 0.2, 0.3), UNDECIDED)]
)
def test_most_beat(slopes, verdict):
    found = places.most_beat(("a", "b", "c"), "d")(evidence(d=0.2, **dict(zip("abc", slopes, strict=True))))
    assert found.verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.2, HOLDS), (0.05, FAILS), (0.1, UNDECIDED)])
def test_not_best(b, verdict):
    assert places.not_best("b", ("a", "b"))(evidence(a=0.1, b=b)).verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.2, HOLDS), (0.05, FAILS), (0.4, FAILS), (0.1, UNDECIDED)])
def test_moderate(b, verdict):
    assert places.moderate("b", ("a", "b", "c"))(evidence(a=0.1, b=b, c=0.3)).verdict is verdict


@pytest.mark.parametrize(("b", "verdict"), [(0.102, HOLDS), (0.13, FAILS), (0.11, UNDECIDED)])
def test_collapse_within_ten_per_cent(b, verdict):
    found = decisions.collapse([("a", "b")], (25_000, 50_000), margin=0.1)(evidence(a=0.1, b=b))
    assert found.verdict is verdict


def test_best_from_tells_the_round_from_which_it_leads():
    late = np.where(ROUNDS <= 1_000, 0.4, 0.05)
    found = decisions.best_from("a", ("a", "b"), (40_000, 50_000))(evidence(noise=0, a=late, b=0.2))
    assert found.verdict is HOLDS
    assert "a has the least mean regret from round 2,350 on, after b" in found.figures
    early = decisions.best_from("a", ("a", "b"), (10_000,))(evidence(noise=0.1, a=late, b=0.2))
    assert early.verdict is FAILS


def test_degrades_looks_at_every_phase_after_the_first():
    bounds = ((0, 20_000), (20_000, 40_000), (40_000, 50_000))
    recovers = np.where(ROUNDS <= 4_000, 0.3, 0.0)
    assert over_time.degrades("a", "b", bounds)(evidence(a=0.3, b=0.1)).verdict is HOLDS
    assert over_time.degrades("a", "b", bounds)(evidence(a=recovers, b=0.1)).verdict is FAILS
    assert over_time.more_after("a", "b", 20_000, 50_000)(evidence(a=recovers, b=0.1)).verdict is HOLDS


def test_faster_after_a_change():
    jump = np.where(ROUNDS <= 2_000, 0.1, 0.3)
    assert over_time.faster_after(("a",), (20_000,), 5_000)(evidence(a=jump)).verdict is HOLDS
    assert over_time.faster_after(("a", "b"), (20_000,), 5_000)(evidence(a=jump, b=0.4 - jump)).verdict is FAILS


def test_same_order_counts_reversed_pairs():
    elsewhere = {"here": evidence(a=0.1, b=0.2, c=0.3), "there": evidence(a=0.3, b=0.2, c=0.1)}
    both = replace(elsewhere["here"], elsewhere=elsewhere)
    assert places.same_order("here", "here", "abc", exceptions=0)(both).verdict is HOLDS
    assert places.same_order("here", "there", "abc", exceptions=2)(both).verdict is FAILS


def test_a_note_puts_a_star_wherever_the_agent_is_shown():
    noted = replace(evidence(a=0.1, b=0.2), notes={"a": "a choice of ours"})
    finding = decisions.least("a", ("a", "b"))(noted)
    assert "a* " in finding.figures
    assert (finding.tests[0].left, finding.tests[0].right) == ("a*", "b")


def test_worlds_decide_claims_about_themselves():
    abrupt = Evidence({}, Abrupt(horizon=HORIZON).means())
    stretches = ((0, 14_999), (14_999, 30_000), (30_000, 39_999), (39_999, 50_000))
    assert world_facts.best_arm_by_phase(stretches, (10, 1, 10, 1))(abrupt).verdict is HOLDS
    assert world_facts.best_arm_by_phase(stretches, (1, 10, 1, 10))(abrupt).verdict is FAILS
    assert world_facts.every_arm_best()(abrupt).verdict is FAILS
    smooth = Evidence({}, Smooth().means())
    assert world_facts.every_arm_best()(smooth).verdict is HOLDS
    found = world_facts.turns_best(10, 10_000, 20_000)(smooth)
    assert (found.verdict, found.figures) == (HOLDS, "arm 10 is the best from round 10,950 to 20,466")
    assert world_facts.turns_best(10, 30_000, 40_000)(smooth).verdict is FAILS


def test_the_level_holds_for_all_sentences_of_a_claim_together():
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(100):  # 12 comparisons between agents that are alike
        pairs = [Pair("a", "b", rng.normal(size=30), rng.normal(size=30)) for _ in range(12)]
        wrong += any(test.answer is not None for test in less(pairs))
    assert wrong / 100 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


def test_margins_are_relative_to_the_left():
    hundred = np.full(20, 100.0)
    assert less([Pair("a", "b", hundred, hundred + 9)], margin=0.1)[0].answer is False
    assert less([Pair("a", "b", hundred, hundred + 11)], margin=0.1)[0].answer is True
    assert equal([Pair("a", "b", hundred, hundred + 9)], margin=0.1)[0].answer is True
    assert equal([Pair("a", "b", hundred, hundred + 11)], margin=0.1)[0].answer is False


def test_every_claim_of_the_paper_can_be_decided():
    windows = [(sampler, alpha) for sampler in paper_study.SAMPLERS for alpha in paper_study.ALPHAS]
    labels = [*paper_study.ALGORITHMS, *(paper_study.sensitivity_label(*window) for window in windows)]
    made = {world: {label: curves(label, 0.1 + 0.01 * i) for i, label in enumerate(labels)} for world in CLAIMS}
    means = {world: (Smooth if "Smooth" in world else Abrupt)(horizon=HORIZON).means() for world in CLAIMS}
    found: dict[str, Evidence] = {}
    found |= {world: Evidence(made[world], means[world], {}, found) for world in CLAIMS}
    judged = judge(CLAIMS, found)
    assert len(judged) == sum(map(len, CLAIMS.values())) >= 40
    assert len({(each.world, each.claim.key) for each in judged}) == len(judged)
    assert all(each.finding.figures for each in judged)
    assert {each.finding.verdict for each in judged} >= {HOLDS, FAILS}
