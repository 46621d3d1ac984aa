"""ε-greedy, optimistic values, UCB, gradient bandits and softmax on the 10-armed testbed of Sutton and Barto.

Source: Sutton, Barto, "Reinforcement Learning: An Introduction", 2nd edition, 2018, chapter 2. 2 000 problems of ten
arms whose values are drawn from N(0, 1), rewards from N(value, 1), 1 000 steps; in Figure 2.5 the values are drawn from
N(4, 1). Exercise 2.5: values that start at 0 and take steps from N(0, 0.01²), 10 000 of them, with ε = 0.1.

Published: curves. The text has four numbers, all of Figure 2.2: greedy play has a reward per step of about 1, where
about 1.54 is possible, and finds the best arm in about one third of the problems; ε = 0.1 never plays it in more than
91 % of the steps, 1 − ε + ε/10. In words: ε = 0.01 learns more slowly than ε = 0.1, optimistic play is worse at first
and then better (2.3), UCB is generally better than ε = 0.1 (2.4), and without a baseline the gradient bandit is
significantly worse (2.5). Of exercise 2.5 and of softmax, which is in the 1st edition, nothing is published.

Differences: ties go to the first arm, where the source has random ones; here that is the same, as no arm differs from
another before it is drawn. UCB plays by μ̂ + c √(ln t/N), so that c = 2 is ``ucb1`` with ξ = c² = 4 and λ = ½. Figure
2.5 has x̄ with the reward of the round in it, here it is the average of those before. Shown are the means of the last
100 steps, with standard errors over problems: single steps scatter.

python scripts/published/testbed.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from _common import Player, mean_and_error

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.means import Floats

PROBLEMS, LAST = 2_000, 100


@dataclass(frozen=True, kw_only=True)
class Testbed(worlds.World):
    """Ten arms whose values are drawn once, and may walk from there.

    Attributes:
        around: the mean of the values.
        spread: their standard deviation.
        move: the standard deviation of a step.
    """

    random: ClassVar[bool] = True
    n_arms: ClassVar[int] = 10

    around: float = 0.0
    spread: float = 1.0
    move: float = 0.0

    def _means(self, rng: np.random.Generator) -> Floats:
        steps = rng.normal(0.0, self.move, (self.horizon, self.n_arms))
        steps[0] = rng.normal(self.around, self.spread, self.n_arms)
        return steps.cumsum(axis=0)


SAMPLES = {"step": 0, "initial": 0.0}  # the source's first value is 0, which a sample average forgets
PLAIN, SHIFTED = Testbed(horizon=1_000), Testbed(horizon=1_000, around=4.0)
WALKING = Testbed(horizon=10_000, spread=0.0, move=0.01)
ROWS: list[tuple[str, Testbed, str, Player, str]] = [
    ("2.2", PLAIN, "greedy", ("epsilon-greedy", SAMPLES | {"epsilon": 0.0}), "about 1; about one third"),
    (
        "2.2",
        PLAIN,
        "ε = 0.01",
        ("epsilon-greedy", SAMPLES | {"epsilon": 0.01}),
        "slower than ε = 0.1",
    ),
    ("2.2", PLAIN, "ε = 0.1", ("epsilon-greedy", SAMPLES), "never above 91 %"),
    (
        "2.3",
        PLAIN,
        "α = 0.1, Q₁ = 5, greedy",
        ("epsilon-greedy", {"epsilon": 0.0, "initial": 5.0}),
        "then better",
    ),
    ("2.3", PLAIN, "α = 0.1, Q₁ = 0, ε = 0.1", ("epsilon-greedy", {"initial": 0.0}), ""),
    ("2.4", PLAIN, "UCB, c = 2", ("ucb1", {"xi": 4.0, "subgaussian": 0.5}), "better than ε = 0.1 of Figure 2.2"),
    ("2.5", SHIFTED, "gradient, α = 0.1", ("gradient-bandit", {"step": 0.1}), ""),
    ("2.5", SHIFTED, "gradient, α = 0.4", ("gradient-bandit", {"step": 0.4}), ""),
    ("2.5", SHIFTED, "α = 0.1, no baseline", ("gradient-bandit", {"step": 0.1, "baseline": False}), "much worse"),
    ("2.5", SHIFTED, "α = 0.4, no baseline", ("gradient-bandit", {"step": 0.4, "baseline": False}), "much worse"),
    ("ex. 2.5", WALKING, "ε = 0.1, sample averages", ("epsilon-greedy", SAMPLES), "–"),
    ("ex. 2.5", WALKING, "ε = 0.1, α = 0.1", ("epsilon-greedy", {"initial": 0.0}), "–"),
    ("1st ed.", PLAIN, "softmax, τ = 0.1", ("softmax", SAMPLES | {"temperature": 0.1}), "–"),
    ("1st ed.", PLAIN, "softmax, τ = 0.3", ("softmax", SAMPLES | {"temperature": 0.3}), "–"),
]


def last_steps(world: Testbed, player: Player) -> tuple[Floats, Floats]:
    """The mean reward of each problem in the last 100 steps, and the share of them that played the best arm."""
    name, parameters = player
    problems, last = PROBLEMS if world.horizon <= 1_000 else PROBLEMS // 5, world.horizon - LAST
    runs = nsb.simulate(
        world, name, runs=problems, seed=1, env_kwargs={"reward": "gaussian", "scale": 1.0}, agent_kwargs=parameters,
        record="all", rounds=range(last, world.horizon + 1),
    )  # fmt: skip
    assert runs.rewards is not None
    return runs.rewards[:, last:].mean(axis=1), (np.diff(runs.regret, axis=1) == 0).mean(axis=1)


def main() -> None:
    """Print what is stated beside what is measured."""
    print(f"{PROBLEMS:,} problems, the last {LAST} of 1 000 steps; exercise 2.5: {PROBLEMS // 5}, of 10 000 steps")
    print(f"  {'figure':<8} {'':<26} {'reward':>15} {'best arm, %':>14}   stated")
    for figure, world, title, player, stated in ROWS:
        reward, best = last_steps(world, player)
        (mean, error), (share, unsure) = mean_and_error(reward), mean_and_error(100 * best)
        print(
            f"  {figure:<8} {title:<26} {mean:>7.3f} ± {error:.3f} {share:>8.1f} ± {unsure:.1f}   {stated}", flush=True
        )


if __name__ == "__main__":
    main()
