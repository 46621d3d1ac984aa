"""Readings: a claim is judged under every fair reading, and says on which choice its verdict depends."""

import itertools
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from claims_made import HORIZON, curves, evidence

from ns_mab_gym import statistics
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.claims.judging import (
    Choice,
    Claim,
    Evidence,
    Finding,
    Judged,
    Pair,
    Reading,
    Verdict,
    judge,
    judgement_of,
)
from ns_mab_gym.paper import decisions, readings, study
from ns_mab_gym.paper.readings import ALGORITHMS, ALPHAS, SAMPLERS, TUNINGS, WORLDS, sensitivity_label
from ns_mab_gym.paper.sentences import CLAIMS, RESULTS
from ns_mab_gym.paper.study import SETTINGS, other_readings
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.study import Experiment
from ns_mab_gym.worlds import Abrupt, Smooth

HOLDS, FAILS, OPEN, DEPENDS = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED, Verdict.DEPENDS

WHO = Choice("who", "Who is compared?", (Reading("all", "", tuple("abc")), Reading("two", "", tuple("ab"))))
TUNED = Choice("tuning", "How is b tuned?", (Reading("well", ""), Reading("badly", "")), agent="b")
A_LEAST = Claim(
    "a least",
    "a is the best",
    lambda e: f"less than {len(e.read(WHO)) - 1} others",
    lambda e: decisions.least(e, "a", e.read(WHO)),
    (WHO, TUNED),
)


def judged(claim=A_LEAST, **slopes):
    made = evidence(**{name: slope for name, slope in slopes.items() if name != "bad_b"})
    if "bad_b" in slopes:
        made = replace(made, curves=made.curves | {"b (badly)": curves("bad", slopes["bad_b"])})
    return judgement_of(claim, made)


def verdicts(judgement):
    return {tuple(reading.name for reading in each): finding.verdict for each, finding in judgement.findings.items()}


def alone(judgement):
    """The findings under both readings of the tuning, with the first reading of everything else."""
    return {reading: judgement.under({TUNED: reading}) for reading in TUNED.readings}


@pytest.mark.parametrize(
    ("slopes", "found", "words", "deciding"),
    [
        ((0.1, 0.2, 0.3, 0.4), (HOLDS, HOLDS, HOLDS, HOLDS), "holds; other readings agree", []),
        # c is better than a: it matters whether it is compared
        ((0.1, 0.2, 0.05, 0.4), (FAILS, FAILS, HOLDS, HOLDS), "does not hold; depends on who", ["who"]),
        ((0.1, 0.1, 0.3, 0.4), (OPEN, HOLDS, OPEN, HOLDS), "undecided; depends on tuning", ["tuning"]),
        (
            (0.1, 0.1, 0.3, 0.05),
            (OPEN, FAILS, OPEN, FAILS),
            "undecided; depends on tuning",
            ["tuning"],
        ),
        # With all three, c decides that a is not the least; with two, it depends on how b is tuned.
        (
            (0.1, 0.05, 0.05, 0.4),
            (FAILS, FAILS, FAILS, HOLDS),
            "does not hold; depends on who, tuning",
            ["who", "tuning"],
        ),
    ],
)
def test_a_verdict_depends_on_the_choices_that_change_it_and_on_no_others(slopes, found, words, deciding):
    judgement = judged(**dict(zip(("a", "b", "c", "bad_b"), slopes, strict=True)))
    assert verdicts(judgement) == dict(zip(itertools.product(("all", "two"), ("well", "badly")), found, strict=True))
    assert judgement.verdict is (DEPENDS if deciding else found[0])
    assert (judgement.headline, judgement.headline_reading) == (found[0], {"who": "all", "tuning": "well"})
    assert (judgement.words, [choice.key for choice in judgement.deciding]) == (words, deciding)


def test_a_choice_concerns_its_agent_whatever_its_window_and_nobody_else():
    assert [label for label in ("a", "b", "b (well)", "bb", "") if TUNED.concerns(label)] == ["b", "b (well)"]
    assert not any(WHO.concerns(label) for label in ("a", "", " (well)"))


def test_an_example_of_what_decides_is_as_near_to_the_headline_as_there_is_one():
    found = judged(a=0.1, b=0.2, c=0.05, bad_b=0.4)  # who is compared matters, however b is tuned
    assert [tuple(reading.name for reading in each) for each in found.example(WHO)] == [
        ("all", "well"),
        ("two", "well"),
    ]


