"""Any agent can play many runs at once, if it has the two methods; what it plays is recorded as that of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym.play.batched_runs import Round

WORLD = {"n_arms": 3, "horizon": 12}


class InTurn:
    """Plays the arms in turn, beginning with one that its seed decides; at most ``at_once`` runs together."""

    only_generic = True
    parameters: dict[str, Any] = {"beginning": "seeded", "table": np.zeros(3)}  # noqa: RUF012

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once

    def reset(self, seed: int | None = None) -> None:
        self.next = (seed or 0) % 3

    def act(self, observation: Any = None) -> int:
        self.next += 1
        return (self.next - 1) % 3

    def observe(self, arm: int, reward: float) -> None:
        pass

    def runs_at_once(self, env: gym.Env[Any, Any]) -> int:
        return self.at_once

    def play_at_once(self, env: gym.Env[Any, Any], seeds: list[tuple[int, int]]) -> Iterator[Round]:
        envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=len(seeds), **WORLD)
        envs.reset(seed=[each for each, _ in seeds])  # type: ignore[arg-type]
        first = np.array([own % 3 for _, own in seeds])
        for t in range(WORLD["horizon"]):
            arms = (first + t) % 3
            _, rewards, _, truncated, infos = envs.step(arms)
            yield Round(arms, rewards, (infos["final_info"] if truncated[0] else infos)["regret"])


@pytest.mark.parametrize("at_once", [1, 2, 5, 100])
def test_runs_at_once_are_recorded_as_those_of_the_generic_loop(at_once: int) -> None:
    given: dict[str, Any] = {"runs": 5, "env_kwargs": WORLD, "record": "all", "rounds": [1, 5]}
    together = nsb.simulate("NSBandit-Piecewise-v0", InTurn(at_once), **given)
    alone = nsb.simulate("NSBandit-Piecewise-v0", InTurn(0), **given)
    for name in ("rounds", "regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name), err_msg=name)
    assert (together.seeds, together.parameters) == (alone.seeds, alone.parameters)
    assert together.parameters == [{"beginning": "seeded"}] * 5
    assert together.alarms is alone.alarms is None
    assert together.parameters[0] is not together.parameters[1]


def test_a_foreign_environment_is_played_one_by_one() -> None:
    class Foreign(gym.Env[Any, Any]):
        observation_space = gym.spaces.Box(0, 1, (1,), np.float32)
        action_space = gym.spaces.Discrete(3)

        def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
            self.t = 0
            return np.zeros(1, np.float32), {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.t += 1
            return np.zeros(1, np.float32), 0.0, self.t == 4, False, {"mu": np.array([0.0, 0.5, 1.0])}

    assert nsb.simulate(Foreign(), InTurn(9), runs=2).horizon == 4
