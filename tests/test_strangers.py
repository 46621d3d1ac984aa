"""Every function that users call, with every argument in turn replaced by something strange: refused in words, or done.

Left out are functions and classes where a function of the user's is asked for, and texts where Gymnasium is asked for
an id: what these raise is told as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from extremes import NUMBERS, STRANGERS
from fuzzing import guest, is_own

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, theory, worlds, wrappers
from ns_mab_gym.agents.core.protocol import AgentCheckError
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.vector import NSBanditVectorEnv

MORE = [
    range(3), np.ma.masked_array([0.1, 0.2], [0, 1]), np.datetime64("2026-01-01"), np.array(["a"]), [1, [2]],
    np.zeros((0, 2)), np.zeros((2, 0)), np.array([0.1, None], dtype=object), [[0.1, np.nan]], np.uint8(3),
]  # fmt: skip
VALUES = [*NUMBERS, *STRANGERS, *MORE]
MEANS = np.array([[0.1, 0.9, 0.4], [0.2, 0.5, 0.8], [0.7, 0.1, 0.2]] * 5)
WORLD = worlds.Stationary(mu=(0.1, 0.5, 0.9), horizon=15)
FEW = 1_000  # runs, environments and rounds beyond this are another matter: tests/test_sizes.py


def begun(env: Any) -> Any:
    env.reset(seed=1)
    return env


def play_a_round(arm: Any = 0, reward: Any = 1.0, mask: Any = (True, True, False), seed: Any = 1) -> Any:
    agent = agents.make("sw-ucb", 3, 50)
    agent.reset(seed=seed)
    agent.act(mask=mask)
    agent.observe(arm, reward)


def refused_agent(agent: Any = agents.TS, n_arms: Any = 3, rounds: Any = 5) -> Any:
    with contextlib.suppress(AgentCheckError):
        agents.check_agent(agent(3) if agent is agents.TS else agent, n_arms, rounds=rounds)


def run_episode(env: Any = WORLD, agent: Any = agents.TS, seed: Any = 1) -> Any:
    given = NSBanditEnv(WORLD) if env is WORLD else env
    return nsb.run_episode(given, agent(3) if agent is agents.TS else agent, seed)


# A function, and its arguments with good values.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "simulate": (
        nsb.simulate,
        {"env": WORLD, "agent": "random", "runs": 1, "seed": 0, "env_kwargs": {}, "agent_kwargs": {}, "n_jobs": 1,
         "record": "curve", "rounds": None, "first_run": 0},
    ),
    "run_episode": (run_episode, {"env": WORLD, "agent": agents.TS, "seed": 1}),
    "compare": (
        nsb.compare,
        {"worlds": [WORLD], "agents": ["random"], "runs": 2, "seed": 0, "n_jobs": 1, "blind": False, "progress": False},
    ),
    "make": (
        agents.make,
        {"name": "beta-swts", "n_arms": 3, "horizon": 50, "blind": False, "knowledge": None, "window": 5},
    ),
    "environment": (NSBanditEnv, {"world": WORLD, "reward": "gaussian", "render_mode": "ansi"}),
    "reset": (lambda **given: NSBanditEnv(WORLD).reset(**given), {"seed": 1, "options": None}),
    "vector reset": (
        lambda num_envs, **given: NSBanditVectorEnv(num_envs, world=WORLD).reset(**given),
        {"seed": 1, "options": None, "num_envs": 2},
    ),
    "step": (lambda action: begun(NSBanditEnv(WORLD)).step(action), {"action": 0}),
    "vector step": (lambda actions: begun(NSBanditVectorEnv(2, world=WORLD)).step(actions), {"actions": (0, 1)}),
    "a round": (play_a_round, {"arm": 0, "reward": 1.0, "mask": (True, True, False), "seed": 1}),
    "check_agent": (refused_agent, {"agent": agents.TS, "n_arms": 3, "rounds": 5}),
    "worlds.make": (worlds.make, {"world": "smooth", "horizon": 9, "n_arms": 3, "sigma": 0.1}),
    "rewards.make": (rewards.make, {"law": "gaussian", "scale": 0.5}),
    "card": (agents.card, {"name": "ts"}),
    "late rewards": (lambda delay: wrappers.DelayedRewards(NSBanditEnv(WORLD), delay).reset(seed=1), {"delay": 2}),
    "last rounds": (lambda n: wrappers.LastRounds(NSBanditEnv(WORLD), n).reset(seed=1), {"n": 2}),
    "sweep": (lambda agent, window: nsb.sweep(agent, window=window), {"agent": "beta-swts", "window": [5, 9]}),
    "near_ties": (theory.near_ties, {"means": MEANS, "delta": 0.1, "pairs": "all"}),
    "margins": (theory.margins, {"means": MEANS, "window": 5}),
    "bounds": (theory.bounds, {"means": MEANS, "windows": [5, 9], "agent": "beta-swts", "setting": "general"}),
    "regret_curve": (theory.regret_curve, {"means": MEANS, "windows": [5, 9]}),
    "window_grid": (theory.window_grid, {"horizon": 30, "least": 2, "ratio": 1.1}),
    "describe": (theory.describe, {"means": MEANS}),
    "scorecard": (nsb.scorecard, {"runs": nsb.simulate(WORLD, "random", runs=1), "means": MEANS}),
}  # fmt: skip


def told_by_gymnasium(error):
    """Whether Gymnasium says what is wrong, as with seeds, or hands on what we say."""
    return isinstance(error, gym.error.Error) or (error.__cause__ is not None and is_own(error.__cause__))


OF_THE_USER = {("compare", "progress"), ("scorecard", "means")}  # a function of the user's may be given
IDS = {("simulate", "env"), ("compare", "worlds")}  # a text is an id of Gymnasium's


@pytest.mark.parametrize(("call", "argument"), [(call, key) for call, (_, given) in CALLS.items() for key in given])
def test_strange_arguments_are_refused_in_words(call, argument):
    function, good = CALLS[call]
    for value in VALUES:
        if (call, argument) in OF_THE_USER and callable(value):
            continue
        if (call, argument) in IDS and isinstance(value, str):
            continue
        large = argument in ("runs", "num_envs", "n", "rounds") or (call, argument) == ("check_agent", "n_arms")
        if large and isinstance(value, int) and value > FEW:
            continue
        try:
            with guest():
                function(**(good | {argument: value}))
        except AssertionError as foreign:
            if not told_by_gymnasium(foreign.__cause__):
                raise


@pytest.mark.parametrize("call", CALLS)
def test_the_good_arguments_are_good(call):
    function, good = CALLS[call]
    if call == "scorecard":
        with pytest.raises(ValueError, match="logs no alarms"):
            function(**good)
    else:
        function(**good)


@pytest.mark.parametrize("width", [np.int8, np.uint64])
def test_integers_of_numpy_are_as_good_as_others_whatever_their_width(width):
    """Sizes are computed with Python's integers: those of eight bits would overflow, and larger ones pass a check."""
    plain = nsb.simulate(WORLD, "random", runs=100, seed=7, first_run=3, n_jobs=1)
    given = nsb.simulate(WORLD, "random", runs=width(100), seed=width(7), first_run=width(3), n_jobs=1)
    np.testing.assert_array_equal(plain.regret, given.regret)
    wrappers.LastRounds(NSBanditEnv(WORLD), width(100)).reset(seed=1)
    for name in ("sw-ucb", "glr-ts", "fewa", "bandit-over-windows"):
        parameters = agents.make(name, 3, 50).parameters
        whole = {key: width(min(value, 100)) for key, value in parameters.items() if type(value) is int}
        agent = agents.kind(name)(**(parameters | whole))
        assert all(type(value) is int for key, value in agent.parameters.items() if key in whole)


def test_a_law_whose_scale_is_a_large_integer_is_played_by_the_loop_that_is_there():
    env = {"reward": "gaussian", "scale": 10**25}
    runs = nsb.simulate(WORLD, "random", runs=1, env_kwargs=env, record="all")
    episode = nsb.run_episode(gym.make("NSBandit-v0", world=WORLD, **env), agents.Random(3), runs.seeds[0])
    np.testing.assert_array_equal(episode.rewards, runs.rewards[0])