def test_what_is_not_chosen_is_read_as_in_the_headline():
    assert evidence(a=0.1).read(WHO) == tuple("abc")
    found = judged(a=0.1, b=0.2, c=0.05)
    assert (found.under({}), found.under({TUNED: TUNED.readings[0]})) == (found.finding, found.finding)


def test_another_tuning_replaces_the_runs_of_its_agent():
    found = judged(a=0.1, b=0.2, c=0.3, bad_b=0.05)
    (well, badly) = alone(found).values()
    assert (well.verdict, badly.verdict) == (HOLDS, FAILS)
    assert badly.tests[0].right_mean == pytest.approx(0.05 * HORIZON, rel=0.02)
    assert found.consulted == {("", "a"), ("", "b"), ("", "c"), ("", "b (badly)")}


def test_a_tuning_without_runs_of_its_own_changes_nothing_and_the_words_follow_the_reading():
    found = judged(a=0.1, b=0.2, c=0.3)
    (well, badly) = alone(found).values()
    assert well is badly
    assert found.consulted == {("", "a"), ("", "b"), ("", "c")}
    assert found.test == "less than 2 others"
    assert found.tests[WHO.readings[1], TUNED.readings[0]] == "less than 1 others"


def test_equal_readings_are_judged_once_and_what_is_computed_once_is_kept_through_all():
    done = []

    def decide(e):
        done.append("decided")
        e.once("fact", lambda: done.append("computed"))
        return decisions.least(e, "a", e.read(WHO))

    judgement_of(Claim("", "", "", decide, (WHO, TUNED)), evidence(a=0.1, b=0.2, c=0.3))
    assert done == ["decided", "computed", "decided"]  # the two readings of the tuning are equal here


def test_runs_behind_an_earlier_judgement_count_as_looked_at():
    made = evidence(a=0.1, b=0.2)

    def decide(e):
        e.note({("", "b")})
        return Finding(HOLDS, "")

    found = judgement_of(Claim("", "", "", decide), made)
    assert (found.consulted, found.runs) == ({("", "b")}, len(made.curves["b"]))


def test_a_tuning_counts_on_the_worlds_beside():
    here, there = (replace(evidence(a=0.1, b=0.2), world=name) for name in ("here", "there"))
    there = replace(there, curves=there.curves | {"b (badly)": curves("bad", 0.05)})
    here = replace(here, elsewhere={"here": here, "there": there})
    claim = Claim("", "", "", lambda e: decisions.least(e.elsewhere["there"], "a", "ab"), (TUNED,), beside=("there",))
    found = judgement_of(claim, here)
    assert found.verdict is DEPENDS
    assert found.consulted == {("there", "a"), ("there", "b"), ("there", "b (badly)")}


def test_a_star_is_put_at_the_runs_that_are_noted_only():
    made = evidence(a=0.1, b=0.2)
    noted = replace(made, curves=made.curves | {"b (badly)": curves("x", 0.3)}, notes={"b": "hm"})
    found = judgement_of(Claim("", "", "", lambda e: decisions.least(e, "a", "ab"), (TUNED,)), noted)
    assert [finding.tests[0].right for finding in alone(found).values()] == ["b*", "b"]


def test_what_is_judged_stays_as_it_is_and_is_equal_to_itself_alone():
    judgement = judged(a=0.1, b=0.2, c=0.3)
    pair = Pair("a", "b", np.zeros(2), np.ones(2))
    for record in (WHO, WHO.readings[0], judgement, Judged(A_LEAST, "", judgement), pair, evidence(a=0.1)):
        assert len({record, replace(record)}) == 2
        with pytest.raises(FrozenInstanceError):
            record.runs = 5


# The paper's own claims.


def labels_of(world):
    windows = [sensitivity_label(sampler, alpha) for sampler in SAMPLERS for alpha in ALPHAS]
    entries = [AgentSpec.of("ts", label=label) for label in (*ALGORITHMS, *windows)]
    others = [
        other.label
        for each in entries
        for other in other_readings(world, Knowledge(horizon=50_000, n_arms=10, switches=3), each)
    ]
    return [*ALGORITHMS, *windows, *others]


