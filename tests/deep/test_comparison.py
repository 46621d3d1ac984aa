"""Trained models beside the zoo: intervals hold what they promise, rivals can play, held-out instances are new."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

pytest.importorskip("stable_baselines3")

from ns_mab_gym import simulate, worlds
from ns_mab_gym.deep import comparison
from ns_mab_gym.deep.comparison import (
    RIVALS,
    TUNING_SEED,
    Placed,
    Shuffled,
    crossed,
    rivals_of,
    strongest,
    verdicts_of,
    zoo_race,
)
from ns_mab_gym.specs import WorldSpec
from ns_mab_gym.tuning.race import held_out_seed

PIECEWISE = WorldSpec.of("piecewise", n_arms=3, horizon=50)
GAUSSIAN = WorldSpec.of("piecewise", n_arms=3, horizon=50, reward="gaussian")
STATIONARY: dict[str, Any] = {"world": "stationary", "mu": [0.9, 0.1, 0.1], "horizon": 300}
BASE = worlds.make("abrupt", horizon=60)

# Intervals.


def test_a_small_table_by_hand() -> None:
    se, interval = crossed(np.array([[1.0, 2.0, 6.0], [3.0, 4.0, 8.0]]))  # means 3 and 5 of seeds, 2, 3 and 7 of runs
    of_seeds, of_runs = 2 / 2, 7 / 3
    freedom = (of_seeds + of_runs) ** 2 / (of_seeds**2 / 1 + of_runs**2 / 2)
    reach = stats.t.ppf(0.975, math.floor(freedom)) * (of_seeds + of_runs) ** 0.5
    assert se == pytest.approx((of_seeds + of_runs) ** 0.5)
    assert interval == pytest.approx((4, 4 - reach, 4 + reach))


@pytest.mark.parametrize("spreads", [(1.0, 0.2, 0.5), (0.1, 3.0, 1.0), (1.0, 3.0, 2.0)])
def test_the_truth_lies_within_as_often_as_promised(spreads: tuple[float, float, float]) -> None:
    """95 % of 2 000 trials, with 4 standard errors for luck; more is allowed, as one part is counted twice."""
    rng, trials, seeds, runs = np.random.default_rng(5), 2_000, 3, 30
    of_seeds, of_runs, of_both = spreads
    within = 0
    for _ in range(trials):
        samples = (
            rng.normal(0, of_seeds, (seeds, 1))
            + rng.normal(0, of_runs, (1, runs))
            + rng.normal(0, of_both, (seeds, runs))
        )
        _, (_, low, high) = crossed(samples)
        within += low <= 0 <= high
    assert within / trials > 0.95 - 4 * (0.95 * 0.05 / trials) ** 0.5


def test_one_row_or_one_column_has_no_interval_over_seeds() -> None:
    se, interval = crossed(np.array([[1.0, 2.0]]))
    assert se == pytest.approx(0.5)
    assert math.isnan(interval.low)
    assert math.isnan(crossed(np.array([[1.0]]))[0])
    assert crossed(np.array([[1.0], [3.0]]))[0] == pytest.approx(1.0)


def test_wins_losses_and_what_cannot_be_told() -> None:
    rng = np.random.default_rng(0)
    luck = rng.normal(0, 5, 200)
    models = 50 + luck + rng.normal(0, 1, (3, 200)) + np.array([[-0.5], [0.0], [0.5]])
    rivals = {"worse": 60 + luck, "better": 40 + luck, "alike": 50.2 + luck}
    found = verdicts_of(models, rivals)
    assert [(row["agent"], row["learning"]) for row in found] == [
        ("better", "loses"), ("alike", "undecided"), ("worse", "wins"),
    ]  # fmt: skip
    assert found[0]["more"] == pytest.approx((rivals["better"] - models).mean())
    (only,) = verdicts_of(np.zeros((1, 3)), {"ts": np.array([1.0, 2.0, 3.0])})  # too few runs for an interval
    assert (only["more"], only["learning"]) == (2, "undecided")
    assert math.isnan(only["low"])


def test_with_one_model_intervals_hold_for_all_rivals_together() -> None:
    """They are wider than Student's for one rival, and not wider than Bonferroni's by more than a tenth."""
    rng = np.random.default_rng(1)
    model, rivals = rng.normal(0, 1, (1, 100)), {str(each): rng.normal(0, 1, 100) for each in range(10)}
    for row in verdicts_of(model, rivals):
        error = (rivals[row["agent"]] - model[0]).std(ddof=1) / 10
        factor = (row["high"] - row["more"]) / error
        assert stats.t.ppf(0.975, 99) * 1.1 < factor < stats.t.ppf(1 - 0.025 / 10, 99) * 1.1


# Rivals.


def test_the_usual_rivals_play_and_those_that_cannot_are_left_out_with_the_reason() -> None:
    rivals, refused = rivals_of(PIECEWISE, None)
    assert ([rival.label for rival in rivals], refused) == (list(RIVALS), [])
    rivals, refused = rivals_of(GAUSSIAN, None)
    assert {rival.label for rival in rivals} & {"ts", "beta-swts", "random"} == {"random"}
    assert len(rivals) + len(refused) == len(RIVALS)
    assert any("agent 'ts' on " in reason and "takes rewards that are 0 or 1" in reason for reason in refused)
    with pytest.raises(ValueError, match=r"agent 'ts' on .* takes rewards that are 0 or 1"):
        rivals_of(GAUSSIAN, ["random", "ts"])  # who is named must be able to play
    rivals, _ = rivals_of(PIECEWISE, ["sw-ucb:window=5|9"])  # several values are several rivals
    assert [dict(rival.parameters) for rival in rivals] == [{"window": 5}, {"window": 9}]


def race_of(agents: tuple[str, ...], runs: int = 20, **more: Any) -> list[Placed]:
    given = {**STATIONARY, **more}
    return zoo_race(WorldSpec.of("NSBandit-v0", **given), gym.make("NSBandit-v0", **given), runs, agents)


def test_the_least_regret_comes_first_and_is_that_of_other_runs() -> None:
    race = race_of(("beta-swts", "sw-ucb"), 60)
    assert [each.agent for each in race] == ["sw-ucb", "beta-swts"]
    assert race[0].tuned < race[1].tuned
    for each in race:
        judged = simulate("NSBandit-v0", each.agent, runs=200, seed=held_out_seed(TUNING_SEED), env_kwargs=STATIONARY,
                          agent_kwargs=each.parameters)  # fmt: skip
        assert each.tuned == pytest.approx(judged.final.mean(), abs=5 * judged.final.std() / 8**0.5)  # 8 runs or more


def test_a_formula_that_wins_needs_no_tuning_and_who_cannot_play_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    by_formula = SimpleNamespace(parameters={}, formula=None, regret=SimpleNamespace(mean=3.0))
    monkeypatch.setattr(comparison, "tune", lambda *_, **__: by_formula)
    assert race_of(("beta-swts", "sw-ucb"), reward="gaussian") == [Placed("sw-ucb", 3.0, 3.0, {})]


def test_the_best_with_and_without_tuning_are_chosen() -> None:
    race = [Placed("a", 1.0, 9.0, {}), Placed("b", 2.0, None, {}), Placed("c", 3.0, 5.0, {}), Placed("d", 4.0, 8.0, {})]
    assert strongest(race, 2) == ["a", "b", "c"]
    assert strongest(race, 3) == ["a", "b", "c"]
    assert strongest(race[1:2], 2) == ["b"]
    assert strongest([], 2) == []


# Worlds.


def test_every_instance_is_the_base_in_a_circle_with_arms_in_another_order() -> None:
    base = BASE.means()
    found = set()
    for seed in range(20):
        drawn = Shuffled(base=BASE).means(seed)
        fits = [
            (start, arms)
            for start in range(60)
            if (arms := _order(np.concatenate([base[start:], base[:start]]), drawn)) is not None
        ]
        assert fits, seed
        found.add(fits[0])
    assert len(found) > 15  # they differ


def _order(rolled: np.ndarray, drawn: np.ndarray) -> tuple[int, ...] | None:
    """The order of columns that makes one matrix the other; None if there is none."""
    left, order = list(range(rolled.shape[1])), []
    for column in drawn.T:
        match = next((arm for arm in left if (rolled[:, arm] == column).all()), None)
        if match is None:
            return None
        left.remove(match)
        order.append(match)
    return tuple(order)


def test_all_arms_and_all_rounds_come_first_equally_often() -> None:
    """600 draws: each of 6 blocks of rounds, and each of 10 arms, within 5 standard deviations of its share."""
    base = worlds.make("table", rows=np.arange(600.0).reshape(60, 10) / 600)
    firsts = np.array([Shuffled(base=base).means(seed)[0, 0] * 600 for seed in range(600)]).round().astype(int)
    for counts in (np.bincount(firsts // 10 // 10, minlength=6), np.bincount(firsts % 10, minlength=10)):
        share = 1 / len(counts)
        assert (np.abs(counts - 600 * share) < 5 * (600 * share * (1 - share)) ** 0.5).all()


def test_a_random_world_needs_no_shuffling() -> None:
    with pytest.raises(ValueError, match="'piecewise' draws its instances anew already; play it as it is"):
        Shuffled(base=worlds.make("piecewise"))
