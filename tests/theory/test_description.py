"""A description holds what the single functions say, is a Knowledge, and prints as a table."""

import pytest

from ns_mab_gym import theory
from ns_mab_gym.agents.core.knowledge import Knowledge


def test_it_agrees_with_the_single_functions(general_abrupt):
    told = theory.describe(general_abrupt, delta=0.06)
    known = theory.knowledge(general_abrupt)
    for piece in ("horizon", "n_arms", "breakpoints", "variation", "lipschitz", "switches", "subgaussian"):
        assert getattr(told, piece) == getattr(known, piece)
    assert isinstance(told, Knowledge)
    assert told.need("some agent", "horizon", "variation") == (50_000, told.variation)
    assert told.means is general_abrupt
    assert told.general_breakpoints == 3
    assert told.near_ties == theory.near_ties(general_abrupt, 0.06).sum()
    fit = theory.tie_growth(general_abrupt, 0.06)
    assert (told.tie_factor, told.tie_power) == (fit.F, fit.beta)
    assert told.recommended == theory.recommend_window(general_abrupt)
    assert [seen.window for seen in told.windows] == [told.recommended.window * n // 4 for n in (1, 4, 16)]
    for seen in told.windows:
        assert seen.unlearnable == theory.unlearnable_set(general_abrupt, seen.window).sum()
        assert seen.gap == theory.gap(general_abrupt, seen.window)


def test_it_prints_as_a_table(abrupt):
    lines = str(theory.describe(abrupt)).splitlines()
    assert lines[0].split() == ["rounds", "T", "50,000"]
    assert lines[2].split() == ["breakpoints", "Υ_T", "3"]
    assert any(line.startswith("recommended τ = ") for line in lines)
    assert repr(theory.describe(abrupt)) == "\n".join(lines)


@pytest.mark.parametrize(
    "means",
    [[[0.5, 0.5]], [[0.5, 0.5]] * 7, [[0.1, 0.9]], [[-3.0, 4.0], [5.0, 1.0]], [[1e-300, 0.0]] * 3],
    ids=["one tied round", "all tied", "one round", "outside [0, 1]", "tiny"],
)
def test_degenerate_worlds_are_described_too(means):
    told = theory.describe(means)
    assert "rounds" in str(told)
    assert told.tied_rounds == sum(len(set(row)) == 1 for row in means)
    assert (told.general_breakpoints is None) == (told.tied_rounds > 0)