@pytest.fixture(scope="module")
def paper_evidence():
    found: dict[str, Evidence] = {}
    for world in CLAIMS:
        made = {label: curves(f"{world}{label}", 0.1 + 0.01 * i) for i, label in enumerate(labels_of(world))}
        means = (Smooth(horizon=HORIZON, sigma=1e-3) if "Smooth" in world else Abrupt(horizon=HORIZON)).means()
        found[world] = Evidence(made, means, {}, found, world)
    return found


@pytest.fixture(scope="module")
def paper_judged(paper_evidence):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "RESAMPLES", 200)  # quickly: which verdict it is does not matter here
        statistics._weights.cache_clear()
        statistics._KNOWN.clear()
        yield judge(CLAIMS, paper_evidence)
    statistics._weights.cache_clear()
    statistics._KNOWN.clear()


def test_every_claim_of_the_paper_can_be_decided_under_every_reading(paper_judged):
    assert len(paper_judged) == sum(map(len, CLAIMS.values())) >= 50
    assert len({(each.world, each.claim.key) for each in paper_judged}) == len(paper_judged)
    for each in paper_judged:
        assert len(each.now.findings) == np.prod([len(choice.readings) for choice in each.claim.choices], dtype=int)
        assert all(finding.figures for finding in each.now.findings.values())
        assert all(each.now.tests.values())
    assert {each.verdict for each in paper_judged} >= {HOLDS, FAILS, DEPENDS}


def plain(log):
    """The agents of the labels that were asked for, without their windows and readings."""
    return {label.partition(" (")[0] for _, label in log}


class Reads(dict):
    """Readings that remember which of them were asked for."""

    def __init__(self, chosen):
        super().__init__(chosen)
        self.asked = set()

    def get(self, choice, default=None):
        self.asked.add(choice)
        return super().get(choice, default)


def test_a_claim_names_the_choices_that_its_test_looks_at_and_no_others(paper_evidence):
    for world, about in CLAIMS.items():
        for claim in about:
            meanings, log = set(), set()
            first = {each: each.readings[0] for each in claim.choices}
            for reading in [{choice: each} for choice in claim.choices for each in choice.readings] or [{}]:
                chosen = Reads(first | reading)
                there = paper_evidence[world].under(chosen, log)
                claim.decide(there)
                meanings |= chosen.asked | {asked for each in there.elsewhere.values() for asked in each.chosen.asked}
            tuned = {choice for choice in TUNINGS if choice.agent in plain(log)}
            if claim.key == "both abrupt worlds alike":  # decides other claims, whose meanings it takes as they come
                meanings &= set(claim.choices)
            assert meanings | tuned == set(claim.choices), claim.key


def test_every_choice_of_the_paper_is_some_claim_s_and_says_why():
    used = {choice for about in CLAIMS.values() for claim in about for choice in claim.choices}
    choices = [each for each in vars(readings).values() if isinstance(each, Choice)]
    assert used == set(choices)
    assert len({choice.key for choice in choices}) == len(choices)
    for choice in choices:
        assert len(choice.readings) >= 2
        assert choice.question.endswith("?")
        assert all(reading.name and reading.why for reading in choice.readings)


def test_where_words_leave_a_size_open_the_headline_is_the_middle_one_of_three():
    for choice in (readings.SPAN, readings.EXCEPTIONS):
        first, *others = (reading.value for reading in choice.readings)
        assert min(others) < first < max(others)
    curve = 2_000.0  # the regret of a good window; the figure is as high as the worst, 21,277
    first, *others = (share * (curve if of == "curve" else 21_277) for share, of in values_of(readings.CLOSENESS))
    assert min(others) < first < max(others)


def values_of(choice):
    return [reading.value for reading in choice.readings]


def test_where_the_paper_says_it_elsewhere_the_headline_follows_the_paper():
    """Each against the paper's own words, worlds or equations."""
    assert values_of(readings.LOWEST)[0] == 2  # the paper's example, in the order of the means at the start
    start = Smooth().means()[0]
    assert sorted(start)[1] == start[9]
    assert values_of(readings.SMALLER)[0] == (0.2,)  # "smaller window sizes, i.e., α = 0.2"
    assert values_of(readings.ADDRESSED)[0] == readings.PHASES[1]  # until the next change
    early = [abs(round_ - 12_000) for round_ in values_of(readings.BEGINNING)]  # "t ≈ 12.000"
    assert early[0] == min(early)
    by_rounds, by_name = values_of(readings.GROWING)  # the larger three are the same in either order
    assert set(values_of(readings.LARGER)[0]) == set(by_rounds[2:]) == set(by_name[2:])


