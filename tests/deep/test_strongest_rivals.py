"""The strongest of the zoo are found by tuning all of it, on instances that are neither of training nor of judging."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from ns_mab_gym import simulate
from ns_mab_gym.choosing.arena import held_out_seed
from ns_mab_gym.deep import strongest_rivals
from ns_mab_gym.deep.rivals import TUNING_SEED
from ns_mab_gym.deep.strongest_rivals import Placed, strongest, zoo_race
from ns_mab_gym.experiments.study import WorldEntry

STATIONARY: dict[str, Any] = {"world": "stationary", "mu": [0.9, 0.1, 0.1], "horizon": 300}


def test_the_least_regret_comes_first_and_is_that_of_other_runs() -> None:
    entry, env = WorldEntry.of("NSBandit-v0", **STATIONARY), gym.make("NSBandit-v0", **STATIONARY)
    race = zoo_race(entry, env, 60, ("exp3", "kl-ucb", "ucb1"))
    assert race[-1].agent == "exp3"  # which goes on exploring where nothing moves
    assert [each.tuned for each in race] == sorted(each.tuned for each in race)
    for each in race:
        judged = simulate("NSBandit-v0", each.agent, runs=200, seed=held_out_seed(TUNING_SEED), env_kwargs=STATIONARY,
                          agent_kwargs=each.parameters)  # fmt: skip
        assert each.tuned == pytest.approx(judged.final.mean(), abs=5 * judged.final.std() / 8**0.5)  # 8 runs or more


def test_who_cannot_play_such_rewards_is_left_out() -> None:
    gaussian = {**STATIONARY, "reward": "gaussian"}
    entry, env = WorldEntry.of("NSBandit-v0", **gaussian), gym.make("NSBandit-v0", **gaussian)
    assert {each.agent for each in zoo_race(entry, env, 20, ("beta-swts", "ucb1"))} == {"ucb1"}


def test_the_best_with_and_without_tuning_are_chosen() -> None:
    race = [Placed("a", 1.0, 9.0, {}), Placed("b", 2.0, None, {}), Placed("c", 3.0, 5.0, {}), Placed("d", 4.0, 8.0, {})]
    assert strongest(race, 2) == ["a", "b", "c"]
    assert strongest(race, 3) == ["a", "b", "c"]
    assert strongest(race[1:2], 2) == ["b"]
    assert strongest([], 2) == []


def test_an_agent_whose_formula_wins_is_as_good_without_tuning(monkeypatch: pytest.MonkeyPatch) -> None:
    real = strongest_rivals.tune

    def by_formula(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        object.__setattr__(found, "parameters", {})
        object.__setattr__(found, "formula", None)
        return found

    monkeypatch.setattr(strongest_rivals, "tune", by_formula)
    entry, env = WorldEntry.of("NSBandit-v0", **STATIONARY), gym.make("NSBandit-v0", **STATIONARY)
    (placed,) = zoo_race(entry, env, 20, ("ucb1",))
    assert placed.untuned == placed.tuned
