"""The compiled loop's draw of a reward is that of the law, also where luck and mean are equal."""

from __future__ import annotations

import pytest

from ns_mab_gym import rewards
from ns_mab_gym.play.loop import BETA, draw, draw_beta, law_code


class Fixed:
    """A generator whose next number is known."""

    def __init__(self, luck: float) -> None:
        self.luck = luck

    def random(self) -> float:
        return self.luck

    def standard_normal(self) -> float:
        return self.luck


@pytest.mark.parametrize("law", [rewards.Bernoulli(), rewards.Gaussian(scale=0.3), rewards.Beta(concentration=3.0)])
@pytest.mark.parametrize("mu", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("luck", [0.0, 0.25, 0.5, 1 - 2**-53])
def test_a_draw_equals_the_reward_of_the_law(law: rewards.Law, mu: float, luck: float) -> None:
    code = law_code(law)
    assert code is not None
    drawn = draw_beta(code[1], mu, Fixed(luck)) if code[0] == BETA else draw(*code, mu, Fixed(luck))  # type: ignore[arg-type]
    assert drawn == law.reward(mu, luck)


def test_an_arm_that_never_pays_does_not_pay_with_the_smallest_luck() -> None:
    code = law_code(rewards.Bernoulli())
    assert code is not None
    assert draw(*code, 0.0, Fixed(0.0)) == 0.0  # type: ignore[arg-type]