def test_conclusions_on_both_abrupt_worlds_are_the_sentences_of_the_results():
    keys = [claim.key for claim in RESULTS]
    assert (keys[0], keys[-1], len(keys)) == ("Rexp3 and Ser4 worst", "γ-SWGTS explores more", 10)
    assert "most windows beat TS" in keys
    assert not {"larger windows better", "best arms", "windowed samplers beat TS"} & set(keys)


def test_how_many_exceptions_similar_experiments_have_is_a_reading(paper_judged):
    of = {each.claim.key for each in paper_judged if readings.EXCEPTIONS in each.claim.choices}
    assert of == {"both abrupt worlds alike", "sensitivity as in the abrupt world"}
    [alike] = [each.now for each in paper_judged if each.claim.key == "both abrupt worlds alike"]
    said = {alike.tests[each].partition(" hold")[0] for each in alike.tests if " hold" in alike.tests[each]}
    assert said == {f"of the sentences on results, {number}" for number in ("none", "at most two", "at most four")}


def test_every_other_tuning_has_parameters_and_worlds():
    named = {(choice, reading.name) for choice in TUNINGS for reading in choice.readings[1:]}
    assert set(SETTINGS) == named
    assert all(set(worlds) <= set(WORLDS) and worlds for worlds, _ in SETTINGS.values())


@pytest.mark.parametrize("world", WORLDS)
def test_other_tunings_have_the_values_of_their_formulas(world):
    experiment = study.comparison(study.worlds()[world])
    words = {agent.label: agent.kwargs for agent in experiment.agents if agent.stands_for}
    batch = (10 * np.log(10)) ** (1 / 3) * 1_000 ** (2 / 3)  # T/V_T = 1,000
    assert words["Rexp3 (0.001 T)"] == {"batch": int(np.ceil(batch))} == {"batch": 285}
    assert words["γ-SWGTS (γ = ¼)"] == {"gamma": 0.25}
    assert words["Ser4 (factor 1)"] == {"factor": 1.0}
    if "brupt" in world:
        assert words["Ser4 (N = switches)"]["phi"] == pytest.approx(np.sqrt(3 / (50_000 * 10 * np.log(500_000))))
        assert words["SW-KL-UCB (as stated, else 0.0001)"] == {"window": 1_585}
    assert ("SW-KL-UCB (0.001)" in words) == (world == "Smooth, σ = 0.0001")


def test_the_rounds_around_changes_are_kept():
    rounds = set(study.comparison(study.worlds()["Abrupt"]).rounds)
    assert {14_949, 14_999, 15_049, 14_899, 15_099, 13_999, 15_999, 30_050, 40_049, 50_000} <= rounds
    small = study.comparison(study.worlds(horizon=40)["Abrupt"], horizon=40).rounds
    assert small == tuple(range(1, 41))


def test_another_reading_must_stand_for_an_agent_of_the_experiment():
    world, ts = WorldSpec.of("NSBandit-Abrupt-v0"), AgentSpec.of("ts")
    with pytest.raises(ValueError, match="agent that another reading stands for"):
        Experiment(worlds=(world,), agents=(ts, replace(AgentSpec.of("ucb"), stands_for="kl-ucb")))


def test_an_example_shows_a_choice_alone_deciding_and_together_with_what():
    found = judged(a=0.1, b=0.05, c=0.05, bad_b=0.4)  # the tuning of b decides only if c is left out
    (all_, two), (well, badly) = WHO.readings, TUNED.readings
    assert {each: finding.verdict for each, finding in found.example(TUNED).items()} == {
        (two, well): FAILS,
        (two, badly): HOLDS,
    }
    assert {each: finding.verdict for each, finding in found.example(WHO).items()} == {
        (all_, badly): FAILS,
        (two, badly): HOLDS,
    }
    assert judged(a=0.1, b=0.2, c=0.3).example(WHO) == {}
    assert [found.in_words(each, TUNED) for each in found.example(TUNED)] == [
        "well (with who: two)",
        "badly (with who: two)",
    ]
    assert found.in_words((all_, well), WHO) == "all"
