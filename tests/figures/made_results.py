"""Stand-ins for results: runs and alarms made of plain numbers, without playing."""

import numpy as np

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.detections import scorecard
from ns_mab_gym.runs import Runs


def made_runs(final, *, count=4, horizon=1_000, window=None, arms=2, alarms=None):
    """Runs whose regret rises to about ``final``, with some scatter from run to run."""
    rounds = np.unique(np.linspace(1, horizon, min(horizon, 500)).astype(np.int64))
    scatter = np.random.default_rng(count).uniform(0.8, 1.2, (count, 1))
    regret, blank = final * scatter * np.sqrt(rounds / horizon), np.zeros((count, arms), np.int64)
    parameters = [{} if window is None else {"window": window}] * count
    return Runs(rounds, regret, blank, blank, [(run, run) for run in range(count)], parameters, 0.0, alarms=alarms)


def made_card(means, *logs):
    """The scorecard of runs that logged these alarms, each a round and an arm."""
    horizon, arms = np.shape(means)[-2:]
    alarms = [np.array([(round_, arm, False) for round_, arm in log], ALARM) for log in logs]
    return scorecard(made_runs(0.0, count=len(logs), horizon=horizon, arms=arms, alarms=alarms), means)
