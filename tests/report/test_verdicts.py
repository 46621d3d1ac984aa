"""What the page says about claims: each at a glance, and with what decided it."""

from collections.abc import Sequence

import pytest

from ns_mab_gym.experiments.claims import Claim, Finding, Judged, Test, Verdict
from ns_mab_gym.experiments.report.verdicts import verdicts_of


def answered(answers: Sequence[bool | None]) -> tuple[Test, ...]:
    """Tests with these answers, told apart by their names."""
    return tuple(
        Test(f"left {number}", "right", "", 1.0, 2.0, 0.5, 1.5, answer) for number, answer in enumerate(answers)
    )


def judged(key: str, world: str, verdict: Verdict, *, ours: bool = False, **finding: object) -> Judged:
    found = Finding(verdict, str(finding.pop("figures", "a 1 ± 0.1, b 2 ± 0.2")), **finding)  # type: ignore[arg-type]
    return Judged(Claim(key, f"{key} said", f"{key} tested", lambda _: found, ours), world, found)


HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def test_claims_are_grouped_and_counted():
    verdicts = verdicts_of(
        [
            judged("one", "here", HOLDS),
            judged("two", "here", FAILS),
            judged("one", "there", UNDECIDED, ours=True),
            judged("three", "there", FAILS),
        ]
    )
    assert (verdicts.total, verdicts.hold, verdicts.fail, verdicts.undecided) == (4, 1, 2, 1)
    assert verdicts.worlds == ["here", "there"]
    signs = {row.key: {world: found.sign for world, found in row.found.items()} for row in verdicts.claims}
    assert signs == {"one": {"here": "holds", "there": "open"}, "two": {"here": "no"}, "three": {"there": "no"}}
    assert [row.anchor for row in verdicts.claims] == ["claim-0", "claim-1", "claim-2"]
    assert [found.ours for found in verdicts.claims[0].found.values()] == [False, True]


@pytest.mark.parametrize(("verdict", "shown"), [(HOLDS, ""), (FAILS, "b is less"), (UNDECIDED, "")])
def test_what_holds_instead_is_said_only_of_claims_that_fail(verdict: Verdict, shown: str):
    (row,) = verdicts_of([judged("one", "here", verdict, instead="b is less")]).claims
    assert row.found["here"].instead == shown


def test_figures_are_split_after_commas_but_not_inside_of_numbers():
    (row,) = verdicts_of([judged("one", "here", HOLDS, figures="a 1,200 ± 3, b 2 ± 1 of 1,000, c")]).claims
    assert row.found["here"].pieces == ["a 1,200 ± 3,", "b 2 ± 1 of 1,000,", "c."]


@pytest.mark.parametrize("count", [1, 12, 13, 30])
def test_at_most_twelve_tests_against_a_claim_are_shown(count: int):
    tests = answered([True] * 5 + [False] * count)
    (row,) = verdicts_of([judged("one", "here", FAILS, tests=tests, exceptions=tests[5:])]).claims
    found = row.found["here"]
    assert found.comparisons == f"5 of {5 + count} paired comparisons are true"
    assert found.against[:12] == [str(test) for test in tests[5:17]]
    assert found.against[12:] == ([f"and {count - 12} more"] if count > 12 else [])


def test_an_open_comparison_does_not_count_as_true():
    (row,) = verdicts_of([judged("one", "here", UNDECIDED, tests=answered([True, None, False]))]).claims
    assert row.found["here"].comparisons == "1 of 3 paired comparisons are true"


def test_a_claim_decided_without_runs_has_no_comparisons():
    (row,) = verdicts_of([judged("one", "here", HOLDS)]).claims
    assert (row.found["here"].comparisons, row.found["here"].against) == ("", [])
