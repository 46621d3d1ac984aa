"""The usual rivals are those of the zoo that can play a world; who is named must be able to."""

from __future__ import annotations

import pytest

from ns_mab_gym.deep.rivals import RIVALS, rivals_of
from ns_mab_gym.experiments.study import WorldEntry

PIECEWISE = WorldEntry.of("piecewise", n_arms=3, horizon=50)
GAUSSIAN = WorldEntry.of("piecewise", n_arms=3, horizon=50, reward="gaussian")


def test_all_of_the_usual_rivals_play_a_bernoulli_world() -> None:
    rivals, refused = rivals_of(PIECEWISE, None)
    assert [rival.label for rival in rivals] == list(RIVALS)
    assert refused == []


def test_those_that_cannot_play_other_rewards_are_left_out_with_the_reason() -> None:
    rivals, refused = rivals_of(GAUSSIAN, None)
    assert {rival.label for rival in rivals} & {"ts", "beta-swts"} == set()
    assert "random" in [rival.label for rival in rivals]
    assert len(rivals) + len(refused) == len(RIVALS)
    assert any("agent 'ts' on " in reason and "takes rewards that are 0 or 1" in reason for reason in refused)


def test_who_is_named_must_be_able_to_play() -> None:
    with pytest.raises(ValueError, match=r"agent 'ts' on .* takes rewards that are 0 or 1"):
        rivals_of(GAUSSIAN, ["random", "ts"])


def test_several_values_are_several_rivals() -> None:
    rivals, _ = rivals_of(PIECEWISE, ["sw-ucb:window=5|9"])
    assert [dict(rival.parameters) for rival in rivals] == [{"window": 5}, {"window": 9}]
