"""Alarms as both drivers return them: the rounds of the game, also where rewards arrive late; the outermost log."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from examples import HOUSE, example_agent

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.parts.alarms import CAPACITY, alarms_in, alarms_of, forget_alarms, log_in, new_alarms, sound
from ns_mab_gym.wrappers import DelayedRewards

LOGGING = [name for name in HOUSE if log_in(example_agent(name).state) is not None]
WORLD = worlds.Abrupt(horizon=1_500)


def test_who_logs_alarms():
    active = {"cusum-ucb", "pht-ucb", "m-ucb", "glr-klucb", "glr-ts", "adr-ts", "restarting"}
    assert set(LOGGING) == active | {"br-mab", "changepoint-ucb", "master", "oracle-restart"}


def test_the_known_changes_are_where_they_are():
    """The means change with rounds 450, 901 and 1 200 of 1 500: the oracle restarts after the rounds before."""
    runs = nsb.simulate(WORLD, "oracle-restart", runs=1)
    changes = np.flatnonzero((np.diff(WORLD.means(), axis=0) != 0).any(axis=1)) + 1  # rounds, counted from 1
    assert runs.alarms[0]["round"].tolist() == changes.tolist()
    assert runs.alarms[0]["arm"].tolist() == [agents.ALL] * 3
    assert runs.alarms[0]["everything"].all()


@pytest.mark.parametrize("delay", [1, 40])
def test_with_late_rewards_the_round_is_that_of_the_game(delay):
    """The same rewards arrive so many rounds later, and so does each alarm, whatever the agent counts."""

    class Watched(agents.GLRTS):
        """Notes the round of the game at every alarm, by its own count of acts."""

        def reset(self, seed=None):
            super().reset(seed)
            self.acts, self.noted = 0, []

        def act(self, observation=None, *, mask=None):
            self.acts += 1
            return super().act(observation, mask=mask)

        def observe(self, arm, reward):
            before = len(alarms_in(self.state))
            super().observe(arm, reward)
            self.noted += [self.acts] * (len(alarms_in(self.state)) - before)

    agent = agents.make(Watched, 10, 1_500)
    env = DelayedRewards(gym.make("NSBandit-v0", world=WORLD), delay=delay)
    played = nsb.run_episode(env, agent, seed=(1, 2))
    assert len(agent.noted) > 0
    assert played.alarms["round"].tolist() == agent.noted
    assert (played.alarms["round"] - alarms_in(agent.state)["round"] == delay).all()


def test_the_outermost_log_is_the_agents_own():
    inner, outer = new_alarms(), new_alarms()
    sound(inner, 3, 1, True)
    sound(outer, 7, 0, False)
    assert alarms_in(((inner,), (outer,)))["round"].tolist() == [3]  # side by side, the first
    assert alarms_in((((inner,),), (outer,)))["round"].tolist() == [7]
    assert alarms_in((np.zeros(1), 3)) is None


def test_a_log_keeps_the_first_and_counts_all():
    log = new_alarms()
    for round_ in range(1, CAPACITY + 6):
        sound(log, round_, 2, False)
    assert len(alarms_of(log)) == CAPACITY
    assert alarms_of(log)["round"][-1] == CAPACITY
    assert log.rows[0, 0] == CAPACITY + 5
    forget_alarms(log)
    assert not log.rows.any()
